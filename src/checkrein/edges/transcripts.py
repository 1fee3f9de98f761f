"""The harness's own transcripts of one run: the files that its profile names, as far as they were written during the run."""

from __future__ import annotations

import glob
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import orjson

from checkrein.profiles.schema import Profile
from checkrein.wire.rollout import EntryKind, Rollout, read

# File times are coarser than row times.
_SLACK_SECONDS = 2.0


def rollouts(profile: Profile, config: str, since: float, since_text: str, cwd: Path) -> list[Rollout]:
    """The transcripts that were written since a time (in seconds, and as rows write it) for work in a directory.

    Lines that are older are left out, so that a resumed thread shows only what happened in this run.
    """
    found = []
    for path in _files(profile, config, since):
        lines = list(_lines(path))
        if _belongs(lines, cwd):
            found.append(read(line for line in lines if _is_new(line, since_text)))
    return found


def unseen_turns(found: Sequence[Rollout], rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Turns that a model answered and that the gateway never saw: the harness went another way."""
    seen = {str(row.get("turn")) for row in rows if row.get("kind") == "request"}
    answered = {entry.turn: None for one in found for entry in one.of(EntryKind.REPLY) if entry.turn}
    return [turn for turn in answered if turn not in seen]


def _files(profile: Profile, config: str, since: float) -> Iterator[Path]:
    for pattern in profile.transcripts:
        for name in sorted(glob.glob(pattern.replace("{config}", glob.escape(config)))):
            path = Path(name)
            try:
                if path.stat().st_mtime >= since - _SLACK_SECONDS:
                    yield path
            except OSError:
                continue


def _lines(path: Path) -> Iterator[bytes]:
    try:
        with path.open("rb") as file:
            yield from file
    except OSError:
        return


def _belongs(lines: Sequence[bytes], cwd: Path) -> bool:
    """Whether the transcript's first line names this working directory; one that names none counts."""
    try:
        meta = orjson.loads(lines[0])["payload"].get("cwd")
    except (orjson.JSONDecodeError, KeyError, TypeError, AttributeError, IndexError):
        return True
    return not isinstance(meta, str) or Path(meta).resolve() == cwd.resolve()


def _is_new(line: bytes, since: str) -> bool:
    try:
        time = orjson.loads(line).get("timestamp")
    except (orjson.JSONDecodeError, AttributeError):
        return True
    return not isinstance(time, str) or time >= since
