"""Versions and tested ranges: `>=0.153,<=0.171`. A bound says only as many parts as it writes: 0.171.3 is within `<=0.171`."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

_PLAIN: Final = re.compile(r"\d+(?:\.\d+)*")
_BOUND: Final = re.compile(r"(>=|<=|==|>|<)\s*(\d+(?:\.\d+)*)")

_TESTS: Final[dict[str, Callable[[tuple[int, ...], tuple[int, ...]], bool]]] = {
    ">=": lambda have, bound: have >= bound,
    "<=": lambda have, bound: have <= bound,
    "==": lambda have, bound: have == bound,
    ">": lambda have, bound: have > bound,
    "<": lambda have, bound: have < bound,
}


def parts(version: str) -> tuple[int, ...] | None:
    """The numbers of a version, without what follows them (`0.172.0-alpha.1`); None where it begins with none."""
    found = _PLAIN.match(version.strip())
    return tuple(int(part) for part in found[0].split(".")) if found else None


def well_formed(bounds: str) -> bool:
    """Whether this is a range: bounds with commas between them. The empty range is one, and holds every version."""
    return not bounds or all(_BOUND.fullmatch(bound.strip()) for bound in bounds.split(","))


def within(version: str, bounds: str) -> bool:
    """Whether the version lies in the range. A version that can't be read lies in no range but the empty one."""
    if not bounds:
        return True
    have = parts(version)
    if have is None:
        return False
    for bound in bounds.split(","):
        found = _BOUND.fullmatch(bound.strip())
        if found is None:
            return False
        limit = tuple(int(part) for part in found[2].split("."))
        padded = have + (0,) * (len(limit) - len(have))
        if not _TESTS[found[1]](padded[: len(limit)], limit):
            return False
    return True
