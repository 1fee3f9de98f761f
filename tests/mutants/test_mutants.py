"""Each check of the guard is broken once, in a copy, and the tests named for it must notice."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src" / "checkrein"
# `mutants.toml` is the gateway's list; a room may keep its own beside it.
MUTANTS = [
    row
    for path in sorted(Path(__file__).parent.glob("*.toml"))
    for row in tomllib.loads(path.read_text(encoding="utf-8"))["mutant"]
]
FAILED = 1  # pytest's exit code for "some tests failed"; 2 and above say that they could not be run


def test_names_are_unique() -> None:
    assert len({mutant["name"] for mutant in MUTANTS}) == len(MUTANTS)


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant["name"].replace(" ", "-"))
def test_a_seeded_fault_is_noticed(mutant: dict[str, Any], tmp_path: Path) -> None:
    copy = tmp_path / "src" / "checkrein"
    shutil.copytree(SOURCE, copy, ignore=shutil.ignore_patterns("__pycache__"))
    target = copy / mutant["file"]
    text = target.read_text(encoding="utf-8")
    assert text.count(mutant["find"]) == 1, "the place to break is found exactly once"
    target.write_text(text.replace(mutant["find"], mutant["replace"]), encoding="utf-8")
    environment = {
        **os.environ,
        "PYTHONPATH": str(copy.parent),
        "PYTHONDONTWRITEBYTECODE": "1",
        "HYPOTHESIS_STORAGE_DIRECTORY": str(tmp_path / "hypothesis"),
    }
    command = [sys.executable, "-m", "pytest", "-x", "-p", "no:cacheprovider", *mutant["tests"]]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == FAILED, f"no test noticed that {mutant['name']}:\n{done.stdout[-2000:]}{done.stderr[-2000:]}"
