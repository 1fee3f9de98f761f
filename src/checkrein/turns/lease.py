"""A lease: a live thread kept for a session as a disposable cache of its model input. Losing one costs a cold rebuild and
nothing else, so in doubt it is dropped.

`TRANSITIONS` is the whole state machine; an event that it does not list is refused.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

from checkrein.replay.history import History
from checkrein.vocab.errors import CheckreinError
from checkrein.wire.appserver import TOOL_CALL, Handling, Setup, handling
from checkrein.wire.jsonrpc import RpcNotification, RpcRequest

if TYPE_CHECKING:
    from checkrein.turns.trajectory import Trajectory

HELD_LIMIT = 20_000


class State(StrEnum):
    IDLE = "idle"
    RUNNING = "running"
    WAITING = "waiting for results"
    DISPOSED = "disposed"


class Move(StrEnum):
    BEGIN = "begin"
    HAND_OVER = "hand over"
    COMPLETE = "complete"
    DROP = "drop"


TRANSITIONS: Mapping[tuple[State, Move], State] = {
    (State.IDLE, Move.BEGIN): State.RUNNING,
    (State.WAITING, Move.BEGIN): State.RUNNING,
    (State.RUNNING, Move.HAND_OVER): State.WAITING,
    (State.RUNNING, Move.COMPLETE): State.IDLE,
    (State.IDLE, Move.DROP): State.DISPOSED,
    (State.RUNNING, Move.DROP): State.DISPOSED,
    (State.WAITING, Move.DROP): State.DISPOSED,
    (State.DISPOSED, Move.DROP): State.DISPOSED,
}


class BusyError(CheckreinError):
    """Another request of the session is running. A session has one writer."""


@dataclass(frozen=True, slots=True)
class Epoch:
    """All that a thread is bound to besides its history. Any difference means another thread."""

    version: str
    model: str
    effort: str | None
    system: str
    catalog: bytes
    setup: Setup
    provider: str

    def differences(self, other: Epoch) -> list[str]:
        return [name for name in self.__slots__ if getattr(self, name) != getattr(other, name)]


@dataclass(slots=True)
class Lease:
    """What is known of a session's thread. `held` are the events that came while no request was running."""

    session: str
    state: State = State.IDLE
    thread: str | None = None
    turn: str | None = None
    epoch: Epoch | None = None
    history: History = field(default_factory=History)
    trajectory: Trajectory | None = None
    held: list[RpcNotification | RpcRequest] = field(default_factory=list)
    void: str = ""

    def move(self, move: Move) -> None:
        after = TRANSITIONS.get((self.state, move))
        if after is None:
            if move is Move.BEGIN and self.state is State.RUNNING:
                raise BusyError(
                    f"the session `{self.session}` is already running a request",
                    "wait for it, or cancel it, or fork the session",
                )
            raise CheckreinError(f"a lease that is {self.state.value} cannot {move.value}")
        self.state = after

    def hold(self, message: RpcNotification | RpcRequest) -> bool:
        """An event of the thread while no request runs; the next request tells of it. True: it is a server request that
        must be declined at once, because Codex would wait for the answer.
        """
        what = handling(message.method) if isinstance(message, RpcNotification) else None
        if what is Handling.QUIET or what is Handling.PROGRESS:
            return False
        if what is Handling.CLOSED:
            self.void = "the server closed the thread"
        if len(self.held) >= HELD_LIMIT:
            self.void = "too much happened on the thread between two requests"
            return isinstance(message, RpcRequest)
        self.held.append(message)
        if isinstance(message, RpcRequest) and message.method != TOOL_CALL:
            if self.trajectory is not None:
                self.trajectory.declined.add(message.id)
            return True
        return False

    def forget(self) -> None:
        """The thread is gone; what was known of it means nothing any more."""
        self.thread = self.turn = self.epoch = self.trajectory = None
        self.history = History(parts=self.history.parts, of=self.history.of)
        self.held = []
        self.void = ""

    def lose(self, why: str) -> None:
        """The thread was lost while nothing ran on it. The next request rebuilds it, and says why."""
        self.forget()
        self.void = why
