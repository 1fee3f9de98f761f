"""The machine as judging sees it: found, and never wider than it is."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from checkrein.classify.zones import zone
from checkrein.edges.files import builtin_profiles
from checkrein.edges.site import git_root, site
from checkrein.vocab.effects import Zone
from checkrein.vocab.errors import UsageError
from checkrein.vocab.state import MAX_FILE


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "home/dev/app/.git").mkdir(parents=True)
    (tmp_path / "home/dev/app/src/deep").mkdir(parents=True)
    for name in ("XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME", "TMPDIR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "home/dev"))
    monkeypatch.chdir(tmp_path / "home/dev/app/src/deep")
    return tmp_path


def test_the_workspace_is_the_git_root_of_the_working_directory(tree: Path) -> None:
    found = site(env={"HOME": str(tree / "home/dev"), "USER": "dev"})
    assert found.workspace == str(tree / "home/dev/app")
    assert found.cwd == str(tree / "home/dev/app/src/deep")
    assert (found.home, found.user) == (str(tree / "home/dev"), "dev")


def test_a_git_file_marks_a_root_as_a_directory_does(tree: Path) -> None:
    (tree / "home/dev/app/src/.git").write_text("gitdir: elsewhere\n")
    assert git_root(Path.cwd()) == tree / "home/dev/app/src"


def test_without_a_repository_the_directory_itself_is_the_workspace(tree: Path) -> None:
    (tree / "home/dev/app/.git").rmdir()
    root = git_root(Path.cwd())
    assert root == Path.cwd() or (root / ".git").exists()


def test_a_workspace_that_is_given_counts(tree: Path) -> None:
    (tree / "other").mkdir()
    found = site(tree / "other", env={"HOME": "/h"})
    assert (found.workspace, found.cwd) == (str(tree / "other"), str(tree / "other"))
    inside = site(tree / "home", env={"HOME": "/h"})
    assert inside.cwd == str(Path.cwd())
    with pytest.raises(UsageError, match="no directory"):
        site(tree / "absent")


def test_only_named_variables_are_known(tree: Path) -> None:
    found = site(env={"HOME": "/h", "AWS_SECRET_ACCESS_KEY": "s", "XDG_CONFIG_HOME": "/h/c", "PWD": "/lie"})
    assert found.env == {"HOME": "/h", "XDG_CONFIG_HOME": "/h/c"}


@pytest.mark.parametrize(
    ("given", "taken"),
    [
        ("/var/folders/ab/T", True),
        ("/var/folders/ab/T/", True),
        ("/", False),
        ("/home", False),
        ("/opt", False),
        ("relative/x", False),
        ("{home}", False),
        ("{home}/app", False),
        ("{home}/app/..", False),
        ("{home}/app/tmp", True),
    ],
)
def test_a_variable_makes_no_wide_place_a_temporary_one(tree: Path, given: str, taken: bool) -> None:
    place = given.format(home=tree / "home/dev")
    found = site(env={"HOME": str(tree / "home/dev"), "TMPDIR": place})
    assert found.temps[-3:] == ("/tmp", "/var/tmp", "/dev/shm")
    assert found.temps[:-3] == ((os.path.normpath(place),) if taken else ())


def test_the_guards_own_files_and_the_harness_s_are_protected(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tree / "moved"))
    home = str(tree / "home/dev")
    found = site(env={"HOME": home}, profile=builtin_profiles()["codex"], own=[tree / "extra.toml", "rel.toml"])
    for path in (
        f"{tree}/moved/checkrein/policy.toml",
        f"{home}/.local/state/checkrein/journal/x.jsonl",
        "/etc/checkrein/policy.toml",
        f"{home}/app/.checkrein/policy.toml",
        f"{tree}/extra.toml",
        f"{home}/app/src/deep/rel.toml",
    ):
        assert zone(path, found) is Zone.CHECKREIN, path
    assert zone(f"{home}/.codex/config.toml", found) is Zone.HARNESS_CONFIG
    assert zone(f"{home}/app/src/x.py", found) is Zone.WORKSPACE


def test_a_protected_place_is_protected_under_its_real_name_too(tree: Path) -> None:
    (tree / "real").mkdir()
    (tree / "real/p.toml").write_text("")
    (tree / "link").symlink_to(tree / "real")
    found = site(env={"HOME": "/h"}, own=[tree / "link/p.toml"])
    assert zone(f"{tree}/real/p.toml", found) is Zone.CHECKREIN
    assert zone(f"{tree}/link/p.toml", found) is Zone.CHECKREIN


def test_a_moved_configuration_is_protected_in_both_places(tree: Path) -> None:
    home = str(tree / "home/dev")
    found = site(env={"HOME": home, "CODEX_HOME": f"{tree}/codex"}, profile=builtin_profiles()["codex"])
    assert zone(f"{tree}/codex/config.toml", found) is Zone.HARNESS_CONFIG
    assert zone(f"{home}/.codex/config.toml", found) is Zone.HARNESS_CONFIG


def test_only_small_texts_of_the_workspace_are_read(tree: Path) -> None:
    root = tree / "home/dev/app"
    (root / "run.sh").write_text("ls\n")
    (root / "big.sh").write_text("x" * (MAX_FILE + 1))
    (root / "raw.bin").write_bytes(b"\xff\xfe\x00")
    (tree / "outside.sh").write_text("secret\n")
    (root / "leads-out.sh").symlink_to(tree / "outside.sh")
    (root / "leads-in.sh").symlink_to(root / "run.sh")
    os.mkfifo(root / "pipe")
    read = site(env={"HOME": "/h"}).read
    assert read is not None
    assert read(f"{root}/run.sh") == "ls\n"
    assert read(f"{root}/leads-in.sh") == "ls\n"
    for name in ("big.sh", "raw.bin", "leads-out.sh", "pipe", "src", "absent", "../../../outside.sh"):
        assert read(f"{root}/{name}") is None, name
    assert read(f"{tree}/outside.sh") is None


def test_links_are_probed(tree: Path) -> None:
    (Path.cwd() / "up").symlink_to("/")
    found = site(env={"HOME": "/h"})
    assert zone(f"{Path.cwd()}/up", found) is Zone.SYSTEM_ROOT
