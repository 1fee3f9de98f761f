"""Case files below `tests/cases/policy/faults` carry their faults: `#! <column>: <words> -> <words of the hint>`, apart by ` ;; `.

`#: layer = <name>` in the first line names the layer, else it is the user's.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checkrein.edges.files import builtin_names
from checkrein.policy.decide import Policy
from checkrein.policy.load import compile as compile_policy
from checkrein.policy.load import parse
from checkrein.policy.schema import Example, Source
from checkrein.vocab.errors import ConfigError
from checkrein.vocab.verdicts import Layer

CASES = sorted((Path(__file__).parents[1] / "cases" / "policy" / "faults").glob("*.toml"))
MARK = re.compile(r"#! (.*)$")
ONE = re.compile(r"(\d+): (.*?)(?: -> (.*))?")

BASE = Source(
    Layer.BUILT_IN,
    "base.toml",
    """schema = "checkrein.policy/1"
[[rule]]
id = "base.locked"
verdict = "deny"
locked = true
harm = "h"
on = {effect = "delete", zone = "system-root"}
examples = {match = ["1", "2", "3"], not_match = ["1", "2", "3"]}
[[rule]]
id = "base.fetch"
verdict = "ask"
harm = "h"
on = {effect = "fetch"}
examples = {match = ["1", "2", "3"], not_match = ["1", "2", "3"]}
[[rule]]
id = "base.admits"
verdict = "allow"
on = {effect = ["exec", "read"]}
examples = {match = ["1", "2", "3"], not_match = ["1", "2", "3"]}
""",
)
LOOSENS = """schema = "checkrein.policy/1"
[[rule]]
id = "mine.fetch"
verdict = "allow"
overrides = ["base.fetch"]
on = {effect = "fetch"}
examples = {match = ["1"], not_match = ["2"]}
"""


def base() -> object:
    return parse(BASE).manifest


def expected(text: str) -> Iterator[tuple[int, int, str, str]]:
    for line, content in enumerate(text.splitlines(), 1):
        marked = MARK.search(content)
        for part in marked[1].split(" ;; ") if marked else ():
            found = ONE.fullmatch(part)
            assert found is not None, part
            yield line, int(found[1]), found[2], found[3] or ""


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_every_fault_of_a_file_is_told_at_once_and_at_its_place(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    layer = re.match(r"#: layer = (\S+)", text)
    source = Source(Layer(layer[1]) if layer else Layer.USER, "f.toml", text)
    with pytest.raises(ConfigError) as caught:
        compile_policy([base(), source], profiles=builtin_names())
    left = list(caught.value.faults)
    for line, column, words, hint in expected(text):
        match = [one for one in left if (one.line, one.column) == (line, column) and words in one.sentence and hint in one.hint]
        assert match, f"{line}:{column}: {words} -> {hint}\nleft:\n" + "\n".join(map(str, left))
        left.remove(match[0])
    assert left == []


def test_the_faults_of_every_file_are_told_at_once() -> None:
    broken = Source(Layer.ORGANISATION, "org.toml", "[[")
    other = Source(Layer.USER, "user.toml", 'schema = "checkrein.policy/1"\nx = 1\n')
    with pytest.raises(ConfigError) as caught:
        compile_policy([base(), broken, other])
    assert [fault.file for fault in caught.value.faults] == ["org.toml", "user.toml"]


def test_a_rule_that_may_stand_in_a_broken_file_is_not_called_missing() -> None:
    broken = Source(Layer.ORGANISATION, "org.toml", "[[")
    text = LOOSENS.replace("base.fetch", "org.rule")
    with pytest.raises(ConfigError) as caught:
        compile_policy([base(), broken, Source(Layer.USER, "user.toml", text)])
    assert [fault.file for fault in caught.value.faults] == ["org.toml"]


def test_a_project_may_loosen_once_the_user_trusts_its_very_text() -> None:
    project = Source(Layer.PROJECT, "p.toml", LOOSENS)
    digest = parse(project).manifest.digest
    trust = Source(Layer.USER, "u.toml", f'schema = "checkrein.policy/1"\n[[trust]]\nfile = "p.toml"\ndigest = "{digest}"\n')
    assert [rule.id for rule in compile_policy([base(), project, trust]).rules][-1] == "mine.fetch"
    with pytest.raises(ConfigError, match="may only tighten"):
        compile_policy([base(), Source(Layer.PROJECT, "p.toml", LOOSENS + "# edited\n"), trust])


def test_a_project_does_not_trust_itself() -> None:
    text = LOOSENS + '[[trust]]\nfile = "p"\ndigest = "0"\n'
    with pytest.raises(ConfigError, match="cannot say whom to trust"):
        compile_policy([base(), Source(Layer.PROJECT, "p.toml", text)])


def trial(held: dict[str, set[str]]):
    def run(example: Example, _policy: Policy) -> set[str]:
        return held[example.command or ""]

    return run


def test_an_example_that_its_rule_contradicts_is_a_fault_at_the_example() -> None:
    source = Source(Layer.USER, "u.toml", LOOSENS)
    assert compile_policy([base(), source], trial=trial({"1": {"mine.fetch"}, "2": set()}))
    with pytest.raises(ConfigError) as caught:
        compile_policy([base(), source], trial=trial({"1": set(), "2": {"mine.fetch"}}))
    assert [(fault.line, fault.column, fault.sentence) for fault in caught.value.faults] == [
        (7, 22, "rule `mine.fetch` does not hold for its own example `1`"),
        (7, 41, "rule `mine.fetch` holds for its own example `2`"),
    ]


def test_an_example_that_cannot_be_judged_proves_nothing() -> None:
    with pytest.raises(ConfigError, match="the example `1` could not be judged: '1'"):
        compile_policy([base(), Source(Layer.USER, "u.toml", LOOSENS)], trial=trial({"2": set()}))


def test_what_was_checked_before_is_not_tried_again() -> None:
    assert compile_policy([base()], trial=trial({}))


def test_the_digest_names_the_files_and_the_preset() -> None:
    source = Source(Layer.USER, "u.toml", LOOSENS)
    digests = {
        compile_policy(layers, preset=preset).digest
        for layers in ([base()], [base(), source])
        for preset in ("standard", "strict", "observe")
    }
    assert len(digests) == 6
    assert compile_policy([source, base()]).digest == compile_policy([base(), source]).digest


@given(st.text() | st.sampled_from([BASE.text, LOOSENS]).flatmap(lambda text: st.builds(
    lambda at, more: text[:at] + more + text[at:], st.integers(0, len(text)), st.text(max_size=4)
)))  # fmt: skip
def test_no_text_gets_past_the_reader_but_as_a_policy_or_as_faults_with_places(text: str) -> None:
    try:
        compile_policy([Source(Layer.USER, "f.toml", text)])
    except ConfigError as error:
        lines = text.splitlines() or [""]
        for fault in error.faults:
            assert 1 <= fault.line <= len(lines) + 1
            assert fault.column >= 1
            assert fault.sentence
