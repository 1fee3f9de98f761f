"""Every spelling of a path has the zone of the place that it names."""

from __future__ import annotations

import posixpath
import time
from dataclasses import replace
from typing import Any

import pytest
from casefiles import rows
from hypothesis import given
from hypothesis import strategies as st

from checkrein.classify import places
from checkrein.classify.zones import SHARP, Table, normal, pattern, spread, zone
from checkrein.vocab.effects import Zone
from checkrein.vocab.site import Site

SITES = {
    "posix": Site(),
    "windows": Site(
        workspace="C:/Users/dev/app",
        home="C:/Users/dev",
        cwd="C:/Users/dev/app",
        windows=True,
        temps=("C:/Users/dev/AppData/Local/Temp",),
    ),
    "mac": Site(workspace="/Users/dev/app", home="/Users/dev", cwd="/Users/dev/app", folds_case=True),
}


@pytest.mark.parametrize("case", rows("zones"))
def test_a_path_lies_where_it_is_said_to_lie(case: dict[str, Any]) -> None:
    assert zone(case["path"], SITES[case.get("site", "posix")]) == Zone(case["zone"])


def test_every_zone_of_the_vocabulary_is_reached_by_a_case() -> None:
    assert {Zone(row.values[0]["zone"]) for row in rows("zones")} == set(Zone)


def test_a_protected_path_has_its_zone_whatever_else_it_is() -> None:
    site = Site(protected=(("/work/app/ci/policy.toml", Zone.CHECKREIN), ("/srv/journal", Zone.CHECKREIN)))
    assert zone("ci/policy.toml", site) is Zone.CHECKREIN
    assert zone("/srv/journal/2030/x.jsonl", site) is Zone.CHECKREIN
    assert zone("/srv/journal2", site) is Zone.SYSTEM
    assert zone("ci/policy.toml.bak", site) is Zone.WORKSPACE


def test_the_home_as_workspace_keeps_its_credentials() -> None:
    site = Site(workspace="/home/dev", home="/home/dev", cwd="/home/dev")
    assert zone("~/.ssh/id_rsa", site) is Zone.CREDENTIALS
    assert zone(".bashrc", site) is Zone.SHELL_RC
    assert zone("notes.txt", site) is Zone.WORKSPACE


def test_a_workspace_below_a_dot_directory_is_a_workspace() -> None:
    site = Site(workspace="/home/dev/.codex/worktrees/1/app", home="/home/dev", cwd="/home/dev/.codex/worktrees/1/app")
    assert zone("src/a.py", site) is Zone.WORKSPACE
    assert zone("../../../config.toml", site) is Zone.HARNESS_CONFIG


def test_a_workspace_in_a_temporary_directory_has_no_siblings() -> None:
    site = Site(workspace="/tmp/ws", cwd="/tmp/ws")
    assert zone("a.py", site) is Zone.WORKSPACE
    assert zone("/tmp/other", site) is Zone.TEMP
    assert zone("/tmp", site) is Zone.TEMP_ROOT


def linked(links: dict[str, str]) -> Site:
    def probe(path: str) -> str:
        for link, target in links.items():
            if path == link or path.startswith(link + "/"):
                return target + path[len(link) :]
        return path

    return Site(realpath=probe)


def test_a_link_takes_the_zone_of_its_target() -> None:
    site = linked({"/work/app/link": "/etc"})
    assert zone("link/passwd", site) is Zone.SYSTEM
    assert zone("link", site) is Zone.SYSTEM_ROOT
    assert zone("link", site, follow=False) is Zone.WORKSPACE
    assert zone("link/passwd", site, follow=False) is Zone.SYSTEM


def test_a_link_out_of_a_sharp_place_does_not_blunt_it() -> None:
    site = linked({"/work/app/.git/hooks": "/work/app/githooks", "/home/dev/.ssh": "/work/app/keys"})
    assert zone(".git/hooks/pre-commit", site) is Zone.GIT_HOOKS
    assert zone("~/.ssh/id", site) is Zone.CREDENTIALS


def test_probes_are_asked_again_each_time() -> None:
    links: dict[str, str] = {}
    site = linked(links)
    assert zone("a/b", site) is Zone.WORKSPACE
    links["/work/app/a"] = "/etc"
    assert zone("a/b", site) is Zone.SYSTEM


def test_a_relative_path_without_a_directory_is_unresolved() -> None:
    assert normal("a/b", None, Site()) is None
    assert normal("/a/b", None, Site()) == "/a/b"


DETOURS = st.lists(st.sampled_from(["./", "/", "x/../", "a/b/../../"]), max_size=4)
PATHS = [row.values[0]["path"] for row in rows("zones", "posix") if row.values[0]["path"][:1] == "/"]
PLAIN = [path for path in PATHS if path == posixpath.normpath(path) and "\N{HORIZONTAL ELLIPSIS}" not in path]


@given(st.sampled_from([path for path in PLAIN if not path.startswith(("//", "/proc/", "/C:", "/c:"))]), st.data())
def test_detours_in_a_spelling_change_nothing(path: str, data: st.DataObject) -> None:
    names = path.split("/")
    spelled = "/".join(["", names[1], *("".join(data.draw(DETOURS)) + name for name in names[2:])])
    wound = f"/proc/self/root{spelled}" if data.draw(st.booleans()) else spelled
    assert zone(wound, Site()) == zone(path, Site())


@given(st.text(max_size=60), st.sampled_from(list(SITES)))
def test_no_text_breaks_the_classification(text: str, name: str) -> None:
    site = SITES[name]
    assert zone(text, site) in set(Zone)
    plain = normal(text, site.cwd, site)
    if plain is not None:
        assert normal(plain, None, site) == plain
        assert zone(plain, site) == zone(text, site)


@given(st.text(alphabet="./~ab", max_size=20))
def test_nothing_outside_is_taken_for_the_workspace(text: str) -> None:
    plain = normal(text, "/work/app", Site())
    if plain is not None and zone(text, Site()) is Zone.WORKSPACE:
        assert plain.startswith("/work/app/")


@pytest.mark.parametrize("rows_", [places.HOME_SHARP, places.HOME_SOFT, places.PROJECT, places.SYSTEM_POSIX])
def test_every_place_of_the_table_can_be_reached(rows_: tuple[places.Row, ...]) -> None:
    """A place that an earlier row swallows whole would be dead data."""
    table = Table(rows_, fold=False)
    dead = []
    for row in rows_:
        for place in (one for each in row.places for one in spread(each)):
            example = place.rstrip("/").replace("**/", "some/").replace("**", "some").replace("*", "1") or "/"
            if table.find(example) != row.zone:
                dead.append((place, table.find(example)))
    assert dead == []


def test_a_place_that_ends_in_a_slash_is_the_directory_and_all_below() -> None:
    assert pattern("a/") == "a(?:/.*)?"
    assert Zone.GIT_DIR in SHARP


def test_a_site_that_differs_only_in_its_directory_is_told_apart() -> None:
    here = Site()
    assert zone("x", here) is Zone.WORKSPACE
    assert zone("x", replace(here, cwd="/etc")) is Zone.SYSTEM


def test_classification_is_quick() -> None:
    site = Site()
    paths = [f"/work/app/src/m{i % 50}/f{i}.py" for i in range(2000)]
    for path in paths:
        zone(path, site)
    best = min(timed(paths, site) for _ in range(5))
    assert best < 5e-6  # aim: 2 microseconds; the margin is for a busy machine


def timed(paths: list[str], site: Site) -> float:
    start = time.perf_counter()
    for path in paths:
        zone(path, site)
    return (time.perf_counter() - start) / len(paths)
