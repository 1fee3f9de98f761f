from __future__ import annotations

from typing import Any

import orjson
import pytest

from checkrein.vocab.calls import Call
from checkrein.wire.codec import MARK, Step
from checkrein.wire.openai_responses.render import StreamWriter
from checkrein.wire.openai_responses.stream import StreamReader
from checkrein.wire.request import Request
from checkrein.wire.sse import Decoder, Frame

ITEM = {"type": "function_call", "id": "fc_1", "call_id": "c1", "name": "x", "arguments": "{}"}


def frame(raw: bytes) -> tuple[Frame, Any]:
    (found,) = Decoder().feed(raw)
    return found, orjson.loads(found.data or b"null")


def refused(number: int | None = 4) -> tuple[StreamWriter, list[Any]]:
    """A writer that has replaced one call which came as one event."""
    reader = StreamReader(("message",), Request())
    event: dict[str, Any] = {"type": "response.output_item.done", "output_index": 2, "item": ITEM}
    if number is not None:
        event["sequence_number"] = number
    step = reader.read(event)
    assert step is not None
    writer = StreamWriter(reader)
    assert writer.untouched
    writer.refuse(0, Call("x", "c1"), "no")
    assert not writer.untouched
    out = writer.replace(Frame(b"", b""), event, 0)
    return writer, [orjson.loads(f.data or b"") for f in Decoder().feed(out)]


def test_a_message_stands_in_the_place_of_a_call() -> None:
    _, events = refused()
    assert [event["sequence_number"] for event in events] == [4, 5, 6, 7, 8, 9]
    assert {event["output_index"] for event in events} == {2}
    assert len({event.get("item_id") or event["item"]["id"] for event in events}) == 1
    assert events[-1]["item"]["content"] == [{"type": "output_text", "text": "no", "annotations": []}]
    _, events = refused(None)
    assert all("sequence_number" not in event for event in events)


@pytest.mark.parametrize(
    ("raw", "want"),
    [
        (b'data: {"type":"a","sequence_number":5,"x":1.50}\n\n', b'data: {"type":"a","sequence_number":10,"x":1.50}\n\n'),
        (b'event: a\r\ndata: {"sequence_number" : 5 }\r\n\r\n', b'event: a\r\ndata: {"sequence_number" : 10 }\r\n\r\n'),
        (b'data: {"type":"a"}\n\n', b'data: {"type":"a"}\n\n'),
        (b": hello\n\n", b": hello\n\n"),
        (b"data: [DONE]\n\n", b"data: [DONE]\n\n"),
    ],
)
def test_only_the_digits_of_a_number_move(raw: bytes, want: bytes) -> None:
    writer, _ = refused()
    found = Decoder().feed(raw)[0]
    event = orjson.loads(found.data) if found.data not in (None, b"[DONE]") else None
    assert writer.flow(found, event, None) == want


@pytest.mark.parametrize(
    "raw",
    [
        # The same spelling elsewhere, or another one: rendered anew, and equal in meaning.
        b'data: {"type":"a","sequence_number":5,"x":{"sequence_number":5}}\n\n',
        b'data: {"type":"a","sequence\\u005fnumber":5}\n\n',
        b'data: {"type":"a","x":"\\"sequence_number\\":5","sequence_number":5}\n\n',
    ],
)
def test_where_digits_cannot_be_moved_alone_the_meaning_is_kept(raw: bytes) -> None:
    writer, _ = refused()
    found, event = frame(raw)
    (moved,) = Decoder().feed(writer.flow(found, event, None))
    assert orjson.loads(moved.data or b"") == {**event, "sequence_number": 10}


def test_a_list_of_output_in_the_middle_is_rewritten_too() -> None:
    writer, _ = refused()
    found, event = frame(
        b'data: {"type":"response.in_progress","sequence_number":5,"response":{"output":[%s]}}\n\n' % orjson.dumps(ITEM)
    )
    (out,) = Decoder().feed(writer.flow(found, event, Step(listed=((0, 0),))))
    body = orjson.loads(out.data or b"")
    assert body["sequence_number"] == 10
    assert body["response"]["output"][0]["type"] == "message"


def test_events_of_our_own_fit_into_the_count() -> None:
    writer, _ = refused()
    last = {"sequence_number": 5}
    alive = writer.alive("response.in_progress", "resp_1", last)
    assert alive.startswith(MARK)
    assert orjson.loads(Decoder().feed(alive)[0].data or b"")["sequence_number"] == 10
    failed = orjson.loads(Decoder().feed(writer.failed("", "", "c", "m", last))[0].data or b"")
    assert failed["sequence_number"] == 11
    assert failed["response"]["error"] == {"code": "c", "message": "m"}
    assert "sequence_number" not in orjson.loads(Decoder().feed(writer.failed("x", "r", "c", "m", None))[0].data or b"")
