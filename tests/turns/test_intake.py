from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from exchanges import PROFILE

from checkrein.profiles.schema import Continuation, Key, Keys
from checkrein.turns.intake import Intake, read_intake
from checkrein.wire.codec import ViolationError

CODEX = replace(
    PROFILE,
    keys=Keys(
        session=Key(("header:session-id", "body:/client_metadata/session_id")),
        thread=Key(("header:thread-id",)),
        turn=Key(("header:x-codex-turn-metadata#/turn_id", "body:/client_metadata/x-codex-turn-metadata#/turn_id")),
        trigger=Key(("header:x-codex-turn-metadata#/turn_trigger",)),
        subagent=Key(("header:x-openai-subagent",)),
        request_kind=Key(("header:x-codex-turn-metadata#/request_kind",)),
    ),
    continuation=Continuation(
        triggers=("goal",),
        prefixes=("<codex_internal_context", "<environment_context>"),
        aux_kinds=("prewarm",),
        aux_subagents=("guardian",),
    ),
)


def user(text: str) -> dict[str, Any]:
    return {"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}]}


def intake(*inputs: Any, meta: dict[str, Any] | None = None, **headers: str) -> Intake:
    given = {"session-id": "s1", "thread-id": "t1", "x-codex-turn-metadata": json.dumps(meta or {})}
    given |= {name.replace("_", "-"): value for name, value in headers.items()}
    return read_intake(CODEX, given, {"model": "m", "stream": True, "input": list(inputs)}, run="run", request_id="r1")


def test_identities_come_from_the_profiles_keys() -> None:
    found = intake(user("hi"), meta={"turn_id": "u1", "turn_trigger": "exec", "request_kind": "turn"})
    assert (found.session, found.thread, found.turn, found.trigger, found.kind) == ("s1", "t1", "u1", "exec", "turn")
    assert found.owner == {"request": "r1", "session": "s1", "thread": "t1"}
    assert (found.request.model, found.request.stream) == ("m", True)


def test_without_its_own_key_a_session_is_the_run() -> None:
    found = read_intake(CODEX, {}, {"client_metadata": {"x-codex-turn-metadata": '{"turn_id":"u2"}'}}, run="run")
    assert (found.session, found.thread, found.turn) == ("run", None, "u2")


def test_a_new_word_of_the_user_shows_whatever_the_trigger_says() -> None:
    first = intake(user("<environment_context>x"), user("do it"), meta={"turn_trigger": "goal"})
    again = intake(
        user("<environment_context>x"), user("do it"), user("<codex_internal_context source=x>"), meta={"turn_trigger": "goal"}
    )
    spoken = intake(user("do it"), user("<codex_internal_context source=x>"), user("stop that"), meta={"turn_trigger": "goal"})
    assert (first.users, again.users, spoken.users) == (1, 1, 2)
    assert first.user == again.user != spoken.user
    assert all(found.continuation for found in (first, again, spoken))


def test_a_continuation_is_known_by_its_message_too() -> None:
    assert intake(user("do it"), user("<codex_internal_context source=x>")).continuation
    assert not intake(user("<codex_internal_context source=x>"), user("do it")).continuation
    assert not intake(user("do it"), {"type": "function_call_output", "call_id": "c", "output": "x"}).continuation


@pytest.mark.parametrize(
    ("meta", "headers", "auxiliary", "compaction"),
    [
        ({"request_kind": "turn"}, {}, False, False),
        ({"request_kind": "prewarm"}, {}, True, False),
        ({"request_kind": "compaction"}, {}, False, True),
        ({"request_kind": "turn"}, {"x_openai_subagent": "guardian"}, True, False),
        ({"request_kind": "turn"}, {"x_openai_subagent": "collab_spawn"}, False, False),
    ],
)
def test_auxiliary_requests_are_told_apart(
    meta: dict[str, str], headers: dict[str, str], auxiliary: bool, compaction: bool
) -> None:
    found = intake(user("hi"), meta=meta, **headers)
    assert (found.auxiliary, found.compaction) == (auxiliary, compaction)
    row = found.row()
    assert (row["aux"], row["compaction"], row["request"]) == (auxiliary, compaction, "r1")


def test_the_words_of_the_user_are_in_no_row() -> None:
    assert "do it" not in json.dumps(intake(user("do it")).row())


def test_a_body_that_leaves_doubt_is_refused() -> None:
    with pytest.raises(ViolationError):
        read_intake(CODEX, {}, {"tools": "x"})
