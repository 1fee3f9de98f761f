"""What a machine asks of its edge. A machine is fed events by method and yields commands; the edge performs them in order.

INVARIANT: an edge that fails to perform a `Record` or a `Sync` performs none of the commands after it and tells the machine.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Send:
    """Bytes for the client, exactly as they are."""

    data: bytes


@dataclass(frozen=True, slots=True)
class Record:
    """A journal row: its kind and its own fields (not seq, time, prev, hash)."""

    kind: str
    fields: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Sync:
    """Every record before this must be on disk before anything after it."""


@dataclass(frozen=True, slots=True)
class Answer:
    """A whole HTTP answer of our own; only before the first `Send`."""

    status: int
    headers: tuple[tuple[bytes, bytes], ...]
    body: bytes


@dataclass(frozen=True, slots=True)
class Start:
    """The head of the upstream's answer, with those of its headers that may pass; before the first `Send`."""

    status: int
    headers: tuple[tuple[bytes, bytes], ...]


@dataclass(frozen=True, slots=True)
class Finish:
    """The answer is complete; close the upstream side."""


Command = Send | Record | Sync | Answer | Start | Finish
