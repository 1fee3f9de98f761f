"""Streams that no provider sends: events dropped, doubled, out of order, bytes flipped. Nothing raises, nothing leaks."""

from __future__ import annotations

from typing import Any

import orjson
from exchanges import PROFILE, SECRET, Run, drive, everything, names, secret, stream
from hypothesis import given, settings
from hypothesis import strategies as st

from checkrein.vocab.commands import Finish
from checkrein.wire.sse import Decoder

BASES = [name for name in names("provider-") if "-parallel-" not in name]
EVENTS = {name: [frame.raw for frame in Decoder().feed(stream(name))] for name in BASES}


def seen_by_a_client(data: bytes) -> list[dict[str, Any]]:
    """The items that a client would take for finished: it reads what it can, and skips the rest."""
    decoder, found = Decoder(), []
    for frame in [*decoder.feed(data), *decoder.end()]:
        try:
            event = orjson.loads(frame.data or b"null")
        except orjson.JSONDecodeError:
            continue
        if isinstance(event, dict) and event.get("type") == "response.output_item.done":
            found.append(event.get("item"))
    return found


def check(run: Run) -> None:
    released = [call for call in run.seen if any(row["released"] and row["call_id"] == call.id for row in run.rows("decision"))]
    for item in seen_by_a_client(run.out):
        if isinstance(item, dict) and item.get("type") not in PROFILE.passive:
            assert item.get("call_id") in {call.id for call in released}
    assert isinstance(run.commands[-1], Finish)
    assert len(run.rows("decision")) >= len(run.seen)


def crossed(mine: bytes, other: bytes, key: str) -> bytes:
    """An event that speaks of the item of another event."""
    event, donor = (orjson.loads(Decoder().feed(raw)[0].data or b"null") for raw in (mine, other))
    value = donor.get(key) or donor.get("item", {}).get("id")
    return b"data: " + orjson.dumps({**event, key: value}) + b"\n\n"


@st.composite
def disordered(draw: st.DrawFn) -> bytes:
    """The events of one or two answers, each kept, dropped, doubled or moved."""
    events = [*EVENTS[draw(st.sampled_from(BASES))]]
    if draw(st.booleans()):
        events += EVENTS[draw(st.sampled_from(BASES))]
    for _ in range(draw(st.integers(1, 6))):
        at = draw(st.integers(0, len(events) - 1))
        match draw(st.sampled_from(["drop", "double", "move", "cross", "swap"])):
            case "drop" if len(events) > 1:
                del events[at]
            case "double":
                events.insert(draw(st.integers(0, len(events))), events[at])
            case "move":
                events.insert(draw(st.integers(0, len(events) - 1)), events.pop(at))
            case "cross":
                events.insert(
                    at, crossed(events[at], draw(st.sampled_from(events)), draw(st.sampled_from(["item_id", "output_index"])))
                )
            case _:
                other = draw(st.integers(0, len(events) - 1))
                events[at], events[other] = events[other], events[at]
    return b"".join(events)


@settings(max_examples=250, deadline=None)
@given(disordered())
def test_events_out_of_order_leak_nothing(data: bytes) -> None:
    run = drive([data], secret)
    check(run)
    assert SECRET.encode() not in run.out
    check(drive([data], everything))


@settings(max_examples=250, deadline=None)
@given(st.sampled_from(BASES), st.lists(st.tuples(st.integers(0, 25_000), st.integers(0, 255)), min_size=1, max_size=4))
def test_flipped_bytes_leak_nothing(name: str, flips: list[tuple[int, int]]) -> None:
    data = bytearray(stream(name))
    for at, value in flips:
        data[at % len(data)] = value
    run = drive([bytes(data)], everything)
    check(run)
    assert all(item["type"] in PROFILE.passive for item in seen_by_a_client(run.out))


@settings(max_examples=150, deadline=None)
@given(disordered(), st.integers(1, 400))
def test_chunking_matters_to_no_stream(data: bytes, step: int) -> None:
    chunks = [data[at : at + step] for at in range(0, len(data), step)]
    whole, parts = drive([data], secret), drive(chunks, secret)
    assert (whole.out, whole.records) == (parts.out, parts.records)
