"""What a thread was sent and what of it has not come back yet: the only state of classification."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from checkrein.replay.items import PREFIXES, Item, bare, kind_of, text_field

ArgumentCheck = Callable[[str, str], str | None]
"""A tool's name as the model sees it and the argument text, to None or to why the call is none of this request's."""

# Types that the server knows; it answers every other with a bare `other`.
KNOWN = frozenset(PREFIXES) | {
    "image_generation_call",
    "compaction",
    "compaction_trigger",
    "context_compaction",
    "additional_tools",
}


class Echoed(NamedTuple):
    """An item of ours came back under the id that the server gave it."""

    own: str
    theirs: str


def _nothing_declared(name: str, arguments: str) -> str | None:
    del arguments
    return f"no tool `{name}` is declared"


@dataclass(slots=True)
class Sent:
    """Every expectation is used up by the one event that meets it.

    INVARIANT: what has not been sent is not expected, and what has come back once is not expected again; so a new answer is
    never taken for an echo, however equal the two are.
    """

    namespace: str
    base: str = ""
    check: ArgumentCheck = _nothing_declared
    _injected: list[Item] = field(default_factory=list)
    _places: dict[str, list[int]] = field(default_factory=dict)
    _next: int = 0
    _inputs: list[tuple[str, str]] = field(default_factory=list)
    _answers: dict[str, list[str]] = field(default_factory=dict)
    _based: bool = False

    def inject(self, items: Sequence[Item]) -> None:
        """These items are about to be injected."""
        if self._next >= len(self._injected):
            # All before has come back: a long session must not keep it.
            self._injected, self._places, self._next = [], {}, 0
        for item in items:
            ident = text_field(item, "id")
            if ident:
                self._places.setdefault(ident, []).append(len(self._injected))
            self._injected.append(item)

    def input(self, text: str, own: str) -> None:
        """A text is about to be sent as turn or steer input; `own` is the id of the item in our history."""
        self._inputs.append((text, own))

    def answer(self, call: str, own: str) -> None:
        """A handoff is about to be answered; `own` is the id of the result in our history."""
        self._answers.setdefault(call, []).append(own)

    def end_turn(self) -> None:
        """What a turn did not bring back will not come any more."""
        self._inputs.clear()
        self._answers.clear()

    def takes_injected(self, form: Item) -> bool:
        """By id; and where our item has none, by being the next of its injection."""
        places = self._places.get(text_field(form, "id"))
        if places:
            self._next = max(self._next, places.pop(0) + 1)
            return True
        if self._next < len(self._injected) and _comes_back_as(self._injected[self._next], form):
            self._next += 1
            return True
        return False

    def takes_base(self, text: str | None) -> bool:
        """The base instructions come back once, if at all."""
        if self._based or not self.base or text != self.base:
            return False
        self._based = True
        return True

    def takes_input(self, text: str | None, theirs: str) -> Echoed | None:
        for place, (expected, own) in enumerate(self._inputs):
            if expected == text:
                del self._inputs[place]
                return Echoed(own, theirs)
        return None

    def takes_answer(self, call: str, theirs: str) -> Echoed | None:
        waiting = self._answers.get(call)
        return Echoed(waiting.pop(0), theirs) if waiting else None


def _comes_back_as(ours: Item, theirs: Item) -> bool:
    """Whether an injected item without an id of its own may come back in this form."""
    if text_field(ours, "id"):
        return False
    if kind_of(theirs) == "other":
        return kind_of(ours) not in KNOWN
    return _unnamed(ours) == _unnamed(theirs)


def _unnamed(item: Item) -> dict[str, Any]:
    """The comparable form without the id and without the image detail, which the server fills in."""
    form = bare(item)
    form.pop("id", None)
    for key in ("content", "output"):
        if isinstance(form.get(key), list):
            form[key] = [
                {name: value for name, value in part.items() if name != "detail"} if isinstance(part, dict) else part
                for part in form[key]
            ]
    return form
