"""Messages to the provider's input, in two stages.

`build` makes the logical history: what was said, item by item, folded. It only ever grows at its end as messages are added,
so that "the same session, one step later" is a prefix test. `complete` makes of it what may be injected: complete pairs in
the order of a live thread, no reasoning without its follower, an id on every item that can carry one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from checkrein.replay.catalog import exposed
from checkrein.replay.fold import Author, Entry, fold
from checkrein.replay.items import (
    COMPACTIONS,
    OUTPUT_OF,
    OUTPUTS,
    Item,
    bare,
    kind_of,
    own_id,
    text_field,
    with_ids,
)
from checkrein.replay.versions import State, decode
from checkrein.vocab.calls import NOTHING
from checkrein.vocab.errors import UsageError
from checkrein.vocab.messages import Image, Message, Role, Text, ToolCall, ToolResult

NO_RESULT = "No result of this call was recorded."


class Part(NamedTuple):
    """What one message adds."""

    message: Message
    entries: tuple[Entry, ...]
    aliases: Mapping[str, str]
    note: str = ""


@dataclass(frozen=True, slots=True)
class History:
    """The logical history of a request. `notes` say where a step could not be replayed as the provider sent it; `of` is the
    namespace and the provider that it was made for.
    """

    entries: tuple[Entry, ...] = ()
    aliases: Mapping[str, str] = field(default_factory=lambda: NOTHING)
    notes: tuple[str, ...] = ()
    parts: tuple[Part, ...] = ()
    of: tuple[str, str] = ("", "")


def build(
    messages: Sequence[Message],
    namespace: str,
    provider: str,
    *,
    replay: bool = True,
    before: History | None = None,
) -> History:
    """The history of these messages. With `replay=False` every step is rebuilt from what its message says. `before` is an
    earlier history of the session: the very same message objects are not read again.
    """
    of = (namespace, provider)
    known = before.parts if replay and before is not None and before.of == of else ()
    parts = []
    for place, message in enumerate(messages):
        if place < len(known) and known[place].message is message:
            parts.append(known[place])
        else:
            parts.append(_part_of(place, message, namespace, provider, replay=replay))
    aliases: dict[str, str] = {}
    for part in parts:
        aliases |= part.aliases
    notes = tuple(part.note for part in parts if part.note)
    return History(fold(entry for part in parts for entry in part.entries), aliases, notes, tuple(parts), of)


def _part_of(place: int, message: Message, namespace: str, provider: str, *, replay: bool) -> Part:
    state = decode(message, provider) if replay and message.role is Role.ASSISTANT and message.replay else None
    if isinstance(state, State):
        beyond = _calls_beyond(state.items, message, namespace)
        entries = [*(Entry(item) for item in state.items), *(Entry(item, Author.HARNESS) for item in beyond)]
        return Part(message, tuple(entries), state.aliases)
    note = "" if state is None else f"message {place} is rebuilt from its content: {state}"
    own = tuple(Entry(item, Author.HARNESS) for item in _items(place, message, namespace))
    return Part(message, own, NOTHING, note)


def call_item(call: ToolCall, namespace: str) -> dict[str, Any]:
    """A call of ours as the provider would have written it."""
    return {
        "type": "function_call",
        "id": own_id("function_call", call.id),
        "call_id": call.id,
        "namespace": namespace,
        "name": exposed(call.name),
        "arguments": call.arguments,
    }


def result_item(result: ToolResult) -> dict[str, Any]:
    """A result as the server itself records it: one text as a string, anything else as parts."""
    parts = [_part(part, "input_text") for part in result.content]
    single = len(result.content) == 1 and isinstance(result.content[0], Text)
    return {
        "type": "function_call_output",
        "id": own_id("function_call_output", result.call_id),
        "call_id": result.call_id,
        "output": parts[0]["text"] if single else parts,
    }


def _part(block: Text | Image, text_type: str) -> dict[str, Any]:
    if isinstance(block, Text):
        return {"type": text_type, "text": block.text}
    return {"type": "input_image", "image_url": block.url, "detail": "original"}


# The roles that the model knows. The server drops `system` messages without a word.
ROLES: Mapping[Role, tuple[str, str]] = {
    Role.SYSTEM: ("developer", "input_text"),
    Role.USER: ("user", "input_text"),
    Role.ASSISTANT: ("assistant", "output_text"),
}
# Which blocks reach the model from which role. Reports and reasoning are skipped everywhere.
MAY_SAY: Mapping[Role, frozenset[type]] = {
    Role.SYSTEM: frozenset({Text}),
    Role.USER: frozenset({Text, Image, ToolResult}),
    Role.ASSISTANT: frozenset({Text, ToolCall}),
}


def _items(place: int, message: Message, namespace: str) -> Iterator[dict[str, Any]]:
    """A message's items by what it says. Text that stands together is one message item; reports and reasoning are none."""
    role, text_type = ROLES[message.role]
    parts: list[dict[str, Any]] = []
    count = 0

    def flush() -> Iterator[dict[str, Any]]:
        nonlocal parts, count
        if parts:
            yield {
                "type": "message",
                "id": own_id("message", place, count, role, parts),
                "role": role,
                "content": parts,
            }
            parts, count = [], count + 1

    for block in message.content:
        if isinstance(block, (Text, Image, ToolCall, ToolResult)) and type(block) not in MAY_SAY[message.role]:
            raise UsageError(f"message {place} of role `{message.role.value}` may not hold a `{block.kind.value}` block")
        if isinstance(block, (Text, Image)):
            if block != Text(""):
                parts.append(_part(block, text_type))
        elif isinstance(block, (ToolCall, ToolResult)):
            yield from flush()
            yield call_item(block, namespace) if isinstance(block, ToolCall) else result_item(block)
    yield from flush()


