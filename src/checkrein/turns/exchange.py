"""The gateway exchange: one answer of a provider on its way to one harness.

The machine is fed what comes from upstream and yields commands. Text leaves as it comes, as the very bytes that came. A call
is held from the first event that speaks of it until it is complete and judged; what comes behind a held event waits, so the
order on the wire never changes.

INVARIANT: nothing refused -> the bytes sent are the bytes fed, keep-alives taken out, whatever the chunking.
INVARIANT: the bytes of a call are sent only after its verdict said `released`, was recorded, and a `Sync` stood in between.
INVARIANT: whatever fails here ends in a refusal.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from enum import Enum, auto
from typing import Any, NamedTuple

from checkrein.profiles.schema import Carriage, Profile
from checkrein.turns import rows
from checkrein.turns.carriage import AGAIN, Budget, Left, choose, note, refusal
from checkrein.turns.intake import Intake
from checkrein.vocab.calls import Call
from checkrein.vocab.commands import Answer, Command, Finish, Record, Send, Start, Sync
from checkrein.vocab.reasons import Reason
from checkrein.vocab.verdicts import Verdict
from checkrein.wire import WIRES, sse, strict
from checkrein.wire.codec import End, Step, ViolationError

Judge = Callable[[Call], Verdict]
Headers = Iterable[tuple[bytes, bytes]]

# Headers that speak of one connection or of a length which a refusal changes, and one that names another place.
HOP = frozenset(
    b"connection keep-alive proxy-authenticate proxy-authorization proxy-connection te trailer transfer-encoding upgrade "
    b"content-length alt-svc".split()
)
JSON = ((b"content-type", b"application/json"),)


@dataclass(frozen=True, slots=True)
class Options:
    """Bounds of one exchange. `continue_limit` overrides the profile's. `keep_alive_limit` is how many keep-alives in a row
    are sent while upstream is silent: after that the harness's own idle timer decides, as it would without a guard.
    """

    continue_limit: int | None = None
    keep_alive_limit: int = 20
    event_limit: int = 16 * 1024 * 1024
    held_limit: int = 32 * 1024 * 1024
    body_limit: int = 64 * 1024 * 1024
    policy_digest: str = ""


class Phase(Enum):
    WAITING = auto()  # for the head of the answer
    STREAM = auto()
    WHOLE = auto()  # one JSON document, collected
    PASSING = auto()  # an HTTP error: no harness runs calls from it
    ENDED = auto()  # the last event has left; what may follow executes nothing
    DONE = auto()


class _Held(NamedTuple):
    frame: sse.Frame
    event: Any
    step: Step | None


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of the exchange, for whoever counts. `form` is that of the refusals, None without any."""

    released: tuple[Call, ...] = ()
    refused: tuple[tuple[Call, Verdict], ...] = ()
    form: Carriage | None = None
    complete: bool = False
    broken: Reason | None = None


