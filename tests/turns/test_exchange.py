"""The exchange by example: order of commands, forms of refusal, ends of every kind."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import orjson
import pytest
from exchanges import PROFILE, Run, begin, drive, everything, nothing, secret, stream, without_keep_alives
from responses_shape import check, events

from checkrein.profiles.schema import Carriage, Denial
from checkrein.turns.exchange import Exchange, Options
from checkrein.turns.intake import Intake
from checkrein.vocab.calls import Call
from checkrein.vocab.commands import Answer, Finish, Record, Send, Start, Sync
from checkrein.vocab.reasons import Reason
from checkrein.vocab.verdicts import Outcome, Verdict
from checkrein.wire.request import Request

SSE = [(b"content-type", b"text/event-stream")]
JSON = [(b"content-type", b"application/json")]


def shape(run: Run) -> list[str]:
    return [f"{type(c).__name__}:{c.kind}" if isinstance(c, Record) else type(c).__name__ for c in run.commands]


def frames(data: bytes) -> list[bytes]:
    return [block + b"\n\n" for block in data.split(b"\n\n")[:-1]]


# Order.


def test_a_call_leaves_after_its_verdict_is_on_disk() -> None:
    run = drive([stream("exec-command-0")])
    # created | decision, sync, the call, its record | usage, completed, end
    assert shape(run) == [
        "Start", "Send", "Record:decision", "Sync", "Send", "Record:carried", "Record:usage", "Send", "Finish",
    ]  # fmt: skip


def test_text_leaves_at_once_and_a_call_only_with_its_last_event() -> None:
    data = stream("guard-drop-one-plus-text-0")
    run = begin()
    run.exchange.head(200, SSE)
    for frame in frames(data):
        event = events(frame)[0]
        sent = b"".join(c.data for c in run.exchange.feed(frame) if isinstance(c, Send))
        of_call = event.get("item", {}).get("type") == "function_call" or "arguments" in event["type"]
        if not of_call:
            assert sent == frame
        elif event["type"] == "response.output_item.done":
            assert sent.endswith(frame)
            assert sent.count(b"event:") == 4
        else:
            assert sent == b""


def test_what_comes_behind_a_held_call_waits_for_it() -> None:
    run = drive([stream("provider-interleaved")])
    assert run.out == stream("provider-interleaved")
    before = stream("provider-interleaved").split(b"function_call_arguments.done")[0]
    run = drive([before], end=False)
    assert b"meanwhile" not in run.out


# Forms of refusal.


def test_some_left_drops_the_refused_and_leaves_a_note_in_its_place() -> None:
    run = drive([stream("provider-parallel")], secret)
    items = check(run.out)
    assert [item["type"] for item in items] == [
        "reasoning", "message", "function_call", "message", "custom_tool_call", "function_call",
    ]  # fmt: skip
    note = items[3]["content"][0]["text"]
    assert note.startswith("[checkrein] The call to `functions.exec_command` was refused (POLICY_BLOCK)")
    assert ("call_0003", "drop") in run.forms
    assert "end_turn" not in events(run.out)[-1]["response"]


def test_the_calls_that_are_left_keep_their_very_words() -> None:
    before = {item["id"]: item for item in check(stream("provider-parallel"))}
    for item in check(drive([stream("provider-parallel")], secret).out):
        if item["type"] != "message" or not item["content"][0]["text"].startswith("[checkrein]"):
            assert item == before[item["id"]]


def test_what_follows_a_refused_call_changes_in_its_sequence_number_only() -> None:
    plain = {orjson.dumps(e["item"]) for e in events(stream("provider-parallel")) if e["type"].endswith("item.done")}
    out = drive([stream("provider-parallel")], secret).out
    last_call = next(block for block in frames(out) if b'"update_plan"' in block and b"item.done" in block)
    assert orjson.dumps(events(last_call)[0]["item"]) in plain
    original = next(b for b in frames(stream("provider-parallel")) if b'"update_plan"' in b and b"item.done" in b)
    number, moved = events(original)[0]["sequence_number"], events(last_call)[0]["sequence_number"]
    assert last_call == original.replace(b'"sequence_number":%d' % number, b'"sequence_number":%d' % moved)


def test_no_call_left_asks_the_harness_to_ask_again() -> None:
    run = drive([stream("exec-command-0")], everything)
    last = events(run.out)[-1]["response"]
    assert last["end_turn"] is False
    assert run.forms == [("call_0002", "continue")]
    assert run.exchange.outcome.form is Carriage.CONTINUE


@pytest.mark.parametrize(
    ("done", "limit", "again"), [(0, None, True), (1, None, True), (2, None, False), (0, 0, False), (4, 5, True)]
)
def test_asking_again_is_bounded_per_turn(done: int, limit: int | None, again: bool) -> None:
    run = drive([stream("exec-command-0")], everything, continuations=done, options=Options(continue_limit=limit))
    assert ("end_turn" in events(run.out)[-1]["response"]) is again
    assert run.forms == [("call_0002", "continue" if again else "text")]


def test_a_providers_own_wish_to_go_on_is_taken_out_with_the_last_call() -> None:
    assert b'"end_turn":false' in stream("provider-single")
    assert b"end_turn" not in drive([stream("provider-single")], secret, continuations=2).out
    assert drive([stream("provider-single")], nothing, continuations=2).out == stream("provider-single")


def test_a_profile_without_a_native_continuation_ends_in_text() -> None:
    profile = replace(PROFILE, denial=Denial(none_left=Carriage.FEEDBACK))
    run = drive([stream("exec-command-0")], everything, profile=profile)
    assert run.forms == [("call_0002", "text")]
    assert "end_turn" not in events(run.out)[-1]["response"]


def test_usage_stays_as_the_provider_reported_it() -> None:
    before = events(stream("provider-parallel"))[-1]["response"]["usage"]
    run = drive([stream("provider-parallel")], everything)
    assert events(run.out)[-1]["response"]["usage"] == before
    assert run.rows("usage")[0]["tokens"] == before


def test_an_empty_list_of_output_stays_empty() -> None:
    last = events(drive([stream("provider-bare")], everything).out)[-1]["response"]
    assert last["output"] == []
    assert last["end_turn"] is False


# What the judge is given, what it may do.


def test_the_judge_sees_the_call_as_it_is_declared() -> None:
    body = {"tools": [{"type": "function", "name": "exec_command", "parameters": {"properties": {"cmd": {}, "workdir": {}}}}]}
    from checkrein.wire import WIRES

    request = WIRES["openai-responses"].request({**body, "stream": True})
    run = drive([stream("provider-parallel")], request=request)
    assert run.seen[0].declared == {"cmd", "workdir"}
    assert run.seen[1].namespace == "functions"
    assert run.seen[1].declared == {"cmd", "workdir"}
    assert run.seen[2].args == {"input": run.seen[2].text}
    assert run.seen[2].declared is None


def failing(call: Call) -> Any:
    raise RuntimeError(call.name)


def wordless(call: Call) -> Any:
    return True


@pytest.mark.parametrize("judge", [failing, wordless])
def test_a_judge_that_fails_admits_nothing(judge: Any) -> None:
    exchange = Exchange(PROFILE, judge, Intake(Request(stream=True)))
    exchange.head(200, SSE)
    commands = [*exchange.feed(stream("exec-command-0")), *exchange.end()]
    rows = [command.fields for command in commands if isinstance(command, Record) and command.kind == "decision"]
    assert [(row["released"], row["reason"]) for row in rows] == [(False, "INTERNAL_ERROR")]
    assert b"echo hi" not in b"".join(command.data for command in commands if isinstance(command, Send))


def test_a_question_without_an_answer_is_not_released() -> None:
    def ask(call: Call) -> Verdict:
        return Verdict(Outcome.ASK, False, call.name, "codex", Reason.NEEDS_APPROVAL, message="it is for the operator to say")

    exchange = Exchange(PROFILE, ask, Intake(Request(stream=True)))
    exchange.head(200, SSE)
    commands = [*exchange.feed(stream("exec-command-0")), *exchange.end()]
    assert b"echo hi" not in b"".join(command.data for command in commands if isinstance(command, Send))
    row = next(command.fields for command in commands if isinstance(command, Record) and command.kind == "decision")
    assert (row["verdict"], row["released"], row["reason"]) == ("ask", False, "NEEDS_APPROVAL")


def test_a_refusal_in_observation_is_released_and_says_so() -> None:
    def observe(call: Call) -> Any:
        from exchanges import judging

        return replace(judging(everything)(call), released=True)

    exchange = Exchange(PROFILE, observe, Intake(Request(stream=True)))
    exchange.head(200, SSE)
    commands = [*exchange.feed(stream("exec-command-0")), *exchange.end()]
    assert b"".join(command.data for command in commands if isinstance(command, Send)) == stream("exec-command-0")
    row = next(command.fields for command in commands if isinstance(command, Record) and command.kind == "decision")
    assert (row["verdict"], row["released"]) == ("deny", True)


def test_a_decision_row_has_what_the_contract_says() -> None:
    row = drive([stream("provider-single")], secret).rows("decision")[0]
    for key in [
        "session",
        "thread",
        "request",
        "call_id",
        "tool",
        "namespace",
        "profile",
        "wire",
        "effects",
        "verdict",
        "reason",
        "rule",
        "layer",
        "args_digest",
        "args",
        "policy_digest",
        "profile_digest",
        "released",
        "read_only",
    ]:
        assert key in row
    assert row["args"] == {"cmd": "echo DENIED_SENTINEL"}
    assert orjson.dumps(row)


# Ends.


def test_a_stream_that_ends_early_releases_nothing_held_and_is_journaled() -> None:
    data = stream("exec-command-0")
    run = drive([data[: data.index(b"response.output_item.done")]])
    assert b"exec_command" not in run.out
    assert run.verdicts == []
    row = run.rows("upstream")[0]
    assert (row["event"], row["failed"]) == ("cut", True)
    assert row["held"] == [{"call_id": "call_0002", "tool": "exec_command", "namespace": None}]
    assert run.finished


def test_a_provider_that_fails_takes_its_open_call_with_it() -> None:
    run = drive([stream("provider-failed")])
    assert b"exec_command" not in run.out
    last = events(run.out)[-1]
    assert last["type"] == "response.failed"
    assert [item["type"] for item in last["response"]["output"]] == ["message"]
    numbers = [event["sequence_number"] for event in events(run.out)]
    assert numbers == list(range(len(numbers)))
    assert run.rows("upstream")[0]["why"] == "server_error"


def test_an_upstream_that_cannot_be_reached_is_an_error_that_may_be_retried() -> None:
    run = begin()
    run.commands = run.exchange.fail("connection refused")
    assert run.answer is not None
    assert run.answer.status == 502
    assert run.finished


def test_an_http_error_passes_with_its_bytes() -> None:
    run = begin()
    body = b'{"error":{"message":"busy"}}'
    run.commands = [
        *run.exchange.head(503, [*JSON, (b"Retry-After", b"3"), (b"Connection", b"close")]),
        *run.exchange.feed(body),
    ]
    run.commands += run.exchange.end()
    start = run.commands[0]
    assert start == Start(503, ((b"content-type", b"application/json"), (b"retry-after", b"3")))
    assert run.out == body
    assert run.rows("upstream")[0]["status"] == 503


@pytest.mark.parametrize(
    ("status", "headers", "why"),
    [
        (200, [(b"content-type", b"application/json")], "content type"),
        (200, [(b"content-type", b"text/html")], "content type"),
        (200, [(b"content-type", b"text/event-stream"), (b"content-type", b"text/plain")], "content type"),
        (200, [*SSE, (b"content-encoding", b"gzip")], "encoded"),
        (200, [*SSE, (b"Content-Encoding", b"br")], "encoded"),
        (302, [(b"location", b"http://elsewhere/")], "302"),
        (101, [], "101"),
    ],
)
def test_an_answer_of_the_wrong_kind_is_refused_in_the_terminal_form(status: int, headers: list[Any], why: str) -> None:
    run = begin()
    run.commands = run.exchange.head(status, headers)
    assert run.answer is not None
    assert run.answer.status == 400
    error = orjson.loads(run.answer.body)["error"]
    assert error["code"] == "invalid_prompt"
    assert why in error["message"]
    assert run.rows("upstream")[0]["reason"] == "PROTOCOL_VIOLATION"
    assert run.exchange.feed(stream("exec-command-0")) == []


def test_headers_of_one_connection_do_not_pass() -> None:
    run = begin()
    given = [
        *SSE,
        (b"X-Codex-Turn-State", b"abc"),
        (b"Transfer-Encoding", b"chunked"),
        (b"Alt-Svc", b"h3"),
        (b"Content-Length", b"9"),
    ]
    run.commands = run.exchange.head(200, given)
    assert run.commands == [Start(200, ((b"content-type", b"text/event-stream"), (b"x-codex-turn-state", b"abc")))]


def test_a_missing_content_type_is_read_as_what_was_asked_for() -> None:
    run = begin()
    run.commands = [*run.exchange.head(200, []), *run.exchange.feed(stream("exec-command-0")), *run.exchange.end()]
    assert run.out == stream("exec-command-0")


def test_what_goes_on_after_the_last_event_does_not_leave() -> None:
    data = stream("exec-command-0")
    late = data.replace(b"fc_0001", b"fc_0009").replace(b"call_0002", b"call_0009")
    run = drive([data + b": bye\n\ndata: [DONE]\n\n" + late[late.index(b"event: response.output_item.added") :]])
    assert run.out == data + b": bye\n\ndata: [DONE]\n\n"
    assert [row[1] for row in run.verdicts if row[2]] == ["call_0002"]


# Size.


def test_an_event_over_the_limit_ends_the_answer() -> None:
    data = stream("exec-command-0")
    run = drive([data], options=Options(event_limit=300))
    assert run.exchange.outcome.broken is Reason.OVERSIZE
    assert events(run.out)[-1]["type"] == "response.failed"
    assert b"echo hi" in run.out  # the call itself was under the limit, the list of all output is over it
    assert b"usage" not in run.out


def test_holding_is_bounded() -> None:
    head = stream("exec-command-0").split(b"event: response.function_call_arguments.done")[0]
    delta = b'data: {"type":"response.function_call_arguments.delta","item_id":"fc_0001","output_index":0,"delta":"%s"}\n\n' % (
        b"x" * 1000
    )
    run = drive([head, *[delta] * 20], options=Options(held_limit=10_000), end=False)
    assert run.exchange.outcome.broken is Reason.OVERSIZE
    assert b"xxx" not in run.out


# Clients and journals that fail.


def test_a_client_that_leaves_gets_nothing_more_and_is_journaled() -> None:
    run = begin()
    run.commands = run.exchange.head(200, SSE)
    commands = run.exchange.feed(stream("exec-command-0").split(b"event: response.completed")[0])
    at = next(n for n, command in enumerate(commands) if isinstance(command, Send) and b"echo hi" in command.data)
    run.commands += [*commands[:at], *run.exchange.gone(commands[at:])]
    assert run.verdicts == [("exec_command", "call_0002", True)]
    assert run.forms == [("call_0002", "undelivered")]
    assert run.rows("upstream")[-1]["event"] == "gone"
    assert b"echo hi" not in run.out
    assert run.exchange.feed(b"data: {}\n\n") == []
    assert isinstance(run.commands[-1], Finish)


def test_a_client_that_leaves_while_a_call_is_held_is_journaled() -> None:
    run = drive([stream("exec-command-0").split(b"event: response.output_item.done")[0]], end=False)
    run.commands += run.exchange.gone()
    assert run.verdicts == []
    assert run.rows("upstream")[-1]["event"] == "gone"


def test_a_client_that_leaves_after_the_last_event_has_missed_nothing() -> None:
    run = drive([stream("exec-command-0")], end=False)
    assert run.exchange.gone() == [Finish()]
    assert run.exchange.gone() == []


def test_without_a_durable_record_nothing_is_released() -> None:
    run = begin()
    run.exchange.head(200, SSE)
    commands = run.exchange.feed(stream("exec-command-0"))
    at = next(n for n, command in enumerate(commands) if isinstance(command, Sync))
    rest = run.exchange.unrecorded("no space left", commands[at:])
    assert not any(isinstance(command, Record) for command in rest)
    assert events(b"".join(command.data for command in rest if isinstance(command, Send)))[0]["type"] == "response.failed"
    assert b"no space left" in rest[0].data
    assert isinstance(rest[-1], Finish)
    assert run.exchange.end() == []


# Keep-alive.


def test_keep_alives_stop_when_upstream_has_been_silent_for_long() -> None:
    run = drive(
        [stream("exec-command-0").split(b"event: response.output_item.done")[0]], end=False, options=Options(keep_alive_limit=3)
    )
    assert [len(run.exchange.tick()) for _ in range(5)] == [1, 1, 1, 0, 0]
    run.exchange.feed(b": still here\n\n")
    assert len(run.exchange.tick()) == 1


def test_a_keep_alive_is_an_event_of_the_profile_and_tells_itself_apart() -> None:
    run = drive([b"event: ".join(stream("provider-single").split(b"event: ")[:12])], end=False)
    assert run.exchange.holding
    (sent,) = run.exchange.tick()
    assert isinstance(sent, Send)
    assert events(sent.data) == []
    (event,) = events(sent.data, keep_alives=True)
    assert event["type"] == "response.in_progress"
    assert event["response"]["id"] == f"resp_{2:032x}"
    assert without_keep_alives(sent.data) == b""


# One JSON document.


def document(name: str) -> bytes:
    return orjson.dumps({**events(stream(name))[-1]["response"], "output": check(stream(name))}, option=orjson.OPT_INDENT_2)


def test_a_document_with_nothing_refused_passes_as_it_came() -> None:
    body = document("provider-parallel")
    run = drive([body[:100], body[100:]], stream=False)
    assert run.out == body
    assert len(run.verdicts) == 4
    assert {form for _, form in run.forms} == {"released"}


def test_a_document_carries_a_note_in_place_of_a_refused_call() -> None:
    run = drive([document("provider-parallel")], secret, stream=False)
    answer = orjson.loads(run.out)
    assert [item["type"] for item in answer["output"]] == [
        "reasoning", "message", "function_call", "message", "custom_tool_call", "function_call",
    ]  # fmt: skip
    assert b"DENIED_SENTINEL" not in run.out
    assert ("call_0003", "drop") in run.forms
    last = orjson.loads(drive([document("provider-single")], everything, stream=False).out)
    assert last["end_turn"] is False
    assert last["usage"] == events(stream("provider-single"))[-1]["response"]["usage"]


def test_a_document_starts_only_after_its_verdicts_are_on_disk() -> None:
    run = drive([document("exec-command-0")], stream=False)
    assert shape(run)[:4] == ["Record:decision", "Sync", "Start", "Send"]


@pytest.mark.parametrize(
    "body", [b"", b"{}", b"[]", b'{"output":{}}', b'{"output":[{}]}', b'{"output":[],"output":[]}', b"{} x"]
)
def test_a_document_that_cannot_be_read_is_refused(body: bytes) -> None:
    run = drive([body], stream=False)
    assert isinstance(run.answer, Answer)
    assert run.answer.status == 400
    assert run.out == b""


def test_a_document_over_the_limit_is_refused() -> None:
    run = drive([document("exec-command-0")], stream=False, options=Options(body_limit=50))
    assert run.exchange.outcome.broken is Reason.OVERSIZE
    assert run.answer is not None


def test_the_outcome_says_what_became_of_it() -> None:
    outcome = drive([stream("provider-parallel")], secret).exchange.outcome
    assert [call.id for call in outcome.released] == ["call_0002", "call_0004", "call_0005"]
    assert [call.id for call, _ in outcome.refused] == ["call_0003"]
    assert (outcome.form, outcome.complete, outcome.broken) == (Carriage.DROP, True, None)
