"""What one request is: whose it is, what moved it, what it declares. Read by the profile's keys, never changed."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from checkrein.profiles.schema import Profile
from checkrein.wire import WIRES
from checkrein.wire.request import Request, locate

COMPACTION = "compaction"  # the kind of a request which shortens the history


@dataclass(frozen=True, slots=True)
class Intake:
    """One request of a harness.

    `session` falls back to the run. `auxiliary` requests (titles, reviewers, memories) are judged but move no counter.
    `continuation` says that the harness asks on its own account. `users` counts the user messages that are not the harness's
    own, and `user` is the digest of the last of them: whether the user has spoken is judged by these, never by the trigger.
    """

    request: Request = field(default_factory=Request)
    id: str = ""
    session: str = ""
    thread: str | None = None
    turn: str | None = None
    trigger: str | None = None
    subagent: str | None = None
    kind: str | None = None
    auxiliary: bool = False
    continuation: bool = False
    users: int = 0
    user: str = ""

    @property
    def compaction(self) -> bool:
        """The request shortens the history."""
        return self.kind == COMPACTION

    @property
    def owner(self) -> dict[str, Any]:
        """The fields that every row of this request has."""
        return {"request": self.id, "session": self.session, "thread": self.thread}

    def row(self) -> dict[str, Any]:
        """The fields of the `request` row."""
        return {
            **self.owner,
            "turn": self.turn,
            "trigger": self.trigger,
            "subagent": self.subagent,
            "request_kind": self.kind,
            "aux": self.auxiliary,
            "compaction": self.compaction,
            "continuation": self.continuation,
            "users": self.users,
            "user": self.user,
            "model": self.request.model,
            "stream": self.request.stream,
            "declared": len(self.request.declared),
        }


def read_intake(
    profile: Profile, headers: Mapping[str, str], body: Mapping[str, Any], *, run: str = "", request_id: str = ""
) -> Intake:
    """The request of a parsed body. `headers` has lower-case names. Raises `ViolationError` where the body leaves doubt."""
    request = WIRES[profile.wire].request(body)
    keys, rules = profile.keys, profile.continuation
    kind = locate(keys.request_kind.sources, headers, body)
    trigger = locate(keys.trigger.sources, headers, body)
    subagent = locate(keys.subagent.sources, headers, body)
    spoken = [text for text in request.users if not text.startswith(rules.prefixes)]
    own_last = request.user_last and bool(request.users) and request.users[-1].startswith(rules.prefixes)
    return Intake(
        request=request,
        id=request_id,
        session=locate(keys.session.sources, headers, body) or run,
        thread=locate(keys.thread.sources, headers, body),
        turn=locate(keys.turn.sources, headers, body),
        trigger=trigger,
        subagent=subagent,
        kind=kind,
        auxiliary=kind != COMPACTION and (kind in rules.aux_kinds or subagent in rules.aux_subagents),
        continuation=trigger in rules.triggers or own_last,
        users=len(spoken),
        user=hashlib.sha256(spoken[-1].encode(errors="surrogatepass")).hexdigest() if spoken else "",
    )
