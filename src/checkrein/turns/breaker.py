"""The breaker: ends a run that only produces refusals. Its state is a fold over journal rows, so that a restart continues it.

It counts, since the last real user input: answers in a row whose every proposed call was refused, equal refused calls, refused
calls in the session over all threads, continuations in a row that brought no admitted call, and requests presented again after
a call of theirs had been released. A trip is latched per thread (a spent session budget latches every thread) until the user
speaks or an operator releases it.

Rows are read by these fields, all others are ignored:
`request`: request, session, thread, turn, subagent, aux, compaction, continuation, users, user (the count of real user
messages, those that are not the harness's own continuation, and the digest of the last of them)
`decision`: request, session, thread, tool, namespace, args_digest, released, read_only, verdict, reason, rule, layer, file
`upstream`: request, session, thread, failed
`usage`: request, session, thread, tokens (input_tokens, output_tokens, total_tokens)
`breaker`: session, thread, state (`tripped`, `released`), scope, cause, count, limit

INVARIANT: auxiliary requests change nothing here, and a compaction is never taken for user input.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from checkrein.vocab.calls import NOTHING


@dataclass(frozen=True, slots=True)
class Limits:
    """A count that reaches its limit trips; 0 switches that count off."""

    answers: int = 3
    same: int = 3
    session: int = 25
    continuations: int = 5
    repeats: int = 3

    @classmethod
    def off(cls) -> Limits:
        """No limit at all (`guard --breaker off`)."""
        return cls(0, 0, 0, 0, 0)


@dataclass(frozen=True, slots=True)
class Refusal:
    """The last refused call: what a trip is about."""

    tool: str
    reason: str = ""
    rule: str = ""
    layer: str = ""
    file: str = ""
    remedy: str = ""


@dataclass(frozen=True, slots=True)
class Trip:
    """Why a thread is stopped. `cause` is `answers`, `same`, `session`, `continuations` or `repeats`; `scope` is `thread` or
    `session`; `tokens` those that the provider reported since the user last spoke.
    """

    cause: str
    count: int
    limit: int
    scope: str = "thread"
    refusal: Refusal | None = None
    tokens: int = 0


@dataclass(frozen=True, slots=True)
class Thread:
    """The counts of one thread since its user last spoke."""

    users: int = 0
    user: str = ""
    request: str = ""
    turn: str = ""
    proposed: int = 0
    admitted: int = 0
    failed: bool = False
    turn_continues: bool = False
    turn_admitted: bool = False
    answers: int = 0
    continuations: int = 0
    repeats: int = 0
    same: Mapping[str, int] = field(default_factory=lambda: NOTHING)
    released: frozenset[str] = frozenset()  # effectful calls of the answer that is open or was the last
    ran: frozenset[str] = frozenset()  # calls that may have run although their answer failed
    compacted: bool = False
    latched: Trip | None = None


@dataclass(frozen=True, slots=True)
class Session:
    """One session: its threads and what they share."""

    threads: Mapping[str, Thread] = field(default_factory=lambda: NOTHING)
    refused: int = 0
    tokens: int = 0
    refusal: Refusal | None = None
    latched: Trip | None = None


State = Mapping[str, Session]
START: State = NOTHING


def digest_of(row: Mapping[str, Any]) -> str:
    """What makes two calls the same: tool, namespace and arguments."""
    return f"{row.get('namespace') or ''}\0{row.get('tool') or ''}\0{row.get('args_digest') or ''}"


def fold(state: State, row: Mapping[str, Any]) -> State:
    """The state after one more journal row. Rows of kinds that the breaker does not read change nothing."""
    step = STEPS.get(str(row.get("kind")))
    if step is None or row.get("aux"):
        return state
    session_key, thread_key = str(row.get("session") or ""), str(row.get("thread") or "")
    session = state.get(session_key, Session())
    thread = session.threads.get(thread_key, Thread())
    changed, thread_after = step(session, thread, row)
    if changed is session and thread_after is thread:
        return state
    threads = {**changed.threads, thread_key: thread_after}
    if session.latched is not None and changed.latched is None:
        # The user spoke: a budget of the whole session, and what it latched on other threads, starts anew.
        threads = {
            key: replace(value, latched=None) if value.latched and value.latched.scope == "session" else value
            for key, value in threads.items()
        }
    return {**state, session_key: replace(changed, threads=threads)}


def replay(rows: Iterable[Mapping[str, Any]]) -> State:
    """The state after all rows, e.g. of an earlier run's segment."""
    state = START
    for row in rows:
        state = fold(state, row)
    return state


def _closed(thread: Thread) -> Thread:
    """The thread with its open answer counted."""
    if not thread.request:
        return thread
    answers = thread.answers
    if thread.admitted:
        answers = 0
    elif thread.proposed:
        answers += 1
    return replace(
        thread, request="", proposed=0, admitted=0, answers=answers, turn_admitted=thread.turn_admitted or thread.admitted > 0
    )


def _turned(thread: Thread) -> Thread:
    """The thread with its turn counted."""
    if not thread.turn_continues:
        return thread
    return replace(thread, turn_continues=False, continuations=0 if thread.turn_admitted else thread.continuations + 1)


def _spoke(thread: Thread, row: Mapping[str, Any]) -> bool:
    """Whether this request shows a user message that the thread has not seen.

    A harness that compacts its history shows fewer messages, and perhaps a summary in the user's name: right after a
    compaction only the baseline moves. A sub-agent's user is another agent, so its messages never count.
    """
    users, user = int(row.get("users") or 0), str(row.get("user") or "")
    if not user or thread.compacted or row.get("subagent"):
        return False
    return users > thread.users or (user != thread.user and users >= thread.users)


