"""Strict structuring: plain values of a file -> frozen dataclasses, every fault of the file at once, nothing coerced.

The dataclass annotations are the table. `"3"` is not 3, `true` is not 1, an unknown key or word is a fault. A faulty value is
left out and the rest is still read, so that one broken line hides no other fault; whoever reads must call `Faults.check`
before anything is used.

INVARIANT: an object that was built from faulty input never leaves `read_as`; `Structurer.read` hands it out only together
with the faults.
"""

from __future__ import annotations

import types
import typing
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields, is_dataclass
from datetime import date, datetime, time
from enum import StrEnum
from typing import Any, Final, TypeVar

from checkrein.vocab.errors import ConfigError, Fault
from checkrein.vocab.toml import Document, KeyPath

T = TypeVar("T")

# Metadata of a dataclass field that no file may set.
COMPUTED: Final = {"computed": True}

BAD: Final = object()  # what a reader gives for a value that it reported

Reader = Callable[[Any, KeyPath, "Faults"], Any]

_WORDS: Final[dict[type, str]] = {
    str: "text",
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    dict: "a table",
    list: "a list",
}


@dataclass(slots=True)
class Faults:
    """The faults of one file so far."""

    document: Document
    found: list[tuple[KeyPath, Fault]] = field(default_factory=list)

    def add(self, path: KeyPath, sentence: str, hint: str = "") -> None:
        """Report a fault of what stands at `path`."""
        self.found.append((path, self.document.fault(path, sentence, hint)))

    def under(self, path: KeyPath) -> bool:
        """Whether anything at or below `path` is faulty."""
        return any(at[: len(path)] == path for at, _ in self.found)

    def check(self) -> None:
        """Raise all of them together, if there are any."""
        if self.found:
            raise ConfigError([fault for _, fault in self.found])


def read_as(kind: type[T], document: Document, *, schema: str, hooks: Mapping[Any, Reader] | None = None) -> T:
    """The whole document as `kind`; a `ConfigError` with every fault otherwise."""
    faults = Faults(document)
    value = Structurer(hooks).read(kind, body_of(document, schema, faults), faults)
    faults.check()
    assert value is not None
    return value


def body_of(document: Document, schema: str, faults: Faults) -> dict[str, Any]:
    """The document's keys without the `schema` line, which must name exactly `schema`."""
    body = dict(document.value)
    stated = body.pop("schema", None)
    if stated is None:
        faults.add((), "the file does not name its schema", f'begin it with `schema = "{schema}"`')
    elif stated != schema:
        faults.add(("schema",), f"schema {said(stated)} is not one that this version reads", f'it reads `schema = "{schema}"`')
    return body


class Structurer:
    """Readers by annotation, built once each.

    `hooks` replace the reader of a class (key: the class) or of one field (key: `(class, field name)`).
    """

    def __init__(self, hooks: Mapping[Any, Reader] | None = None) -> None:
        self._hooks: dict[Any, Reader] = dict(hooks or {})
        self._readers: dict[Any, Reader] = {}

    def read(self, kind: type[T], value: Any, faults: Faults, path: KeyPath = ()) -> T | None:
        """`value` as `kind`, or None where it can't be built; what was wrong is in `faults`."""
        made = self.reader(kind)(value, path, faults)
        return None if made is BAD else typing.cast("T", made)

    def elements(self, kind: type[T], value: Any, faults: Faults, path: KeyPath) -> list[tuple[int, T]]:
        """The elements of a list that can be built, with their positions in the file."""
        if not isinstance(value, list):
            faults.add(path, f"{name_of(path)} must be a list, not {kind_of(value)}")
            return []
        read = self.reader(kind)
        made = [(rank, read(item, (*path, rank), faults)) for rank, item in enumerate(value)]
        return [(rank, item) for rank, item in made if item is not BAD]

    def reader(self, annotation: Any) -> Reader:
        """The reader of one annotation."""
        known = self._readers.get(annotation)
        if known is None:
            known = self._readers[annotation] = self._build(annotation)
        return known

    def _build(self, annotation: Any) -> Reader:
        origin = typing.get_origin(annotation)
        if annotation in self._hooks:
            return self._hooks[annotation]
        if annotation is Any:
            return lambda value, _path, _faults: value
        if origin in {typing.Union, types.UnionType}:
            return self._union(annotation)
        if origin is typing.Literal:
            return _literal(typing.get_args(annotation))
        if origin in {tuple, frozenset, list, Sequence}:
            return self._listing(annotation)
        if origin in {dict, Mapping}:
            return self._table(annotation)
        if isinstance(annotation, type):
            if issubclass(annotation, StrEnum):
                return _words(annotation)
            if is_dataclass(annotation):
                return self._object(annotation)
            if annotation in _WORDS:
                return _scalar(annotation)
        raise TypeError(f"no reader for {annotation!r}")

    def _union(self, annotation: Any) -> Reader:
        arms = [arm for arm in typing.get_args(annotation) if arm is not types.NoneType]
        if len(arms) == 1:
            return self.reader(arms[0])
        choice = {_plain_type(arm): self.reader(arm) for arm in arms}
        words = " or ".join(_WORDS[kind] for kind in choice)

        def read(value: Any, path: KeyPath, faults: Faults) -> Any:
            arm = choice.get(type(value))
            if arm is None:
                faults.add(path, f"{name_of(path)} must be {words}, not {kind_of(value)}")
                return BAD
            return arm(value, path, faults)

        return read

    def _listing(self, annotation: Any) -> Reader:
        origin = typing.get_origin(annotation)
        make: Callable[[Iterable[Any]], Any] = tuple if origin is Sequence else origin
        inner = self.reader(typing.get_args(annotation)[0])

        def read(value: Any, path: KeyPath, faults: Faults) -> Any:
            if type(value) is not list:
                hint = "put brackets around it" if isinstance(value, str) else ""
                faults.add(path, f"{name_of(path)} must be a list, not {kind_of(value)}", hint)
                return BAD
            made = [inner(item, (*path, rank), faults) for rank, item in enumerate(value)]
            return make(item for item in made if item is not BAD)

        return read

    def _table(self, annotation: Any) -> Reader:
        inner = self.reader(typing.get_args(annotation)[1])

        def read(value: Any, path: KeyPath, faults: Faults) -> Any:
            if type(value) is not dict:
                faults.add(path, f"{name_of(path)} must be a table, not {kind_of(value)}")
                return BAD
            made = {key: inner(item, (*path, key), faults) for key, item in value.items()}
            return {key: item for key, item in made.items() if item is not BAD}

        return read

    def _object(self, kind: Any) -> Reader:
        hints = typing.get_type_hints(kind)
        rows = [row for row in fields(kind) if row.init and not row.metadata.get("computed")]
        required = [row.name for row in rows if row.default is MISSING and row.default_factory is MISSING]
        readers: dict[str, Reader] = {}

        def prepare() -> None:  # late, so that a class may hold itself
            for row in rows:
                readers[row.name] = self._hooks.get((kind, row.name)) or self.reader(hints[row.name])

        def read(value: Any, path: KeyPath, faults: Faults) -> Any:
            if not readers:
                prepare()
            if type(value) is not dict:
                faults.add(path, f"{name_of(path)} must be a table, not {kind_of(value)}")
                return BAD
            made: dict[str, Any] = {}
            for key, item in value.items():
                reader = readers.get(key)
                if reader is None:
                    faults.add((*path, key), f"unknown key `{key}`{_inside(path)}", meant(key, readers))
                    continue
                got = reader(item, (*path, key), faults)
                if got is not BAD:
                    made[key] = got
            for name in required:
                if name not in value:
                    faults.add(path, f"{name_of(path)} lacks the key `{name}`")
            if any(name not in made for name in required):
                return BAD
            try:
                return kind(**made)
            except ValueError as error:  # a class may check itself
                faults.add(path, str(error))
                return BAD

        return read


