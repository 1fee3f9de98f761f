"""Cases as data: every line of the JSONL files below `tests/cases/<room>/`, with its place as the id."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

CASES = Path(__file__).resolve().parents[1] / "cases"


def rows(room: str, file: str = "*") -> list[Any]:
    """One pytest parameter per line; blank lines and lines that begin with `//` are left out."""
    found = []
    for path in sorted((CASES / room).glob(f"{file}.jsonl")):
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            if line.strip() and not line.startswith("//"):
                found.append(pytest.param(json.loads(line), id=f"{path.stem}:{number}"))
    assert found, f"no cases in {room}/{file}"
    return found
