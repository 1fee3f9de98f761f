"""Reading a Codex rollout: only what tells something about calls, and never an exception."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from checkrein.wire import rollout
from checkrein.wire.rollout import EntryKind


def test_direct_and_nested_acts_are_told_apart() -> None:
    lines = [
        b'{"type":"event_msg","payload":{"type":"item_completed","item":{"type":"CommandExecution","id":"call_1"}}}',
        b'{"type":"event_msg","payload":{"type":"item_completed","item":{"type":"CommandExecution","id":"exec-9"}}}',
        b'{"type":"event_msg","payload":{"type":"item_completed","item":{"type":"AgentMessage","id":"m"}}}',
    ]
    entries = rollout.read(lines).entries
    assert [(entry.kind, entry.nested) for entry in entries] == [(EntryKind.ACT, False), (EntryKind.ACT, True)]


def test_an_output_without_a_call_id_belongs_to_no_call() -> None:
    line = b'{"type":"response_item","payload":{"type":"function_call_output","name":"goal_objective"}}'
    assert rollout.read([line]).entries == ()


@given(st.lists(st.binary(max_size=40), max_size=8))
def test_any_bytes_are_entries_or_faults(lines: list[bytes]) -> None:
    read = rollout.read(lines)
    assert len(read.entries) + len(read.faults) <= len(lines)
