from __future__ import annotations

import itertools

import pytest

from checkrein.profiles.schema import Carriage, Denial
from checkrein.turns.carriage import AGAIN, Budget, Left, choose, note, refusal
from checkrein.vocab.calls import Call
from checkrein.vocab.reasons import Reason
from checkrein.vocab.verdicts import Outcome, Verdict

CODEX = Denial(some_left=Carriage.DROP, none_left=Carriage.CONTINUE)


@pytest.mark.parametrize(
    ("denial", "left", "budget", "form"),
    [
        (CODEX, Left.SOME, Budget(2), Carriage.DROP),
        (CODEX, Left.SOME, Budget(0), Carriage.DROP),
        (CODEX, Left.NONE, Budget(2), Carriage.CONTINUE),
        (CODEX, Left.NONE, Budget(1), Carriage.CONTINUE),
        (CODEX, Left.NONE, Budget(0), Carriage.TEXT),
        (CODEX, Left.NONE, Budget(-1), Carriage.TEXT),
        (Denial(), Left.NONE, Budget(2), Carriage.TEXT),
        (Denial(none_left=Carriage.FEEDBACK), Left.NONE, Budget(2), Carriage.TEXT),
        (Denial(none_left=Carriage.FEEDBACK), Left.NONE, Budget(0, 1), Carriage.FEEDBACK),
        (Denial(none_left=Carriage.ERROR), Left.NONE, Budget(), Carriage.TEXT),
        (Denial(some_left=Carriage.CONTINUE), Left.SOME, Budget(2), Carriage.DROP),
        (Denial(some_left=Carriage.FEEDBACK), Left.SOME, Budget(), Carriage.DROP),
    ],
)
def test_the_form_follows_from_the_profile_and_from_what_is_left(
    denial: Denial, left: Left, budget: Budget, form: Carriage
) -> None:
    assert choose(denial, left, budget) is form


def test_nothing_that_asks_again_is_chosen_without_budget() -> None:
    for some, none, left in itertools.product(Carriage, Carriage, Left):
        assert choose(Denial(some_left=some, none_left=none), left, Budget()) not in (Carriage.CONTINUE, Carriage.FEEDBACK)


def test_only_a_continuation_asks_again() -> None:
    assert set(AGAIN) == set(Carriage)
    assert [form for form, again in AGAIN.items() if again] == [Carriage.CONTINUE]


def test_a_note_says_whose_it_is_which_call_which_reason_and_what_instead() -> None:
    call = Call("exec_command", "c1", "functions")
    verdict = Verdict(
        Outcome.DENY,
        False,
        "exec_command",
        "codex",
        Reason.POLICY_BLOCK,
        message="it deletes the root; name a directory below it",
    )
    assert note(call, verdict) == (
        "[checkrein] The call to `functions.exec_command` was refused (POLICY_BLOCK) and did not run: "
        "it deletes the root; name a directory below it."
    )
    assert "POLICY_ERROR" in note(Call(""), Verdict(Outcome.DENY, False, "", "codex"))


@pytest.mark.parametrize("reason", [Reason.PROTOCOL_VIOLATION, Reason.INTERNAL_ERROR, Reason.OVERSIZE])
def test_the_machines_own_refusals_have_words(reason: Reason) -> None:
    verdict = refusal(Call("x"), "codex", reason, "two copies differ")
    assert verdict.released is False
    assert verdict.message
    assert "two copies differ" in verdict.remedy
    assert "{" not in verdict.message + verdict.remedy
