"""Recorded transcripts, played into trajectories: what the client sent becomes expectation, what the server sent is fed."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from checkrein.replay.catalog import Catalog
from checkrein.replay.sent import Sent
from checkrein.turns.trajectory import Out, Reply, Trajectory, TurnEnd
from checkrein.vocab.messages import CodexAction, Tool, ToolCall
from checkrein.vocab.stream import Assembly, BlockEnd, Chunk, Finish, FinishReason
from checkrein.wire import appserver, jsonrpc
from checkrein.wire.jsonrpc import RpcNotification, RpcReply, RpcRequest

FOLDER = Path(__file__).resolve().parents[1] / "fixtures" / "app_server"
NAMES = sorted(path.stem for path in FOLDER.glob("*.jsonl"))


def rows(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (FOLDER / f"{name}.jsonl").read_text("utf-8").splitlines()]


@dataclass
class Step:
    """What one step of a played thread brought."""

    chunks: list[Chunk] = field(default_factory=list)
    items: tuple[Mapping[str, Any], ...] = ()
    context: tuple[Mapping[str, Any], ...] = ()

    @property
    def reports(self) -> list[CodexAction]:
        return [c.block for c in self.chunks if isinstance(c, BlockEnd) and isinstance(c.block, CodexAction)]

    @property
    def calls(self) -> list[ToolCall]:
        return [c.block for c in self.chunks if isinstance(c, BlockEnd) and isinstance(c.block, ToolCall)]


@dataclass
class Played:
    """One thread of a transcript, played to its end."""

    trajectory: Trajectory
    raw: list[Mapping[str, Any]] = field(default_factory=list)
    injected: list[Mapping[str, Any]] = field(default_factory=list)
    steps: list[Step] = field(default_factory=lambda: [Step()])
    replies: list[Reply] = field(default_factory=list)
    ends: list[TurnEnd] = field(default_factory=list)
    answered: list[str] = field(default_factory=list)
    waiting: bool = False

    def take(self, outs: Iterator[Out]) -> None:
        for out in outs:
            if isinstance(out, Reply):
                self.replies.append(out)
            elif isinstance(out, TurnEnd):
                self.ends.append(out)
            else:
                self.steps[-1].chunks.append(out)

    def hand_over(self) -> None:
        self.take(self.trajectory.hand_over())
        self.close_step()
        self.waiting = True

    def close_step(self) -> None:
        self.steps[-1].items = self.trajectory.kept()
        self.steps[-1].context = tuple(self.trajectory.context)

    def next_step(self) -> None:
        self.close_step()
        self.steps.append(Step())
        self.trajectory.begin(self.trajectory.catalog)
        self.waiting = False

    def feed(self, message: RpcNotification | RpcRequest) -> None:
        if isinstance(message, RpcNotification) and message.method == "rawResponseItem/completed":
            self.raw.append(message.params["item"])
        self.take(self.trajectory.feed(message))
        if self.trajectory.patience() == 0:
            self.hand_over()

    def answer(self, rpc: int | str) -> None:
        if any(pending.rpc == rpc for pending in self.trajectory._arrived.values()):
            self.hand_over()
        pending = {one.rpc: one for one in self.trajectory.pending.values()}.get(rpc)
        if pending is None:
            return
        if self.waiting:
            self.next_step()
        del self.trajectory.pending[pending.call]
        self.trajectory.sent.answer(pending.call, f"own {pending.call}")
        self.answered.append(pending.call)

    def check_order(self) -> None:
        for step in self.steps:
            assembly = Assembly()
            for chunk in step.chunks:
                assembly.feed(chunk)
            if not assembly.order.open:
                assembly.feed(Finish(FinishReason.STOP))


def tools_of(params: Mapping[str, Any]) -> list[Tool]:
    return [
        Tool(tool["name"], tool.get("description", ""), tool["inputSchema"])
        for group in params.get("dynamicTools") or []
        for tool in group.get("tools", [])
    ]


def play(name: str, *, namespace: str = "harness") -> dict[str, Played]:
    """Every thread of a transcript, by its id."""
    threads: dict[str, Played] = {}
    asked: dict[Any, tuple[str, Mapping[str, Any]]] = {}
    owners: dict[Any, str] = {}
    for row in rows(name):
        message = row["msg"]
        if any(mark in message for mark in ("_eof", "_raw", "_unparsed", "_truncated")):
            continue
        if row["dir"] == "out":
            _sent(message, threads, asked, owners)
            continue
        read = jsonrpc.read(message)
        if isinstance(read, RpcReply):
            method, params = asked.get(read.id, ("", {}))
            if method == "thread/start" and read.fault is None:
                sent = Sent(namespace, params.get("baseInstructions") or "")
                catalog = Catalog(tools_of(params))
                trajectory = Trajectory(sent, catalog)
                trajectory.begin(catalog)
                threads[read.result["thread"]["id"]] = Played(trajectory)
            continue
        thread = threads.get(appserver.thread_of(read.params) or "")
        if thread is not None:
            if isinstance(read, RpcRequest):
                owners[read.id] = appserver.thread_of(read.params) or ""
            thread.feed(read)
    for thread in threads.values():
        if not thread.waiting:
            thread.close_step()
    return threads


def _sent(
    message: Mapping[str, Any],
    threads: Mapping[str, Played],
    asked: dict[Any, tuple[str, Mapping[str, Any]]],
    owners: Mapping[Any, str],
) -> None:
    if "method" not in message:
        owner = threads.get(owners.get(message["id"], ""))
        if owner is not None:
            owner.answer(message["id"])
        return
    params = message.get("params") or {}
    if "id" in message:
        asked[message["id"]] = (message["method"], params)
    thread = threads.get(params.get("threadId", ""))
    if thread is None:
        return
    match message["method"]:
        case "thread/inject_items":
            if isinstance(params.get("items"), list):
                thread.injected += params["items"]
                thread.trajectory.sent.inject(params["items"])
        case "turn/start" | "turn/steer":
            if thread.ends and not thread.waiting:
                thread.next_step()
            texts = [part["text"] for part in params.get("input") or [] if isinstance(part, dict) and "text" in part]
            if len(texts) == 1:
                thread.trajectory.sent.input(texts[0], f"own {texts[0]}")
