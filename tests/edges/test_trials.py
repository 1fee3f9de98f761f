"""Examples, run: which rules hold for them, in any carrier."""

from __future__ import annotations

from dataclasses import replace

import pytest

from checkrein.edges.files import builtin_profiles
from checkrein.edges.trials import Proposal, command, holding, known_by, nearest, state_after, under_each, verdict_of
from checkrein.policy.decide import Policy
from checkrein.policy.load import compile as compile_policy
from checkrein.policy.schema import Example, Source
from checkrein.vocab.calls import CallKind
from checkrein.vocab.errors import UsageError
from checkrein.vocab.reasons import Reason
from checkrein.vocab.site import Site
from checkrein.vocab.state import State
from checkrein.vocab.verdicts import Layer, Outcome

TEXT = """schema = "checkrein.policy/1"
[[rule]]
id = "t.root"
verdict = "deny"
on = {effect = "delete", zone = "system-root"}
examples = {match = ["a"], not_match = ["b"]}
[[rule]]
id = "t.home"
verdict = "ask"
on = {effect = "delete", path = "~/**"}
examples = {match = ["a"], not_match = ["b"]}
[[rule]]
id = "t.all"
verdict = "allow"
on = {effect = ["exec", "delete", "write", "type", "read"]}
examples = {match = ["a"], not_match = ["b"]}
[[rule]]
id = "t.opaque"
verdict = "deny"
reason = "OPAQUE"
on = {effect = "opaque"}
examples = {match = ["a"], not_match = ["b"]}
"""
PARDON = """schema = "checkrein.policy/1"
[[rule]]
id = "t.pardon"
verdict = "allow"
overrides = ["t.home"]
on = {effect = "delete", path = "~/junk"}
examples = {match = ["a"], not_match = ["b"]}
"""
RM = "rm -rf /"


@pytest.fixture(scope="module")
def policy() -> Policy:
    return compile_policy([Source(Layer.ORGANISATION, "t.toml", TEXT), Source(Layer.USER, "u.toml", PARDON)])


@pytest.mark.parametrize(
    ("example", "rules"),
    [
        (Example(command="ls"), {"t.all"}),
        (Example(command=RM), {"t.all", "t.root"}),
        (Example(command="rm -f ~/junk"), {"t.all", "t.home", "t.pardon"}),
        (Example(tool="exec_command", profile="codex", args={"cmd": RM}), {"t.all", "t.root"}),
        (Example(tool="exec_command", args={"cmd": RM}), {"t.all", "t.root"}),
        (Example(tool="Bash", args={"command": RM, "description": "x"}), {"t.all", "t.root"}),
        (Example(tool="exec_command", profile="codex", args={}), set()),
        (Example(tool="exec_command", profile="codex", args={"cmd": RM}, fault="they are cut"), set()),
        (Example(tool="nobody_s_tool", profile="codex", args={"cmd": RM}), set()),
    ],
)
def test_the_rules_that_hold_are_those_before_any_is_loosened(policy: Policy, example: Example, rules: set[str]) -> None:
    assert holding(example, policy) == rules


def test_earlier_calls_leave_their_state(policy: Policy) -> None:
    write = Example(command=f"echo '{RM}' > run.sh")
    assert "t.root" in holding(Example(command="sh run.sh", before=(write,)), policy)
    assert "t.root" not in holding(Example(command="sh run.sh"), policy)


def test_a_program_that_an_earlier_call_left_running_is_numbered_by_it(policy: Policy) -> None:
    opens = Example(tool="exec_command", profile="codex", args={"cmd": "bash"})
    state = state_after((Example(command="ls"), opens), builtin_profiles()["codex"], policy, Site())
    assert set(state.sessions) == {"2"}
    keys = Example(tool="write_stdin", profile="codex", args={"session_id": 1, "chars": f"{RM}\n"})
    assert "is not one that a released call has opened" in verdict_of(keys, policy).message
    assert "has opened" not in verdict_of(replace(keys, before=(opens,)), policy).message


def test_the_strictest_verdict_counts(policy: Policy) -> None:
    profiles = builtin_profiles()
    known = known_by(Proposal("exec_command", args={"cmd": RM}), policy, profiles)
    assert [profile.name for profile in known] == ["codex"]
    judged = under_each(Proposal("exec_command", args={"cmd": RM}), policy, list(profiles.values()), lambda _: State.at(Site()))
    assert judged[0].verdict.outcome is Outcome.DENY
    assert len(judged) == len(profiles)


def test_a_tool_that_nobody_knows_is_denied_and_its_neighbour_named(policy: Policy) -> None:
    proposal = Proposal("exec_comand", args={"cmd": "ls"})
    (judged, *_) = under_each(proposal, policy, [], lambda _: State.at(Site()))
    assert judged.verdict.reason is Reason.DEFAULT_DENY
    assert nearest(proposal, builtin_profiles()) == "`exec_command` of codex"
    assert nearest(Proposal("zzzz"), builtin_profiles()) == ""


def test_a_server_s_tool_is_looked_up_by_the_style_of_its_name(policy: Policy) -> None:
    known = known_by(Proposal("mcp__db__run", args={}), policy, builtin_profiles())
    assert "claude-code" in [profile.name for profile in known]


def test_a_freeform_tool_takes_its_text(policy: Policy) -> None:
    codex = builtin_profiles()["codex"]
    call = Proposal("apply_patch", args="*** Begin Patch\n").call(codex, policy)
    assert (call.kind, call.args, call.fault) == (CallKind.CUSTOM, {"input": "*** Begin Patch\n"}, None)
    assert Proposal("exec_command", args="ls").call(codex, policy).fault == "they are not an object"


def test_an_example_of_no_profile_is_said_to_be_one(policy: Policy) -> None:
    with pytest.raises(UsageError, match="there is no profile `codeks`"):
        holding(Example(tool="x", profile="codeks"), policy)


def test_a_command_is_judged_like_a_tool_with_that_argument(policy: Policy) -> None:
    assert verdict_of(Example(command=RM), policy).outcome is Outcome.DENY
    assert command("dir", "cmd").tool == "cmd"
