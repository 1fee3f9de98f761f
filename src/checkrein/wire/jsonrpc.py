"""JSON-RPC messages, one per line or body. Tolerant of what peers leave out (`"jsonrpc"`), strict about what a message is.

A message with `method` and `id` is a request, with `method` alone a notification, with `id` alone a reply. Everything else is
a `ProtocolError`: it can be matched with nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import orjson

from checkrein.vocab.errors import ProtocolError

RpcId = int | str

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603


@dataclass(frozen=True, slots=True)
class RpcRequest:
    id: RpcId
    method: str
    params: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class RpcNotification:
    method: str
    params: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class RpcFault:
    """The error object of a failed request."""

    code: int
    message: str
    data: Any = None


@dataclass(frozen=True, slots=True)
class RpcReply:
    """Exactly one of `result` and `fault` is meant; `fault` is None for a success."""

    id: RpcId
    result: Any = None
    fault: RpcFault | None = None


RpcMessage = RpcRequest | RpcNotification | RpcReply


def parse(line: bytes) -> RpcMessage:
    """One message. Raises `ProtocolError` when the bytes are no message."""
    try:
        value = orjson.loads(line)
    except orjson.JSONDecodeError as error:
        raise ProtocolError(f"a line is no JSON: {error}") from error
    return read(value)


def read(value: Any) -> RpcMessage:
    """The message that a decoded value is."""
    if not isinstance(value, dict):
        raise ProtocolError("a JSON-RPC message is no object")
    ident, method = value.get("id"), value.get("method")
    if ident is not None and (isinstance(ident, bool) or not isinstance(ident, (int, str))):
        raise ProtocolError("a JSON-RPC id is neither an integer nor a string")
    if method is not None:
        params = value.get("params") or {}
        if not isinstance(method, str) or not isinstance(params, dict):
            raise ProtocolError("a JSON-RPC message has a method or params of a wrong type")
        return RpcNotification(method, params) if ident is None else RpcRequest(ident, method, params)
    if ident is None:
        raise ProtocolError("a JSON-RPC message has neither a method nor an id")
    fault = value.get("error")
    if fault is None:
        if "result" not in value:
            raise ProtocolError(f"the JSON-RPC reply `{ident}` has neither a result nor an error")
        return RpcReply(ident, value["result"])
    if not isinstance(fault, dict):
        fault = {"message": str(fault)}
    code = fault.get("code")
    return RpcReply(
        ident,
        fault=RpcFault(code if isinstance(code, int) else INTERNAL_ERROR, str(fault.get("message", "")), fault.get("data")),
    )


def request(ident: RpcId, method: str, params: Mapping[str, Any] | None = None, *, version: str | None = None) -> bytes:
    return _line({"id": ident, "method": method, **({} if params is None else {"params": params})}, version)


def notification(method: str, params: Mapping[str, Any] | None = None, *, version: str | None = None) -> bytes:
    return _line({"method": method, **({} if params is None else {"params": params})}, version)


def reply(ident: RpcId, result: Any, *, version: str | None = None) -> bytes:
    return _line({"id": ident, "result": result}, version)


def fault(ident: RpcId | None, code: int, message: str, data: Any = None, *, version: str | None = None) -> bytes:
    error = {"code": code, "message": message, **({} if data is None else {"data": data})}
    return _line({"id": ident, "error": error}, version)


def _line(message: dict[str, Any], version: str | None) -> bytes:
    if version is not None:
        message = {"jsonrpc": version, **message}
    return orjson.dumps(message, option=orjson.OPT_APPEND_NEWLINE)
