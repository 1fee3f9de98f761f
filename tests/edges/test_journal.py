"""The journal: durable before release, one writer, refusing when it cannot write."""

import asyncio
import os
import stat
from pathlib import Path

import orjson
import pytest

from checkrein.edges import journal as subject
from checkrein.vocab.errors import NotUsableError


def plain(fields):
    return fields


def opened(path: Path) -> subject.Journal:
    return subject.Journal(subject.Segment(path), "run-1", plain)


def rows(path: Path) -> list[dict]:
    return [orjson.loads(line) for line in subject.lines_of(path)]


def test_a_synced_row_is_on_disk_and_verifies(tmp_path):
    path = tmp_path / "deep" / "a.jsonl"

    async def run():
        journal = opened(path)
        journal.append("start", {"run": "run-1"})
        journal.append("decision", {"tool": "x"})
        await journal.sync()
        assert [row["seq"] for row in rows(path)] == [1, 2]
        await journal.close()

    asyncio.run(run())
    found = subject.verify_segment(path)
    assert found.ok
    assert found.rows == 2
    assert orjson.loads(subject.head_path(path).read_bytes())["count"] == 2


def test_files_are_private(tmp_path):
    path = tmp_path / "j" / "a.jsonl"
    segment = subject.Segment(path)
    segment.close()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(subject.head_path(path).stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_a_row_is_redacted_before_it_is_hashed(tmp_path):
    path = tmp_path / "a.jsonl"

    async def run():
        journal = subject.Journal(subject.Segment(path), "r", lambda fields: {**fields, "args": "[redacted]"})
        journal.append("decision", {"args": "topsecret"})
        await journal.close()

    asyncio.run(run())
    assert b"topsecret" not in path.read_bytes()
    assert subject.verify_segment(path).ok


def test_many_waiters_share_commits(tmp_path, monkeypatch):
    syncs = []
    monkeypatch.setattr(subject, "_sync", syncs.append)

    async def run():
        journal = opened(tmp_path / "a.jsonl")

        async def one(number):
            journal.append("decision", {"n": number})
            await journal.sync()

        await asyncio.gather(*map(one, range(200)))
        await journal.close()

    asyncio.run(run())
    found = subject.verify_segment(tmp_path / "a.jsonl")
    assert found.ok
    assert found.rows == 200
    assert len(syncs) < 20


def test_a_row_that_nobody_waits_for_is_written_soon(tmp_path):
    path = tmp_path / "a.jsonl"

    async def run():
        journal = opened(path)
        journal.append("usage", {"tokens": {}})
        async with asyncio.timeout(10):
            while not path.read_bytes():
                await asyncio.sleep(subject.LAG)
        await journal.close()

    asyncio.run(run())


def test_a_second_writer_is_refused(tmp_path):
    segment = subject.Segment(tmp_path / "a.jsonl")
    with pytest.raises(NotUsableError):
        subject.Segment(tmp_path / "a.jsonl")
    segment.close()


def test_an_unwritable_place_is_refused_at_the_start(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(NotUsableError, match="cannot be created"):
        subject.Segment(tmp_path / "file" / "a.jsonl")


class Faulty:
    """`os.write` that fails `times` times with `number`, after `part` bytes of a row."""

    def __init__(self, number, times, part=7):
        self.number, self.times, self.part, self.begun = number, times, part, False

    def __call__(self, descriptor, data):
        if self.times and not self.begun:
            self.begun = True
            return REAL_WRITE(descriptor, bytes(data)[: self.part])
        if self.times:
            self.times -= 1
            self.begun = False
            raise OSError(self.number, os.strerror(self.number))
        return REAL_WRITE(descriptor, data)


REAL_WRITE = os.write


def test_a_full_disk_refuses_and_a_freed_one_goes_on(tmp_path, monkeypatch):
    import errno

    path = tmp_path / "a.jsonl"

    async def run():
        journal = opened(path)
        journal.append("start", {})
        await journal.sync()
        monkeypatch.setattr(subject.os, "write", Faulty(errno.ENOSPC, 1))
        journal.append("decision", {"n": 1})
        with pytest.raises(subject.JournalError, match="No space"):
            await journal.sync()
        assert subject.verify_segment(path).rows == 1  # nothing torn stays behind
        journal.append("decision", {"n": 2})
        await journal.sync()
        await journal.close()

    asyncio.run(run())
    found = subject.verify_segment(path)
    assert found.ok
    assert [row.get("n") for row in rows(path)] == [None, 1, 2]


def test_a_failed_sync_is_final(tmp_path, monkeypatch):
    def broken(descriptor):
        raise OSError(5, "Input/output error")

    async def run():
        journal = opened(tmp_path / "a.jsonl")
        journal.append("start", {})
        with monkeypatch.context() as patch:
            patch.setattr(subject, "_sync", broken)
            with pytest.raises(subject.JournalError, match="cannot be synced"):
                await journal.sync()
        with pytest.raises(subject.JournalError):
            journal.append("decision", {})
        with pytest.raises(subject.JournalError):
            await journal.sync()
        with pytest.raises(subject.JournalError):
            await journal.close()

    asyncio.run(run())


@pytest.mark.parametrize("how", ["removed", "replaced", "directory moved"])
def test_a_journal_that_is_no_longer_at_its_place_refuses(tmp_path, how):
    path = tmp_path / "j" / "a.jsonl"

    async def run():
        journal = opened(path)
        journal.append("start", {})
        await journal.sync()
        if how == "directory moved":
            path.parent.rename(tmp_path / "elsewhere")
        else:
            path.unlink()
        if how == "replaced":
            path.write_text("")
        journal.append("decision", {})
        with pytest.raises(subject.JournalError, match="removed or replaced"):
            await journal.sync()
        with pytest.raises(subject.JournalError):
            await journal.close()

    asyncio.run(run())


def test_a_cancelled_waiter_disturbs_nobody(tmp_path):
    path = tmp_path / "a.jsonl"

    async def run():
        journal = opened(path)
        journal.append("decision", {"n": 1})
        first = asyncio.create_task(journal.sync())
        await asyncio.sleep(0)
        first.cancel()
        journal.append("decision", {"n": 2})
        await journal.sync()
        await journal.close()

    asyncio.run(run())
    assert subject.verify_segment(path).rows == 2
