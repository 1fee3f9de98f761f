"""Only the finished item decides a call; every other copy of it must agree. Cases are edits of one recorded stream."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import orjson
import pytest
from exchanges import SECRET, Run, drive, nothing, stream
from responses_shape import events

from checkrein.vocab.reasons import Reason

CASES = [
    json.loads(line) for line in (Path(__file__).parents[1] / "cases/wire/responses-copies.jsonl").read_text().splitlines()
]


def edited(case: dict[str, Any]) -> list[dict[str, Any]]:
    found = events(stream("exec-command-0"))
    for edit in case["edits"]:
        if "delete" in edit:
            del found[edit["delete"]]
        elif "insert" in edit:
            found.insert(edit["insert"], copy.deepcopy(found[edit["copy"]]) if "copy" in edit else edit["event"])
        else:
            for pointer, value in edit["set"].items():
                put(found[edit["at"]], pointer, value)
    return found


def put(event: Any, pointer: str, value: Any) -> None:
    *path, last = pointer.removeprefix("/").split("/")
    for part in path:
        event = event[int(part)] if isinstance(event, list) else event[part]
    if isinstance(event, list):
        event.insert(int(last), value)
    else:
        event[last] = value


def spelled(found: list[dict[str, Any]]) -> bytes:
    return b"".join(b"data: " + orjson.dumps(event) + b"\n\n" for event in found)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["note"])
def test_copies_of_a_call(case: dict[str, Any]) -> None:
    data = spelled(edited(case))
    run = drive([data], nothing)
    want = case["want"]
    if want == "released":
        assert run.out == data
        assert [row[2] for row in run.verdicts] == [True]
        return
    why = case.get("why", "")
    if want == "refused":
        (row,) = run.rows("decision")
        assert (row["reason"], why in row["fault"]) == ("MALFORMED", True)
        assert b"echo hi" not in run.out
        assert events(run.out)[-1]["type"] == "response.completed"
        return
    check_broken(run, why, early=want == "broken")


def check_broken(run: Run, why: str, *, early: bool) -> None:
    """The answer ends in the terminal form, once; nothing that was held has left, and the journal says why."""
    assert run.exchange.outcome.broken is Reason.PROTOCOL_VIOLATION
    last = events(run.out)[-1]
    assert last["type"] == "response.failed"
    assert last["response"]["error"]["code"] == "invalid_prompt"
    assert b"response.completed" not in run.out
    assert run.finished
    assert why in run.rows("upstream")[-1]["why"]
    if early:
        assert b"echo hi" not in run.out
        assert not any(row["released"] for row in run.rows("decision"))
    assert run.rows("carried")


@pytest.mark.parametrize(
    "event",
    [
        b'{"type":"response.output_text.delta","type":"response.output_item.done","delta":"x"}',
        b'{"type":"response.output_text.delta","\\u0074ype":"response.output_item.done","delta":"x"}',
        b'{"type":"response.output_item.done","item":{"type":"message","type":"function_call","name":"exec_command"}}',
        b'{"type":"response.output_text.delta","delta":"x"',
        b'{"type":"response.output_text.delta","delta":NaN}',
        b'{"type":"response.output_text.delta","delta":"\xff"}',
        b'{"type":"response.output_text.delta","delta":"\\ud83e"}',
        b'["response.output_item.done"]',
        b'"response.output_item.done"',
        b"null",
        b"[[[[" * 100_000,
        b'{"type":"response.output_text.delta"} {"type":"response.output_item.done"}',
    ],
    ids=range(12),
)
def test_an_event_that_cannot_be_read_in_one_way_ends_the_answer(event: bytes) -> None:
    data = stream("exec-command-0")
    cut = data.index(b"event: response.output_item.done")
    run = drive([data[:cut] + b"data: " + event + b"\n\n" + data[cut:]])
    check_broken(run, "", early=True)
    assert run.rows("decision")[0]["reason"] == "PROTOCOL_VIOLATION"
    assert run.forms == [("call_0002", "error")]


def test_the_name_of_an_event_says_nothing() -> None:
    data = stream("exec-command-0").replace(b"event: response.output_item.done", b"event: response.output_text.delta")
    assert drive([data]).out == data
    assert drive([data], lambda call: True).verdicts == [("exec_command", "call_0002", False)]


def test_an_escaped_type_is_the_type() -> None:
    data = stream("exec-command-0").replace(
        b'"type": "response.output_item.done"', b'"\\u0074ype": "response.output_item.d\\u006fne"'
    )
    assert b"echo hi" not in drive([data], lambda call: True).out


def test_one_call_id_for_two_calls_admits_the_first_only() -> None:
    first = events(stream("exec-command-0"))
    second = json.loads(json.dumps(first[1:5]).replace("fc_0001", "fc_2").replace('"output_index": 0', '"output_index": 1'))
    last = first[5]
    last["response"]["output"].append(second[3]["item"])
    run = drive([spelled([*first[:5], *second, last])])
    assert run.verdicts == [("exec_command", "call_0002", True), ("exec_command", "call_0002", False)]
    assert [item["type"] for item in events(run.out)[-1]["response"]["output"]] == ["function_call", "message"]


@pytest.mark.parametrize(
    "shape", ["shell_call", "apply_patch_call", "mcp_call", "computer_call", "exec_command", "message_exec", "brand_new"]
)
def test_an_unknown_item_type_is_judged(shape: str) -> None:
    found = events(stream("exec-command-0"))
    item = {"type": shape, "id": "x_1", "call_id": "call_x", "action": {"commands": [SECRET]}}
    found[1:5] = [{"type": "response.output_item.done", "output_index": 0, "item": item}]
    found[-1]["response"]["output"] = [item]
    run = drive([spelled(found)], lambda call: call.kind == "unknown")
    assert run.verdicts == [(shape, "call_x", False)]
    assert SECRET.encode() not in run.out


def test_an_index_used_again_is_no_matter_when_ids_differ() -> None:
    found = events(stream("guard-drop-one-plus-text-0"))
    for event in found:
        if "output_index" in event:
            event["output_index"] = 0
    data = spelled(found)
    assert drive([data]).out == data
