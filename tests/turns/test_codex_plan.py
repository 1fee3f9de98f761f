"""How Codex is started: what is refused, which provider is effective, and that our overrides win."""

import json
import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checkrein.profiles.schema import Launch
from checkrein.turns import codex_argv, codex_plan
from checkrein.vocab.errors import CheckreinError, UsageError

CASES = [json.loads(line) for line in (Path(__file__).parents[1] / "cases/launch/codex.jsonl").read_text().splitlines()]
LAUNCH = Launch(
    subcommands=("exec", "exec resume", "exec fork", "exec review", "resume", "fork", "review", "app-server"),
    refused=("--oss", "--local-provider", "--remote", "--remote-auth-token-env", "--remote-control", "--managed-daemon"),
    plain=("login", "features"),
    options={"": ("--no-daemon",), "resume": ("--no-daemon",), "fork": ("--no-daemon",)},
)


def planned(case: dict) -> tuple[codex_argv.Invocation, codex_plan.Effective, codex_plan.Plan, str]:
    files = {name: tomllib.loads(case.get(name, "")) for name in ("system", "user", "managed")}
    layers = codex_plan.Layers(**files, profiles={name: tomllib.loads(text) for name, text in case.get("profiles", {}).items()})
    invocation = codex_argv.parse(case["argv"], case.get("commands", ()))
    assert codex_plan.admit(invocation, LAUNCH, case.get("env", {})) is not case.get("plain", False)
    effective = codex_plan.resolve(invocation, layers)
    upstream = codex_plan.upstream_of(effective, case.get("login"))
    options = LAUNCH.options.get(invocation.command, ())
    plan = codex_plan.plan(invocation, effective, "http://gw/v1", "/tmp/c.json", options)
    return invocation, effective, plan, upstream


@pytest.mark.parametrize("case", CASES, ids=[case["note"] for case in CASES])
def test_a_command_line_is_planned_or_refused(case):
    if "refused" in case:
        with pytest.raises(CheckreinError) as caught:
            planned(case)
        assert case["refused"] in str(caught.value)
        return
    invocation, effective, plan, upstream = planned(case)
    if case.get("plain"):
        return
    if "args" in case:
        assert list(plan.args) == case["args"]
    if "ends" in case:
        assert list(plan.args)[-len(case["ends"]) :] == case["ends"]
    if "provider" in case:
        assert effective.provider == case["provider"]
    if "upstream" in case:
        assert upstream == case["upstream"]
    if "command" in case:
        assert invocation.command == case["command"]


WORDS = st.sampled_from(["exec", "resume", "--json", "-m", "x", "--last", "--", "hi", "-c", "a=1", "--skip-git-repo-check"])


@given(st.lists(WORDS, max_size=8))
def test_every_planned_line_ends_its_options_with_ours(words):
    try:
        _, _, plan, _ = planned({"argv": words, "login": "api-key"})
    except UsageError:
        return
    args = list(plan.args)
    options = args[: args.index("--")] if "--" in args else args
    ours = [word for text in plan.overrides for word in ("-c", text)]
    tail = [word for word in options if word != "--no-daemon"]
    assert tail[-len(ours) :] == ours
    given = [word for word in words if word not in ours]
    assert [word for word in args if word not in ours and word != "--no-daemon"] == given


@pytest.mark.parametrize(
    ("given_", "expected"),
    [
        ({}, "127.0.0.1,localhost"),
        ({"NO_PROXY": "corp.example, localhost"}, "corp.example, localhost,127.0.0.1"),
        ({"NO_PROXY": "127.0.0.1,localhost"}, "127.0.0.1,localhost"),
    ],
)
def test_loopback_is_not_asked_of_a_proxy(given_, expected):
    assert codex_plan.environment(given_)["NO_PROXY"] == expected
    assert set(codex_plan.environment(given_)) == {"NO_PROXY", "no_proxy"}
