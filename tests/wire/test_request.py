from __future__ import annotations

import pytest

from checkrein.vocab.calls import CallKind
from checkrein.wire.request import Declared, Request, at, index, locate

HEADERS = {
    "session-id": "s1",
    "x-meta": '{"turn_id":"t1","n":4,"deep":{"a/b":"c"}}',
    "x-bad": '{"turn_id":"a","turn_id":"b"}',
    "x-empty": "",
}
BODY = {"client": {"id": "c1", "meta": '{"kind":"turn"}', "flag": True}, "list": [{"k": "v"}]}


@pytest.mark.parametrize(
    ("sources", "found"),
    [
        (["header:session-id"], "s1"),
        (["header:Session-ID"], "s1"),
        (["header:x-meta#/turn_id"], "t1"),
        (["header:x-meta#/n"], "4"),
        (["header:x-meta#/deep/a~1b"], "c"),
        (["header:x-bad#/turn_id"], None),
        (["header:session-id#/turn_id"], None),
        (["header:none", "header:x-empty", "body:/client/id"], "c1"),
        (["body:/client/meta#/kind"], "turn"),
        (["body:/list/0/k"], "v"),
        (["body:/client/flag"], None),
        (["body:/client"], None),
        (["body:/client/id#/x"], None),
        (["body:/list/9/k"], None),
        ([], None),
    ],
)
def test_identities_are_found_where_the_profile_says(sources: list[str], found: str | None) -> None:
    assert locate(sources, HEADERS, BODY) == found


def test_pointers() -> None:
    assert at({"a~b": {"c/d": [1, 2]}}, "/a~0b/c~1d/1") == 2
    assert at({"a": 1}, "") == {"a": 1}
    assert at([1], "/²") is None
    assert at({"": 1}, "/") == 1


def tool(name: str, namespace: str | None, *keys: str) -> Declared:
    return Declared(name, namespace, keys=frozenset(keys))


REQUEST = Request(
    lookup=index(
        [tool("run", None, "cmd"), tool("exec", "functions", "input"), tool("run", None, "dir"), tool("get", "mcp__x", "url")]
    )
)


@pytest.mark.parametrize(
    ("name", "namespace", "keys"),
    [
        ("run", None, {"cmd", "dir"}),
        ("run", "functions", {"cmd", "dir"}),
        ("run", "", {"cmd", "dir"}),
        ("functions.run", None, {"cmd", "dir"}),
        ("exec", None, {"input"}),
        ("functions.exec", None, {"input"}),
        ("get", "mcp__x", {"url"}),
        ("mcp__x.get", None, {"url"}),
        ("get", None, None),
        ("run", "mcp__x", None),
        ("Run", None, None),
    ],
)
def test_declared_keys_are_found_by_every_spelling_of_the_root(name: str, namespace: str | None, keys: set[str] | None) -> None:
    assert REQUEST.keys(name, namespace) == keys


def test_a_hosted_tool_is_a_call() -> None:
    declared = Declared("web_search", kind=CallKind.HOSTED, keys=frozenset(("x",)), schema={"x": 1})
    request = Request(declared=(declared, tool("run", None)))
    assert request.hosted == (declared,)
    call = declared.as_call()
    assert (call.name, call.kind, call.args, call.fault) == ("web_search", CallKind.HOSTED, {"x": 1}, None)
