"""What a shell knows while it runs: variables as sets of possible values, directory, functions, and what a call wrote."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from checkrein.shell.spec import Feed, Span, Word
from checkrein.shell.syntax import Node

MAX_TEXTS = 64  # possible values of one variable
MAX_CWDS = 4
UNKNOWN = "\0"


@dataclass(frozen=True, slots=True)
class Value:
    """The possible texts of a variable; `feed` is what stands behind the unknown parts."""

    texts: tuple[str, ...]
    feed: Feed | None = None
    glob: bool = False


@dataclass(frozen=True, slots=True)
class Array:
    """Elements by key, in order; `unknown` when further elements cannot be told."""

    items: tuple[tuple[str, Value], ...]
    unknown: bool = False


Binding = Value | Array
EMPTY = Value(("",))
ANY = Value((UNKNOWN,))
NUMBER = Value((UNKNOWN,), Feed(plain=True))


@dataclass(frozen=True, slots=True)
class Defined:
    """A function: its body, and the span to report for it when its text is not the original one."""

    body: Node
    base: Span | None


@dataclass(slots=True)
class State:
    """One shell's state. Copied for subshells and branches, joined afterwards."""

    cwds: tuple[str, ...]
    vars: dict[str, Binding] = field(default_factory=dict)
    functions: dict[str, Defined] = field(default_factory=dict)
    aliases: dict[str, str] = field(default_factory=dict)
    params: tuple[Word, ...] | None = ()
    exported: frozenset[str] = frozenset()
    path_dirs: tuple[str, ...] = ()
    previous: tuple[str, ...] = ()
    dead: bool = False
    name: str = "bash"

    def copy(self) -> State:
        return State(
            self.cwds,
            dict(self.vars),
            dict(self.functions),
            dict(self.aliases),
            self.params,
            self.exported,
            self.path_dirs,
            self.previous,
            self.dead,
            self.name,
        )


def join_values(a: Binding | None, b: Binding | None) -> Binding:
    """Either of two values. Never assigned counts as empty."""
    if a is None or b is None:
        present = a if b is None else b
        if isinstance(present, Array):
            return Array(present.items, unknown=True)
        a, b = EMPTY, present if present is not None else EMPTY
    if a == b:
        return a
    if isinstance(a, Array) or isinstance(b, Array):
        return Array((), unknown=True)
    texts = tuple(dict.fromkeys((*b.texts, *a.texts)))
    if len(texts) > MAX_TEXTS:
        texts = (UNKNOWN,)
    return Value(texts, join_feeds(a.feed, b.feed), a.glob or b.glob)


def join_feeds(a: Feed | None, b: Feed | None) -> Feed | None:
    if a is None or b is None or a == b:
        return a or b
    return combine((a, b), text=None)


def combine(feeds: Iterable[Feed], text: str | None = "") -> Feed:
    """One feed for several that follow each other. With `text` None the text is not joined."""
    many = tuple(feeds)
    if len(many) == 1 and text is not None:
        return many[0]
    joined = None
    if text is not None and all(feed.text is not None for feed in many):
        joined = "".join(feed.text or "" for feed in many)
    return Feed(
        text=joined,
        fetched=any(feed.fetched for feed in many),
        decoded=any(feed.decoded for feed in many),
        secret=any(feed.secret for feed in many),
        roots=tuple(dict.fromkeys(root for feed in many for root in feed.roots)),
        span=many[0].span if many else (0, 0),
        filtered=bool(many) and all(feed.filtered for feed in many),
        plain=bool(many) and all(feed.plain or feed.text is not None for feed in many),
    )


def join_vars(a: Mapping[str, Binding], b: Mapping[str, Binding]) -> dict[str, Binding]:
    out = dict(a)
    for name, value in a.items():
        other = b.get(name)
        if other is not value:
            out[name] = join_values(value, other)
    for name, value in b.items():
        if name not in a:
            out[name] = join_values(None, value)
    return out


def join(a: State, b: State) -> State:
    """A state that is either of two."""
    if a.dead or b.dead:
        return b if a.dead else a
    cwds: tuple[str, ...] = tuple(dict.fromkeys((*a.cwds, *b.cwds))) if a.cwds and b.cwds else ()
    out = a.copy()
    out.cwds = cwds if len(cwds) <= MAX_CWDS else ()
    if b.vars:
        out.vars = join_vars(a.vars, b.vars)
    for name, body in b.functions.items():
        out.functions.setdefault(name, body)
    for alias, text in b.aliases.items():
        out.aliases.setdefault(alias, text)
    out.params = a.params if a.params == b.params else None
    out.exported = a.exported | b.exported
    out.path_dirs = tuple(dict.fromkeys((*a.path_dirs, *b.path_dirs)))
    return out
