"""The blocks of one streamed answer: which are open, under which index, and what their deltas came to."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass, field

from checkrein.vocab.messages import Block, BlockKind, Reasoning, Text
from checkrein.vocab.stream import BlockEnd, BlockStart, Chunk, ReasoningDelta, TextDelta

Spoken = type[Text] | type[Reasoning]


@dataclass(slots=True)
class _Open:
    index: int
    kind: Spoken
    parts: list[str] = field(default_factory=list)


@dataclass(slots=True)
class Blocks:
    """Blocks of text and reasoning are open under a key while their deltas come; every other block is whole at once."""

    count: int = 0
    _open: dict[Hashable, _Open] = field(default_factory=dict)

    def delta(self, key: Hashable, kind: Spoken, text: str) -> Iterator[Chunk]:
        if not text:
            return
        block = self._open.get(key)
        if block is None:
            block = self._open[key] = _Open(self._index(), kind)
            yield BlockStart(block.index, BlockKind(kind.kind))
        block.parts.append(text)
        yield TextDelta(block.index, text) if block.kind is Text else ReasoningDelta(block.index, text)

    def end(self, key: Hashable, kind: Spoken, text: str) -> Iterator[Chunk]:
        """The whole text is known. It is authoritative, whether or not any delta came."""
        block = self._open.pop(key, None)
        if block is not None:
            yield BlockEnd(block.index, block.kind(text))
        elif text.strip():
            yield from self.whole(kind(text))

    def end_rest(self, prefix: Hashable) -> Iterator[Chunk]:
        """Parts of an item that its end did not name keep what was streamed."""
        for key in [key for key in self._open if isinstance(key, tuple) and key[0] == prefix]:
            block = self._open.pop(key)
            yield BlockEnd(block.index, block.kind("".join(block.parts)))

    def whole(self, block: Block) -> Iterator[Chunk]:
        index = self._index()
        yield BlockStart(index, block.kind)
        if isinstance(block, Text):
            yield TextDelta(index, block.text)
        elif isinstance(block, Reasoning):
            yield ReasoningDelta(index, block.text)
        yield BlockEnd(index, block)

    def discard(self) -> Iterator[Chunk]:
        """What is open was given up by the provider."""
        for block in self._open.values():
            yield BlockEnd(block.index, block.kind("".join(block.parts)), discarded=True)
        self._open.clear()

    def _index(self) -> int:
        self.count += 1
        return self.count - 1
