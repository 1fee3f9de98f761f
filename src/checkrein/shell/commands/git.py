"""`git`: what each verb loses, overwrites, sends or makes run. A verb that is not listed is judged by its files alone."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from checkrein.shell.options import grammar
from checkrein.shell.spec import Family, Run, Walk, Word
from checkrein.vocab.acts import Act
from checkrein.vocab.effects import EffectKind, Flag

GLOBAL = grammar(
    "C: c: git-dir: work-tree: namespace: exec-path? super-prefix: config-env: p|paginate P|no-pager no-replace-objects bare "
    "literal-pathspecs glob-pathspecs noglob-pathspecs icase-pathspecs no-optional-locks list-cmds: attr-source: v|version h|help "
    "html-path man-path info-path no-lazy-fetch no-advice",
    permute=False,
    abbreviates=False,
)
Verb = Callable[[Sequence[Word], Run, Walk], None]

# Configuration that names a program or changes which one runs.
EXECUTES = re.compile(
    r"core\.(?:hookspath|sshcommand|fsmonitor|gitproxy|askpass)|gpg(?:\.\w+)?\.program|credential(?:\..+)?\.helper"
    r"|diff\..+\.(?:command|textconv)|diff\.external|filter\..+\.(?:clean|smudge|process)|merge\..+\.driver|(?:diff|merge)tool\..+\.cmd"
    r"|remote\..+\.(?:uploadpack|receivepack|proxy|vcs)|uploadpack\.packobjectshook|protocol\.ext\.allow|sendemail\..*"
    r"|submodule\..+\.update|url\..+\.insteadof|tar\..+\.command|interactive\.difffilter|browser\..+\.cmd|man\..+\.cmd|init\.templatedir|trailer\..+\.(?:command|cmd)"
)
# Programs of the user's comfort; setting them is ordinary, and running one is judged where it is given a constant value.
COMFORT = re.compile(r"core\.(?:pager|editor)|sequence\.editor|pager\..+")
INCLUDES = re.compile(r"include(?:if\..+)?\.path")
URL = re.compile(r"(?:[a-z][a-z0-9+.-]*://|[\w.-]+@[\w.-]+:|ext::|file:|\.{0,2}/)")


def git(run: Run, walk: Walk) -> None:
    """Global options, aliases given by `-c`, then the verb."""
    given = GLOBAL.parse(run.args)
    aliases: dict[str, Word] = {}
    for word in given.values("c"):
        name, _, value = word.text.partition("=")
        setting(name.lower(), replace(word, text=value), run, walk, aliases)
    for word in given.values("config-env", "exec-path"):
        walk.opaque("it takes git's settings or programs from elsewhere", run, word)
    for word in given.values("C"):
        there = walk.place(word, run)
        run = replace(run, cwd=there)
    for word in given.values("work-tree"):
        run = replace(run, cwd=walk.place(word, run))
    if not given.operands:
        return
    verb, *rest = given.operands
    if not verb.resolved:
        walk.opaque("the verb of `git` is not constant", run, verb)
        return
    alias = aliases.get(verb.text)
    if alias is not None and verb.text not in VERBS:
        expand(alias, rest, run, walk)
        return
    handler = VERBS.get(verb.text)
    if handler is not None:
        handler(rest, run, walk)


def expand(alias: Word, rest: Sequence[Word], run: Run, walk: Walk) -> None:
    """An alias that `-c` defines: shell text behind `!`, else words of git."""
    text = alias.text
    if text.startswith("!"):
        walk.shell(replace(alias, text=text[1:] + ' "$@"' if rest else text[1:]), run, params=(Word("git"), *rest))
        return
    words = [replace(alias, text=part) for part in text.split()]
    walk.command([replace(run.argv[0], text="git"), *words, *rest], run)


def setting(name: str, value: Word, run: Run, walk: Walk, aliases: dict[str, Word] | None = None) -> None:
    """One configuration value that git is given or keeps."""
    if name.startswith("alias."):
        if aliases is not None:
            aliases[name.removeprefix("alias.")] = value
            return
        if value.text.startswith("!"):
            walk.shell(replace(value, text=value.text[1:]), run)
        walk.act(Act.GIT_CONFIG_ALIAS, run, f"`git config {name}` defines what a later verb does", value)
    elif EXECUTES.fullmatch(name):
        walk.act(Act.GIT_CONFIG_EXEC, run, f"`{name}` names a program that git runs by itself", value)
    elif COMFORT.fullmatch(name):
        if value.text and not re.fullmatch(r"[\w./-]*", value.text):
            walk.shell(value, run)
        elif value.text in {"", "cat", "less", "true", ":", "vim", "vi", "nano", "emacs", "code", "more"}:
            return
        elif value.resolved:
            walk.command([value], run)
    elif INCLUDES.fullmatch(name):
        walk.act(Act.GIT_CONFIG_ALIAS, run, f"`git config {name}` reads settings from another file", value)


# verbs that lose work


RESET = grammar("q|quiet hard soft mixed merge keep p|patch N recurse-submodules? pathspec-from-file:")


def reset(args: Sequence[Word], run: Run, walk: Walk) -> None:
    given = RESET.parse(args)
    if given.has("hard", "merge"):
        walk.act(Act.GIT_RESET_HARD, run, "`git reset --hard` throws away changes that are not committed")


CHECKOUT = grammar(
    "q|quiet f|force b: B: t|track? d|detach m|merge p|patch l orphan: ours theirs conflict: progress no-progress guess no-guess "
    "overlay no-overlay recurse-submodules? pathspec-from-file: ignore-skip-worktree-bits ignore-other-worktrees no-track"
)


def everything(words: Sequence[Word]) -> bool:
    """Whether a path names the whole tree."""
    return any(
        word.text.rstrip("/") in {".", "", ":", "*", ":(top)", ":/", "..", ":/:"} or (word.glob and word.text == "*")
        for word in words
    )


def checkout(args: Sequence[Word], run: Run, walk: Walk) -> None:
    given = CHECKOUT.parse(args)
    paths = given.after if given.dashed is not None else given.operands[1:]
    if given.has("force") and not given.has("b", "B", "orphan"):
        walk.act(Act.GIT_DISCARD, run, "`git checkout --force` throws away changes that are not committed")
    elif everything(paths) or (given.operands and given.dashed is None and everything(given.operands[:1])):
        walk.act(Act.GIT_DISCARD, run, "it throws away all changes that are not committed")
    elif any(not word.resolved and not word.roots for word in paths):
        walk.act(Act.GIT_DISCARD, run, "it throws away changes in files that cannot be known")


SWITCH = grammar(
    "c|create: C|force-create: d|detach f|force discard-changes m|merge t|track? orphan: q|quiet guess no-guess recurse-submodules? ignore-other-worktrees progress"
)


def switch(args: Sequence[Word], run: Run, walk: Walk) -> None:
    if SWITCH.parse(args).has("force", "discard-changes"):
        walk.act(Act.GIT_DISCARD, run, "`git switch --discard-changes` throws away changes that are not committed")


RESTORE = grammar(
    "s|source: S|staged W|worktree p|patch q|quiet ours theirs m|merge conflict: overlay no-overlay ignore-unmerged progress pathspec-from-file:"
)


def restore(args: Sequence[Word], run: Run, walk: Walk) -> None:
    given = RESTORE.parse(args)
    if given.has("staged") and not given.has("worktree"):
        return
    if everything(given.operands) or any(not word.resolved and not word.roots for word in given.operands):
        walk.act(Act.GIT_DISCARD, run, "`git restore` of the whole tree throws away changes that are not committed")


def stash(args: Sequence[Word], run: Run, walk: Walk) -> None:
    if args and args[0].text in {"drop", "clear"}:
        walk.act(Act.GIT_STASH_LOSS, run, f"`git stash {args[0].text}` throws away stashed changes")


CLEAN = grammar("d f|force i|interactive n|dry-run q|quiet e|exclude: x X")


def clean(args: Sequence[Word], run: Run, walk: Walk) -> None:
    given = CLEAN.parse(args)
    if given.has("force") and not given.has("dry-run"):
        walk.act(Act.GIT_CLEAN, run, "`git clean -f` deletes files that git does not know and cannot bring back")


BRANCH = grammar(
    "d|delete D m|move M c|copy C f|force l|list a|all r|remotes v|verbose q|quiet t|track? u|set-upstream-to: unset-upstream "
    "show-current contains? no-contains? merged? no-merged? sort: format: points-at: edit-description column? color? abbrev? no-abbrev i|ignore-case no-track omit-empty create-reflog recurse-submodules"
)


def branch(args: Sequence[Word], run: Run, walk: Walk) -> None:
    given = BRANCH.parse(args)
    if given.has("D") or (given.has("delete") and given.has("force")):
        walk.act(Act.GIT_BRANCH_LOSS, run, "`git branch -D` deletes a branch whose commits may be nowhere else")
    elif given.has("M", "C") or (given.has("force") and not given.has("list")):
        walk.act(Act.GIT_BRANCH_LOSS, run, "it replaces a branch whose commits may be nowhere else")


def rewrite(args: Sequence[Word], run: Run, walk: Walk) -> None:
    """`filter-branch`, `filter-repo`."""
    if args and args[0].text in {"-h", "--help", "--version", "--analyze"}:
        return
    walk.act(Act.GIT_REWRITE, run, "it rewrites the whole history")
    for number, word in enumerate(args[:-1]):
        if word.text.endswith("-filter"):
            walk.shell(args[number + 1], run)


def reflog(args: Sequence[Word], run: Run, walk: Walk) -> None:
    words = [word.text for word in args]
    if words[:1] == ["delete"] or (words[:1] == ["expire"] and not {"-n", "--dry-run"} & set(words)):
        walk.act(Act.GIT_REFLOG_LOSS, run, f"`git reflog {words[0]}` removes the way back to lost commits")


def collect(args: Sequence[Word], run: Run, walk: Walk) -> None:
    """`gc`, `prune`: unreachable commits go for good when they need not be old."""
    words = [word.text for word in args]
    now = [word for word in words if re.match(r"--(?:prune|expire)=(?:now|all|0)", word)]
    at = next((n for n, word in enumerate(words) if word in {"--expire", "--prune"}), None)
    later = at is not None and words[at + 1 : at + 2] in (["now"], ["all"], ["0"])
    if now or later:
        walk.act(Act.GIT_REFLOG_LOSS, run, "it deletes commits that no branch holds, at once")


def update_ref(args: Sequence[Word], run: Run, walk: Walk) -> None:
    if any(word.text in {"-d", "--delete", "--stdin"} for word in args):
        walk.act(Act.GIT_REF_DELETE, run, "`git update-ref -d` deletes a name whose commits may be nowhere else")


def worktree(args: Sequence[Word], run: Run, walk: Walk) -> None:
    words = [word.text for word in args]
    if words[:1] == ["remove"] and {"-f", "--force", "-ff"} & set(words):
        walk.act(Act.GIT_WORKTREE_LOSS, run, "`git worktree remove --force` deletes changes that are not committed")
    elif words[:1] in (["add"], ["move"]):
        for word in [word for word in args[1:] if not word.text.startswith("-")][: 1 if words[0] == "add" else 2]:
            walk.path(EffectKind.WRITE, word, run, Flag.CREATE)


def tag(args: Sequence[Word], run: Run, walk: Walk) -> None:
    """Tags are names only; deleting one loses no commit that a branch holds."""


def remove(args: Sequence[Word], run: Run, walk: Walk) -> None:
    given = RM.parse(args)
    if given.has("cached", "dry-run"):
        return
    for word in given.operands:
        walk.path(EffectKind.DELETE, word, run, *((Flag.RECURSIVE,) if given.has("r") else ()))


RM = grammar("r f|force n|dry-run q|quiet cached ignore-unmatch sparse pathspec-from-file: pathspec-file-nul")


def moved(args: Sequence[Word], run: Run, walk: Walk) -> None:
    words = [word for word in args if not word.text.startswith("-")]
    for word in words[:-1]:
        walk.path(EffectKind.DELETE, word, run, Flag.MOVED)
    for word in words[-1:]:
        walk.path(EffectKind.WRITE, word, run, Flag.CREATE)


# verbs that reach the network


PUSH = grammar(
    "f|force force-with-lease? force-if-includes no-force-with-lease d|delete mirror prune all branches tags follow-tags n|dry-run "
    "u|set-upstream o|push-option: receive-pack|exec: repo: q|quiet v|verbose progress no-verify verify signed? atomic no-atomic "
    "porcelain recurse-submodules: thin no-thin 4|ipv4 6|ipv6 no-signed"
)


def push(args: Sequence[Word], run: Run, walk: Walk) -> None:
    given = PUSH.parse(args)
    remote = given.value("repo") or (given.operands[0] if given.operands else None)
    refs = given.operands[1:] if given.value("repo") is None else given.operands
    for word in given.values("receive-pack"):
        walk.act(Act.GIT_CONFIG_EXEC, run, "`--receive-pack` names a program that the other side runs", word)
    if given.has("dry-run"):
        return
    forced = given.has("force", "mirror", "prune") or any(word.text.startswith("+") for word in refs)
    if forced:
        walk.act(Act.GIT_FORCE_PUSH, run, "a forced push overwrites the history of the remote")
    if given.has("delete") or any(re.match(r"\+?:.", word.text) for word in refs):
        walk.act(Act.GIT_DELETE_PUSH, run, "it deletes a branch or tag of the remote")
    if given.has("force-with-lease") and not forced:
        walk.act(Act.GIT_LEASE_PUSH, run, "`git push --force-with-lease` overwrites the history of the remote")
    for word in refs:
        if not word.resolved and not word.roots and word.feed is None:
            walk.act(Act.GIT_FORCE_PUSH, run, "what is pushed cannot be known, and it may be a forced push", word)
    if remote is not None and (URL.match(remote.text) or not remote.resolved):
        walk.act(Act.GIT_URL_PUSH, run, "it pushes to an address that is no configured remote", remote)
        walk.fetch(remote, run, Flag.SENDS)


def fetching(take: int) -> Verb:
    """`clone`, `fetch`, `pull`, `ls-remote`: the first operand is where from."""

    def verb(args: Sequence[Word], run: Run, walk: Walk) -> None:
        given = FETCH.parse(args)
        for word in given.values("upload-pack"):
            walk.act(Act.GIT_CONFIG_EXEC, run, "`--upload-pack` names a program that git runs", word)
        for word in given.values("config"):
            name, _, value = word.text.partition("=")
            setting(name.lower(), replace(word, text=value), run, walk)
        for word in given.operands[:1]:
            if word.text.startswith("ext::"):
                walk.shell(replace(word, text=word.text.removeprefix("ext::")), run)
            elif URL.match(word.text) and not re.match(r"(?:file:|\.{0,2}/)", word.text):
                walk.fetch(word, run)
        for word in given.operands[1 : take + 1]:
            walk.path(EffectKind.WRITE, word, run, Flag.RECURSIVE, Flag.CREATE)

    return verb


FETCH = grammar(
    "u|upload-pack: c|config: b|branch: o|origin: depth: j|jobs: q|quiet v|verbose n template: reference: reference-if-able: "
    "shallow-since: shallow-exclude: filter: separate-git-dir: recurse-submodules? single-branch no-single-branch no-tags tags bare "
    "mirror l|local s|shared no-hardlinks dissociate sparse no-checkout progress server-option: a|all append p|prune P f|force k "
    "r|rebase? ff-only no-ff ff no-rebase squash no-commit commit autostash no-autostash X|strategy-option: S|gpg-sign? strategy: "
    "refmap: t multiple dry-run prune-tags heads refs sort: symref exit-code get-url e|edit no-edit no-verify allow-unrelated-histories set-upstream deepen: unshallow update-shallow stdin no-recurse-submodules"
)


def submodule(args: Sequence[Word], run: Run, walk: Walk) -> None:
    words = [word for word in args if not word.text.startswith("-")]
    if not words:
        return
    if words[0].text == "foreach" and len(words) > 1:
        walk.shell(
            replace(words[1], text=" ".join(word.text for word in words[1:]), resolved=all(w.resolved for w in words)), run
        )
    elif words[0].text == "add" and len(words) > 1:
        walk.fetch(words[1], run)


def remote(args: Sequence[Word], run: Run, walk: Walk) -> None:
    """A configured remote is a place that later pushes may go to; adding one sends nothing."""


# verbs that run programs


def rebase(args: Sequence[Word], run: Run, walk: Walk) -> None:
    given = REBASE.parse(args)
    for word in given.values("exec"):
        walk.shell(word, run)


REBASE = grammar(
    "x|exec: i|interactive onto: f|force-rebase s|strategy: X|strategy-option: S|gpg-sign? m|merge q|quiet v|verbose continue abort "
    "skip quit edit-todo autosquash no-autosquash autostash no-autostash root C: r|rebase-merges? keep-base no-keep-empty empty: fork-point no-verify reapply-cherry-picks update-refs apply committer-date-is-author-date stat n|no-stat whitespace: show-current-patch reset-author-date ignore-date no-ff signoff"
)


def bisect(args: Sequence[Word], run: Run, walk: Walk) -> None:
    if args and args[0].text == "run" and len(args) > 1:
        walk.command(list(args[1:]), run)


def tool(args: Sequence[Word], run: Run, walk: Walk) -> None:
    """`difftool`, `mergetool`, `grep -O`, `diff --ext-diff`."""
    for number, word in enumerate(args):
        text = word.text
        if text in {"-x", "--extcmd"} and number + 1 < len(args):
            walk.shell(args[number + 1], run)
        elif text.startswith("--extcmd="):
            walk.shell(replace(word, text=text.removeprefix("--extcmd=")), run)


def grep(args: Sequence[Word], run: Run, walk: Walk) -> None:
    for word in args:
        if word.text == "--":
            return
        found = re.fullmatch(r"(?:-O|--open-files-in-pager=)(.+)", word.text)
        if found:
            walk.shell(replace(word, text=found[1]), run)


def config(args: Sequence[Word], run: Run, walk: Walk) -> None:
    given = CONFIG.parse(args)
    words = list(given.operands)
    if words and words[0].text in {"set", "unset", "get", "list", "edit", "rename-section", "remove-section", "get-all"}:
        verb = words.pop(0).text
        if verb != "set":
            return
    if given.has(
        "get",
        "get-all",
        "get-regexp",
        "get-urlmatch",
        "list",
        "unset",
        "unset-all",
        "remove-section",
        "rename-section",
        "get-color",
        "get-colorbool",
        "edit",
    ):
        return
    if len(words) < 2:
        return
    name, value = words[0], words[1]
    if not name.resolved:
        walk.act(Act.GIT_CONFIG_EXEC, run, "which setting it changes cannot be known", name)
        return
    setting(name.text.lower(), value, run, walk)
    for word in given.values("file"):
        walk.path(EffectKind.WRITE, word, run)
    if given.has("system"):
        walk.path(EffectKind.WRITE, replace(name, text="/etc/gitconfig", resolved=True, glob=False), run)


CONFIG = grammar(
    "global system local worktree f|file: blob: add replace-all get get-all get-regexp get-urlmatch unset unset-all rename-section "
    "remove-section l|list e|edit type: bool int path expiry-date z|null name-only show-origin show-scope default: includes no-includes fixed-value get-color get-colorbool bool-or-int comment: all regexp url: value: append t:"
)


def init(args: Sequence[Word], run: Run, walk: Walk) -> None:
    given = INIT.parse(args)
    for word in given.values("template"):
        walk.act(Act.GIT_CONFIG_EXEC, run, "a template brings hooks that git runs by itself", word)
    for word in given.operands[:1]:
        walk.path(EffectKind.WRITE, word, run, Flag.CREATE)


INIT = grammar("q|quiet bare template: separate-git-dir: object-format: b|initial-branch: shared? ref-format:")


def archive(args: Sequence[Word], run: Run, walk: Walk) -> None:
    given = ARCHIVE.parse(args)
    for word in given.values("output"):
        walk.path(EffectKind.WRITE, word, run, Flag.CONTENT)
    for word in given.values("exec"):
        walk.act(Act.GIT_CONFIG_EXEC, run, "`--exec` names a program that the other side runs", word)


ARCHIVE = grammar(
    "o|output: format: prefix: remote: exec: l|list v|verbose worktree-attributes add-file: add-virtual-file: mtime:"
)


def output(args: Sequence[Word], run: Run, walk: Walk) -> None:
    """`diff`, `log`, `show`, `format-patch`: `--output` writes a file."""
    for number, word in enumerate(args):
        if word.text.startswith("--output="):
            walk.path(EffectKind.WRITE, replace(word, text=word.text.removeprefix("--output=")), run, Flag.CONTENT)
        elif word.text in {"-o", "--output-directory", "--output"} and number + 1 < len(args):
            walk.path(EffectKind.WRITE, args[number + 1], run, Flag.CONTENT)


def given_message(args: Sequence[Word], run: Run, walk: Walk) -> None:
    """A commit's message is data; `-F` reads a file."""
    given = COMMIT.parse(args)
    for word in given.values("file", "template"):
        if word.text != "-":
            walk.path(EffectKind.READ, word, run)


