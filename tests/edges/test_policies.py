"""Which files make the policy, and what happens to one that is there and cannot be read."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from checkrein.edges import files, policies
from checkrein.policy.packed import pack
from checkrein.vocab.errors import ConfigError, UsageError
from checkrein.vocab.verdicts import Layer

DENY = """schema = "checkrein.policy/1"
[[rule]]
id = "{id}"
verdict = "deny"
on = {{program = "frobnicate"}}
examples = {{match = ["frobnicate x"], not_match = ["ls"]}}
"""


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine without any policy file: `user.toml`, `org.toml`, and the workspace `work`."""
    (tmp_path / "work/.checkrein").mkdir(parents=True)
    monkeypatch.setattr(policies, "user_file", lambda: tmp_path / "user.toml")
    monkeypatch.setattr(policies, "organisation_file", lambda: tmp_path / "org.toml")
    return tmp_path


def test_nothing_there_is_the_built_in_layer_alone(place: Path) -> None:
    assert policies.sources(place / "work") == ([], [])
    assert {layer for layer, _, _ in policies.load(place / "work").files} <= {Layer.BUILT_IN}


def test_each_file_belongs_to_its_layer(place: Path) -> None:
    for name in ("org", "user", "extra", "work/.checkrein/policy"):
        (place / f"{name}.toml").write_text(DENY.format(id=f"x.{Path(name).name}"))
    policy = policies.load(place / "work", policies=[place / "extra.toml"])
    own = [(layer, Path(file).name) for layer, file, _ in policy.files if layer is not Layer.BUILT_IN]
    assert own == [
        (Layer.ORGANISATION, "org.toml"),
        (Layer.USER, "user.toml"),
        (Layer.USER, "extra.toml"),
        (Layer.PROJECT, "policy.toml"),
    ]
    assert [rule.id for rule in policy.rules if rule.id.startswith("x.")] == ["x.org", "x.user", "x.extra", "x.policy"]


def test_a_file_that_is_named_twice_counts_once(place: Path) -> None:
    (place / "user.toml").write_text(DENY.format(id="x.user"))
    assert len(policies.sources(None, [place / "user.toml", place / "user.toml"])[0]) == 1


def test_a_file_that_was_named_must_exist(place: Path) -> None:
    with pytest.raises(UsageError, match="there is no file"):
        policies.load(place / "work", policies=[place / "absent.toml"])


def test_a_file_that_is_there_and_cannot_be_read_is_a_fault(place: Path) -> None:
    (place / "org.toml").mkdir()
    (place / "user.toml").symlink_to(place / "nowhere")
    (place / "work/.checkrein/policy.toml").write_bytes(b'schema = "checkrein.policy/1"\n# \xff\n')
    with pytest.raises(ConfigError) as caught:
        policies.load(place / "work")
    found = [(Path(fault.file).name, fault.line, fault.column, fault.sentence) for fault in caught.value.faults]
    assert [row[:3] for row in found] == [("org.toml", 1, 1), ("user.toml", 1, 1), ("policy.toml", 2, 3)]
    assert "no regular file" in found[0][3]
    assert "there is no file" in found[1][3]
    assert "not UTF-8" in found[2][3]


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_a_file_without_permission_is_a_fault(place: Path) -> None:
    (place / "user.toml").write_text("")
    (place / "user.toml").chmod(0)
    with pytest.raises(ConfigError, match="can't be read"):
        policies.load(place / "work")


def test_the_examples_of_every_file_are_run(place: Path) -> None:
    (place / "user.toml").write_text(DENY.format(id="x.user").replace('["ls"]', '["frobnicate y"]'))
    with pytest.raises(ConfigError, match="holds for its own example `frobnicate y`"):
        policies.load(place / "work")


def test_a_project_may_not_loosen(place: Path) -> None:
    text = DENY.format(id="x.p").replace('"deny"', '"allow"')
    (place / "work/.checkrein/policy.toml").write_text(text)
    with pytest.raises(ConfigError, match="may only tighten"):
        policies.load(place / "work")


@pytest.fixture
def packs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Built-in packs of our own."""
    folder = tmp_path / "packs"
    folder.mkdir()
    three = '["frobnicate x", "frobnicate y", "frobnicate z"]'
    text = DENY.format(id="x.built-in").replace('"deny"\n', '"deny"\nharm = "h"\n')
    (folder / "one.toml").write_text(text.replace('["frobnicate x"]', three).replace('["ls"]', '["ls", "ls a", "ls b"]'))
    monkeypatch.setattr(files, "_POLICIES", folder)
    monkeypatch.setattr(policies, "PACKED", tmp_path / "packs.json")
    for cached in (files.builtin_policy_texts, policies.builtin_manifests):
        cached.cache_clear()
    yield folder
    for cached in (files.builtin_policy_texts, policies.builtin_manifests):
        cached.cache_clear()


def test_a_stale_packed_form_is_not_used(place: Path, packs: Path) -> None:
    pack_file = packs / "one.toml"
    text = pack_file.read_text()
    for spoil in (None, b"{", pack([("one.toml", text.replace('"deny"', '"ask"'))])):
        if spoil is not None:
            policies.PACKED.write_bytes(spoil)
        policies.builtin_manifests.cache_clear()
        (rule,) = policies.load(place / "work").rules
        assert (rule.verdict.value, rule.ref.file) == ("deny", str(pack_file))
        assert rule.examples.match


def test_a_fresh_packed_form_is_used_and_says_the_same(place: Path, packs: Path) -> None:
    slow = policies.load(place / "work")
    policies.PACKED.write_bytes(pack([("one.toml", (packs / "one.toml").read_text())]))
    policies.builtin_manifests.cache_clear()
    quick = policies.load(place / "work")
    assert quick.digest == slow.digest
    assert quick.rules[0].ref == slow.rules[0].ref
    assert not quick.rules[0].examples.match


def test_the_examples_of_the_built_in_packs_are_run_when_asked_for(place: Path, packs: Path) -> None:
    text = (packs / "one.toml").read_text()
    (packs / "one.toml").write_text(text.replace('"ls b"', '"frobnicate b"'))
    assert policies.load(place / "work")
    with pytest.raises(ConfigError, match="holds for its own example `frobnicate b`"):
        policies.load(place / "work", thorough=True)


def test_places_follow_the_platform(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    assert policies.user_file() == tmp_path / "checkrein/policy.toml"
    assert policies.organisation_file() == Path("/etc/checkrein/policy.toml")
    assert policies.project_file("/w") == Path("/w/.checkrein/policy.toml")
    assert str(tmp_path / "checkrein") in policies.directories()
