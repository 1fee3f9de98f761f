"""The journal on disk: one segment file per run, one writer, and nothing released before its row is durable.

`Segment` writes and syncs on the calling thread. `Journal` puts one thread of its own under it, so that the event loop never
waits for a disk, and commits in groups: whatever was appended while one commit ran goes out with the next.

INVARIANT: a row counts as written when its bytes are on disk in the file that the segment's path names. A deleted or replaced
file, a full disk and a failed sync are errors of every waiter, and the rows stay queued or the journal stays refused.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import fcntl
import os
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from checkrein.vocab.errors import NotUsableError, RecordError
from checkrein.vocab.records import ZERO, Verification, encode, encode_head, verify

# Rows that are worth nothing to a waiter go out at the latest after this many seconds.
LAG = 0.05
# More queued bytes than this mean that the disk has not taken anything for long: refuse instead of growing.
QUEUE_LIMIT = 16 * 1024 * 1024
_TRANSIENT = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EAGAIN, errno.EINTR})

Redact = Callable[[Mapping[str, Any]], Mapping[str, Any]]


class JournalError(RecordError):
    """The journal could not be written; nothing that depends on it may go on."""


def now() -> str:
    """The wall clock, as rows carry it."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def directory() -> Path:
    """Where journals lie, by the platform's conventions."""
    import platformdirs

    return platformdirs.user_state_path("checkrein", appauthor=False) / "journal"


def head_path(segment: Path) -> Path:
    """The head file of a segment."""
    return segment.with_suffix(".head")


