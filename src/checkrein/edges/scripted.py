"""Serves a scripted model on loopback, and keeps what it received."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Mapping
from pathlib import Path
from typing import Any

import orjson

from checkrein.edges import asgi
from checkrein.edges.bodies import BodyError, decode
from checkrein.profiles.schema import Wire
from checkrein.turns import scenario, script
from checkrein.vocab.errors import ProtocolError, UsageError

BODY_CAP = 256 * 1024 * 1024
_JSON = (b"content-type", b"application/json")
# What a recording must never hold, however worthless it is for a scripted model.
_SECRET_HEADERS = frozenset({"authorization", "x-api-key", "cookie", "chatgpt-account-id", "x-goog-api-key"})
# The last part of a path -> the wire that is spoken there.
_ENDPOINTS = {"responses": Wire.RESPONSES}

Keep = Callable[[Mapping[str, Any]], None]


def load(path: Path) -> scenario.Scenario:
    """The scenario of a file; `ConfigError` with every fault."""
    try:
        text = path.read_text("utf-8")
    except OSError as error:
        raise UsageError(f"the scenario `{path}` cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise UsageError(f"the scenario `{path}` is not UTF-8 text") from None
    return scenario.load(text, str(path))


class Keeper:
    """Appends every received request to a JSON lines file, without credentials."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def __call__(self, row: Mapping[str, Any]) -> None:
        with self._path.open("ab") as file:
            file.write(orjson.dumps(row) + b"\n")


class ScriptedModel:
    """The ASGI application. One player per wire, so that a scenario's turns are used once on each."""

    def __init__(self, told: scenario.Scenario, keep: Keep | None = None) -> None:
        self._players = {wire: script.Player(told, tongue) for wire, tongue in script.TONGUES.items()}
        self._keep = keep

    async def __call__(self, scope: asgi.Scope, receive: asgi.Receive, send: asgi.Send) -> None:
        if scope["type"] != "http":
            return
        with contextlib.suppress(asgi.Disconnected):
            await self._answer(scope, receive, send)

    async def _answer(self, scope: asgi.Scope, receive: asgi.Receive, send: asgi.Send) -> None:
        headers = asgi.headers_of(scope)
        wire = _ENDPOINTS.get(scope["path"].rsplit("/", 1)[-1])
        if asgi.wants_upgrade(headers):
            await asgi.respond(send, 426, [_JSON], b'{"error":{"message":"speak plain HTTP"}}')
            return
        if scope["method"] == "GET" and scope["path"].endswith("/models"):
            await asgi.respond(send, 200, [_JSON], b'{"object":"list","data":[],"models":[]}')
            return
        if scope["method"] != "POST" or wire is None:
            await asgi.respond(send, 404, [_JSON], b'{"error":{"message":"the script knows no such path"}}')
            return
        try:
            body = decode(await asgi.read_body(receive, BODY_CAP), headers.get("content-encoding", ""), BODY_CAP)
            value = orjson.loads(body)
            if not isinstance(value, dict):
                raise ProtocolError("the request is not a JSON object")
            reply = self._players[wire].answer(script.Incoming(headers, value, len(body)))
        except (BodyError, ProtocolError, orjson.JSONDecodeError, asgi.TooLarge) as error:
            problem = script.TONGUES[wire].error_body("invalid_prompt", f"scripted model: {error}")
            await asgi.respond(send, 400, [_JSON], problem)
            return
        if self._keep is not None:
            kept = {name: text for name, text in headers.items() if name not in _SECRET_HEADERS}
            self._keep({"path": scope["path"], "headers": kept, "body": value, "turn": reply.turn})
        await _play(reply, send)


async def _play(reply: script.Reply, send: asgi.Send) -> None:
    if reply.delay:
        await asyncio.sleep(reply.delay)
    headers = [(b"content-type", reply.content_type.encode())]
    headers += [(name.lower().encode("latin-1"), text.encode("latin-1")) for name, text in reply.headers.items()]
    await send({"type": "http.response.start", "status": reply.status, "headers": headers})
    for part in reply.parts:
        if part.delay:
            await asyncio.sleep(part.delay)
        await send({"type": "http.response.body", "body": part.data, "more_body": True})
    if not reply.cut:  # else the server breaks the connection, because the body never ended
        await send({"type": "http.response.body", "body": b"", "more_body": False})


@contextlib.asynccontextmanager
async def serving(told: scenario.Scenario, port: int = 0, keep: Keep | None = None) -> AsyncIterator[str]:
    """Serve a scenario; yields the base URL."""
    async with asgi.serving(ScriptedModel(told, keep), asgi.listener(port)) as taken:
        yield f"http://127.0.0.1:{taken}/v1"
