"""Programs that a shell runs itself, because they change its own state."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from checkrein.shell.flows import decode_escapes, formatted
from checkrein.shell.spec import Feed, Run, Word
from checkrein.shell.state import ANY, EMPTY, UNKNOWN, Array, Value, combine
from checkrein.vocab.effects import EffectKind

if TYPE_CHECKING:
    from checkrein.shell.walker import Walker

NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
ASSIGNMENT = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)(\+?)=", re.DOTALL)
INITS = re.compile(
    r"(?:\S*/)?(?:direnv (?:hook|export)|ssh-agent|gpg-agent|keychain|pyenv (?:init|virtualenv-init)|rbenv init|nodenv init|goenv init|jenv init|"
    r"brew shellenv|conda (?:shell\.\w+ hook|shell hook)|mamba shell hook|micromamba shell hook|starship init|zoxide init|fnm env|"
    r"nvm|mise (?:activate|env|hook-env)|rtx activate|asdf|thefuck --alias|fzf --(?:bash|zsh)|atuin init|opam env|luarocks path|"
    r"dircolors|lesspipe|register-python-argcomplete|kubectl completion|gh completion|helm completion|uv generate-shell-completion|"
    r"pip completion|npm completion|rustup completions|docker completion|volta|tmuxifier init|navi widget|mcfly init|perl -I\S* -Mlocal::lib|"
    r"resize|tset|minikube (?:-p \S+ )?docker-env|docker-machine env|vault-env|aws configure export-credentials|guix|nix print-dev-env)(?:\s|$)"
)
Builtin = Callable[[Run, "Walker"], None]


def operands(run: Run) -> tuple[Word, ...]:
    """The words after the options."""
    args = run.args
    for number, word in enumerate(args):
        if word.text == "--":
            return args[number + 1 :]
        if not word.text.startswith("-") or word.text == "-":
            return args[number:]
    return ()


def quiet(run: Run, shell: Walker) -> None:
    shell.said = Feed(text="")


def change_directory(run: Run, shell: Walker) -> None:
    args = operands(run)
    state = shell.state
    old = state.cwds
    if not args:
        state.cwds = (shell.site.home,)
    elif args[0].text == "-":
        state.cwds = state.previous
    elif not args[0].resolved or args[0].glob:
        state.cwds = ()
    else:
        place = shell.resolve(args[0].text, run) if not run.remote else None
        state.cwds = (place,) if place is not None else ()
    state.previous = old
    shell.said = Feed(text="")
    if run.program == "pushd":
        shell.dirs.append(old)


def pop_directory(run: Run, shell: Walker) -> None:
    shell.state.cwds = shell.dirs.pop() if shell.dirs else ()
    shell.said = Feed()


def export(run: Run, shell: Walker) -> None:
    """`export`, `declare`, `local`, `readonly`, `typeset`: assignments that are words."""
    flags = "".join(w.text for w in run.args if w.text[:1] in "-+" and w.text[:2] != "--" and "=" not in w.text)
    state = shell.state
    for word in run.args:
        text = word.text
        if text[:1] in ("-", "+"):
            continue
        m = ASSIGNMENT.match(text)
        name = m.group(1) if m is not None else text
        if run.program == "export" or "x" in flags:
            state.exported |= {f"{name}()" if "f" in flags else name}
        if (run.program in ("local", "declare", "typeset")) and shell.frames and "g" not in flags and name not in shell.locals:
            shell.locals[name] = state.vars.get(name)
            if m is None:
                state.vars[name] = EMPTY
        if not NAME.fullmatch(name):
            if not word.resolved and m is None:
                shell.opaque("the variable that is assigned is not known", run, word)
            continue
        if m is None:
            if name in state.vars:
                shell.assign(name, state.vars[name], run.span)
            continue
        if m.end() == len(text) and isinstance(state.vars.get(name), Array):
            continue  # an array literal, bound by the walker
        value = text[m.end() :]
        if value[:1] == "~":
            value = shell.tilde(value)
        if m.group(2):
            known = shell.lookup(name)
            value = (known.texts[0] if known is not None else "") + value
        if "n" in flags and "x" not in flags:
            shell.assign(name, ANY, run.span)  # a name reference
        elif value.startswith("(") and value.endswith(")") and "a" in flags.lower():
            shell.assign(name, Array((), unknown=True), run.span)
        else:
            shell.assign(name, Value((value,), word.feed, word.glob), run.span)
    shell.said = Feed(text="")


def unset(run: Run, shell: Walker) -> None:
    for word in run.args:
        if not word.text.startswith("-"):
            shell.state.functions.pop(word.text, None)
            if word.text in shell.state.vars:
                shell.state.vars[word.text] = EMPTY
    shell.said = Feed(text="")


def read(run: Run, shell: Walker) -> None:
    """`read`: the variables take what the input holds, line by line when it is constant."""
    names: list[str] = []
    array = ""
    skip = False
    args = run.args
    for number, word in enumerate(args):
        text = word.text
        if skip:
            skip = False
            continue
        if text.startswith("-") and len(text) > 1:
            if text[-1] in "aA" and text != "--":
                array = args[number + 1].text if number + 1 < len(args) else ""
                skip = True
            elif text[-1] in "dinNptu":
                skip = True
            continue
        names.append(text.split("?", 1)[0])
    feed = shell.stdin
    values: list[Value]
    if feed is None:
        values = [ANY for _ in names]
    elif feed.text is not None and UNKNOWN not in feed.text:
        ifs = run.env.get("IFS")
        lines = [line if ifs is not None and not ifs.text else line.strip(" \t") for line in feed.text.split("\n")] or [""]
        if lines[-1] == "" and len(lines) > 1:
            lines.pop()
        separators = ifs.text if ifs is not None and ifs.resolved else (shell.separators() or " \t\n")
        rows = [shell.split(line, separators) for line in lines]
        values = []
        for number in range(len(names)):
            if number == len(names) - 1:
                if number == 0:
                    texts = list(lines)
                else:
                    texts = [" ".join(row[number:]) for row in rows]
            else:
                texts = [row[number] if number < len(row) else "" for row in rows]
            unique = tuple(dict.fromkeys(texts))
            values.append(
                Value(unique if len(unique) <= 64 else (UNKNOWN,), Feed(fetched=feed.fetched) if feed.fetched else None)
            )
        if array:
            many = tuple((str(n), Value((piece,))) for n, piece in enumerate(rows[0] if rows else []))
            shell.assign(array, Array(many, unknown=len(rows) > 1), run.span)
            array = ""
    else:
        kind = replace(feed, text=None, path=None) if feed.path is None or feed.fetched else Feed(roots=())
        values = [Value((UNKNOWN,), kind) for _ in names]
    for name, value in zip(names, values, strict=True):
        if "`" in name or "$(" in name:
            shell.opaque("a variable's name holds a substitution", run)
        shell.assign(name, value, run.span)
    if not names and not array:
        shell.assign("REPLY", ANY, run.span)
    if array:
        shell.assign(array, Array((), unknown=True), run.span)
    shell.said = Feed(text="")


def map_lines(run: Run, shell: Walker) -> None:
    """`mapfile`, `readarray`."""
    name = run.args[-1].text if run.args and not run.args[-1].text.startswith("-") else "MAPFILE"
    feed = shell.stdin
    if feed is not None and feed.text is not None and UNKNOWN not in feed.text:
        items = tuple((str(n), Value((text,))) for n, text in enumerate(feed.text.rstrip("\n").split("\n")))
        shell.assign(name, Array(items), run.span)
    elif feed is not None and (feed.roots or feed.fetched or feed.decoded):
        shell.assign(name, Array((("0", Value((UNKNOWN,), feed)),)), run.span)
    else:
        shell.assign(name, Array((), unknown=True), run.span)
    for number, word in enumerate(run.args[:-1]):
        if word.text == "-C":
            shell.text_runs(run.args[number + 1].text, run.span)
    shell.said = Feed(text="")


def evaluate(run: Run, shell: Walker) -> None:
    """`eval`: the words joined are shell text."""
    words = [word for word in run.args if word.text != "--"]
    if not words:
        return
    text = " ".join(word.text for word in words)
    feeds = [word.feed for word in words if word.feed is not None and not word.resolved]
    if UNKNOWN in text:
        ran = shell.substituted()[:-1]  # without `eval` itself
        if ran and all(INITS.match(line) for line in ran):
            return
        if feeds and shell.hidden(combine(feeds, text=None), run, words[0], "the text that `eval` runs"):
            return
    shell.text_runs(text, run.span)


def source(run: Run, shell: Walker) -> None:
    """`source` and `.`: the file runs in this shell."""
    args = run.args
    if args and args[0].text == "--":
        args = args[1:]
    if not args:
        return
    word = args[0]
    feed = word.feed
    if word.text in ("/dev/stdin", "/dev/fd/0"):
        feed = shell.stdin
    elif not word.text.startswith("/dev/fd/"):
        place = shell.resolve(word.text, run) if word.resolved and not run.remote else None
        if place is not None and place in shell.files and place not in shell.fetched and all(shell.files[place]):
            for text in shell.files[place]:
                shell.source_text(text or "", args, run)
            return
        shell.file(word, run)
        if place is not None:
            shell.path(EffectKind.READ, word, run)
        return
    if feed is not None and feed.text is not None and UNKNOWN not in feed.text:
        shell.source_text(feed.text, args, run)
        return
    ran = shell.substituted()[:-1]  # without `source` itself
    if ran and all(INITS.match(line) for line in ran):
        return
    shell.feed_runs(feed if feed is not None else Feed(), run)


def positional(run: Run, shell: Walker) -> None:
    """`set -- a b`: the positional parameters."""
    state = shell.state
    args = run.args
    for number, word in enumerate(args):
        if word.text == "--":
            state.params = (
                (*(state.params or ())[:1], *args[number + 1 :]) if state.params else (Word("bash"), *args[number + 1 :])
            )
            break
        if not word.text.startswith(("-", "+")):
            if number == 0 or args[number - 1].text not in ("-o", "+o", "-euo", "-eo", "-uo"):
                state.params = (Word("bash"), *args[number:])
                break
    shell.said = Feed(text="")


def shift(run: Run, shell: Walker) -> None:
    params = shell.state.params
    count = int(run.args[0].text) if run.args and run.args[0].text.isdigit() else 1
    if params is not None and run.args and not run.args[0].resolved:
        shell.state.params = None
    elif params is not None:
        shell.state.params = (*params[:1], *params[1 + count :])


def leave(run: Run, shell: Walker) -> None:
    shell.state.dead = True
    shell.said = Feed(text="")


def trap(run: Run, shell: Walker) -> None:
    args = operands(run)
    if len(args) < 2 or not args[0].text or args[0].text == "-":
        return
    if UNKNOWN in args[0].text and shell.hidden(args[0].feed, run, args[0], "the text that `trap` runs"):
        return
    saved = shell.state
    shell.state = saved.copy()
    shell.text_runs(args[0].text, args[0].span)
    shell.state = saved


def alias(run: Run, shell: Walker) -> None:
    for word in run.args:
        name, found, value = word.text.partition("=")
        if found and not word.text.startswith("-"):
            if not word.resolved:
                shell.opaque("an alias is not constant", run, word)
            shell.state.aliases[name] = value


def unalias(run: Run, shell: Walker) -> None:
    for word in run.args:
        shell.state.aliases.pop(word.text, None)


def print_formatted(run: Run, shell: Walker) -> None:
    """`printf`, which may assign (`-v`)."""
    args = run.args
    if args and args[0].text == "--":
        args = args[1:]
    if len(args) >= 2 and args[0].text == "-v":
        text = formatted(args[2:])
        shell.assign(args[1].text, ANY if text is None else Value((text,)), run.span)
        if "$(" in args[1].text or "`" in args[1].text:
            shell.opaque("a variable's name holds a substitution", run, args[1])
        return
    text = formatted(args)
    feeds = [word.feed for word in args if word.feed is not None]
    shell.said = Feed(text=text) if not feeds else replace(combine(feeds, text=None), text=text)


def echo(run: Run, shell: Walker) -> None:
    args = list(run.args)
    newline, escapes = True, shell.state.name in ("sh", "dash", "zsh")
    while args and re.fullmatch(r"-[neE]+", args[0].text) and not args[0].roots:
        newline = newline and "n" not in args[0].text
        escapes = "e" in args[0].text or (escapes and "E" not in args[0].text)
        args.pop(0)
    text = " ".join(word.text for word in args)
    if escapes and "\\" in text:
        text = decode_escapes(text)
    feeds = [word.feed for word in args if word.feed is not None]
    if any(word.glob for word in args):
        shell.said = Feed(roots=shell.roots_of(args, run), filtered=all(shell.narrow(word) for word in args if word.glob))
        return
    shell.said = Feed(text=text + "\n" * newline)
    if feeds:
        shell.said = replace(combine(feeds, text=None), text=text + "\n" * newline)


def command(run: Run, shell: Walker) -> None:
    """`command` and `builtin`: no function, no alias."""
    args = run.args
    while args and args[0].text.startswith("-"):
        if "v" in args[0].text.lower() and args[0].text != "--":
            shell.said = Feed(plain=True)
            return
        args = args[1:]
    if args:
        shell.invoke(args, run.span, env=run.env, functions=False)


def execute(run: Run, shell: Walker) -> None:
    """`exec`: the command in place of the shell."""
    args = list(run.args)
    while args and args[0].text.startswith("-"):
        option = args.pop(0).text
        if option == "--":
            break
        if option.endswith("a") and args:
            args.pop(0)
    if args:
        shell.command(args, run)


def let(run: Run, shell: Walker) -> None:
    for word in run.args:
        shell.arithmetic([word.text])


def numeric_test(run: Run, shell: Walker) -> None:
    """`test` and `[`: nothing runs, except what a numeric comparison evaluates."""
    shell.said = Feed(text="")
    for word in run.args:
        if word.text == "-v" or (word.text[:1] == "-" and word.text in ("-eq", "-ne", "-lt", "-le", "-gt", "-ge")):
            if any("$(" in other.text or "`" in other.text for other in run.args):
                shell.opaque("a test evaluates text that holds a substitution", run)
            return


def working_directory(run: Run, shell: Walker) -> None:
    shell.said = Feed(text=run.cwd + "\n") if run.cwd is not None else Feed(plain=True)


def completion(run: Run, shell: Walker) -> None:
    """`bind -x`, `complete -C`: text that an interactive shell runs later."""
    for number, word in enumerate(run.args[:-1]):
        if word.text in ("-x", "-C", "-F"):
            text = run.args[number + 1].text
            shell.text_runs(
                text.split(":", 1)[1].strip().strip("'\"") if word.text == "-x" and ":" in text else text, word.span
            )


def history(run: Run, shell: Walker) -> None:
    """`fc -s` and `fc -e -` run a line of the history again."""
    if run.program == "fc" and any(word.text in ("-s", "-e") for word in run.args):
        shell.opaque("it runs a line of the history again", run)


def getopts(run: Run, shell: Walker) -> None:
    if len(run.args) >= 2:
        shell.assign(run.args[1].text, Value((UNKNOWN,), Feed(plain=True)), run.span)
    shell.assign("OPTARG", ANY, run.span)
    shell.said = Feed(text="")


def enable(run: Run, shell: Walker) -> None:
    if any(word.text.startswith("-") and "f" in word.text for word in run.args):
        shell.opaque("it loads a builtin from a file", run)


BUILTINS: dict[str, Builtin] = {
    "cd": change_directory,
    "chdir": change_directory,
    "pushd": change_directory,
    "popd": pop_directory,
    "pwd": working_directory,
    "export": export,
    "declare": export,
    "typeset": export,
    "local": export,
    "readonly": export,
    "unset": unset,
    "read": read,
    "mapfile": map_lines,
    "readarray": map_lines,
    "eval": evaluate,
    "source": source,
    ".": source,
    "set": positional,
    "shift": shift,
    "exit": leave,
    "return": leave,
    "break": leave,
    "continue": leave,
    "trap": trap,
    "alias": alias,
    "unalias": unalias,
    "printf": print_formatted,
    "echo": echo,
    "print": echo,
    "command": command,
    "builtin": command,
    "exec": execute,
    "noglob": execute,
    "nocorrect": execute,
    "-": execute,
    "let": let,
    "test": numeric_test,
    "[": numeric_test,
    ":": quiet,
    "true": quiet,
    "false": quiet,
    "shopt": quiet,
    "setopt": quiet,
    "unsetopt": quiet,
    "wait": quiet,
    "umask": quiet,
    "hash": quiet,
    "jobs": quiet,
    "fg": quiet,
    "bg": quiet,
    "disown": quiet,
    "ulimit": quiet,
    "times": quiet,
    "bind": completion,
    "complete": completion,
    "compgen": completion,
    "history": history,
    "fc": history,
    "getopts": getopts,
    "enable": enable,
}
