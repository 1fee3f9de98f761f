from __future__ import annotations

from typing import Any

import pytest

from checkrein.vocab.calls import CallKind
from checkrein.wire.openai_responses.items import disagreement, message, message_id, partial_call, read_call

FRAME = {"id": "x_1", "call_id": "c1", "status": "completed"}


@pytest.mark.parametrize(
    ("item", "want"),
    [
        (
            {"type": "function_call", "name": "exec_command", "namespace": "functions", "arguments": '{"cmd":"ls"}'},
            ("exec_command", "functions", CallKind.FUNCTION, {"cmd": "ls"}, '{"cmd":"ls"}', None),
        ),
        (
            {"type": "function_call", "name": "get_goal", "namespace": "", "arguments": "{}"},
            ("get_goal", "", CallKind.FUNCTION, {}, "{}", None),
        ),
        (
            {"type": "function_call", "name": "get_goal", "namespace": None, "arguments": ""},
            ("get_goal", None, CallKind.FUNCTION, {}, "", "they are empty"),
        ),
        (
            {"type": "function_call", "name": "x", "arguments": {"cmd": "ls"}},
            ("x", None, CallKind.FUNCTION, {}, "", "they are not a text"),
        ),
        (
            {"type": "custom_tool_call", "name": "apply_patch", "input": "*** Begin"},
            ("apply_patch", None, CallKind.CUSTOM, {"input": "*** Begin"}, "*** Begin", None),
        ),
        (
            {"type": "custom_tool_call", "name": "apply_patch", "input": {"a": 1}},
            ("apply_patch", None, CallKind.CUSTOM, {}, "", "its input is not a text"),
        ),
        (
            {"type": "local_shell_call", "action": {"type": "exec", "command": ["ls", "-l"]}},
            (
                "local_shell",
                None,
                CallKind.LOCAL_SHELL,
                {"type": "exec", "command": ["ls", "-l"]},
                '{"type":"exec","command":["ls","-l"]}',
                None,
            ),
        ),
        (
            {"type": "local_shell_call", "name": "exec_command", "action": None},
            ("local_shell", None, CallKind.LOCAL_SHELL, {}, "", "they are null, not an object"),
        ),
        (
            {"type": "tool_search_call", "execution": "client", "arguments": {"query": "x"}},
            ("tool_search", None, CallKind.TOOL_SEARCH, {"query": "x"}, '{"query":"x"}', None),
        ),
        (
            {"type": "tool_search_call", "arguments": '{"query":"x"}'},
            ("tool_search", None, CallKind.TOOL_SEARCH, {"query": "x"}, '{"query":"x"}', None),
        ),
        (
            {"type": "shell_call", "name": "exec_command", "action": {"commands": ["ls"]}},
            ("shell_call", None, CallKind.UNKNOWN, {"name": "exec_command", "action": {"commands": ["ls"]}}, None, None),
        ),
        (
            {"type": "function_call", "name": "x", "arguments": "{}", "status": "incomplete"},
            ("x", None, CallKind.FUNCTION, {}, "{}", "it is marked `incomplete`"),
        ),
        (
            {"type": "function_call", "name": "x", "arguments": "{}", "call_id": None},
            ("x", None, CallKind.FUNCTION, {}, "{}", "it has no call id"),
        ),
        ({"type": "function_call", "name": "", "arguments": "{}"}, ("", None, CallKind.FUNCTION, {}, "{}", "it has no name")),
        (
            {"type": "function_call", "name": ["x"], "arguments": "{}"},
            ("", None, CallKind.FUNCTION, {}, "{}", "it has no name"),
        ),
        (
            {"type": "function_call", "name": "x", "namespace": 1, "arguments": "{}"},
            ("x", None, CallKind.FUNCTION, {}, "{}", "its namespace is not a text"),
        ),
    ],
)
def test_a_call_is_read_as_it_is_spelled(item: dict[str, Any], want: tuple[Any, ...]) -> None:
    call = read_call({**FRAME, **item})
    name, namespace, kind, args, text, fault = want
    assert (call.name, call.namespace, call.kind, call.args, call.fault) == (name, namespace, kind, args, fault)
    assert text is None or call.text == text


def test_an_unfinished_call_is_named_as_far_as_known() -> None:
    assert partial_call("function_call", {"name": "x", "call_id": "c", "namespace": "n"}).spelling == "n.x"
    assert partial_call("local_shell_call", {}).name == "local_shell"
    assert partial_call("function_call", {}).name == "function_call"
    assert partial_call(None, {"namespace": 3, "call_id": 3}).fault == "it was never complete"


@pytest.mark.parametrize(
    ("mine", "theirs", "first", "want"),
    [
        ({"action": {"n": 1}}, {"action": {"n": 1}}, False, None),
        ({"action": {"n": 1}}, {"action": {"n": True}}, False, "action"),
        ({"action": {"n": 1}}, {"action": {"n": 1.0}}, False, "action"),
        ({"action": {"a": 1, "b": 2}}, {"action": {"b": 2, "a": 1}}, False, None),
        ({"action": {}}, {"action": {"n": 1}}, True, None),
        ({"action": {}}, {"action": {"n": 1}}, False, "action"),
        ({"arguments": ""}, {"arguments": "{}"}, True, None),
        ({"arguments": ""}, {"arguments": "{}"}, False, "arguments"),
        ({"arguments": "{}"}, {"arguments": {}}, False, "arguments"),
        ({"name": ""}, {"name": "x"}, True, "name"),
        ({"name": "x"}, {}, True, "name"),
        ({}, {"name": "x"}, False, None),
        ({"status": "a"}, {"status": "b"}, False, None),
    ],
)
def test_copies_agree_or_say_where_they_do_not(
    mine: dict[str, Any], theirs: dict[str, Any], first: bool, want: str | None
) -> None:
    assert disagreement(mine, theirs, first=first) == want


def test_the_message_in_place_of_a_call_is_the_same_on_every_run() -> None:
    call = read_call({**FRAME, "type": "function_call", "name": "x", "arguments": "{}"})
    assert message_id("resp_1", 0, call) == message_id("resp_1", 0, call)
    assert len({message_id("resp_1", 0, call), message_id("resp_1", 1, call), message_id("resp_2", 0, call)}) == 3
    assert message("msg_1", "no")["content"] == [{"type": "output_text", "text": "no", "annotations": []}]
    assert message("msg_1", "no", "in_progress")["content"] == []
