"""The scripted model on the OpenAI Responses wire."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import orjson

from checkrein.turns.scenario import FaultKind, Spoken
from checkrein.wire.openai_responses import CODEC
from checkrein.wire.request import Request, at

if TYPE_CHECKING:
    from checkrein.turns.script import Incoming, Saying

_PIECE = 24  # characters of one delta
_DEEPEST = 6


class ResponsesTongue:
    """`script.Tongue` of this wire."""

    def request(self, body: Mapping[str, Any]) -> Request:
        return CODEC.request(body)

    def auxiliary(self, incoming: Incoming, request: Request) -> str | None:
        wanted = at(incoming.body, "/text/format")
        if isinstance(wanted, dict) and wanted.get("type") == "json_schema":
            return orjson.dumps(_instance(wanted.get("schema"))).decode()
        return None if request.declared else "scripted"

    def frames(self, saying: Saying) -> list[bytes]:
        return [_frame({**event, "sequence_number": number}) for number, event in enumerate(_events(saying))]

    def whole(self, saying: Saying) -> bytes:
        last = list(_events(saying))[-1]
        return orjson.dumps(last["response"])

    def error_frame(self, code: str, message: str) -> bytes:
        return _frame({"type": "error", "code": code, "message": message, "param": None})

    def error_body(self, code: str, message: str) -> bytes:
        return CODEC.error(code, message)


def _frame(event: Mapping[str, Any]) -> bytes:
    return b"event: %s\ndata: %s\n\n" % (str(event["type"]).encode(), orjson.dumps(event))


def _events(saying: Saying) -> Iterator[dict[str, Any]]:
    name = f"resp_{saying.number:04d}"
    base = {"id": name, "object": "response", "created_at": 0, "model": saying.model}
    yield {"type": "response.created", "response": {**base, "status": "in_progress", "output": []}}
    yield {"type": "response.in_progress", "response": {**base, "status": "in_progress", "output": []}}
    output: list[Any] = []
    if saying.reasoning:
        yield from _reasoning(saying, len(output), output)
    if saying.text:
        yield from _message(saying, len(output), output)
    for call in saying.calls:
        yield from _call(call, len(output), output)
    yield _last(saying, base, output)


def _last(saying: Saying, base: Mapping[str, Any], output: list[Any]) -> dict[str, Any]:
    got, said = saying.usage.get("input", 0), saying.usage.get("output", 0)
    usage = {
        "input_tokens": got,
        "input_tokens_details": {"cached_tokens": saying.usage.get("cached", 0)},
        "output_tokens": said,
        "output_tokens_details": {"reasoning_tokens": saying.usage.get("reasoning", 0)},
        "total_tokens": got + said,
    }
    response = {**base, "status": "completed", "output": output, "usage": usage}
    if saying.ending is None:
        return {"type": "response.completed", "response": response}
    if saying.ending.kind is FaultKind.INCOMPLETE:
        detail = {"status": "incomplete", "incomplete_details": {"reason": saying.ending.code}}
        return {"type": "response.incomplete", "response": {**response, **detail}}
    error = {"code": saying.ending.code, "message": saying.ending.message}
    return {"type": "response.failed", "response": {**response, "status": "failed", "error": error}}


def _pieces(text: str) -> Iterator[str]:
    return (text[start : start + _PIECE] for start in range(0, len(text), _PIECE))


def _reasoning(saying: Saying, index: int, output: list[Any]) -> Iterator[dict[str, Any]]:
    name = f"rs_{saying.number:04d}"
    place = {"item_id": name, "output_index": index, "summary_index": 0}
    part = {"type": "summary_text", "text": saying.reasoning}
    bare = {"type": "reasoning", "id": name, "summary": []}
    yield {"type": "response.output_item.added", "output_index": index, "item": bare}
    yield {"type": "response.reasoning_summary_part.added", **place, "part": {**part, "text": ""}}
    for piece in _pieces(saying.reasoning):
        yield {"type": "response.reasoning_summary_text.delta", **place, "delta": piece}
    yield {"type": "response.reasoning_summary_text.done", **place, "text": saying.reasoning}
    yield {"type": "response.reasoning_summary_part.done", **place, "part": part}
    item = {**bare, "summary": [part], "encrypted_content": "c2NyaXB0ZWQ="}
    yield from _done(item, index, output)


def _message(saying: Saying, index: int, output: list[Any]) -> Iterator[dict[str, Any]]:
    name = f"msg_{saying.number:04d}"
    place = {"item_id": name, "output_index": index, "content_index": 0}
    part = {"type": "output_text", "text": saying.text, "annotations": []}
    bare = {"type": "message", "id": name, "role": "assistant", "status": "in_progress", "content": []}
    yield {"type": "response.output_item.added", "output_index": index, "item": bare}
    yield {"type": "response.content_part.added", **place, "part": {**part, "text": ""}}
    for piece in _pieces(saying.text):
        yield {"type": "response.output_text.delta", **place, "delta": piece}
    yield {"type": "response.output_text.done", **place, "text": saying.text}
    yield {"type": "response.content_part.done", **place, "part": part}
    yield from _done({**bare, "status": "completed", "content": [part]}, index, output)


def _call(call: Spoken, index: int, output: list[Any]) -> Iterator[dict[str, Any]]:
    if isinstance(call.raw, list):
        for event in call.raw:
            if event.get("type") == "response.output_item.done":
                output.append(event.get("item"))
            yield dict(event)
        return
    if call.raw is not None:
        yield {"type": "response.output_item.added", "output_index": index, "item": {**call.raw, "status": "in_progress"}}
        yield from _done(dict(call.raw), index, output)
        return
    custom = call.kind == "custom"
    key, kind = ("input", "custom_tool_call") if custom else ("arguments", "function_call")
    text = _argument_text(call)
    stream = "response.custom_tool_call_input" if custom else "response.function_call_arguments"
    item = {"type": kind, "id": f"{'ctc' if custom else 'fc'}_{call.id}", "call_id": call.id, "name": call.name, key: text}
    if call.namespace is not None:
        item["namespace"] = call.namespace
    place = {"item_id": item["id"], "output_index": index}
    added = {**item, key: "", "status": "in_progress"}
    yield {"type": "response.output_item.added", "output_index": index, "item": added}
    for piece in _pieces(text):
        yield {"type": f"{stream}.delta", **place, "delta": piece}
    yield {"type": f"{stream}.done", **place, key: text}
    yield from _done({**item, "status": "completed"}, index, output)


def _argument_text(call: Spoken) -> str:
    if call.text is not None:
        return call.text
    if call.kind == "custom":
        return call.input or ""
    return orjson.dumps(call.args if call.args is not None else {}).decode()


def _done(item: dict[str, Any], index: int, output: list[Any]) -> Iterator[dict[str, Any]]:
    output.append(item)
    yield {"type": "response.output_item.done", "output_index": index, "item": item}


def _instance(schema: Any, depth: int = 0) -> Any:
    """A small value that fits a schema, for answers that must be JSON."""
    if not isinstance(schema, dict) or depth > _DEEPEST:
        return None
    if schema.get("enum"):
        return schema["enum"][0]
    if "const" in schema:
        return schema["const"]
    kind = schema.get("type")
    kind = next((one for one in kind if one != "null"), "null") if isinstance(kind, list) else kind
    if kind == "object" or "properties" in schema:
        return {name: _instance(inner, depth + 1) for name, inner in (schema.get("properties") or {}).items()}
    plain: dict[str, Any] = {"string": "scripted", "integer": 0, "number": 0, "boolean": False, "array": [], "null": None}
    return plain.get(str(kind))
