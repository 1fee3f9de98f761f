"""JSON lines, incremental. Any chunking of the same bytes gives the same lines. A line ends at LF; a CR before it is cut off."""

from __future__ import annotations

LIMIT = 64 * 1024 * 1024  # bytes of one line


class Lines:
    """Fed chunks, it gives whole lines, without blank ones. `overflow` becomes True, and nothing more is given, once a line
    exceeds the limit.
    """

    __slots__ = ("_buffer", "_limit", "overflow")

    def __init__(self, limit: int = LIMIT) -> None:
        self._buffer = bytearray()
        self._limit = limit
        self.overflow = False

    def feed(self, chunk: bytes) -> list[bytes]:
        """The lines that this chunk completes."""
        if self.overflow or not chunk:
            return []
        head, newline, rest = chunk.partition(b"\n")
        self._buffer += head
        if not newline:
            self.overflow = len(self._buffer) > self._limit
            return []
        lines = [bytes(self._buffer), *rest.split(b"\n")]
        self._buffer = bytearray(lines.pop())
        return self._given(lines)

    def end(self) -> list[bytes]:
        """The last line, when the stream ends without its line end."""
        lines, self._buffer = [bytes(self._buffer)], bytearray()
        return [] if self.overflow else self._given(lines)

    def _given(self, lines: list[bytes]) -> list[bytes]:
        given: list[bytes] = []
        for line in lines:
            if len(line) > self._limit:
                self.overflow = True
                return given
            if text := line.removesuffix(b"\r"):
                given.append(text)
        self.overflow = len(self._buffer) > self._limit
        return given
