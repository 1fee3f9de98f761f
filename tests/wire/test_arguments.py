from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checkrein.wire.arguments import parse_arguments, parse_value

CASES = [json.loads(line) for line in (Path(__file__).parents[1] / "cases/wire/arguments.jsonl").read_text().splitlines()]

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(st.characters(exclude_categories=["Cs"]), max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text('ab:"\\', max_size=3), inner, max_size=4),
    max_leaves=12,
)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["note"])
def test_arguments(case: dict[str, Any]) -> None:
    args, fault = parse_arguments(case["text"])
    if "args" in case:
        assert fault is None
        assert args == case["args"]
    else:
        assert (fault or "").startswith(case["fault"])
        assert args == {}


@pytest.mark.parametrize("text", ["[" * 100_000, '{"a":' * 100_000, '{"a":' * 300 + "1" + "}" * 300, "[" * 2000 + "]" * 2000])
def test_an_abyss_is_a_fault_and_not_a_crash(text: str) -> None:
    assert "nested deeper" in (parse_arguments(text).fault or "") or "not valid JSON" in (parse_arguments(text).fault or "")


def test_what_may_be_deep_can_be_written_again() -> None:
    text = '{"a":' * 200 + "1" + "}" * 200
    assert parse_arguments(text).fault is None


def test_arguments_are_bounded() -> None:
    assert parse_arguments('{"a": "%s"}' % ("x" * 100), limit=50).fault == "they are larger than 50 bytes"


@pytest.mark.parametrize("value", [None, 3, ["ls"], b"{}", {"cmd": "ls"}])
def test_only_a_text_is_argument_text(value: object) -> None:
    assert parse_arguments(value).fault == "they are not a text"


def test_a_lone_surrogate_in_the_text_itself_is_a_fault() -> None:
    assert "lone surrogate" in (parse_arguments('{"a": "\ud83e"}').fault or "")


def test_a_value_must_be_an_object() -> None:
    assert parse_value({"a": 1}) == ({"a": 1}, None)
    assert parse_value("{}").fault == "they are a JSON text inside a JSON text, not an object"
    assert parse_value(object()).fault == "they are not an object"


@given(st.dictionaries(st.text('ab:"\\', max_size=3), JSON, max_size=4), st.booleans(), st.booleans())
def test_every_object_is_read_as_it_is_written(value: dict[str, Any], ascii_only: bool, spaced: bool) -> None:
    text = json.dumps(value, ensure_ascii=ascii_only, indent=1 if spaced else None)
    assert parse_arguments(text) == (value, None)


@given(
    st.lists(
        st.tuples(st.sampled_from(["a", "\\u0061", "b", ":", "\\u003a"]), st.sampled_from(['"x:"', '"\\u003a"', "1", "{}"])),
        max_size=5,
    )
)
def test_a_doubled_key_is_always_seen(members: list[tuple[str, str]]) -> None:
    text = "{" + ", ".join(f'"{key}": {value}' for key, value in members) + "}"
    keys = [json.loads(f'"{key}"') for key, _ in members]
    fault = parse_arguments(text).fault
    assert (fault is None) == (len(keys) == len(set(keys)))
