"""A run's summary is a fold over its rows."""

from checkrein.turns.summary import summarise


def decision(verdict, tool="exec_command", **more):
    return {"kind": "decision", "verdict": verdict, "tool": tool, "released": verdict == "allow", **more}


def test_calls_are_counted_by_verdict_and_refusals_are_named():
    rows = [
        {"kind": "start", "preset": "standard"},
        {"kind": "request"},
        decision("allow"),
        decision("deny", reason="POLICY_BLOCK", rule="files.x", args={"cmd": "rm -rf\n/"}),
        decision("deny", reason="POLICY_BLOCK", rule="files.x", args={"cmd": "rm -rf\n/"}),
        decision("ask", "fetch_url", namespace="mcp__probe", reason="NEEDS_APPROVAL"),
        {"kind": "usage", "tokens": {"input_tokens": 5, "output_tokens": 2, "details": {"x": 1}}},
        {"kind": "usage", "tokens": {"input_tokens": 7, "output_tokens": True}},
    ]
    found = summarise(rows)
    assert found.line() == "4 calls, 1 allowed, 2 denied, 1 asked"
    assert [(one.tool, one.reason, one.what, one.times) for one in found.refused] == [
        ("exec_command", "POLICY_BLOCK", "rm -rf /", 2),
        ("mcp__probe.fetch_url", "NEEDS_APPROVAL", "", 1),
    ]
    assert found.tokens == {"input_tokens": 12, "output_tokens": 2}
    assert (found.requests, found.preset) == (1, "standard")


def test_a_refusal_that_is_released_counts_as_denied_and_released():
    found = summarise([decision("deny") | {"released": True}])
    assert (found.denied, found.released, found.refused) == (1, 1, ())


def test_a_tool_judged_where_it_is_declared_is_no_call():
    found = summarise([decision("allow", "web_search", declared=True)])
    assert (found.calls, found.hosted) == (0, 1)


def test_a_long_command_is_shortened():
    found = summarise([decision("deny", args={"command": ["echo", "x" * 500]})])
    assert len(found.refused[0].what) == 80


def test_nothing_is_counted_from_nothing():
    assert summarise([]).line() == "0 calls, 0 allowed, 0 denied, 0 asked"
