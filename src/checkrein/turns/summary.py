"""What a run came to: a fold over its journal rows, for the end of a guard and for whoever counts later."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from checkrein.vocab.calls import NOTHING
from checkrein.vocab.records import RowKind
from checkrein.vocab.verdicts import Outcome

_SHOWN = 80


@dataclass(frozen=True, slots=True)
class RefusedCall:
    """One kind of refusal and how often it came."""

    tool: str
    reason: str
    rule: str
    what: str
    times: int = 1


@dataclass(frozen=True, slots=True)
class Summary:
    """Counts over the calls of answers; tools that were judged where they were declared are in `hosted`."""

    calls: int = 0
    allowed: int = 0
    denied: int = 0
    asked: int = 0
    released: int = 0
    hosted: int = 0
    requests: int = 0
    refused: tuple[RefusedCall, ...] = ()
    tools: Mapping[str, int] = field(default_factory=lambda: NOTHING)
    kinds: Mapping[str, int] = field(default_factory=lambda: NOTHING)
    tokens: Mapping[str, int] = field(default_factory=lambda: NOTHING)
    preset: str = ""

    def line(self) -> str:
        """The counts as the last line of a guard says them."""
        return f"{self.calls} calls, {self.allowed} allowed, {self.denied} denied, {self.asked} asked"

    def to_json(self) -> dict[str, Any]:
        """The counts as a document; the caller adds the schema."""
        return {
            "calls": self.calls,
            "allowed": self.allowed,
            "denied": self.denied,
            "asked": self.asked,
            "released": self.released,
            "hosted": self.hosted,
            "requests": self.requests,
            "preset": self.preset,
            "refused": [
                {"tool": one.tool, "reason": one.reason, "rule": one.rule, "what": one.what, "times": one.times}
                for one in self.refused
            ],
            "tools": dict(self.tools),
            "kinds": dict(self.kinds),
            "tokens": dict(self.tokens),
        }


def summarise(rows: Iterable[Mapping[str, Any]]) -> Summary:
    """The summary of rows in their order."""
    outcomes: Counter[str] = Counter()
    tools: Counter[str] = Counter()
    kinds: Counter[str] = Counter()
    tokens: Counter[str] = Counter()
    refused: Counter[tuple[str, str, str, str]] = Counter()
    released = hosted = 0
    preset = ""
    for row in rows:
        kind = str(row.get("kind"))
        kinds[kind] += 1
        if kind == RowKind.DECISION and row.get("declared"):
            hosted += 1
        elif kind == RowKind.DECISION:
            outcomes[str(row.get("verdict"))] += 1
            tools[_spelled(row)] += 1
            if row.get("released"):
                released += 1
            else:
                refused[_spelled(row), str(row.get("reason") or ""), str(row.get("rule") or ""), _what(row)] += 1
        elif kind == RowKind.USAGE:
            found = row.get("tokens")
            tokens.update(
                {key: value for key, value in found.items() if _is_count(value)} if isinstance(found, Mapping) else {}
            )
        elif kind == RowKind.START:
            preset = str(row.get("preset") or "")
    return Summary(
        calls=sum(outcomes.values()),
        allowed=outcomes[Outcome.ALLOW.value],
        denied=outcomes[Outcome.DENY.value],
        asked=outcomes[Outcome.ASK.value],
        released=released,
        hosted=hosted,
        requests=kinds[RowKind.REQUEST.value],
        refused=tuple(RefusedCall(*key, times) for key, times in refused.items()),
        tools=tools,
        kinds=kinds,
        tokens=tokens,
        preset=preset,
    )


def _spelled(row: Mapping[str, Any]) -> str:
    namespace = row.get("namespace")
    return f"{namespace}.{row.get('tool')}" if namespace else str(row.get("tool"))


def _what(row: Mapping[str, Any]) -> str:
    """The command, path or text that the call was about, in one short line."""
    args = row.get("args")
    values = [value for value in args.values() if isinstance(value, (str, list))] if isinstance(args, Mapping) else []
    if not values:
        return ""
    value = values[0]
    text = " ".join(map(str, value)) if isinstance(value, list) else value
    text = "".join(char if char.isprintable() else " " for char in text).strip()
    return text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)
