"""HTTP on loopback: uvicorn with uvloop and httptools around a raw ASGI callable. No framework, no WebSocket, no log lines."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Generator, Iterable, MutableMapping
from typing import Any, TypeVar

import uvicorn
import uvloop
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol
from uvicorn.server import ServerState

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]
Headers = Iterable[tuple[bytes, bytes]]
T = TypeVar("T")

TARGET_LIMIT = 8 * 1024
HEADER_LIMIT = 256 * 1024
HEADER_COUNT = 256
# A harness keeps its connections for long; closing one under its next request would cost a retry.
IDLE_SECONDS = 3600
# A client that takes no byte for so long is no longer there in any useful sense.
STALL_SECONDS = 120
_GRACE_SECONDS = 3


class Disconnected(Exception):  # noqa: N818 - it is an event
    """The client went away."""


class TooLarge(Exception):  # noqa: N818 - it is an answer, not a fault of ours
    """The request body is over the cap."""


class Intake(HttpToolsProtocol):
    """The HTTP parser with what the ASGI layer cannot see any more: the request target as sent, and limits on the head.

    A raised error inside a callback ends the connection with 400.
    """

    _head = 0
    watcher: Callable[[], object] | None = None

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        if self.watcher is not None:
            self.watcher()

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._head = 0
        self.scope["connection"] = self  # type: ignore[typeddict-unknown-key]

    def on_url(self, url: bytes) -> None:
        super().on_url(url)
        if len(self.url) > TARGET_LIMIT:
            raise ValueError("the request target is too long")

    def on_header(self, name: bytes, value: bytes) -> None:
        self._head += len(name) + len(value)
        if self._head > HEADER_LIMIT or len(self.headers) >= HEADER_COUNT:
            raise ValueError("the request head is too large")
        super().on_header(name, value)

    def on_headers_complete(self) -> None:
        # Only the origin form is ours; an absolute or authority form speaks to a proxy.
        if not self.url.startswith(b"/") or self.url.startswith(b"//"):
            raise ValueError("the request target is not in origin form")
        super().on_headers_complete()

    def _unsupported_upgrade_warning(self) -> None:
        """The application answers an upgrade itself."""


class Client:
    """The other side of one request: what is sent to it, and whether it is still there.

    While it is watched, its going away cancels the task that serves it; `gone` tells that cancellation from any other.
    """

    def __init__(self, scope: Scope, send: Send) -> None:
        self._connection: Intake = scope["connection"]
        self._send = send
        self.gone = False
        self.started = False

    @contextlib.contextmanager
    def watched(self) -> Generator[None]:
        """Cancel the current task when the client goes away."""
        task = asyncio.current_task()
        assert task is not None

        def left() -> None:
            self.gone = True
            task.cancel()

        if self._connection.cycle.disconnected:
            raise Disconnected
        self._connection.watcher = left
        try:
            yield
        finally:
            self._connection.watcher = None

    async def start(self, status: int, headers: Headers) -> None:
        """Status and headers."""
        self.started = True
        await self._send({"type": "http.response.start", "status": status, "headers": list(headers)})

    async def write(self, data: bytes) -> None:
        """Body bytes. A client that reads nothing for too long is cut off."""
        message = {"type": "http.response.body", "body": data, "more_body": True}
        if not self._connection.flow.write_paused:
            await self._send(message)
            return
        try:
            async with asyncio.timeout(STALL_SECONDS):
                await self._send(message)
        except TimeoutError:
            self._connection.transport.abort()
            self.gone = True
            raise Disconnected from None

    def cut(self) -> None:
        """Break the connection, so that a half answer is not taken for a whole one."""
        self._connection.transport.abort()

    async def finish(self) -> None:
        """The body is complete."""
        await self._send({"type": "http.response.body", "body": b"", "more_body": False})

    async def answer(self, status: int, headers: Headers, body: bytes) -> None:
        """One whole answer of our own."""
        self.started = True
        await respond(self._send, status, headers, body)


def run(main: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine on the fast event loop."""
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        return runner.run(main)


def listener(port: int = 0) -> socket.socket:
    """A listening socket on loopback."""
    sock = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    sock.bind(("127.0.0.1", port))
    sock.listen(1024)
    sock.setblocking(False)
    return sock


@contextlib.asynccontextmanager
async def serving(app: App, sock: socket.socket) -> AsyncIterator[int]:
    """Serve `app` on a listening socket; yields the port. Leaving ends open requests after a short grace."""
    for name in ("uvicorn.error", "uvicorn.access"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
        logging.getLogger(name).propagate = False
    config = uvicorn.Config(
        app,
        http=Intake,
        ws="none",
        lifespan="off",
        log_config=None,
        access_log=False,
        server_header=False,
        date_header=False,
        proxy_headers=False,
        timeout_keep_alive=IDLE_SECONDS,
    )
    config.load()
    state = ServerState()
    # uvicorn's own `Server` adds signal handlers, a ticking loop and slow polling at the end; its protocol needs none of them.
    server = await asyncio.get_running_loop().create_server(
        lambda: Intake(config=config, server_state=state, app_state={}), sock=sock
    )
    try:
        yield sock.getsockname()[1]
    finally:
        server.close()
        await _ended(state)


async def _ended(state: ServerState) -> None:
    for connection in list(state.connections):
        connection.shutdown()
    if state.tasks:
        await asyncio.wait(state.tasks, timeout=_GRACE_SECONDS)
    for task in state.tasks:
        task.cancel()
    if state.tasks:
        await asyncio.wait(state.tasks)
    for connection in list(state.connections):
        connection.transport.abort()


async def read_body(receive: Receive, cap: int) -> bytes:
    """The whole request body. Raises `TooLarge` as soon as it is over the cap, `Disconnected` when it never ends."""
    parts: list[bytes] = []
    size = 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise Disconnected
        part = message.get("body", b"")
        size += len(part)
        if size > cap:
            raise TooLarge
        parts.append(part)
        if not message.get("more_body"):
            return b"".join(parts) if len(parts) > 1 else part


async def respond(send: Send, status: int, headers: Headers, body: bytes) -> None:
    """One whole answer."""
    listed = [*headers, (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": status, "headers": listed})
    await send({"type": "http.response.body", "body": body})


def headers_of(scope: Scope) -> dict[str, str]:
    """The request headers by lower-case name; of a repeated one the values are joined, so that none is overlooked."""
    found: dict[str, str] = {}
    for name, value in scope["headers"]:
        key, text = name.decode("latin-1").lower(), value.decode("latin-1")
        found[key] = f"{found[key]}, {text}" if key in found else text
    return found


def wants_upgrade(headers: dict[str, str]) -> bool:
    """Whether the request asks to leave HTTP."""
    return "upgrade" in headers and "upgrade" in headers.get("connection", "").lower()
