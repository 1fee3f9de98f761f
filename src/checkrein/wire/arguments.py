"""The argument text of a call: one JSON object, read strictly. A fault is a finding, never an exception."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from checkrein.vocab.calls import NOTHING
from checkrein.wire import strict

LIMIT = 8 * 1024 * 1024  # bytes; what a judge will look at is smaller still


class Arguments(NamedTuple):
    """`args` is empty when `fault` completes the sentence "the arguments could not be read: ..."."""

    args: Mapping[str, Any]
    fault: str | None


def parse_arguments(text: object, limit: int = LIMIT) -> Arguments:
    """The arguments that `text` spells.

    INVARIANT: without a fault the text has exactly one reading, and it is this object.
    """
    if not isinstance(text, str):
        return _faulty("they are not a text")
    if not text.strip():
        return _faulty("they are empty")
    if len(text) > limit:
        return _faulty(f"they are larger than {limit} bytes")
    try:
        value = strict.loads(text.encode())
    except UnicodeEncodeError:
        return _faulty("they have a lone surrogate, which is no text")
    except strict.StrictError as error:
        return _faulty(f"they {error}")
    return parse_value(value)


def parse_value(value: object) -> Arguments:
    """Arguments that came as a JSON value."""
    if isinstance(value, dict):
        return Arguments(value, None)
    return _faulty(_SHAPES.get(type(value), "they are not an object"))


_SHAPES: Mapping[type, str] = {
    str: "they are a JSON text inside a JSON text, not an object",
    list: "they are a list, not an object",
    type(None): "they are null, not an object",
    bool: "they are a boolean, not an object",
    int: "they are a number, not an object",
    float: "they are a number, not an object",
}


def _faulty(fault: str) -> Arguments:
    return Arguments(NOTHING, fault)
