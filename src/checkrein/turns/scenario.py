"""The scenario of a scripted model (CONTRACTS): its types and its strict reader. Every fault of a file is reported at once."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from checkrein.vocab import errors
from checkrein.vocab.calls import NOTHING

SCHEMA = "checkrein.scenario/1"


class FaultKind(StrEnum):
    """How an answer goes wrong."""

    CUT = "cut"  # the connection breaks after `after` events
    ERROR = "error"  # an error event after `after` events
    FAILED = "failed"  # the answer ends as failed, with `code` and `message`
    INCOMPLETE = "incomplete"  # the answer ends as incomplete, with `code` as the reason
    DELAY = "delay"  # `seconds` of silence before event `after` (0: before the headers)
    HTTP = "http"  # an HTTP `status` with `body`, or with `code` and `message` in the wire's shape


@dataclass(frozen=True, slots=True)
class Fault:
    kind: FaultKind
    after: int = 0
    seconds: float = 0.0
    status: int = 500
    code: str = "server_error"
    message: str = "scripted fault"
    body: str | None = None
    headers: Mapping[str, str] = field(default_factory=lambda: NOTHING)


@dataclass(frozen=True, slots=True)
class When:
    """Conditions on the request; all that are given must hold. `user` and `result` are parts of the last user message and of
    the last result; `model` and the values of `headers` are globs; `body` maps JSON pointers to values.
    """

    model: str | None = None
    user: str | None = None
    result: str | None = None
    headers: Mapping[str, str] = field(default_factory=lambda: NOTHING)
    body: Mapping[str, Any] = field(default_factory=lambda: NOTHING)


@dataclass(frozen=True, slots=True)
class Spoken:
    """One proposed call. `args` may hold `{"$result": call id, "match": pattern with one group, "type": "integer"}` where a value
    of an earlier result belongs. `raw` is an item, or a list of events, put on the wire as it is.
    """

    name: str = ""
    namespace: str | None = None
    kind: str = "function"
    args: Any = None
    text: str | None = None  # the argument text exactly, instead of `args`
    input: str | None = None
    id: str = ""
    raw: Any = None


@dataclass(frozen=True, slots=True)
class Turn:
    when: When = When()
    reasoning: str = ""
    text: str = ""
    calls: tuple[Spoken, ...] = ()
    usage: Mapping[str, int] = field(default_factory=lambda: NOTHING)
    fault: Fault | None = None


@dataclass(frozen=True, slots=True)
class Aux:
    """The answer to auxiliary requests; without `when`, to all of them."""

    text: str = "scripted"
    when: When = When()


@dataclass(frozen=True, slots=True)
class Scenario:
    """`closing` is what the model says after its last turn; with `loop` it repeats that turn instead."""

    turns: tuple[Turn, ...]
    aux: tuple[Aux, ...] = ()
    loop: bool = False
    closing: str = ""


def load(text: str, file: str) -> Scenario:
    """The scenario of a file's text, or a `ConfigError` with every fault."""
    try:
        value = json.loads(text)
    except json.JSONDecodeError as error:
        raise errors.ConfigError(
            [errors.Fault(file, error.lineno, error.colno, f"not valid JSON: {error.msg.lower()}")]
        ) from None
    except RecursionError:
        raise errors.ConfigError([errors.Fault(file, 1, 1, "the file is nested too deeply to be read")]) from None
    reader = _Reader(file)
    scenario = reader.scenario(value)
    if reader.faults:
        raise errors.ConfigError(reader.faults)
    return scenario


def _text(value: Any) -> bool:
    return isinstance(value, str)


def _number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and value >= 0


def _count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _texts(value: Any) -> bool:
    return isinstance(value, dict) and all(isinstance(item, str) for item in value.values())


def _counts(value: Any) -> bool:
    return isinstance(value, dict) and all(_count(item) for item in value.values())


def _object(value: Any) -> bool:
    return isinstance(value, dict)


def _objects(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, dict) for item in value)


def _flag(value: Any) -> bool:
    return isinstance(value, bool)


