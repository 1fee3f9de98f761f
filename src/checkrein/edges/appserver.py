"""One `codex app-server` process: its life, its lines, its requests in both directions. The official SDK answers server requests
on its reader, so it cannot hold a tool call; this client can, for as long as the harness likes.

Replies and events are handed on synchronously, in the order of the lines, so that nobody can miss an event between two awaits.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import checkrein
from checkrein.vocab.errors import CheckreinError, NotUsableError, ProtocolError
from checkrein.wire import appserver, jsonrpc
from checkrein.wire.jsonl import DEFAULT_LIMIT, Lines
from checkrein.wire.jsonrpc import RpcFault, RpcNotification, RpcReply, RpcRequest

STDERR_LIMIT = 64 * 1024
UNSENT_LIMIT = 512 * 1024 * 1024
EARLY_LIMIT = 2_000
NOTICES = 64
CHUNK = 1024 * 1024


class ProcessEndedError(CheckreinError):
    """The process is gone, and with it everything that was asked of it."""


class RefusedError(CheckreinError):
    """The server answered a request with an error."""

    def __init__(self, method: str, fault: RpcFault) -> None:
        super().__init__(f"`{method}` was refused: {fault.message}")
        self.fault = fault


OnReply = Callable[[RpcReply], None]
OnEvent = Callable[[RpcNotification | RpcRequest], None]


@dataclass(frozen=True, slots=True)
class Launch:
    """How to start the process. `cwd` is a directory of ours that holds nothing."""

    program: str
    cwd: str
    args: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=lambda: os.environ)
    line_limit: int = DEFAULT_LIMIT
    grace: float = 5.0
    start_seconds: float = 60.0


class AppServer:
    """A running process. After `ended` is set nothing more happens, and `why` says what happened."""

    def __init__(self, process: asyncio.subprocess.Process, launch: Launch) -> None:
        self.process = process
        self.launch = launch
        self.version = ""
        self.user_agent = ""
        self.ended = asyncio.Event()
        self.why = ""
        self.notices: deque[RpcNotification] = deque(maxlen=NOTICES)
        self.on_notice: Callable[[RpcNotification], None] = lambda _: None
        self.on_death: Callable[[str], None] = lambda _: None
        self._lines = Lines(launch.line_limit)
        self._asked: dict[int, tuple[str, OnReply | asyncio.Future[RpcReply]]] = {}
        self._last = 0
        self._routes: dict[str, OnEvent] = {}
        self._early: dict[str, list[RpcNotification | RpcRequest]] = {}
        self._opening = 0
        self._stderr = bytearray()
        self._tasks = [asyncio.create_task(self._read()), asyncio.create_task(self._read_errors())]

    @classmethod
    async def start(cls, launch: Launch) -> AppServer:
        """Start and greet. Raises `NotUsableError` when the program is none of ours to use."""
        try:
            process = await asyncio.create_subprocess_exec(
                launch.program,
                "app-server",
                *launch.args,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                cwd=launch.cwd,
                env=dict(launch.env),
                limit=CHUNK,
                start_new_session=True,
            )
        except OSError as error:
            raise NotUsableError(f"`{launch.program}` cannot be started: {error.strerror}") from error
        server = cls(process, launch)
        try:
            greeting = await server.request(
                "initialize", appserver.initialize("checkrein", checkrein.__version__), launch.start_seconds
            )
        except CheckreinError as error:
            await server.close()
            raise NotUsableError(f"`{launch.program} app-server` does not answer: {error}", server.last_words()) from error
        except asyncio.CancelledError:
            await server.close()
            raise
        server.user_agent = str(greeting.get("userAgent", ""))
        server.version = appserver.version_of(server.user_agent)
        server.notify("initialized")
        return server

    # Asking

    def ask(self, method: str, params: Mapping[str, Any], then: OnReply) -> None:
        """Send a request; `then` gets its reply. It is never called when the process ends first: see `on_death`."""
        self._send_request(method, params, then)

    async def request(self, method: str, params: Mapping[str, Any], seconds: float) -> dict[str, Any]:
        """Send a request and wait for its result. Raises `RefusedError`, `ProcessEndedError`, or `ProtocolError` on silence."""
        future: asyncio.Future[RpcReply] = asyncio.get_running_loop().create_future()
        ident = self._send_request(method, params, future)
        try:
            reply = await asyncio.wait_for(future, seconds)
        except TimeoutError:
            raise ProtocolError(f"`{method}` was not answered within {seconds:g} seconds") from None
        finally:
            self._asked.pop(ident, None)
        if reply.fault is not None:
            raise RefusedError(method, reply.fault)
        return reply.result if isinstance(reply.result, dict) else {}

    def _send_request(self, method: str, params: Mapping[str, Any], then: OnReply | asyncio.Future[RpcReply]) -> int:
        if self.ended.is_set():
            raise ProcessEndedError(self.why)
        self._last += 1
        self._asked[self._last] = (method, then)
        self._opening += method == "thread/start"
        self._write(jsonrpc.request(self._last, method, params))
        return self._last

    def notify(self, method: str, params: Mapping[str, Any] | None = None) -> None:
        self._write(jsonrpc.notification(method, params))

    def answer(self, rpc: int | str, result: Mapping[str, Any] | None) -> None:
        """Answer a server request; None: with an error."""
        if result is None:
            self._write(jsonrpc.fault(rpc, jsonrpc.METHOD_NOT_FOUND, "this client does not do that"))
        else:
            self._write(jsonrpc.reply(rpc, result))

    def _write(self, line: bytes) -> None:
        stdin = self.process.stdin
        if self.ended.is_set() or stdin is None or stdin.is_closing():
            return
        stdin.write(line)
        if stdin.transport.get_write_buffer_size() > UNSENT_LIMIT:
            self._fail(f"the process has not read {UNSENT_LIMIT} bytes")

    # Threads

    def claim(self, thread: str, then: OnEvent) -> None:
        """From now on this thread's events go to `then`; those that came before its owner knew its name go first."""
        self._routes[thread] = then
        for message in self._early.pop(thread, []):
            then(message)

    def release(self, thread: str) -> None:
        self._routes.pop(thread, None)

    # Reading

    async def _read(self) -> None:
        stdout = self.process.stdout
        assert stdout is not None
        try:
            while data := await stdout.read(CHUNK):
                for line in self._lines.feed(data):
                    if line.strip():
                        self._take(jsonrpc.parse(line))
        except ProtocolError as error:
            self._fail(str(error))
            return
        except Exception as error:
            self._fail(f"the client failed while reading: {error!r}")
            return
        rest = self._lines.close()
        code = await self.process.wait()
        torn = f", in the middle of a line of {len(rest)} bytes" if rest.strip() else ""
        self._end(f"the process ended with code {code}{torn}")

    async def _read_errors(self) -> None:
        stderr = self.process.stderr
        assert stderr is not None
        while data := await stderr.read(CHUNK):
            self._stderr += data
            del self._stderr[:-STDERR_LIMIT]

    def _take(self, message: jsonrpc.RpcMessage) -> None:
        if isinstance(message, RpcReply):
            self._take_reply(message)
            return
        thread = appserver.thread_of(message.params)
        if thread is None:
            self._take_notice(message)
        elif thread in self._routes:
            self._routes[thread](message)
        elif self._opening and sum(map(len, self._early.values())) < EARLY_LIMIT:
            self._early.setdefault(thread, []).append(message)
        else:
            self._decline(message)

    def _take_reply(self, reply: RpcReply) -> None:
        method, then = self._asked.pop(reply.id, ("", None)) if isinstance(reply.id, int) else ("", None)
        if isinstance(then, asyncio.Future):
            if not then.done():
                then.set_result(reply)
        elif then is not None:
            then(reply)
        if method == "thread/start":
            self._opening -= 1
            if not self._opening:
                # Nobody can claim these any more.
                early, self._early = self._early, {}
                for messages in early.values():
                    for message in messages:
                        self._decline(message)

    def _take_notice(self, message: RpcNotification | RpcRequest) -> None:
        if isinstance(message, RpcRequest):
            self._decline(message)
            return
        if appserver.handling(message.method) in {appserver.Handling.QUIET, appserver.Handling.PROGRESS}:
            return
        self.notices.append(message)
        self.on_notice(message)

    def _decline(self, message: RpcNotification | RpcRequest) -> None:
        """Of nobody's thread: a request is refused, because Codex would wait for its answer; an event is nobody's."""
        if isinstance(message, RpcRequest):
            refusal = appserver.tool_refusal("nobody here runs this thread")
            self.answer(
                message.id, refusal if message.method == appserver.TOOL_CALL else appserver.DECLINES.get(message.method)
            )

    # Ending

    def _fail(self, why: str) -> None:
        """The process cannot be worked with any more."""
        with contextlib.suppress(ProcessLookupError):
            self.process.kill()
        # Not now: whoever is in the middle of sending something must come to its end first.
        asyncio.get_running_loop().call_soon(self._end, why)

    def _end(self, why: str) -> None:
        if self.ended.is_set():
            return
        self.why = why
        self.ended.set()
        # Helpers of the process live in its group; they must not outlive it.
        _signal(self.process, signal.SIGKILL, group_only=True)
        asked, self._asked = self._asked, {}
        for method, then in asked.values():
            if isinstance(then, asyncio.Future) and not then.done():
                then.set_exception(ProcessEndedError(f"`{method}` was not answered: {why}"))
        self._routes.clear()
        self._early.clear()
        self.on_death(why)

    def last_words(self) -> str:
        """The last line of what the process said on its error stream."""
        words = bytes(self._stderr).decode("utf-8", "replace").strip().splitlines()
        return words[-1][:500] if words else ""

    async def close(self) -> None:
        """Close its input, wait, terminate, wait, kill. Returns when the process and all of its group are gone."""
        stdin = self.process.stdin
        if stdin is not None:
            stdin.close()
        for stop in (None, signal.SIGTERM, signal.SIGKILL):
            if stop is not None:
                _signal(self.process, stop)
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self.process.wait(), self.launch.grace)
                break
        await self._join(self._tasks)
        self._end("it was closed")

    async def _join(self, tasks: Sequence[asyncio.Task[None]]) -> None:
        done = asyncio.gather(*tasks, return_exceptions=True)
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(done, self.launch.grace)


def _signal(process: asyncio.subprocess.Process, number: signal.Signals, *, group_only: bool = False) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, number)
        return
    if not group_only:
        with contextlib.suppress(ProcessLookupError):
            process.send_signal(number)
