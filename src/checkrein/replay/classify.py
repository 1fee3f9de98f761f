"""Where a raw item lands. Every raw item of a thread lands in exactly one row of `TABLE`, judged against exactly what this
thread was sent: the injected history, our turn and steer inputs, our answers, the tools declared by this request.

`docs/reference/raw-items.md` is generated from `TABLE`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from typing import Any, NamedTuple

from checkrein.replay.items import CODE_MODE, COMPACTIONS, OUTPUTS, PASSTHROUGH, Item, kind_of, stripped, text_field
from checkrein.replay.sent import Echoed, Sent
from checkrein.vocab.messages import Category
from checkrein.wire.appserver import BASE_INSTRUCTIONS_KIND, SETUP_TURN


class Row(StrEnum):
    """The rows of the table, in the order in which they are tried."""

    HISTORY_ECHO = "history-echo"
    BASE_INSTRUCTIONS = "base-instructions"
    OWN_INPUT = "own-input"
    OWN_RESULT = "own-result"
    COMPACTION = "compaction"
    CONTEXT = "context"
    ANSWER = "answer"
    HARNESS_CALL = "harness-call"
    CODE_MODE = "code-mode"
    OTHER = "other"


class Replay(StrEnum):
    """Whether an item is sent again when the model's input is rebuilt."""

    NO = "no"
    YES = "yes"
    PAIRED = "only with its mate in the same step"
    AUDIT = "no; kept as audit context"


class Arrival(NamedTuple):
    """One raw item as it came. `setup`: it belongs to no turn, so it is injected history or the context of a cold start."""

    form: dict[str, Any]
    kind: str
    role: str | None
    setup: bool
    kinds: Any


class Found(NamedTuple):
    """A row takes the item. `echoed`: our own item came back under a new id. `fault`: why a call is not ours to execute."""

    echoed: Echoed | None = None
    fault: str | None = None


Matcher = Callable[[Arrival, Sent], Found | None]
HERE = Found()


class Spec(NamedTuple):
    """One row: what lands in it, the category of its report (or None), what replay does with it, and how it is recognised."""

    what: str
    report: Category | None
    replay: Replay
    matches: Matcher


class Landing(NamedTuple):
    """One raw item, landed. `item` is its form for replay."""

    row: Row
    item: dict[str, Any]
    echoed: Echoed | None = None
    fault: str | None = None

    @property
    def report(self) -> Category | None:
        return TABLE[self.row].report

    @property
    def replay(self) -> Replay:
        return TABLE[self.row].replay


def classify(item: Item, turn: str, sent: Sent) -> Landing:
    """The landing of one raw item of the turn `turn`. Uses up what it meets in `sent`."""
    form = stripped(item)
    provenance = item.get(PASSTHROUGH)
    role = form.get("role")
    arrival = Arrival(
        form,
        kind_of(form),
        role if role is None or isinstance(role, str) else "",
        turn.startswith(SETUP_TURN),
        provenance.get("content_item_kinds") if isinstance(provenance, dict) else None,
    )
    for row, spec in TABLE.items():
        found = spec.matches(arrival, sent)
        if found is not None:
            return Landing(row, form, found.echoed, found.fault)
    raise AssertionError("the last row takes every item")


def _history_echo(arrival: Arrival, sent: Sent) -> Found | None:
    return HERE if arrival.setup and sent.takes_injected(arrival.form) else None


def _base_instructions(arrival: Arrival, sent: Sent) -> Found | None:
    if arrival.kind != "message" or arrival.role not in {"developer", "system"}:
        return None
    if arrival.kinds is not None and arrival.kinds != [BASE_INSTRUCTIONS_KIND]:
        return None
    return HERE if sent.takes_base(only_text(arrival.form)) else None


def _own_input(arrival: Arrival, sent: Sent) -> Found | None:
    if arrival.setup or arrival.kind != "message" or arrival.role != "user":
        return None
    echoed = sent.takes_input(only_text(arrival.form), text_field(arrival.form, "id"))
    return Found(echoed) if echoed else None


