"""The chunks of one streamed answer, the order that they must keep, and their assembly into a message.

Order: `BlockStart` opens an index once; a delta needs an open block of its own kind; `BlockEnd` closes it with the whole
block, which is authoritative over the deltas; `Finish` comes once, when no block is open; nothing follows it. Blocks may
interleave. `Progress` and `UsageChunk` may come anywhere before `Finish`, `Restart` only when no block is open.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from checkrein.vocab.errors import ProtocolError
from checkrein.vocab.messages import Block, BlockKind, CodexAction, Failure, Message, Role, Usage


class FinishReason(StrEnum):
    STOP = "stop"
    TOOL_CALLS = "tool-calls"
    ABORTED = "aborted"
    ERROR = "error"


@dataclass(frozen=True, slots=True)
class BlockStart:
    index: int
    kind: BlockKind


@dataclass(frozen=True, slots=True)
class TextDelta:
    index: int
    text: str


@dataclass(frozen=True, slots=True)
class ReasoningDelta:
    index: int
    text: str


@dataclass(frozen=True, slots=True)
class BlockEnd:
    """The whole block. A `discarded` block was shown and then given up by the provider: it is part of no message."""

    index: int
    block: Block
    discarded: bool = False


@dataclass(frozen=True, slots=True)
class Progress:
    """Something moved. Shown, never stored."""

    event: str
    id: str
    original: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class UsageChunk:
    """The tokens of one response of this step; a step may have several responses."""

    response: str
    usage: Usage


@dataclass(frozen=True, slots=True)
class Restart:
    """The answer begins anew: what was said and asked so far is given up; reports stay."""

    why: str


@dataclass(frozen=True, slots=True)
class Finish:
    """The end. `replay` belongs into the assistant message that is logged for this step."""

    reason: FinishReason
    failure: Failure | None = None
    replay: Mapping[str, Any] | None = None


Chunk = BlockStart | TextDelta | ReasoningDelta | BlockEnd | Progress | UsageChunk | Restart | Finish

DELTAS: dict[type[TextDelta | ReasoningDelta], BlockKind] = {
    TextDelta: BlockKind.TEXT,
    ReasoningDelta: BlockKind.REASONING,
}


class StreamOrder:
    """Raises `ProtocolError` at the first chunk that breaks the order."""

    def __init__(self) -> None:
        self.open: dict[int, BlockKind] = {}
        self.seen: set[int] = set()
        self.finished = False

    def feed(self, chunk: Chunk) -> None:
        if self.finished:
            raise ProtocolError(f"the stream goes on with `{type(chunk).__name__}` after its finish")
        match chunk:
            case BlockStart(index, kind):
                if index < 0 or index in self.seen:
                    raise ProtocolError(f"block {index} is opened a second time")
                self.seen.add(index)
                self.open[index] = kind
            case TextDelta(index) | ReasoningDelta(index):
                if self.open.get(index) is not DELTAS[type(chunk)]:
                    raise ProtocolError(f"a `{DELTAS[type(chunk)]}` delta for block {index}, which is not open as such")
            case BlockEnd(index, block):
                if self.open.pop(index, None) is not block.kind:
                    raise ProtocolError(f"block {index} ends as `{block.kind}`, and is not open as such")
            case Finish():
                if self.open:
                    raise ProtocolError(f"the stream ends while block {min(self.open)} is open")
                self.finished = True
            case Restart():
                if self.open:
                    raise ProtocolError(f"the stream restarts while block {min(self.open)} is open")
            case Progress() | UsageChunk():
                pass

    def close(self) -> None:
        if not self.finished:
            raise ProtocolError("the stream ends without a finish")


class Assembly:
    """Folds the chunks of one step into what is logged of it. Checks the order as it goes."""

    def __init__(self) -> None:
        self.order = StreamOrder()
        self.blocks: dict[int, Block] = {}
        self.usage = Usage()
        self.finish: Finish | None = None

    def feed(self, chunk: Chunk) -> None:
        self.order.feed(chunk)
        match chunk:
            case BlockEnd(index, block, discarded):
                if not discarded:
                    self.blocks[index] = block
            case UsageChunk(_, usage):
                self.usage += usage
            case Restart():
                self.blocks = {index: block for index, block in self.blocks.items() if isinstance(block, CodexAction)}
            case Finish():
                self.finish = chunk
            case _:
                pass

    def message(self) -> Message:
        """The assistant message of this step: its blocks in the order in which they were opened, and its replay state."""
        return Message(
            Role.ASSISTANT,
            tuple(self.blocks[index] for index in sorted(self.blocks)),
            None if self.finish is None else self.finish.replay,
        )


def to_json(value: Block | Chunk) -> dict[str, Any]:
    """The JSON form of a chunk or a block, tagged with its `type`."""
    plain = {
        field.name: _plain(getattr(value, field.name))
        for field in dataclasses.fields(value)
        if getattr(value, field.name) is not None
    }
    return {"type": TAGS[type(value)] if isinstance(value, Chunk) else value.kind.value, **plain}


TAGS: dict[type, str] = {
    BlockStart: "block-start",
    TextDelta: "text-delta",
    ReasoningDelta: "reasoning-delta",
    BlockEnd: "block-end",
    Progress: "progress",
    UsageChunk: "usage",
    Restart: "restart",
    Finish: "finish",
}


def _plain(value: Any) -> Any:
    if isinstance(value, StrEnum):
        return value.value
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, (tuple, list)):
        return [_plain(item) for item in value]
    if isinstance(value, (Usage, Failure)):
        return {field.name: _plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return to_json(value)  # type: ignore[arg-type]  # every other dataclass in here is a block
    return value
