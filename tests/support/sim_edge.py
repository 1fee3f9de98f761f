"""Performs a step's commands against the simulated server, synchronously; silence comes when the server has nothing to say."""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random
from typing import Any

from tests.support.codex_sim import Acts, Model, Sim

from checkrein.turns.lease import Lease, Move, State
from checkrein.turns.provider import Arm, Ask, Claim, Command, Done, Emit, Leave, Reopen, Server, Step
from checkrein.turns.trajectory import Reply
from checkrein.vocab.messages import Message, Request, Tool
from checkrein.vocab.stream import Assembly, Chunk
from checkrein.wire import jsonrpc
from checkrein.wire.appserver import Setup, thread_of
from checkrein.wire.jsonrpc import RpcReply, RpcRequest

LOOKUP = Tool(
    "lookup",
    "Look up.",
    {"type": "object", "properties": {"key": {"type": "string"}}, "required": ["key"], "additionalProperties": False},
)
ADD = Tool("add", "Add.", {"type": "object", "properties": {"a": {"type": "number"}}, "required": ["a"]})
SERVER = Server("0.171.0", "checkrein/0.171.0 (sim)", "sim", Setup("/nowhere"))


def script(*responses: Acts) -> Model:
    """A model that says these responses in order, whatever it is asked, and `done` for ever after."""
    left = list(responses)
    return lambda _: left.pop(0) if left else [{"say": "done"}]


@dataclass
class Harness:
    """A session of a harness over a simulated server."""

    sim: Sim
    session: str = "s1"
    system: str = "SYSTEM"
    model: str = "m"
    tools: tuple[Tool, ...] = (LOOKUP, ADD)
    server: Server = SERVER
    extra: dict[str, Any] = field(default_factory=dict)
    messages: list[Message] = field(default_factory=list)
    lease: Lease = field(default_factory=lambda: Lease("s1"))
    chunks: list[Chunk] = field(default_factory=list)
    tags: dict[int, Any] = field(default_factory=dict)
    lives: bool = True
    next_id: int = 1
    step: Step | None = None
    armed: int | None = None

    @classmethod
    def over(cls, *responses: Acts, seed: int = 0, **fields: Any) -> Harness:
        return cls(Sim(script(*responses), Random(seed)), **fields)

    def request(self, *messages: Message) -> Request:
        self.messages += messages
        return Request(self.session, self.model, tuple(self.messages), self.system, self.tools, **self.extra)

    def begin(self, *messages: Message) -> Step:
        if self.lease.state is State.DISPOSED:
            self.lease = Lease(self.session)
        self.step = Step(self.request(*messages), self.lease, self.server)
        self.chunks, self.armed = [], None
        self.perform(self.step.start())
        return self.step

    def run(self, *messages: Message) -> Assembly:
        """One step to its end; the answer is added to the messages."""
        self.begin(*messages)
        self.settle()
        return self.finish()

    def finish(self) -> Assembly:
        assembly = Assembly()
        for chunk in self.chunks:
            assembly.feed(chunk)
        assembly.order.close()
        self.messages.append(assembly.message())
        return assembly

    def settle(self) -> None:
        """Until the step is over, or nothing more will happen."""
        assert self.step is not None
        for _ in range(10_000):
            if self.sim.out:
                self.deliver()
            elif not self.step.over and self.armed is not None:
                self.armed = None
                self.perform(self.step.quiet())
            else:
                return
        raise AssertionError("the step does not come to rest")

    def deliver(self) -> None:
        """One message from the server."""
        read = jsonrpc.read(self.sim.out.pop(0))
        if isinstance(read, RpcReply):
            tag = self.tags.pop(read.id, None)
            if tag is None or self.step is None:
                return
            self.perform(self.step.refused(tag, read.fault) if read.fault else self.step.reply(tag, read.result))
            return
        if thread_of(read.params) != self.lease.thread:
            return
        if self.step is not None and not self.step.over:
            self.perform(self.step.event(read))
        elif self.lease.hold(read) and isinstance(read, RpcRequest):
            self.sim.receive({"id": read.id, "result": {}})

    def perform(self, commands: list[Command]) -> None:
        for command in commands:
            match command:
                case Emit(chunk):
                    self.chunks.append(chunk)
                case Ask(tag, params):
                    self.tags[self.next_id] = tag
                    self.sim.receive({"id": self.next_id, "method": tag.value, "params": params})
                    self.next_id += 1
                case Reply(rpc, result):
                    self.sim.receive({"id": rpc, "result": result})
                case Leave(thread, turn):
                    if turn is not None:
                        self.sim.receive({"id": 10_000, "method": "turn/interrupt", "params": {"threadId": thread}})
                    self.sim.receive({"id": 10_001, "method": "thread/unsubscribe", "params": {"threadId": thread}})
                    self.sim.out = [m for m in self.sim.out if thread_of(m.get("params") or {}) != thread]
                case Arm(ms):
                    self.armed = ms
                case Reopen():
                    assert self.step is not None
                    self.sim.out.clear()
                    self.sim.threads.clear()
                    self.perform(self.step.rebuild(self.server))
                case Claim() | Done():
                    pass

    def warm_input(self) -> list[dict[str, Any]]:
        """The model's input of the lease's thread."""
        assert self.lease.thread is not None
        return self.sim.threads[self.lease.thread].input


__all__ = ["ADD", "LOOKUP", "SERVER", "Harness", "Move", "script"]
