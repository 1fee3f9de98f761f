"""The gateway: an ASGI application that puts an exchange machine between a harness and its provider.

INVARIANT: a command that follows a `Sync` is performed only after every record before it is on disk.
INVARIANT: what is not answered by the machine is answered in the form which this harness does not retry.
"""

from __future__ import annotations

import asyncio
import contextlib
import hmac
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import aiohttp

from checkrein.edges import asgi
from checkrein.edges.bodies import BodyError, decode
from checkrein.edges.journal import Journal, JournalError
from checkrein.edges.upstream import Upstream, UpstreamError, more
from checkrein.turns import rows
from checkrein.turns.exchange import HOP, Exchange
from checkrein.turns.run import JSON, Admitted, Refused, Run
from checkrein.vocab.commands import Answer, Command, Finish, Record, Send, Start, Sync
from checkrein.wire import WIRES, strict
from checkrein.wire.codec import ViolationError

BODY_CAP = 100 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Settings:
    """`prefix` is the path below which the run's requests stand, with its secret: `/<secret><path of the upstream>`."""

    prefix: str
    hosts: frozenset[str]
    body_cap: int = BODY_CAP
    tick_seconds: float = 5.0


class Gateway:
    """The ASGI application of one run. `stopped` is called with a sentence when the run cannot go on."""

    def __init__(
        self, settings: Settings, run: Run[Any], journal: Journal, upstream: Upstream, stopped: Callable[[str], None]
    ) -> None:
        self._settings = settings
        self._run = run
        self._journal = journal
        self._upstream = upstream
        self._stopped = stopped
        self._codec = WIRES[run.profile.wire]
        self._paths = frozenset(run.profile.paths)
        self._passes = frozenset(run.profile.passes)

    async def __call__(self, scope: asgi.Scope, receive: asgi.Receive, send: asgi.Send) -> None:
        if scope["type"] != "http":
            return
        client = asgi.Client(scope, send)
        try:
            with client.watched():
                await self._route(scope, receive, client)
        except asgi.Disconnected:
            return
        except asyncio.CancelledError:
            if not client.gone:
                raise
            task = asyncio.current_task()
            assert task is not None
            task.uncancel()
        except Exception as error:  # noqa: BLE001 - a fault of ours refuses; the trace goes to the gateway's own log
            traceback.print_exc()
            await self._fault(client, error)

    async def _route(self, scope: asgi.Scope, receive: asgi.Receive, client: asgi.Client) -> None:
        headers = asgi.headers_of(scope)
        path = scope["raw_path"].decode("latin-1")
        prefix = self._settings.prefix
        # Without the secret nobody learns more than that something listens here.
        if not hmac.compare_digest(path[: len(prefix)].encode(), prefix.encode()):
            await client.answer(404, JSON, b'{"error":{"message":"not found"}}')
            return
        if headers.get("host", "") not in self._settings.hosts:
            await client.answer(403, JSON, b'{"error":{"message":"wrong host"}}')
            return
        suffix = path[len(prefix) :]
        if asgi.wants_upgrade(headers):
            await client.answer(
                426, (*JSON, (b"upgrade", b"HTTP/1.1"), (b"connection", b"close")), b'{"error":{"message":"use HTTP"}}'
            )
        elif scope["method"] == "POST" and suffix in self._paths:
            await self._judged(scope, receive, client, suffix, headers)
        elif f"{scope['method']} {suffix}" in self._passes:
            await self._passed(scope, receive, client, suffix)
        else:
            await self._refuse(
                client, self._run.unreadable(f"`{scope['method']} {suffix[:200]}` is no request that the guard passes on")
            )

    async def _judged(
        self, scope: asgi.Scope, receive: asgi.Receive, client: asgi.Client, suffix: str, headers: dict[str, str]
    ) -> None:
        raw = b""
        admitted: Admitted | Refused
        cap = self._settings.body_cap
        try:
            raw = await asgi.read_body(receive, cap)
            plain = decode(raw, headers.get("content-encoding", ""), cap)
            admitted = self._run.admit(headers, strict.loads(plain))
            if isinstance(admitted, Admitted) and admitted.cuts:
                raw = self._codec.strip(plain, admitted.cuts)
        except asgi.TooLarge:
            admitted = self._run.unreadable(f"the request is larger than {cap} bytes")
        except (BodyError, ViolationError) as error:
            admitted = self._run.unreadable(str(error))
        except strict.StrictError as error:
            admitted = self._run.unreadable(f"the data of the request {error}")
        if isinstance(admitted, Refused):
            await self._refuse(client, admitted)
            return
        sent = scope["headers"]
        if admitted.cuts:
            sent = [(name, value) for name, value in sent if name.lower() != b"content-encoding"]
        exchange = Exchange(self._run.profile, admitted.judge, admitted.intake, self._run.options, admitted.continuations)
        driver = _Driver(exchange, self._journal, client, self._settings.tick_seconds)
        try:
            await driver.perform(admitted.rows)
            if not exchange.done:
                await self._exchanged(driver, suffix, scope["query_string"], sent, raw)
        except asyncio.CancelledError:
            if client.gone:
                await driver.left()
            raise
        except asgi.Disconnected:
            await driver.left()
            raise
        finally:
            self._run.settle(admitted.intake, exchange.outcome)

    async def _exchanged(self, driver: _Driver, suffix: str, query: bytes, headers: asgi.Headers, body: bytes) -> None:
        try:
            async with self._upstream.ask("POST", suffix, query, headers, body) as response:
                await driver.relay(response)
        except UpstreamError as error:
            await driver.perform(driver.exchange.fail(str(error)))

    async def _passed(self, scope: asgi.Scope, receive: asgi.Receive, client: asgi.Client, suffix: str) -> None:
        """A request that carries no calls: its answer is handed on as it is."""
        try:
            body = await asgi.read_body(receive, self._settings.body_cap)
            async with self._upstream.ask(
                scope["method"], suffix, scope["query_string"], scope["headers"], body or None
            ) as response:
                if 300 <= response.status < 400:
                    raise UpstreamError("the provider's answer leads elsewhere")
                kept = [(name, value) for name, value in response.raw_headers if name.lower() not in HOP]
                await client.start(response.status, kept)
                async for data in response.content.iter_any():
                    await client.write(data)
                await client.finish()
        except asgi.TooLarge:
            await client.answer(413, JSON, self._codec.error("too_large", "[checkrein] the request is too large"))
        except UpstreamError as error:
            await client.answer(502, JSON, self._codec.error("upstream_unreachable", f"[checkrein] {error}"))

    async def _fault(self, client: asgi.Client, error: Exception) -> None:
        why = f"{type(error).__name__} in the guard"
        with contextlib.suppress(JournalError):
            self._journal.append("upstream", rows.upstream("fault", why))
        if client.started:
            client.cut()
        else:
            await self._refuse(client, self._run.unreadable(why))

    async def _refuse(self, client: asgi.Client, refused: Refused) -> None:
        try:
            for row in refused.rows:
                self._journal.append(row.kind, row.fields)
        except JournalError as error:
            self._stopped(str(error))
        if refused.stops:
            self._stopped(refused.stops)
        await client.answer(refused.answer.status, refused.answer.headers, refused.answer.body)