def _scalar(kind: type) -> Reader:
    accepted = (int, float) if kind is float else (kind,)

    def read(value: Any, path: KeyPath, faults: Faults) -> Any:
        if type(value) in accepted:
            return value
        hint = f'write it as text: `"{value}"`' if kind is str and type(value) in {int, float} else ""
        if kind is bool and value in {"true", "false"} and isinstance(value, str):
            hint = f"write it without quotes: `{value}`"
        faults.add(path, f"{name_of(path)} must be {_WORDS[kind]}, not {kind_of(value)}", hint)
        return BAD

    return read


def _words(kind: type[StrEnum]) -> Reader:
    known = {str(word): word for word in kind}

    def read(value: Any, path: KeyPath, faults: Faults) -> Any:
        word = known.get(value) if isinstance(value, str) else None
        if word is None:
            faults.add(path, f"{name_of(path)} can't be {said(value)}", meant(str(value), known))
            return BAD
        return word

    return read


def _literal(allowed: tuple[Any, ...]) -> Reader:
    def read(value: Any, path: KeyPath, faults: Faults) -> Any:
        for one in allowed:
            if type(one) is type(value) and one == value:
                return value
        faults.add(path, f"{name_of(path)} can't be {said(value)}", meant(str(value), [str(one) for one in allowed]))
        return BAD

    return read


def meant(word: str, known: Iterable[str]) -> str:
    """The hint for an unknown word: the nearest known one, else all of them."""
    from difflib import get_close_matches

    names = sorted(known)
    near = get_close_matches(word, names, 1, 0.6) or [name for name in names if name.lower() == word.strip().lower()]
    if near:
        return f"did you mean `{near[0]}`?"
    return f"known: {', '.join(names)}" if names else ""


def name_of(path: KeyPath) -> str:
    """A key path for people: `tools[2].kind`, in backticks; elements count from 0."""
    text = ""
    for part in path:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else part
    return f"`{text}`" if text else "the file"


def said(value: Any) -> str:
    """A value for people."""
    if isinstance(value, (dict, list)):
        return kind_of(value)
    return f"`{str(value).lower() if isinstance(value, bool) else value}`"


def kind_of(value: Any) -> str:
    """What sort of value this is, for people."""
    if isinstance(value, (date, datetime, time)):
        return "a date or time"
    return _WORDS.get(type(value), "something else")


def _inside(path: KeyPath) -> str:
    return f" in {name_of(path)}" if path else ""


def _plain_type(annotation: Any) -> type:
    """The type of the plain value that an arm of a union reads."""
    origin = typing.get_origin(annotation)
    if origin in {tuple, frozenset, list, Sequence}:
        return list
    if origin in {dict, Mapping} or is_dataclass(annotation):
        return dict
    if isinstance(annotation, type) and issubclass(annotation, StrEnum):
        return str
    assert annotation in _WORDS, annotation
    return typing.cast("type", annotation)
