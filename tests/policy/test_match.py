"""Conditions, one by one, and what they must not reach."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checkrein.policy.match import indexed, path_pattern, port, residual, secret_paths
from checkrein.policy.schema import Match
from checkrein.vocab.effects import Effect, EffectKind, Flag, Net, Zone
from checkrein.vocab.facts import Facts
from checkrein.vocab.site import Site

CALL = Facts("ns.run", "ns", "run", "codex", Site(workspace="/work/a*b", home="/home/d.v"))


def holds(match: Match, **fields: Any) -> bool:
    effect = Effect(**{"kind": EffectKind.EXEC, "value": "", **fields})
    rest = residual(match)
    return indexed(match, effect) and (rest is None or rest(effect, CALL))


@pytest.mark.parametrize(
    ("glob", "path", "held"),
    [
        ("~/.npmrc", "/home/d.v/.npmrc", True),
        ("~/.npmrc", "/home/dxv/.npmrc", False),
        ("~", "/home/d.v", True),
        ("~", "/home/d.v/x", False),
        ("src/*.py", "/work/a*b/src/x.py", True),
        ("src/*.py", "/work/aXb/src/x.py", False),
        ("src/*.py", "/work/a*b/src/y/x.py", False),
        ("./src/**", "/work/a*b/src", True),
        ("src/**", "/work/a*b/src/y/x.py", True),
        ("src/**", "/work/a*b/srcs", False),
        ("**/secret.txt", "/work/a*b/secret.txt", True),
        ("**/secret.txt", "/work/a*b/x/y/secret.txt", True),
        ("**/secret.txt", "/work/a*b/notsecret.txt", False),
        ("/etc/**/conf", "/etc/conf", True),
        ("/etc/**/conf", "/etc/a/b/conf", True),
        ("/etc/a?c", "/etc/abc", True),
        ("/etc/a?c", "/etc/a/c", False),
        ("/etc/[ab]", "/etc/a", False),
        ("C:/x/*", "C:/x/y", True),
        ("/a/*", "/a/b\nc", True),
    ],
)
def test_a_path_glob_reaches_what_it_says(glob: str, path: str, held: bool) -> None:
    assert (path_pattern((glob,), CALL.site.home, CALL.site.workspace).fullmatch(path) is not None) is held
    assert holds(Match(path=(glob,)), value=path) is held


@pytest.mark.parametrize(
    ("glob", "host", "value", "held"),
    [
        ("x.example", "x.example", "https://x.example/", True),
        ("X.Example", "x.example", "https://x.example/", True),
        ("x.example", "xx.example", "https://xx.example/", False),
        ("x.example", "x.example.evil", "", False),
        ("*.example", "a.b.example", "", True),
        ("*.example", "example", "", False),
        ("x.example:443", "x.example", "https://x.example/", True),
        ("x.example:443", "x.example", "http://x.example/", False),
        ("x.example:8080", "x.example", "http://u:p@x.example:8080/a", True),
        ("localhost:*", "localhost", "localhost:3000", True),
    ],
)
def test_a_host_glob_reaches_what_it_says(glob: str, host: str, value: str, held: bool) -> None:
    assert holds(Match(host=(glob,)), kind=EffectKind.FETCH, host=host, value=value) is held


@pytest.mark.parametrize(
    ("url", "number"),
    [("https://a/", "443"), ("http://[::1]:81/", "81"), ("a:22", "22"), ("git://a/x", "9418"), ("a", ""), ("", ""), ("SSH://a", "22")],
)  # fmt: skip
def test_the_port_of_a_peer(url: str, number: str) -> None:
    assert port(url) == number


@pytest.mark.parametrize(
    ("match", "fields", "held"),
    [
        (Match(), {}, True),
        (Match(effect=(EffectKind.READ,)), {}, False),
        (Match(zone=(Zone.HOME, Zone.SYSTEM)), {"zone": Zone.SYSTEM}, True),
        (Match(zone=(Zone.HOME,)), {}, False),
        (Match(net=(Net.PUBLIC,)), {"net": Net.PRIVATE}, False),
        (Match(program=("rm",)), {"program": "rm"}, True),
        (Match(program=("rm",)), {"program": "rmdir"}, False),
        (Match(program=("python*",)), {"program": "python3.12"}, True),
        (Match(program=("python*",)), {"program": "ipython"}, False),
        (Match(command=("git push",)), {"value": "git push origin"}, True),
        (Match(command=("git push",)), {"value": "git push"}, True),
        (Match(command=("git push",)), {"value": "git pushover"}, False),
        (Match(value=("a b",)), {"value": "a b"}, True),
        (Match(value=("a b",)), {"value": "a b "}, False),
        (Match(flags=(Flag.RECURSIVE, Flag.GLOB)), {"flags": frozenset({Flag.RECURSIVE})}, False),
        (Match(flags=(Flag.RECURSIVE,)), {"flags": frozenset({Flag.RECURSIVE, Flag.GLOB})}, True),
        (Match(without=(Flag.SENDS,)), {"flags": frozenset({Flag.SENDS})}, False),
        (Match(tool=("run",)), {}, True),
        (Match(tool=("ns.run",)), {}, True),
        (Match(tool=("ns",)), {}, False),
        (Match(namespace=("",)), {}, False),
        (Match(namespace=("ns",)), {}, True),
        (Match(profile=("dsh",)), {}, False),
        (Match(profile=("codex",), tool=("run",), program=("ls",)), {"program": "ls"}, True),
        (Match(profile=("codex",), tool=("run",), program=("ls",)), {"program": "lx"}, False),
    ],
)
def test_a_condition_holds_for_what_it_says(match: Match, fields: dict[str, Any], held: bool) -> None:
    assert holds(match, **fields) is held


NAMES = st.text("ab.*+[", min_size=1, max_size=4)


@given(st.lists(NAMES, min_size=1, max_size=3))
def test_a_glob_without_stars_is_exactly_itself(parts: list[str]) -> None:
    plain = "/" + "/".join(part.replace("*", "x") for part in parts)
    found = path_pattern((plain,), "/h", "/w")
    assert found.fullmatch(plain)
    assert not found.fullmatch(plain + "x")
    assert not found.fullmatch("x" + plain)


def test_the_operators_secrets_are_paths_of_this_site() -> None:
    assert secret_paths((), CALL.site) is None
    found = secret_paths(("keys/**", "~/k"), CALL.site)
    assert found is not None
    assert found.fullmatch("/work/a*b/keys/one")
    assert found.fullmatch("/home/d.v/k")
