"""One stateless request, run over a lease: the requests that it sends, the events that it takes, the chunks that it gives.

Sans-IO: every method returns the commands that an edge must perform, in order. The edge reports replies by their tag, events
of the thread, silence, and the death of the process; it never decides anything.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from checkrein.replay.catalog import Catalog
from checkrein.replay.fold import Entry, fold
from checkrein.replay.history import History, build, complete
from checkrein.replay.items import own_id, text_field
from checkrein.replay.sent import Sent
from checkrein.replay.versions import State as ReplayState
from checkrein.replay.versions import encode
from checkrein.turns import reports
from checkrein.turns.lease import Epoch, Lease, Move
from checkrein.turns.plan import Answer, Cold, Inject, Input, Plan, decide
from checkrein.turns.trajectory import Out, Reply, Trajectory, TurnEnd
from checkrein.vocab.errors import UsageError
from checkrein.vocab.messages import Category, CodexAction, Failure, FailureCode, Phase, Request
from checkrein.vocab.stream import Assembly, Chunk, Finish, FinishReason, Restart
from checkrein.wire import appserver
from checkrein.wire.appserver import KEPT_BY_CODEX, Setup, tool_answer
from checkrein.wire.appserver_errors import failure_of
from checkrein.wire.jsonrpc import INVALID_REQUEST, RpcFault, RpcNotification, RpcRequest


@dataclass(frozen=True, slots=True)
class Server:
    """What is known of the process that serves a step. `note` is said in every report."""

    version: str
    user_agent: str
    provider: str
    setup: Setup
    note: str = ""


class Tag(StrEnum):
    """The requests of a step, by what their replies mean to it."""

    THREAD = "thread/start"
    INJECT = "thread/inject_items"
    TURN = "turn/start"
    STEER = "turn/steer"
    INTERRUPT = "turn/interrupt"


THREAD_START = Tag.THREAD.value


@dataclass(frozen=True, slots=True)
class Ask:
    """Send a request; its reply comes back under the tag."""

    tag: Tag
    params: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Claim:
    """From now on the events of this thread belong to the lease, those that came early first."""

    thread: str


@dataclass(frozen=True, slots=True)
class Leave:
    """The thread is not needed any more."""

    thread: str
    turn: str | None


@dataclass(frozen=True, slots=True)
class Emit:
    chunk: Chunk


@dataclass(frozen=True, slots=True)
class Arm:
    """Call `quiet` when nothing has come for so many milliseconds; None: never. The newest counts."""

    ms: int | None


@dataclass(frozen=True, slots=True)
class Reopen:
    """The process is gone: find another and call `rebuild` with it."""


@dataclass(frozen=True, slots=True)
class Done:
    """The request is over; its lease is idle, waiting or disposed."""


Command = Ask | Claim | Leave | Emit | Arm | Reopen | Reply | Done


class Step:
    """The machine of one request. Raises `UsageError` for a request that cannot be sent, `BusyError` for a second writer."""

    def __init__(self, request: Request, lease: Lease, server: Server) -> None:
        if request.one_shot and request.tools:
            raise UsageError("a one-shot request cannot have tools", "nobody would be there to answer its calls")
        self.request = request
        self.lease = lease
        self.server = server
        try:
            self.catalog = Catalog(request.tools, request.skills)
            self.history = self._build(lease.history)
            self.digest = self.catalog.digest()
        except TypeError as error:
            raise UsageError(f"the request holds something that is no JSON: {error}") from error
        lease.move(Move.BEGIN)
        self.assembly = Assembly()
        self.plan: Plan | None = None
        self.steers: list[Input] = []
        self.rebuilt = False
        self.replayed = True
        self.ending: Failure | None = None
        self.interrupting = False
        self.answering = False
        self.armed = False
        self.over = False

    # What the edge calls

    def start(self) -> list[Command]:
        """Begin: continue the lease's thread, or start another."""
        return self._finishing(self._start())

    def rebuild(self, server: Server) -> list[Command]:
        """Begin again on another process, after `Reopen`."""
        self.server = server
        return self._finishing(self._cold("the process that served the session ended"))

    def reply(self, tag: Tag, result: Any) -> list[Command]:
        result = result if isinstance(result, dict) else {}
        return self._finishing(self._replied(tag, result))

    def refused(self, tag: Tag, fault: RpcFault) -> list[Command]:
        return self._finishing(self._refused(tag, fault))

    def event(self, message: RpcNotification | RpcRequest) -> list[Command]:
        """An event or a server request of the lease's thread."""
        return self._finishing(self._event(message))

    def notice(self, message: RpcNotification) -> list[Command]:
        """An event of the whole process that a reader of this session should see."""
        if self.over or self.lease.trajectory is None:
            return []
        return self._finishing(self._out(self.lease.trajectory.feed(message)))

    def quiet(self) -> list[Command]:
        """The silence that was armed has come."""
        return self._finishing(self._hand_over())

    def end(self, failure: Failure) -> list[Command]:
        """Stop: interrupt the turn if one runs, then finish with this failure."""
        return self._finishing(self._end(failure))

    def abandon(self) -> list[Command]:
        """The interrupt did not help in time."""
        return self._finishing(self._finish_failed(self.ending or Failure(FailureCode.ABORTED, "the request was given up")))

    def died(self, why: str) -> list[Command]:
        """The process is gone, and with it the thread."""
        return self._finishing(self._died(why))

    # Beginning

    def _build(self, before: History | None = None, *, replay: bool = True) -> History:
        setup = self.server.setup
        return build(self.request.messages, setup.namespace, self.server.provider, replay=replay, before=before)

    def _epoch(self) -> Epoch:
        request = self.request
        return Epoch(
            self.server.version,
            request.model,
            request.effort,
            request.system,
            self.digest,
            self.server.setup,
            self.server.provider,
        )

    def _start(self) -> Iterator[Command]:
        trajectory = self.lease.trajectory
        pending = list(trajectory.pending.values()) if trajectory else []
        self.plan = decide(self.lease, pending, self._epoch(), self.history, self.request.messages)
        if isinstance(self.plan, Cold) or trajectory is None:
            yield from self._cold(self.plan.why if isinstance(self.plan, Cold) else "nothing is known of the thread")
            return
        trajectory.begin(self.catalog)
        assert self.lease.thread is not None
        yield from self._advice()
        match self.plan:
            case Input(text, own):
                trajectory.sent.input(text, own)
                yield from self._turn(text)
            case Inject(items):
                trajectory.sent.inject(items)
                yield Ask(Tag.INJECT, appserver.inject(self.lease.thread, items))
            case Answer(steers):
                self.steers = list(steers)
                self.answering = True
                yield from self._steer_or_answer()
        yield from self._held()

    def _cold(self, why: str) -> Iterator[Command]:
        """Leave what there is, and start a thread of our own."""
        lease = self.lease
        self.plan = Cold(why)
        self.answering = False
        held, gone = list(lease.held), lease.thread
        if lease.thread is not None:
            yield Leave(lease.thread, lease.turn)
        lease.forget()
        lease.epoch = self._epoch()
        sent = Sent(self.server.setup.namespace, self.request.system, self.catalog.check)
        lease.trajectory = Trajectory(sent, self.catalog, self.server.note)
        # The indices of one stream go on, whatever happens to its threads.
        lease.trajectory.blocks.count = len(self.assembly.order.seen)
        if gone is not None and held:
            events = [{"method": message.method, "params": message.params} for message in held]
            yield from self._report(
                Category.DIAGNOSTIC,
                "abandoned-thread",
                gone,
                {"events": events},
                "the thread went on without the session; what it did is told here and not replayed",
            )
        for note in self.history.notes:
            yield from self._report(Category.DIAGNOSTIC, "replay", "replay", {"note": note}, note)
        yield from self._advice()
        params = appserver.thread_start(self.server.setup, self.request.model, self.request.system, self.catalog.declarations())
        yield Ask(Tag.THREAD, params)

    def _advice(self) -> Iterator[Command]:
        if self.request.max_tokens is not None and not self.rebuilt:
            note = "the provider has no limit of output tokens; the answer may be longer"
            yield from self._report(
                Category.DIAGNOSTIC, "max-tokens", "max-tokens", {"maxTokens": self.request.max_tokens}, note
            )

    def _opened(self, result: Mapping[str, Any]) -> Iterator[Command]:
        thread = result.get("thread")
        ident = text_field(thread, "id") if isinstance(thread, dict) else ""
        if not ident:
            yield from self._finish_failed(Failure(FailureCode.PROTOCOL, "`thread/start` brought no thread"))
            return
        self.lease.thread = ident
        yield Claim(ident)
        sources = result.get("instructionSources")
        snapshot = {
            "threadId": ident,
            "userAgent": self.server.user_agent,
            "ownership": "layered",
            "why": self.plan.why if isinstance(self.plan, Cold) else "",
            "keptByCodex": list(KEPT_BY_CODEX),
            "mutedServers": list(self.server.setup.muted_servers),
            "instructionSources": sources if isinstance(sources, list) else [],
            "model": result.get("model"),
            "modelProvider": result.get("modelProvider"),
            "sandbox": result.get("sandbox"),
            "approvalPolicy": result.get("approvalPolicy"),
        }
        note = "Codex co-owns the prompt and the tools of this thread"
        if sources:
            note += "; it adds instructions from its own home, which nothing here can prevent"
        yield from self._act(
            CodexAction(Category.LIFECYCLE, Phase.COMPLETED, THREAD_START, ident, THREAD_START, snapshot, note)
        )
        if self.ending is not None:
            yield from self._finish_failed(self.ending)
            return
        items, notes = complete(self.history)
        for said in notes:
            yield from self._report(Category.DIAGNOSTIC, "history", "history", {"note": said}, said)
        if not items:
            yield from self._turn(None)
            return
        assert self.lease.trajectory is not None
        self.lease.trajectory.sent.inject(items)
        yield Ask(Tag.INJECT, appserver.inject(ident, items))

    def _turn(self, text: str | None) -> Iterator[Command]:
        assert self.lease.thread is not None
        yield Ask(Tag.TURN, appserver.turn_start(self.lease.thread, text, self.request.effort, self.server.setup.summary))

    def _steer_or_answer(self) -> Iterator[Command]:
        """Every steer is in before the first answer, so that the model sees results and messages at once, in order."""
        lease, trajectory = self.lease, self.lease.trajectory
        assert lease.thread is not None and trajectory is not None and isinstance(self.plan, Answer)
        if self.steers:
            steer = self.steers.pop(0)
            trajectory.sent.input(steer.text, steer.own)
            yield Ask(Tag.STEER, appserver.steer(lease.thread, lease.turn or "", steer.text))
            return
        self.answering = False
        trajectory.answered()
        for pending, result in self.plan.results:
            trajectory.sent.answer(pending.call, own_id("function_call_output", pending.call))
            yield Reply(pending.rpc, tool_answer(result))

    def _held(self) -> Iterator[Command]:
        held, self.lease.held = self.lease.held, []
        for message in held:
            yield from self._event(message)

    # Going on

    def _replied(self, tag: Tag, result: Mapping[str, Any]) -> Iterator[Command]:
        if self.over:
            return
        match tag:
            case Tag.THREAD:
                yield from self._opened(result)
            case Tag.INJECT:
                if self.ending is not None:
                    yield from self._finish_failed(self.ending)
                else:
                    yield from self._turn(None)
            case Tag.TURN:
                turn = result.get("turn")
                ident = text_field(turn, "id") if isinstance(turn, dict) else ""
                self._runs(ident)
                yield from self._interrupt()
            case Tag.STEER:
                if self.ending is None:
                    yield from self._steer_or_answer()
                    yield from self._settle()
            case Tag.INTERRUPT:
                pass

    def _refused(self, tag: Tag, fault: RpcFault) -> Iterator[Command]:
        if self.over:
            return
        said = {"method": tag.value, "error": {"code": fault.code, "message": fault.message, "data": fault.data}}
        if tag is Tag.INTERRUPT:
            # The turn may not have begun yet, or be over already; its own events will tell.
            self.interrupting = False
            return
        if self.ending is not None:
            yield from self._finish_failed(self.ending)
            return
        warm = not isinstance(self.plan, Cold)
        odd = tag is Tag.INJECT and fault.code == INVALID_REQUEST and self.replayed and not warm
        if (warm or odd) and not self.rebuilt:
            note = "the live thread was refused" if warm else "the server does not take the replayed items; they are rebuilt"
            yield from self._report(Category.DIAGNOSTIC, "refused", tag, said, note)
            self.rebuilt = True
            if odd:
                self.replayed = False
                self.history = self._build(replay=False)
            yield from self._cold(note)
            return
        code = FailureCode.INVALID_REQUEST if fault.code in {INVALID_REQUEST, -32602} else FailureCode.PROTOCOL
        yield from self._finish_failed(Failure(code, f"`{tag.value}` was refused: {fault.message}", None, said))

    def _event(self, message: RpcNotification | RpcRequest) -> Iterator[Command]:
        if self.over:
            self.lease.hold(message)
            return
        trajectory = self.lease.trajectory
        if trajectory is None:
            return
        yield from self._out(trajectory.feed(message))
        if isinstance(message, RpcNotification) and not self._is_over():
            if message.method == "turn/started":
                self._runs(trajectory.turn or "")
                yield from self._interrupt()
            if appserver.handling(message.method) is appserver.Handling.CLOSED:
                yield from self._finish_failed(Failure(FailureCode.TRANSPORT, "the server closed the thread"))
        yield from self._settle()

    def _settle(self) -> Iterator[Command]:
        """Hand over what has come, or wait for the silence that says that it is all."""
        trajectory = self.lease.trajectory
        if self._is_over() or trajectory is None:
            return
        patience = None if self.answering else trajectory.patience()
        if patience == 0:
            yield from self._hand_over()
        elif patience is not None or self.armed:
            self.armed = patience is not None
            yield Arm(patience)

    def _is_over(self) -> bool:
        return self.over

    def _out(self, outs: Iterable[Out]) -> Iterator[Command]:
        for out in outs:
            match out:
                case Reply():
                    yield out
                case TurnEnd(status, error):
                    yield from self._turn_ended(status, error)
                case _:
                    yield self._emit(out)

    def _runs(self, turn: str) -> None:
        if turn and self.lease.trajectory is not None:
            self.lease.turn = self.lease.trajectory.turn = turn

    # Ending

    def _hand_over(self) -> Iterator[Command]:
        trajectory = self.lease.trajectory
        if self.over or self.ending is not None or trajectory is None or trajectory.patience() is None:
            return
        for chunk in trajectory.hand_over():
            yield self._emit(chunk)
        yield from self._finish(FinishReason.TOOL_CALLS, None, Move.HAND_OVER)

    def _turn_ended(self, status: str, error: Any) -> Iterator[Command]:
        self.lease.turn = None
        if self.ending is not None:
            yield from self._finish_failed(self.ending)
        elif status == "completed":
            yield from self._finish(FinishReason.STOP, None, Move.COMPLETE)
        elif status == "interrupted":
            yield from self._finish_failed(Failure(FailureCode.ABORTED, "the turn was interrupted"))
        else:
            yield from self._finish_failed(failure_of(error))

    def _end(self, failure: Failure) -> Iterator[Command]:
        if self.over or self.ending is not None:
            return
        self.ending = failure
        yield from self._interrupt()

    def _interrupt(self) -> Iterator[Command]:
        if self.ending is None or self.interrupting or self.lease.turn is None or self.lease.thread is None:
            return
        self.interrupting = True
        yield Ask(Tag.INTERRUPT, appserver.interrupt(self.lease.thread, self.lease.turn))

    def _died(self, why: str) -> Iterator[Command]:
        if self.over:
            return
        trajectory = self.lease.trajectory
        if trajectory is not None:
            for chunk in trajectory.blocks.discard():
                yield self._emit(chunk)
        self.lease.thread = self.lease.turn = None
        if self.ending is not None:
            yield from self._finish_failed(self.ending)
        elif self.rebuilt:
            yield from self._finish_failed(Failure(FailureCode.TRANSPORT, f"the process ended twice: {why}"))
        else:
            self.rebuilt = True
            yield from self._report(
                Category.DIAGNOSTIC, "process-ended", "process", {"why": why}, "the step begins again on another process"
            )
            yield self._emit(Restart(why))
            yield Reopen()

    def _finish_failed(self, failure: Failure) -> Iterator[Command]:
        if self.over:
            return
        trajectory = self.lease.trajectory
        if trajectory is not None:
            for chunk in trajectory.blocks.discard():
                yield self._emit(chunk)
        reason = FinishReason.ABORTED if failure.code is FailureCode.ABORTED else FinishReason.ERROR
        yield from self._finish(reason, failure, Move.DROP)

    def _finish(self, reason: FinishReason, failure: Failure | None, move: Move) -> Iterator[Command]:
        lease, trajectory = self.lease, self.lease.trajectory
        state = ReplayState((), provider=self.server.provider, protocol=self.server.version)
        if trajectory is not None:
            state = ReplayState(
                trajectory.kept(),
                tuple(trajectory.context),
                dict(trajectory.aliases),
                self.server.provider,
                self.server.version,
            )
        replay = encode(state, self.assembly.message().content)
        if self.request.one_shot or trajectory is None or not trajectory.reusable:
            move = Move.DROP
        if move is Move.DROP:
            if lease.thread is not None:
                yield Leave(lease.thread, lease.turn)
            lease.forget()
        else:
            self._commit(state)
        lease.move(move)
        self.over = True
        yield self._emit(Finish(reason, failure, replay))
        yield Done()

    def _commit(self, state: ReplayState) -> None:
        """The lease's history is now what the next request's history must begin with."""
        lease = self.lease
        entries = fold(self.history.entries, (Entry(item) for item in state.items))
        lease.history = History(entries, {**self.history.aliases, **state.aliases}, (), self.history.parts, self.history.of)

    # Telling

    def _report(self, category: Category, name: str, ident: str, original: Mapping[str, Any], note: str) -> Iterator[Command]:
        yield from self._act(reports.of_ours(category, name, ident, original, note))

    def _act(self, action: CodexAction) -> Iterator[Command]:
        assert self.lease.trajectory is not None
        for chunk in self.lease.trajectory.report(action):
            yield self._emit(chunk)

    def _emit(self, chunk: Chunk) -> Emit:
        self.assembly.feed(chunk)
        return Emit(chunk)

    def _finishing(self, commands: Iterator[Command]) -> list[Command]:
        return list(commands)
