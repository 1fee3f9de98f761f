"""A file of cases: calls with the verdict that the writer expects of the whole policy. TOML, or one JSON object per line.

    schema = "checkrein.cases/1"
    [[case]]
    command = "git push --force"      # or tool, args, profile, …: what an example of a rule may say
    expect = "deny"                   # allow | ask | deny
    rule = "git.force-push"           # optional: the rule that decides
    reason = "POLICY_BLOCK"           # optional

Like the examples of rules they are judged at the reference site, `/work/app` with the home `/home/dev`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from checkrein.policy.load import EXAMPLES
from checkrein.policy.schema import Example
from checkrein.vocab.errors import ConfigError, Fault
from checkrein.vocab.reasons import Reason
from checkrein.vocab.structure import Faults, Structurer, body_of, kind_of
from checkrein.vocab.toml import Document, KeyPath, read
from checkrein.vocab.verdicts import Outcome, Verdict

SCHEMA: Final = "checkrein.cases/1"
_DONE: Final = {Outcome.ALLOW: "allowed", Outcome.ASK: "asked about", Outcome.DENY: "denied"}


@dataclass(frozen=True, slots=True)
class Expected:
    """What a case expects; an empty `rule` and no `reason` are not looked at. `note` is for people."""

    expect: Outcome
    rule: str = ""
    reason: Reason | None = None
    note: str = ""


@dataclass(frozen=True, slots=True)
class Case:
    """One case and where it stands."""

    example: Example
    expected: Expected
    file: str
    line: int
    column: int

    def disagreement(self, verdict: Verdict) -> Fault | None:
        """What the verdict says against the case."""
        got = _DONE[verdict.outcome] + (f" by `{verdict.rule.id}`" if verdict.rule is not None else "")
        wanted = self.expected
        if verdict.outcome is not wanted.expect:
            said = f"`{self.example}` is expected to be {_DONE[wanted.expect]}, and is {got}"
        elif wanted.rule and (verdict.rule is None or verdict.rule.id != wanted.rule):
            said = f"`{self.example}` is expected to be decided by `{wanted.rule}`, and is {got}"
        elif wanted.reason is not None and verdict.reason is not wanted.reason:
            said = f"`{self.example}` is expected for the reason `{wanted.reason}`, and has `{verdict.reason}`"
        else:
            return None
        return Fault(self.file, self.line, self.column, said, "`checkrein explain` shows how the verdict comes about")


def parse(text: str, file: str) -> tuple[Case, ...]:
    """The cases in a file; every fault of it at once otherwise."""
    if file.endswith((".jsonl", ".ndjson", ".json")):
        return _lines(text, file)
    document = read(text, file)
    faults = Faults(document)
    body = body_of(document, SCHEMA, faults)
    tables = body.pop("case", [])
    for key in body:
        faults.add((key,), f"unknown key `{key}`", "the cases stand in `[[case]]` tables")
    if not isinstance(tables, list):
        faults.add(("case",), f"`case` must be a list of tables, not {kind_of(tables)}")
        tables = []
    found = [_case(table, ("case", rank), faults) for rank, table in enumerate(tables)]
    faults.check()
    return tuple(case for case in found if case is not None)


def _lines(text: str, file: str) -> tuple[Case, ...]:
    found: list[Case] = []
    broken: list[Fault] = []
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.lstrip().startswith("//"):
            continue
        try:
            value = json.loads(line)
        except (ValueError, RecursionError) as error:
            column = error.colno if isinstance(error, json.JSONDecodeError) else 1
            broken.append(Fault(file, number, column, "the line is not one JSON object"))
            continue
        # Within a line there are no places: every fault of it stands at its beginning.
        faults = Faults(Document(line, file, {}, {(): (number, 1)}))
        case = _case(value, ("case",), faults)
        broken += [fault for _, fault in faults.found]
        if case is not None:
            found.append(case)
    if broken:
        raise ConfigError(broken)
    return tuple(found)


_EXPECTED: Final = ("expect", "rule", "reason", "note")
_STRUCTURER: Final = Structurer()


def _case(table: Any, path: KeyPath, faults: Faults) -> Case | None:
    if not isinstance(table, Mapping):
        faults.add(path, f"a case must be a table, not {kind_of(table)}")
        return None
    before = len(faults.found)
    expected = _STRUCTURER.read(Expected, dict(_only(table, known=True)), faults, path)
    example = EXAMPLES(dict(_only(table, known=False)), path, faults)
    if expected is None or not isinstance(example, Example) or len(faults.found) > before:
        return None
    line, column = faults.document.place(path)
    return Case(example, expected, faults.document.file, line, column)


def _only(table: Mapping[str, Any], *, known: bool) -> Iterator[tuple[str, Any]]:
    return ((key, value) for key, value in table.items() if (key in _EXPECTED) is known)
