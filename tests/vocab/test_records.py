"""Rows: the fast canonical form equals RFC 8785, and the second reader sees every edit."""

import json

import orjson
import pytest
import rfc8785
from hypothesis import given
from hypothesis import strategies as st

from checkrein.vocab import records

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53) + 1, 2**53 - 1) | st.floats(allow_nan=False, allow_infinity=False) | TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=20,
)
ANYTHING = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=8)
    | st.frozensets(st.text(max_size=3), max_size=3),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=4) | st.tuples(inner),
    max_leaves=12,
)


def segment(count: int) -> list[bytes]:
    lines, prev = [], records.ZERO
    for seq in range(1, count + 1):
        kind = "end" if seq == count else "decision"
        line, prev = records.encode(
            seq, f"2026-01-01T00:00:0{seq % 10}Z", kind, "run", prev, {"tool": "exec_command", "n": seq}
        )
        lines.append(line)
    return lines


def head_of(lines: list[bytes]) -> bytes:
    last = orjson.loads(lines[-1])
    return records.encode_head(last["seq"], last["hash"])


@given(VALUES)
def test_the_fast_form_is_rfc_8785(value):
    assert records.canonical(value) == rfc8785.dumps(value)


def test_keys_are_ordered_by_utf16_units():
    value = {"\U0001f600": 1, "\ufb33": 2}
    assert records.canonical(value) == '{"\U0001f600":1,"\ufb33":2}'.encode()


@given(st.dictionaries(st.text(max_size=6), ANYTHING, max_size=5))
def test_any_fields_make_a_row_that_verifies(fields):
    line, digest = records.encode(1, "2026-01-01T00:00:00Z", "request", "run", records.ZERO, fields)
    assert line.count(b"\n") == 1
    found = records.verify([line], records.encode_head(1, digest))
    assert found.ok
    assert found.rows == 1


def test_a_row_has_its_frame_first_and_the_harness_keys_win():
    line, _ = records.encode(3, "t", "decision", "run", "p" * 64, {"session": "s", "thread": "t1", "tool": "x"})
    row = json.loads(line)
    assert tuple(row)[: len(records.FRAME)] == records.FRAME
    assert (row["session"], row["thread"], row["seq"], row["prev"]) == ("s", "t1", 3, "p" * 64)
    line, _ = records.encode(3, "t", "decision", "run", "p" * 64, {"session": None, "seq": 99, "hash": "forged"})
    row = json.loads(line)
    assert (row["session"], row["thread"], row["seq"]) == ("run", None, 3)
    assert row["hash"] != "forged"


def test_a_whole_segment_verifies():
    lines = segment(5)
    found = records.verify(lines, head_of(lines))
    assert found.ok
    assert found.ended
    assert not found.torn


def test_a_lagging_head_is_no_fault():
    lines = segment(5)
    assert records.verify(lines, head_of(lines[:3])).ok


def test_a_torn_last_row_is_told_and_is_no_fault():
    lines = segment(5)
    cut = [*lines[:4], lines[4][:-20]]
    found = records.verify(cut, head_of(lines[:4]))
    assert found.ok
    assert found.torn
    assert found.rows == 4


EDITS = {
    "a changed value": lambda ls: [*ls[:2], ls[2].replace(b'"exec_command"', b'"exec_commanD"'), *ls[3:]],
    "a removed row": lambda ls: [*ls[:2], *ls[3:]],
    "a removed first row": lambda ls: ls[1:],
    "a removed end": lambda ls: ls[:3],
    "no rows": lambda ls: [],
    "swapped rows": lambda ls: [ls[0], ls[2], ls[1], *ls[3:]],
    "a repeated row": lambda ls: [*ls[:3], ls[2], *ls[3:]],
    "a doubled key": lambda ls: [*ls[:2], ls[2].replace(b'{"schema"', b'{"seq":3,"schema"'), *ls[3:]],
    "no JSON": lambda ls: [*ls[:2], b"{oops\n", *ls[3:]],
    "a torn row in the middle": lambda ls: [*ls[:2], ls[2][:-1], *ls[3:]],
    "another schema": lambda ls: [*ls[:2], ls[2].replace(b"journal/1", b"journal/2"), *ls[3:]],
    "an unknown kind": lambda ls: [*ls[:2], ls[2].replace(b'"decision"', b'"decisive"'), *ls[3:]],
    "an added key": lambda ls: [*ls[:2], ls[2].replace(b'"n":3', b'"n":3,"m":1'), *ls[3:]],
}


@pytest.mark.parametrize("edit", EDITS)
def test_an_edit_is_found(edit):
    lines = segment(5)
    assert not records.verify(EDITS[edit](lines), head_of(lines)).ok


def test_a_rewritten_chain_is_found_by_the_head():
    lines = segment(5)
    prev, forged = records.ZERO, []
    for seq in range(1, 6):
        line, prev = records.encode(seq, "t", "decision", "run", prev, {"tool": "ls"})
        forged.append(line)
    assert not records.verify(forged, head_of(lines)).ok
    assert not records.verify(forged, head_of(lines[:2])).ok


@pytest.mark.parametrize("head", [None, b"", b"{}", b"garbage", b'{"schema":"checkrein.journal-head/1","count":"5"}'])
def test_a_head_that_says_nothing_is_a_fault(head):
    assert not records.verify(segment(3), head).ok


def test_heads_have_one_length():
    assert len({len(records.encode_head(count, records.ZERO)) for count in (0, 9, 10**15)}) == 1
