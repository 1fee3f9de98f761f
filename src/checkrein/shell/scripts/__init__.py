"""Inline code of interpreters: what it would run, read, write, delete and fetch."""

from __future__ import annotations

import re
from collections.abc import Callable

from checkrein.shell.scripts.tongues import TONGUES
from checkrein.shell.spec import Run, Walk, Word

Analyser = Callable[[Word, Run, Walk], None]


def _python(word: Word, run: Run, walk: Walk) -> None:
    from checkrein.shell.scripts import python

    python.analyse(word, run, walk)


def _javascript(word: Word, run: Run, walk: Walk) -> None:
    from checkrein.shell.scripts import javascript

    javascript.analyse(word, run, walk)


def _awk(word: Word, run: Run, walk: Walk) -> None:
    from checkrein.shell.scripts import streams

    streams.awk(word, run, walk)


def _sed(word: Word, run: Run, walk: Walk) -> None:
    from checkrein.shell.scripts import streams

    streams.sed(word, run, walk)


def _make(word: Word, run: Run, walk: Walk) -> None:
    from checkrein.shell.commands.wrappers import recipes

    recipes(word.text, word, run, walk)


def _shell(dialect: str) -> Analyser:
    return lambda word, run, walk: walk.shell(word, run, dialect=dialect)


def _lexical(language: str) -> Analyser:
    def analyser(word: Word, run: Run, walk: Walk) -> None:
        from checkrein.shell.scripts import others

        others.analyse(language, word, run, walk)

    return analyser


LANGUAGES: dict[str, Analyser] = {
    **{language: _lexical(language) for language in TONGUES},
    "python": _python,
    "javascript": _javascript,
    "awk": _awk,
    "sed": _sed,
    "make": _make,
    "expect": _lexical("tcl"),
    "powershell": _shell("powershell"),
    "cmd": _shell("cmd"),
}
SHEBANG = re.compile(r"#!\s*(\S+)(?:\s+(?:-S\s+)?(\S+))?")
SUFFIXES = {
    ".sh": "posix",
    ".bash": "posix",
    ".zsh": "posix",
    ".py": "python",
    ".js": "javascript",
    ".mjs": "javascript",
    ".cjs": "javascript",
    ".ts": "javascript",
    ".pl": "perl",
    ".rb": "ruby",
    ".php": "php",
    ".awk": "awk",
    ".lua": "lua",
}
PROGRAMS = {
    "sh": "posix",
    "bash": "posix",
    "zsh": "posix",
    "dash": "posix",
    "ksh": "posix",
    "python": "python",
    "python3": "python",
    "node": "javascript",
    "bun": "javascript",
    "deno": "javascript",
    "perl": "perl",
    "ruby": "ruby",
    "php": "php",
    "awk": "awk",
    "lua": "lua",
}


def language_of(text: str, place: str) -> str | None:
    """The language of a file by its first line, else by its name; None when neither says."""
    m = SHEBANG.match(text)
    if m is not None:
        program = m.group(1).rsplit("/", 1)[-1]
        if program == "env" and m.group(2):
            program = m.group(2)
        return PROGRAMS.get(re.sub(r"[0-9.]+$", "", program) if program not in PROGRAMS else program, "posix")
    dot = place.rfind(".")
    return SUFFIXES.get(place[dot:]) if dot > place.rfind("/") else None
