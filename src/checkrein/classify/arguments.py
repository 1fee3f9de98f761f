"""The arguments of a call against what the profile says of its tool: types, presence, pinned schemas, keys nobody knows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import orjson

from checkrein.profiles.schema import Argument, Tool
from checkrein.vocab.calls import Call

_NAMES: Mapping[type, str] = {
    str: "string",
    bool: "boolean",
    int: "integer",
    float: "number",
    list: "array",
    dict: "object",
    type(None): "null",
}


class Flaw(NamedTuple):
    """Why arguments are not accepted: a clause in lower case, and the pointer of what is wrong."""

    why: str
    pointer: str


class Checked(NamedTuple):
    """`strange` are keys which this request declares and the profile does not know: what they do cannot be judged. `notes`
    tells of keys that nobody declared.
    """

    flaw: Flaw | None = None
    strange: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def check(call: Call, tool: Tool, args: Mapping[str, Any]) -> Checked:
    """Whether the arguments can be judged as this tool's."""
    if tool.schema:
        flaw = _pinned(tool, args)
        return Checked(flaw) if flaw is not None or not tool.arguments else _roles(call, tool, args)
    return _roles(call, tool, args)


def _roles(call: Call, tool: Tool, args: Mapping[str, Any]) -> Checked:
    for argument in tool.arguments:
        flaw = _argument(argument, args)
        if flaw is not None:
            return Checked(flaw)
    keys = tool.keys
    unknown = [key for key in args if key not in keys]
    declared = call.declared or frozenset()
    strange = tuple(f"/{escape(key)}" for key in unknown if key in declared)
    notes = tuple(f"the argument `{key}` is not one that `{call.spelling}` has" for key in unknown if key not in declared)
    return Checked(None, strange, notes)


def _argument(argument: Argument, args: Mapping[str, Any]) -> Flaw | None:
    steps = argument.pointer[1:].split("/")
    top = len(steps) == 1
    if argument.required and top and _counts(argument, args) and args.get(unescape(steps[0])) is None:
        return Flaw(f"the argument `{unescape(steps[0])}` is missing", argument.pointer)
    for pointer, value, siblings in values(argument.pointer, args):
        if (value is None and not argument.required) or not _counts(argument, siblings):
            continue
        if argument.types and not _is(value, argument.types):
            wanted = " or ".join(argument.types)
            return Flaw(f"`{pointer}` must be {wanted}, not {type_name(value)}", pointer)
    return _shape(steps, args)


def _counts(argument: Argument, siblings: Mapping[str, Any]) -> bool:
    """Whether the entry is about these siblings at all."""
    return argument.when is None or argument.when.holds(siblings)


def _shape(steps: Sequence[str], args: Mapping[str, Any]) -> Flaw | None:
    """A list stands where the pointer says `*`, an object where it names a key."""
    level: list[tuple[str, Any]] = [("", args)]
    for step in steps:
        below: list[tuple[str, Any]] = []
        for place, value in level:
            if value is None:
                continue
            if step == "*":
                if not isinstance(value, list):
                    return Flaw(f"`{place}` must be array, not {type_name(value)}", place)
                below += [(f"{place}/{rank}", item) for rank, item in enumerate(value)]
            elif not isinstance(value, Mapping):
                return Flaw(f"`{place}` must be object, not {type_name(value)}", place)
            elif unescape(step) in value:
                below.append((f"{place}/{step}", value[unescape(step)]))
        level = below
    return None


def _is(value: Any, types: Sequence[str]) -> bool:
    name = type_name(value)
    return name in types or (name == "integer" and "number" in types)


def type_name(value: Any) -> str:
    """The JSON name of a value's type."""
    return _NAMES.get(type(value), "unknown")


def values(pointer: str, args: Mapping[str, Any]) -> Iterator[tuple[str, Any, Mapping[str, Any]]]:
    """Every value at a pointer that may hold `*`: its own pointer, the value, and the object in which it stands."""
    yield from _below(pointer[1:].split("/"), "", args, args)


def _below(
    steps: Sequence[str], place: str, value: Any, siblings: Mapping[str, Any]
) -> Iterator[tuple[str, Any, Mapping[str, Any]]]:
    if not steps:
        yield place, value, siblings
        return
    step, rest = steps[0], steps[1:]
    if step == "*":
        if isinstance(value, list):
            for rank, item in enumerate(value):
                yield from _below(rest, f"{place}/{rank}", item, siblings)
    elif isinstance(value, Mapping) and unescape(step) in value:
        yield from _below(rest, f"{place}/{step}", value[unescape(step)], value)


def escape(key: str) -> str:
    """One step of a JSON pointer (RFC 6901)."""
    return key.replace("~", "~0").replace("/", "~1")


def unescape(step: str) -> str:
    """The key that one step of a JSON pointer names (RFC 6901)."""
    return step.replace("~1", "/").replace("~0", "~") if "~" in step else step


def _pinned(tool: Tool, args: Mapping[str, Any]) -> Flaw | None:
    error = next(_validator(orjson.dumps(dict(tool.schema))).iter_errors(dict(args)), None)
    if error is None:
        return None
    place = "".join(f"/{escape(str(step))}" for step in error.instance_path)
    message = error.message if len(error.message) <= 200 else error.message[:199] + "\N{HORIZONTAL ELLIPSIS}"
    return Flaw(f"{f'`{place}`: ' if place else ''}{message}", place)


@lru_cache(maxsize=256)
def _validator(schema: bytes) -> Any:
    import jsonschema_rs  # loaded when the first pinned schema is met

    return jsonschema_rs.validator_for(orjson.loads(schema))


def roles(tool: Tool, args: Mapping[str, Any]) -> Iterator[tuple[Argument, str, Any, Mapping[str, Any]]]:
    """Every argument with a role that is there: the argument, its pointer, its value, its siblings. Nulls are absent."""
    for argument in tool.arguments:
        if argument.role is None:
            continue
        for pointer, value, siblings in values(argument.pointer, args):
            if value is None or not _counts(argument, siblings):
                continue
            yield argument, pointer, value, siblings


__all__ = ["Checked", "Flaw", "check", "escape", "roles", "values"]
