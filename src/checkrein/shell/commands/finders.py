"""Programs that find files and act on them: `find`, `fd`, `xargs`, `parallel`. What they name is known by its roots."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from checkrein.shell.commands.wrappers import Grammar, joined, split
from checkrein.shell.spec import Family, Feed, Run, Walk, Word
from checkrein.vocab.effects import EffectKind, Flag

NARROWING = frozenset(
    [
        "-name",
        "-iname",
        "-path",
        "-ipath",
        "-wholename",
        "-regex",
        "-iregex",
        "-lname",
        "-size",
        "-mtime",
        "-mmin",
        "-atime",
        "-amin",
        "-ctime",
        "-cmin",
        "-newer",
        "-empty",
        "-user",
        "-group",
        "-perm",
        "-inum",
        "-links",
        "-samefile",
        "-nouser",
        "-nogroup",
    ]
)
RUNS = frozenset(["-exec", "-execdir", "-ok", "-okdir"])
PRINTS = frozenset(["-fprint", "-fprint0", "-fls"])
ANYTHING = frozenset(["*", "**", ".*", "*.*", "?*", "./*", "*/*"])
PLACEHOLDER = "{}"
MAX_ITEMS = 512


def place_words(words: Sequence[Word], run: Run, walk: Walk) -> tuple[str, ...]:
    """The roots that path words name, absolute where that is known."""
    roots: list[str] = []
    for word in words:
        if word.roots:
            roots.extend(word.roots)
        elif word.glob and "/" in word.text:
            roots.append(
                walk.place(replace(word, text=re.split(r"/[^/]*[*?\[]", word.text, maxsplit=1)[0] or "/", glob=False), run)
                or word.text
            )
        elif word.glob:
            roots.append(run.cwd or ".")
        elif word.resolved:
            roots.append(walk.place(word, run) or word.text)
        else:
            roots.append("")
    return tuple(dict.fromkeys(roots))


def find(run: Run, walk: Walk) -> None:
    args = run.args
    i = 0
    while i < len(args) and (args[i].text in ("-H", "-L", "-P") or re.match(r"-O\d|-D", args[i].text)):
        i += 2 if args[i].text == "-D" else 1
    start = i
    while (
        i < len(args)
        and not (args[i].text.startswith("-") and len(args[i].text) > 1)
        and args[i].text not in ("(", ")", "!", ",")
    ):
        i += 1
    places = args[start:i] or (Word(".", run.span),)
    expression = args[i:]
    unresolved = [word for word in places if not word.resolved and not word.roots]
    roots = place_words([word for word in places if word not in unresolved], run, walk)
    filtered = narrowed(expression)
    found = found_word(roots, run, filtered=filtered, unresolved=unresolved)
    deletes = False
    i = 0
    while i < len(expression):
        text = expression[i].text
        i += 1
        if text == "-delete":
            deletes = True
        elif text in RUNS:
            end = i
            while end < len(expression) and expression[end].text not in (";", "+"):
                end += 1
            if expression[end : end + 1] and expression[end].text == "+" and expression[end - 1].text != PLACEHOLDER:
                while end < len(expression) and expression[end].text != ";":
                    end += 1
            command = expression[i:end]
            if command:
                walk.command(filled(command, PLACEHOLDER, found), run, stdin=Feed())
            i = end + 1
        elif text in PRINTS or text == "-fprintf":
            if i < len(expression):
                walk.path(EffectKind.WRITE, expression[i], run, Flag.CONTENT)
            i += 1
        elif text == "-files0-from" and i < len(expression):
            walk.path(EffectKind.READ, expression[i], run)
            i += 1
    if deletes:
        walk.path(
            EffectKind.DELETE,
            found,
            run,
            Flag.RECURSIVE,
            *((Flag.FILTERED,) if filtered else ()),
            why="`find -delete` removes what it finds",
        )
    elif not unresolved:
        for word in places:
            walk.path(EffectKind.READ, word, run, Flag.RECURSIVE, Flag.FILTERED)
    walk.stdout(Feed(roots=tuple(root for root in roots if root), filtered=filtered) if not unresolved else Feed())


def narrowed(expression: Sequence[Word]) -> bool:
    """Whether the tests name only some of the files. `-o` and `!` may undo a test, so they count as no narrowing by themselves."""
    narrow = False
    for number, word in enumerate(expression):
        text = word.text
        if text in RUNS:
            break
        if text in NARROWING:
            value = expression[number + 1].text if number + 1 < len(expression) else ""
            negated = number and expression[number - 1].text in ("!", "-not")
            if value not in ANYTHING and not negated:
                narrow = True
        elif text in ("-maxdepth", "-type", "-mindepth"):
            continue
        elif text in ("-o", "-or", ","):
            following = expression[number + 1 :]
            if not any(w.text in NARROWING for w in following):
                return narrow and any(w.text == "-prune" for w in expression[:number])
    return narrow


def found_word(roots: tuple[str, ...], run: Run, *, filtered: bool, unresolved: Sequence[Word]) -> Word:
    """The word that stands for what was found."""
    if unresolved:
        return Word("\0", run.span, resolved=False, feed=unresolved[0].feed)
    return Word("\0", run.span, resolved=False, roots=roots, filtered=filtered)


def filled(command: Sequence[Word], placeholder: str, found: Word) -> list[Word]:
    """The command with the placeholder replaced."""
    out: list[Word] = []
    for word in command:
        if word.text == placeholder:
            out.append(replace(found, span=word.span))
        elif placeholder in word.text:
            text = word.text.replace(placeholder, found.text)
            roots = found.roots if "\0" in text and text.lstrip("\0")[:1] in ("", "/", ".") else ()
            out.append(
                replace(
                    word,
                    text=text,
                    resolved="\0" not in text,
                    roots=roots,
                    filtered=found.filtered,
                    feed=found.feed or word.feed,
                )
            )
        else:
            out.append(word)
    return out


# xargs

XARGS = Grammar(
    "aEIJLnPRsSd",
    frozenset(["arg-file", "delimiter", "max-lines", "max-args", "max-procs", "max-chars", "process-slot-var"]),
)


def xargs(run: Run, walk: Walk) -> None:
    args: list[Word] = []
    marker = ""
    words = list(run.args)
    for number, word in enumerate(words):  # `-i` and `-l` take their value only when it is attached
        text = word.text
        m = re.match(r"-[0rtpxo]*([iel])(.*)$", text)
        if m is not None and (
            number == 0 or words[number - 1].text not in ("-a", "-E", "-I", "-J", "-L", "-n", "-P", "-s", "-d")
        ):
            if m.group(1) == "i":
                marker = m.group(2) or PLACEHOLDER
            continue
        if not text.startswith("-") and (
            number == 0
            or words[number - 1].text
            not in (
                "-a",
                "-E",
                "-I",
                "-J",
                "-L",
                "-n",
                "-P",
                "-R",
                "-S",
                "-s",
                "-d",
                "--max-args",
                "--max-procs",
                "--delimiter",
                "--arg-file",
                "--max-lines",
                "--max-chars",
            )
        ):
            args.extend(words[number:])
            break
        args.append(word)
    parts = split(args, XARGS)
    options = parts.options
    replaced = options.get("I") or options.get("J") or options.get("replace")
    if replaced is not None:
        marker = replaced.text
    elif "replace" in options:
        marker = marker or PLACEHOLDER
    source = options.get("a") or options.get("arg-file")
    feed = run.stdin if run.stdin is not None else Feed()
    if source is not None:
        walk.path(EffectKind.READ, source, run)
        feed = source.feed if source.feed is not None else Feed()
    items = split_input(feed, options, whole_lines=bool(marker))
    command = parts.command or (Word("echo", run.span),)
    inner = replace(run, stdin=None)
    if items is None:
        found = Word("\0", run.span, resolved=False, roots=feed.roots, filtered=feed.filtered, feed=feed)
        walk.command(filled(command, marker, found) if marker else [*command, found], inner, stdin=Feed())
        return
    if marker:
        for item in items:
            walk.command(filled(command, marker, item), inner, stdin=Feed())
        return
    size = int(options["n"].text) if options.get("n") is not None and options["n"].text.isdigit() else 0  # type: ignore[union-attr]
    if size:
        for number in range(0, len(items), size):
            walk.command([*command, *items[number : number + size]], inner, stdin=Feed())
    else:
        walk.command([*command, *items], inner, stdin=Feed())


def split_input(feed: Feed, options: dict[str, Word | None], *, whole_lines: bool) -> list[Word] | None:
    """The items that constant input holds, or None."""
    text = feed.text
    if text is None or "\0" in text:
        return None
    delimiter = options.get("d") or options.get("delimiter")
    if delimiter is not None:
        pieces = text.rstrip("\n").split(delimiter.text.replace("\\n", "\n").replace("\\t", "\t").replace("\\0", "\0") or "\n")
    elif whole_lines:
        pieces = [line.strip() for line in text.split("\n") if line.strip()]
    elif "0" in options or "null" in options:
        pieces = [text]
    else:
        pieces = [unquoted(piece) for piece in re.findall(r"(?:\\.|'[^'\n]*'|\"[^\"\n]*\"|[^\s\\'\"])+", text, re.DOTALL)]
    if len(pieces) > MAX_ITEMS:
        return None
    return [Word(piece, feed.span, quoted=True, feed=feed if feed.fetched else None) for piece in pieces]


def unquoted(piece: str) -> str:
    return re.sub(
        r"\\(.)|'([^']*)'|\"([^\"]*)\"", lambda m: m.group(1) or m.group(2) or m.group(3) or "", piece, flags=re.DOTALL
    )


# parallel

PARALLEL = Grammar(
    "jNnILSaCsXEPD",
    frozenset(
        ["jobs", "colsep", "arg-file", "delay", "timeout", "retries", "joblog", "results", "tmpdir", "load", "memfree", "halt"]
    )
    | frozenset(
        [
            "max-args",
            "max-procs",
            "sshlogin",
            "sshloginfile",
            "workdir",
            "wd",
            "tagstring",
            "block",
            "recstart",
            "recend",
            "env",
        ]
    ),
)


def parallel(run: Run, walk: Walk) -> None:
    parts = split(run.args, PARALLEL)
    words = list(parts.command)
    sources: list[Word] = []
    listed = False
    for number, word in enumerate(words):
        if word.text in (":::", "::::", ":::+"):
            listed = word.text != "::::"
            sources = [w for w in words[number + 1 :] if w.text not in (":::", ":::+", "::::")]
            words = words[:number]
            break
    remote = "S" in parts.options or "sshlogin" in parts.options
    marker = parts.options.get("I")
    placeholder = marker.text if marker is not None else PLACEHOLDER
    feed = run.stdin if run.stdin is not None else Feed()
    items: list[Word] | None = sources if listed else split_input(feed, {}, whole_lines=True)
    if not words:  # each input line is itself a command
        if items is None:
            walk.input(replace(run, stdin=feed if feed.text is None else replace(feed, text=None)))
        for item in items or ():
            walk.shell(item, run, remote=remote)
        return
    if items is None:
        items = [Word("\0", run.span, resolved=False, roots=feed.roots, filtered=feed.filtered, feed=feed)]
    text = joined(words).text
    for item in items:
        if re.search(r"\{[/.#%0-9+-]*\}", text) and placeholder == PLACEHOLDER:
            code = re.sub(r"\{[0-9.]*\}", lambda _, item=item: item.text, text)  # type: ignore[misc]
            code = re.sub(r"\{[/.#%0-9+-]+\}", "\0", code)
        else:
            code = text.replace(placeholder, item.text) if placeholder in text else f"{text} {item.text}"
        if "\0" in code or item.roots:
            walk.command(
                filled([*words] if placeholder in text else [*words, Word(placeholder)], placeholder, item), run, remote=remote
            )
            if len(words) == 1 and " " in words[0].text:
                walk.shell(Word(code, words[0].span, resolved=False, feed=item.feed), run, remote=remote)
        else:
            walk.shell(Word(code, words[0].span, feed=item.feed), run, remote=remote)


# fd

FD = Grammar(
    "deEtSopcjgg",
    frozenset(
        [
            "max-depth",
            "min-depth",
            "exact-depth",
            "extension",
            "exclude",
            "type",
            "size",
            "changed-within",
            "changed-before",
            "owner",
        ]
    )
    | frozenset(
        ["format", "color", "threads", "base-directory", "search-path", "max-results", "ignore-file", "path-separator", "and"]
    ),
)


def fd(run: Run, walk: Walk) -> None:
    args = list(run.args)
    command: list[Word] = []
    for number, word in enumerate(args):
        if word.text in ("-x", "-X", "--exec", "--exec-batch"):
            command = args[number + 1 :]
            args = args[:number]
            break
    parts = split(args, FD)
    words = parts.command
    pattern, places = (words[0], words[1:]) if words else (None, ())
    base = parts.options.get("base-directory") or parts.options.get("search-path")
    roots = place_words(places or ((base,) if base is not None else (Word("."),)), run, walk)
    filtered = bool(
        (pattern is not None and pattern.text not in ("", ".", "*", ".*", "^"))
        or {"e", "extension", "S", "size", "changed-within", "changed-before"} & parts.options.keys()
    )
    found = Word("\0", run.span, resolved=False, roots=roots, filtered=filtered)
    if command:
        groups: list[list[Word]] = [[]]
        for word in command:
            if word.text == ";":
                groups.append([])
            else:
                groups[-1].append(word)
        for group in groups:
            if group:
                has = any(re.search(r"\{(?:|/|//|\.|/\.)\}", word.text) for word in group)
                expanded = [replace(word, text=re.sub(r"\{(?:/|//|\.|/\.)\}", PLACEHOLDER, word.text)) for word in group]
                walk.command(filled(expanded if has else [*expanded, Word(PLACEHOLDER)], PLACEHOLDER, found), run, stdin=Feed())
    walk.stdout(Feed(roots=roots, filtered=filtered))


SPECS: dict[str, Family] = {
    "find": find,
    "gfind": find,
    "bfs": find,
    "fd": fd,
    "fdfind": fd,
    "xargs": xargs,
    "gxargs": xargs,
    "parallel": parallel,
}
