"""One thread's events to chunks, handoffs and replay. Fed events, it says what the consumer sees, what the harness must
execute, and what is kept; it lives as long as its thread, step after step.

INVARIANT: a call is handed over only for an `item/tool/call` in our namespace that names a tool declared by this request with
one valid argument object. Every other one is refused in words that the model reads, reported, and never executed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from checkrein.replay.catalog import Catalog, original, strict_object
from checkrein.replay.classify import Landing, Replay, Row, classify, paired
from checkrein.replay.history import call_item
from checkrein.replay.items import Item, canonical, kind_of, text_field
from checkrein.replay.sent import Sent
from checkrein.turns import reports
from checkrein.turns.blocks import Blocks
from checkrein.turns.plan import Pending
from checkrein.vocab.messages import Category, CodexAction, Phase, Reasoning, Text, ToolCall, Usage
from checkrein.vocab.stream import Chunk, Progress, UsageChunk
from checkrein.wire.appserver import CATEGORIES, DECLINES, TOOL_CALL, Handling, handling, tool_refusal, turn_of
from checkrein.wire.jsonrpc import RpcNotification, RpcRequest

# How long a thread must be silent before calls are handed over whose set cannot be known to be complete.
NESTED_QUIET_MS = 50  # calls inside Code Mode: no event says that they were all
BROKEN_QUIET_MS = 5_000  # calls of a response that never ended: a cut stream says nothing until its calls are answered


@dataclass(frozen=True, slots=True)
class Reply:
    """What a server request is answered at once. `result` None: an error."""

    rpc: int | str
    result: Mapping[str, Any] | None


@dataclass(frozen=True, slots=True)
class TurnEnd:
    """The turn ended: its status and its error, as the server says them."""

    status: str
    error: Any


Out = Chunk | Reply | TurnEnd


@dataclass(slots=True)
class Trajectory:
    """`landings` counts every raw item by its row; `items`, `context` and `aliases` belong to the step that runs. `declined`
    are server requests that were answered while no step ran.
    """

    sent: Sent
    catalog: Catalog
    note: str = ""
    turn: str | None = None
    landings: Counter[Row] = field(default_factory=Counter)
    reusable: bool = True
    blocks: Blocks = field(default_factory=Blocks)
    items: list[Item] = field(default_factory=list)
    context: list[Item] = field(default_factory=list)
    aliases: dict[str, str] = field(default_factory=dict)
    pending: dict[str, Pending] = field(default_factory=dict)
    _arrived: dict[str, Pending] = field(default_factory=dict)
    _calls: dict[str, Item] = field(default_factory=dict)
    declined: set[int | str] = field(default_factory=set)
    _handed: set[str] = field(default_factory=set)
    _ended_items: set[str] = field(default_factory=set)
    _closed: bool = False
    _unpriced: int = 0
    _ordinal: int = 0

    def begin(self, catalog: Catalog) -> None:
        """A step begins. What is pending stays so until it is answered."""
        self.catalog = catalog
        self.sent.check = catalog.check
        self.blocks = Blocks()
        self.items, self.context, self.aliases = [], [], {}
        self._closed, self._unpriced = False, 0
        self._ended_items = set()

    def answered(self) -> None:
        """All pending calls are being answered."""
        self.pending = {}

    def feed(self, message: RpcNotification | RpcRequest) -> Iterator[Out]:
        """One event or server request of the thread."""
        if isinstance(message, RpcRequest):
            yield from self._server_request(message)
            return
        params = message.params
        match handling(message.method):
            case Handling.RAW_ITEM:
                yield from self._raw_item(message.method, params)
            case Handling.RAW_RESPONSE:
                yield from self._response_end(params)
            case Handling.TEXT_DELTA:
                yield from self.blocks.delta((text_field(params, "itemId"), "text", 0), Text, text_field(params, "delta"))
            case Handling.REASONING_DELTA:
                yield from self.blocks.delta(_reasoning_key(params), Reasoning, text_field(params, "delta"))
            case Handling.ITEM_STARTED:
                yield from self._item(message.method, params, ended=False)
            case Handling.ITEM_COMPLETED:
                yield from self._item(message.method, params, ended=True)
            case Handling.TURN_STARTED:
                self.turn = turn_of(params) or self.turn
            case Handling.TURN_COMPLETED:
                yield from self._turn_end(params)
            case Handling.TOKENS:
                yield from self._tokens(params)
            case Handling.ERROR:
                yield from self._error(message.method, params)
            case Handling.PROGRESS:
                yield Progress(message.method, text_field(params, "itemId"), params)
            case Handling.CLOSED:
                yield from self.report(reports.of_event(Category.LIFECYCLE, message.method, params))
            case (Handling.ACTION | Handling.LIFECYCLE | Handling.DIAGNOSTIC) as what:
                yield from self.report(reports.of_event(CATEGORIES[what], message.method, params))
                self.reusable = self.reusable and message.method != "thread/compacted"
            case Handling.QUIET:
                pass

    def report(self, action: CodexAction) -> Iterator[Chunk]:
        """A report as a block. Whatever must be said in every report is said here."""
        note = "; ".join(part for part in (action.note, self.note) if part)
        yield from self.blocks.whole(
            CodexAction(action.category, action.phase, action.event, action.id, action.about, action.original, note)
        )

    # Raw items

    def _raw_item(self, event: str, params: Mapping[str, Any]) -> Iterator[Out]:
        item = params.get("item")
        self._ordinal += 1
        landing = classify(item if isinstance(item, dict) else {}, turn_of(params) or "", self.sent)
        self.landings[landing.row] += 1
        self._keep(landing)
        if landing.report is not None:
            yield from self.report(reports.of_raw_item(landing, event, params, self._ordinal))

    def _keep(self, landing: Landing) -> None:
        item, call = landing.item, text_field(landing.item, "call_id")
        match landing.replay:
            case Replay.YES | Replay.PAIRED:
                self.items.append(item)
            case Replay.AUDIT:
                self.context.append(item)
            case Replay.NO:
                pass
        if landing.echoed is not None and landing.echoed.theirs:
            self.aliases[landing.echoed.own] = landing.echoed.theirs
        if landing.row is Row.COMPACTION:
            self.reusable = False
        if landing.row in {Row.ANSWER, Row.HARNESS_CALL}:
            # Something of a response: what came before it belongs to a response that has ended.
            self._closed = False
        if landing.row is Row.HARNESS_CALL:
            self._calls[call] = item
        elif call and kind_of(item).endswith("_output"):
            # Codex answered this call itself, so it will not ask for it.
            self._calls.pop(call, None)

    # Calls

    def _server_request(self, message: RpcRequest) -> Iterator[Out]:
        params = message.params
        if message.method != TOOL_CALL:
            result = DECLINES.get(message.method)
            said = "an error" if result is None else f"`{canonical(dict(result)).decode()}`"
            ident = next((str(params[key]) for key in ("itemId", "callId", "serverName") if params.get(key)), str(message.id))
            if message.id in self.declined:
                self.declined.discard(message.id)
            else:
                yield Reply(message.id, result)
            yield from self.report(
                CodexAction(
                    Category.ACTION, Phase.DECLINED, message.method, ident, message.method, params, f"it was answered {said}"
                )
            )
            return
        call = text_field(params, "callId")
        fault = self._fault_of_request(call, params)
        if fault is None:
            raw = self._calls.get(call)
            arguments = text_field(raw, "arguments") if raw else canonical(params["arguments"]).decode()
            self._arrived[call] = Pending(message.id, call, text_field(params, "tool"), arguments, nested=raw is None)
            return
        yield Reply(message.id, tool_refusal(fault))
        yield from self.report(
            CodexAction(Category.ACTION, Phase.DECLINED, message.method, call or str(message.id), "tool call", params, fault)
        )

    def _fault_of_request(self, call: str, params: Mapping[str, Any]) -> str | None:
        """None for a handoff, else why the request is none. A ladder; the first fault counts."""
        tool = text_field(params, "tool")
        if params.get("namespace") != self.sent.namespace:
            return f"the tool `{tool}` is not in the harness's namespace"
        if not call:
            return "it has no call id"
        if self.turn is not None and turn_of(params) not in {None, self.turn}:
            return "it belongs to another turn"
        if call in self._arrived or call in self.pending:
            return "a call with this id is already pending"
        fault = self.catalog.check_object(tool, params.get("arguments"))
        raw = self._calls.get(call)
        if fault is not None or raw is None:
            return fault
        if text_field(raw, "name") != tool or strict_object(text_field(raw, "arguments")) != params["arguments"]:
            return "it is not the call that the model made under this id"
        return None

    def patience(self) -> int | None:
        """Milliseconds of silence after which the calls that have come are to be handed over; None while there are none."""
        if not self._arrived:
            return None
        if any(not call.nested for call in self._arrived.values()):
            complete = self._closed and set(self._calls) <= set(self._arrived)
            if not complete:
                return BROKEN_QUIET_MS
        return NESTED_QUIET_MS if any(call.nested for call in self._arrived.values()) else 0

    def hand_over(self) -> Iterator[Chunk]:
        """The calls that have come, in model order; open blocks are closed first."""
        yield from self.blocks.discard()
        order = {call: place for place, call in enumerate(self._calls)}
        calls = sorted(self._arrived.values(), key=lambda pending: order.get(pending.call, len(order)))
        for pending in calls:
            call = ToolCall(pending.call, original(pending.name), pending.arguments)
            if pending.nested:
                self.items.append(call_item(call, self.sent.namespace))
            yield from self.blocks.whole(call)
            self._calls.pop(pending.call, None)
        self.pending = {pending.call: pending for pending in calls}
        self._handed |= set(self.pending)
        self._arrived = {}

    # Thread items

    def _item(self, event: str, params: Mapping[str, Any], *, ended: bool) -> Iterator[Chunk]:
        item = params.get("item")
        item = item if isinstance(item, dict) else {}
        kind, ident = kind_of(item), text_field(item, "id")
        if kind == "userMessage" or (kind == "dynamicToolCall" and self._is_ours(ident)):
            return
        if kind == "reasoning" or (kind == "agentMessage" and item.get("delivery") != "async"):
            if ended and ident not in self._ended_items:
                self._ended_items.add(ident)
                yield from self._spoken(ident, item)
            return
        if kind == "contextCompaction":
            self.reusable = False
        yield from self.report(reports.of_thread_item(event, params, item, ended=ended))

    def _is_ours(self, call: str) -> bool:
        return call in self._handed or call in self._arrived or call in self._calls

    def _spoken(self, ident: str, item: Mapping[str, Any]) -> Iterator[Chunk]:
        """The end of a message or of reasoning: every part in its final words, streamed before or not."""
        if kind_of(item) == "agentMessage":
            yield from self.blocks.end((ident, "text", 0), Text, text_field(item, "text"))
            return
        for name in ("summary", "content"):
            parts = item.get(name)
            for place, part in enumerate(parts if isinstance(parts, list) else []):
                text = part if isinstance(part, str) else text_field(part, "text") if isinstance(part, dict) else ""
                yield from self.blocks.end((ident, name, place), Reasoning, text)
        yield from self.blocks.end_rest(ident)

    # Responses and turns

    def _response_end(self, params: Mapping[str, Any]) -> Iterator[Chunk]:
        self._closed = True
        usage = params.get("usage")
        if isinstance(usage, dict):
            yield from self._usage(text_field(params, "responseId"), usage)
        else:
            self._unpriced += 1

    def _tokens(self, params: Mapping[str, Any]) -> Iterator[Chunk]:
        """The server's running count, used only for a response that ended without usage of its own."""
        tokens = params.get("tokenUsage")
        last = tokens.get("last") if isinstance(tokens, dict) else None
        if self._unpriced and isinstance(last, dict):
            self._unpriced -= 1
            yield from self._usage("", last)

    def _usage(self, response: str, usage: Mapping[str, Any]) -> Iterator[Chunk]:
        whole, cached, written, output, reasoning = (
            _count(usage.get(name))
            for name in (
                "inputTokens",
                "cachedInputTokens",
                "cacheWriteInputTokens",
                "outputTokens",
                "reasoningOutputTokens",
            )
        )
        if cached + written > whole or reasoning > output:
            note = "the parts are more than the whole; the parts were taken"
            yield from self.report(reports.of_ours(Category.DIAGNOSTIC, "usage", response or "usage", usage, note))
        split = Usage(max(whole - cached - written, 0), cached, written, max(output - reasoning, 0), reasoning)
        yield UsageChunk(response, split)

    def _error(self, event: str, params: Mapping[str, Any]) -> Iterator[Chunk]:
        if params.get("willRetry") is True:
            # The attempt is over: what was complete stays in the thread's input, what was open never will be.
            yield from self.blocks.discard()
        yield from self.report(reports.of_event(Category.DIAGNOSTIC, event, params))

    def _turn_end(self, params: Mapping[str, Any]) -> Iterator[Out]:
        turn = params.get("turn")
        turn = turn if isinstance(turn, dict) else {}
        if self.turn is not None and turn.get("id") not in {None, self.turn}:
            yield from self.report(
                reports.of_event(Category.DIAGNOSTIC, "turn/completed", params, "it is not the turn that runs")
            )
            return
        yield from self.blocks.discard()
        for pending in self._arrived.values():
            note = "the turn ended before the call was handed over; Codex has failed it"
            ident = pending.call
            original_call = {"callId": ident, "tool": pending.name, "arguments": pending.arguments}
            yield from self.report(reports.of_ours(Category.DIAGNOSTIC, "lost-call", ident, original_call, note))
        self._arrived, self.pending, self._calls, self._handed = {}, {}, {}, set()
        self.turn = None
        self.sent.end_turn()
        status = turn.get("status")
        yield TurnEnd(status if isinstance(status, str) else "", turn.get("error"))

    def kept(self) -> tuple[Item, ...]:
        """The items of this step that may be replayed."""
        return tuple(paired(self.items))


def _reasoning_key(params: Mapping[str, Any]) -> tuple[str, str, int]:
    ident = text_field(params, "itemId")
    if "summaryIndex" in params:
        return (ident, "summary", _count(params["summaryIndex"]))
    return (ident, "content", _count(params.get("contentIndex")))


def _count(value: Any) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else 0
