"""What judging remembers from one call to the next, within one thread of a harness. Immutable: each step makes a new one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TypeVar

from checkrein.vocab.calls import NOTHING
from checkrein.vocab.sessions import LiveShell
from checkrein.vocab.site import Site

V = TypeVar("V")

MAX_FILES = 512  # texts that are remembered; of older files only that they were written
MAX_FILE = 256 * 1024  # characters of one file that are remembered
MAX_SESSIONS = 256
MAX_FETCHED = 4_096


@dataclass(frozen=True, slots=True)
class State:
    """`cwd` is where a shell that keeps its directory stands, None when that is unknown.

    `sessions` are live programs by the id that the harness gave them; `opening` those that a released call may have left
    behind, by call id, until its result says which id they got. `files` holds the texts that released calls wrote, by
    absolute path (None: what was written is not known), and `fetched` the files that they downloaded; `drafts` says which call wrote which, for once its result is
    there the disk may be read instead.
    """

    site: Site = field(default_factory=Site)
    cwd: str | None = None
    sessions: Mapping[str, LiveShell] = field(default_factory=lambda: NOTHING)
    opening: Mapping[str, LiveShell] = field(default_factory=lambda: NOTHING)
    files: Mapping[str, str | None] = field(default_factory=lambda: NOTHING)
    fetched: frozenset[str] = frozenset()
    drafts: Mapping[str, frozenset[str]] = field(default_factory=lambda: NOTHING)

    @classmethod
    def at(cls, site: Site) -> State:
        """The state of a fresh thread at this site."""
        return cls(site=site, cwd=site.cwd)

    def with_session(self, session: str, shell: LiveShell | None) -> State:
        """The state after a session changed, or ended when `shell` is None."""
        rest = {key: value for key, value in self.sessions.items() if key != session}
        if shell is not None:
            rest[session] = shell
        return replace(self, sessions=newest(rest, MAX_SESSIONS))


def forgetting(files: Mapping[str, str | None]) -> Mapping[str, str | None]:
    """The same files, only the newest of them with their texts. INVARIANT: none becomes one that was never written."""
    old = len(files) - MAX_FILES
    return files if old <= 0 else {path: text if rank >= old else None for rank, (path, text) in enumerate(files.items())}


def newest(rows: Mapping[str, V], limit: int) -> Mapping[str, V]:
    """The rows that were put in last."""
    if len(rows) <= limit:
        return rows
    return dict(list(rows.items())[len(rows) - limit :])
