"""Drives the exchange machine over bytes: a profile, a judge that refuses by a predicate, and what came out of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from checkrein.profiles.schema import Carriage, Denial, Profile, Stop, Wire
from checkrein.turns.exchange import Exchange, Options
from checkrein.turns.intake import Intake
from checkrein.vocab.calls import Call
from checkrein.vocab.commands import Answer, Command, Finish, Record, Send, Start, Sync
from checkrein.vocab.reasons import Reason
from checkrein.vocab.verdicts import Outcome, Verdict
from checkrein.wire.codec import MARK
from checkrein.wire.request import Request
from checkrein.wire.sse import Decoder

STREAMS = Path(__file__).resolve().parents[1] / "fixtures" / "codex" / "streams"
SECRET = "DENIED_SENTINEL"

PROFILE = Profile(
    name="codex",
    title="Codex",
    wire=Wire.RESPONSES,
    tools=(),
    denial=Denial(some_left=Carriage.DROP, none_left=Carriage.CONTINUE, continue_limit=2),
    stop=Stop(status=400, code="invalid_prompt", event="response.failed"),
    keep_alive="response.in_progress",
    passive=("message", "reasoning", "web_search_call", "image_generation_call", "compaction"),
)

Refuse = Callable[[Call], bool]


def nothing(call: Call) -> bool:
    return False


def everything(call: Call) -> bool:
    return True


def secret(call: Call) -> bool:
    return SECRET in call.text


def judging(refuse: Refuse, seen: list[Call] | None = None) -> Callable[[Call], Verdict]:
    """A judge which refuses what cannot be read, and what the predicate says."""

    def judge(call: Call) -> Verdict:
        if seen is not None:
            seen.append(call)
        if call.fault or refuse(call):
            reason = Reason.MALFORMED if call.fault else Reason.POLICY_BLOCK
            return Verdict(Outcome.DENY, False, call.name, "codex", reason, message=call.fault or "it is not wanted here")
        return Verdict(Outcome.ALLOW, True, call.name, "codex")

    return judge


@dataclass
class Run:
    """What an exchange yielded."""

    exchange: Exchange
    seen: list[Call] = field(default_factory=list)
    commands: list[Command] = field(default_factory=list)

    @property
    def out(self) -> bytes:
        return b"".join(command.data for command in self.commands if isinstance(command, Send))

    @property
    def records(self) -> list[tuple[str, dict[str, Any]]]:
        return [(command.kind, dict(command.fields)) for command in self.commands if isinstance(command, Record)]

    def rows(self, kind: str) -> list[dict[str, Any]]:
        return [fields for name, fields in self.records if name == kind]

    @property
    def answer(self) -> Answer | None:
        return next((command for command in self.commands if isinstance(command, Answer)), None)

    @property
    def verdicts(self) -> list[tuple[str, str, bool]]:
        return [(row["tool"], row["call_id"], row["released"]) for row in self.rows("decision")]

    @property
    def forms(self) -> list[tuple[str | None, str]]:
        return [(row["call_id"], row["form"]) for row in self.rows("carried")]

    @property
    def finished(self) -> bool:
        return any(isinstance(command, Finish) for command in self.commands)


def begin(
    refuse: Refuse = nothing,
    *,
    profile: Profile = PROFILE,
    stream: bool = True,
    options: Options | None = None,
    continuations: int = 0,
    request: Request | None = None,
) -> Run:
    """An exchange before the head of the answer."""
    seen: list[Call] = []
    intake = Intake(request=request or Request(model="m", stream=stream), id="r1", session="s", thread="t")
    return Run(Exchange(profile, judging(refuse, seen), intake, options, continuations), seen)


def drive(chunks: Iterable[bytes], refuse: Refuse = nothing, *, end: bool = True, **more: Any) -> Run:
    """A whole streamed exchange."""
    run = begin(refuse, **more)
    kind = b"text/event-stream; charset=utf-8" if more.get("stream", True) else b"application/json"
    run.commands += run.exchange.head(200, [(b"Content-Type", kind)])
    for chunk in chunks:
        run.commands += run.exchange.feed(chunk)
    if end:
        run.commands += run.exchange.end()
    check_order(run.commands)
    return run


def stream(name: str) -> bytes:
    return (STREAMS / f"{name}.sse").read_bytes()


def names(*prefixes: str) -> list[str]:
    return sorted(path.stem for path in STREAMS.glob("*.sse") if path.stem.startswith(prefixes or ("",)))


def without_keep_alives(data: bytes) -> bytes:
    decoder = Decoder()
    frames = [*decoder.feed(data), *decoder.end()]
    return b"".join(frame.raw for frame in frames if not frame.raw.startswith(MARK))


def check_order(commands: Iterable[Command]) -> None:
    """The promises of the command list itself, whatever the stream."""
    unsynced, started, finished = False, False, False
    for command in commands:
        assert not finished, "nothing comes after the end"
        if isinstance(command, Record):
            unsynced = unsynced or command.kind == "decision"
        elif isinstance(command, Sync):
            unsynced = False
        elif isinstance(command, Send):
            assert started
            assert not unsynced, "no byte leaves between a decision and its sync"
            assert command.data
        elif isinstance(command, Start):
            assert not started
            assert not unsynced
            started = True
        elif isinstance(command, Answer):
            assert not started
            assert not unsynced
        elif isinstance(command, Finish):
            finished = True
