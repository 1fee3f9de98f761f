"""The durable replay state of one assistant step, and every version of it that was ever released.

A state is only used when it is whole (digest), ours (provider), of a known version, and still says what the message says; else
the step is rebuilt from the logged message, and a diagnostic says why. Adding a version: raise `CURRENT`, describe it in
`VERSIONS`, give the old one a step in `MIGRATIONS`, and freeze a fixture of the old one under `tests/fixtures/replay/`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from checkrein.replay.classify import paired
from checkrein.replay.items import COMPACTIONS, Item, canonical, kind_of
from checkrein.vocab.calls import NOTHING
from checkrein.vocab.messages import Block, Message, Text, ToolCall

KIND = "codex-app-server"
CURRENT = 1
VERSIONS: Mapping[int, str] = {
    1: "items, contextItems, aliases, provider, protocol; bound to the visible content by a digest",
}
MIGRATIONS: Mapping[int, Callable[[dict[str, Any]], dict[str, Any]]] = {}
assert set(VERSIONS) == set(range(1, CURRENT + 1)), "every version has its line"
assert set(MIGRATIONS) == set(range(1, CURRENT)), "every older version has its step"


@dataclass(frozen=True, slots=True)
class State:
    """What one step adds to the provider's input. `aliases`: our ids of inputs of this step -> the ids that Codex gave them."""

    items: tuple[Item, ...]
    context: tuple[Item, ...] = ()
    aliases: Mapping[str, str] = field(default_factory=lambda: NOTHING)
    provider: str = ""
    protocol: str = ""


def content_digest(content: Sequence[Block]) -> str:
    """Over what the message visibly says and asks: its text and its calls. Reports and reasoning may be trimmed from a log."""
    said = [
        ["text", block.text] if isinstance(block, Text) else ["call", block.id, block.name, block.arguments]
        for block in content
        if isinstance(block, (Text, ToolCall))
    ]
    return hashlib.sha256(canonical(said)).hexdigest()


def encode(state: State, content: Sequence[Block]) -> dict[str, Any]:
    """The state as JSON, for the finish chunk and the log."""
    body: dict[str, Any] = {
        "kind": KIND,
        "version": CURRENT,
        "provider": state.provider,
        "protocol": state.protocol,
        "items": [dict(item) for item in state.items],
        "contextItems": [dict(item) for item in state.context],
        "aliases": dict(state.aliases),
        "content": content_digest(content),
    }
    return {**body, "digest": _digest(body)}


def decode(message: Message, provider: str) -> State | str:
    """The state of an assistant message, or why it is not to be used."""
    body = message.replay
    if body is None:
        return "the message has no replay state"
    if body.get("kind") != KIND:
        return f"the replay state is of the kind `{body.get('kind')}`"
    version = body.get("version")
    if isinstance(version, bool) or not isinstance(version, int) or version not in VERSIONS:
        return f"the replay state has the unknown version `{version}`"
    digest = _digest({key: value for key, value in body.items() if key != "digest"})
    if digest is None or body.get("digest") != digest:
        return "the replay state fails its digest"
    current = dict(body)
    for step in range(version, CURRENT):
        current = MIGRATIONS[step](current)
    if current.get("provider") != provider:
        return f"the replay state is of the provider `{current.get('provider')}`"
    if current.get("content") != content_digest(message.content):
        return "the message no longer says what its replay state says"
    items = _items(current.get("items"))
    context = _items(current.get("contextItems"))
    aliases = current.get("aliases")
    if items is None or context is None or not isinstance(aliases, dict):
        return "the replay state has fields of a wrong type"
    kept = tuple(paired([item for item in items if kind_of(item) not in COMPACTIONS]))
    if _texts(message) > sum(kind_of(item) == "message" for item in kept):
        return "the replay state lacks the text of its message"
    return State(kept, context, aliases, provider, str(current.get("protocol")))


def _texts(message: Message) -> int:
    return sum(isinstance(block, Text) and bool(block.text.strip()) for block in message.content)


def _items(value: Any) -> tuple[Item, ...] | None:
    if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
        return None
    return tuple(value)


def _digest(body: Mapping[str, Any]) -> str | None:
    """None when the body is no JSON at all."""
    try:
        return hashlib.sha256(canonical(dict(body))).hexdigest()
    except (TypeError, ValueError):
        return None
