"""The embedded scripted model: what it says, turn by turn, whatever the wire.

A scenario is data (CONTRACTS). A `Player` is fed requests and gives replies; it reads no clock and no file. What is particular to
a wire is behind `Tongue`; `TONGUES` is the literal table.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from typing import Any, Protocol

from checkrein.profiles.schema import Wire
from checkrein.turns.scenario import Aux, Fault, FaultKind, Scenario, Spoken, Turn, When
from checkrein.turns.script_responses import ResponsesTongue
from checkrein.vocab.calls import NOTHING
from checkrein.vocab.errors import ProtocolError
from checkrein.wire.request import Request, at

_CLOSING = "The script has no further turn."


@dataclass(frozen=True, slots=True)
class Incoming:
    """One request as the edge read it. `headers` has lower-case names; `size` is the length of the body in bytes."""

    headers: Mapping[str, str]
    body: Mapping[str, Any]
    size: int = 0


@dataclass(frozen=True, slots=True)
class Part:
    """Bytes to send after waiting `delay` seconds."""

    data: bytes
    delay: float = 0.0


@dataclass(frozen=True, slots=True)
class Reply:
    """What the model answers. `cut` means that the connection breaks after the last part. `turn` is the number of the
    scenario's turn, from 1, or 0 for an auxiliary or closing answer.
    """

    status: int
    content_type: str
    parts: tuple[Part, ...]
    headers: Mapping[str, str] = field(default_factory=lambda: NOTHING)
    cut: bool = False
    delay: float = 0.0
    turn: int = 0


@dataclass(frozen=True, slots=True)
class Saying:
    """What a tongue puts on its wire. Every call has its id here, and arguments without placeholders."""

    number: int  # of the answer, from 1; ids are made from it
    model: str
    reasoning: str = ""
    text: str = ""
    calls: tuple[Spoken, ...] = ()
    usage: Mapping[str, int] = field(default_factory=lambda: NOTHING)
    ending: Fault | None = None  # a fault that is an end of the answer itself: failed or incomplete


class Tongue(Protocol):
    """One wire."""

    def request(self, body: Mapping[str, Any]) -> Request:
        """What the request says."""

    def auxiliary(self, incoming: Incoming, request: Request) -> str | None:
        """A text for a request that is no turn of the task (a title, a summary, a review), or None for a real turn."""

    def frames(self, saying: Saying) -> list[bytes]:
        """The answer as a stream of frames."""

    def whole(self, saying: Saying) -> bytes:
        """The answer as one JSON document."""

    def error_frame(self, code: str, message: str) -> bytes:
        """An error event in the stream."""

    def error_body(self, code: str, message: str) -> bytes:
        """The JSON body of an HTTP error."""


TONGUES: Mapping[Wire, Tongue] = {Wire.RESPONSES: ResponsesTongue()}


class Player:
    """Plays one scenario on one wire."""

    def __init__(self, scenario: Scenario, tongue: Tongue) -> None:
        self.scenario = scenario
        self._tongue = tongue
        self._spent: set[int] = set()
        self._number = 0

    @property
    def left(self) -> int:
        """How many turns have not been played."""
        return len(self.scenario.turns) - len(self._spent)

    def answer(self, incoming: Incoming) -> Reply:
        """The reply to one request. Auxiliary requests use up no turn."""
        request = self._tongue.request(incoming.body)
        for aux in self.scenario.aux:
            if aux.when != When() and _holds(aux.when, incoming, request):
                return self._say(Turn(text=aux.text), incoming, request, 0)
        if (text := self._tongue.auxiliary(incoming, request)) is not None:
            plain = next((aux for aux in self.scenario.aux if aux.when == When()), Aux(text=text))
            return self._say(Turn(text=plain.text), incoming, request, 0)
        index = self._next(incoming, request)
        if index is None:
            return self._say(Turn(text=self.scenario.closing or _CLOSING), incoming, request, 0)
        return self._say(self.scenario.turns[index], incoming, request, index + 1)

    def _next(self, incoming: Incoming, request: Request) -> int | None:
        turns = self.scenario.turns
        for index, turn in enumerate(turns):
            if index not in self._spent and _holds(turn.when, incoming, request):
                self._spent.add(index)
                return index
        last = len(turns) - 1
        return last if self.scenario.loop and last >= 0 and _holds(turns[last].when, incoming, request) else None

    def _say(self, turn: Turn, incoming: Incoming, request: Request, number: int) -> Reply:
        fault = turn.fault
        if fault is not None and fault.kind is FaultKind.HTTP:
            body = fault.body.encode() if fault.body is not None else self._tongue.error_body(fault.code, fault.message)
            return Reply(fault.status, "application/json", (Part(body),), fault.headers, delay=fault.seconds, turn=number)
        self._number += 1
        results = {result.call_id: result.text for result in request.results}
        calls = tuple(_filled(call, results, f"call_{self._number:04d}_{rank}") for rank, call in enumerate(turn.calls, 1))
        ending = fault if fault is not None and fault.kind in {FaultKind.FAILED, FaultKind.INCOMPLETE} else None
        usage = turn.usage or _usage(incoming.size, turn)
        saying = Saying(self._number, request.model, turn.reasoning, turn.text, calls, usage, ending)
        if not request.stream:
            return Reply(200, "application/json", (Part(self._tongue.whole(saying)),), turn=number)
        return self._streamed(self._tongue.frames(saying), fault, number)

    def _streamed(self, frames: list[bytes], fault: Fault | None, number: int) -> Reply:
        delay, cut = 0.0, False
        parts = [Part(frame) for frame in frames]
        match fault.kind if fault is not None else None:
            case FaultKind.CUT:
                assert fault is not None
                parts, cut = parts[: fault.after], True
            case FaultKind.ERROR:
                assert fault is not None
                parts = [*parts[: fault.after], Part(self._tongue.error_frame(fault.code, fault.message))]
            case FaultKind.DELAY:
                assert fault is not None
                if fault.after == 0:
                    delay = fault.seconds
                elif fault.after < len(parts):
                    parts[fault.after] = replace(parts[fault.after], delay=fault.seconds)
        return Reply(200, "text/event-stream", tuple(parts), cut=cut, delay=delay, turn=number)


def _holds(when: When, incoming: Incoming, request: Request) -> bool:
    if when.model is not None and not fnmatchcase(request.model, when.model):
        return False
    if when.user is not None and not (request.users and when.user in request.users[-1]):
        return False
    if when.result is not None and not (request.results and when.result in request.results[-1].text):
        return False
    if any(not fnmatchcase(incoming.headers.get(name.lower(), ""), glob) for name, glob in when.headers.items()):
        return False
    return all(at(incoming.body, pointer) == value for pointer, value in when.body.items())


def _filled(call: Spoken, results: Mapping[str, str], name: str) -> Spoken:
    """The call with an id, and with its placeholders filled from earlier results."""
    return replace(call, id=call.id or name, args=_fill(call.args, results))


def _fill(value: Any, results: Mapping[str, str]) -> Any:
    if isinstance(value, Mapping):
        if "$result" in value:
            return _looked_up(value, results)
        return {key: _fill(item, results) for key, item in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_fill(item, results) for item in value]
    return value


def _looked_up(place: Mapping[str, Any], results: Mapping[str, str]) -> Any:
    text = results.get(place["$result"])
    if text is None:
        raise ProtocolError(f"the request shows no result of call `{place['$result']}`, which the scenario quotes")
    found = re.search(place["match"], text)
    if found is None:
        raise ProtocolError(f"the result of call `{place['$result']}` has nothing like `{place['match']}`")
    return int(found[1]) if place.get("type") == "integer" else found[1]


def _usage(size: int, turn: Turn) -> Mapping[str, int]:
    """Numbers of the right order, about four bytes to a token, never zero."""
    said = len(turn.reasoning) + len(turn.text) + sum(len(str(call.args)) + len(call.input or "") for call in turn.calls)
    return {"input": size // 4 + 1, "output": said // 4 + 1}
