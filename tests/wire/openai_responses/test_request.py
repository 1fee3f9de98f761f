from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import orjson
import pytest

from checkrein.vocab.calls import CallKind
from checkrein.wire import WIRES
from checkrein.wire.codec import ViolationError
from checkrein.wire.openai_responses.request import read_request

CODEC = WIRES["openai-responses"]
TOOLS = [
    {"type": "function", "name": "exec_command", "parameters": {"type": "object", "properties": {"cmd": {}, "workdir": {}}}},
    {"type": "custom", "name": "apply_patch", "format": {"type": "grammar"}},
    {
        "type": "namespace",
        "name": "mcp__probe",
        "tools": [{"type": "function", "name": "fetch_url", "parameters": {"properties": {"url": {}}}}],
    },
    {"type": "tool_search", "execution": "client", "parameters": {"properties": {"query": {}, "limit": {}}}},
    {"type": "local_shell"},
    {"type": "web_search", "external_web_access": False},
    {"type": "code_interpreter", "container": {"type": "auto"}},
]


def spelled(body: dict[str, Any]) -> list[tuple[str | None, str, str, str]]:
    return [(tool.namespace, tool.name, tool.kind.value, tool.pointer) for tool in read_request(body).declared]


def test_tools_are_read_from_the_classic_carrier() -> None:
    assert spelled({"tools": TOOLS}) == [
        (None, "exec_command", "function", "/tools/0"),
        (None, "apply_patch", "custom", "/tools/1"),
        ("mcp__probe", "fetch_url", "function", "/tools/2/tools/0"),
        (None, "tool_search", "tool_search", "/tools/3"),
        (None, "local_shell", "local_shell", "/tools/4"),
        (None, "web_search", "hosted", "/tools/5"),
        (None, "code_interpreter", "hosted", "/tools/6"),
    ]
    request = read_request({"tools": TOOLS})
    assert request.keys("exec_command", "functions") == {"cmd", "workdir"}
    assert request.keys("apply_patch", None) == {"input"}
    assert request.keys("fetch_url", "mcp__probe") == {"url"}
    assert [tool.name for tool in request.hosted] == ["web_search", "code_interpreter"]
    assert request.hosted[0].as_call().kind is CallKind.HOSTED


def test_tools_are_read_from_the_input_too() -> None:
    inside = [{"type": "namespace", "name": "functions", "tools": [{"type": "custom", "name": "exec"}]}, {"type": "web_search"}]
    body = {
        "input": [
            {"type": "additional_tools", "role": "developer", "tools": inside},
            {"type": "message", "role": "user", "content": "hi"},
            {
                "type": "tool_search_output",
                "call_id": "c",
                "tools": [{"type": "namespace", "name": "n", "tools": [{"type": "function", "name": "f"}]}],
            },
        ]
    }
    assert spelled(body) == [
        ("functions", "exec", "custom", "/input/0/tools/0/tools/0"),
        (None, "web_search", "hosted", "/input/0/tools/1"),
        ("n", "f", "function", "/input/2/tools/0/tools/0"),
    ]
    assert read_request(body).declared[2].carrier == "tool_search_output"


def test_a_search_that_the_provider_runs_is_hosted() -> None:
    assert spelled({"tools": [{"type": "tool_search"}]})[0][2] == "hosted"


@pytest.mark.parametrize(
    "body",
    [
        {"tools": {}},
        {"tools": ["x"]},
        {"tools": [{"name": "x"}]},
        {"tools": [{"type": "function"}]},
        {"tools": [{"type": "function", "name": ["x"]}]},
        {"tools": [{"type": "namespace", "tools": []}]},
        {"tools": [{"type": "namespace", "name": "n", "tools": {}}]},
        {"input": [{"type": "additional_tools", "tools": "x"}]},
        {"input": {"type": "additional_tools"}},
    ],
)
def test_a_declaration_that_leaves_doubt_is_refused(body: dict[str, Any]) -> None:
    with pytest.raises(ViolationError):
        read_request(body)


def test_model_stream_and_words_of_the_user() -> None:
    request = read_request({"model": "gpt-5.5", "stream": True, "input": "do it"})
    assert (request.model, request.stream, request.users, request.user_last) == ("gpt-5.5", True, ("do it",), True)
    parts = [
        {"type": "input_text", "text": "a"},
        {"type": "input_image", "image_url": "x"},
        {"type": "input_text", "text": "b"},
    ]
    request = read_request(
        {
            "input": [{"role": "user", "content": parts}, {"type": "message", "role": "assistant", "content": "c"}],
            "stream": "yes",
        }
    )
    assert (request.users, request.user_last, request.stream) == (("a\nb",), False, False)
    assert read_request({}).users == ()


def test_results_of_earlier_calls() -> None:
    inputs = [
        {"type": "function_call", "call_id": "c1", "name": "exec_command", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "c1", "output": "Process running with session ID 7"},
        {
            "type": "custom_tool_call_output",
            "call_id": "c2",
            "output": [{"type": "input_text", "text": "a"}, {"type": "input_text", "text": "b"}],
        },
        {"type": "local_shell_call_output", "call_id": "c3", "output": None},
        {"type": "function_call_output", "call_id": "c4", "output": {"content": "x", "success": True}},
        {"type": "function_call_output", "name": "goal_objective", "output": "no call id"},
        {"type": "tool_search_output", "call_id": "c5", "tools": []},
        "not an item",
    ]
    found = [(result.call_id, result.text, result.name) for result in read_request({"input": inputs}).results]
    assert found == [
        ("c1", "Process running with session ID 7", "exec_command"),
        ("c2", "a\nb", None),
        ("c3", "", None),
        ("c4", "x", None),
        ("c5", "", None),
    ]


def test_a_refused_hosted_tool_is_the_only_edit_of_a_request() -> None:
    body = json.dumps(
        {"model": "m", "n": 1.50, "tools": TOOLS, "input": [{"type": "additional_tools", "tools": TOOLS}]}, indent=2
    ).encode()
    request = CODEC.request(orjson.loads(body))
    gone = [tool.pointer for tool in request.hosted if tool.name == "code_interpreter"]
    assert gone == ["/tools/6", "/input/0/tools/6"]
    cut = CODEC.strip(body, gone)
    assert orjson.loads(cut) == {
        "model": "m",
        "n": 1.5,
        "tools": TOOLS[:6],
        "input": [{"type": "additional_tools", "tools": TOOLS[:6]}],
    }
    assert cut.startswith(body[: body.index(b'"web_search"')])
    assert CODEC.strip(body, []) == body
    with pytest.raises(ViolationError):
        CODEC.strip(body, ["/tools/99"])


def test_an_error_has_the_wires_shape() -> None:
    error = orjson.loads(CODEC.error("invalid_prompt", "no"))["error"]
    assert error == {"message": "no", "type": "invalid_request_error", "param": None, "code": "invalid_prompt"}


DECLARED = json.loads((Path(__file__).parents[2] / "fixtures" / "codex" / "declared.json").read_text())


@pytest.mark.parametrize("name", DECLARED)
def test_every_recorded_declaration_is_read(name: str) -> None:
    tools = DECLARED[name]["tools"]
    lite = DECLARED[name]["carrier"] != "body.tools"
    found = read_request({"input": [{"type": "additional_tools", "tools": tools}]} if lite else {"tools": tools}).declared
    inner = [tool for tool in tools if tool["type"] == "namespace"]
    assert len(found) == len(tools) - len(inner) + sum(len(tool["tools"]) for tool in inner)
    assert {tool.name for tool in found if tool.kind is CallKind.HOSTED} <= {"web_search"}
