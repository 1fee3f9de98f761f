"""A call of a known tool becomes effects by the roles of its arguments, whatever carries them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from casefiles import rows

from checkrein.classify.tool import Lookup, Mcp, understand
from checkrein.classify.understanding import Understanding
from checkrein.edges.files import builtin_profiles
from checkrein.judge import lookup
from checkrein.policy.load import compile as compile_policy
from checkrein.profiles.schema import Argument, Role, Tool, ToolKind, When
from checkrein.vocab.calls import Call, CallKind
from checkrein.vocab.effects import Effect
from checkrein.vocab.reasons import Reason
from checkrein.vocab.site import Site
from checkrein.vocab.state import State

EMPTY = compile_policy([])


def call_of(row: dict[str, Any]) -> Call:
    declared = frozenset(row["declared"]) if "declared" in row else None
    kind = CallKind(row.get("kind", "function"))
    return Call(row["name"], "c1", row.get("namespace"), kind, row.get("args", {}), "", row.get("fault"), declared)


def understood(call: Call, state: State | None = None, profile: str = "codex") -> Understanding:
    known = builtin_profiles()[profile]
    return understand(call, known, state or State.at(Site()), lookup(known, EMPTY))


def fits(effect: Effect, wanted: dict[str, Any]) -> bool:
    said = effect.to_json()
    flat = {**said["detail"], **{key: said[key] for key in ("kind", "value", "pointer")}}
    return all(flat.get(key) == value for key, value in wanted.items())


@pytest.mark.parametrize("case", rows("calls", "codex"))
def test_a_call_has_the_effects_that_its_arguments_carry(case: dict[str, Any]) -> None:
    found = understood(call_of(case["call"]))
    if "failing" in case:
        assert found.failing is not None
        assert found.failing.reason is Reason(case["failing"])
        return
    assert found.failing is None
    for wanted in case.get("effects", []):
        assert any(fits(effect, wanted) for effect in found.effects), found.effects
    assert not {effect.kind.value for effect in found.effects} & set(case.get("absent", []))
    assert len(found.notes) == case.get("notes", 0)


def test_a_new_tool_with_an_exec_role_needs_no_rule_to_be_covered() -> None:
    argument = Argument("/deep/0/line", Role.SHELL_POSIX, ("string",))
    new = Tool("brand_new", ToolKind.EXEC, arguments=(replace(argument, pointer="/deep/*/line"),))
    codex = builtin_profiles()["codex"]
    call = Call("brand_new", args={"deep": [{"line": "rm -rf /"}]})
    found = understand(call, codex, State.at(Site()), Lookup(lambda _call: new))
    assert next((e.program, e.pointer) for e in found.effects if e.program == "rm") == ("rm", "/deep/0/line")


def test_every_key_of_an_inner_call_is_judged_like_that_of_an_outer_one() -> None:
    inner = {
        "recipient_name": "functions.exec_command",
        "parameters": {"cmd": "ls", "sandbox_permissions": "require_escalated"},
    }
    found = understood(Call("parallel", namespace="multi_tool_use", args={"tool_uses": [inner]}))
    assert "/tool_uses/0/parameters/sandbox_permissions" in {effect.pointer for effect in found.effects}


def test_calls_in_calls_end_at_a_bound() -> None:
    inner: dict[str, Any] = {"recipient_name": "functions.exec_command", "parameters": {"cmd": "ls"}}
    for _ in range(9):
        inner = {"recipient_name": "multi_tool_use.parallel", "parameters": {"tool_uses": [inner]}}
    found = understood(Call("parallel", namespace="multi_tool_use", args={"tool_uses": [inner]}))
    assert found.failing is not None
    assert found.failing.reason is Reason.OVERSIZE
    wide = [{"recipient_name": "functions.exec_command", "parameters": {"cmd": "ls"}}] * 65
    found = understood(Call("parallel", namespace="multi_tool_use", args={"tool_uses": wide}))
    assert found.failing is not None
    assert found.failing.reason is Reason.OVERSIZE


def test_a_reviewed_tool_of_a_server_is_judged_by_its_reviewed_roles() -> None:
    tool = Tool("run", ToolKind.HOSTED, arguments=(Argument("/path", Role.PATH_WRITE),), calls=(CallKind.FUNCTION,))
    codex = builtin_profiles()["codex"]
    call = Call("run", namespace="mcp__files", args={"path": "/etc/passwd"})
    found = understand(call, codex, State.at(Site()), Lookup(lambda _call: Mcp("files", "run", tool)))
    assert [effect.kind.value for effect in found.effects] == ["mcp", "write"]


@pytest.mark.parametrize(
    ("kind", "role"),
    [
        (ToolKind.WRITE, Role.PATH_WRITE),
        (ToolKind.EXEC, Role.SHELL_POSIX),
        (ToolKind.TYPE, Role.KEYS),
        (ToolKind.FETCH, Role.URL),
        (ToolKind.SCRIPT, Role.SCRIPT_PYTHON),
    ],
)
def test_an_effectful_tool_without_its_own_effect_is_not_understood(kind: ToolKind, role: Role) -> None:
    tool = Tool("odd", kind, arguments=(Argument("/from", Role.PATH_READ), Argument("/it", role)))
    found = understand(
        Call("odd", args={"from": "a.txt"}), builtin_profiles()["codex"], State.at(Site()), Lookup(lambda _call: tool)
    )
    assert found.failing is not None
    assert found.failing.reason is Reason.MALFORMED


def test_a_condition_looks_at_the_siblings_of_a_deep_value() -> None:
    entry = Argument("/items/*/path", Role.PATH_READ, ("string",), when=When("type", ("file",)))
    tool = Tool("odd", ToolKind.READ, arguments=(entry,))
    args = {"items": [{"type": "file", "path": 4}]}
    found = understand(Call("odd", args=args), builtin_profiles()["codex"], State.at(Site()), Lookup(lambda _call: tool))
    assert found.failing is not None
    assert found.failing.pointer == "/items/0/path"
