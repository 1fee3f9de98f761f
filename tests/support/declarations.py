"""Recorded declarations of real harnesses: names, argument schemas and kinds, without any prose."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from checkrein.vocab.calls import CallKind

FIXTURES = Path(__file__).resolve().parents[1] / "fixtures"
KINDS = {"function": CallKind.FUNCTION, "custom": CallKind.CUSTOM, "tool_search": CallKind.TOOL_SEARCH}
VERSIONS = {"claude-code": "2.1.332", "opencode": "1.18.33", "gemini-cli": "0.61.0", "dsh": "0.1.0"}


@dataclass(frozen=True)
class Tool:
    name: str
    namespace: str | None = None
    kind: CallKind = CallKind.FUNCTION
    schema: dict[str, Any] = field(default_factory=dict, hash=False)

    @property
    def keys(self) -> frozenset[str]:
        return frozenset(self.schema.get("properties", ()))

    @property
    def spelling(self) -> str:
        return f"{self.namespace}.{self.name}" if self.namespace else self.name


@dataclass(frozen=True)
class Request:
    harness: str
    name: str
    version: str
    model: str
    tools: tuple[Tool, ...]
    nested: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.harness}-{self.version}-{self.name}"


def read(harness: str) -> Any:
    return json.loads((FIXTURES / harness / "declarations.json").read_text(encoding="utf-8"))


@cache
def recorded() -> tuple[Request, ...]:
    """Every recorded request of every harness."""
    found = list(_codex())
    for harness, version in VERSIONS.items():
        for name, request in read(harness).items():
            tools = tuple(Tool(tool["name"], schema=tool["schema"]) for tool in request["tools"])
            found.append(Request(harness, name, version, "gpt-5.5" if "gpt" in name else "a-model", tools))
    return tuple(found)


def _codex() -> Iterator[Request]:
    data = read("codex")
    for version, requests in data["requests"].items():
        for name, request in requests.items():
            tools = tuple(_tools([data["specs"][rank] for rank in request["tools"]]))
            yield Request("codex", name, version, request["model"], tools, tuple(request["nested"]))


def _tools(specs: list[Any], namespace: str | None = None) -> Iterator[Tool]:
    for spec in specs:
        if spec["type"] == "namespace":
            yield from _tools(spec["tools"], spec["name"])
        else:
            kind = KINDS.get(spec["type"], CallKind.HOSTED)
            schema = spec.get("parameters") or {}
            yield Tool(spec.get("name") or spec["type"], namespace, kind, schema)
