"""What a policy file may say but hardly means: conditions that can never hold, twins, rules that never decide, wide loosenings."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from checkrein.policy.decide import Policy
from checkrein.policy.load import Read
from checkrein.policy.schema import Example, Match, Rule
from checkrein.vocab.errors import CheckreinError, Fault
from checkrein.vocab.toml import KeyPath
from checkrein.vocab.verdicts import Outcome, Verdict

# Conditions that say which one is meant, and not only what sort of thing.
_NARROW: Final = ("program", "host", "path", "value", "command", "tool")


def findings(one: Read, policy: Policy, verdict_of: Callable[[Example, Policy], Verdict]) -> Iterator[Fault]:
    """The findings in one file that loads, in the order of its rules. `policy` is what it became a part of."""
    seen: dict[tuple[object, ...], str] = {}

    def finding(path: KeyPath, sentence: str, hint: str = "") -> Fault:
        return one.document.fault(path, sentence, hint)

    for index, rule in enumerate(one.manifest.rule):
        if rule.on.fault:
            continue
        for key, match in (("on", rule.on), ("also", rule.also)):
            if match is not None:
                for name, rank, sentence, hint in _never(match):
                    yield finding(one.at(index, key, name, rank), sentence, hint)
        twin = seen.setdefault((rule.verdict, rule.on, rule.also, rule.presets, rule.overrides), rule.id)
        if twin != rule.id:
            yield finding(one.at(index), f"rule `{rule.id}` says the same as `{twin}`", "remove one of them")
        if rule.verdict is not Outcome.ALLOW and not rule.harm:
            yield finding(one.at(index), f"rule `{rule.id}` does not say which harm it prevents", "add `harm`, one sentence")
        if rule.overrides and not any(getattr(rule.on, name) for name in _NARROW):
            yield finding(
                one.at(index, "overrides"),
                f"rule `{rule.id}` loosens for everything of its sort",
                f"name what is meant: {', '.join(f'`{name}`' for name in _NARROW)}",
            )
        if not rule.presets or policy.preset in rule.presets:
            idle = _idle(rule, policy, verdict_of)
            if idle:
                yield finding(one.at(index, "examples", "match"), *idle)


def _never(match: Match) -> Iterator[tuple[str, int, str, str]]:
    """Conditions that no effect can meet."""
    for rank, program in enumerate(match.program):
        if "/" in program or "\\" in program:
            yield "program", rank, f"no program is called `{program}`", "programs are known by their base names"
    for rank, host in enumerate(match.host):
        if "/" in host:
            yield "host", rank, f"no host is called `{host}`", "write the host alone, or `host:port`"
    for rank, path in enumerate(match.path):
        if "$" in path or (path.endswith("/") and path != "/"):
            yield "path", rank, f"no path is spelled `{path}`", "`~/` is the home, `/**` at the end is everything below"
    for rank, words in enumerate(match.command):
        if words != " ".join(words.split()):
            yield "command", rank, f"no command line begins with `{words}`", "words are apart by one space"


def _idle(rule: Rule, policy: Policy, verdict_of: Callable[[Example, Policy], Verdict]) -> tuple[str, str] | None:
    """Why a rule has no say in any of its own examples."""
    others: list[str] = []
    for example in rule.examples.match:
        try:
            verdict = verdict_of(example, policy)
        except CheckreinError:
            return None
        if rule.verdict is Outcome.ALLOW:
            if verdict.outcome is Outcome.ALLOW:
                return None
        elif verdict.rule is not None and verdict.rule.id == rule.id:
            return None
        others.append(f"`{verdict.rule.id}`" if verdict.rule is not None else "no rule")
    if not others:
        return None
    deciding = ", ".join(dict.fromkeys(others))
    if rule.verdict is Outcome.ALLOW:
        return f"rule `{rule.id}` admits none of its own examples, for {deciding} refuses them", "loosen that by `overrides`"
    if rule.locked:
        return None
    return f"rule `{rule.id}` decides none of its own examples, for {deciding} does", "it may not be needed"
