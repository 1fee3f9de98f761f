"""Where a harness works: the facts about machine and workspace that judging needs, gathered once at an edge."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from checkrein.vocab.calls import NOTHING
from checkrein.vocab.effects import Zone


@dataclass(frozen=True, slots=True)
class Site:
    """All paths are absolute and normal. `protected` lists paths (files, or directories with everything below) with the zone
    that they have; `realpath` is a probe of symbolic links where one is allowed, and `read` a probe that gives the text of
    a workspace file (None when absent or too large); both are absent in pure tests. `env` holds the few environment
    variables that shell words may name (HOME, USER, PWD, TMPDIR ...).
    """

    workspace: str = "/work/app"
    home: str = "/home/dev"
    cwd: str = "/work/app"
    user: str = "dev"
    temps: tuple[str, ...] = ("/tmp", "/var/tmp", "/dev/shm")
    windows: bool = False
    folds_case: bool = False
    protected: tuple[tuple[str, Zone], ...] = ()
    env: Mapping[str, str] = field(default_factory=lambda: NOTHING)
    realpath: Callable[[str], str] | None = None
    read: Callable[[str], str | None] | None = None
    approver: bool = False
    guard_pids: frozenset[int] = frozenset()
