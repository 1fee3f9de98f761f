"""The breaker's counts, its latch, and the ways around it that must not work."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checkrein.turns import breaker
from checkrein.turns.breaker import Limits

LIMITS = Limits()


class Story:
    """Rows as the gateway writes them, with the state after each."""

    def __init__(self, limits: Limits = LIMITS) -> None:
        self.limits, self.state, self.rows = limits, breaker.START, []
        self.count = itertools.count(1)
        self.users: dict[str, int] = {}
        self.turn: dict[str, str] = {}

    def row(self, kind: str, thread: str = "t", **fields: Any) -> Story:
        row = {"kind": kind, "session": "s", "thread": thread, **fields}
        self.rows.append(row)
        self.state = breaker.fold(self.state, row)
        return self

    def user(self, thread: str = "t", **fields: Any) -> Story:
        self.users[thread] = self.users.get(thread, 0) + 1
        return self.ask(thread, new_turn=True, **fields)

    def ask(self, thread: str = "t", *, new_turn: bool = False, **fields: Any) -> Story:
        number = next(self.count)
        if new_turn or thread not in self.turn:
            self.turn[thread] = f"turn{number}"
        users = self.users.get(thread, 0)
        return self.row(
            "request",
            thread,
            **{"request": f"r{number}", "turn": self.turn[thread], "users": users, "user": f"u{users}", **fields},
        )

    def go_on(self, thread: str = "t", **fields: Any) -> Story:
        """The harness starts the next turn by itself."""
        return self.ask(thread, new_turn=True, continuation=True, **fields)

    def refused(
        self, args: str = "a", thread: str = "t", tool: str = "exec", reason: str = "POLICY_BLOCK", **fields: Any
    ) -> Story:
        return self.row("decision", thread, tool=tool, args_digest=args, released=False, reason=reason, **fields)

    def released(self, args: str = "ok", thread: str = "t", **fields: Any) -> Story:
        return self.row("decision", thread, tool="exec", args_digest=args, released=True, **fields)

    def trip(self, thread: str = "t") -> breaker.Trip | None:
        return breaker.tripped(self.state, "s", thread, self.limits)

    def latch(self, thread: str = "t") -> Story:
        trip = self.trip(thread)
        assert trip is not None
        return self.row(
            "breaker", thread, state="tripped", scope=trip.scope, cause=trip.cause, count=trip.count, limit=trip.limit
        )


def test_three_answers_of_refusals_in_a_row_trip_whatever_the_reasons() -> None:
    story = Story().user()
    for number, reason in enumerate(("DEFAULT_DENY", "POLICY_BLOCK", "OPAQUE")):
        assert story.trip() is None
        story.refused(f"a{number}", reason=reason).go_on()
    trip = story.trip()
    assert trip is not None
    assert (trip.cause, trip.count, trip.scope) == ("answers", 3, "thread")


def test_an_admitted_call_starts_the_row_of_answers_anew() -> None:
    story = Story().user()
    for number in range(8):
        story.refused(f"a{number}")
        if number % 2:
            story.released()
        story.ask()
    assert story.trip() is None


def test_equal_refusals_trip_also_between_harmless_calls() -> None:
    story = Story().user()
    for _ in range(2):
        story.released().refused("same").ask()
    assert story.trip() is None
    story.released().refused("same")
    trip = story.trip()
    assert trip is not None
    assert trip.cause == "same"


def test_the_refusal_before_the_trip_is_the_last_warning() -> None:
    story = Story().user().refused("a")
    assert not breaker.last_warning(story.state, "s", "t", LIMITS)
    story.ask().refused("b")
    assert breaker.last_warning(story.state, "s", "t", LIMITS)


def test_sub_agents_share_the_budget_of_the_session_and_their_prompts_are_no_user_input() -> None:
    story = Story().user()
    for number in range(25):
        assert story.trip() is None
        child = f"child{number}"
        story.user(child, subagent="collab_spawn").refused(f"a{number}", child)
    trip = story.trip()
    assert trip is not None
    assert (trip.cause, trip.scope) == ("session", "session")
    story.latch("child24")
    assert all(story.trip(thread) is not None for thread in ("t", "child0", "unheard-of"))
    story.user()
    assert all(story.trip(thread) is None for thread in ("t", "child0", "child24"))


def test_continuations_that_bring_no_admitted_call_trip_even_as_plain_text() -> None:
    story = Story().user()
    for _ in range(5):
        assert story.trip() is None
        story.go_on()
    story.go_on()
    trip = story.trip()
    assert trip is not None
    assert trip.cause == "continuations"


def test_productive_continuations_do_not_trip() -> None:
    story = Story().user()
    for number in range(40):
        story.released(f"a{number}").go_on()
    assert story.trip() is None


def test_a_trip_stays_latched_until_the_user_speaks() -> None:
    story = Story().user()
    for number in range(3):
        story.refused(f"a{number}").go_on()
    story.latch()
    for _ in range(10):
        story.go_on()
        assert story.trip() is not None
    story.user()
    assert story.trip() is None


def test_a_reactivated_run_that_repeats_the_refusals_stops_again() -> None:
    story = Story().user()
    for _ in range(2):
        for _ in range(3):
            story.refused("same").go_on()
        story.latch().user()
    story.refused("same").go_on().refused("same").go_on().refused("same")
    assert story.trip() is not None


def test_a_compaction_is_no_user_input() -> None:
    story = Story().user()
    story.refused("a").ask().refused("b").ask()
    story.ask(compaction=True)
    for _ in range(2):
        story.ask(users=1, user="a summary in the user's name").refused("c")
    story.ask(users=1, user="a summary in the user's name")
    assert story.trip() is not None


def test_an_operator_releases_a_latched_thread() -> None:
    story = Story().user()
    for number in range(3):
        story.refused(f"a{number}").ask()
    story.latch().row("breaker", state="released")
    assert story.trip() is None


def test_auxiliary_requests_change_nothing() -> None:
    story = Story().user()
    for number in range(30):
        story.ask(aux=True, request=f"x{number}").refused("same", aux=True)
    assert story.trip() is None
    assert story.state["s"].refused == 0


def test_a_call_of_an_answer_that_failed_may_have_run_and_its_retry_is_known() -> None:
    story = Story().user().released("once").released("read", read_only=True).row("upstream", failed=True).ask()
    row = {"tool": "exec", "args_digest": "once"}
    assert breaker.may_have_run(story.state, "s", "t", row)
    assert not breaker.may_have_run(story.state, "s", "t", {**row, "args_digest": "read"})
    story.ask()
    assert not breaker.may_have_run(story.state, "s", "t", row)


def test_requests_presented_again_after_a_release_trip() -> None:
    story = Story().user()
    for number in range(3):
        assert story.trip() is None
        story.released(f"a{number}").row("upstream", failed=True).ask()
    trip = story.trip()
    assert trip is not None
    assert trip.cause == "repeats"


def test_tokens_since_the_user_spoke_are_in_the_trip() -> None:
    story = Story().user().row("usage", tokens={"input_tokens": 5, "output_tokens": 2}).user()
    for number in range(3):
        story.refused(f"a{number}").row("usage", tokens={"total_tokens": 100}).ask()
    trip = story.trip()
    assert trip is not None
    assert trip.tokens == 300


def test_with_every_limit_off_nothing_trips() -> None:
    story = Story(Limits.off()).user()
    for _ in range(50):
        story.refused("same").go_on()
    assert story.trip() is None


STEPS = st.sampled_from(["refuse", "refuse-same", "release", "text", "go-on", "spawn", "compact", "aux", "restart"])


@given(st.lists(STEPS, max_size=120))
def test_useless_requests_in_a_row_never_exceed_the_bound(steps: list[str]) -> None:
    """Whatever the mix of refusals, texts, spawns, compactions and restarts, without an admitted call the run ends."""
    story, useless, refused = Story().user(), 0, 0
    for number, step in enumerate(steps):
        if story.trip() is not None:
            break
        match step:
            case "refuse":
                story.refused(f"a{number}")
                useless, refused = useless + 1, refused + 1
                story.ask()
            case "refuse-same":
                story.refused("same")
                useless, refused = useless + 1, refused + 1
                story.go_on()
            case "release":
                story.released(f"ok{number}")
                useless = 0
                story.ask()
            case "text" | "go-on":
                useless += 1
                story.go_on()
            case "spawn":
                story.user(f"child{number}", subagent="x")
            case "compact":
                story.ask(compaction=True)
            case "aux":
                story.ask(aux=True).refused("same", aux=True)
            case _:
                story.state = breaker.replay(story.rows)
    assert useless <= LIMITS.answers * LIMITS.continuations + LIMITS.continuations
    assert refused <= LIMITS.session


@pytest.mark.parametrize("cut", range(1, 12))
def test_a_restart_continues_the_counts(cut: int) -> None:
    story = Story().user()
    for number in range(3):
        story.refused(f"a{number}").go_on()
    story.latch()
    first = breaker.replay(story.rows[:cut])
    for row in story.rows[cut:]:
        first = breaker.fold(first, row)
    assert first == story.state
