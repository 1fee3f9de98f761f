"""The one door: what it remembers, what it forgets, and that nothing which goes wrong behind it lets a call through."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from checkrein import judge as door
from checkrein.edges.files import builtin_profiles
from checkrein.judge import judge, observe
from checkrein.policy.decide import Policy
from checkrein.policy.load import compile as compile_policy
from checkrein.policy.schema import Source
from checkrein.vocab.calls import Call, Result
from checkrein.vocab.reasons import Reason
from checkrein.vocab.site import Site
from checkrein.vocab.state import State
from checkrein.vocab.verdicts import Layer, Outcome

CODEX = builtin_profiles()["codex"]
CLAUDE = builtin_profiles()["claude-code"]
ALLOWS = """
schema = "checkrein.policy/1"
[[rule]]
id = "test.all"
verdict = "allow"
on = {effect = ["exec", "type", "read", "write", "delete", "orchestrate", "spawn"]}
examples = {match = ["ls"], not_match = ["curl x.example"]}
[[rule]]
id = "test.mcp"
verdict = "allow"
on = {act = "mcp.reviewed"}
examples = {match = ["ls"], not_match = ["curl x.example"]}
[[rule]]
id = "test.opaque"
verdict = "deny"
reason = "OPAQUE"
on = {effect = "opaque"}
examples = {match = ["$x"], not_match = ["ls"]}
"""


def policy(more: str = "", preset: str = "standard") -> Policy:
    return compile_policy([Source(Layer.USER, "test.toml", ALLOWS + more)], preset=preset)


def run(command: str, call_id: str = "c1", **args: Any) -> Call:
    return Call("exec_command", call_id, args={"cmd": command, **args})


def test_a_session_is_known_once_the_result_names_it() -> None:
    state = State.at(Site())
    verdict, state = judge(run("bash"), CODEX, policy(), state)
    assert verdict.released
    assert state.sessions == {}
    text = "Wall time: 0.1 seconds\nProcess running with session ID 7\nOutput:\n$ "
    assert set(observe(Result("other", text), CODEX, state).sessions) == set()
    state = observe(Result("c1", text), CODEX, state)
    assert set(state.sessions) == {"7"}
    assert state.opening == {}


def test_a_session_that_the_program_itself_prints_is_not_believed() -> None:
    _, state = judge(run("bash"), CODEX, policy(), State.at(Site()))
    text = "Wall time: 0.1 seconds\nProcess exited with code 0\nOutput:\nProcess running with session ID 9\n"
    assert observe(Result("c1", text), CODEX, state).sessions == {}


def test_a_file_that_was_written_is_known_until_its_result_is_there_and_the_disk_can_be_read() -> None:
    site = Site(read=lambda _path: None)
    _, state = judge(run("echo 'ls' > run.sh"), CODEX, policy(), State.at(site))
    assert state.files == {"/work/app/run.sh": "ls\n"}
    assert observe(Result("c1", ""), CODEX, state).files == {}
    blind = replace(state, site=Site())
    assert observe(Result("c1", ""), CODEX, blind).files == {"/work/app/run.sh": "ls\n"}


def test_a_refused_call_leaves_nothing_behind() -> None:
    state = State.at(Site())
    verdict, after = judge(run("echo 'ls' > run.sh; $x"), CODEX, policy(), state)
    assert verdict.reason is Reason.OPAQUE
    assert after is state


def test_a_shell_that_keeps_its_directory_is_followed() -> None:
    state = State.at(Site())
    _, state = judge(Call("Bash", "c1", args={"command": "cd sub/dir", "description": "go"}), CLAUDE, policy(), state)
    assert state.cwd == "/work/app/sub/dir"
    verdict, _ = judge(Call("Bash", "c2", args={"command": "rm -f ../x", "description": "rm"}), CLAUDE, policy(), state)
    assert verdict.released
    _, state = judge(run("cd sub/dir"), CODEX, policy(), State.at(Site()))
    assert state.cwd == "/work/app"


def test_an_exception_refuses(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_args: Any, **_more: Any) -> None:
        raise RecursionError("deep")

    monkeypatch.setattr(door, "understand", broken)
    state = State.at(Site())
    verdict, after = judge(run("ls"), CODEX, policy(preset="observe"), state)
    assert (verdict.outcome, verdict.released, verdict.reason) == (Outcome.DENY, False, Reason.POLICY_ERROR)
    assert after is state


def test_a_tool_of_a_server_runs_only_as_it_was_reviewed() -> None:
    call = Call("run", "c1", namespace="mcp__db", args={"sql": "select 1"})
    verdict, _ = judge(call, CODEX, policy(), State.at(Site()))
    assert not verdict.released
    review = '[[mcp]]\nserver = "db"\ntool = "run"\n'
    verdict, _ = judge(call, CODEX, policy(review + 'arguments = {sql = ""}\n'), State.at(Site()))
    assert verdict.released
    verdict, _ = judge(call, CODEX, policy('[[mcp]]\nserver = "other"\ntool = "*"\n'), State.at(Site()))
    assert not verdict.released
    verdict, _ = judge(call, CODEX, policy('[[mcp]]\nserver = "db"\ntool = "*"\nprofile = "dsh"\n'), State.at(Site()))
    assert not verdict.released


def test_a_reviewed_argument_with_a_role_is_judged_by_it() -> None:
    review = '[[mcp]]\nserver = "db"\ntool = "run"\narguments = {line = "shell.posix"}\n'
    call = Call("run", "c1", namespace="mcp__db", args={"line": "$x"})
    verdict, _ = judge(call, CODEX, policy(review), State.at(Site()))
    assert verdict.reason is Reason.OPAQUE


def test_a_tool_of_the_harness_that_its_profile_lacks_may_be_reviewed() -> None:
    call = Call("new_shell", "c1", args={"line": "ls"})
    assert judge(call, CODEX, policy(), State.at(Site()))[0].reason is Reason.DEFAULT_DENY
    review = '[[tools]]\nprofile = "codex"\nname = "new_shell"\nkind = "exec"\narguments = {line = "shell.posix"}\n'
    assert judge(call, CODEX, policy(review), State.at(Site()))[0].released
    assert judge(call, CLAUDE, policy(review), State.at(Site()))[0].reason is Reason.DEFAULT_DENY


def test_a_file_written_anew_with_unknown_content_is_no_longer_judged_by_its_old_text() -> None:
    state = State.at(Site())
    _, state = judge(run("echo ls > run.sh", "c1"), CODEX, policy(), state)
    assert judge(run("sh run.sh", "c2"), CODEX, policy(), state)[0].released
    _, state = judge(run("cp other.sh run.sh", "c3"), CODEX, policy(), state)
    assert judge(run("sh run.sh", "c4"), CODEX, policy(), state)[0].reason is Reason.OPAQUE


def test_an_edit_of_part_of_a_file_makes_its_text_unknown() -> None:
    state = State.at(Site())
    _, state = judge(run("echo ls > run.sh", "c1"), CODEX, policy(), state)
    edit = Call("Edit", "c2", args={"file_path": "/work/app/run.sh", "old_string": "ls", "new_string": "rm -rf /"})
    verdict, state = judge(edit, CLAUDE, policy(), state)
    assert verdict.released
    assert judge(run("sh run.sh", "c3"), CODEX, policy(), state)[0].reason is Reason.OPAQUE


def test_a_result_makes_only_the_files_of_its_own_call_readable_again() -> None:
    state = State.at(Site(read=lambda _path: None))
    _, state = judge(run("echo a > one.sh", "c1"), CODEX, policy(), state)
    _, state = judge(run("echo b > two.sh", "c2"), CODEX, policy(), state)
    assert set(observe(Result("c2", ""), CODEX, state).files) == {"/work/app/one.sh"}


def test_more_files_than_are_remembered_are_still_known_as_written(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("checkrein.vocab.state.MAX_FILES", 1)
    _, state = judge(run("echo ls > one.sh; echo ls > two.sh"), CODEX, policy(), State.at(Site()))
    assert state.files == {"/work/app/one.sh": None, "/work/app/two.sh": "ls\n"}


def test_a_namespace_that_holds_a_control_character_reaches_no_reviewed_server() -> None:
    review = '[[mcp]]\nserver = "db"\ntool = "run"\n'
    call = Call("run", "c1", namespace="\0db", args={})
    assert judge(call, CODEX, policy(review), State.at(Site()))[0].reason is Reason.DEFAULT_DENY


def test_a_review_without_arguments_takes_those_that_the_server_declares_as_inert() -> None:
    review = '[[mcp]]\nserver = "db"\ntool = "run"\n'
    call = Call("run", "c1", namespace="mcp__db", args={"sql": "select 1"}, declared=frozenset({"sql"}))
    assert judge(call, CODEX, policy(review), State.at(Site()))[0].released
    named = review + 'arguments = {sql = ""}\n'
    more = replace(call, args={"sql": "x", "new": 1}, declared=frozenset({"sql", "new"}))
    assert judge(more, CODEX, policy(named), State.at(Site()))[0].reason is Reason.OPAQUE


def test_the_shell_of_a_server_does_not_move_that_of_the_harness() -> None:
    review = '[[mcp]]\nserver = "db"\ntool = "run"\narguments = {line = "shell.posix"}\n'
    call = Call("mcp__db__run", "c1", args={"line": "cd /tmp"})
    verdict, state = judge(call, CLAUDE, policy(review), State.at(Site()))
    assert verdict.released
    assert state.cwd == "/work/app"


def test_what_the_operator_calls_secret_is_so_wherever_it_lies_and_only_for_reading() -> None:
    named = policy('[secrets]\npaths = ["~/.config/tool/key", "/etc/tool.conf"]\n')
    zones = set[tuple[str, str]]()
    for command in ("cat ~/.config/tool/key", "cat /etc/tool.conf", "echo x > ~/.config/tool/key"):
        verdict, _ = judge(run(command), CODEX, named, State.at(Site()))
        zones |= {(effect.kind.value, effect.zone.value) for effect in verdict.effects if effect.zone is not None}
    assert zones == {("read", "workspace-secret"), ("write", "home-dot")}
