"""The words of a refusal, and that a grant is one text which comes back as the same grant."""

from __future__ import annotations

import shlex

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checkrein.policy.explain import (
    GRANTED_FLAGS,
    NETS,
    ZONES,
    Case,
    Grant,
    clause,
    grant_for,
    granting,
    quoted,
    read_grant,
    shown,
    sketch,
    words,
)
from checkrein.policy.schema import Match, Rule
from checkrein.vocab.acts import Act
from checkrein.vocab.effects import Effect, EffectKind, Flag, Net, Zone
from checkrein.vocab.errors import UsageError
from checkrein.vocab.facts import Facts, Failing
from checkrein.vocab.reasons import Reason
from checkrein.vocab.site import Site
from checkrein.vocab.verdicts import Layer, Outcome, RuleRef

RULE = Rule(
    "git.force", Outcome.DENY, Match(), harm="others lose work.", instead="push a branch", ref=RuleRef("git.force", Layer.BUILT_IN, "g.toml", 7)
)  # fmt: skip
LOCKED = Rule("lock", Outcome.DENY, Match(), locked=True, ref=RuleRef("lock", Layer.ORGANISATION, "o.toml", 1, locked=True))
CALL = Facts("run", None, "run", "codex", Site())
FAILS = Facts("run", None, "run", "codex", Site(), failing=Failing(Reason.MALFORMED, "it has no command"))
PUSH = Effect(EffectKind.EXEC, "git push -f", program="git", act=Act.GIT_FORCE_PUSH, why="`git push -f` overwrites history")


@given(
    st.builds(
        Grant,
        rule=st.sampled_from(["", "git.force", "a-b_c.d"]),
        effect=st.sampled_from(EffectKind),
        value=st.text(min_size=1),
        flags=st.frozensets(st.sampled_from(sorted(GRANTED_FLAGS))),
    )
)
def test_a_grant_comes_back_from_its_text_and_through_a_shell(grant: Grant) -> None:
    assert read_grant(str(grant)) == grant
    assert shlex.split(quoted(str(grant))) == [str(grant)]


@pytest.mark.parametrize("text", ["", "x", "rule effect v", "r exec+odd v", "r exec", "r exec "])
def test_what_is_no_grant_is_said_to_be_none(text: str) -> None:
    with pytest.raises(UsageError, match="is no grant"):
        read_grant(text)


def test_a_refusal_tells_the_model_what_to_do_instead_and_the_operator_how_to_grant_it() -> None:
    message, remedy = words(Case(CALL, Reason.POLICY_BLOCK, RULE, PUSH))
    assert message == "`git push -f` overwrites history; push a branch"
    assert remedy == (
        "rule `git.force` (g.toml:7) refuses this; to admit it: checkrein allow 'git.force exec git push -f' (others lose work)"
    )


@pytest.mark.parametrize("reason", sorted(set(Reason)))
def test_every_reason_has_words_without_holes(reason: Reason) -> None:
    for call in (CALL, FAILS):
        for rule in (None, RULE, LOCKED):
            for cause in (None, PUSH, Effect(EffectKind.OPAQUE, "$x", why="`$x` is not known")):
                for text in words(Case(call, reason, rule, cause)):
                    assert text
                    assert "{" not in text


def test_a_locked_rule_and_an_unknown_value_have_no_grant() -> None:
    assert grant_for(LOCKED, PUSH) is None
    assert "organisation layer has locked" in granting(LOCKED, PUSH)
    for value, flags in (("", ()), ("a\N{HORIZONTAL ELLIPSIS}", ()), ("x", (Flag.UNRESOLVED,))):
        assert grant_for(RULE, Effect(EffectKind.DELETE, value, flags=frozenset(flags))) is None
    assert "not constant" in granting(RULE, Effect(EffectKind.OPAQUE, ""))


def test_a_plain_grant_does_not_cover_a_recursive_one() -> None:
    grant = grant_for(RULE, Effect(EffectKind.DELETE, "/x", flags=frozenset({Flag.RECURSIVE, Flag.FILTERED})))
    assert grant is not None
    assert str(grant) == "git.force delete+recursive /x"


@pytest.mark.parametrize(
    ("effect", "text"),
    [
        (None, "the call has no effect that could be judged"),
        (
            Effect(EffectKind.DELETE, "/", program="rm", zone=Zone.SYSTEM_ROOT, flags=frozenset({Flag.RECURSIVE})),
            "`rm` would delete `/` with everything below it, a root directory of the system",
        ),
        (Effect(EffectKind.WRITE, "/x"), "the call would write `/x`"),
        (Effect(EffectKind.EXEC, "reboot", act=Act.POWER, why="stops the machine"), "`reboot` stops the machine"),
        (Effect(EffectKind.OPAQUE, "$x", why="`$x` is not known"), "`$x` is not known (`$x`)"),
        (Effect(EffectKind.OPAQUE, ""), "something in it could not be resolved"),
    ],
)
def test_an_effect_is_told_as_a_clause(effect: Effect | None, text: str) -> None:
    assert clause(effect) == text


@pytest.mark.parametrize("kind", sorted(EffectKind))
@pytest.mark.parametrize("net", [None, Net.PUBLIC])
def test_every_kind_of_effect_has_a_clause(kind: EffectKind, net: Net | None) -> None:
    assert "value" in clause(Effect(kind, "value", net=net))


def test_every_zone_and_net_has_words() -> None:
    assert set(ZONES) == set(Zone)
    assert set(NETS) == set(Net)


@given(st.text())
def test_what_is_shown_is_one_line_and_short(value: str) -> None:
    assert len(shown(value)) <= 160
    assert "\n" not in shown(value)


def test_conditions_fit_on_a_line() -> None:
    assert sketch(Match(effect=(EffectKind.READ,), program=("a", "b"))) == "effect read; program a | b"
