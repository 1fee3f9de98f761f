"""The seam to the other shells: which analyser reads PowerShell and cmd text."""

from __future__ import annotations

import importlib
import importlib.util
from typing import Any

from checkrein.shell.spec import Run, Word

ANALYSERS = {"powershell": ("checkrein.shell.powershell", "analyse_powershell"), "cmd": ("checkrein.shell.cmd", "analyse_cmd")}


def analyse(dialect: str, word: Word, run: Run, walk: Any, *, remote: bool) -> None:
    """Judge the word's text in its dialect; what has no analyser is not known."""
    found = ANALYSERS.get(dialect)
    if found is None or importlib.util.find_spec(found[0]) is None:
        walk.opaque(f"{dialect} code is not read", run, word)
        return
    getattr(importlib.import_module(found[0]), found[1])(word, run, walk, remote=remote)
