"""The shapes that the reader of shell text yields. Only `parse` and `words` make them; only `facts` and `expand` walk them.

They are plain slotted classes, not frozen ones: a script has tens of thousands and freezing doubles the cost of making one.
"""

from __future__ import annotations

from dataclasses import dataclass

Span = tuple[int, int]


class Quoted(str):
    """Literal text that came from quotes or an escape: no splitting, no globbing, no braces, no tilde."""

    __slots__ = ()


@dataclass(slots=True)
class Param:
    """`$name` or `${...}`. `op` is the operator after the name (`:-`, `##`, `/`, `@Q` ...), `args` its operands; `index` a
    subscript; `length` is `${#x}`, `indirect` `${!x}`.
    """

    name: str
    quoted: bool
    op: str = ""
    args: tuple[list[Part], ...] = ()
    index: list[Part] | None = None
    length: bool = False
    indirect: bool = False


@dataclass(slots=True)
class Sub:
    """`$(...)`, backticks or `${ ...; }`. `mapped` says that offsets inside are not those of the text: use `span`."""

    body: list[Item]
    quoted: bool
    span: Span
    mapped: bool = False


@dataclass(slots=True)
class Arith:
    """`$((...))` or `$[...]`, with the expansions inside."""

    parts: list[Part]


@dataclass(slots=True)
class Proc:
    """`<(...)` (`out` is False) or `>(...)`."""

    body: list[Item]
    out: bool
    span: Span
    mapped: bool = False


Part = str | Param | Sub | Arith | Proc


@dataclass(slots=True)
class Raw:
    """A word as written. `parts` is a plain `str` for the common word without any quoting or expansion."""

    start: int
    end: int
    parts: str | list[Part]


@dataclass(slots=True)
class Assign:
    """`name=value`, `name+=value`, `name[i]=value`, `name=(...)`."""

    name: str
    value: Raw | list[Raw]
    append: bool
    index: list[Part] | None
    start: int
    end: int


@dataclass(slots=True)
class Redir:
    """One redirection. `fd` is "" when absent. A here-document has its expanded-later text in `body`."""

    fd: str
    op: str
    target: Raw
    start: int
    end: int
    body: list[Part] | None = None


@dataclass(slots=True)
class Simple:
    start: int
    end: int
    words: list[Raw]
    assigns: list[Assign]
    redirs: list[Redir]


@dataclass(slots=True)
class Pipe:
    parts: list[Node]


@dataclass(slots=True)
class Group:
    """`{ ...; }`, or `( ... )` when `sub`."""

    body: list[Item]
    sub: bool


@dataclass(slots=True)
class If:
    """`arms` are (condition, body); the last condition is empty for `else`."""

    arms: list[tuple[list[Item], list[Item]]]


@dataclass(slots=True)
class Loop:
    """`while` and `until`."""

    cond: list[Item]
    body: list[Item]


@dataclass(slots=True)
class For:
    """`for` and `select`. `words` is None for `in "$@"`."""

    name: str
    words: list[Raw] | None
    body: list[Item]


@dataclass(slots=True)
class ArithFor:
    parts: list[Part]
    body: list[Item]


@dataclass(slots=True)
class Case:
    word: Raw
    arms: list[tuple[list[Raw], list[Item]]]


@dataclass(slots=True)
class Function:
    name: str
    body: Node
    start: int
    end: int


@dataclass(slots=True)
class Cond:
    """`[[ ... ]]`: its words, operators left out."""

    words: list[Raw]


@dataclass(slots=True)
class ArithCommand:
    parts: list[Part]


@dataclass(slots=True)
class Coproc:
    body: Node


@dataclass(slots=True)
class Redirected:
    body: Node
    redirs: list[Redir]


Node = Simple | Pipe | Group | If | Loop | For | ArithFor | Case | Function | Cond | ArithCommand | Coproc | Redirected


@dataclass(slots=True)
class Item:
    """One pipeline of a list and what follows it: `;` (also a newline or nothing), `&`, `&&`, `||`."""

    node: Node
    op: str = ";"


@dataclass(slots=True)
class Script:
    """A whole text. `complete` is False when it ends inside a quote, a here-document or a compound command."""

    items: list[Item]
    complete: bool = True
