"""`checkrein journal`, as scripts and people use it."""

import asyncio
import json

import pytest
from click.testing import CliRunner

from checkrein.cli.journal import command
from checkrein.edges import journal
from checkrein.vocab.errors import RecordError, UsageError


@pytest.fixture
def place(tmp_path):
    async def write(path, count):
        one = journal.Journal(journal.Segment(path), "run", lambda fields: fields)
        one.append("start", {"profile": "codex", "workspace": "/w"})
        for number in range(count):
            one.append(
                "decision",
                {
                    "tool": "exec_command",
                    "verdict": "deny",
                    "released": False,
                    "reason": "OPAQUE",
                    "args": {"cmd": f"x{number}\x1b[2J"},
                },
            )
        one.append("usage", {"tokens": {"input_tokens": 3}})
        one.append("end", {"exit": 0})
        await one.close()

    asyncio.run(write(tmp_path / "2026-01-01-a.jsonl", 1))
    asyncio.run(write(tmp_path / "2026-01-02-b.jsonl", 2))
    return tmp_path


def run(*args):
    return CliRunner().invoke(command, [str(arg) for arg in args])


def test_verify_says_of_every_segment_that_it_is_whole(place):
    result = run("verify", place)
    assert result.exit_code == 0
    assert result.output.count("verified") == 2
    document = json.loads(run("verify", "--json", place).output)
    assert [(one["rows"], one["verified"], one["ended"]) for one in document["segments"]] == [(4, True, True), (5, True, True)]


def test_an_edit_is_an_error_of_its_own_kind(place):
    path = place / "2026-01-01-a.jsonl"
    path.write_bytes(path.read_bytes().replace(b"OPAQUE", b"opaque"))
    result = run("verify", place)
    assert isinstance(result.exception, RecordError)
    assert "line 2: the row was changed" in result.output


def test_a_torn_end_verifies_and_is_told(place):
    path = place / "2026-01-01-a.jsonl"
    with path.open("ab") as file:
        file.write(b'{"schema":"check')
    result = run("verify", path)
    assert result.exit_code == 0
    assert "the last row is torn" in result.output


def test_rows_missing_against_the_head_are_found(place):
    path = place / "2026-01-01-a.jsonl"
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:2]))
    assert isinstance(run("verify", path).exception, RecordError)


def test_show_prints_the_newest_segment_without_control_characters(place):
    result = run("show", place)
    assert len(result.output.splitlines()) == 5
    assert "\x1b" not in result.output
    assert [json.loads(line)["kind"] for line in run("show", "--json", "--kind", "decision", place).output.splitlines()] == [
        "decision"
    ] * 2


def test_show_knows_the_kinds_of_rows(place):
    assert isinstance(run("show", "--kind", "verdict", place).exception, UsageError)


def test_stats_count(place):
    document = json.loads(run("stats", "--json", place).output)
    assert (document["calls"], document["denied"], document["tokens"]) == (2, 2, {"input_tokens": 3})
    assert "2 denied" in run("stats", place).output


def test_no_journal_is_said(tmp_path):
    assert isinstance(run("show", tmp_path / "nothing").exception, UsageError)
    assert isinstance(run("verify", tmp_path).exception, UsageError)


def test_any_row_can_be_shown(place):
    path = place / "2026-01-03-c.jsonl"
    path.write_bytes(b'{"kind":5,"harness":7}\n[]\nnonsense\n{}\n')
    assert run("show", path).exit_code == 0
    assert run("stats", path).exit_code == 0
