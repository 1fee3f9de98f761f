"""Programs to what they do: one module a family. A program may belong to several: each is asked."""

from __future__ import annotations

import importlib
import importlib.util

from checkrein.shell.spec import Family

MODULES = (
    "wrappers",
    "interpreters",
    "launchers",
    "finders",
    "files",
    "git",
    "disks",
    "processes",
    "packages",
    "privilege",
    "network",
    "containers",
    "remote",
    "databases",
    "publishing",
    "schedule",
)


def _table() -> dict[str, tuple[Family, ...]]:
    table: dict[str, tuple[Family, ...]] = {}
    for name in MODULES:
        full = f"{__name__}.{name}"
        if importlib.util.find_spec(full) is None:
            continue
        for program, family in importlib.import_module(full).SPECS.items():
            table[program] = (*table.get(program, ()), family)
    return table


FAMILIES: dict[str, tuple[Family, ...]] = _table()
