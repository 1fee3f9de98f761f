"""The witness: the harness's own transcript against the journal, both ways.

What ran without an allow, what was allowed and never ran, and what only the transcript shows; each of the last is judged
again, since no answer showed it. A released call counts as run when the transcript has its result or its act.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from checkrein.vocab.calls import Call
from checkrein.vocab.verdicts import Outcome, Verdict
from checkrein.wire.rollout import Entry, EntryKind, Rollout

Judge = Callable[[Call], Verdict]


class FindingKind(StrEnum):
    UNJUDGED = "ran-without-allow"
    REFUSED = "ran-although-refused"
    IDLE = "allowed-never-ran"
    HIDDEN = "only-in-transcript"
    UNSEEN_TURN = "turn-never-seen"
    UNREADABLE = "unreadable"


@dataclass(frozen=True, slots=True)
class Finding:
    """One disagreement. `line` is the transcript's line, or 0; `verdict` the judgement of what only the transcript shows.
    `grave` findings are those where something ran that the journal does not admit.
    """

    kind: FindingKind
    what: str
    line: int = 0
    call_id: str = ""
    verdict: Verdict | None = None

    @property
    def grave(self) -> bool:
        if self.kind is FindingKind.HIDDEN:
            return self.verdict is None or self.verdict.outcome is not Outcome.ALLOW
        return self.kind is not FindingKind.IDLE

    def to_json(self) -> dict[str, Any]:
        return {
            "kind": self.kind.value,
            "what": self.what,
            "line": self.line or None,
            "call_id": self.call_id or None,
            "grave": self.grave,
            "verdict": self.verdict.outcome.value if self.verdict else None,
            "reason": self.verdict.reason.value if self.verdict and self.verdict.reason else None,
        }


def call_of(act: Entry) -> Call:
    """What an act did, as a call that can be judged: a command as argv, a change of files as writes, an MCP call by its name."""
    item = act.item
    match item.get("type"):
        case "CommandExecution":
            args = {"command": item.get("command"), "workdir": item.get("cwd")}
            return Call("shell", act.id, args={key: value for key, value in args.items() if value is not None})
        case "FileChange":
            return Call("apply_patch", act.id, args={"input": _patch(item.get("changes"))})
        case "McpToolCall":
            arguments = item.get("arguments")
            server = str(item.get("server") or "").replace("-", "_")
            name = str(item.get("tool") or "").replace("-", "_")
            return Call(name, act.id, namespace=f"mcp__{server}", args=arguments if isinstance(arguments, Mapping) else {})
        case other:
            return Call(str(other), act.id)


def _patch(changes: object) -> str:
    """An `apply_patch` envelope that names the changed files, enough to judge where they lie."""
    lines = ["*** Begin Patch"]
    if isinstance(changes, Mapping):
        for path, change in changes.items():
            kind = str(change.get("type", "update")) if isinstance(change, Mapping) else "update"
            if kind == "delete":
                lines.append(f"*** Delete File: {path}")
            else:
                lines += [f"*** Add File: {path}", "+"]
    return "\n".join([*lines, "*** End Patch"])


def compare(rows: Iterable[Mapping[str, Any]], rollouts: Sequence[Rollout], judge: Judge | None = None) -> list[Finding]:
    """Every disagreement between the rows of one run and its transcripts, in the transcripts' order, then the journal's."""
    decisions: dict[str, Mapping[str, Any]] = {}
    seen_turns: set[str] = set()
    for row in rows:
        if row.get("kind") == "decision":
            decisions[str(row.get("call_id"))] = row
        elif row.get("kind") == "request" and row.get("turn"):
            seen_turns.add(str(row["turn"]))
    findings: list[Finding] = []
    ran: set[str] = set()
    for rollout in rollouts:
        findings += [Finding(FindingKind.UNREADABLE, fault) for fault in rollout.faults]
        findings += _transcript(rollout, decisions, seen_turns, ran, judge)
    findings += [
        Finding(FindingKind.IDLE, str(row.get("tool")), call_id=call_id)
        for call_id, row in decisions.items()
        if row.get("released") and call_id not in ran and not row.get("aux")
    ]
    return findings


def _transcript(
    rollout: Rollout, decisions: Mapping[str, Mapping[str, Any]], seen_turns: set[str], ran: set[str], judge: Judge | None
) -> list[Finding]:
    findings: list[Finding] = []
    told: set[str] = set()
    answered = {entry.turn for entry in rollout.of(EntryKind.REPLY)}
    for entry in rollout.entries:
        if entry.kind is EntryKind.TURN and seen_turns and entry.id in answered and entry.id not in seen_turns:
            findings.append(Finding(FindingKind.UNSEEN_TURN, f"turn `{entry.id}`", entry.line))
        if entry.kind not in {EntryKind.ACT, EntryKind.OUTPUT} or not entry.id:
            continue
        row = decisions.get(entry.id)
        if row is not None and row.get("released"):
            ran.add(entry.id)
        elif entry.id in told:
            continue
        elif entry.nested:
            told.add(entry.id)
            call = call_of(entry)
            findings.append(Finding(FindingKind.HIDDEN, _what(entry), entry.line, entry.id, judge(call) if judge else None))
        else:
            told.add(entry.id)
            kind = FindingKind.UNJUDGED if row is None else FindingKind.REFUSED
            findings.append(Finding(kind, _what(entry), entry.line, entry.id))
    return findings


def _what(entry: Entry) -> str:
    """A short name of an entry, for people."""
    item = entry.item
    command = item.get("command")
    if isinstance(command, list):
        return "command " + " ".join(str(word) for word in command)
    if isinstance(item.get("changes"), Mapping):
        return "change of " + ", ".join(map(str, item["changes"]))
    if item.get("tool"):
        return f"MCP tool {item.get('server')}.{item.get('tool')}"
    return f"result of call `{entry.id}`"
