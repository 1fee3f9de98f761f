"""The packed form says exactly what the packs say, and only of the packs of which it was made."""

from __future__ import annotations

from dataclasses import replace

import pytest

from checkrein.policy.load import checked
from checkrein.policy.packed import digest_of, pack, unpack
from checkrein.policy.schema import Examples, Manifest, Source
from checkrein.vocab.errors import ConfigError
from checkrein.vocab.verdicts import Layer

TEXT = """schema = "checkrein.policy/1"
title = "Things"
about = "About things."
[[rule]]
id = "things.deny"
verdict = "deny"
reason = "SELF_MODIFY"
locked = true
presets = ["standard", "strict"]
harm = "It breaks."
instead = "leave it"
also = {effect = "fetch"}
examples = {match = ["1", {command = "2", shell = "cmd"}, "3"], not_match = ["1", "2", "3"]}
[rule.on]
effect = ["read", "delete"]
zone = "home"
act = "git.clean"
net = "public"
program = "a*"
flags = "glob"
without = ["sends", "append"]
host = "x"
path = "y"
value = "z"
command = "c"
tool = "t"
namespace = ""
profile = "p"
[[rule]]
id = "things.allow"
verdict = "allow"
on = {effect = "read"}
examples = {match = ["1", "2", "3"], not_match = ["1", "2", "3"]}
[[rule]]
id = "things.fault"
verdict = "deny"
reason = "MALFORMED"
harm = "h"
on = {fault = "malformed"}
[[mcp]]
server = "s"
tool = "*"
arguments = {line = "shell.posix"}
[[mcp]]
server = "s"
tool = "empty"
arguments = {}
[[tools]]
profile = "codex"
name = "x"
kind = "exec"
[secrets]
paths = ["keys/**"]
"""
PACKS = [("one.toml", TEXT), ("two.toml", 'schema = "checkrein.policy/1"\n')]


def bare() -> list[Manifest]:
    read = checked([Source(Layer.BUILT_IN, f"/packs/{name}", text) for name, text in PACKS])
    return [replace(one, rule=tuple(replace(rule, examples=Examples()) for rule in one.rule)) for one in read]


def test_what_is_packed_comes_back_but_for_the_examples() -> None:
    found = unpack(pack(PACKS), PACKS, "/packs")
    assert found is not None
    assert list(found) == bare()
    assert [hash(rule) for one in found for rule in one.rule] == [hash(rule) for one in bare() for rule in one.rule]


@pytest.mark.parametrize(
    "packs",
    [
        PACKS[:1],
        PACKS[::-1],
        [],
        [("one.toml", TEXT.replace('"deny"', '"allow"', 1)), PACKS[1]],
        [("other.toml", TEXT), PACKS[1]],
    ],
)
def test_other_packs_are_not_read_from_it(packs: list[tuple[str, str]]) -> None:
    assert unpack(pack(PACKS), packs, "/packs") is None


@pytest.mark.parametrize("spoil", [lambda raw: b"", lambda raw: raw[:-20], lambda raw: raw.replace(b'"deny"', b'"denn"')])
def test_a_spoiled_text_is_none(spoil) -> None:
    assert unpack(spoil(pack(PACKS)), PACKS, "/packs") is None


def test_what_is_faulty_is_not_packed() -> None:
    with pytest.raises(ConfigError):
        pack([("one.toml", "x = 1")])


def test_the_digest_keeps_names_and_texts_apart() -> None:
    assert digest_of([("a", "bc")]) != digest_of([("ab", "c")])
    assert digest_of([("a", ""), ("b", "")]) != digest_of([("a", "b")])
