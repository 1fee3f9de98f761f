"""The events of one answer of the Responses wire, read into steps.

Only `response.output_item.done` decides a call, because that is what harnesses run. Everything else that speaks of the call
(its opening, its deltas, the finished argument text, the list of all output) is a copy. A copy that disagrees, earlier or
later, breaks the answer.

An event belongs to an item by item id, else by output index. Ids come first: some providers reuse indices, none reuses ids.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from checkrein.vocab.calls import Call
from checkrein.wire.codec import End, Step, ViolationError
from checkrein.wire.openai_responses import items
from checkrein.wire.request import Request

ADDED = "response.output_item.added"
DONE = "response.output_item.done"

# Text of the model: can only belong to items that execute nothing, and flows without having been announced.
TEXTS = frozenset(
    (
        "response.output_text.delta",
        "response.output_text.done",
        "response.output_text.annotation.added",
        "response.content_part.added",
        "response.content_part.done",
        "response.refusal.delta",
        "response.refusal.done",
        "response.reasoning_text.delta",
        "response.reasoning_text.done",
        "response.reasoning_summary_part.added",
        "response.reasoning_summary_part.done",
        "response.reasoning_summary_text.delta",
        "response.reasoning_summary_text.done",
    )
)

# What a call would do, in pieces or whole: the field of the event, and the field of the item that it is a copy of.
PIECES: Mapping[str, str] = {
    "response.function_call_arguments.delta": "arguments",
    "response.custom_tool_call_input.delta": "input",
}
WHOLES: Mapping[str, str] = {
    "response.function_call_arguments.done": "arguments",
    "response.custom_tool_call_input.done": "input",
}

ENDS: Mapping[str, End] = {
    "response.completed": End.COMPLETE,
    "response.incomplete": End.FAILED,
    "response.failed": End.FAILED,
    "response.cancelled": End.FAILED,
    "error": End.FAILED,
}


@dataclass(slots=True)
class Slot:
    """One item of the answer. `shape` is its item type, None as long as only events about it have come."""

    number: int
    id: str = ""
    index: int | None = None
    shape: str | None = None
    passive: bool = False
    first: list[Mapping[str, Any]] = field(default_factory=list)
    pieces: dict[str, list[str]] = field(default_factory=dict)
    wholes: list[Mapping[str, Any]] = field(default_factory=list)
    final: Mapping[str, Any] | None = None
    closed: bool = False

    @property
    def calls(self) -> bool:
        """Something speaks of a call here, not just an event of unknown meaning."""
        return not self.passive and bool(self.shape or self.pieces or self.wholes)


class StreamReader:
    """`codec.Reader` of this wire."""

    def __init__(self, passive: Collection[str], request: Request) -> None:
        self._passive = frozenset(passive)
        self._request = request
        self._slots: list[Slot] = []
        self._by_id: dict[str, Slot] = {}
        self._by_index: dict[int, Slot] = {}
        self._by_call: dict[str, list[Slot]] = {}
        self.response = ""

    def read(self, event: Any) -> Step | None:
        if not isinstance(event, dict):
            raise ViolationError("an event is not a JSON object")
        kind = event.get("type")
        if not isinstance(kind, str):
            raise ViolationError("an event has no type")
        if kind in TEXTS:
            identity = event.get("item_id")  # the common case, before anything else
            slot = self._by_id.get(identity) if identity.__class__ is str else None
            return None if slot is not None and slot.passive else self._text(event)
        if kind in ENDS:
            return self._answer(event, ENDS[kind])
        if kind in (ADDED, DONE) or "item" in event:
            if "response" in event:
                raise ViolationError("an event speaks of an item and of the whole answer")
            return self._done(event) if kind == DONE else self._copy(event)
        if isinstance(event.get("response"), dict):
            return self._answer(event, None)
        return self._about(event, kind)

    def whole(self, answer: Any) -> Step:
        if not isinstance(answer, dict):
            raise ViolationError("the answer is not a JSON object")
        if isinstance(answer.get("id"), str):
            self.response = answer["id"]
        output = answer.get("output")
        if not isinstance(output, list):
            raise ViolationError("the answer has no list of output")
        closed, listed = list[tuple[int, Call]](), list[tuple[int, int]]()
        for place, element in enumerate(output):
            item, passive = self._item(element)
            if passive:
                continue
            slot = self._new(_text_of(item, "id"), place)
            slot.shape = item["type"]
            closed.append((slot.number, self._close(slot, item)))
            listed.append((place, slot.number))
        return Step(closed=tuple(closed), listed=tuple(listed), end=End.COMPLETE, usage=_usage(answer))

    def opened(self) -> Sequence[tuple[int, Call]]:
        return [
            (slot.number, items.partial_call(slot.shape, slot.first[0] if slot.first else {}))
            for slot in self._slots
            if slot.calls and not slot.closed
        ]

    def slot(self, number: int) -> Slot:
        """The item behind a slot's number."""
        return self._slots[number]

    # Items.

    def _item(self, item: Any) -> tuple[Mapping[str, Any], bool]:
        """An output item, and whether it cannot execute anything."""
        if not isinstance(item, dict) or not isinstance(item.get("type"), str):
            raise ViolationError("an output item has no type")
        return item, item["type"] in self._passive

    def _new(self, identity: str, index: int | None, *, passive: bool = False) -> Slot:
        slot = Slot(len(self._slots), identity, index, passive=passive)
        self._slots.append(slot)
        if identity:
            self._by_id[identity] = slot
        if index is not None:
            self._by_index[index] = slot
        return slot

    def _find(self, identity: str, index: int | None, *, opening: bool = False) -> Slot | None:
        """The item that an id and an index speak of. `opening`: a finished item of that index may be followed by another."""
        slot = self._by_id.get(identity) if identity else None
        if slot is not None:
            if not slot.passive and None not in (index, slot.index) and index != slot.index:
                raise ViolationError("two output indices stand for one call")
            if slot.index is None and index is not None:
                slot.index = index
                self._by_index[index] = slot
            return slot
        slot = self._by_index.get(index) if index is not None else None
        if slot is None or not identity:
            return None if slot is not None and slot.closed and opening else slot
        if slot.id:
            if not slot.closed and not slot.passive:
                raise ViolationError("two item ids stand for one call")
            return None
        if slot.closed:
            return None
        slot.id = identity
        self._by_id[identity] = slot
        return slot

    def _claim(self, slot: Slot, item: Mapping[str, Any], *, passive: bool) -> bool:
        """The slot is of this item's type, and always was. True if it turned out to execute nothing only now."""
        if slot.shape is None and slot.passive == passive:
            slot.shape = item["type"]
        elif slot.shape is None and passive and not slot.calls:
            slot.shape, slot.passive = item["type"], True
            return True
        elif slot.passive != passive or (not passive and slot.shape != item["type"]):
            raise ViolationError("an item changes its type")
        return False

    def _copy(self, event: Mapping[str, Any]) -> Step | None:
        """`response.output_item.added`, and any unknown event that carries an item."""
        item, passive = self._item(event.get("item"))
        identity, index = _text_of(item, "id"), _index_of(event)
        slot = self._find(identity, index, opening=True) or self._new(identity, index, passive=passive)
        freed = self._claim(slot, item, passive=passive)
        if slot.passive:
            return Step(freed=(slot.number,)) if freed else None
        if slot.final is not None:
            _compare(item, slot.final, first=True)
        else:
            slot.first.append(item)
        return Step(owners=(slot.number,))

    def _done(self, event: Mapping[str, Any]) -> Step | None:
        item, passive = self._item(event.get("item"))
        identity, index = _text_of(item, "id"), _index_of(event)
        slot = self._find(identity, index, opening=True) or self._new(identity, index, passive=passive)
        freed = self._claim(slot, item, passive=passive)
        if slot.passive:
            slot.closed = True
            return Step(freed=(slot.number,)) if freed else None
        if slot.closed:
            raise ViolationError("a call is finished twice")
        for copy in slot.first:
            _compare(copy, item, first=True)
        for key, pieces in slot.pieces.items():
            _compare({"type": item["type"], key: "".join(pieces)}, item, first=False)
        for copy in slot.wholes:
            _compare({**copy, "type": item["type"]}, item, first=False)
        call = self._close(slot, item)
        return Step(owners=(slot.number,), closed=((slot.number, call),))

    def _close(self, slot: Slot, item: Mapping[str, Any]) -> Call:
        slot.final, slot.closed = item, True
        call = items.read_call(item)
        if call.id and call.id in self._by_call:
            call = replace(call, fault="its call id was used before in this answer")
        self._by_call.setdefault(call.id, []).append(slot)
        return replace(call, declared=self._request.keys(call.name, call.namespace))

    # Events about items.

    def _text(self, event: Mapping[str, Any]) -> Step | None:
        identity, index = _text_of(event, "item_id"), _index_of(event)
        if not identity and index is None:
            return None
        slot = self._find(identity, index)
        if slot is None:
            self._new(identity, index, passive=True)
        elif slot.calls:
            raise ViolationError("text is written into a call")
        elif not slot.passive:
            slot.passive = True
            return Step(freed=(slot.number,))
        return None

    def _about(self, event: Mapping[str, Any], kind: str) -> Step | None:
        """An event that names an item without carrying it."""
        identity, index = _text_of(event, "item_id"), _index_of(event)
        essential = kind in PIECES or kind in WHOLES
        if not identity and index is None:
            if essential:
                raise ViolationError("arguments belong to no item")
            return None
        slot = self._find(identity, index) or self._new(identity, index)
        if slot.passive:
            if essential:
                raise ViolationError("arguments are written into an item that is no call")
            return None
        if kind in PIECES:
            self._piece(slot, event, PIECES[kind])
        elif kind in WHOLES:
            self._all(slot, event, WHOLES[kind])
        return Step(owners=(slot.number,))

    def _piece(self, slot: Slot, event: Mapping[str, Any], key: str) -> None:
        delta = event.get("delta")
        if not isinstance(delta, str):
            raise ViolationError("a piece of arguments is not a text")
        if slot.closed:
            raise ViolationError("arguments go on after their call was finished")
        slot.pieces.setdefault(key, []).append(delta)

    def _all(self, slot: Slot, event: Mapping[str, Any], key: str) -> None:
        copy = {name: event[name] for name in (key, "name", "namespace", "call_id") if name in event}
        if not isinstance(copy.get(key), str):
            raise ViolationError("finished arguments are not a text")
        if slot.final is not None:
            _compare({**copy, "type": slot.final["type"]}, slot.final, first=False)
        else:
            slot.wholes.append(copy)

    # The answer as a whole.

    def _answer(self, event: Mapping[str, Any], end: End | None) -> Step | None:
        answer = event.get("response")
        if not isinstance(answer, dict):
            if end is not End.FAILED:
                raise ViolationError("the last event has no answer")
            return Step(end=end, why=_why(event))
        if isinstance(answer.get("id"), str):
            self.response = answer["id"]
        listed = self._listed(answer.get("output"), end)
        if end is None:
            return Step(listed=listed) if listed else None
        if end is End.COMPLETE and self.opened():
            raise ViolationError("the answer is complete but one of its calls is not")
        return Step(listed=listed, end=end, usage=_usage(answer), why=_why(answer) if end is End.FAILED else "")

    def _listed(self, output: object, end: End | None) -> tuple[tuple[int, int], ...]:
        """Which slot stands where in a list of all output. Every call in it was finished before, in the same words."""
        if output is None:
            return ()
        if not isinstance(output, list):
            raise ViolationError("the list of output is no list")
        listed, taken = list[tuple[int, int]](), set[int]()
        for place, element in enumerate(output):
            item, passive = self._item(element)
            if passive:
                continue
            slot = self._match(item, taken)
            if slot is None:
                raise ViolationError("the list of output has a call that was never finished")
            if slot.final is not None:
                _compare(item, slot.final, first=False)
            elif end is not End.FAILED:
                raise ViolationError("the list of output has a call that is not finished")
            taken.add(slot.number)
            listed.append((place, slot.number))
        return tuple(listed)

    def _match(self, item: Mapping[str, Any], taken: Collection[int]) -> Slot | None:
        """The slot of a listed item, by item id, else by call id."""
        named, call_id = self._by_id.get(_text_of(item, "id")), _text_of(item, "call_id")
        for slot in (*([named] if named else []), *self._by_call.get(call_id, [])):
            if slot.calls and slot.number not in taken:
                return slot
        unfinished = (slot for slot in self._slots if slot.first and not slot.closed and slot.number not in taken)
        return next((slot for slot in unfinished if call_id and slot.first[0].get("call_id") == call_id), None)


def _compare(copy: Mapping[str, Any], final: Mapping[str, Any], *, first: bool) -> None:
    key = items.disagreement(copy, final, first=first)
    if key is not None:
        raise ViolationError(f"two copies of one call differ in `{key}`")


def _text_of(value: Mapping[str, Any], key: str) -> str:
    found = value.get(key)
    if found is None:
        return ""
    if not isinstance(found, str):
        raise ViolationError(f"an `{key}` is not a text")
    return found


def _index_of(event: Mapping[str, Any]) -> int | None:
    index = event.get("output_index")
    if index is None:
        return None
    if not isinstance(index, int) or isinstance(index, bool) or index < 0:
        raise ViolationError("an `output_index` is not a place")
    return index


def _usage(answer: Mapping[str, Any]) -> Mapping[str, Any]:
    usage = answer.get("usage")
    return usage if isinstance(usage, dict) else {}


def _why(holder: Mapping[str, Any]) -> str:
    """What the provider says of its failure, short."""
    error = holder.get("error") or holder.get("incomplete_details") or holder
    if isinstance(error, dict):
        error = error.get("code") or error.get("reason") or error.get("message") or error.get("type")
    return str(error)[:200] if isinstance(error, (str, int)) else ""
