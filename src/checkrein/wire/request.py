"""What a request says, in words that every wire shares, and where identities stand in it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from checkrein.vocab.calls import NOTHING, Call, CallKind, Result
from checkrein.wire import strict


@dataclass(frozen=True, slots=True)
class Declared:
    """One tool as a request declares it. `keys` are its argument names; `pointer` is the JSON pointer of the declaration."""

    name: str
    namespace: str | None = None
    kind: CallKind = CallKind.FUNCTION
    keys: frozenset[str] = frozenset()
    schema: Mapping[str, Any] = field(default_factory=lambda: NOTHING)
    pointer: str = ""
    carrier: str = ""

    def as_call(self) -> Call:
        """A hosted tool is judged where it is declared, because the provider runs it: the declaration, as a call."""
        return Call(name=self.name, namespace=self.namespace, kind=self.kind, args=self.schema, declared=self.keys)


@dataclass(frozen=True, slots=True)
class Request:
    """One model request. `users` are the texts of all user messages, oldest first; `user_last` says that one of them is the
    last item. `results` are the outputs of earlier calls, oldest first.
    """

    model: str = ""
    stream: bool = False
    declared: tuple[Declared, ...] = ()
    results: tuple[Result, ...] = ()
    users: tuple[str, ...] = ()
    user_last: bool = False
    lookup: Mapping[tuple[str | None, str], Declared] = field(default_factory=lambda: NOTHING, compare=False, repr=False)

    @property
    def hosted(self) -> tuple[Declared, ...]:
        """The declared tools which would run at the provider."""
        return tuple(tool for tool in self.declared if tool.kind is CallKind.HOSTED)

    def keys(self, name: str, namespace: str | None) -> frozenset[str] | None:
        """The argument names which this request declares for a tool, or None when it declares no such tool.

        The lookup is generous about the root namespace, because a key that is declared but unknown to the profile makes a
        call stricter, never looser.
        """
        for spelling in _spellings(name, namespace):
            if (tool := self.lookup.get(spelling)) is not None:
                return tool.keys
        return None


_ROOTS = (None, "functions", "")


def _spellings(name: str, namespace: str | None) -> Iterator[tuple[str | None, str]]:
    yield namespace, name
    if namespace not in _ROOTS:
        return
    yield from ((root, name) for root in _ROOTS)
    head, dot, rest = name.partition(".")
    if dot:
        yield head, rest
        if head == "functions":
            yield None, rest


def index(declared: Iterable[Declared]) -> dict[tuple[str | None, str], Declared]:
    """`Request.lookup`; of two declarations of one spelling, the keys of both count."""
    found: dict[tuple[str | None, str], Declared] = {}
    for tool in declared:
        spelling = (tool.namespace, tool.name)
        earlier = found.get(spelling)
        found[spelling] = tool if earlier is None else replace(tool, keys=tool.keys | earlier.keys)
    return found


def at(value: Any, pointer: str) -> Any:
    """The value at a JSON pointer (RFC 6901), or None."""
    if not pointer:
        return value
    for part in pointer.removeprefix("/").split("/"):
        key = part.replace("~1", "/").replace("~0", "~")
        if isinstance(value, dict):
            value = value.get(key)
        elif isinstance(value, list) and key.isascii() and key.isdigit() and int(key) < len(value):
            value = value[int(key)]
        else:
            return None
    return value


def locate(sources: Iterable[str], headers: Mapping[str, str], body: Any) -> str | None:
    """The first source that gives a non-empty text: `header:<name>[#<pointer>]` or `body:<pointer>[#<pointer>]`, where
    `#` reads the text before it as JSON. `headers` has lower-case names.
    """
    for source in sources:
        carrier, _, rest = source.partition(":")
        place, inner, pointer = rest.partition("#")
        found = headers.get(place.lower()) if carrier == "header" else at(body, place)
        if inner:
            found = _inside(found, pointer)
        if isinstance(found, bool) or not isinstance(found, (str, int)) or found == "":
            continue
        return str(found)
    return None


def _inside(text: object, pointer: str) -> Any:
    if not isinstance(text, str):
        return None
    try:
        return at(strict.loads(text.encode()), pointer)
    except (strict.StrictError, UnicodeEncodeError):
        return None
