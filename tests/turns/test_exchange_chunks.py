"""Whatever the chunking of whatever stream: the same verdicts, the same bytes, and nothing early."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import pytest
from exchanges import Run, drive, everything, names, nothing, secret, stream, without_keep_alives
from hypothesis import given, settings
from hypothesis import strategies as st
from responses_shape import check

from checkrein.wire.codec import MARK

ALL = names()
# Streams of which something is lost or refused even when the judge refuses nothing.
LOSING = {"provider-torn", "provider-failed", "rewrite-divergent-args-0"}
REFUSALS = {"nothing": nothing, "secret": secret, "everything": everything}


def summary(run: Run) -> object:
    """What must not depend on the chunking: verdicts, rows in their order, bytes."""
    return run.verdicts, run.seen, run.records, run.out


def places(data: bytes) -> Iterator[int]:
    """Every place of a short stream; of a long one both sides of every line end, and every eleventh place."""
    for place in range(len(data) + 1):
        near = data[max(0, place - 1) : place + 1]
        if len(data) < 3000 or place % 11 == 0 or b"\n" in near or b"\r" in near:
            yield place


@pytest.mark.parametrize("name", [name for name in ALL if name not in LOSING])
def test_with_nothing_refused_the_output_is_the_input(name: str) -> None:
    data = stream(name)
    assert drive([data]).out == data


@pytest.mark.parametrize("name", ALL)
def test_every_split_point_gives_the_same(name: str) -> None:
    data = stream(name)
    whole = summary(drive([data], secret))
    for place in places(data):
        assert summary(drive([data[:place], data[place:]], secret)) == whole, place


@pytest.mark.parametrize("refusal", REFUSALS)
@pytest.mark.parametrize("name", ALL)
def test_byte_by_byte_gives_the_same(name: str, refusal: str) -> None:
    data = stream(name)
    assert summary(drive((bytes([byte]) for byte in data), REFUSALS[refusal])) == summary(drive([data], REFUSALS[refusal]))


@settings(max_examples=120, deadline=None)
@given(st.sampled_from(ALL), st.sampled_from(sorted(REFUSALS)), st.lists(st.integers(0, 25_000), max_size=40))
def test_random_chunkings_give_the_same(name: str, refusal: str, cuts: list[int]) -> None:
    data = stream(name)
    edges = sorted({0, len(data), *(cut % (len(data) + 1) for cut in cuts)})
    chunks = [data[a:b] for a, b in itertools.pairwise(edges)]
    assert summary(drive(chunks, REFUSALS[refusal])) == summary(drive([data], REFUSALS[refusal]))


@pytest.mark.parametrize("name", ALL)
def test_no_prefix_releases_what_the_whole_does_not(name: str) -> None:
    data = stream(name)
    whole = drive([data], secret)
    for place in places(data):
        cut = drive([data[:place]], secret)
        assert whole.out.startswith(cut.out), place
        assert whole.verdicts[: len(cut.verdicts)] == cut.verdicts


@pytest.mark.parametrize("name", ALL)
def test_no_byte_of_a_refused_call_leaves(name: str) -> None:
    data = stream(name)
    assert b"DENIED_SENTINEL" not in drive([data], secret).out
    # Every text of the calls' own is gone when all are refused, from the snapshot too.
    out = drive([data], everything).out
    for text in (b"function_call", b"custom_tool_call", b'"arguments"', b"Begin Patch", b'"call_id"'):
        assert text not in out


@pytest.mark.parametrize("refusal", REFUSALS)
@pytest.mark.parametrize("name", [name for name in ALL if not name.startswith(("cut-", "rewrite-", "provider-failed"))])
def test_what_leaves_is_well_formed(name: str, refusal: str) -> None:
    check(drive([stream(name)], REFUSALS[refusal]).out)


@pytest.mark.parametrize("name", ALL)
def test_keep_alives_taken_out_the_bytes_are_the_same(name: str) -> None:
    """A tick after every line: it never disturbs, and it speaks only while something is held."""
    data = stream(name)
    lines = data.splitlines(keepends=True)
    run = drive([], secret, end=False)
    for line in lines:
        run.commands += run.exchange.feed(line)
        held = run.exchange.holding
        ticked = run.exchange.tick()
        assert bool(ticked) == held
        run.commands += ticked
    run.commands += run.exchange.end()
    plain = drive([data], secret)
    assert without_keep_alives(run.out) == plain.out
    assert (MARK in run.out) == bool(plain.verdicts or plain.rows("upstream"))
