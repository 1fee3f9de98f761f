"""How a refusal travels back: one closed table, chosen by the profile and by what is left of the answer.

| What is left | Form | What the harness does |
|---|---|---|
| some calls | `drop` | runs the others; a note stands in the place of each refused one |
| no call, the harness can ask again by itself | `continue`, bounded per turn | asks at once, with our note in its history |
| no call otherwise | `text` | ends its turn, the note is the model's word |
| nothing that could be trusted | `error` | ends in the harness's terminal form, which it does not retry |

`feedback` (the gateway asks the model again inside the same request) falls back to `text` where the driver offers no rounds.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum

from checkrein.profiles.schema import Carriage, Denial
from checkrein.vocab.calls import Call
from checkrein.vocab.reasons import REASONS, Reason
from checkrein.vocab.verdicts import Outcome, Verdict


class Left(Enum):
    """What is left of an answer after the verdicts."""

    ALL = "all"
    SOME = "some"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class Budget:
    """How many of a bounded form this turn may still take."""

    continues: int = 0
    feedbacks: int = 0


# What `last` of the writer is told: True asks the harness to ask again, False takes such a wish out, None leaves the answer.
AGAIN: Mapping[Carriage, bool | None] = {
    Carriage.CONTINUE: True,
    Carriage.TEXT: False,
    Carriage.FEEDBACK: False,
    Carriage.ERROR: False,
    Carriage.DROP: None,
}


def choose(denial: Denial, left: Left, budget: Budget) -> Carriage:
    """The form for an answer with refused calls.

    INVARIANT: `continue` and `feedback` are never chosen without budget, so that a refusal never spins.
    """
    wanted = denial.some_left if left is Left.SOME else denial.none_left
    plain = Carriage.DROP if left is Left.SOME else Carriage.TEXT
    able = {
        Carriage.CONTINUE: left is Left.NONE and budget.continues > 0,
        Carriage.FEEDBACK: budget.feedbacks > 0,
        Carriage.ERROR: False,  # not for an answer that could be read
    }
    return wanted if able.get(wanted, True) else plain


def note(call: Call, verdict: Verdict) -> str:
    """The words in place of a refused call: whose they are, which tool, which reason, what to do instead."""
    reason = verdict.reason.value if verdict.reason else Reason.POLICY_ERROR.value
    tool = call.spelling or "a call without a name"
    return (
        f"[checkrein] The call to `{tool}` was refused ({reason}) and did not run: {verdict.message or 'it is not admitted'}."
    )


def refusal(call: Call, profile: str, reason: Reason, why: str) -> Verdict:
    """A verdict that the machine itself gives, where there is nothing to judge or judging failed."""
    row = REASONS[reason]
    words = {"tool": call.spelling, "why": why}
    return Verdict(
        outcome=Outcome.DENY,
        released=False,
        tool=call.name,
        profile=profile,
        reason=reason,
        message=row.model.format_map(words),
        remedy=row.operator.format_map(words),
    )
