"""Bytes in any chunking to whole lines, each within a limit. Any chunking gives the same lines.

A peer that never ends its line must not fill the memory: a line over the limit is a `ProtocolError` at the first byte too many.
"""

from __future__ import annotations

from checkrein.vocab.errors import ProtocolError

DEFAULT_LIMIT = 64 * 1024 * 1024


class Lines:
    """An incremental splitter. `feed` gives the lines that are now complete, without their end; blank lines are kept."""

    def __init__(self, limit: int = DEFAULT_LIMIT) -> None:
        self.limit = limit
        self._parts: list[bytes] = []
        self._held = 0

    def feed(self, data: bytes) -> list[bytes]:
        head, newline, rest = data.partition(b"\n")
        self._hold(head)
        if not newline:
            return []
        lines = [b"".join(self._parts).removesuffix(b"\r")]
        self._parts, self._held = [], 0
        *whole, tail = rest.split(b"\n")
        for line in whole:
            self._check(len(line))
            lines.append(line.removesuffix(b"\r"))
        self._hold(tail)
        return lines

    def close(self) -> bytes:
        """The bytes of a last line that was never ended."""
        rest = b"".join(self._parts)
        self._parts, self._held = [], 0
        return rest

    def _hold(self, data: bytes) -> None:
        self._held += len(data)
        self._check(self._held)
        if data:
            self._parts.append(data)

    def _check(self, size: int) -> None:
        if size > self.limit:
            raise ProtocolError(f"a line is longer than {self.limit} bytes", "raise the line limit if the peer is trusted")
