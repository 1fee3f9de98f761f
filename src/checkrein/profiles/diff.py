"""What differs between two profiles, in words: tools that came, went or changed, and every other key."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from enum import StrEnum
from typing import Any, Final, NamedTuple

from checkrein.profiles.schema import Profile, Tool

_APART: Final = frozenset(("tools", "variants", "digest", "file", "index"))


class Change(NamedTuple):
    """One difference: `where` it is, and the plain values before and after (None where there is none)."""

    where: str
    before: Any
    after: Any

    def __str__(self) -> str:
        if self.before is None:
            return f"+ {self.where}: {said(self.after)}"
        if self.after is None:
            return f"- {self.where}: {said(self.before)}"
        return f"~ {self.where}: {said(self.before)} -> {said(self.after)}"


def changes(before: Profile, after: Profile) -> list[Change]:
    """Every difference, the tools last and by name."""
    return [*_keys(before, after), *_named("variant", _variants(before), _variants(after)), *_tools(before, after)]


def plain(value: Any) -> Any:
    """A profile's value as JSON would have it; what says nothing is left out."""
    if isinstance(value, StrEnum):
        return value.value
    if is_dataclass(value) and not isinstance(value, type):
        shown = {row.name: plain(getattr(value, row.name)) for row in fields(value) if row.name != "index"}
        return {key: item for key, item in shown.items() if item not in ("", [], {}, None, False)}
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple, frozenset)):
        return [plain(item) for item in value]
    return value


def said(value: Any) -> str:
    """A plain value on one line."""
    if isinstance(value, dict):
        return ", ".join(f"{key} {said(item)}" for key, item in value.items())
    if isinstance(value, list):
        return "[" + ", ".join(said(item) for item in value) + "]"
    return f"`{value}`" if isinstance(value, str) else str(value)


def _keys(before: Profile, after: Profile) -> Iterator[Change]:
    for row in fields(Profile):
        if row.name not in _APART:
            yield from _values(row.name, plain(getattr(before, row.name)), plain(getattr(after, row.name)))


def _values(where: str, old: Any, new: Any) -> Iterator[Change]:
    if isinstance(old, dict) and isinstance(new, dict):
        for key in dict.fromkeys((*old, *new)):
            yield from _values(f"{where}.{key}", old.get(key), new.get(key))
    elif old != new:
        yield Change(where, old, new)


def _variants(profile: Profile) -> dict[str, Any]:
    return {variant.name: plain(variant) for variant in profile.variants}


def _tools(before: Profile, after: Profile) -> Iterator[Change]:
    old, new = _by_identity(before), _by_identity(after)
    for identity in sorted({*old, *new}):
        if identity not in old:
            yield Change(f"tool {identity}", None, {"kind": new[identity].kind.value})
        elif identity not in new:
            yield Change(f"tool {identity}", {"kind": old[identity].kind.value}, None)
        else:
            yield from _values(f"tool {identity}", _shape(old[identity]), _shape(new[identity]))


def _by_identity(profile: Profile) -> dict[str, Tool]:
    """Tools by their first spelling."""
    found: dict[str, Tool] = {}
    for tool in profile.tools:
        space = tool.namespaces[0]
        found[f"{space}.{tool.name}" if space else tool.name] = tool
    return found


def _shape(tool: Tool) -> dict[str, Any]:
    shape: dict[str, Any] = plain(tool)
    arguments: dict[str, Any] = {}
    for argument in shape.pop("arguments", []):
        pointer = argument.pop("pointer")
        arguments[pointer] = [*arguments.get(pointer, []), argument] if pointer in arguments else [argument]
    return {**shape, "arguments": arguments}


def _named(what: str, old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[Change]:
    for name in dict.fromkeys((*old, *new)):
        yield from _values(f"{what} {name}", old.get(name), new.get(name))
