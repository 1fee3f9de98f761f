"""The state of one guarded run: what earlier requests, results and refusals mean for the next request. Pure.

A `Run` admits a request or refuses it, hands the exchange its judge, and remembers what became of each answer. Everything is keyed by
the harness's own session and thread, so that sub-agents and parallel sessions do not disturb each other.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from checkrein.profiles.schema import Carriage, Profile, Role
from checkrein.turns import rows
from checkrein.turns.exchange import Options, Outcome
from checkrein.turns.intake import Intake, read_intake
from checkrein.vocab.calls import Call, Result
from checkrein.vocab.commands import Answer, Record
from checkrein.vocab.verdicts import Verdict
from checkrein.wire import WIRES
from checkrein.wire.codec import ViolationError

S = TypeVar("S")
JSON = ((b"content-type", b"application/json"),)

CODE_MODE = (
    "the harness runs in Code Mode, where scripts hide the calls that they make",
    "the model's catalog was changed, or another option turns Code Mode on",
)


@dataclass(frozen=True, slots=True)
class Court(Generic[S]):
    """The judge as a run needs it: pure functions over a state that belongs to one thread."""

    judge: Callable[[Call, S], tuple[Verdict, S]]
    observe: Callable[[Result, S], S]
    start: S


@dataclass(frozen=True, slots=True)
class Refused:
    """The request is answered by us, in the form which this harness does not retry."""

    answer: Answer
    rows: tuple[Record, ...] = ()
    stops: str = ""  # why the whole run cannot go on, for the operator


@dataclass(frozen=True, slots=True)
class Admitted:
    """The request goes upstream; `cuts` are the pointers of declarations that leave it."""

    intake: Intake
    judge: Callable[[Call], Verdict]
    continuations: int = 0
    cuts: tuple[str, ...] = ()
    rows: tuple[Record, ...] = ()


@dataclass(slots=True)
class _Thread(Generic[S]):
    state: S
    observed: set[str] = field(default_factory=set)
    turn: str | None = None
    continuations: int = 0


class Run(Generic[S]):
    """One guarded run."""

    def __init__(self, profile: Profile, court: Court[S], run_id: str, options: Options, *, code_mode: bool = False) -> None:
        self.profile = profile
        self.options = options
        self._court = court
        self._id = run_id
        self._code_mode = code_mode
        self._codec = WIRES[profile.wire]
        self._threads: dict[tuple[str, str | None], _Thread[S]] = {}
        self._refused: dict[str, set[str]] = {}
        self._hosted: set[tuple[str, str]] = set()
        self._count = 0

    def next_id(self) -> str:
        """An id for a request of this run."""
        self._count += 1
        return f"{self._count}"

    def unreadable(self, why: str) -> Refused:
        """A request of which not even the body can be read."""
        return self._refuse({"request": self.next_id()}, why)

    def admit(self, headers: Mapping[str, str], body: Any) -> Admitted | Refused:
        """Admit or refuse a parsed request. `headers` has lower-case names."""
        request_id = self.next_id()
        if not isinstance(body, dict):
            return self._refuse({"request": request_id}, "the request is not a JSON object")
        try:
            intake = read_intake(self.profile, headers, body, run=self._id, request_id=request_id)
        except ViolationError as error:
            return self._refuse({"request": request_id}, str(error))
        if not self._code_mode and any(self._hides_calls(tool.name, tool.namespace) for tool in intake.request.declared):
            why, hint = CODE_MODE
            return self._refuse(intake.row(), why, stops=f"{why}: {hint}")
        thread = self._thread(intake)
        came_back = self._refused.get(intake.session, set()).intersection(result.call_id for result in intake.request.results)
        if came_back:
            why = f"the request shows a result of the refused call `{min(came_back)}`, so something ran it past the guard"
            return self._refuse(intake.row(), why, stops=why)
        self._observe(thread, intake)
        cuts, hosted = self._judge_hosted(thread, intake)
        return Admitted(
            intake,
            lambda call: self._judge(thread, intake.session, call),
            thread.continuations,
            cuts,
            (Record("request", intake.row()), *hosted),
        )

    def settle(self, intake: Intake, outcome: Outcome) -> None:
        """What became of an admitted request's answer."""
        if outcome.form is Carriage.CONTINUE:
            self._thread(intake).continuations += 1

    def _hides_calls(self, name: str, namespace: str | None) -> bool:
        tool = self.profile.find(name, namespace)
        return tool is not None and tool.has(Role.SCRIPT_CODE_MODE)

    def _thread(self, intake: Intake) -> _Thread[S]:
        key = (intake.session, intake.thread)
        thread = self._threads.get(key)
        if thread is None:
            thread = self._threads[key] = _Thread(self._court.start)
        if thread.turn != intake.turn:
            thread.turn, thread.continuations = intake.turn, 0
        return thread

    def _observe(self, thread: _Thread[S], intake: Intake) -> None:
        for result in intake.request.results:
            if result.call_id not in thread.observed:
                thread.observed.add(result.call_id)
                thread.state = self._court.observe(result, thread.state)

    def _judge(self, thread: _Thread[S], session: str, call: Call) -> Verdict:
        verdict, thread.state = self._court.judge(call, thread.state)
        # A model may use an id again: its newest verdict counts, and so does its newest result.
        if call.id:
            refused = self._refused.setdefault(session, set())
            (refused.discard if verdict.released else refused.add)(call.id)
        thread.observed.discard(call.id)
        return verdict

    def _judge_hosted(self, thread: _Thread[S], intake: Intake) -> tuple[tuple[str, ...], tuple[Record, ...]]:
        """Hosted tools are judged where they are declared. Each distinct verdict is told once."""
        cuts: list[str] = []
        told: list[Record] = []
        for tool in intake.request.hosted:
            call = tool.as_call()
            verdict, _ = self._court.judge(call, thread.state)
            if not verdict.released:
                cuts.append(tool.pointer)
            key = (call.spelling, verdict.outcome.value)
            if key not in self._hosted:
                self._hosted.add(key)
                row = rows.decision(call, verdict, self.profile, self.options.policy_digest)
                told.append(Record("decision", {**intake.owner, **row, "declared": True, "aux": True}))
        return tuple(cuts), tuple(told)

    def _refuse(self, row: Mapping[str, Any], why: str, stops: str = "") -> Refused:
        stop = self.profile.stop
        answer = Answer(stop.status, JSON, self._codec.error(stop.code, f"[checkrein] {why}"))
        return Refused(answer, (Record("request", {**row, "refused": why}),), stops)
