"""Documents that name things name things that exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from checkrein.cli.main import VERBS
from checkrein.vocab.reasons import Reason

ROOT = Path(__file__).resolve().parents[2]
DOCUMENTS = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])


def everything() -> str:
    return "\n".join(path.read_text(encoding="utf-8") for path in DOCUMENTS)


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_local_link_leads_somewhere(path: Path) -> None:
    targets = re.findall(r"\]\((?!https?:|mailto:|#)([^)#\s]+)(?:#[^)]*)?\)", path.read_text(encoding="utf-8"))
    assert [target for target in targets if not (path.parent / target).exists()] == []


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_cited_test_and_source_exists(path: Path) -> None:
    cited = re.findall(
        r"`((?:tests|src|bench|docs|scripts)/[\w./<>-]+?\.(?:py|toml|md|jsonl|json))(?:::(\w+))?`",
        path.read_text(encoding="utf-8"),
    )
    missing = []
    for name, test in cited:
        if "<" in name:
            continue
        target = ROOT / name
        if not target.exists() or (test and f"def {test}(" not in target.read_text(encoding="utf-8")):
            missing.append(f"{name}::{test}" if test else name)
    assert missing == []


@pytest.mark.parametrize("reason", list(Reason))
def test_every_reason_is_documented(reason: Reason) -> None:
    assert f"`{reason.value}`" in everything()


@pytest.mark.parametrize("verb", sorted(VERBS))
def test_every_verb_is_documented(verb: str) -> None:
    assert f"checkrein {verb}" in everything()


def test_every_environment_variable_of_ours_is_documented() -> None:
    names = set()
    for path in (ROOT / "src").rglob("*.py"):
        names |= set(re.findall(r"\bCHECKREIN_[A-Z_]+\b", path.read_text(encoding="utf-8")))
    assert sorted(name for name in names if name not in everything()) == []
