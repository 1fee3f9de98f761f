from __future__ import annotations

import itertools

import pytest
from exchanges import names, stream
from hypothesis import example, given, settings
from hypothesis import strategies as st

from checkrein.wire.sse import Decoder, Frame, data_of, encode


def decode(*chunks: bytes, limit: int = 1 << 20) -> list[Frame]:
    decoder = Decoder(limit)
    return [frame for chunk in chunks for frame in decoder.feed(chunk)] + decoder.end()


# Pieces from which awkward streams are made: line ends of all kinds beside each other, marks, halves of characters.
ATOMS = st.sampled_from(
    [
        b"\n",
        b"\r",
        b"\r\n",
        b"\n\n",
        b"data: {}",
        b"data:x",
        b"data",
        b": c",
        b"event: e",
        b"\xef\xbb\xbf",
        b"\xf0\x9f",
        b"id: 1",
    ]
)


@settings(max_examples=400)
@given(st.lists(ATOMS, max_size=14).map(b"".join), st.lists(st.integers(0, 60), max_size=6))
@example(b"data: 1\r\n\r\ndata: 2\r\n\r\n", [10])
@example(b"data: 1\r\rdata: 2", [9])
@example(b"\n\n\n\n", [1])
def test_any_chunking_gives_the_same_frames(data: bytes, cuts: list[int]) -> None:
    edges = [0, *sorted(min(cut, len(data)) for cut in cuts), len(data)]
    chunks = [data[a:b] for a, b in itertools.pairwise(edges)]
    whole = decode(data)
    assert decode(*chunks) == whole
    assert decode(*(bytes([byte]) for byte in data)) == whole
    assert b"".join(frame.raw for frame in whole) == data


def reference(data: bytes) -> list[bytes]:
    """The event-stream rules of the HTML standard, line by line, with a last event that lacks its blank line."""
    found, lines = [], []
    for line in [*data.removeprefix(b"\xef\xbb\xbf").splitlines(), b""]:
        if not line:
            joined = b"\n".join(lines)
            found += [joined] if joined else []
            lines = []
        elif line.split(b":")[0] == b"data":
            lines.append(line[5:].removeprefix(b" "))
    return found


@settings(max_examples=400)
@given(st.lists(ATOMS, max_size=14).map(b"".join))
def test_the_data_is_what_the_standard_says(data: bytes) -> None:
    assert [frame.data for frame in decode(data) if frame.data is not None] == reference(data)


@pytest.mark.parametrize("name", names())
def test_recorded_streams_are_read_whole(name: str) -> None:
    data = stream(name)
    frames = decode(data)
    assert b"".join(frame.raw for frame in frames) == data
    assert [frame.data for frame in frames if frame.data] == reference(data)


@pytest.mark.parametrize(
    ("block", "data"),
    [
        (b"data: {}\n\n", b"{}"),
        (b"data:{}\n\n", b"{}"),
        (b"data:  {}\n\n", b" {}"),
        (b"event: x\ndata: {}\n\n", b"{}"),
        (b"event: x\ndata: {}\ndata: 1\n\n", b"{}\n1"),
        (b"data: {}\nevent: x\n\n", b"{}"),
        (b"data: a\r\ndata: b\r\n\r\n", b"a\nb"),
        (b"data: a\rdata: b\r\r", b"a\nb"),
        (b"event: x\ndata: a\rdata: b\n\n", b"a\nb"),
        (b"data: a\rb\n\n", b"a"),
        (b"data\ndata\n\n", b"\n"),
        (b"data\n\n", None),
        (b"data:\n\n", None),
        (b": data: {}\n\n", None),
        (b"Data: {}\n\n", None),
        (b" data: {}\n\n", None),
        (b"dataX: {}\n\n", None),
        (b"event: x\n\n", None),
        (b"\n\n", None),
        (b"\ndata: {}\n\n", b"{}"),
    ],
)
def test_data_lines(block: bytes, data: bytes | None) -> None:
    assert data_of(block) == data


def test_a_crlf_is_one_line_end() -> None:
    assert [frame.data for frame in decode(b"data: a\r\ndata: b\r\n\r\ndata: c\r\n\r\n")] == [b"a\nb", b"c"]


def test_a_byte_order_mark_counts_at_the_start_only() -> None:
    first, second = decode(b"\xef\xbb\xbfdata: 1\n\n\xef\xbb\xbfdata: 2\n\n")
    assert (first.data, second.data) == (b"1", None)


def test_what_is_split_inside_a_character_is_joined() -> None:
    data = 'data: {"a":"🦀"}\n\n'.encode()
    assert decode(data[:12], data[12:])[0].data == data[6:-2]


@pytest.mark.parametrize("step", [1, 7, 1000])
def test_a_frame_over_the_limit_overflows_after_what_came_before(step: int) -> None:
    data = b"data: 1\n\ndata: " + b"x" * 50 + b"\n\ndata: 2\n\n"
    decoder = Decoder(limit=40)
    frames = [frame for at in range(0, len(data), step) for frame in decoder.feed(data[at : at + step])]
    assert [frame.data for frame in frames] == [b"1"]
    assert decoder.overflow
    assert decoder.feed(b"data: 3\n\n") == decoder.end() == []


def test_a_large_frame_in_small_pieces_takes_no_quadratic_time() -> None:
    decoder = Decoder()
    for _ in range(40_000):
        decoder.feed(b"x" * 100)  # four megabytes; joining anew each time would copy 80 gigabytes
    assert len(decoder.end()[0].raw) == 4_000_000


def test_what_is_encoded_is_read_back() -> None:
    assert decode(encode("response.x", b'{"a":1}')) == [Frame(b'event: response.x\ndata: {"a":1}\n\n', b'{"a":1}')]
