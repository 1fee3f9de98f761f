"""Facts and a policy -> a verdict, by an ordered ladder: malformed, unknown tool, opaque, deny, ask, allow, and else deny.

Rules are kept by what an effect is (kind, act, zone, net), so an effect meets only the rules that could concern it.

INVARIANT: a call is released only when no rule that refuses holds for any of its effects and each effect is matched by an
allow; a rule that is added to the refusing ones can only take calls away.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from checkrein.policy.explain import Case, words
from checkrein.policy.match import Predicate, indexed, residual
from checkrein.policy.schema import FaultKind, McpReview, Preset, Rule, ToolReview
from checkrein.vocab.calls import NOTHING
from checkrein.vocab.effects import Effect, EffectKind
from checkrein.vocab.facts import Facts
from checkrein.vocab.reasons import Reason
from checkrein.vocab.verdicts import Layer, Outcome, RuleRef, Rung, Verdict

MALFORMED, UNKNOWN, OPAQUE, DENY, ASK, ALLOW, DEFAULT = "malformed", "unknown-tool", "opaque", "deny", "ask", "allow", "default"
LADDER = (MALFORMED, UNKNOWN, OPAQUE, DENY, ASK, ALLOW, DEFAULT)

# Which rung and which fault rule a failing call meets.
_FAILING: Mapping[Reason, tuple[str, FaultKind]] = {
    Reason.MALFORMED: (MALFORMED, FaultKind.MALFORMED),
    Reason.DEFAULT_DENY: (UNKNOWN, FaultKind.UNKNOWN_TOOL),
    Reason.OVERSIZE: (OPAQUE, FaultKind.OVERSIZE),
    Reason.OPAQUE: (OPAQUE, FaultKind.OVERSIZE),
    Reason.POLICY_ERROR: (DENY, FaultKind.ERROR),
}


class Checked(NamedTuple):
    """A rule made ready: `rest` is what the index does not answer, `pardons` are the allows that loosen it."""

    rule: Rule
    ref: RuleRef
    rest: Predicate | None
    also: Predicate | None
    pardons: tuple[Checked, ...]

    def holds(self, effect: Effect, facts: Facts) -> bool:
        """Whether the rule concerns this effect of this call, `also` included."""
        return indexed(self.rule.on, effect) and self.holds_here(effect, facts)

    def holds_here(self, effect: Effect, facts: Facts) -> bool:
        """The same for an effect that the index has let through."""
        rest = self.rest
        if rest is not None and not rest(effect, facts):
            return False
        also = self.rule.also
        if also is None:
            return True
        more = self.also
        return any(
            other is not effect and indexed(also, other) and (more is None or more(other, facts)) for other in facts.effects
        )

    def hits(self, effect: Effect, facts: Facts) -> bool:
        """Whether a refusing rule counts for an effect that the index has let through."""
        return self.holds_here(effect, facts) and not any(pardon.holds(effect, facts) for pardon in self.pardons)


class Relevant(NamedTuple):
    """The rules that could concern one sort of effect."""

    refusing: tuple[tuple[str, Checked], ...]  # with their rung, in the order of the ladder
    allows: tuple[Checked, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Policy:
    """The compiled floor. `digest` names exactly these rules and this preset; `files` are what it was made of."""

    preset: Preset
    refusing: tuple[tuple[str, Checked], ...]
    allows: tuple[Checked, ...]
    faults: Mapping[FaultKind, Rule] = field(default_factory=lambda: NOTHING)
    rules: tuple[Rule, ...] = ()
    mcp: tuple[McpReview, ...] = ()
    tools: tuple[ToolReview, ...] = ()
    secrets: tuple[str, ...] = ()
    digest: str = ""
    files: tuple[tuple[Layer, str, str], ...] = ()
    memory: dict[tuple[object, ...], Relevant] = field(default_factory=dict, repr=False)

    def relevant(self, effect: Effect) -> Relevant:
        """The rules for effects of this sort, worked out once per sort."""
        key = (effect.kind, effect.act, effect.zone, effect.net)
        found = self.memory.get(key)
        if found is None:
            found = self.memory[key] = Relevant(
                tuple((rung, checked) for rung, checked in self.refusing if indexed(checked.rule.on, effect)),
                tuple(checked for checked in self.allows if _admits(checked.rule, effect)),
            )
        return found


def _admits(rule: Rule, effect: Effect) -> bool:
    """An act is admitted only by name: by an allow that says `act`, or by one that loosens the rules on it."""
    return indexed(rule.on, effect) and (effect.act is None or bool(rule.on.act) or bool(rule.overrides))


class Hit(NamedTuple):
    """The rule that decided and the effect for which it did."""

    rung: str
    checked: Checked
    effect: Effect


def decide(facts: Facts, policy: Policy) -> Verdict:
    """The verdict on one call. Pure."""
    if facts.failing is not None:
        return _fail(facts, policy)
    hit: Hit | None = None
    admitted: Checked | None = None
    stray: Effect | None = None
    for effect in facts.effects:
        relevant = policy.relevant(effect)
        for rung, checked in relevant.refusing:
            if hit is not None and not _before(rung, checked, hit):
                continue
            if checked.hits(effect, facts):
                hit = Hit(rung, checked, effect)
        if hit is None and stray is None:
            for checked in relevant.allows:
                if checked.holds_here(effect, facts):
                    admitted = admitted or checked
                    break
            else:
                stray = effect
    if hit is not None:
        return _refuse(facts, policy, hit)
    if stray is not None or admitted is None:
        return _unadmitted(facts, policy, stray)
    return Verdict(
        outcome=Outcome.ALLOW,
        released=True,
        tool=facts.tool,
        profile=facts.profile,
        rule=admitted.ref,
        effects=facts.effects,
        rungs=(*_PASSED[ALLOW], Rung(ALLOW, "hit", admitted.rule.id)),
        notes=facts.notes,
        read_only=facts.read_only,
    )


def _before(rung: str, checked: Checked, hit: Hit) -> bool:
    """Whether a rule would take the place of the hit so far: a locked one first, then the earlier rung, then the earlier effect."""
    return (not checked.rule.locked, _RANK[rung]) < (not hit.checked.rule.locked, _RANK[hit.rung])


_RANK = {rung: rank for rank, rung in enumerate(LADDER)}
_PASSED = {rung: tuple(Rung(before, "pass") for before in LADDER[:rank]) for rank, rung in enumerate(LADDER)}


def _rungs(rung: str, rule: str | None) -> tuple[Rung, ...]:
    """The whole ladder: what was passed, what hit, what was then skipped."""
    rest = LADDER[_RANK[rung] + 1 :]
    return (*_PASSED[rung], Rung(rung, "hit", rule), *(Rung(after, "skip") for after in rest))


def _refuse(facts: Facts, policy: Policy, hit: Hit) -> Verdict:
    rule = hit.checked.rule
    outcome = Outcome.ASK if hit.rung == ASK else Outcome.DENY
    reason = rule.reason or (Reason.NEEDS_APPROVAL if outcome is Outcome.ASK else Reason.POLICY_BLOCK)
    if outcome is Outcome.DENY and reason is Reason.NEEDS_APPROVAL:
        reason = Reason.POLICY_BLOCK  # an ask of a preset that asks nobody
    return _verdict(facts, policy, outcome, reason, hit.rung, rule, hit.effect, excusable=not rule.locked)


def _unadmitted(facts: Facts, policy: Policy, stray: Effect | None) -> Verdict:
    reason = Reason.OPAQUE if stray is not None and stray.kind is EffectKind.OPAQUE else Reason.DEFAULT_DENY
    rule = policy.faults.get(FaultKind.UNADMITTED)
    return _verdict(facts, policy, Outcome.DENY, reason, DEFAULT, rule, stray, excusable=True)


def _fail(facts: Facts, policy: Policy) -> Verdict:
    assert facts.failing is not None
    rung, kind = _FAILING.get(facts.failing.reason, (DENY, FaultKind.ERROR))
    return _verdict(facts, policy, Outcome.DENY, facts.failing.reason, rung, policy.faults.get(kind), None, excusable=False)


def _verdict(
    facts: Facts,
    policy: Policy,
    outcome: Outcome,
    reason: Reason,
    rung: str,
    rule: Rule | None,
    cause: Effect | None,
    *,
    excusable: bool,
) -> Verdict:
    """A refusal with its words. In the `observe` preset it is released where only policy refuses."""
    observed = excusable and policy.preset is Preset.OBSERVE
    message, remedy = words(Case(facts, reason, rule, cause))
    notes = (*facts.notes, "released by the `observe` preset, which only watches") if observed else facts.notes
    return Verdict(
        outcome=outcome,
        released=observed,
        tool=facts.tool,
        profile=facts.profile,
        reason=reason,
        rule=rule.ref if rule is not None else None,
        effects=facts.effects,
        cause=cause,
        rungs=_rungs(rung, rule.id if rule is not None else None),
        message=message,
        remedy=remedy,
        notes=notes,
        read_only=facts.read_only,
    )


def ready(rules: Sequence[Rule], preset: Preset) -> tuple[tuple[tuple[str, Checked], ...], tuple[Checked, ...]]:
    """The refusing rules with their rungs, and the allows, as the preset takes them."""
    active = [rule for rule in rules if not rule.on.fault and (not rule.presets or preset in rule.presets)]
    allows = tuple(_checked(rule, ()) for rule in active if rule.verdict is Outcome.ALLOW)
    pardons: dict[str, list[Checked]] = {}
    for allow in allows:
        for name in allow.rule.overrides:
            pardons.setdefault(name, []).append(allow)
    refusing = [
        (_rung(rule, preset), _checked(rule, tuple(pardons.get(rule.id, ()))))
        for rule in active
        if rule.verdict is not Outcome.ALLOW
    ]
    refusing.sort(key=lambda row: (not row[1].rule.locked, _RANK[row[0]]))
    return tuple(refusing), allows


def _rung(rule: Rule, preset: Preset) -> str:
    if rule.verdict is Outcome.ASK:
        return DENY if preset is Preset.STRICT else ASK
    return OPAQUE if rule.reason is Reason.OPAQUE else DENY


def _checked(rule: Rule, pardons: tuple[Checked, ...]) -> Checked:
    assert rule.ref is not None
    return Checked(rule, rule.ref, residual(rule.on), residual(rule.also) if rule.also is not None else None, pardons)