COMMIT = grammar(
    "m|message: a|all F|file: t|template: amend no-edit n|no-verify C: c: author: date: s|signoff q|quiet v|verbose p|patch S|gpg-sign? fixup: squash: allow-empty allow-empty-message cleanup: e|edit i|include o|only dry-run trailer: u? reset-author pathspec-from-file: no-gpg-sign short branch porcelain long z status no-status reedit-message: reuse-message:",
    abbreviates=True,
)


def mail(args: Sequence[Word], run: Run, walk: Walk) -> None:
    walk.fetch(Word("smtp", run.span, resolved=False), run, Flag.SENDS)


VERBS: Mapping[str, Verb] = {
    "reset": reset,
    "checkout": checkout,
    "switch": switch,
    "restore": restore,
    "stash": stash,
    "clean": clean,
    "branch": branch,
    "filter-branch": rewrite,
    "filter-repo": rewrite,
    "reflog": reflog,
    "gc": collect,
    "prune": collect,
    "update-ref": update_ref,
    "worktree": worktree,
    "tag": tag,
    "rm": remove,
    "mv": moved,
    "push": push,
    "clone": fetching(1),
    "fetch": fetching(0),
    "pull": fetching(0),
    "ls-remote": fetching(0),
    "submodule": submodule,
    "remote": remote,
    "rebase": rebase,
    "bisect": bisect,
    "difftool": tool,
    "mergetool": tool,
    "grep": grep,
    "config": config,
    "init": init,
    "archive": archive,
    "diff": output,
    "log": output,
    "show": output,
    "format-patch": output,
    "commit": given_message,
    "send-email": mail,
}


def filter_repo(run: Run, walk: Walk) -> None:
    """`git-filter-repo` and `bfg` as programs of their own."""
    rewrite(run.args, run, walk)


SPECS: dict[str, Family] = {"git": git, "git-filter-repo": filter_repo, "bfg": filter_repo}
