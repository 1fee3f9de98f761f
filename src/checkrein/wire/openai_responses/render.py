"""Puts an answer of the Responses wire together again after calls were refused.

Where a refused call stood, an assistant message stands, with the call's output index. Its events are six, the call's were any
number; so the `sequence_number`s of what follows are moved on, by replacing just their digits. Nothing else of an event that
leaves is touched.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import orjson

from checkrein.vocab.calls import Call
from checkrein.wire import sse
from checkrein.wire.codec import MARK, Step
from checkrein.wire.openai_responses import items
from checkrein.wire.openai_responses.stream import StreamReader
from checkrein.wire.sse import Frame

_NUMBER = "sequence_number"


@dataclass(slots=True)
class _Note:
    """The message in place of a refused call."""

    identity: str
    text: str
    placed: bool = False


@dataclass(slots=True)
class StreamWriter:
    """`codec.Writer` of this wire."""

    reader: StreamReader
    _notes: dict[int, _Note] = field(default_factory=dict)
    _shift: int = 0  # how far later sequence numbers have moved
    _dropped: bool = False

    @property
    def untouched(self) -> bool:
        return not self._notes and not self._dropped

    def refuse(self, slot: int, call: Call, text: str) -> None:
        self._notes[slot] = _Note(items.message_id(self.reader.response, slot, call), text)

    def flow(self, frame: Frame, event: Any, step: Step | None) -> bytes:
        if step is not None and any(slot in self._notes for _, slot in step.listed):
            return _event(self._moved({**event, "response": self._answer(event["response"], step)}))
        if not self._shift or frame.data is None:
            return frame.raw
        return _renumbered(frame, event, self._shift)

    def replace(self, frame: Frame, event: Any, slot: int) -> bytes:
        note = self._notes[slot]
        number = event.get(_NUMBER)
        counted = isinstance(number, int)
        parts: list[bytes] = []
        if not note.placed:
            note.placed = True
            for body in _message_events(note.identity, note.text, self.reader.slot(slot).index):
                if counted:
                    body[_NUMBER] = number + self._shift
                    self._shift += 1
                parts.append(_event(body))
        if counted:
            self._shift -= 1
        return b"".join(parts)

    def drop(self, event: Any) -> None:
        self._dropped = True
        self._shift -= isinstance(event.get(_NUMBER), int)

    def last(self, frame: Frame, event: Any, step: Step, *, again: bool | None) -> bytes:
        if self.untouched or not isinstance(event.get("response"), dict):
            return self.flow(frame, event, None)
        answer = self._answer(event["response"], step)
        return _event(self._moved({**event, "response": _asking(answer, again)}))

    def whole(self, answer: Any, step: Step, *, again: bool | None) -> bytes:
        return orjson.dumps(_asking(self._answer(answer, step), again))

    def alive(self, kind: str, response: str, last: Any) -> bytes:
        body: dict[str, Any] = {"type": kind, "response": {"id": response, "object": "response", "status": "in_progress"}}
        if (number := self._number(last)) is not None:
            # The number of the event before: a keep-alive must not shift the numbers of what really came.
            body[_NUMBER] = number
        return MARK + _event(body)

    def failed(self, kind: str, response: str, code: str, message: str, last: Any) -> bytes:
        answer = {
            "id": response or "resp_checkrein",
            "object": "response",
            "status": "failed",
            "error": {"code": code, "message": message},
            "output": [],
        }
        body: dict[str, Any] = {"type": kind or "response.failed", "response": answer}
        if (number := self._number(last)) is not None:
            body[_NUMBER] = number + 1
        return _event(body)

    def _number(self, last: Any) -> int | None:
        """The sequence number with which the last event left."""
        number = last.get(_NUMBER) if isinstance(last, dict) else None
        return number + self._shift if isinstance(number, int) else None

    def _moved(self, event: dict[str, Any]) -> dict[str, Any]:
        if self._shift and isinstance(event.get(_NUMBER), int):
            event[_NUMBER] += self._shift
        return event

    def _answer(self, answer: Mapping[str, Any], step: Step) -> dict[str, Any]:
        """The answer with messages in the places of refused calls, and without calls that were never finished."""
        places = dict(step.listed)
        output = answer.get("output")
        if not places or not isinstance(output, list):
            return dict(answer)
        kept: list[Any] = []
        for place, item in enumerate(output):
            slot = places.get(place)
            note = self._notes.get(slot) if slot is not None else None
            if note is not None:
                kept.append(items.message(note.identity, note.text))
            elif slot is None or self.reader.slot(slot).closed:
                kept.append(item)
        return {**answer, "output": kept}


def _asking(answer: dict[str, Any], again: bool | None) -> dict[str, Any]:
    """`end_turn` says whether the harness asks again at once; without calls left, only our own word may make it."""
    if again is None:
        return answer
    answer = {key: value for key, value in answer.items() if key != "end_turn"}
    return {**answer, "end_turn": False} if again else answer


def _message_events(identity: str, text: str, index: int | None) -> list[dict[str, Any]]:
    place: dict[str, Any] = {} if index is None else {"output_index": index}
    inner = {"item_id": identity, **place, "content_index": 0}
    return [
        {"type": "response.output_item.added", **place, "item": items.message(identity, text, "in_progress")},
        {"type": "response.content_part.added", **inner, "part": items.part("")},
        {"type": "response.output_text.delta", **inner, "delta": text, "logprobs": []},
        {"type": "response.output_text.done", **inner, "text": text, "logprobs": []},
        {"type": "response.content_part.done", **inner, "part": items.part(text)},
        {"type": "response.output_item.done", **place, "item": items.message(identity, text)},
    ]


def _event(body: Mapping[str, Any]) -> bytes:
    return sse.encode(body["type"], orjson.dumps(body))


def _renumbered(frame: Frame, event: Any, shift: int) -> bytes:
    """The frame with its `sequence_number` moved. Just the digits change where that provably gives the same event."""
    number = event.get(_NUMBER) if isinstance(event, dict) else None
    if not isinstance(number, int) or isinstance(number, bool):
        return frame.raw
    wanted = {**event, _NUMBER: number + shift}
    digits = re.compile(rb'("sequence_number"\s*:\s*)%d(?![0-9.eE])' % number)
    raw, found = digits.subn(rb"\g<1>%d" % (number + shift), frame.raw)
    if found == 1 and (data := sse.data_of(raw)) is not None and orjson.loads(data) == wanted:
        return raw
    return _event(wanted)
