"""Option grammars of programs, as data: short clusters, long options and their prefixes, values, `--`.

A grammar is one line of text. Each entry is a list of aliases joined by `|`; the longest alias is the option's name. `:` at the
end says that it takes a value, `?` that it takes one only when attached (`-i.bak`, `--color=auto`).

    RM = grammar("r|R|recursive f|force i|interactive? v|verbose")
    given = RM.parse(run.args)
    given.has("recursive"), given.operands
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from checkrein.shell.spec import Word


class Takes(StrEnum):
    """What follows an option."""

    NOTHING = ""
    VALUE = ":"
    ATTACHED = "?"


@dataclass(frozen=True, slots=True)
class Option:
    """One option as given. `value` is None when there is none, or when it is missing at the end."""

    name: str
    word: Word
    value: Word | None = None


@dataclass(frozen=True, slots=True)
class Options:
    """What a grammar found. `unknown` are words that look like options and are in no entry; `dashed` is where in `operands`
    those after a `--` start (the count of operands when there was none).
    """

    given: tuple[Option, ...] = ()
    operands: tuple[Word, ...] = ()
    unknown: tuple[Word, ...] = ()
    dashed: int | None = None

    def has(self, *names: str) -> bool:
        """Whether one of the names was given."""
        return any(option.name in names for option in self.given)

    def values(self, *names: str) -> Iterator[Word]:
        """The values of these options, in their order."""
        return (option.value for option in self.given if option.name in names and option.value is not None)

    def value(self, *names: str) -> Word | None:
        """The last value of these options: the later one wins."""
        found: Word | None = None
        for found in self.values(*names):  # noqa: B007 - the last one is wanted
            pass
        return found

    def text(self, *names: str) -> str:
        """The text of the last value, or an empty one."""
        found = self.value(*names)
        return found.text if found is not None else ""

    @property
    def before(self) -> tuple[Word, ...]:
        """The operands in front of `--`."""
        return self.operands if self.dashed is None else self.operands[: self.dashed]

    @property
    def after(self) -> tuple[Word, ...]:
        """The operands behind `--`."""
        return () if self.dashed is None else self.operands[self.dashed :]


@dataclass(frozen=True, slots=True)
class Grammar:
    """The options of one program.

    `permute`: options may follow operands (GNU); else the first operand ends them (POSIX, wrappers). `single`: long names
    follow one dash (Go's flag package, `find`, `openssl`). `abbreviates`: unique prefixes of long names are accepted.
    """

    short: Mapping[str, tuple[str, Takes]]
    long: Mapping[str, tuple[str, Takes]]
    permute: bool = True
    single: bool = False
    abbreviates: bool = True

    def parse(self, words: Sequence[Word]) -> Options:
        """Split the words. INVARIANT: each word ends in `given`, `operands` or `unknown`, except the `--` itself."""
        given: list[Option] = []
        operands: list[Word] = []
        unknown: list[Word] = []
        dashed: int | None = None
        at, end = 0, len(words)
        while at < end:
            word = words[at]
            text = word.text
            at += 1
            if text == "--":
                dashed = len(operands)
                operands.extend(words[at:])
                break
            if len(text) < 2 or text[0] != "-":
                operands.append(word)
                if not self.permute:
                    operands.extend(words[at:])
                    break
                continue
            follower = words[at] if at < end else None
            if text.startswith("--") or (self.single and not self._clusters(text)):
                at += self._long(word, follower, given, unknown)
            else:
                at += self._cluster(word, follower, given, unknown)
        return Options(tuple(given), tuple(operands), tuple(unknown), dashed)

    def _clusters(self, text: str) -> bool:
        return len(text) == 2 and text[1] in self.short

    def _find(self, name: str) -> tuple[str, Takes] | None:
        """The entry for a long name or, where the program allows it, a prefix that means one option only."""
        exact = self.long.get(name)
        if exact is not None or not self.abbreviates or not name:
            return exact
        found = {entry for long, entry in self.long.items() if long.startswith(name)}
        return found.pop() if len(found) == 1 else None

    def _long(self, word: Word, follower: Word | None, given: list[Option], unknown: list[Word]) -> int:
        start = 2 if word.text.startswith("--") else 1
        name, equals, _ = word.text[start:].partition("=")
        entry = self._find(name)
        if entry is None:
            unknown.append(word)
            return 0
        if equals:
            given.append(Option(entry[0], word, tail(word, start + len(name) + 1)))
            return 0
        if entry[1] is Takes.VALUE:
            given.append(Option(entry[0], word, follower))
            return 1
        given.append(Option(entry[0], word))
        return 0

    def _cluster(self, word: Word, follower: Word | None, given: list[Option], unknown: list[Word]) -> int:
        text = word.text
        for at in range(1, len(text)):
            entry = self.short.get(text[at])
            if entry is None:
                unknown.append(word)
                continue
            name, takes = entry
            attached = at + 1 < len(text)
            if takes is Takes.NOTHING:
                given.append(Option(name, word))
            elif attached:
                given.append(Option(name, word, tail(word, at + 1)))
                return 0
            elif takes is Takes.VALUE:
                given.append(Option(name, word, follower))
                return 1
            else:
                given.append(Option(name, word))
        return 0


def tail(word: Word, start: int) -> Word:
    """The word from that character on: an option's attached value. It is constant when nothing unknown is left in it."""
    text = word.text[start:]
    return replace(word, text=text, resolved=word.resolved or "\0" not in text)


def grammar(text: str = "", *, permute: bool = True, single: bool = False, abbreviates: bool = True) -> Grammar:
    """Read a grammar's text (see above)."""
    short: dict[str, tuple[str, Takes]] = {}
    long: dict[str, tuple[str, Takes]] = {}
    for entry in text.split():
        takes = Takes(entry[-1]) if entry[-1] in ":?" and len(entry) > 1 else Takes.NOTHING
        aliases = (entry[:-1] if takes is not Takes.NOTHING else entry).split("|")
        name = max(aliases, key=len)
        for alias in aliases:
            (short if len(alias) == 1 else long)[alias] = (name, takes)
    return Grammar(short, long, permute, single, abbreviates)
