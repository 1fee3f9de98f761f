"""Items of the model's input: their comparable form, their identity, and the stable ids that we give to our own.

INVARIANT: nothing here looks into a payload. `null` and absent are one only for the protocol's own fields (an item's and a
content part's); inside arguments, actions or structured outputs they differ.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

import orjson

Item = Mapping[str, Any]
Identity = tuple[str, str]

# Provenance that the server adds to raw items. It never reaches the model, so it takes part in nothing here.
PASSTHROUGH = "internal_chat_message_metadata_passthrough"

# A call and the type of its output.
OUTPUT_OF: Mapping[str, str] = {
    "function_call": "function_call_output",
    "custom_tool_call": "custom_tool_call_output",
    "local_shell_call": "function_call_output",
    "tool_search_call": "tool_search_output",
}
OUTPUTS = frozenset(OUTPUT_OF.values())
CODE_MODE = frozenset({"custom_tool_call", "custom_tool_call_output"})
COMPACTIONS = frozenset({"compaction", "compaction_trigger", "compaction_summary", "context_compaction"})

# The id prefixes that the server keeps as they are given, all the way to the model.
PREFIXES: Mapping[str, str] = {
    "message": "msg",
    "reasoning": "rs",
    "function_call": "fc",
    "function_call_output": "fco",
    "custom_tool_call": "ctc",
    "custom_tool_call_output": "ctco",
    "local_shell_call": "lsh",
    "tool_search_call": "tsc",
    "tool_search_output": "tso",
    "web_search_call": "ws",
}

# Fields whose parts are protocol objects and no payload.
PARTS = frozenset({"content", "summary"})


def kind_of(item: Item) -> str:
    kind = item.get("type")
    return kind if isinstance(kind, str) else ""


def text_field(item: Item, name: str) -> str:
    value = item.get(name)
    return value if isinstance(value, str) else ""


def stripped(item: Item) -> dict[str, Any]:
    """The item as it may be kept and sent again: everything but the server's provenance."""
    return {key: value for key, value in item.items() if key != PASSTHROUGH}


def bare(item: Item) -> dict[str, Any]:
    """The comparable form."""
    return {
        key: [_bare_part(part) for part in value] if key in PARTS and isinstance(value, list) else value
        for key, value in item.items()
        if value is not None and key != PASSTHROUGH
    }


def _bare_part(part: Any) -> Any:
    if not isinstance(part, dict):
        return part
    return {name: field for name, field in part.items() if field is not None}


def same(one: Item, other: Item) -> bool:
    return bare(one) == bare(other)


def identity(item: Item) -> Identity | None:
    """What makes two forms one item: the call id for calls and outputs, else the item id. None: it is only itself."""
    kind = kind_of(item)
    call = text_field(item, "call_id")
    if call and kind in OUTPUT_OF:
        return ("call", call)
    if call and (kind in OUTPUTS or kind.endswith("_output")):
        return ("output", call)
    ident = text_field(item, "id")
    return (f"id of a {kind}", ident) if ident else None


def canonical(value: Any) -> bytes:
    """The bytes that digests are taken over: keys sorted, no blanks."""
    return orjson.dumps(value, option=orjson.OPT_SORT_KEYS)


def own_id(kind: str, *parts: Any) -> str:
    """An id of ours for an item of this type: the same parts give the same id in every thread and process."""
    digest = hashlib.sha256(canonical(["checkrein", kind, *parts])).hexdigest()
    return f"{PREFIXES[kind]}_{digest[:32]}"


def with_ids(items: Sequence[Item]) -> list[dict[str, Any]]:
    """The items with an id of ours wherever one is missing and possible. Equal items get different ids, by their count."""
    counts: dict[bytes, int] = {}
    named = []
    for item in items:
        kind = kind_of(item)
        if text_field(item, "id") or kind not in PREFIXES:
            named.append(dict(item))
            continue
        form = {key: value for key, value in bare(item).items() if key != "id"}
        key = canonical(form)
        counts[key] = counts.get(key, 0) + 1
        named.append({**item, "id": own_id(kind, form, counts[key])})
    return named
