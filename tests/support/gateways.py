"""A gateway on loopback between a test and an upstream application, with a judge that refuses by a predicate."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import aiohttp
import orjson
from exchanges import PROFILE, judging, nothing

from checkrein.edges import asgi, scripted
from checkrein.edges.gateway import Gateway, Settings
from checkrein.edges.journal import Journal, Segment, lines_of, verify_segment
from checkrein.edges.upstream import Upstream, checked
from checkrein.profiles.schema import Profile
from checkrein.turns import scenario
from checkrein.turns.exchange import Options
from checkrein.turns.run import Court, Run
from checkrein.vocab.calls import Call, Result
from checkrein.vocab.verdicts import Verdict

TOOL = {"type": "function", "name": "exec_command", "parameters": {"type": "object", "properties": {"cmd": {"type": "string"}}}}
SERVED = replace(PROFILE, paths=("/responses",), passes=("GET /models",))
PREFIX = "/s3cret/v1"

Asker = Callable[..., Awaitable[tuple[int, dict[str, str], bytes]]]


def ask_body(*items: Any, **more: Any) -> dict[str, Any]:
    """A request as a harness would send it."""
    return {"model": "m", "stream": True, "input": list(items), "tools": [TOOL], **more}


def told(*turns: dict[str, Any], **more: Any) -> scenario.Scenario:
    """A scenario of these turns."""
    return scenario.load(json.dumps({"schema": scenario.SCHEMA, "turns": list(turns), **more}), "test.json")


@dataclass
class Bench:
    """What a test sees of the running gateway."""

    url: str
    port: int
    http: aiohttp.ClientSession
    journal: Journal
    path: Path
    stops: list[str] = field(default_factory=list)
    observed: list[Result] = field(default_factory=list)
    kept: list[Any] = field(default_factory=list)

    async def post(self, body: Any = None, path: str = f"{PREFIX}/responses", **more: Any) -> tuple[int, str]:
        data = more.pop("data", None) or orjson.dumps(ask_body() if body is None else body)
        async with self.http.post(f"http://127.0.0.1:{self.port}{path}", data=data, **more) as answer:
            return answer.status, await answer.text()

    def rows(self, kind: str | None = None) -> list[dict[str, Any]]:
        found = [orjson.loads(line) for line in lines_of(self.path)]
        return [row for row in found if kind is None or row["kind"] == kind]


@contextlib.asynccontextmanager
async def gateway(
    directory: Path,
    upstream: asgi.App | scenario.Scenario | str,
    refuse: Callable[[Call], bool] = nothing,
    *,
    profile: Profile = SERVED,
    options: Options | None = None,
    **settings: Any,
) -> AsyncIterator[Bench]:
    """A gateway in front of an application, a scripted model, or a base URL."""
    kept: list[Any] = []
    observed: list[Result] = []
    judge = judging(refuse)

    def judged(call: Call, state: int) -> tuple[Verdict, int]:
        return judge(call), state + 1

    def observe(result: Result, state: int) -> int:
        observed.append(result)
        return state

    async with contextlib.AsyncExitStack() as stack:
        if isinstance(upstream, str):
            base = upstream
        else:
            app = scripted.ScriptedModel(upstream, kept.append) if isinstance(upstream, scenario.Scenario) else upstream
            base = f"http://127.0.0.1:{await stack.enter_async_context(asgi.serving(app, asgi.listener()))}/v1"
        path = directory / "run.jsonl"
        journal = Journal(Segment(path), "run-1", lambda fields: fields)
        stops: list[str] = []
        run = Run(profile, Court(judged, observe, 0), "run-1", options or Options())
        pool = await stack.enter_async_context(Upstream(checked(base)))
        sock = asgi.listener()
        port = sock.getsockname()[1]
        made = Settings(PREFIX, frozenset({f"127.0.0.1:{port}", f"localhost:{port}"}), **settings)
        await stack.enter_async_context(asgi.serving(Gateway(made, run, journal, pool, stops.append), sock))
        http = await stack.enter_async_context(aiohttp.ClientSession(auto_decompress=False))
        try:
            yield Bench(f"http://127.0.0.1:{port}{PREFIX}", port, http, journal, path, stops, observed, kept)
        finally:
            with contextlib.suppress(Exception):
                await journal.close()
    assert verify_segment(path).ok


def events(text: str) -> list[dict[str, Any]]:
    """The JSON events of a stream."""
    lines = [line for line in text.splitlines() if line.startswith("data: ") and line != "data: [DONE]"]
    return [json.loads(line.removeprefix("data: ")) for line in lines]


def served(test: Callable[[], Awaitable[Any]], seconds: float = 30) -> Any:
    """Run an asynchronous test body with a limit."""

    async def limited() -> Any:
        async with asyncio.timeout(seconds):
            return await test()

    return asgi.run(limited())
