"""The scripted model: a scenario is read strictly and played as written."""

import json

import pytest

from checkrein.profiles.schema import Wire
from checkrein.turns import scenario, script
from checkrein.vocab.errors import ConfigError, ProtocolError

TOOL = {"type": "function", "name": "exec_command", "parameters": {"type": "object", "properties": {"cmd": {"type": "string"}}}}


def player(**fields) -> script.Player:
    text = json.dumps({"schema": scenario.SCHEMA, **fields})
    return script.Player(scenario.load(text, "s.json"), script.TONGUES[Wire.RESPONSES])


def asked(*items, tools=(TOOL,), **fields) -> script.Incoming:
    headers = fields.pop("headers", {})
    body = {"model": "gpt-5.5", "stream": True, "input": list(items), "tools": list(tools), **fields}
    return script.Incoming(headers, body, 400)


def user(text: str) -> dict:
    return {"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}]}


def output(call_id: str, text: str) -> dict:
    return {"type": "function_call_output", "call_id": call_id, "output": text}


def events(reply: script.Reply) -> list[dict]:
    text = b"".join(part.data for part in reply.parts).decode()
    return [json.loads(frame.split("data: ", 1)[1]) for frame in text.split("\n\n") if frame]


def items(reply: script.Reply) -> list[dict]:
    return [event["item"] for event in events(reply) if event["type"] == "response.output_item.done"]


def test_turns_are_played_in_order_and_then_a_closing_text():
    model = player(turns=[{"text": "one"}, {"text": "two"}], closing="that is all")
    said = [items(model.answer(asked()))[0]["content"][0]["text"] for _ in range(4)]
    assert said == ["one", "two", "that is all", "that is all"]


def test_a_loop_repeats_the_last_turn():
    model = player(turns=[{"text": "one"}, {"text": "again"}], loop=True)
    said = [items(model.answer(asked()))[0]["content"][0]["text"] for _ in range(4)]
    assert said == ["one", "again", "again", "again"]


def test_a_stream_agrees_with_itself():
    call = {"name": "exec_command", "namespace": "functions", "args": {"cmd": "echo " + "x" * 100}}
    patch = {"name": "apply_patch", "input": "*** Begin Patch\n*** End Patch\n"}
    reply = player(turns=[{"reasoning": "because", "text": "first", "calls": [call, patch]}]).answer(asked())
    stream = events(reply)
    assert [event["sequence_number"] for event in stream] == list(range(len(stream)))
    last = stream[-1]["response"]
    assert last["output"] == items(reply)
    assert [item["type"] for item in last["output"]] == ["reasoning", "message", "function_call", "custom_tool_call"]
    for kind, key in (("function_call_arguments", "arguments"), ("custom_tool_call_input", "input")):
        deltas = "".join(event["delta"] for event in stream if event["type"] == f"response.{kind}.delta")
        done = next(event[key] for event in stream if event["type"] == f"response.{kind}.done")
        item = next(item for item in last["output"] if key in item)
        assert deltas == done == item[key]
    assert json.loads(last["output"][2]["arguments"]) == call["args"]
    assert last["output"][2]["namespace"] == "functions"
    assert len({item["id"] for item in last["output"]}) == 4
    assert last["usage"]["total_tokens"] == last["usage"]["input_tokens"] + last["usage"]["output_tokens"] > 1


def test_without_stream_the_answer_is_one_document():
    reply = player(turns=[{"text": "x"}]).answer(asked(stream=False))
    assert reply.content_type == "application/json"
    assert json.loads(reply.parts[0].data)["output"][0]["content"][0]["text"] == "x"


def test_auxiliary_requests_use_no_turn():
    model = player(turns=[{"text": "the turn"}], aux=[{"text": "aside"}, {"when": {"user": "title"}, "text": "Named"}])
    assert items(model.answer(asked(tools=())))[0]["content"][0]["text"] == "aside"
    assert items(model.answer(asked(user("a title please"))))[0]["content"][0]["text"] == "Named"
    assert items(model.answer(asked()))[0]["content"][0]["text"] == "the turn"


def test_an_answer_that_must_be_json_fits_its_schema():
    schema = {
        "type": "object",
        "properties": {"title": {"type": "string"}, "risk": {"enum": ["low", "high"]}, "n": {"type": ["null", "integer"]}},
    }
    model = player(turns=[{"text": "the turn"}])
    reply = model.answer(asked(text={"format": {"type": "json_schema", "schema": schema}}))
    assert json.loads(items(reply)[0]["content"][0]["text"]) == {"title": "scripted", "risk": "low", "n": 0}
    assert model.left == 1


def test_a_turn_waits_for_its_condition():
    turns = [
        {"when": {"result": "exit 1"}, "text": "failed"},
        {"when": {"headers": {"thread-id": "t2*"}}, "text": "child"},
        {"text": "plain"},
    ]
    model = player(turns=turns)
    assert items(model.answer(asked()))[0]["content"][0]["text"] == "plain"
    assert items(model.answer(asked(output("c", "exit 1"))))[0]["content"][0]["text"] == "failed"
    assert items(model.answer(asked(headers={"thread-id": "t2-x"})))[0]["content"][0]["text"] == "child"


def test_an_argument_is_taken_from_an_earlier_result():
    place = {"$result": "open", "match": "session ID (\\d+)", "type": "integer"}
    turn = {"calls": [{"name": "write_stdin", "args": {"session_id": place, "chars": "ls\n"}}]}
    reply = player(turns=[turn]).answer(asked(output("open", "Process running with session ID 4711")))
    assert json.loads(items(reply)[0]["arguments"]) == {"session_id": 4711, "chars": "ls\n"}
    with pytest.raises(ProtocolError, match="no result of call `open`"):
        player(turns=[turn]).answer(asked())
    with pytest.raises(ProtocolError, match="nothing like"):
        player(turns=[turn]).answer(asked(output("open", "done")))


def test_raw_items_and_events_are_put_on_the_wire_as_they_are():
    item = {"type": "local_shell_call", "id": "l", "call_id": "c", "action": {"type": "exec", "command": ["ls"]}}
    odd = [{"type": "response.output_item.done", "item": {"type": "mystery"}}]
    reply = player(turns=[{"calls": [{"raw": item}, {"raw": odd}]}]).answer(asked())
    assert items(reply) == [item, {"type": "mystery"}]


@pytest.mark.parametrize(
    ("fault", "cut", "last"),
    [
        ({"kind": "cut", "after": 3}, True, "response.output_item.added"),
        ({"kind": "cut", "after": 0}, True, None),
        ({"kind": "error", "after": 2, "code": "boom"}, False, "error"),
        ({"kind": "failed", "code": "server_error"}, False, "response.failed"),
        ({"kind": "incomplete", "code": "max_output_tokens"}, False, "response.incomplete"),
        ({"kind": "delay", "after": 2, "seconds": 0.5}, False, "response.completed"),
    ],
)
def test_a_fault_goes_wrong_as_it_says(fault, cut, last):
    reply = player(turns=[{"text": "x", "fault": fault}]).answer(asked())
    stream = events(reply)
    assert reply.cut is cut
    assert (stream[-1]["type"] if stream else None) == last
    assert sum(part.delay for part in reply.parts) == (0.5 if fault["kind"] == "delay" else 0)


def test_an_http_fault_is_an_answer_of_its_own():
    model = player(turns=[{"fault": {"kind": "http", "status": 503, "headers": {"retry-after": "1"}}}, {"text": "ok"}])
    reply = model.answer(asked())
    assert (reply.status, dict(reply.headers)) == (503, {"retry-after": "1"})
    assert model.answer(asked()).status == 200


def test_every_fault_of_a_scenario_is_reported_at_once():
    bad = {
        "schema": "checkrein.scenario/0",
        "turns": [
            {"calls": [{"args": {}}, {"name": "x", "args": {}, "input": "y"}], "txt": "?"},
            {"fault": {"kind": "explode"}, "calls": [{"name": "x", "args": {"a": [{"$result": "c", "match": "no group"}]}}]},
        ],
    }
    with pytest.raises(ConfigError) as caught:
        scenario.load(json.dumps(bad), "s.json")
    places = {str(fault).split("`")[1] for fault in caught.value.faults}
    assert places == {
        "/schema",
        "/turns/0/txt",
        "/turns/0/calls/0",
        "/turns/0/calls/1",
        "/turns/1/fault/kind",
        "/turns/1/calls/0/args/a/0/match",
    }


def test_a_syntax_error_has_its_place():
    with pytest.raises(ConfigError, match=r"^s\.json:2:3: not valid JSON"):
        scenario.load("{\n  oops}", "s.json")
