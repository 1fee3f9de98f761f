"""How a request reaches the provider: what a live thread may be given, or that it must be rebuilt. Pure, and never a guess.

A live thread is continued only when the request's history goes on exactly where the thread's ended, within one epoch.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from checkrein.replay.classify import only_text
from checkrein.replay.fold import Author, Entry
from checkrein.replay.history import History, extends
from checkrein.replay.items import Item, kind_of, text_field
from checkrein.turns.lease import Epoch, Lease
from checkrein.vocab.messages import Message, ToolResult
from checkrein.wire.appserver import INPUT_CAP
from checkrein.wire.jsonrpc import RpcNotification, RpcRequest


@dataclass(frozen=True, slots=True)
class Pending:
    """A handed-over call whose answer Codex waits for. `nested`: it was made inside Code Mode and no raw item names it."""

    rpc: int | str
    call: str
    name: str
    arguments: str
    nested: bool = False


@dataclass(frozen=True, slots=True)
class Cold:
    """Start a thread and inject the whole history. `why` the live one, if any, cannot be used."""

    why: str


@dataclass(frozen=True, slots=True)
class Input:
    """One user message by turn input; `own` is the id that it has in our history."""

    text: str
    own: str


@dataclass(frozen=True, slots=True)
class Inject:
    """Several user messages, or one that turn input does not take, by one injection and an empty turn."""

    items: tuple[Item, ...]


@dataclass(frozen=True, slots=True)
class Answer:
    """The results of all pending calls in the order of the calls; before them, each user message as a steer."""

    steers: tuple[Input, ...]
    results: tuple[tuple[Pending, ToolResult], ...]


Plan = Cold | Input | Inject | Answer


def decide(lease: Lease, pending: Sequence[Pending], epoch: Epoch, history: History, messages: Sequence[Message]) -> Plan:
    """The plan for a request whose history is `history`. `pending` are the calls that the lease waits for."""
    if lease.thread is None or lease.epoch is None:
        return Cold(lease.void or "the session has no thread")
    if lease.void:
        return Cold(lease.void)
    changed = epoch.differences(lease.epoch)
    if changed:
        return Cold(f"another {', '.join(changed)}")
    if not extends(history.entries, lease.history.entries):
        return Cold("the history is no continuation")
    added = history.entries[len(lease.history.entries) :]
    if pending:
        return _answer(lease.held, pending, added, messages)
    return _continue(added)


def _continue(added: Sequence[Entry]) -> Plan:
    if not added:
        return Cold("the request adds nothing")
    if not all(_is_user(entry) for entry in added):
        return Cold("the request adds more than user messages")
    items = tuple(entry.item for entry in added)
    text = only_text(items[0])
    if len(items) == 1 and text is not None and len(text) <= INPUT_CAP:
        return Input(text, text_field(items[0], "id"))
    return Inject(items)


def _answer(
    held: Sequence[RpcNotification | RpcRequest],
    pending: Sequence[Pending],
    added: Sequence[Entry],
    messages: Sequence[Message],
) -> Plan:
    if any(isinstance(message, RpcNotification) and message.method == "turn/completed" for message in held):
        return Cold("the turn ended while its calls were pending")
    count = sum(kind_of(entry.item) == "function_call_output" for entry in added)
    answered = {text_field(entry.item, "call_id") for entry in added[:count]}
    if answered != {call.call for call in pending} or count != len(pending):
        return Cold("the request does not begin with the results of exactly the pending calls")
    if not all(_is_user(entry) for entry in added[count:]):
        return Cold("the request adds more than results and user messages")
    steers = []
    for entry in added[count:]:
        text = only_text(entry.item)
        if text is None or len(text) > INPUT_CAP:
            return Cold("a user message beside the results cannot be steered")
        steers.append(Input(text, text_field(entry.item, "id")))
    if steers and any(call.nested for call in pending):
        # A steer makes Code Mode go on without the result.
        return Cold("user messages cannot be steered beside a call inside Code Mode")
    results = _results(messages)
    return Answer(tuple(steers), tuple((call, results[call.call]) for call in pending))


def _is_user(entry: Entry) -> bool:
    return entry.author is Author.HARNESS and kind_of(entry.item) == "message" and entry.item.get("role") == "user"


def _results(messages: Sequence[Message]) -> Mapping[str, ToolResult]:
    return {block.call_id: block for message in messages for block in message.content if isinstance(block, ToolResult)}
