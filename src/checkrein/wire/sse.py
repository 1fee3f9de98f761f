r"""Server-sent events, incremental. Any chunking of the same bytes gives the same frames.

A frame is everything up to and including its blank line, as the very bytes that came, with the joined `data:` lines beside
it. Line ends are LF, CRLF or CR, also mixed. The concatenated `raw` of all frames is the input, byte for byte.

A CR at the very end of what has come may be half of a CRLF; the frame that it would end waits for the next byte, because
otherwise the same bytes would be cut differently by different chunkings.
"""

from __future__ import annotations

import re
from typing import NamedTuple

LIMIT = 16 * 1024 * 1024  # bytes of one frame

_BOM = b"\xef\xbb\xbf"
# Atomic groups: a CRLF is one line end and must never be taken apart into two.
_BLANK = re.compile(rb"(?>\r\n|\r|\n)(?>\r\n|\r|\n)")


class Frame(NamedTuple):
    """One block of the stream. `data` is None when it dispatches nothing (comments, a lone blank line, no data line)."""

    raw: bytes
    data: bytes | None


class Decoder:
    """Fed chunks, it gives frames. `overflow` becomes True, and nothing more is given, once a frame exceeds the limit."""

    __slots__ = ("_buffer", "_limit", "_returns", "_start", "overflow")

    def __init__(self, limit: int = LIMIT) -> None:
        self._buffer = bytearray()
        self._limit = limit
        self._returns = False  # a CR was seen: the general path from here on
        self._start = True
        self.overflow = False

    def feed(self, chunk: bytes) -> list[Frame]:
        """The frames that this chunk completes."""
        if self.overflow or not chunk:
            return []
        if self._returns or b"\r" in chunk:
            self._returns = True
            blocks = self._split_any(chunk)
        else:
            blocks = self._split(chunk)
        return self._frames(blocks)

    def end(self) -> list[Frame]:
        """The last frame, when the stream ends without its blank line."""
        if self.overflow or not self._buffer:
            return []
        blocks = [bytes(self._buffer)]
        self._buffer.clear()
        return self._frames(blocks)

    def _split(self, chunk: bytes) -> list[bytes]:
        """Blocks of a stream without a CR: the quick path."""
        buffer = self._buffer
        if buffer:
            start = len(buffer) - 1
            buffer += chunk
            cut = buffer.find(b"\n\n", start)
            if cut < 0:
                self.overflow = len(buffer) > self._limit
                return []
            blocks = [bytes(buffer[:cut]), *bytes(buffer[cut + 2 :]).split(b"\n\n")]
            buffer.clear()
        else:
            blocks = chunk.split(b"\n\n")
        buffer += blocks.pop()
        return [block + b"\n\n" for block in blocks]

    def _split_any(self, chunk: bytes) -> list[bytes]:
        buffer = self._buffer
        scan = max(0, len(buffer) - 3)
        buffer += chunk
        blocks, begin, size = [], 0, len(buffer)
        for match in _BLANK.finditer(buffer, scan):
            end = match.end()
            if end == size and buffer[end - 1] == 0x0D:
                break  # perhaps half of a CRLF
            blocks.append(bytes(buffer[begin:end]))
            begin = end
        del buffer[:begin]
        return blocks

    def _frames(self, blocks: list[bytes]) -> list[Frame]:
        frames: list[Frame] = []
        for block in blocks:
            if len(block) > self._limit:
                self.overflow = True
                return frames
            if self._start:
                self._start = False
                frames.append(Frame(block, data_of(block.removeprefix(_BOM))))
            else:
                frames.append(Frame(block, data_of(block)))
        self.overflow = len(self._buffer) > self._limit
        return frames


def data_of(block: bytes) -> bytes | None:
    """The joined `data:` lines of a block; None when there are none or they are empty."""
    # The two common shapes, `data: ...` alone and after one `event:` line, are read without taking the block apart.
    if block.startswith(b"data: ") and block.find(b"\n") == len(block) - 2 and block[-1] == 0x0A and b"\r" not in block:
        return block[6:-2] or None
    if block.startswith(b"event:"):
        cut = block.find(b"\n") + 1
        if block.startswith(b"data: ", cut) and block.find(b"\n", cut) == len(block) - 2 and b"\r" not in block:
            return block[cut + 6 : -2] or None
    lines = []
    for line in block.splitlines():
        name, colon, value = line.partition(b":")
        if name == b"data":
            lines.append(value.removeprefix(b" ") if colon else b"")
    return b"\n".join(lines) or None


def encode(kind: str, data: bytes) -> bytes:
    """One event of our own. `data` must be one line."""
    return b"event: " + kind.encode() + b"\ndata: " + data + b"\n\n"