class _Driver:
    """Performs what one exchange yields, in order, and feeds it what upstream sends."""

    def __init__(self, exchange: Exchange, journal: Journal, client: asgi.Client, tick_seconds: float) -> None:
        self.exchange = exchange
        self._journal = journal
        self._client = client
        self._tick = tick_seconds
        self._left: Sequence[Command] = ()  # what has not been performed

    async def relay(self, response: aiohttp.ClientResponse) -> None:
        """Feed the whole answer."""
        exchange = self.exchange
        await self.perform(exchange.head(response.status, response.raw_headers))
        content = response.content
        while not exchange.done:
            try:
                data = await (self._patiently(content) if exchange.holding else more(content))
            except UpstreamError as error:
                await self.perform(exchange.fail(str(error)))
                return
            if not data:
                await self.perform(exchange.end())
                return
            commands = exchange.feed(data)
            if len(commands) == 1 and type(commands[0]) is Send:  # the common case: text
                self._left = commands
                await self._client.write(commands[0].data)
                self._left = ()
            elif commands:
                await self.perform(commands)

    async def _patiently(self, content: aiohttp.StreamReader) -> bytes:
        """The next bytes, while the client is kept alive."""
        while True:
            try:
                async with asyncio.timeout(self._tick):
                    return await more(content)
            except TimeoutError:
                await self.perform(self.exchange.tick())

    async def perform(self, commands: Sequence[Command]) -> None:
        """Perform commands in order. A journal that fails ends the exchange before anything later is performed."""
        for index, command in enumerate(commands):
            self._left = commands[index:]
            try:
                await self._one(command)
            except JournalError as error:
                await self._refuse(str(error), commands[index:])
                return
        self._left = ()

    async def _refuse(self, why: str, unperformed: Sequence[Command]) -> None:
        for command in self.exchange.unrecorded(why, unperformed):
            if not isinstance(command, (Record, Sync)):
                await self._one(command)
        self._left = ()

    async def _one(self, command: Command) -> None:
        client = self._client
        if client.gone and not isinstance(command, (Record, Sync)):
            raise asgi.Disconnected
        match command:
            case Record(kind, fields):
                self._journal.append(kind, fields)
            case Sync():
                await self._journal.sync()
            case Send(data):
                await client.write(data)
            case Start(status, headers):
                await client.start(status, headers)
            case Answer(status, headers, body):
                await client.answer(status, headers, body)
            case Finish():
                if client.started:
                    await client.finish()

    async def left(self) -> None:
        """The client is gone: what was not performed is told so, and nothing more is sent."""
        unperformed, self._left = self._left, ()
        for command in self.exchange.gone(unperformed):
            if isinstance(command, Record):
                try:
                    self._journal.append(command.kind, command.fields)
                except JournalError:
                    return
