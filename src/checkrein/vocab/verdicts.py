"""The outcome of judging one call."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from checkrein.vocab.effects import Effect
from checkrein.vocab.reasons import REASONS, Disposition, Reason


class Outcome(StrEnum):
    """allow, deny or ask; `STRICTNESS` orders them."""

    ALLOW = "allow"
    ASK = "ask"
    DENY = "deny"


STRICTNESS = {Outcome.ALLOW: 0, Outcome.ASK: 1, Outcome.DENY: 2}


class Layer(StrEnum):
    """Policy layers from the ground up."""

    BUILT_IN = "built-in"
    ORGANISATION = "organisation"
    USER = "user"
    PROJECT = "project"


@dataclass(frozen=True, slots=True)
class RuleRef:
    """Which rule, and where it is written. `line` starts at 1."""

    id: str
    layer: Layer
    file: str
    line: int
    locked: bool = False


@dataclass(frozen=True, slots=True)
class Rung:
    """One step of the ladder: `outcome` is `pass`, `hit` or `skip`."""

    rung: str
    outcome: str
    rule: str | None = None


@dataclass(frozen=True, slots=True)
class Verdict:
    """The verdict on one call.

    `outcome` is what the policy says; `released` whether the call may reach the harness now (an ask without an approver is
    not; a refusal in the `observe` preset is). `cause` is the effect which decided. `message` is for the model, `remedy` for
    the operator.
    """

    outcome: Outcome
    released: bool
    tool: str
    profile: str
    reason: Reason | None = None
    rule: RuleRef | None = None
    effects: tuple[Effect, ...] = ()
    cause: Effect | None = None
    rungs: tuple[Rung, ...] = ()
    message: str = ""
    remedy: str = ""
    notes: tuple[str, ...] = ()
    read_only: bool = False

    @property
    def disposition(self) -> Disposition | None:
        """What the refused side should do, by the reason."""
        return REASONS[self.reason].disposition if self.reason is not None else None

    def to_json(self) -> dict[str, Any]:
        """The `checkrein.explain/1` document (CONTRACTS)."""
        rule = self.rule
        return {
            "schema": "checkrein.explain/1",
            "verdict": self.outcome.value,
            "reason": self.reason.value if self.reason else None,
            "disposition": self.disposition.value if self.disposition else None,
            "tool": self.tool,
            "profile": self.profile,
            "effects": [effect.to_json() for effect in self.effects],
            "rule": {"id": rule.id, "layer": rule.layer.value, "file": rule.file, "line": rule.line} if rule else None,
            "rungs": [{"rung": r.rung, "outcome": r.outcome, **({"rule": r.rule} if r.rule else {})} for r in self.rungs],
            "message": self.message,
            "remedy": self.remedy,
            "notes": list(self.notes),
        }
