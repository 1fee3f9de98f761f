"""A request of the Responses wire: what it declares, what came of earlier calls, and what the user said."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from checkrein.vocab.calls import CallKind, Result
from checkrein.wire.codec import ViolationError
from checkrein.wire.request import Declared, Request, index

# Items of the input that carry declarations of their own.
CARRIERS = ("additional_tools", "tool_search_output")


def read_request(body: Mapping[str, Any]) -> Request:
    """The request in words that every wire shares. Raises `ViolationError` where its shape leaves doubt about what it declares."""
    given = body.get("input")
    if given is not None and not isinstance(given, (str, list)):
        raise ViolationError("the `input` of the request is neither a text nor a list")
    inputs = [item for item in given if isinstance(item, dict)] if isinstance(given, list) else []
    declared = list(_tools(body.get("tools"), "/tools", "tools"))
    for place, item in enumerate(given if isinstance(given, list) else []):
        if isinstance(item, dict) and item.get("type") in CARRIERS:
            declared += _tools(item.get("tools"), f"/input/{place}/tools", item["type"])
    users = [given] if isinstance(given, str) else [_text(item.get("content")) for item in inputs if item.get("role") == "user"]
    model = body.get("model")
    return Request(
        model=model if isinstance(model, str) else "",
        stream=body.get("stream") is True,
        declared=tuple(declared),
        results=tuple(_results(inputs)),
        users=tuple(users),
        user_last=isinstance(given, str) or bool(inputs and inputs[-1].get("role") == "user"),
        lookup=index(declared),
    )


def _tools(tools: object, pointer: str, carrier: str, namespace: str | None = None) -> Iterator[Declared]:
    if tools is None:
        return
    if not isinstance(tools, list):
        raise ViolationError(f"the declaration at `{pointer}` is no list")
    for place, tool in enumerate(tools):
        here = f"{pointer}/{place}"
        shape = tool.get("type") if isinstance(tool, dict) else None
        if not isinstance(shape, str):
            raise ViolationError(f"the declaration at `{here}` has no type")
        name = tool.get("name")
        if shape == "namespace":
            if not isinstance(name, str):
                raise ViolationError(f"the namespace at `{here}` has no name")
            yield from _tools(tool.get("tools"), f"{here}/tools", carrier, name)
        elif shape in ("function", "custom"):
            if not isinstance(name, str):
                raise ViolationError(f"the tool at `{here}` has no name")
            yield _own(tool, name, namespace, here, carrier)
        else:
            yield _built_in(tool, shape, here, carrier)


def _own(tool: Mapping[str, Any], name: str, namespace: str | None, pointer: str, carrier: str) -> Declared:
    if tool["type"] == "custom":
        return Declared(name, namespace, CallKind.CUSTOM, frozenset(("input",)), pointer=pointer, carrier=carrier)
    schema = tool.get("parameters")
    schema = schema if isinstance(schema, dict) else {}
    return Declared(name, namespace, CallKind.FUNCTION, _keys(schema), schema, pointer, carrier)


def _built_in(tool: Mapping[str, Any], shape: str, pointer: str, carrier: str) -> Declared:
    """A tool that the wire itself defines. Those that the client runs are calls like any other; the rest is hosted."""
    if shape == "local_shell":
        return Declared(shape, None, CallKind.LOCAL_SHELL, pointer=pointer, carrier=carrier)
    if shape == "tool_search" and tool.get("execution") == "client":
        schema = tool.get("parameters")
        schema = schema if isinstance(schema, dict) else {}
        return Declared(shape, None, CallKind.TOOL_SEARCH, _keys(schema), schema, pointer, carrier)
    settings = {key: value for key, value in tool.items() if key != "type"}
    return Declared(shape, None, CallKind.HOSTED, frozenset(settings), settings, pointer, carrier)


def _keys(schema: Mapping[str, Any]) -> frozenset[str]:
    properties = schema.get("properties")
    return frozenset(properties) if isinstance(properties, dict) else frozenset()


def _results(inputs: Sequence[Mapping[str, Any]]) -> Iterator[Result]:
    """Outputs of earlier calls; `name` is that of the call where the request shows it."""
    names: dict[str, str] = {}
    for item in inputs:
        shape, call_id = item.get("type"), item.get("call_id")
        if not isinstance(shape, str) or not isinstance(call_id, str):
            continue
        if shape.endswith("_output"):
            name = item.get("name")
            yield Result(call_id, _text(item.get("output")), name if isinstance(name, str) else names.get(call_id))
        elif isinstance(item.get("name"), str):
            names[call_id] = item["name"]


def _text(content: object) -> str:
    """The plain text of a content: a text, or a list of parts of which some have text."""
    if isinstance(content, str):
        return content
    if isinstance(content, dict):
        content = content.get("content") or [content]
        return _text(content) if isinstance(content, (str, list)) else ""
    if not isinstance(content, list):
        return ""
    return "\n".join(part["text"] for part in content if isinstance(part, dict) and isinstance(part.get("text"), str))
