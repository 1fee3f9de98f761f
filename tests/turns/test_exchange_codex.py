"""The built-in profile of Codex drives the exchange as the machine's own tests assume."""

from __future__ import annotations

from pathlib import Path

import pytest
from exchanges import PROFILE, drive, everything, names, stream
from responses_shape import events

from checkrein import profiles
from checkrein.profiles.load import parse
from checkrein.turns.intake import read_intake

FILE = Path(profiles.__file__).parent / "builtin" / "codex.toml"
CODEX = parse(FILE.read_text(encoding="utf-8"), str(FILE))


def test_its_forms_are_the_measured_ones() -> None:
    assert (CODEX.stop, CODEX.denial, CODEX.keep_alive) == (PROFILE.stop, PROFILE.denial, PROFILE.keep_alive)
    assert set(PROFILE.passive) <= set(CODEX.passive)
    assert not any(
        shape.endswith("_call") and shape.split("_")[0] in ("function", "custom", "local", "tool") for shape in CODEX.passive
    )


@pytest.mark.parametrize("name", names())
def test_recorded_streams_go_through_it(name: str) -> None:
    data = stream(name)
    assert drive([data], profile=CODEX).out == drive([data]).out
    if drive([data], everything).exchange.outcome.complete:
        run = drive([data], everything, profile=CODEX)
        assert events(run.out)[-1]["response"].get("end_turn", True) is (not run.verdicts)
        assert all(tool.name != "" for tool in run.seen)


def test_every_recorded_call_is_a_tool_of_the_profile() -> None:
    seen = {
        (call.namespace, call.name, call.kind)
        for name in names("exec", "codemode", "guard", "sub", "tool")
        for call in drive([stream(name)]).seen
    }
    assert seen
    for namespace, name, kind in seen:
        tool = CODEX.find(name, namespace)
        assert (tool is None) == (namespace == "mcp__probe"), (namespace, name)
        assert tool is None or kind in tool.calls


def test_whose_request_it_is_stands_in_its_keys() -> None:
    meta = '{"session_id":"s","thread_id":"t","turn_id":"u","turn_trigger":"goal","request_kind":"turn"}'
    body = {"client_metadata": {"x-codex-turn-metadata": meta}, "input": []}
    found = read_intake(CODEX, {}, body)
    assert (found.session, found.thread, found.turn, found.trigger, found.continuation) == ("s", "t", "u", "goal", True)
