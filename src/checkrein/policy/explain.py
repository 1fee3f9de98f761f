"""The words of a refusal: one message for the model, one remedy for the operator, with the command that grants exactly this.

A grant is one text, `RULE EFFECT[+FLAG…] VALUE`, as `checkrein allow` takes it: the rule to loosen, and the one effect for which.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields

from checkrein.policy.schema import Match, Rule
from checkrein.vocab.effects import Effect, EffectKind, Flag, Net, Zone
from checkrein.vocab.errors import UsageError
from checkrein.vocab.facts import Facts
from checkrein.vocab.reasons import REASONS, Reason
from checkrein.vocab.verdicts import Outcome

SHOWN = 160  # characters of a value in a message
INSTEAD = "find a way that does not need it, or say in your answer what you need and why"

VERBS: Mapping[EffectKind, str] = {
    EffectKind.READ: "read",
    EffectKind.WRITE: "write",
    EffectKind.DELETE: "delete",
}

ZONES: Mapping[Zone, str] = {
    Zone.WORKSPACE_ROOT: "the workspace as a whole",
    Zone.WORKSPACE: "in the workspace",
    Zone.WORKSPACE_SECRET: "which holds secrets of the workspace",
    Zone.GIT_DIR: "the repository's history as a whole",
    Zone.GIT_HOOKS: "a hook that git runs",
    Zone.GIT_CONFIG: "git's configuration",
    Zone.GIT_INNER: "inside the repository's `.git`",
    Zone.TEMP_ROOT: "the directory for temporary files as a whole",
    Zone.TEMP: "a temporary file",
    Zone.CACHE: "in a cache",
    Zone.HOME_ROOT: "the home directory as a whole",
    Zone.HOME: "outside the workspace, in the home directory",
    Zone.HOME_DOT: "a settings file in the home directory",
    Zone.SIBLING: "in another project beside the workspace",
    Zone.SYSTEM_ROOT: "a root directory of the system",
    Zone.SYSTEM: "in a system directory",
    Zone.DEVICE: "a device",
    Zone.NULL_DEVICE: "a null device",
    Zone.CREDENTIALS: "which holds credentials",
    Zone.SHELL_RC: "a start-up file of the shell",
    Zone.AUTOSTART: "which starts programs by itself",
    Zone.AUTHORIZED_KEYS: "which decides who may log in",
    Zone.HARNESS_CONFIG: "which holds the harness's permissions or hooks",
    Zone.CHECKREIN: "which belongs to the guard",
    Zone.NETWORK: "on another machine",
    Zone.UNRESOLVED: "a path that cannot be known",
}

NETS: Mapping[Net, str] = {
    Net.LOOPBACK: "on this machine",
    Net.PRIVATE: "in a private network",
    Net.LINK_LOCAL: "on a link-local address",
    Net.METADATA: "the cloud's metadata service",
    Net.PUBLIC: "on the internet",
    Net.UNRESOLVED: "which cannot be known",
}

_UNADMITTED_MODEL = "{why}, which this session's policy does not list; {instead}"
_UNADMITTED_OPERATOR = "no rule admits this; to admit it: {grant}"


@dataclass(frozen=True, slots=True)
class Case:
    """What a refusal is about."""

    facts: Facts
    reason: Reason
    rule: Rule | None
    cause: Effect | None


def words(case: Case) -> tuple[str, str]:
    """Message and remedy."""
    row = REASONS[case.reason]
    rule = case.rule
    model, operator = row.model, row.operator
    failing = case.facts.failing
    if failing is None and case.reason is Reason.DEFAULT_DENY:
        model, operator = _UNADMITTED_MODEL, _UNADMITTED_OPERATOR
    given = {
        "tool": case.facts.tool,
        "why": failing.why if failing is not None else clause(case.cause),
        "instead": (rule.instead if rule is not None else "") or INSTEAD,
        "rule": f"`{rule.id}`" if rule is not None else "of the ladder itself",
        "place": f"{rule.ref.file}:{rule.ref.line}" if rule is not None and rule.ref is not None else "built in",
        "grant": granting(rule, case.cause),
    }
    remedy = operator.format_map(given)
    if rule is not None and rule.harm:
        remedy = f"{remedy} ({rule.harm.rstrip('.')})"
    return model.format_map(given), remedy


def clause(effect: Effect | None) -> str:
    """What the effect would do, as a clause in lower case."""
    if effect is None:
        return "the call has no effect that could be judged"
    value = shown(effect.value)
    if effect.kind is EffectKind.OPAQUE:
        return f"{effect.why or 'something in it could not be resolved'}{f' (`{value}`)' if value else ''}"
    if effect.act is not None and effect.why:
        return effect.why if effect.why.startswith(("`", "the ", "a ", "an ")) else f"`{value}` {effect.why}"
    who = f"`{effect.program}`" if effect.program else "the call"
    if effect.kind in VERBS:
        below = " with everything below it" if Flag.RECURSIVE in effect.flags else ""
        where = f", {ZONES[effect.zone]}" if effect.zone is not None else ""
        return f"{who} would {VERBS[effect.kind]} `{value}`{below}{where}"
    if effect.kind is EffectKind.FETCH:
        verb = "send data to" if Flag.SENDS in effect.flags else "reach"
        where = f", {NETS[effect.net]}" if effect.net is not None else ""
        return f"{who} would {verb} `{shown(effect.host or effect.value)}`{where}"
    return f"the call would {_DOES.get(effect.kind, 'do')} `{value}`"


_DOES: Mapping[EffectKind, str] = {
    EffectKind.EXEC: "run",
    EffectKind.SCRIPT: "run the script",
    EffectKind.TYPE: "type",
    EffectKind.SPAWN: "start an agent for",
    EffectKind.SCHEDULE: "arrange for later",
    EffectKind.ESCALATE: "lift a restriction with",
    EffectKind.MCP: "use the tool",
    EffectKind.ORCHESTRATE: "use",
}


def shown(value: str) -> str:
    """A value on one line, cut to what people read."""
    line = " ".join(value.split())
    return line if len(line) <= SHOWN else f"{line[: SHOWN - 1]}\N{HORIZONTAL ELLIPSIS}"


def conditions(match: Match) -> Iterator[tuple[str, list[str]]]:
    """The conditions that are there, by name."""
    for row in fields(match):
        found = getattr(match, row.name)
        if found:
            yield row.name, [str(one) for one in found]


def sketch(match: Match) -> str:
    """The conditions on one line."""
    return "; ".join(f"{name} {' | '.join(words)}" for name, words in conditions(match))


# grants


@dataclass(frozen=True, slots=True)
class Grant:
    """The narrowest loosening: one rule, for one effect with exactly this value. An empty `rule` admits what no rule lists."""

    rule: str
    effect: EffectKind
    value: str
    flags: frozenset[Flag] = frozenset()

    def __str__(self) -> str:
        flags = "".join(f"+{flag.value}" for flag in sorted(self.flags & GRANTED_FLAGS))
        return f"{self.rule or '-'} {self.effect.value}{flags} {self.value}"


# Flags that widen an effect: a grant for a plain one does not cover one that has them.
GRANTED_FLAGS = frozenset({Flag.RECURSIVE, Flag.GLOB, Flag.SENDS, Flag.FETCHED})

_GRANT = re.compile(r"(?P<rule>\S+) (?P<effect>[a-z]+)(?P<flags>(?:\+[a-z]+)*) (?P<value>.+)", re.DOTALL)


def read_grant(text: str) -> Grant:
    """The grant that a text states."""
    found = _GRANT.fullmatch(text)
    kinds = {kind.value: kind for kind in EffectKind}
    marks = {flag.value: flag for flag in GRANTED_FLAGS}
    flags = found["flags"].split("+")[1:] if found is not None else []
    if found is None or found["effect"] not in kinds or any(flag not in marks for flag in flags):
        raise UsageError(
            f"`{text}` is no grant", "copy the text in quotes that `checkrein explain` prints after `checkrein allow`"
        )
    rule = "" if found["rule"] == "-" else found["rule"]
    return Grant(rule, kinds[found["effect"]], found["value"], frozenset(marks[flag] for flag in flags))


def grant_for(rule: Rule | None, cause: Effect | None) -> Grant | None:
    """The grant that would admit this effect, or None where there is none: a locked rule, or a value that is not constant."""
    if cause is None or not cause.value or (rule is not None and rule.locked):
        return None
    if Flag.UNRESOLVED in cause.flags or "\N{HORIZONTAL ELLIPSIS}" in cause.value:
        return None
    loosens = "" if rule is None or rule.on.fault or rule.verdict is Outcome.ALLOW else rule.id
    return Grant(loosens, cause.kind, cause.value, cause.flags & GRANTED_FLAGS)


def granting(rule: Rule | None, cause: Effect | None) -> str:
    """The command that grants it, or why there is none."""
    grant = grant_for(rule, cause)
    if grant is not None:
        return f"checkrein allow {quoted(str(grant))}"
    if rule is not None and rule.locked:
        layer = rule.ref.layer.value if rule.ref is not None else "built-in"
        return f"not possible, the {layer} layer has locked the rule"
    return "not possible as it stands, since it is not constant; a call in constant words can be granted"


def quoted(text: str) -> str:
    """One word for a POSIX shell."""
    return "'" + text.replace("'", "'\"'\"'") + "'"
