"""Few processes, many threads, one writer per session: which lease serves a request, and when a lease is let go.

A session's lease is a cache. It goes when it has been idle for long, when too many are kept, when its process ends, and with
the pool; but never while the harness runs a tool for it.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import tempfile
from collections import OrderedDict
from collections.abc import AsyncIterator, Coroutine, Mapping
from dataclasses import dataclass, field
from typing import Any

from checkrein.edges.appserver import AppServer, Launch, RefusedError
from checkrein.edges.provider_run import Run, Slot
from checkrein.turns.lease import BusyError, Lease, Move, State
from checkrein.turns.provider import Server, Step
from checkrein.vocab.calls import NOTHING
from checkrein.vocab.errors import CheckreinError, NotUsableError
from checkrein.vocab.messages import Failure, FailureCode, Request
from checkrein.vocab.stream import Chunk
from checkrein.wire.appserver import FEATURES_OFF, TESTED, Setup, is_tested
from checkrein.wire.jsonl import DEFAULT_LIMIT
from checkrein.wire.jsonrpc import RpcNotification

REQUEST_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class Options:
    """How the provider runs Codex. Every default is the safe one.

    `program` is the native binary (see `find_codex`); `env` replaces the environment. `native_tools`, `environments`,
    `sandbox` and `approvals` open Codex's own tools again; approvals are declined whatever they say. `config` are further
    settings of every thread, `args` further arguments of the process. `processes` is how many may run, `sessions` how many
    idle leases are kept.
    """

    program: str
    env: Mapping[str, str] | None = None
    args: tuple[str, ...] = ()
    config: Mapping[str, Any] = field(default_factory=lambda: NOTHING)
    namespace: str = "checkrein"
    model_provider: str | None = None
    summary: str | None = None
    native_tools: bool = False
    environments: tuple[Mapping[str, Any], ...] | None = ()
    sandbox: str = "read-only"
    approvals: str = "never"
    allow_untested: bool = False
    processes: int = 1
    sessions: int = 64
    idle_seconds: float = 600.0
    silence_seconds: float = 300.0
    grace_seconds: float = 5.0
    line_limit: int = DEFAULT_LIMIT


@dataclass(slots=True)
class Host:
    """A process with what its steps must know of it. A `retired` one takes no new threads and goes with its last."""

    client: AppServer
    server: Server
    cwd: str
    slots: set[int] = field(default_factory=set)
    retired: bool = False
    going: asyncio.TimerHandle | None = None


class Pool:
    """Leases and processes. Every method belongs to one event loop."""

    def __init__(self, options: Options) -> None:
        self.options = options
        self.slots: OrderedDict[str, Slot] = OrderedDict()
        self.hosts: list[Host] = []
        self.closed = False
        self._once = asyncio.Lock()
        self._runs: set[Run] = set()
        self._background: set[asyncio.Task[None]] = set()
        self._reserved: set[str] = set()

    @property
    def silence(self) -> float:
        return self.options.silence_seconds

    @property
    def grace(self) -> float:
        return self.options.grace_seconds

    async def stream(self, request: Request) -> AsyncIterator[Chunk]:
        """The chunks of one request. Leaving the iterator early cancels it."""
        slot = self._reserve(request)
        run: Run | None = None
        try:
            host = await self._host_for(slot)
            run = Run(Step(request, slot.lease, host.server), slot, host.client, self)
            self._runs.add(run)
            run.start(list(host.client.notices))
            async for chunk in run.chunks():
                yield chunk
        finally:
            if run is not None:
                await asyncio.shield(asyncio.ensure_future(self._leave_run(run)))
            self._free(slot, request)

    def cancel(self, session: str) -> bool:
        """Interrupt the session's running request; its stream ends as aborted. False when none runs."""
        slot = self.slots.get(session)
        if slot is None or slot.run is None:
            return False
        slot.run.end(Failure(FailureCode.ABORTED, "the request was cancelled"))
        return True

    def release(self, session: str) -> bool:
        """Let go of what is kept for the session, unless a request of it is running."""
        slot = self.slots.get(session)
        if slot is None or session in self._reserved:
            return False
        self._drop(slot)
        return True

    async def any_host(self) -> Host:
        """A process for a request that needs no thread."""
        return await self._host()

    async def close(self) -> None:
        """End every request, then every process. Nothing is left."""
        self.closed = True
        for run in list(self._runs):
            run.end(Failure(FailureCode.ABORTED, "the provider was closed"))
        for run in list(self._runs):
            await self._leave_run(run)
        for slot in list(self.slots.values()):
            self._drop(slot)
        async with self._once:
            hosts, self.hosts = self.hosts, []
        await asyncio.gather(*(self._close_host(host) for host in hosts))
        while self._background:
            await asyncio.gather(*self._background)

    # Leases

    def _reserve(self, request: Request) -> Slot:
        """Takes the session's lease without waiting for anything, so that of two first requests one is refused."""
        if self.closed:
            raise CheckreinError("the provider is closed")
        if request.one_shot:
            return Slot(Lease(request.session))
        if request.session in self._reserved:
            raise BusyError(
                f"the session `{request.session}` is already running a request",
                "wait for it, or cancel it, or fork the session",
            )
        self._reserved.add(request.session)
        slot = self.slots.get(request.session)
        if slot is None or slot.lease.state is State.DISPOSED:
            slot = self.slots[request.session] = Slot(Lease(request.session))
        self.slots.move_to_end(request.session)
        slot.stop_idling()
        self._make_room()
        return slot

    def _free(self, slot: Slot, request: Request) -> None:
        if request.one_shot:
            self._drop(slot)
            return
        self._reserved.discard(request.session)
        if slot.lease.thread is None or slot.lease.state is State.DISPOSED:
            self._drop(slot)
        elif slot.lease.state is State.IDLE:
            slot.idling = asyncio.get_running_loop().call_later(self.options.idle_seconds, self._drop, slot)
        self._make_room()

    def _make_room(self) -> None:
        """Lets go of the leases that were used least lately; those that run or wait for a tool are not counted out."""
        for session, slot in list(self.slots.items()):
            if len(self.slots) <= self.options.sessions:
                return
            if session not in self._reserved and slot.lease.state is not State.WAITING:
                self._drop(slot)

    def _drop(self, slot: Slot) -> None:
        slot.stop_idling()
        lease = slot.lease
        host = self._host_of(slot)
        if host is not None:
            if lease.thread is not None and not host.client.ended.is_set():
                slot.leave(host.client, lease.thread, lease.turn)
            host.slots.discard(id(slot))
            self._maybe_retire(host)
        if lease.state is not State.RUNNING:
            lease.move(Move.DROP)
        lease.forget()
        if self.slots.get(lease.session) is slot:
            del self.slots[lease.session]

    async def _leave_run(self, run: Run) -> None:
        """Sees a run to its end, whatever its consumer does."""
        if not run.over:
            run.end(Failure(FailureCode.ABORTED, "the consumer left"))
            await run.wait(self.options.grace_seconds)
        if run.gave_up:
            # A process that does not end its turn when told to is not trusted with another.
            self.retire(run.client)
        self._runs.discard(run)
        run.slot.run = None

    # Processes

    async def _host_for(self, slot: Slot) -> Host:
        """The process of the slot's thread, or one for a new thread."""
        host = self._host_of(slot)
        if host is None or host.client.ended.is_set():
            if slot.lease.thread is not None:
                slot.lease.lose("the process of its thread ended")
            host = await self._host()
        host.slots.add(id(slot))
        self._stop_going(host)
        return host

    def _host_of(self, slot: Slot) -> Host | None:
        return next((host for host in self.hosts if id(slot) in host.slots), None)

    async def _host(self) -> Host:
        async with self._once:
            if self.closed:
                raise CheckreinError("the provider is closed")
            usable = [host for host in self.hosts if not host.retired and not host.client.ended.is_set()]
            least = min(usable, key=lambda host: len(host.slots), default=None)
            if least is None or (least.slots and len(usable) < self.options.processes):
                least = await self._start()
                self.hosts.append(least)
            self._stop_going(least)
            return least

    async def _start(self) -> Host:
        options = self.options
        cwd = tempfile.mkdtemp(prefix="checkrein-codex-")
        # The process reads no configuration file of ours: what must hold from its first moment is said on its command line.
        args = [] if options.native_tools else [arg for name in FEATURES_OFF for arg in ("-c", f"features.{name}=false")]
        launch = Launch(
            options.program,
            cwd,
            (*args, *options.args),
            os.environ if options.env is None else options.env,
            options.line_limit,
            options.grace_seconds,
        )
        try:
            client = await AppServer.start(launch)
        except BaseException:
            shutil.rmtree(cwd, ignore_errors=True)
            raise
        try:
            host = Host(client, await self._describe(client, cwd), cwd)
        except BaseException:
            await client.close()
            shutil.rmtree(cwd, ignore_errors=True)
            raise
        client.on_death = lambda why: self._died(host, why)
        client.on_notice = lambda message: self._noticed(host, message)
        if client.ended.is_set():
            raise NotUsableError(f"`{options.program} app-server` ended at once: {client.why}", client.last_words())
        return host

    async def _describe(self, client: AppServer, cwd: str) -> Server:
        """What steps must know of the process. Raises `NotUsableError` for a version that was not allowed."""
        options = self.options
        note = ""
        if not is_tested(client.version):
            note = f"codex {client.version or 'of an unknown version'} is outside the tested versions {' to '.join(TESTED)}"
            if not options.allow_untested:
                raise NotUsableError(note, "install a tested version, or allow untested ones")
        config: Mapping[str, Any] = {}
        with contextlib.suppress(RefusedError):
            read = await client.request("config/read", {"includeLayers": False}, REQUEST_SECONDS)
            config = read["config"] if isinstance(read.get("config"), dict) else {}
        servers = config.get("mcp_servers")
        muted = () if options.native_tools or not isinstance(servers, dict) else tuple(sorted(servers))
        setup = Setup(
            cwd,
            options.namespace,
            options.model_provider,
            options.native_tools,
            options.environments,
            options.sandbox,
            options.approvals,
            options.summary,
            muted,
            options.config,
        )
        provider = options.model_provider or config.get("model_provider") or "openai"
        return Server(client.version, client.user_agent, str(provider), setup, note)

    def retire(self, client: AppServer) -> None:
        for host in self.hosts:
            if host.client is client:
                host.retired = True
                self._maybe_retire(host)

    def _maybe_retire(self, host: Host) -> None:
        """A process without threads goes: at once when it is retired, else after a while."""
        if host.slots or host not in self.hosts or self.closed:
            return
        if host.retired:
            self._go(host)
        elif host.going is None:
            host.going = asyncio.get_running_loop().call_later(self.options.idle_seconds, self._go, host)

    def _stop_going(self, host: Host) -> None:
        if host.going is not None:
            host.going.cancel()
            host.going = None

    def _go(self, host: Host) -> None:
        host.going = None
        if host in self.hosts and not host.slots:
            self.hosts.remove(host)
            self.background(self._close_host(host))

    async def _close_host(self, host: Host) -> None:
        self._stop_going(host)
        await host.client.close()
        await asyncio.to_thread(shutil.rmtree, host.cwd, ignore_errors=True)

    def _died(self, host: Host, why: str) -> None:
        words = host.client.last_words()
        if host in self.hosts:
            self.hosts.remove(host)
            self.background(self._close_host(host))
        for slot in list(self.slots.values()):
            if id(slot) in host.slots and slot.run is None:
                slot.lease.lose(f"{why}; its last words: {words}" if words else why)
        for run in list(self._runs):
            if run.client is host.client:
                run.died(why)
        host.slots.clear()

    def _noticed(self, host: Host, message: RpcNotification) -> None:
        for run in list(self._runs):
            if run.client is host.client:
                run.notice(message)

    async def reopen(self, run: Run) -> None:
        """The run's process ended: give it another."""
        try:
            host = await self._host_for(run.slot)
            run.rebuild(host.client, host.server)
        except (CheckreinError, OSError) as error:
            run.end(Failure(FailureCode.TRANSPORT, str(error)))
            run.give_up()

    def background(self, work: Coroutine[None, None, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._background.add(task)
        task.add_done_callback(self._background.discard)
