"""The journal against the harness's transcript, both ways."""

from __future__ import annotations

from typing import Any

import orjson
import pytest

from checkrein.turns.witness import FindingKind, call_of, compare
from checkrein.vocab.calls import Call
from checkrein.vocab.verdicts import Outcome, Verdict
from checkrein.wire import rollout

TURN = {"internal_chat_message_metadata_passthrough": {"turn_id": "turn1"}}


def line(kind: str, payload: dict[str, Any]) -> bytes:
    return orjson.dumps({"timestamp": "t", "ordinal": 1, "type": kind, "payload": payload})


def act(item: dict[str, Any]) -> bytes:
    return line("event_msg", {"type": "item_completed", "turn_id": "turn1", "item": item})


def command(call_id: str, *argv: str) -> bytes:
    return act({"type": "CommandExecution", "id": call_id, "command": list(argv), "cwd": "/w", "status": "completed"})


def output(call_id: str) -> bytes:
    return line("response_item", {"type": "function_call_output", "call_id": call_id, "output": "x", **TURN})


def decision(call_id: str, *, released: bool) -> dict[str, Any]:
    return {"kind": "decision", "call_id": call_id, "tool": "exec_command", "released": released}


def kinds(rows: list[dict[str, Any]], *lines: bytes) -> list[FindingKind]:
    return [finding.kind for finding in compare(rows, [rollout.read(lines)])]


def test_a_run_that_agrees_has_no_findings() -> None:
    assert kinds([decision("c1", released=True)], command("c1", "ls"), output("c1")) == []


def test_what_ran_without_a_decision_is_found_once() -> None:
    assert kinds([], command("c1", "ls"), output("c1")) == [FindingKind.UNJUDGED]


def test_a_refused_call_that_ran_is_found() -> None:
    assert kinds([decision("c1", released=False)], command("c1", "rm", "-rf", "/x")) == [FindingKind.REFUSED]


def test_an_allowed_call_that_never_ran_is_found_and_is_not_grave() -> None:
    (finding,) = compare([decision("c1", released=True)], [rollout.read([])])
    assert (finding.kind, finding.grave) == (FindingKind.IDLE, False)


@pytest.mark.parametrize(("outcome", "grave"), [(Outcome.ALLOW, False), (Outcome.DENY, True), (Outcome.ASK, True)])
def test_what_only_the_transcript_shows_is_judged_again(outcome: Outcome, grave: bool) -> None:
    asked: list[Call] = []

    def judge(call: Call) -> Verdict:
        asked.append(call)
        return Verdict(outcome, outcome is Outcome.ALLOW, call.name, "codex")

    (finding,) = compare([], [rollout.read([command("exec-1234", "rm", "x")])], judge)
    assert (finding.kind, finding.grave) == (FindingKind.HIDDEN, grave)
    assert asked[0].args == {"command": ["rm", "x"], "workdir": "/w"}


def test_what_only_the_transcript_shows_is_grave_while_nobody_judges_it() -> None:
    (finding,) = compare([], [rollout.read([command("exec-1234", "ls")])])
    assert finding.grave


def test_a_turn_that_the_gateway_never_saw_is_found() -> None:
    rows = [{"kind": "request", "turn": "turn0"}]
    lines = [
        line("event_msg", {"type": "task_started", "turn_id": "turn1"}),
        line("token_usage_record", {"response_id": "r1", "turn_id": "turn1"}),
    ]
    assert kinds(rows, *lines) == [FindingKind.UNSEEN_TURN]
    assert kinds([{"kind": "request", "turn": "turn1"}], *lines) == []


def test_a_torn_line_is_said_and_the_rest_is_read() -> None:
    assert kinds([], b'{"type":"response_item","payl', command("c1", "ls")) == [FindingKind.UNREADABLE, FindingKind.UNJUDGED]


def test_a_change_of_files_becomes_a_patch_that_names_them() -> None:
    item = {"type": "FileChange", "id": "exec-1", "changes": {"/w/a": {"type": "add"}, "/w/b": {"type": "delete"}}}
    (entry,) = rollout.read([act(item)]).entries
    assert call_of(entry).args["input"].splitlines()[1:4] == ["*** Add File: /w/a", "+", "*** Delete File: /w/b"]


def test_an_mcp_call_keeps_its_server_as_namespace() -> None:
    item = {"type": "McpToolCall", "id": "exec-1", "server": "probe-srv", "tool": "fetch-url", "arguments": {"u": 1}}
    (entry,) = rollout.read([act(item)]).entries
    assert (call_of(entry).namespace, call_of(entry).name) == ("mcp__probe_srv", "fetch_url")
