"""Performs what a step asks for: requests out, replies and events in, chunks to the consumer, silence measured."""

from __future__ import annotations

import asyncio
import contextlib
from collections import deque
from collections.abc import AsyncIterator, Coroutine, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

from checkrein.edges.appserver import AppServer, ProcessEndedError
from checkrein.turns.lease import Lease
from checkrein.turns.provider import Arm, Ask, Claim, Command, Done, Emit, Leave, Reopen, Server, Step, Tag
from checkrein.turns.trajectory import Reply
from checkrein.vocab.messages import Failure, FailureCode
from checkrein.vocab.stream import Chunk, TextDelta
from checkrein.wire import appserver
from checkrein.wire.jsonrpc import RpcNotification, RpcReply, RpcRequest

MERGE_FROM = 256  # chunks that wait for a slow consumer before neighbouring deltas are put together


class Owner(Protocol):
    """What a run needs of its pool."""

    def background(self, work: Coroutine[None, None, None]) -> None: ...

    async def reopen(self, run: Run) -> None: ...

    @property
    def silence(self) -> float: ...

    @property
    def grace(self) -> float: ...


@dataclass(slots=True, eq=False)
class Slot:
    """A session's lease and the run that has it, if one has."""

    lease: Lease
    run: Run | None = None
    idling: asyncio.TimerHandle | None = None

    def stop_idling(self) -> None:
        if self.idling is not None:
            self.idling.cancel()
            self.idling = None

    def on_event(self, client: AppServer, message: RpcNotification | RpcRequest) -> None:
        """An event of the lease's thread, as long as it lives; the run that has the lease takes it."""
        if self.run is not None and not self.run.over:
            self.run.event(message)
        elif self.lease.hold(message) and isinstance(message, RpcRequest):
            client.answer(message.id, appserver.DECLINES.get(message.method))

    def leave(self, client: AppServer, thread: str, turn: str | None) -> None:
        """The thread is not needed any more. Whether the server agrees changes nothing."""
        client.release(thread)
        if client.ended.is_set():
            return
        if turn is not None:
            client.ask("turn/interrupt", appserver.interrupt(thread, turn), _ignore)
        client.ask("thread/unsubscribe", {"threadId": thread}, _ignore)


def _ignore(_: RpcReply) -> None:
    """What is left behind has nobody to answer to."""


class Run:
    """One step in the world. INVARIANT: every step that was started ends with `Done`, and then `over` is set."""

    def __init__(self, step: Step, slot: Slot, client: AppServer, pool: Owner) -> None:
        self.step = step
        self.slot = slot
        self.client = client
        self.pool = pool
        self.over = False
        self.gave_up = False
        self._loop = asyncio.get_running_loop()
        self._chunks: deque[Chunk] = deque()
        self._news = asyncio.Event()
        self._done = asyncio.Event()
        self._quiet: asyncio.TimerHandle | None = None
        self._watch: asyncio.TimerHandle | None = None
        self._heard = self._loop.time()
        self._due: deque[Command] = deque()
        self._performing = False
        slot.run = self

    # The consumer's side

    async def chunks(self) -> AsyncIterator[Chunk]:
        while True:
            while self._chunks:
                yield self._chunks.popleft()
            if self.over:
                return
            self._news.clear()
            await self._news.wait()

    async def wait(self, seconds: float) -> None:
        """Until the step is over; it is made to be after so many seconds."""
        try:
            await asyncio.wait_for(self._done.wait(), seconds)
        except TimeoutError:
            self.give_up()

    # The server's side

    def start(self, notices: Sequence[RpcNotification]) -> None:
        fresh = self.slot.lease.thread is None
        self._watch_silence()
        self._perform(self.step.start())
        for message in notices if fresh else ():
            self._perform(self.step.notice(message))

    def rebuild(self, client: AppServer, server: Server) -> None:
        self.client = client
        self._perform(self.step.rebuild(server))

    def event(self, message: RpcNotification | RpcRequest) -> None:
        self._heard = self._loop.time()
        self._perform(self.step.event(message))

    def notice(self, message: RpcNotification) -> None:
        self._perform(self.step.notice(message))

    def end(self, failure: Failure) -> None:
        self._perform(self.step.end(failure))
        if not self.over:
            self._loop.call_later(self.pool.grace, self.give_up)

    def give_up(self) -> None:
        if not self.over:
            self.gave_up = True
            self._perform(self.step.abandon())

    def died(self, why: str) -> None:
        self._perform(self.step.died(why))

    # Performing

    def _perform(self, commands: Sequence[Command]) -> None:
        """In order, and never one inside another: what a command brings about is performed after those that were due."""
        self._due.extend(commands)
        if self._performing:
            return
        self._performing = True
        try:
            while self._due:
                self._do(self._due.popleft())
        finally:
            self._performing = False

    def _do(self, command: Command) -> None:
        match command:
            case Emit(chunk):
                self._put(chunk)
            case Ask(tag, params):
                self._ask(tag, params)
            case Reply(rpc, result):
                self.client.answer(rpc, result)
            case Claim(thread):
                self.client.claim(thread, partial(self.slot.on_event, self.client))
            case Leave(thread, turn):
                self.slot.leave(self.client, thread, turn)
            case Arm(ms):
                self._arm(ms)
            case Reopen():
                self.pool.background(self.pool.reopen(self))
            case Done():
                self._finish()

    def _ask(self, tag: Tag, params: Mapping[str, Any]) -> None:
        client = self.client

        def then(reply: RpcReply) -> None:
            if client is not self.client or self.over:
                return
            self._heard = self._loop.time()
            if reply.fault is not None:
                self._perform(self.step.refused(tag, reply.fault))
            else:
                self._perform(self.step.reply(tag, reply.result))

        # A process that has ended tells so by itself, once.
        with contextlib.suppress(ProcessEndedError):
            client.ask(tag.value, params, then)

    def _put(self, chunk: Chunk) -> None:
        if len(self._chunks) >= MERGE_FROM and isinstance(chunk, TextDelta):
            last = self._chunks[-1]
            if isinstance(last, TextDelta) and last.index == chunk.index and len(last.text) < 65536:
                self._chunks[-1] = TextDelta(chunk.index, last.text + chunk.text)
                return
        self._chunks.append(chunk)
        self._news.set()

    def _arm(self, ms: int | None) -> None:
        if self._quiet is not None:
            self._quiet.cancel()
        self._quiet = None if ms is None else self._loop.call_later(ms / 1000, lambda: self._perform(self.step.quiet()))

    def _watch_silence(self) -> None:
        """A turn that says nothing at all for very long is given up; one that says anything may take as long as it likes."""
        left = self._heard + self.pool.silence - self._loop.time()
        if left <= 0:
            why = f"nothing was heard for {self.pool.silence:g} seconds"
            self.end(Failure(FailureCode.TIMEOUT, why))
            return
        self._watch = self._loop.call_later(left, self._watch_silence)

    def _finish(self) -> None:
        self.over = True
        for timer in (self._quiet, self._watch):
            if timer is not None:
                timer.cancel()
        self._quiet = self._watch = None
        self._news.set()
        self._done.set()