class Exchange:
    """One request's answer. `judge` gives the verdict on one call; `continuations` counts those already asked for in this turn."""

    def __init__(
        self, profile: Profile, judge: Judge, intake: Intake, options: Options | None = None, continuations: int = 0
    ) -> None:
        self._profile = profile
        self._judge = judge
        self._intake = intake
        self._options = options or Options()
        codec = WIRES[profile.wire]
        self._codec = codec
        self._reader = codec.reader(profile.passive, intake.request)
        self._writer = codec.writer(self._reader)
        self._decoder = sse.Decoder(self._options.event_limit)
        limit = profile.denial.continue_limit if self._options.continue_limit is None else self._options.continue_limit
        self._budget = Budget(continues=limit - continuations)
        self._phase = Phase.WAITING
        self._started = False
        self._status = 200
        self._headers: tuple[tuple[bytes, bytes], ...] = ()
        self._body = bytearray()
        self._queue: deque[_Held] = deque()
        self._held = 0  # bytes in the queue
        self._may: dict[int, bool] = {}  # by slot: may its events leave
        self._calls: dict[int, tuple[Call, Verdict]] = {}
        self._uncarried: dict[int, Call] = {}  # judged, but not known to have left
        self._last: Any = None  # the last event that left
        self._ticks = 0
        self._out: list[Command] = []
        self._bytes: list[bytes] = []
        self._unsynced = False
        self._outcome = Outcome()

    # What the driver calls.

    @property
    def outcome(self) -> Outcome:
        """What became of it so far."""
        calls = self._calls.values()
        return replace(
            self._outcome,
            released=tuple(call for call, verdict in calls if verdict.released),
            refused=tuple((call, verdict) for call, verdict in calls if not verdict.released),
        )

    @property
    def holding(self) -> bool:
        """Something waits for a verdict, so `tick` has something to do."""
        return self._phase is Phase.STREAM and bool(self._queue)

    @property
    def done(self) -> bool:
        """No call of the driver will yield anything more."""
        return self._phase is Phase.DONE

    def head(self, status: int, headers: Headers) -> list[Command]:
        """Upstream's status and headers."""
        return self._run(lambda: self._head(status, headers))

    def feed(self, data: bytes) -> list[Command]:
        """Bytes of upstream's body, in any chunking."""
        self._ticks = 0
        return self._run(lambda: self._feed(data))

    def end(self) -> list[Command]:
        """Upstream's body is over."""
        return self._run(self._end)

    def fail(self, why: str) -> list[Command]:
        """Upstream cannot be reached, was cut off, or fell silent for too long."""
        return self._run(lambda: self._fail(why))

    def tick(self) -> list[Command]:
        """Time passes: keep the client's idle timer from running out while something is held."""
        if not self.holding or not self._profile.keep_alive or self._ticks >= self._options.keep_alive_limit:
            return []
        self._ticks += 1
        return [Send(self._writer.alive(self._profile.keep_alive, self._reader.response, self._last))]

    def gone(self, unperformed: Sequence[Command] = ()) -> list[Command]:
        """The client has disconnected. `unperformed` are the commands that could not be performed, in their order."""
        if not unperformed and self._phase in (Phase.ENDED, Phase.DONE):
            ended, self._phase = self._phase is Phase.ENDED, Phase.DONE
            return [Finish()] if ended else []
        self._phase = Phase.DONE
        self._queue.clear()
        kept: list[Command] = []
        for command in unperformed:
            if isinstance(command, Record) and command.fields.get("form") == "released":
                kept.append(Record(command.kind, {**command.fields, "form": "undelivered"}))
            elif isinstance(command, (Record, Sync)):
                kept.append(command)
        self._out = kept
        self._leave_behind("undelivered")
        self._record("upstream", rows.upstream("gone", "the client disconnected"))
        return [*self._taken(), Sync(), Finish()]

    def unrecorded(self, why: str, unperformed: Sequence[Command] = ()) -> list[Command]:
        """A record could not be made durable, so nothing may be released any more. Yields no further records."""
        started = self._started and not any(isinstance(command, Start) for command in unperformed)
        said = self._phase is Phase.ENDED and not any(isinstance(command, Send) for command in unperformed)
        self._phase = Phase.DONE
        self._queue.clear()
        self._outcome = replace(self._outcome, broken=Reason.INTERNAL_ERROR)
        if said:
            return [Finish()]
        return [*self._terminal(f"the journal could not be written ({why})", Reason.INTERNAL_ERROR, started=started), Finish()]

    # Feeding.

    def _run(self, step: Callable[[], None]) -> list[Command]:
        if self._phase is Phase.DONE:
            return []
        try:
            step()
        except ViolationError as error:
            self._break(str(error), error.reason)
        except Exception as error:
            self._break(f"{type(error).__name__} while reading the answer", Reason.INTERNAL_ERROR)
        return self._taken()

    def _head(self, status: int, headers: Headers) -> None:
        if self._phase is not Phase.WAITING:
            return
        given = [(name.lower(), value) for name, value in headers]
        kinds = {value.split(b";")[0].strip().lower() for name, value in given if name == b"content-type"}
        coded = {value.strip().lower() for name, value in given if name == b"content-encoding"} - {b"identity", b""}
        self._status = status
        if status >= 400:
            # The length may stay: these bytes are not changed.
            self._start(Phase.PASSING, tuple((n, v) for n, v in given if n not in HOP or n == b"content-length"))
            self._record("upstream", rows.upstream("status", status=status))
            return
        self._headers = tuple((name, value) for name, value in given if name not in HOP)
        if not 200 <= status < 300:
            raise ViolationError(f"the provider answered with status {status}, which leads elsewhere")
        if coded:
            raise ViolationError("the provider sent an encoded answer although none was asked for")
        if self._intake.request.stream and kinds <= {b"text/event-stream"}:
            self._start(Phase.STREAM, self._headers)
        elif not self._intake.request.stream and kinds <= {b"application/json"}:
            self._phase = Phase.WHOLE
        else:
            raise ViolationError("the provider answered with another content type than was asked for")

    def _start(self, phase: Phase, headers: tuple[tuple[bytes, bytes], ...]) -> None:
        self._phase, self._started = phase, True
        self._out.append(Start(self._status, headers))

    def _feed(self, data: bytes) -> None:
        if self._phase is Phase.PASSING:
            self._bytes.append(data)
        elif self._phase is Phase.WHOLE:
            self._body += data
            if len(self._body) > self._options.body_limit:
                raise ViolationError(f"the answer is larger than {self._options.body_limit} bytes", Reason.OVERSIZE)
        elif self._phase in (Phase.STREAM, Phase.ENDED):
            for frame in self._decoder.feed(data):
                self._frame(frame)
            if self._decoder.overflow:
                raise ViolationError(f"an event is larger than {self._options.event_limit} bytes", Reason.OVERSIZE)

    def _frame(self, frame: sse.Frame) -> None:
        event, step = None, None
        if frame.data is not None and frame.data != b"[DONE]":
            try:
                event = strict.loads(frame.data)
            except strict.StrictError as error:
                raise ViolationError(f"the data of an event {error}") from None
            step = self._reader.read(event)
            if step is not None and self._phase is Phase.ENDED:
                raise ViolationError("the answer goes on after its last event")
        if step is None and not self._queue:  # the common case: text
            self._bytes.append(frame.raw if self._writer.untouched else self._writer.flow(frame, event, None))
            self._last = event or self._last
            return
        self._queue.append(_Held(frame, event, step))
        self._held += len(frame.raw)
        if step is not None:
            self._decide(step)
        self._drain()
        if self._held > self._options.held_limit:
            raise ViolationError(f"calls of more than {self._options.held_limit} bytes are held", Reason.OVERSIZE)

    def _decide(self, step: Step) -> None:
        for slot, call in step.closed:
            verdict = self._verdict(call)
            self._may[slot] = verdict.released is True
            self._calls[slot] = (call, verdict)
            self._uncarried[slot] = call
            if not self._may[slot]:
                self._writer.refuse(slot, call, note(call, verdict))
            self._record("decision", rows.decision(call, verdict, self._profile, self._options.policy_digest), durable=True)
        for slot in step.freed:
            self._may[slot] = True
        if step.end is not None:
            # What is still open now never becomes a call: an unfinished one is dropped, an event of no call may leave.
            unfinished = {slot for slot, _ in self._reader.opened()}
            for held in self._queue:
                for slot in held.step.owners if held.step else ():
                    self._may.setdefault(slot, slot not in unfinished)

    def _verdict(self, call: Call) -> Verdict:
        try:
            verdict: object = self._judge(call)
        except Exception as error:
            return refusal(call, self._profile.name, Reason.INTERNAL_ERROR, type(error).__name__)
        if not isinstance(verdict, Verdict):
            return refusal(call, self._profile.name, Reason.INTERNAL_ERROR, "the judge gave no verdict")
        return verdict

    def _drain(self) -> None:
        """Everything leaves from the front of the queue that waits for no verdict."""
        while self._queue:
            frame, event, step = self._queue[0]
            owners = step.owners if step is not None else ()
            if any(slot not in self._may for slot in owners):
                return
            self._queue.popleft()
            self._held -= len(frame.raw)
            refused = next((slot for slot in owners if not self._may[slot]), None)
            if step is not None and step.end is not None:
                self._finish(frame, event, step)
            elif refused is None:
                self._bytes.append(self._writer.flow(frame, event, step))
            elif refused in self._calls:
                self._bytes.append(self._writer.replace(frame, event, refused))
            else:
                self._writer.drop(event)
            self._last = event or self._last
            for slot, call in step.closed if step is not None else ():
                if self._may[slot]:
                    self._carry(slot, call, "released")

    def _finish(self, frame: sse.Frame, event: Any, step: Step) -> None:
        form = self._form(complete=step.end is End.COMPLETE)
        self._report(step, form)
        self._bytes.append(self._writer.last(frame, event, step, again=AGAIN[form] if form else None))
        self._phase = Phase.ENDED

    def _form(self, *, complete: bool) -> Carriage | None:
        """The form in which this answer's refusals are carried, None without any."""
        if all(self._may[slot] for slot in self._calls):
            return None
        left = Left.SOME if any(self._may[slot] for slot in self._calls) else Left.NONE
        return choose(self._profile.denial, left, self._budget if complete else Budget())

    def _report(self, step: Step, form: Carriage | None) -> None:
        self._outcome = replace(self._outcome, form=form, complete=step.end is End.COMPLETE)
        for slot, call in list(self._uncarried.items()):
            if form is not None and not self._may[slot]:
                self._carry(slot, call, form.value)
        if step.usage:
            self._record("usage", rows.usage(self._reader.response, self._intake.request.model, step.usage))
        if step.end is End.FAILED:
            self._record("upstream", rows.upstream("failed", step.why))

    # Ends.

    def _end(self) -> None:
        if self._phase is Phase.WHOLE:
            self._whole()
        elif self._phase in (Phase.STREAM, Phase.ENDED):
            for frame in self._decoder.end():
                if self._is_whole(frame):
                    self._frame(frame)
        if self._phase in (Phase.WAITING, Phase.STREAM):
            self._fail("the answer ended before its last event")
        else:
            self._close()

    def _is_whole(self, frame: sse.Frame) -> bool:
        """A last frame without its blank line counts if it is an event, else it is the torn end of a stream that was cut."""
        if frame.data is None:
            return all(line.startswith(b":") for line in frame.raw.splitlines() if line)
        try:
            return frame.data == b"[DONE]" or strict.loads(frame.data) is not None
        except strict.StrictError:
            return False

    def _whole(self) -> None:
        try:
            answer = strict.loads(bytes(self._body))
        except strict.StrictError as error:
            raise ViolationError(f"the data of the answer {error}") from None
        step = self._reader.whole(answer)
        self._decide(step)
        form = self._form(complete=True)
        self._flush_sync()
        self._start(Phase.ENDED, self._headers)
        body = bytes(self._body) if form is None else self._writer.whole(answer, step, again=AGAIN[form])
        self._bytes.append(body)
        for slot, call in step.closed:
            if self._may[slot]:
                self._carry(slot, call, "released")
        self._report(step, form)

    def _fail(self, why: str) -> None:
        if self._phase is Phase.ENDED:
            self._close()
            return
        held = [{"call_id": call.id, "tool": call.name, "namespace": call.namespace} for _, call in self._reader.opened()]
        self._record("upstream", rows.upstream("cut" if self._started else "unreached", why, held=held))
        self._leave_behind("undelivered")
        if self._phase in (Phase.WAITING, Phase.WHOLE):
            self._out.append(Answer(502, JSON, self._codec.error("upstream_unreachable", f"[checkrein] {why}")))
        self._close()

    def _break(self, why: str, reason: Reason) -> None:
        """The answer cannot be trusted: it ends in the form which this harness does not retry, and nothing held leaves."""
        for slot, call in self._reader.opened():
            verdict = refusal(call, self._profile.name, reason, why)
            self._calls[slot], self._may[slot], self._uncarried[slot] = (call, verdict), False, call
            self._record("decision", rows.decision(call, verdict, self._profile, self._options.policy_digest), durable=True)
        if not self._uncarried:
            self._record("carried", rows.carried(None, Carriage.ERROR.value, reason))
        self._leave_behind(Carriage.ERROR.value)
        self._record("upstream", rows.upstream("refused", why, reason=reason.value), durable=True)
        self._outcome = replace(self._outcome, form=Carriage.ERROR, broken=reason)
        if self._phase is not Phase.ENDED:
            self._flush_sync()
            self._out += self._terminal(why, reason, started=self._started)
        self._close()

    def _terminal(self, why: str, reason: Reason, *, started: bool) -> list[Command]:
        stop = self._profile.stop
        # The harness shows this to its user, so it is the operator's sentence, not the model's.
        message = f"[checkrein] {refusal(Call(''), self._profile.name, reason, why).remedy}"
        if not started:
            return [Answer(stop.status, JSON, self._codec.error(stop.code, message))]
        return [Send(self._writer.failed(stop.event, self._reader.response, stop.code, message, self._last))]

    def _leave_behind(self, form: str) -> None:
        """What was judged but has not left is told so."""
        for slot, call in list(self._uncarried.items()):
            self._carry(slot, call, form)

    def _close(self) -> None:
        self._flush()
        self._queue.clear()
        self._phase = Phase.DONE
        self._out.append(Finish())

    # Commands.

    def _carry(self, slot: int, call: Call, form: str) -> None:
        self._uncarried.pop(slot, None)
        self._record("carried", rows.carried(call, form, self._calls[slot][1].reason))

    def _record(self, kind: str, fields: dict[str, Any], *, durable: bool = False) -> None:
        """A row, after whatever left before it. A durable one is on disk before anything else leaves."""
        self._flush()
        self._out.append(Record(kind, {**self._intake.owner, **fields}))
        self._unsynced = self._unsynced or durable

    def _flush_sync(self) -> None:
        self._flush()
        if self._unsynced:
            self._out.append(Sync())
            self._unsynced = False

    def _flush(self) -> None:
        """INVARIANT: no `Send` follows a durable record without a `Sync` in between."""
        data = b"".join(self._bytes)
        self._bytes.clear()
        if data:
            if self._unsynced:
                self._out.append(Sync())
                self._unsynced = False
            self._out.append(Send(data))

    def _taken(self) -> list[Command]:
        self._flush()
        out, self._out = self._out, []
        return out