def _request(session: Session, thread: Thread, row: Mapping[str, Any]) -> tuple[Session, Thread]:
    if row.get("compaction"):
        return session, replace(thread, compacted=True)
    again = thread.failed and bool(thread.released)
    released = thread.released
    thread = _closed(thread)
    turn = str(row.get("turn") or row.get("request") or "")
    if _spoke(thread, row):
        session = replace(session, refused=0, tokens=0, refusal=None, latched=None)
        thread = Thread()
    elif turn != thread.turn:
        thread = replace(_turned(thread), turn_admitted=False)
    return session, replace(
        thread,
        users=int(row.get("users") or 0) or thread.users,
        user=str(row.get("user") or "") or thread.user,
        request=str(row.get("request") or "-"),
        turn=turn,
        turn_continues=bool(row.get("continuation")) or (turn == thread.turn and thread.turn_continues),
        repeats=thread.repeats + 1 if again else thread.repeats,
        ran=thread.ran | released if again else (thread.ran if thread.failed else frozenset()),
        released=frozenset(),
        failed=False,
        compacted=False,
    )


def _decision(session: Session, thread: Thread, row: Mapping[str, Any]) -> tuple[Session, Thread]:
    digest = digest_of(row)
    if row.get("released"):
        released = thread.released if row.get("read_only") else thread.released | {digest}
        return session, replace(thread, proposed=thread.proposed + 1, admitted=thread.admitted + 1, released=released)
    refusal = Refusal(
        tool=str(row.get("tool") or ""),
        reason=str(row.get("reason") or ""),
        rule=str(row.get("rule") or ""),
        layer=str(row.get("layer") or ""),
        file=str(row.get("file") or ""),
        remedy=str(row.get("remedy") or ""),
    )
    thread = replace(thread, proposed=thread.proposed + 1, same={**thread.same, digest: thread.same.get(digest, 0) + 1})
    return replace(session, refused=session.refused + 1, refusal=refusal), thread


def _upstream(session: Session, thread: Thread, row: Mapping[str, Any]) -> tuple[Session, Thread]:
    return session, replace(thread, failed=True) if row.get("failed") else thread


def _usage(session: Session, thread: Thread, row: Mapping[str, Any]) -> tuple[Session, Thread]:
    return replace(session, tokens=session.tokens + tokens_of(row)), thread


def _breaker(session: Session, thread: Thread, row: Mapping[str, Any]) -> tuple[Session, Thread]:
    if row.get("state") == "released":
        return replace(session, refused=0, latched=None), Thread(users=thread.users, user=thread.user)
    trip = Trip(
        cause=str(row.get("cause") or ""),
        count=int(row.get("count") or 0),
        limit=int(row.get("limit") or 0),
        scope=str(row.get("scope") or "thread"),
        refusal=session.refusal,
        tokens=session.tokens,
    )
    if trip.scope == "session":
        session = replace(session, latched=trip)
    return session, replace(thread, latched=trip)


STEPS = {"request": _request, "decision": _decision, "upstream": _upstream, "usage": _usage, "breaker": _breaker}


def tokens_of(row: Mapping[str, Any]) -> int:
    """The tokens of a usage row, in and out, as the provider reported them."""
    tokens = row.get("tokens")
    if not isinstance(tokens, Mapping):
        return 0
    total = tokens.get("total_tokens")
    if isinstance(total, int):
        return total
    return sum(value for key in ("input_tokens", "output_tokens") if isinstance(value := tokens.get(key), int))


def tripped(state: State, session: str | None, thread: str | None, limits: Limits) -> Trip | None:
    """The trip that holds for this thread now, latched or due; None while it may go on.

    Ask after folding the `request` row and before asking the provider, and again after each `decision` row.
    """
    of_session = state.get(session or "")
    if of_session is None:
        return None
    of_thread = of_session.threads.get(thread or "", Thread())
    latched = of_thread.latched or of_session.latched
    if latched is not None:
        return latched
    return _due(of_session, of_thread, limits)


def _due(session: Session, thread: Thread, limits: Limits) -> Trip | None:
    same = max(thread.same.values(), default=0)
    for cause, count, limit, scope in (
        ("same", same, limits.same, "thread"),
        ("answers", thread.answers, limits.answers, "thread"),
        ("continuations", thread.continuations, limits.continuations, "thread"),
        ("repeats", thread.repeats, limits.repeats, "thread"),
        ("session", session.refused, limits.session, "session"),
    ):
        if limit and count >= limit:
            return Trip(cause, count, limit, scope, session.refusal, session.tokens)
    return None


def last_warning(state: State, session: str | None, thread: str | None, limits: Limits) -> bool:
    """Whether one more refusal of this kind ends the run; ask after folding the refused call's `decision` row."""
    of_session = state.get(session or "")
    if of_session is None:
        return False
    of_thread = of_session.threads.get(thread or "", Thread())
    same = max(of_thread.same.values(), default=0)
    # The open answer counts as refused while nothing in it was admitted.
    answers = of_thread.answers + (1 if of_thread.proposed and not of_thread.admitted else 0)
    pairs = ((same, limits.same), (answers, limits.answers), (of_session.refused, limits.session))
    return any(limit and count == limit - 1 for count, limit in pairs)


def may_have_run(state: State, session: str | None, thread: str | None, row: Mapping[str, Any]) -> bool:
    """Whether an equal call was released in an answer that then failed, so that it may have run already."""
    of_session = state.get(session or "")
    of_thread = of_session.threads.get(thread or "") if of_session else None
    return of_thread is not None and digest_of(row) in of_thread.ran
