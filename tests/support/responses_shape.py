"""A strict reader of Responses streams: what a careful client may rely on, asserted."""

from __future__ import annotations

from typing import Any

import orjson

from checkrein.wire.codec import MARK
from checkrein.wire.sse import Decoder

ENDS = {"response.completed", "response.incomplete", "response.failed"}


def events(data: bytes, *, keep_alives: bool = False) -> list[dict[str, Any]]:
    decoder = Decoder()
    frames = [*decoder.feed(data), *decoder.end()]
    return [
        orjson.loads(frame.data)
        for frame in frames
        if frame.data not in (None, b"[DONE]") and (keep_alives or not frame.raw.startswith(MARK))
    ]


def check(data: bytes) -> list[dict[str, Any]]:
    """The finished output items of a well-formed stream; asserts everything else."""
    found = events(data)
    kinds = [event["type"] for event in found]
    assert kinds.count("response.created") == 1
    assert kinds[0] == "response.created"
    assert sum(kind in ENDS for kind in kinds) == 1
    assert kinds[-1] in ENDS
    numbers = [event.get("sequence_number") for event in found]
    if numbers[0] is not None:
        assert numbers == list(range(numbers[0], numbers[0] + len(numbers))), "sequence numbers are continuous"
    assert len({event["response"]["id"] for event in found if "response" in event}) == 1
    items = _items(found)
    last = found[-1]["response"]
    done = [items[index] for index in sorted(items)]
    if last["status"] == "completed":
        assert not last.get("output") or last["output"] == done, "the list of output is what was streamed"
        for item, follower in zip(done, [*done[1:], None], strict=True):
            assert item["type"] != "reasoning" or follower is not None, "a reasoning item has a follower"
    call_ids = [item["call_id"] for item in done if "call_id" in item]
    assert len(call_ids) == len(set(call_ids))
    return done


def _items(found: list[dict[str, Any]]) -> dict[int, dict[str, Any]]:
    opened: dict[int, dict[str, Any]] = {}
    done: dict[int, dict[str, Any]] = {}
    texts: dict[tuple[int, str], str] = {}
    for event in found:
        index = event.get("output_index")
        if index is None:
            continue
        kind = event["type"]
        if kind == "response.output_item.added":
            assert index not in opened, "an output index is used once"
            assert event["item"]["id"] not in {item["id"] for item in opened.values()}
            opened[index] = event["item"]
        elif kind == "response.output_item.done":
            assert index not in done
            assert opened.get(index, event["item"])["id"] == event["item"]["id"]
            done[index] = event["item"]
            _check_texts(index, event["item"], texts)
        else:
            assert index in opened, f"`{kind}` comes after its item was opened"
            assert index not in done, f"`{kind}` comes before its item is finished"
            assert event["item_id"] == opened[index]["id"]
            if kind.endswith(".delta"):
                key = (index, kind.removesuffix(".delta"))
                texts[key] = texts.get(key, "") + event["delta"]
            elif kind.endswith(".done") and (index, kind.removesuffix(".done")) in texts:
                whole = event.get("text", event.get("arguments", event.get("input")))
                assert texts[index, kind.removesuffix(".done")] == whole
    return done


def _check_texts(index: int, item: dict[str, Any], texts: dict[tuple[int, str], str]) -> None:
    streamed = {kind: text for (place, kind), text in texts.items() if place == index}
    if item["type"] == "message" and "response.output_text" in streamed:
        assert streamed["response.output_text"] == "".join(part["text"] for part in item["content"])
    if item["type"] == "function_call" and "response.function_call_arguments" in streamed:
        assert streamed["response.function_call_arguments"] == item["arguments"]
