"""Cuts elements out of JSON lists and leaves every other byte as it was."""

from __future__ import annotations

import re
from collections.abc import Collection

import orjson

from checkrein.wire import strict
from checkrein.wire.request import at

_TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*"|[\[\]{},:]', re.DOTALL)


def cut(text: bytes, pointers: Collection[str]) -> bytes:
    """`text` without the list elements at these pointers.

    INVARIANT: the result reads as the same value with just these elements removed, or `ValueError` is raised.
    """
    wanted = strict.loads(text)
    for pointer in sorted(set(pointers), key=_order, reverse=True):
        parent, _, last = pointer.rpartition("/")
        siblings = at(wanted, parent)
        if not isinstance(siblings, list) or not last.isdigit() or int(last) >= len(siblings):
            raise ValueError(f"`{pointer}` is no element of a list")
        text = _without(text, parent, int(last))
        del siblings[int(last)]
    if orjson.dumps(strict.loads(text)) != orjson.dumps(wanted):
        raise ValueError("the text could not be cut cleanly")
    return text


def _order(pointer: str) -> tuple[tuple[int, str], ...]:
    """Document order among siblings, so that cutting from the back leaves the other pointers true."""
    return tuple((int(part), "") if part.isdigit() else (-1, part) for part in pointer.split("/"))


def _without(text: bytes, parent: str, index: int) -> bytes:
    """`text` without one element of the list at `parent`, and without one comma beside it."""
    commas, begin, end = _list_at(text, parent)
    edges = [begin, *commas, end]
    # Between two edges stands one element; the first edge is the bracket, each further one a comma.
    if index + 1 < len(edges) - 1:
        return text[: edges[index] + 1] + text[edges[index + 1] + 1 :]
    return text[: edges[index] + (0 if index else 1)] + text[end:]


def _list_at(text: bytes, pointer: str) -> tuple[list[int], int, int]:
    """Positions of the commas, the opening and the closing bracket of the list at `pointer`."""
    path: list[str | int] = []  # the place of the value under the cursor
    begin, commas, depth = -1, list[int](), 0
    key = b""
    for match in _TOKEN.finditer(text):
        token, place = match.group(), match.start()
        first = token[:1]
        if first == b'"':
            key = token
        elif first == b":":
            path[-1] = orjson.loads(key)
        elif first in (b"[", b"{"):
            if first == b"[" and begin < 0 and _spell(path) == pointer:
                begin, depth = place, len(path) + 1
            path.append(0 if first == b"[" else "")
        elif first in (b"]", b"}"):
            if begin >= 0 and len(path) == depth:
                return commas, begin, place
            path.pop()
        elif isinstance(path[-1], int):
            path[-1] += 1
            if begin >= 0 and len(path) == depth:
                commas.append(place)
    raise ValueError(f"there is no list at `{pointer}`")


def _spell(path: list[str | int]) -> str:
    return "".join("/" + str(part).replace("~", "~0").replace("/", "~1") for part in path)
