"""The OpenAI Responses wire: requests, items, the event stream, and the way back out."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import orjson

from checkrein.wire import splice
from checkrein.wire.codec import Codec, Reader, ViolationError, Writer
from checkrein.wire.openai_responses.render import StreamWriter
from checkrein.wire.openai_responses.request import read_request
from checkrein.wire.openai_responses.stream import StreamReader
from checkrein.wire.request import Request


class ResponsesCodec:
    """`codec.Codec` of this wire."""

    def request(self, body: Mapping[str, Any]) -> Request:
        return read_request(body)

    def strip(self, body: bytes, pointers: Collection[str]) -> bytes:
        try:
            return splice.cut(body, pointers)
        except ValueError as error:
            raise ViolationError(f"a refused declaration could not be taken out: {error}") from error

    def reader(self, passive: Collection[str], request: Request) -> Reader:
        return StreamReader(passive, request)

    def writer(self, reader: Any) -> Writer:
        return StreamWriter(reader)

    def error(self, code: str, message: str) -> bytes:
        return orjson.dumps({"error": {"message": message, "type": "invalid_request_error", "param": None, "code": code}})


CODEC: Codec = ResponsesCodec()
