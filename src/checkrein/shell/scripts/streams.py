"""`awk` and `sed` programs: small languages whose few ways to run a program or write a file are found exactly."""

from __future__ import annotations

import re

from checkrein.shell.scripts.others import UNKNOWN, Lexed, analyse
from checkrein.shell.scripts.tongues import TONGUES
from checkrein.shell.spec import Run, Walk, Word
from checkrein.vocab.effects import EffectKind, Flag

PRINTS = re.compile(r"\bprintf?\b")
OUTPUT = re.compile(r">>|>|\|&?")
STANDARD = frozenset(["/dev/stderr", "/dev/stdout", "/dev/null", "/dev/tty", "/dev/fd/1", "/dev/fd/2"])


def awk(word: Word, run: Run, walk: Walk) -> None:
    """`system(...)`, `print | "command"`, `"command" | getline`, `print > "file"`."""
    text = word.text
    if not re.search(r"system|getline|\||>|@|/inet/", text):
        return
    analyse("awk", word, run, walk)
    lexed = Lexed("awk", TONGUES["awk"], text, walk.site.home)
    code = lexed.skeleton
    for m in re.finditer(r"(.{0,400}?)\|&?\s*getline", code, re.DOTALL):
        found = re.search(r"\x01(\d+)\x01\s*$", m.group(1))
        rest = m.group(1)[: found.start()].rstrip() if found is not None else m.group(1)
        whole = found is not None and (
            not rest or rest[-1] in "({;=!&|\n" or re.search(r"\b(?:while|if)\s*\($", rest) is not None
        )
        name = re.search(r"([A-Za-z_]\w*)\s*$", m.group(1))
        if whole and found is not None:
            command(lexed.strings[int(found.group(1))], word, run, walk)
        elif name is not None and name.group(1) in lexed.consts:
            command(lexed.consts[name.group(1)], word, run, walk)
        else:
            walk.opaque("the awk code runs a command that is not constant", run, word)
    for m in PRINTS.finditer(code):
        printed(code, m.end(), lexed, word, run, walk)
    for m in re.finditer(r"getline[^;\n}]*<\s*\x01(\d+)\x01", code):
        path = lexed.strings[int(m.group(1))]
        if path not in ("-", *STANDARD) and not path.startswith("/inet/"):
            walk.path(EffectKind.READ, Word(path, word.span, UNKNOWN not in path), run)


def printed(code: str, at: int, lexed: Lexed, word: Word, run: Run, walk: Walk) -> None:
    """Where a `print` statement sends its output."""
    level = 0
    i = at
    while i < len(code):
        c = code[i]
        if c in "([":
            level += 1
        elif c in ")]":
            level -= 1
        elif level <= 0 and c in ";}\n":
            return
        elif level == 0:
            m = OUTPUT.match(code, i)
            if m is not None and code[i : i + 2] != "||":
                break
            if code[i : i + 2] == "||":
                i += 1
        i += 1
    else:
        return
    m = OUTPUT.match(code, i)
    assert m is not None
    items, _ = lexed.arguments(m.end())
    target = items[0] if items else UNKNOWN
    if m.group().startswith("|"):
        command(target, word, run, walk)
    elif target not in STANDARD:
        flag = Flag.APPEND if m.group() == ">>" else Flag.CONTENT
        walk.path(EffectKind.WRITE, Word(target, word.span, UNKNOWN not in target), run, flag)


def command(text: str, word: Word, run: Run, walk: Walk) -> None:
    if UNKNOWN in text:
        walk.opaque("the awk code runs a command that is not constant", run, word)
    else:
        walk.shell(Word(text, word.span, quoted=True), run)


# sed

ADDRESS = re.compile(
    r"\s*(?:\d+(?:~\d+)?|\$|\+\d+|~\d+|/(?:\\.|\[[^\]]*\]|[^/\\\n])*/[IM]*|\\(.)(?:\\.|(?!\1).)*\1[IM]*)\s*", re.DOTALL
)


def sed(word: Word, run: Run, walk: Walk) -> None:
    """The `e` command, the `e` and `w` flags, `w`, `r`."""
    text = word.text
    if not re.search(r"[ewWrR]", text):
        return
    i, n = 0, len(text)
    while i < n:
        if text[i] in " \t\n;{}":
            i += 1
            continue
        if text[i] == "#":
            i = line_end(text, i)
            continue
        m = ADDRESS.match(text, i)
        if m is not None and m.end() > i:
            i = m.end()
            if i < n and text[i] == ",":
                m = ADDRESS.match(text, i + 1)
                i = m.end() if m is not None and m.end() > i + 1 else i + 1
            while i < n and text[i] in "! \t":
                i += 1
            continue
        c = text[i]
        i += 1
        if c in "sy" and i < n:
            i = substitution(text, i, c, word, run, walk)
        elif c == "e":
            end = line_end(text, i)
            code = text[i:end].strip()
            if code:
                walk.shell(Word(code, word.span, UNKNOWN not in code, quoted=True), run)
            else:
                walk.opaque("the sed code runs its input as commands", run, word)
            i = end
        elif c in "wWrR":
            end = line_end(text, i)
            named(text[i:end].strip(), EffectKind.WRITE if c in "wW" else EffectKind.READ, word, run, walk)
            i = end
        elif c in "aic":
            end = line_end(text, i)
            while end < n and text[end - 1] == "\\":
                end = line_end(text, end + 1)
            i = end
        elif c in ":btT":
            while i < n and text[i] not in ";\n}":
                i += 1


def substitution(text: str, i: int, kind: str, word: Word, run: Run, walk: Walk) -> int:
    """`s/a/b/flags`, from the delimiter; where it ends."""
    delimiter = text[i]
    i += 1
    for _ in range(2):
        bracket = False
        while i < len(text) and (text[i] != delimiter or bracket):
            if text[i] == "\\":
                i += 1
            i += 1
        i += 1
    m = re.compile(r"[gpiImM0-9 \t]*").match(text, i)
    i = m.end() if m is not None else i
    while i < len(text) and kind == "s" and text[i] in "gpiImM0123456789ew":
        if text[i] == "e":
            walk.opaque("the sed code runs the result of a substitution", run, word)
        elif text[i] == "w":
            end = line_end(text, i)
            named(text[i + 1 : end].strip(), EffectKind.WRITE, word, run, walk)
            return end
        i += 1
    return i


def named(path: str, kind: EffectKind, word: Word, run: Run, walk: Walk) -> None:
    if path and path not in STANDARD:
        flags = (Flag.CONTENT,) if kind is EffectKind.WRITE else ()
        walk.path(kind, Word(path, word.span, UNKNOWN not in path, quoted=True), run, *flags)


def line_end(text: str, i: int) -> int:
    end = text.find("\n", i)
    return len(text) if end < 0 else end
