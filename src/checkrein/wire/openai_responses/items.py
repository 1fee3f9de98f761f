"""Output items of the Responses wire: how a call is spelled, and when two copies of one agree."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

import orjson

from checkrein.vocab.calls import NOTHING, Call, CallKind
from checkrein.wire.arguments import Arguments, parse_arguments, parse_value

# The field that carries what a call would do, by item type.
PAYLOAD: Mapping[str, str] = {
    "function_call": "arguments",
    "custom_tool_call": "input",
    "local_shell_call": "action",
    "tool_search_call": "arguments",
}

KINDS: Mapping[str, CallKind] = {
    "function_call": CallKind.FUNCTION,
    "custom_tool_call": CallKind.CUSTOM,
    "local_shell_call": CallKind.LOCAL_SHELL,
    "tool_search_call": CallKind.TOOL_SEARCH,
}

# Calls that carry no name of their own are named as their tool is declared.
NAMES: Mapping[str, str] = {"local_shell_call": "local_shell", "tool_search_call": "tool_search"}

# What must be equal in every copy of a call. `status` moves on and says nothing of what would run.
ESSENCE = (
    "id",
    "call_id",
    "name",
    "namespace",
    "arguments",
    "input",
    "action",
    "execution",
    "operation",
    "environment",
    "code",
    "server_label",
)
_PARTIAL = frozenset(("arguments", "input", "action", "code", "operation"))  # may be empty in a first copy


def read_call(item: Mapping[str, Any]) -> Call:
    """The call that a finished item proposes. What cannot be read is its `fault`; an unknown type is of kind UNKNOWN."""
    shape = item["type"]
    kind = KINDS.get(shape, CallKind.UNKNOWN)
    if kind is CallKind.UNKNOWN:
        args: Mapping[str, Any] = {key: item[key] for key in item if key not in _FRAME}
        fault, text = None, orjson.dumps(args).decode()
        name: object = shape
    else:
        (args, fault), text = _payload(shape, item.get(PAYLOAD[shape]))
        name = NAMES.get(shape) or item.get("name")
    namespace, call_id = item.get("namespace"), item.get("call_id")
    if item.get("status") == "incomplete":
        fault = "it is marked `incomplete`"
    if not isinstance(call_id, str) or not call_id:
        call_id, fault = "", "it has no call id"
    if namespace is not None and not isinstance(namespace, str):
        namespace, fault = None, "its namespace is not a text"
    if not isinstance(name, str) or not name:
        name, fault = "", "it has no name"
    return Call(
        name=name,
        id=call_id,
        namespace=namespace,
        kind=kind,
        args=NOTHING if fault else args,
        text=text,
        fault=fault,
    )


_FRAME = frozenset(("type", "id", "call_id", "status"))


def _payload(shape: str, value: object) -> tuple[Arguments, str]:
    if shape == "custom_tool_call":
        if isinstance(value, str):
            return Arguments({"input": value}, None), value
        return Arguments(NOTHING, "its input is not a text"), ""
    if isinstance(value, str):
        return parse_arguments(value), value
    if shape == "function_call":
        return parse_arguments(value), ""
    return parse_value(value), orjson.dumps(value).decode() if value is not None else ""


def partial_call(shape: str | None, item: Mapping[str, Any]) -> Call:
    """A call of which not everything has come: name and id as far as known."""
    name, namespace, call_id = NAMES.get(shape or "") or item.get("name"), item.get("namespace"), item.get("call_id")
    return Call(
        name=name if isinstance(name, str) else shape or "",
        id=call_id if isinstance(call_id, str) else "",
        namespace=namespace if isinstance(namespace, str) else None,
        kind=KINDS.get(shape or "", CallKind.UNKNOWN),
        fault="it was never complete",
    )


def disagreement(copy: Mapping[str, Any], final: Mapping[str, Any], *, first: bool) -> str | None:
    """The first field in which a copy differs from the finished item, or None.

    A field that a copy leaves out is no statement. A `first` copy may also have an empty payload, for the rest is to come.
    """
    if copy.get("type") != final.get("type"):
        return "type"
    for key in ESSENCE:
        mine = copy.get(key)
        if mine is None or (first and key in _PARTIAL and mine in ("", {})):
            continue
        theirs = final.get(key)
        if mine is not theirs and not _same(mine, theirs):
            return key
    return None


def _same(mine: Any, theirs: Any) -> bool:
    if isinstance(mine, str) or isinstance(theirs, str):
        return bool(mine == theirs)
    # Python takes 1, 1.0 and True for equal, and a harness need not.
    return orjson.dumps(mine, option=orjson.OPT_SORT_KEYS) == orjson.dumps(theirs, option=orjson.OPT_SORT_KEYS)


def message_id(response: str, slot: int, call: Call) -> str:
    """The id of the message in place of a call: of the provider's shape, unique in the answer, the same on every run."""
    seed = orjson.dumps([response, slot, call.id, call.name, call.text])
    return "msg_" + hashlib.sha256(seed).hexdigest()[:48]


def message(identity: str, text: str, status: str = "completed") -> dict[str, Any]:
    """An assistant message item with one `output_text` part; without the part while it is in progress."""
    return {
        "id": identity,
        "type": "message",
        "status": status,
        "role": "assistant",
        "content": [part(text)] if status == "completed" else [],
    }


def part(text: str) -> dict[str, Any]:
    """One text part."""
    return {"type": "output_text", "text": text, "annotations": []}
