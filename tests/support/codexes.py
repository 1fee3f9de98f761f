"""The real Codex for live tests: which binaries are here, and a provider over one of them with the scripted model upstream."""

from __future__ import annotations

import contextlib
import importlib.util
import os
import shutil
import tempfile
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.support.loopback import absent

from checkrein.edges import scripted
from checkrein.edges.codex_provider import CodexProvider, Options
from checkrein.turns import scenario
from checkrein.vocab.messages import Message, Request, Tool
from checkrein.vocab.stream import Assembly, Chunk

ROOT = Path(__file__).resolve().parents[2]
BINARY = "node_modules/@openai/codex-linux-x64/vendor/x86_64-unknown-linux-musl/bin/codex"
NEWEST, OLDEST = "0.171.0", "0.153.3"
FOLDERS = {NEWEST: "codex", OLDEST: "codex-0.153"}
CLASSIC, LITE = "gpt-5.5", "gpt-6.2-sol"

LOOKUP = Tool(
    "lookup",
    "Look up a value.",
    {"type": "object", "properties": {"key": {"type": "string"}}, "required": ["key"], "additionalProperties": False},
)
ADD = Tool(
    "add",
    "Add two numbers.",
    {"type": "object", "properties": {"a": {"type": "number"}, "b": {"type": "number"}}, "required": ["a", "b"]},
)


def binary(version: str) -> str:
    """The binary of a version, or the test is skipped (fails under CI)."""
    if version == NEWEST and os.environ.get("CHECKREIN_CODEX"):
        return os.environ["CHECKREIN_CODEX"]
    path = ROOT / ".tools" / FOLDERS[version] / BINARY
    if path.exists():
        return str(path)
    if version == NEWEST and importlib.util.find_spec("codex_cli_bin"):
        import codex_cli_bin

        wheel = Path(codex_cli_bin.__file__).parent / "bin" / "codex"
        if wheel.exists():
            return str(wheel)
    absent(f"codex {version} is not here; `make harnesses` brings it")
    raise AssertionError


@dataclass
class Stage:
    """A provider over a real Codex and what its model endpoint received."""

    provider: CodexProvider
    home: Path
    received: list[Mapping[str, Any]] = field(default_factory=list)

    @property
    def bodies(self) -> list[dict[str, Any]]:
        return [dict(row["body"]) for row in self.received]

    def inputs(self) -> list[list[dict[str, Any]]]:
        return [body["input"] for body in self.bodies]


def upstream(url: str, **settings: Any) -> list[str]:
    """Arguments that make the scripted model Codex's provider, and keep it quiet about everything else."""
    told: dict[str, Any] = {
        "model_provider": '"scripted"',
        "model_providers.scripted.name": '"Scripted"',
        "model_providers.scripted.base_url": f'"{url}"',
        "model_providers.scripted.env_key": '"SCRIPTED_KEY"',
        "model_providers.scripted.wire_api": '"responses"',
        "model_providers.scripted.requires_openai_auth": "false",
        "model_providers.scripted.request_max_retries": "0",
        "model_providers.scripted.stream_max_retries": "0",
        "check_for_update_on_startup": "false",
        "analytics.enabled": "false",
        **settings,
    }
    return [word for name, value in told.items() for word in ("-c", f"{name}={value}")]


def environment(home: Path) -> dict[str, str]:
    return {
        "PATH": os.environ.get("PATH", ""),
        "HOME": str(home),
        "CODEX_HOME": str(home / "codex"),
        "SCRIPTED_KEY": "not-a-secret",
        "NO_PROXY": "127.0.0.1,localhost",
        "RUST_LOG": "error",
    }


@contextlib.asynccontextmanager
async def stage(
    version: str,
    turns: list[dict[str, Any]],
    *,
    args: tuple[str, ...] = (),
    model: Any = None,
    loop: bool = False,
    settings: Mapping[str, Any] | None = None,
    **options: Any,
) -> AsyncIterator[Stage]:
    """A provider on a fresh home, the scripted model upstream."""
    home = Path(tempfile.mkdtemp(prefix="checkrein-live-"))
    (home / "codex").mkdir()
    received: list[Mapping[str, Any]] = []
    text = scenario.load(_json({"schema": scenario.SCHEMA, "turns": turns, "loop": loop}), "scenario")
    try:
        async with model(received) if model else scripted.serving(text, 0, received.append) as url:
            given = Options(
                binary(version),
                environment(home),
                (*upstream(url, **(settings or {})), *args),
                **{"grace_seconds": 5.0, **options},
            )
            async with CodexProvider(given) as provider:
                yield Stage(provider, home, received)
    finally:
        shutil.rmtree(home, ignore_errors=True)


def _json(value: Any) -> str:
    import orjson

    return orjson.dumps(value).decode()


@dataclass
class Talk:
    """A session of a harness: it keeps the messages and answers nothing by itself."""

    stage: Stage
    session: str = "s1"
    model: str = CLASSIC
    system: str = "SYSTEM TEXT OF THE HARNESS"
    tools: tuple[Tool, ...] = (LOOKUP, ADD)
    messages: list[Message] = field(default_factory=list)
    chunks: list[Chunk] = field(default_factory=list)
    extra: dict[str, Any] = field(default_factory=dict)

    def request(self) -> Request:
        return Request(self.session, self.model, tuple(self.messages), self.system, self.tools, **self.extra)

    async def step(self, *messages: Message) -> Assembly:
        """One step: add these messages, send all, keep the answer."""
        self.messages += messages
        assembly = Assembly()
        async for chunk in self.stage.provider.stream(self.request()):
            self.chunks.append(chunk)
            assembly.feed(chunk)
        assembly.order.close()
        self.messages.append(assembly.message())
        return assembly

    async def say(self, text: str) -> Assembly:
        return await self.step(Message.user(text))
