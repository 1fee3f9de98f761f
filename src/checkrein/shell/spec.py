"""What a command family is given and what it may say. A family file maps program names to a function `(run, walk) -> None`.

The walker (`facts.py`) finds every program that a command text would run, resolves its words, and calls the family of each.
A family reports effects through the walker; it never decides anything and never does I/O.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from checkrein.vocab.acts import Act
from checkrein.vocab.calls import NOTHING
from checkrein.vocab.effects import EffectKind, Flag
from checkrein.vocab.site import Site

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Word:
    r"""One word after expansion.

    `text` is its constant value with quotes removed; where a part is not constant, `resolved` is False and `text` has `\0`
    for each unknown part. `glob` says that an unquoted glob character stands in it. `roots` are the places that an
    unresolved word is known to come from (the output of a listing program such as `find src`), empty when unknown;
    `filtered` says that the listing names only some entries below them. `feed` is what stands behind a process substitution
    or an unresolved command substitution.
    """

    text: str
    span: Span = (0, 0)
    resolved: bool = True
    glob: bool = False
    quoted: bool = False
    roots: tuple[str, ...] = ()
    filtered: bool = False
    feed: Feed | None = None


@dataclass(frozen=True, slots=True)
class Feed:
    r"""What flows through a pipe, a here-document or a substitution.

    `text` is the constant text (with `\0` for unknown parts, as in a word), or None. `fetched` says that it came from the network, `decoded` that it was decoded from
    another form, `secret` that a credential was read into it, `roots` that it is a listing of paths below those roots,
    `path` that it is the content of that file. `filtered` says that a listing names only some entries; `plain` that the
    text, though unknown, is a number, a name or the like: it cannot hold shell syntax.
    """

    text: str | None = None
    fetched: bool = False
    decoded: bool = False
    secret: bool = False
    roots: tuple[str, ...] = ()
    path: str | None = None
    span: Span = (0, 0)
    filtered: bool = False
    plain: bool = False


@dataclass(frozen=True, slots=True)
class Run:
    """One program that would run. `program` is the base name of `argv[0]`; `args` are the words after it. `cwd` is the
    absolute working directory, or None when unknown. `env` are assignments in front of the command. `stdin` is what it reads,
    or None for the terminal. `remote` says that it runs on another machine or in a container (its paths are not ours).
    """

    program: str
    argv: tuple[Word, ...]
    span: Span
    cwd: str | None
    env: Mapping[str, Word] = field(default_factory=lambda: NOTHING)
    stdin: Feed | None = None
    remote: bool = False
    depth: int = 0

    @property
    def args(self) -> tuple[Word, ...]:
        return self.argv[1:]


class Walk(Protocol):
    """The walker as a family sees it. All methods report; none returns a verdict."""

    site: Site

    def path(self, kind: EffectKind, word: Word, run: Run, *flags: Flag, why: str = "") -> None:
        """A READ, WRITE or DELETE of the path that the word names, relative to the run's directory."""

    def fetch(self, word: Word, run: Run, *flags: Flag, why: str = "") -> None:
        """A network exchange with the URL, `host`, `host:port`, `user@host:path` that the word names."""

    def act(self, act: Act, run: Run, why: str, word: Word | None = None, *flags: Flag) -> None:
        """The run does `act`; `why` completes the sentence "this ...", e.g. "`git push --force` overwrites history"."""

    def command(self, words: Sequence[Word], run: Run, *, remote: bool = False, stdin: Feed | None = None) -> None:
        """These words are themselves a command that would run (a wrapper's operand)."""

    def shell(
        self, word: Word, run: Run, *, dialect: str = "posix", remote: bool = False, params: Sequence[Word] = ()
    ) -> None:
        """The word's text is shell code that would run. `dialect` is posix, powershell or cmd; `params` are `$0`, `$1` ..."""

    def script(self, language: str, word: Word, run: Run) -> None:
        """The word's text is inline code for an interpreter of `language`."""

    def file(self, word: Word, run: Run, language: str = "posix") -> None:
        """The file that the word names would be executed (a script operand, `source`)."""

    def input(self, run: Run, language: str = "posix") -> None:
        """The run reads code from its standard input and runs it."""

    def variable(self, name: str, word: Word, run: Run) -> None:
        """The run sets an environment variable for what it starts."""

    def place(self, word: Word, run: Run) -> str | None:
        """The absolute path that the word names, relative to the run's directory; None when it cannot be told."""

    def written(self, word: Word, run: Run, feed: Feed, *, append: bool = False) -> None:
        """What the run wrote into the file that the word names, for when that file runs later."""

    def opaque(self, why: str, run: Run, word: Word | None = None) -> None:
        """Something would run or be destroyed that cannot be resolved."""

    def stdout(self, feed: Feed) -> None:
        """What this run writes to its standard output, where it is known."""

    def schedule(self, value: str, run: Run) -> None:
        """Something is arranged to run later."""


Family = Callable[[Run, Walk], None]