def _own_result(arrival: Arrival, sent: Sent) -> Found | None:
    if arrival.setup or arrival.kind not in OUTPUTS:
        return None
    echoed = sent.takes_answer(text_field(arrival.form, "call_id"), text_field(arrival.form, "id"))
    return Found(echoed) if echoed else None


def _compaction(arrival: Arrival, _: Sent) -> Found | None:
    return HERE if arrival.kind in COMPACTIONS else None


def _context(arrival: Arrival, _: Sent) -> Found | None:
    added = arrival.kind == "message" and arrival.role in {"developer", "system", "user", None}
    return HERE if added or arrival.kind == "additional_tools" else None


def _answer(arrival: Arrival, _: Sent) -> Found | None:
    return HERE if arrival.kind == "reasoning" or (arrival.kind == "message" and arrival.role == "assistant") else None


def _harness_call(arrival: Arrival, sent: Sent) -> Found | None:
    return HERE if fault_of_call(arrival.form, sent) is None else None


def _code_mode(arrival: Arrival, _: Sent) -> Found | None:
    return HERE if arrival.kind in CODE_MODE else None


def _other(arrival: Arrival, sent: Sent) -> Found | None:
    ours = arrival.kind == "function_call" and arrival.form.get("namespace") == sent.namespace
    return Found(fault=fault_of_call(arrival.form, sent)) if ours else HERE


TABLE: Mapping[Row, Spec] = {
    Row.HISTORY_ECHO: Spec("an item of the history injected for this request, coming back", None, Replay.NO, _history_echo),
    Row.BASE_INSTRUCTIONS: Spec("our own base instructions", None, Replay.NO, _base_instructions),
    Row.OWN_INPUT: Spec("our own turn input or steer input", None, Replay.NO, _own_input),
    Row.OWN_RESULT: Spec("our own tool result: the call id of a handoff that we answered", None, Replay.NO, _own_result),
    Row.COMPACTION: Spec("a compaction item; the lease is not used again", Category.ACTION, Replay.NO, _compaction),
    Row.CONTEXT: Spec(
        "a message of role developer, system or user (or of none) that we did not send; `additional_tools`",
        Category.CONTEXT,
        Replay.AUDIT,
        _context,
    ),
    Row.ANSWER: Spec("an assistant message or a reasoning item; its deltas carry it", None, Replay.YES, _answer),
    Row.HARNESS_CALL: Spec(
        "a function call in our namespace, naming a tool declared by this request, with valid arguments",
        None,
        Replay.YES,
        _harness_call,
    ),
    Row.CODE_MODE: Spec("`custom_tool_call` and `custom_tool_call_output`", Category.ACTION, Replay.PAIRED, _code_mode),
    Row.OTHER: Spec(
        "every other item: native calls and outputs, undeclared or invalid calls, web search, tool search, unknown types",
        Category.ACTION,
        Replay.YES,
        _other,
    ),
}


def only_text(item: Item) -> str | None:
    """The text of a message that is one text part and nothing else."""
    content = item.get("content")
    if not isinstance(content, list) or len(content) != 1 or not isinstance(content[0], dict):
        return None
    text = content[0].get("text")
    return text if isinstance(text, str) else None


def fault_of_call(item: Item, sent: Sent) -> str | None:
    """None for a call that this request lets the harness execute, else why not."""
    if kind_of(item) != "function_call":
        return "it is no function call"
    if item.get("namespace") != sent.namespace:
        return "its namespace is not the harness's"
    if not text_field(item, "call_id"):
        return "it has no call id"
    return sent.check(text_field(item, "name"), text_field(item, "arguments"))


def paired(items: Sequence[Item]) -> list[Item]:
    """The items of one step that may be replayed: a Code Mode call or output only when its mate is among them."""
    halves: dict[str, set[str]] = {}
    for item in items:
        if kind_of(item) in CODE_MODE:
            halves.setdefault(text_field(item, "call_id"), set()).add(kind_of(item))
    return [item for item in items if kind_of(item) not in CODE_MODE or len(halves[text_field(item, "call_id")]) == 2]
