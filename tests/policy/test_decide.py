"""The ladder: what more rules, other presets and higher layers can and cannot do to a verdict."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checkrein.policy.decide import LADDER, Policy, decide, ready
from checkrein.policy.schema import FaultKind, Match, Preset, Rule
from checkrein.vocab.acts import Act
from checkrein.vocab.effects import Effect, EffectKind, Flag, Zone
from checkrein.vocab.facts import Facts, Failing
from checkrein.vocab.reasons import REASONS, Disposition, Reason
from checkrein.vocab.site import Site
from checkrein.vocab.verdicts import STRICTNESS, Layer, Outcome, RuleRef

KINDS = [EffectKind.EXEC, EffectKind.READ, EffectKind.DELETE, EffectKind.OPAQUE]
ZONES = [None, Zone.WORKSPACE, Zone.HOME, Zone.SYSTEM]
ACTS = [None, Act.GIT_CLEAN, Act.POWER]

effects = st.builds(
    Effect,
    kind=st.sampled_from(KINDS),
    value=st.sampled_from(["a", "b", "/c/d"]),
    program=st.sampled_from(["", "rm", "git"]),
    act=st.sampled_from(ACTS),
    zone=st.sampled_from(ZONES),
    flags=st.frozensets(st.sampled_from([Flag.RECURSIVE, Flag.SENDS]), max_size=1),
    why=st.just("does a thing"),
)
matches = st.builds(
    Match,
    effect=st.lists(st.sampled_from(KINDS), max_size=2, unique=True).map(tuple),
    act=st.lists(st.sampled_from(ACTS[1:]), max_size=1).map(tuple),
    zone=st.lists(st.sampled_from(ZONES[1:]), max_size=2, unique=True).map(tuple),
    program=st.sampled_from([(), ("rm",), ("g*",)]),
    value=st.sampled_from([(), ("a",)]),
    without=st.sampled_from([(), (Flag.RECURSIVE,)]),
)


def facts(*found: Effect, failing: Failing | None = None) -> Facts:
    return Facts("tool", None, "tool", "codex", Site(), tuple(found), failing)


def rule(number: int, verdict: Outcome, on: Match, **more: object) -> Rule:
    ref = RuleRef(f"r.{number}", Layer.BUILT_IN, "r.toml", number + 1, bool(more.get("locked")))
    return Rule(ref.id, verdict, on, ref=ref, **more)  # type: ignore[arg-type]


def policy(*rules: Rule, preset: Preset = Preset.STANDARD) -> Policy:
    refusing, allows = ready(rules, preset)
    faults = {kind: one for one in rules for kind in one.on.fault}
    return Policy(preset, refusing, allows, faults, tuple(rules))


@st.composite
def rulebooks(draw: st.DrawFn) -> list[Rule]:
    drawn = draw(
        st.lists(st.tuples(st.sampled_from(Outcome), matches, st.none() | matches, st.booleans(), st.booleans()), max_size=6)
    )
    rules: list[Rule] = []
    for number, (verdict, on, also, locked, loosens) in enumerate(drawn):
        refusing = tuple(one.id for one in rules if one.verdict is not Outcome.ALLOW and not one.locked)
        more: dict[str, object] = {"also": also}
        if verdict is Outcome.ALLOW and loosens:
            more["overrides"] = refusing
        if verdict is not Outcome.ALLOW:
            more["locked"] = locked
        rules.append(rule(number, verdict, on, **more))
    return rules


calls = st.lists(effects, max_size=4).map(lambda found: facts(*found))


@given(rulebooks(), calls, matches, st.none() | matches, st.sampled_from([Outcome.DENY, Outcome.ASK]), st.sampled_from(Preset))
def test_one_more_refusing_rule_never_admits_more(
    rules: list[Rule], call: Facts, on: Match, also: Match | None, verdict: Outcome, preset: Preset
) -> None:
    before = decide(call, policy(*rules, preset=preset))
    more = rule(99, verdict, on, also=also)
    after = decide(call, policy(*rules, more, preset=preset))
    assert before.released or not after.released
    assert before.outcome is Outcome.ALLOW or after.outcome is not Outcome.ALLOW
    if verdict is Outcome.DENY:
        assert STRICTNESS[after.outcome] >= STRICTNESS[before.outcome]


@given(rulebooks(), calls, st.lists(st.tuples(matches, st.booleans()), max_size=4))
def test_no_layer_above_loosens_a_locked_rule(rules: list[Rule], call: Facts, above: list[tuple[Match, bool]]) -> None:
    lock = rule(90, Outcome.DENY, Match(effect=(EffectKind.DELETE,), zone=(Zone.SYSTEM,)), locked=True)
    grants = [
        rule(100 + number, Outcome.ALLOW, on, overrides=tuple(one.id for one in rules if not one.locked and one.verdict is not Outcome.ALLOW) if loosens else ())
        for number, (on, loosens) in enumerate(above)
    ]  # fmt: skip
    locked = any(one.kind is EffectKind.DELETE and one.zone is Zone.SYSTEM for one in call.effects)
    for preset in Preset:
        verdict = decide(call, policy(*rules, lock, *grants, preset=preset))
        if locked:
            assert verdict.outcome is not Outcome.ALLOW
            assert not verdict.released


@given(rulebooks(), calls)
def test_presets_differ_as_they_say(rules: list[Rule], call: Facts) -> None:
    by = {preset: decide(call, policy(*rules, preset=preset)) for preset in Preset}
    standard, strict, observe = by[Preset.STANDARD], by[Preset.STRICT], by[Preset.OBSERVE]
    assert strict.outcome is not Outcome.ASK
    assert (strict.outcome is Outcome.ALLOW) == (standard.outcome is Outcome.ALLOW)
    assert observe.outcome is standard.outcome
    assert standard.released == (standard.outcome is Outcome.ALLOW)
    held = observe.rule is not None and observe.rule.locked
    assert observe.released is not held


@given(rulebooks(), calls)
def test_a_call_is_admitted_only_when_an_allow_matches_each_of_its_effects(rules: list[Rule], call: Facts) -> None:
    verdict = decide(call, policy(*rules))
    if verdict.outcome is Outcome.ALLOW:
        assert call.effects
        for effect in call.effects:
            assert any(one.verdict is Outcome.ALLOW and (not one.on.effect or effect.kind in one.on.effect) for one in rules)
    rungs = [one.rung for one in verdict.rungs]
    assert rungs == list(LADDER)[: len(rungs)]
    assert [one.outcome for one in verdict.rungs].count("hit") == 1


@given(rulebooks(), calls, st.sampled_from(list(Preset)))
def test_a_call_that_fails_is_refused_whatever_its_effects(rules: list[Rule], call: Facts, preset: Preset) -> None:
    for reason in (Reason.MALFORMED, Reason.DEFAULT_DENY, Reason.OVERSIZE, Reason.OPAQUE, Reason.POLICY_ERROR):
        verdict = decide(replace(call, failing=Failing(reason, "it is so")), policy(*rules, preset=preset))
        assert (verdict.outcome, verdict.released, verdict.reason) == (Outcome.DENY, False, reason)
        assert verdict.message
        assert verdict.remedy


def test_an_empty_policy_admits_nothing() -> None:
    for found in ((), (Effect(EffectKind.READ, "x"),)):
        verdict = decide(facts(*found), policy())
        assert (verdict.outcome, verdict.reason) == (Outcome.DENY, Reason.DEFAULT_DENY)
    assert decide(facts(Effect(EffectKind.OPAQUE, "x")), policy()).reason is Reason.OPAQUE


def test_an_act_is_admitted_by_name_only() -> None:
    effect = Effect(EffectKind.EXEC, "git clean -n", act=Act.GIT_CLEAN, why="cleans")
    plain = rule(1, Outcome.ALLOW, Match(effect=(EffectKind.EXEC,)))
    assert decide(facts(effect), policy(plain)).outcome is Outcome.DENY
    named = rule(2, Outcome.ALLOW, Match(act=(Act.GIT_CLEAN,)))
    assert decide(facts(effect), policy(plain, named)).outcome is Outcome.ALLOW


def test_a_locked_rule_decides_before_any_other() -> None:
    ask = rule(1, Outcome.ASK, Match(effect=(EffectKind.READ,)), locked=True)
    deny = rule(2, Outcome.DENY, Match(effect=(EffectKind.DELETE,)))
    verdict = decide(
        facts(Effect(EffectKind.DELETE, "a"), Effect(EffectKind.READ, "b")), policy(ask, deny, preset=Preset.OBSERVE)
    )
    assert verdict.rule is not None
    assert verdict.rule.id == "r.1"
    assert not verdict.released


def test_also_wants_another_effect() -> None:
    both = rule(1, Outcome.DENY, Match(effect=(EffectKind.READ,)), also=Match(effect=(EffectKind.READ,)))
    allow = rule(2, Outcome.ALLOW, Match(effect=(EffectKind.READ,)))
    assert decide(facts(Effect(EffectKind.READ, "a")), policy(both, allow)).outcome is Outcome.ALLOW
    assert (
        decide(facts(Effect(EffectKind.READ, "a"), Effect(EffectKind.READ, "b")), policy(both, allow)).outcome is Outcome.DENY
    )


def test_a_fault_rule_lends_its_name() -> None:
    named = rule(1, Outcome.DENY, Match(fault=(FaultKind.MALFORMED,)), reason=Reason.MALFORMED)
    verdict = decide(facts(failing=Failing(Reason.MALFORMED, "it has no command")), policy(named))
    assert verdict.rule is not None
    assert verdict.rule.id == "r.1"
    assert verdict.disposition is Disposition.FIX


@pytest.mark.parametrize(
    "reason", [Reason.SELF_MODIFY, Reason.SECRET_EXFIL, Reason.EGRESS_BLOCK, Reason.OPAQUE, Reason.POLICY_BLOCK]
)
def test_the_reason_of_a_rule_is_that_of_the_verdict(reason: Reason) -> None:
    one = rule(1, Outcome.DENY, Match(effect=(EffectKind.READ,)), reason=reason, harm="it hurts")
    verdict = decide(facts(Effect(EffectKind.READ, "a")), policy(one))
    assert verdict.reason is reason
    assert verdict.disposition is REASONS[reason].disposition
    assert "it hurts" in verdict.remedy
