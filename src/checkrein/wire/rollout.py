"""Codex rollouts: the harness's own transcript, one JSON object per line (Codex CLI 0.153 to 0.171).

A line is `{timestamp, ordinal, type, payload}`. `response_item` payloads are the wire items as Codex kept them, after any
change on the way; `event_msg` payloads with `item_completed` are what Codex did. A direct call's item has the id of the call;
a call nested in a Code Mode script has an id of its own, `exec-<uuid>`, and no link to the script.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import orjson

CALLS = frozenset({"function_call", "custom_tool_call", "local_shell_call", "tool_search_call"})
OUTPUTS = frozenset({"function_call_output", "custom_tool_call_output", "local_shell_call_output", "tool_search_output"})
ACTS = frozenset({"CommandExecution", "FileChange", "McpToolCall"})
NESTED = "exec-"


class EntryKind(StrEnum):
    META = "meta"
    TURN = "turn"  # a turn began
    REPLY = "reply"  # one answer of the model was counted
    CALL = "call"  # a call stands in the history
    OUTPUT = "output"  # its result stands there
    ACT = "act"  # something was done


@dataclass(frozen=True, slots=True)
class Entry:
    """One line that matters. `id` is the call id of a call or output, the item id of an act, the turn id of a turn, the
    response id of a reply, the thread id of a meta line. `item` is the original payload or item.
    """

    kind: EntryKind
    id: str
    line: int
    turn: str
    item: Mapping[str, Any]

    @property
    def nested(self) -> bool:
        """An act of a script's nested call, which no answer showed."""
        return self.kind is EntryKind.ACT and self.id.startswith(NESTED)


@dataclass(frozen=True, slots=True)
class Rollout:
    """One transcript. `faults` are lines that could not be read, as `line N: sentence`; a torn last line is one of them."""

    entries: tuple[Entry, ...]
    faults: tuple[str, ...] = ()

    def of(self, kind: EntryKind) -> Iterable[Entry]:
        return (entry for entry in self.entries if entry.kind is kind)


def read(lines: Iterable[bytes]) -> Rollout:
    """The entries of a rollout's lines. Never raises: what cannot be read is a fault."""
    entries, faults = [], []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            row = orjson.loads(line)
        except orjson.JSONDecodeError:
            faults.append(f"line {number}: not a JSON object")
            continue
        payload = row.get("payload") if isinstance(row, dict) else None
        if not isinstance(payload, dict):
            faults.append(f"line {number}: no payload")
            continue
        entry = _entry(str(row.get("type")), payload, number)
        if entry is not None:
            entries.append(entry)
    return Rollout(tuple(entries), tuple(faults))


def _entry(kind: str, payload: Mapping[str, Any], line: int) -> Entry | None:
    """The entry of one row, or None where it tells nothing about calls."""
    inner = str(payload.get("type"))
    if kind == "session_meta":
        return Entry(EntryKind.META, _text(payload, "id"), line, "", payload)
    if kind == "token_usage_record":
        return Entry(EntryKind.REPLY, _text(payload, "response_id"), line, _text(payload, "turn_id"), payload)
    if kind == "response_item":
        passthrough = payload.get("internal_chat_message_metadata_passthrough")
        turn = _text(passthrough, "turn_id") if isinstance(passthrough, dict) else ""
        if inner in CALLS:
            return Entry(EntryKind.CALL, _text(payload, "call_id"), line, turn, payload)
        if inner in OUTPUTS and payload.get("call_id"):
            return Entry(EntryKind.OUTPUT, _text(payload, "call_id"), line, turn, payload)
        return None
    if kind == "event_msg" and inner == "task_started":
        return Entry(EntryKind.TURN, _text(payload, "turn_id"), line, _text(payload, "turn_id"), payload)
    if kind == "event_msg" and inner == "item_completed":
        item = payload.get("item")
        if isinstance(item, dict) and item.get("type") in ACTS:
            return Entry(EntryKind.ACT, _text(item, "id"), line, _text(payload, "turn_id"), item)
    return None


def _text(value: Mapping[str, Any], key: str) -> str:
    found = value.get(key)
    return found if isinstance(found, str) else ""
