"""What loads and is hardly meant is pointed at, where it stands."""

from __future__ import annotations

import pytest

from checkrein.policy.decide import Policy
from checkrein.policy.lint import findings
from checkrein.policy.load import compile as compile_policy
from checkrein.policy.load import parse
from checkrein.policy.schema import Example, Source
from checkrein.vocab.verdicts import Layer, Outcome, RuleRef, Verdict

HEAD = 'schema = "checkrein.policy/1"\n'
EXAMPLES = 'examples = {match = ["own"], not_match = ["x"]}\n'


def rule(name: str, verdict: str, on: str, more: str = "harm = 'h'\n") -> str:
    return f'[[rule]]\nid = "{name}"\nverdict = "{verdict}"\non = {on}\n{more}{EXAMPLES}'


def lint(text: str, decided_by: str = "", outcome: Outcome = Outcome.DENY) -> list[str]:
    """The findings; `decided_by` is the rule that decides every example, by default the first that is asked about."""
    source = Source(Layer.USER, "f.toml", HEAD + text)
    policy = compile_policy([source])

    def verdict_of(_example: Example, within: Policy) -> Verdict:
        ref = RuleRef(decided_by or within.rules[0].id, Layer.USER, "f.toml", 1)
        return Verdict(outcome, released=False, tool="t", profile="p", rule=ref)

    return [str(fault) for fault in findings(parse(source), policy, verdict_of)]


@pytest.mark.parametrize(
    ("text", "finding"),
    [
        (rule("a", "deny", '{program = ["ls", "/bin/ls"]}'), "f.toml:5:24: no program is called `/bin/ls`"),
        (rule("a", "deny", '{host = "https://x.example/"}'), "f.toml:5:7: no host is called"),
        (rule("a", "deny", '{path = "$HOME/x"}'), "f.toml:5:7: no path is spelled `$HOME/x`"),
        (rule("a", "deny", '{path = "src/"}'), "f.toml:5:7: no path is spelled `src/`"),
        (rule("a", "deny", '{command = "git  push"}'), "f.toml:5:7: no command line begins with `git  push`"),
        (rule("a", "deny", '{effect = "read"}', 'also = {program = "a/b"}\n'), "f.toml:6:9: no program is called `a/b`"),
        (rule("a", "deny", '{effect = "read"}', ""), "f.toml:2:3: rule `a` does not say which harm it prevents"),
    ],
)
def test_a_condition_that_never_holds_is_found(text: str, finding: str) -> None:
    found = lint(text)
    assert found[0].startswith(finding)


def test_a_sound_rule_has_no_finding() -> None:
    assert lint(rule("a", "deny", '{effect = "read", path = "/x/**", host = "x.example:443", command = "git push"}')) == []


def test_twins_are_found() -> None:
    found = lint(rule("a", "deny", '{effect = "read"}') + rule("b", "deny", '{effect = "read"}'))
    assert any("rule `b` says the same as `a`" in one for one in found)


def test_an_allow_that_loosens_for_everything_is_found() -> None:
    base = Source(Layer.ORGANISATION, "o.toml", HEAD + rule("o", "ask", '{effect = "read"}'))
    text = HEAD + rule("a", "allow", '{effect = "read"}', 'overrides = ["o"]\n')
    mine = Source(Layer.USER, "f.toml", text)
    policy = compile_policy([base, mine])
    allowed = Verdict(Outcome.ALLOW, released=True, tool="t", profile="p")
    found = [str(one) for one in findings(parse(mine), policy, lambda _example, _policy: allowed)]
    assert found[0].startswith("f.toml:6:1: rule `a` loosens for everything of its sort")


def test_a_rule_that_decides_none_of_its_examples_is_found() -> None:
    (found,) = lint(rule("a", "deny", '{effect = "read"}'), decided_by="other")
    assert found.startswith("f.toml:7:13: rule `a` decides none of its own examples, for `other` does")
    (found,) = lint(rule("a", "allow", '{effect = "read"}'), decided_by="other")
    assert "rule `a` admits none of its own examples, for `other` refuses them" in found
    assert lint(rule("a", "allow", '{effect = "read"}'), outcome=Outcome.ALLOW) == []
