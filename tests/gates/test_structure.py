"""The shape of the project is held by checks, not by prose."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src" / "checkrein"
LIMIT = 650  # lines; what one can read in a sitting
# To be split by noun; nothing may be added here.
TOO_LONG = {
    "shell/scripts/python.py": 800,
    "shell/scripts/python_calls.py": 1200,
    "shell/flows.py": 700,
    "shell/parse.py": 760,
    "shell/walker.py": 760,
    "shell/commands/wrappers.py": 860,
}
DRAWERS = {"utils", "util", "common", "helpers", "helper", "manager", "shared", "misc", "core"}


def modules() -> list[Path]:
    return sorted(SOURCE.rglob("*.py"))


def tracked() -> list[Path]:
    names = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True, text=True).stdout
    return [ROOT / name for name in names.split("\0") if name]


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(SOURCE)))
def test_a_module_can_be_read_in_a_sitting(path: Path) -> None:
    limit = TOO_LONG.get(str(path.relative_to(SOURCE)), LIMIT)
    assert len(path.read_text(encoding="utf-8").splitlines()) <= limit


def test_no_module_is_a_drawer() -> None:
    assert [p for p in modules() if p.stem in DRAWERS or p.parent.name in DRAWERS] == []


def test_every_module_says_what_it_is() -> None:
    silent = [
        p
        for p in modules()
        if p.read_text(encoding="utf-8").strip() and not p.read_text(encoding="utf-8").lstrip().startswith(('"""', 'r"""'))
    ]
    assert silent == []


def test_every_test_file_belongs_to_a_source_module() -> None:
    """tests/<room>/test_<name>[_<aspect>].py tests src/checkrein/<room>/<name>.py (or the room as a whole)."""
    strays = []
    for path in sorted((ROOT / "tests").rglob("test_*.py")):
        room = path.parent.relative_to(ROOT / "tests")
        if room.parts and room.parts[0] in {"gates", "live", "mutants", "properties", "docs"}:
            continue
        names = {p.stem for p in (SOURCE / room).glob("*.py")} | {p.name for p in (SOURCE / room).glob("*") if p.is_dir()}
        stem = path.stem.removeprefix("test_")
        parts = stem.split("_")
        spellings = {"_".join(parts[: n + 1]) for n in range(len(parts))}
        if not (spellings & names) and room.name not in spellings:
            strays.append(str(path.relative_to(ROOT)))
    assert strays == []


# What must never be committed: places of one machine, and talk of how the work is organised.
FORBIDDEN = re.compile(r"/work/(main|shared|\.library)|/tmp/h/|/tmp/issue|\bhelper-\d|\bshared/(facts|fixtures|cases)")


def test_the_project_names_no_place_of_one_machine() -> None:
    found = []
    for path in tracked():
        if path.suffix in {".lock", ".png"} or path == Path(__file__).resolve() or not path.is_file():
            continue
        text = path.read_text(encoding="utf-8", errors="replace")
        found += [f"{path.relative_to(ROOT)}: {match.group()}" for match in FORBIDDEN.finditer(text)]
    assert found == []
