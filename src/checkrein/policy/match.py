"""Conditions of a rule -> predicates over one effect. What an index can answer (kind, act, zone, net) is kept apart."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import lru_cache

from checkrein.policy.schema import Match
from checkrein.vocab.effects import Effect
from checkrein.vocab.facts import Facts
from checkrein.vocab.site import Site

Predicate = Callable[[Effect, Facts], bool]


def residual(match: Match) -> Predicate | None:
    """What is left to ask of an effect once its kind, act, zone and net fit; None when nothing is."""
    tests = list(_tests(match))
    if not tests:
        return None
    if len(tests) == 1:
        return tests[0]
    ordered = tuple(tests)

    def holds(effect: Effect, facts: Facts) -> bool:
        for test in ordered:  # noqa: SIM110 - a generator costs more than the tests
            if not test(effect, facts):
                return False
        return True

    return holds


def indexed(match: Match, effect: Effect) -> bool:
    """Whether kind, act, zone and net of the effect fit."""
    return (
        (not match.effect or effect.kind in match.effect)
        and (not match.act or effect.act in match.act)
        and (not match.zone or effect.zone in match.zone)
        and (not match.net or effect.net in match.net)
    )


def _tests(match: Match) -> Iterable[Predicate]:
    """One predicate per condition, the cheap ones first."""
    if match.flags:
        wanted = frozenset(match.flags)
        yield lambda effect, _facts: wanted <= effect.flags
    if match.without:
        barred = frozenset(match.without)
        yield lambda effect, _facts: barred.isdisjoint(effect.flags)
    if match.program:
        yield _program(match.program)
    if match.tool:
        names = frozenset(match.tool)
        yield lambda _effect, facts: facts.name in names or facts.tool in names
    if match.namespace:
        spaces = frozenset(match.namespace)
        yield lambda _effect, facts: (facts.namespace or "") in spaces
    if match.profile:
        profiles = frozenset(match.profile)
        yield lambda _effect, facts: facts.profile in profiles
    if match.value:
        values = frozenset(match.value)
        yield lambda effect, _facts: effect.value in values
    if match.command:
        yield _command(match.command)
    if match.host:
        yield _host(match.host)
    if match.path:
        yield _path(match.path)


def _program(names: tuple[str, ...]) -> Predicate:
    literal = frozenset(name for name in names if "*" not in name)
    globs = [name for name in names if "*" in name]
    if not globs:
        return lambda effect, _facts: effect.program in literal
    pattern = re.compile("|".join(".*".join(map(re.escape, name.split("*"))) for name in globs), re.DOTALL)
    return lambda effect, _facts: effect.program in literal or pattern.fullmatch(effect.program) is not None


def _command(prefixes: tuple[str, ...]) -> Predicate:
    """First words. The end of a prefix is the end of a word: `git push` is no beginning of `git pushover`."""
    whole = tuple(" ".join(prefix.split(" ")) for prefix in prefixes)
    begun = tuple(prefix + " " for prefix in whole)
    return lambda effect, _facts: effect.value in whole or effect.value.startswith(begun)


def _host(globs: tuple[str, ...]) -> Predicate:
    pattern = re.compile("|".join(".*".join(map(re.escape, glob.lower().split("*"))) for glob in globs))
    ports = any(re.search(r":\d+$|:\*$", glob) for glob in globs)

    def holds(effect: Effect, _facts: Facts) -> bool:
        if pattern.fullmatch(effect.host):
            return True
        return ports and pattern.fullmatch(f"{effect.host}:{port(effect.value)}") is not None

    return holds


_PEER = re.compile(
    r"(?:(?P<scheme>[a-z][a-z0-9+.-]*)://)?(?:[^/@\s]*@)?(?:\[[^\]]*\]|[^/:\s]*)(?::(?P<port>\d{1,5}))?", re.IGNORECASE
)
_PORTS = {"https": "443", "http": "80", "ssh": "22", "git": "9418", "ftp": "21"}


def port(value: str) -> str:
    """The port that a URL or `host:port` names, by its scheme where it names none; empty when unknown."""
    found = _PEER.match(value)
    assert found is not None  # every part is optional
    return found["port"] or _PORTS.get((found["scheme"] or "").lower(), "")


def _path(globs: tuple[str, ...]) -> Predicate:
    return lambda effect, facts: path_pattern(globs, facts.site.home, facts.site.workspace).fullmatch(effect.value) is not None


@lru_cache(maxsize=256)
def path_pattern(globs: tuple[str, ...], home: str, workspace: str) -> re.Pattern[str]:
    """Path globs as one pattern over absolute paths."""
    return re.compile("|".join(_absolute(glob, home, workspace) for glob in globs), re.DOTALL)


def _absolute(glob: str, home: str, workspace: str) -> str:
    """`~/…` below home, `/…` as it is, anything else below the workspace. Stars in the names of those two are no globs."""
    if glob == "~" or glob.startswith("~/"):
        return re.escape(home) + _glob(glob[1:])
    if glob.startswith("/") or re.match(r"[A-Za-z]:/", glob):
        return _glob(glob)
    return re.escape(workspace) + _glob(f"/{glob.removeprefix('./')}")


def _glob(glob: str) -> str:
    """`**/` is any number of directories, `/**` everything below (and the directory itself), `*` and `?` stay in one name."""
    out = []
    at = 0
    while at < len(glob):
        if glob.startswith("**/", at):
            out.append("(?:[^/]+/)*")
            at += 3
        elif glob.startswith("/**", at) and at + 3 == len(glob):
            out.append("(?:/.*)?")
            at += 3
        elif glob.startswith("**", at):
            out.append(".*")
            at += 2
        else:
            out.append({"*": "[^/]*", "?": "[^/]"}.get(glob[at], re.escape(glob[at])))
            at += 1
    return "".join(out)


def secret_paths(globs: tuple[str, ...], site: Site) -> re.Pattern[str] | None:
    """The operator's own secret paths at this site."""
    return path_pattern(globs, site.home, site.workspace) if globs else None
