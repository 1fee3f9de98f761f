"""Case files: what they may say, and that each fault of one has its place."""

from __future__ import annotations

import pytest

from checkrein.policy.cases import parse
from checkrein.policy.schema import Example
from checkrein.vocab.errors import ConfigError
from checkrein.vocab.reasons import Reason
from checkrein.vocab.verdicts import Layer, Outcome, RuleRef, Verdict

TOML = """schema = "checkrein.cases/1"
[[case]]
command = "git push --force"
expect = "deny"
rule = "git.force"
note = "as in March"
[[case]]
tool = "exec_command"
profile = "codex"
args = {cmd = "ls"}
expect = "allow"
"""


def test_both_forms_say_the_same() -> None:
    lines = '// a comment\n\n{"command": "git push --force", "expect": "deny", "rule": "git.force", "note": "as in March"}\n'
    lines += '{"tool": "exec_command", "profile": "codex", "args": {"cmd": "ls"}, "expect": "allow"}'
    one, other = parse(TOML, "c.toml"), parse(lines, "c.jsonl")
    assert [(case.example, case.expected) for case in one] == [(case.example, case.expected) for case in other]
    assert [(case.line, case.column) for case in one] == [(2, 3), (7, 3)]
    assert [case.line for case in other] == [3, 4]
    assert one[1].example == Example(tool="exec_command", profile="codex", args={"cmd": "ls"})


@pytest.mark.parametrize(
    ("file", "text", "faults"),
    [
        ("c.jsonl", '{"command": "ls"}', ["1:1: `case` lacks the key `expect`"]),
        ("c.jsonl", '{"command": "ls", "expect": "alow"}\n{', ["1:1: `case.expect` can't be `alow`", "2:2: the line is not one JSON object"]),
        ("c.jsonl", "\n[]", ["2:1: a case must be a table, not a list"]),
        ("c.jsonl", '{"expect": "ask"}', ["1:1: `case` must give either a `command` or a `tool`"]),
        ("c.jsonl", '{"command": "ls", "expect": "ask", "reason": "NO"}', ["1:1: `case.reason` can't be `NO`"]),
        ("c.toml", "x = 1", ["1:1: the file does not name its schema", "1:1: unknown key `x`"]),
        ("c.toml", 'schema = "checkrein.cases/1"\ncase = 1', ["2:1: `case` must be a list of tables, not a whole number"]),
        ("c.toml", 'schema = "checkrein.cases/1"\n[[case]]\ncommand = 1\nexpect = "ask"', ["3:1: `case[0].command` must be text"]),
    ],
)  # fmt: skip
def test_every_fault_of_a_case_file_has_its_place(file: str, text: str, faults: list[str]) -> None:
    with pytest.raises(ConfigError) as caught:
        parse(text, file)
    found = [str(fault).removeprefix(f"{file}:") for fault in caught.value.faults]
    assert len(found) == len(faults)
    assert all(got.startswith(want) for got, want in zip(found, faults, strict=True)), found


def verdict(outcome: Outcome, rule: str = "git.force", reason: Reason | None = Reason.POLICY_BLOCK) -> Verdict:
    return Verdict(outcome, released=False, tool="t", profile="p", reason=reason, rule=RuleRef(rule, Layer.USER, "f", 1))


def test_a_case_disagrees_with_another_verdict_rule_or_reason() -> None:
    case = parse(TOML, "c.toml")[0]
    assert case.disagreement(verdict(Outcome.DENY)) is None
    found = case.disagreement(verdict(Outcome.ASK))
    assert str(found).startswith("c.toml:2:3: `git push --force` is expected to be denied, and is asked about by `git.force`")
    assert "decided by `git.force`" in str(case.disagreement(verdict(Outcome.DENY, "other")))
    with_reason = parse('{"command": "x", "expect": "deny", "reason": "OPAQUE"}', "c.jsonl")[0]
    assert "for the reason `OPAQUE`, and has `POLICY_BLOCK`" in str(with_reason.disagreement(verdict(Outcome.DENY)))