def _optional(check: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: value is None or check(value)


Shape = Mapping[str, tuple[Callable[[Any], bool], str]]
_SCENARIO: Shape = {
    "schema": (lambda value: value == SCHEMA, f"`{SCHEMA}`"),
    "turns": (_objects, "a list of turns"),
    "aux": (_objects, "a list of answers"),
    "loop": (_flag, "true or false"),
    "closing": (_text, "a text"),
}
_TURN: Shape = {
    "when": (_optional(_object), "an object"),
    "reasoning": (_optional(_text), "a text"),
    "text": (_optional(_text), "a text"),
    "calls": (_optional(_objects), "a list of calls"),
    "usage": (_optional(_counts), "an object of counts"),
    "fault": (_optional(_object), "an object"),
}
_WHEN: Shape = {
    "model": (_text, "a glob"),
    "user": (_text, "a text"),
    "result": (_text, "a text"),
    "headers": (_texts, "an object of globs"),
    "body": (_object, "an object of JSON pointers"),
}
_CALL: Shape = {
    "name": (_text, "a name"),
    "namespace": (_optional(_text), "a name or null"),
    "kind": (lambda value: value in {"function", "custom"}, "`function` or `custom`"),
    "args": (lambda _: True, ""),
    "text": (_text, "a text"),
    "input": (_text, "a text"),
    "id": (_text, "a text"),
    "raw": (lambda value: _object(value) or _objects(value), "an item or a list of events"),
}
_FAULT: Shape = {
    "kind": (lambda value: value in set(FaultKind), "one of " + ", ".join(f"`{kind}`" for kind in FaultKind)),
    "after": (_count, "a count"),
    "seconds": (_number, "a number"),
    "status": (lambda value: _count(value) and 100 <= value <= 599, "an HTTP status"),
    "code": (_text, "a text"),
    "message": (_text, "a text"),
    "body": (_text, "a text"),
    "headers": (_texts, "an object of texts"),
}
_AUX: Shape = {"text": (_text, "a text"), "when": (_object, "an object")}
_RESULT: Shape = {
    "$result": (_text, "a call id"),
    "match": (_text, "a pattern"),
    "type": (lambda value: value in {"integer", "string"}, "`integer` or `string`"),
}


class _Reader:
    """Reads a scenario and gathers faults."""

    def __init__(self, file: str) -> None:
        self._file = file
        self.faults: list[errors.Fault] = []

    def scenario(self, value: Any) -> Scenario:
        given = self._checked(value, _SCENARIO, "", required=("schema", "turns"))
        return Scenario(
            turns=tuple(self._turn(turn, f"/turns/{rank}") for rank, turn in enumerate(given.get("turns", []))),
            aux=tuple(self._aux(aux, f"/aux/{rank}") for rank, aux in enumerate(given.get("aux", []))),
            loop=given.get("loop", False),
            closing=given.get("closing", ""),
        )

    def _fault(self, pointer: str, sentence: str) -> None:
        self.faults.append(errors.Fault(self._file, 1, 1, f"`{pointer or '/'}`: {sentence}"))

    def _checked(self, value: Any, shape: Shape, pointer: str, required: tuple[str, ...] = ()) -> dict[str, Any]:
        if not isinstance(value, dict):
            self._fault(pointer, "an object was expected")
            return {}
        for name in required:
            if name not in value:
                self._fault(pointer, f"`{name}` is missing")
        good: dict[str, Any] = {}
        for name, item in value.items():
            row = shape.get(name)
            if row is None:
                self._fault(f"{pointer}/{name}", f"an unknown key; known are {', '.join(sorted(shape))}")
            elif not row[0](item):
                self._fault(f"{pointer}/{name}", f"{row[1]} was expected")
            elif item is not None:
                good[name] = item
        return good

    def _turn(self, value: Any, pointer: str) -> Turn:
        given = self._checked(value, _TURN, pointer)
        return Turn(
            when=self._when(given.get("when", {}), f"{pointer}/when"),
            reasoning=given.get("reasoning", ""),
            text=given.get("text", ""),
            calls=tuple(self._call(call, f"{pointer}/calls/{rank}") for rank, call in enumerate(given.get("calls", []))),
            usage=given.get("usage", NOTHING),
            fault=self._of_fault(given["fault"], f"{pointer}/fault") if "fault" in given else None,
        )

    def _when(self, value: Any, pointer: str) -> When:
        return When(**self._checked(value, _WHEN, pointer))

    def _aux(self, value: Any, pointer: str) -> Aux:
        given = self._checked(value, _AUX, pointer, required=("text",))
        return Aux(given.get("text", ""), self._when(given.get("when", {}), f"{pointer}/when"))

    def _of_fault(self, value: Any, pointer: str) -> Fault | None:
        given = self._checked(value, _FAULT, pointer, required=("kind",))
        if "kind" not in given:
            return None
        return Fault(**{**given, "kind": FaultKind(given["kind"])})

    def _call(self, value: Any, pointer: str) -> Spoken:
        given = self._checked(value, _CALL, pointer)
        carriers = [name for name in ("args", "text", "input", "raw") if name in given]
        if len(carriers) > 1:
            self._fault(pointer, f"only one of {', '.join(f'`{name}`' for name in carriers)} can be given")
        if "raw" not in given and not given.get("name"):
            self._fault(pointer, "a call needs a `name`, or `raw`")
        self._placeholders(given.get("args"), f"{pointer}/args")
        kind = given.get("kind") or ("custom" if "input" in given else "function")
        return Spoken(**{**given, "kind": kind})

    def _placeholders(self, value: Any, pointer: str) -> None:
        if isinstance(value, dict):
            if "$result" in value:
                given = self._checked(value, _RESULT, pointer, required=("match",))
                try:
                    groups = re.compile(given.get("match", "()")).groups
                except re.error:
                    groups = 0
                if groups < 1:
                    self._fault(f"{pointer}/match", "a regular expression with one group was expected")
                return
            for name, item in value.items():
                self._placeholders(item, f"{pointer}/{name}")
        elif isinstance(value, list):
            for rank, item in enumerate(value):
                self._placeholders(item, f"{pointer}/{rank}")
