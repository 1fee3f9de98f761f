"""What a wire does for the machine above it. A `Reader` turns the events of one answer into steps, a `Writer` puts an answer
with refused calls together again. Neither knows of verdicts, journals or clocks.

A *slot* is the reader's number for one item of the answer that would execute something.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Protocol

from checkrein.vocab.calls import NOTHING, Call
from checkrein.vocab.errors import ProtocolError
from checkrein.vocab.reasons import Reason
from checkrein.wire.request import Request
from checkrein.wire.sse import Frame


class ViolationError(ProtocolError):
    """The answer contradicts itself or cannot be read. `str()` is one lower-case clause."""

    def __init__(self, why: str, reason: Reason = Reason.PROTOCOL_VIOLATION) -> None:
        super().__init__(why)
        self.reason = reason


class End(Enum):
    """How an answer says that it is over."""

    COMPLETE = "complete"
    FAILED = "failed"  # failed, cut short or cancelled by the provider


@dataclass(frozen=True, slots=True)
class Step:
    """What one event means.

    `owners` are the slots whose verdict the event waits for; without any it flows in its turn. `closed` are the calls which
    are complete with this event, to be judged now; `freed` the slots which turned out to execute nothing. `listed` says which
    slot stands at which place of a list of all output.
    """

    owners: tuple[int, ...] = ()
    closed: tuple[tuple[int, Call], ...] = ()
    freed: tuple[int, ...] = ()
    listed: tuple[tuple[int, int], ...] = ()
    end: End | None = None
    usage: Mapping[str, Any] = field(default_factory=lambda: NOTHING)
    why: str = ""  # of a FAILED end, as the provider says


class Reader(Protocol):
    """One answer, event by event."""

    @property
    def response(self) -> str:
        """The provider's id of the answer, or empty."""

    def read(self, event: Any) -> Step | None:
        """What the event means; None when it is nothing to us and flows. Raises `ViolationError`."""

    def whole(self, answer: Any) -> Step:
        """The same for an answer that came as one JSON document."""

    def opened(self) -> Sequence[tuple[int, Call]]:
        """The slots that wait for their last event, as far as they are known."""


class Writer(Protocol):
    """The way out. It renders what the machine has decided."""

    @property
    def untouched(self) -> bool:
        """Nothing was refused or dropped so far, so every frame leaves as it came."""

    def refuse(self, slot: int, call: Call, text: str) -> None:
        """The call of this slot is refused; `text` will stand in its place."""

    def flow(self, frame: Frame, event: Any, step: Step | None) -> bytes:
        """The bytes of an event that leaves."""

    def replace(self, frame: Frame, event: Any, slot: int) -> bytes:
        """The bytes in place of an event of a refused call."""

    def last(self, frame: Frame, event: Any, step: Step, *, again: bool | None) -> bytes:
        """The bytes of the last event. `again` asks the harness to ask once more (True) or not to (False); None leaves it."""

    def whole(self, answer: Any, step: Step, *, again: bool | None) -> bytes:
        """The one JSON document with the refused calls replaced."""

    def drop(self, event: Any) -> None:
        """An event of a call that was never finished leaves no bytes."""

    def alive(self, kind: str, response: str, last: Any) -> bytes:
        """A keep-alive event, marked as ours by its first line (`MARK`). `last` is the last event that left."""

    def failed(self, kind: str, response: str, code: str, message: str, last: Any) -> bytes:
        """The event that ends the answer in the harness's terminal form."""


class Codec(Protocol):
    """One wire."""

    def request(self, body: Mapping[str, Any]) -> Request:
        """What the request says. Raises `ViolationError` where it cannot be said."""

    def strip(self, body: bytes, pointers: Collection[str]) -> bytes:
        """The request with these tool declarations cut out and every other byte kept."""

    def reader(self, passive: Collection[str], request: Request) -> Reader:
        """A reader for one answer. `passive` are the item types that cannot execute anything."""

    def writer(self, reader: Any) -> Writer:
        """A writer for the answer that this reader of the same wire reads."""

    def error(self, code: str, message: str) -> bytes:
        """The JSON body of an HTTP error in this wire's shape."""


MARK = b": checkrein\n"  # an SSE comment as the first line of a frame: clients ignore it, and it tells our own events apart