def _calls_beyond(items: Iterable[Item], message: Message, namespace: str) -> list[dict[str, Any]]:
    """The calls of a message that its replay does not hold."""
    held = {text_field(item, "call_id") for item in items if kind_of(item) in OUTPUT_OF}
    return [call_item(block, namespace) for block in message.content if isinstance(block, ToolCall) and block.id not in held]


def complete(history: History) -> tuple[list[dict[str, Any]], list[str]]:
    """The items to inject, and a note on everything that was added or left out for the sake of a complete input."""
    notes: list[str] = []
    items = [entry.item for entry in history.entries if kind_of(entry.item) not in COMPACTIONS]
    items = _with_pairs(items, notes)
    items = _with_followers(items, notes)
    named = with_ids(items)
    for item in named:
        alias = history.aliases.get(text_field(item, "id"))
        if alias:
            item["id"] = alias
    return named, notes


@dataclass(slots=True)
class _Batch:
    """Items up to the outputs of the calls among them: what a live thread has of one response, and then all its outputs."""

    items: list[Item] = field(default_factory=list)
    outputs: dict[str, Item | None] = field(default_factory=dict)  # by call id, in the order of the calls
    answered: bool = False


def _with_pairs(items: Sequence[Item], notes: list[str]) -> list[Item]:
    """Every call with its output, all outputs of a response behind it in the order of the calls; no output without its call.

    A live thread has them like this, whenever the results came and whoever gave them.
    """
    batches = [_Batch()]
    homes: dict[str, _Batch] = {}
    for item in items:
        kind, call = kind_of(item), text_field(item, "call_id")
        batch = batches[-1]
        if kind in OUTPUTS:
            home = homes.get(call)
            if home is None:
                notes.append(f"the output of the call `{call}` was left out: its call is not in the history")
            else:
                home.outputs[call] = item
                batch.answered = batch.answered or home is batch
            continue
        if batch.outputs and (batch.answered or _is_input(item)):
            batch = _Batch()
            batches.append(batch)
        batch.items.append(item)
        if kind in OUTPUT_OF and call:
            batch.outputs[call] = None
            homes[call] = batch
    return [item for batch in batches for item in (*batch.items, *_outputs(batch, notes))]


def _outputs(batch: _Batch, notes: list[str]) -> Iterator[Item]:
    kinds = {text_field(item, "call_id"): kind_of(item) for item in batch.items}
    for call, output in batch.outputs.items():
        if output is None:
            notes.append(f"the call `{call}` has no result: the model is told so")
        yield output if output is not None else _no_result(OUTPUT_OF[kinds[call]], call)


def _no_result(kind: str, call: str) -> dict[str, Any]:
    ident = own_id(kind, call)
    if kind == "tool_search_output":
        return {"type": kind, "id": ident, "call_id": call, "status": "completed", "execution": "client", "tools": []}
    return {"type": kind, "id": ident, "call_id": call, "output": NO_RESULT}


def _with_followers(items: Sequence[Item], notes: list[str]) -> list[Item]:
    """No reasoning item before an input or at the end: the provider only takes it with the answer that followed it."""
    kept: list[Item] = []
    followed = False
    for item in reversed(items):
        if kind_of(item) == "reasoning":
            if not followed:
                notes.append("a reasoning item was left out: what followed it is not in the history")
                continue
        else:
            followed = not _is_input(item)
        kept.append(item)
    kept.reverse()
    return kept


def _is_input(item: Item) -> bool:
    return kind_of(item) in OUTPUTS or (kind_of(item) == "message" and item.get("role") != "assistant")


def extends(longer: Sequence[Entry], shorter: Sequence[Entry]) -> bool:
    """Whether a history goes on exactly where another one ended."""
    if len(longer) < len(shorter):
        return False
    return all(
        one.item == other.item or bare(one.item) == bare(other.item) for one, other in zip(longer, shorter, strict=False)
    )