class Segment:
    """One segment file and its head, with an exclusive lock."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.broken = ""
        self._offset = 0
        try:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND | os.O_CLOEXEC | getattr(os, "O_NOFOLLOW", 0)
            self._file = os.open(path, flags, 0o600)
            self._head = os.open(head_path(path), (flags & ~os.O_APPEND), 0o600)
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            os.pwrite(self._head, encode_head(0, ZERO), 0)
            self._sync_directory()
        except OSError as error:
            raise NotUsableError(
                f"the journal `{path}` cannot be created: {error.strerror}", "name another directory with `--journal DIR`"
            ) from error
        self._identity = _identity(os.fstat(self._file))

    def write(self, data: bytes, count: int, last: str) -> None:
        """Append whole rows and sync them; then move the head. An error leaves the file as it was, or the segment broken."""
        if self.broken:
            raise JournalError(self.broken)
        self._check_place()
        try:
            self._append(data)
        except OSError as error:
            self._withdraw()
            if error.errno not in _TRANSIENT:
                self.broken = f"the journal `{self.path}` cannot be written: {error.strerror}"
            raise JournalError(f"the journal `{self.path}` cannot be written: {error.strerror}") from error
        try:
            _sync(self._file)
        except OSError as error:
            # After a failed sync the kernel may call the same pages clean: a second try would prove nothing.
            self.broken = f"the journal `{self.path}` cannot be synced: {error.strerror}"
            raise JournalError(self.broken) from error
        self._offset += len(data)
        with contextlib.suppress(OSError):
            os.pwrite(self._head, encode_head(count, last), 0)  # it may lag

    def close(self) -> None:
        """Sync the head and let go of the files."""
        with contextlib.suppress(OSError):
            os.fsync(self._head)
        for descriptor in (self._head, self._file):
            with contextlib.suppress(OSError):
                os.close(descriptor)

    def _append(self, data: bytes) -> None:
        view = memoryview(data)
        while view:
            view = view[os.write(self._file, view) :]

    def _withdraw(self) -> None:
        try:
            os.ftruncate(self._file, self._offset)
        except OSError as error:
            self.broken = f"the journal `{self.path}` has a torn row: {error.strerror}"

    def _check_place(self) -> None:
        try:
            there = _identity(os.stat(self.path, follow_symlinks=False))
        except OSError:
            there = (0, 0)
        if there != self._identity:
            self.broken = f"the journal `{self.path}` was removed or replaced"
            raise JournalError(self.broken)

    def _sync_directory(self) -> None:
        directory = os.open(self.path.parent, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(directory)
        finally:
            os.close(directory)


def _identity(stat: os.stat_result) -> tuple[int, int]:
    return stat.st_dev, stat.st_ino


def _sync(descriptor: int) -> None:
    # Not every platform has the cheaper form.
    getattr(os, "fdatasync", os.fsync)(descriptor)


class Journal:
    """The rows of one run. `append` is cheap and immediate; `sync` waits until everything appended is durable."""

    def __init__(self, segment: Segment, run: str, redact: Redact) -> None:
        self.run = run
        self.path = segment.path
        self.seq = 0
        self._segment = segment
        self._redact = redact
        self._prev = ZERO
        self._queue: list[bytes] = []
        self._queued = 0
        self._durable = 0
        self._waiters: list[tuple[int, asyncio.Future[None]]] = []
        self._busy = False
        self._timer: asyncio.TimerHandle | None = None
        self._pool = ThreadPoolExecutor(1, "journal")

    def append(self, kind: str, fields: Mapping[str, Any]) -> int:
        """Queue one row; its sequence number. Raises when the journal can take no more."""
        if self._segment.broken:
            raise JournalError(self._segment.broken)
        if self._queued > QUEUE_LIMIT:
            raise JournalError(f"the journal `{self.path}` has taken nothing for too long")
        line, digest = encode(self.seq + 1, now(), kind, self.run, self._prev, self._redact(fields))
        self.seq += 1
        self._prev = digest
        self._queue.append(line)
        self._queued += len(line)
        if self._timer is None and not self._busy:
            self._timer = asyncio.get_running_loop().call_later(LAG, self._commit)
        return self.seq

    async def sync(self) -> None:
        """Return when every row appended so far is on disk; raise `JournalError` when that failed."""
        if self._durable >= self.seq:
            return
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiters.append((self.seq, done))
        if not self._busy:
            self._commit()
        await done

    async def close(self) -> None:
        """Write what is left and close; an error is raised after the files are closed."""
        try:
            await self.sync()
        finally:
            if self._timer is not None:
                self._timer.cancel()
            self._pool.shutdown(wait=True)
            self._segment.close()

    def _commit(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._busy or not self._queue:
            return
        self._busy = True
        data, count, last = b"".join(self._queue), self.seq, self._prev
        self._queue, self._queued = [], 0
        loop = asyncio.get_running_loop()
        flight = loop.run_in_executor(self._pool, self._segment.write, data, count, last)
        flight.add_done_callback(lambda ended: self._ended(ended, data, count))

    def _ended(self, flight: asyncio.Future[None], data: bytes, count: int) -> None:
        self._busy = False
        error = flight.exception()
        if error is None:
            self._durable = count
            ready = [done for target, done in self._waiters if target <= count]
            self._waiters = [(target, done) for target, done in self._waiters if target > count]
        else:
            # The rows are chained already, so they keep their place in front of all later ones.
            self._queue.insert(0, data)
            self._queued += len(data)
            ready = [done for _, done in self._waiters]
            self._waiters = []
        for done in ready:
            if not done.done():
                done.set_exception(error) if error is not None else done.set_result(None)
        if error is None and self._queue:
            self._commit()


def lines_of(path: Path) -> Iterator[bytes]:
    """The lines of a segment, each with its newline where it has one."""
    with path.open("rb") as file:
        yield from file


def verify_segment(path: Path) -> Verification:
    """`records.verify` over one segment and the head beside it."""
    head = head_path(path)
    return verify(lines_of(path), head.read_bytes() if head.is_file() else None)


def segments(place: Path) -> list[Path]:
    """The segments at a path: the file itself, or those of a directory from old to new."""
    if place.is_dir():
        return sorted(place.glob("*.jsonl"))
    return [place] if place.is_file() else []
