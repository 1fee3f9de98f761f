"""How effects are reported: the half of the walker that families and scripts see as `Walk`, without anything that runs."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable

from checkrein.shell.patterns import glob_root, narrows
from checkrein.shell.spec import Feed, Run, Span, Word
from checkrein.shell.words import TooMuchError
from checkrein.vocab.acts import Act
from checkrein.vocab.effects import Effect, EffectKind, Flag
from checkrein.vocab.site import Site

MAX_EFFECTS = 20_000
MAX_RUNS = 4_000
MAX_TEXTS_PER_FILE = 16
NEEDS_QUOTES = re.compile(r"[^A-Za-z0-9_@%+=:,./~-]")
NO_FLAGS: frozenset[Flag] = frozenset()


def line(words: Iterable[Word]) -> str:
    """A command line that reads back to the same words. Unknown parts are shown as an ellipsis."""
    out = []
    for word in words:
        text = word.text
        if "\0" in text:
            text = text.replace("\0", "\N{HORIZONTAL ELLIPSIS}")
        elif not text:
            text = "''"
        elif NEEDS_QUOTES.search(text) and not word.glob:
            text = "'" + text.replace("'", "'\"'\"'") + "'"
        out.append(text)
    return " ".join(out)


def normal(path: str) -> str:
    """`.`/`..`/doubled slashes resolved by text."""
    path = posixpath.normpath(path)
    return path[1:] if path.startswith("//") else path


class Report:
    """Collects effects, and knows which files this call wrote or fetched."""

    def __init__(self, site: Site) -> None:
        self.site = site
        self.effects: list[Effect] = []
        self.runs = 0
        self.base: Span | None = None
        self.said: Feed | None = None
        self.branch = 0
        self.files: dict[str, tuple[str | None, ...]] = {}
        self.fetched: set[str] = set()
        self.stood_for: dict[str, str] = {}

    # budget

    def count(self) -> None:
        self.runs += 1
        if self.runs > MAX_RUNS:
            raise TooMuchError(f"it runs more than {MAX_RUNS} commands")

    def emit(self, effect: Effect) -> None:
        self.effects.append(effect)
        if len(self.effects) > MAX_EFFECTS:
            raise TooMuchError(f"it has more than {MAX_EFFECTS} effects")

    # paths

    def resolve(self, text: str, run: Run) -> str | None:
        """The absolute form of a constant path, or None when the directory is unknown."""
        if text.startswith("/"):
            return normal(text)
        if run.remote:
            return normal(text) if text else None
        if run.cwd is None:
            return None
        return normal(run.cwd + "/" + text)

    def path(self, kind: EffectKind, word: Word, run: Run, *flags: Flag, why: str = "") -> None:
        feed = word.feed
        if feed is not None and word.text.startswith("/dev/fd/"):
            return
        marks = set(flags)
        if run.remote:
            marks.add(Flag.REMOTE)
        if word.roots and not word.resolved:
            marks.add(Flag.GLOB)
            if word.filtered:
                marks.add(Flag.FILTERED)
            prefix, _, suffix = word.text.partition("\0")
            for root in word.roots:
                place = root if not prefix or prefix == "./" else self.resolve(prefix, run) or prefix
                if suffix.startswith("/") and suffix.strip("/\0"):
                    marks.add(Flag.FILTERED)
                self._path(kind, place, run, marks, word, why)
            return
        if not word.resolved:
            marks.add(Flag.UNRESOLVED)
            self._path(kind, word.text.replace("\0", "\N{HORIZONTAL ELLIPSIS}"), run, marks, word, why)
            return
        text = word.text
        if word.glob:
            text, rest = glob_root(text)
            if rest:
                marks.add(Flag.GLOB)
                if narrows(rest):
                    marks.add(Flag.FILTERED)
        place = self.resolve(text, run) if text else None
        if place is None:
            if not text:
                return
            marks.add(Flag.UNRESOLVED)
            place = text
        self._path(kind, place, run, marks, word, why)
        if kind is EffectKind.WRITE and not run.remote and Flag.FETCHED in marks:
            self.fetched.add(place)

    def _path(self, kind: EffectKind, place: str, run: Run, marks: set[Flag], word: Word, why: str) -> None:
        self.emit(
            Effect(
                kind=kind,
                value=place,
                span=self.base or (run.span if word.span == (0, 0) else word.span),
                program=run.program,
                flags=frozenset(marks),
                why=why,
            )
        )

    def wrote(self, place: str, text: str | None, *, append: bool = False) -> None:
        """The content of a file that this call wrote."""
        if append:
            before = self.files.get(place, ("",))
            now = tuple(None if text is None or old is None else old + text for old in before)
        else:
            now = (text,)
        if self.branch:
            now = tuple(dict.fromkeys((*now, *self.files.get(place, ()))))
        self.files[place] = now if len(now) <= MAX_TEXTS_PER_FILE else (None,)

    # the rest of the protocol

    def fetch(self, word: Word, run: Run, *flags: Flag, why: str = "") -> None:
        marks = set(flags)
        if not word.resolved:
            marks.add(Flag.UNRESOLVED)
        if run.remote:
            marks.add(Flag.REMOTE)
        self.emit(
            Effect(
                kind=EffectKind.FETCH,
                value=word.text.replace("\0", "\N{HORIZONTAL ELLIPSIS}"),
                span=self.base or (run.span if word.span == (0, 0) else word.span),
                program=run.program,
                flags=frozenset(marks),
                why=why,
            )
        )

    def act(self, act: Act, run: Run, why: str, word: Word | None = None, *flags: Flag) -> None:
        marks = {*flags, Flag.REMOTE} if run.remote else set(flags)
        self.emit(
            Effect(
                kind=EffectKind.EXEC,
                value=line(run.argv),
                span=self.base or (run.span if word is None or word.span == (0, 0) else word.span),
                program=run.program,
                act=act,
                flags=frozenset(marks),
                why=why,
            )
        )

    def opaque(self, why: str, run: Run, word: Word | None = None) -> None:
        span = run.span if word is None or word.span == (0, 0) else word.span
        self.unknown(why, self.base or span, line(run.argv), run.program)

    def unknown(self, why: str, span: Span, value: str = "", program: str = "") -> None:
        self.emit(Effect(kind=EffectKind.OPAQUE, value=value, span=span, program=program, why=why))

    def schedule(self, value: str, run: Run) -> None:
        self.emit(Effect(kind=EffectKind.SCHEDULE, value=value, span=self.base or run.span, program=run.program))

    def stdout(self, feed: Feed) -> None:
        self.said = feed
