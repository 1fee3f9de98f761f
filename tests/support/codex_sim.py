"""A small model of the App Server, as far as our rules depend on it: what it echoes, in what order, with what races.

It is fed the client's messages and gives the server's; it reads no clock and no file, and every race is decided by the `Random`
that it is given. What the model says is a function of the thread's input: a list of acts, each a small dict (see `_act`).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from random import Random
from typing import Any

Acts = list[dict[str, Any]]
Model = Callable[[list[dict[str, Any]]], Acts]
PREFIX = {"message": "msg", "function_call": "fc", "function_call_output": "fco", "reasoning": "rs"}
PREFIX |= {"custom_tool_call": "ctc", "custom_tool_call_output": "ctco"}
KNOWN = {*PREFIX, "web_search_call", "tool_search_call", "tool_search_output", "local_shell_call"}


@dataclass
class Thread:
    ident: str
    base: str
    declared: dict[str, Any]
    input: list[dict[str, Any]] = field(default_factory=list)
    turn: str | None = None
    injections: int = 0
    told_context: bool = False
    echoes: list[dict[str, Any]] = field(default_factory=list)
    pending: dict[int, str] = field(default_factory=dict)
    results: dict[str, dict[str, Any]] = field(default_factory=dict)
    calls: list[dict[str, Any]] = field(default_factory=list)
    steers: list[str] = field(default_factory=list)
    cell: str | None = None
    responses: int = 0


class Sim:
    """`out` is what the server has written and nobody has read yet."""

    def __init__(
        self, model: Model, rng: Random | None = None, *, version: str = "0.171.0", namespace: str = "checkrein"
    ) -> None:
        self.model = model
        self.rng = rng or Random(0)
        self.version = version
        self.namespace = namespace
        self.threads: dict[str, Thread] = {}
        self.out: list[dict[str, Any]] = []
        self.upstream: list[tuple[str, list[dict[str, Any]]]] = []
        self.asked: list[str] = []
        self.refuse: dict[str, dict[str, Any]] = {}
        self.rpc = 0
        self.count = 0

    # In

    def receive(self, message: Mapping[str, Any]) -> None:
        if "method" not in message:
            self._answered(message)
            return
        params = message.get("params") or {}
        self.asked.append(message["method"])
        if "id" not in message:
            return
        fault = self.refuse.pop(message["method"], None)
        if fault is not None:
            self.out.append({"id": message["id"], "error": fault})
            return
        handler = getattr(self, "_" + message["method"].replace("/", "_"), None)
        if handler is None:
            self.out.append({"id": message["id"], "error": {"code": -32600, "message": "unknown method"}})
            return
        handler(message["id"], params)

    def _initialize(self, ident: Any, params: Any) -> None:
        self._reply(ident, {"userAgent": f"checkrein/{self.version} (sim)"})

    def _config_read(self, ident: Any, params: Any) -> None:
        self._reply(ident, {"config": {"mcp_servers": {"far": {}}, "model_provider": "sim"}})

    def _model_list(self, ident: Any, params: Any) -> None:
        row = {
            "id": "sim-1",
            "displayName": "Sim",
            "isDefault": True,
            "supportedReasoningEfforts": [{"reasoningEffort": "low"}],
        }
        self._reply(ident, {"data": [row], "nextCursor": None})

    def _thread_start(self, ident: Any, params: Any) -> None:
        name = self._id("thread")
        declared = {tool["name"]: tool for group in params.get("dynamicTools") or [] for tool in group["tools"]}
        self.threads[name] = Thread(name, params.get("baseInstructions") or "", declared)
        early = self.rng.random() < 0.5
        started = {"method": "thread/started", "params": {"thread": {"id": name}}}
        if early:
            self.out.append(started)
        self._reply(ident, {"thread": {"id": name}, "instructionSources": [], "model": params.get("model")})
        if not early:
            self.out.append(started)

    def _thread_inject_items(self, ident: Any, params: Any) -> None:
        thread = self.threads[params["threadId"]]
        turn = f"auto-compact-{thread.injections}"
        thread.injections += 1
        self._context(thread, turn)
        for item in params["items"]:
            raw = {key: value for key, value in item.items() if value is not None}
            if raw.get("type") not in KNOWN:
                raw = {"type": "other"}
            elif "id" not in raw:
                raw["id"] = self._id(PREFIX.get(raw["type"], "it"))
            thread.echoes.append(self._raw_event(thread, turn, raw, kinds=["unknown"]))
            if raw["type"] != "other":
                thread.input.append(raw)
        self._reply(ident, {})
        if self.rng.random() < 0.5:
            self._flush(thread)

    def _turn_start(self, ident: Any, params: Any) -> None:
        thread = self.threads[params["threadId"]]
        thread.turn = turn = self._id("turn")
        reply = {"id": ident, "result": {"turn": {"id": turn, "status": "inProgress"}}}
        started = self._note("turn/started", {"threadId": thread.ident, "turn": {"id": turn, "status": "inProgress"}})
        self.out += [reply, started] if self.rng.random() < 0.5 else [started, reply]
        self._flush(thread)
        self._context(thread, turn)
        self._flush(thread)
        for part in params["input"]:
            self._user(thread, part["text"])
        self._respond(thread)

    def _turn_steer(self, ident: Any, params: Any) -> None:
        thread = self.threads[params["threadId"]]
        if thread.turn is None or params["expectedTurnId"] != thread.turn:
            self.out.append({"id": ident, "error": {"code": -32600, "message": "no active turn to steer"}})
            return
        thread.steers += [part["text"] for part in params["input"]]
        self._reply(ident, {"turnId": thread.turn})

    def _turn_interrupt(self, ident: Any, params: Any) -> None:
        thread = self.threads[params["threadId"]]
        if thread.turn is None:
            self.out.append({"id": ident, "error": {"code": -32600, "message": "no active turn"}})
            return
        self._reply(ident, {})
        thread.pending.clear()
        self._complete(thread, "interrupted")

    def _thread_unsubscribe(self, ident: Any, params: Any) -> None:
        self._reply(ident, {"status": "unsubscribed"})
        self.threads.pop(params["threadId"], None)

    def _answered(self, message: Mapping[str, Any]) -> None:
        for thread in self.threads.values():
            call = thread.pending.pop(message["id"], None)
            if call is not None:
                thread.results[call] = message.get("result") or {"contentItems": [], "success": False}
                if not thread.pending:
                    self._continue(thread)
                return

    # The model

    def _respond(self, thread: Thread) -> None:
        """One upstream response, its events in one of the orders that were seen."""
        self.upstream.append((thread.ident, [dict(item) for item in thread.input]))
        thread.responses += 1
        assert thread.turn is not None
        events: list[dict[str, Any]] = []
        late: list[tuple[int, dict[str, Any]]] = []
        failure = None
        for act in self.model(list(thread.input)):
            if "fail" in act:
                failure = act["fail"]
                break
            for event in self._act(thread, act):
                if event.get("method") == "item/tool/call":
                    late.append((len(events), event))
                else:
                    events.append(event)
        if failure is None:
            events.append(self._response_end(thread))
        nested = thread.cell is not None
        for after, call in reversed(late):
            events.insert(len(events) if nested else self.rng.randint(after, len(events)), call)
        self.out += events
        if failure is not None:
            self._note_out("error", {"threadId": thread.ident, "turnId": thread.turn, "willRetry": False, "error": failure})
            self._complete(thread, "failed", failure)
        elif not thread.pending:
            self._continue(thread)

    def _act(self, thread: Thread, act: dict[str, Any]) -> list[dict[str, Any]]:
        turn = thread.turn or ""
        if "say" in act:
            ident = act.get("id", self._id("msg"))
            item = {"type": "message", "id": ident, "role": "assistant", "status": "completed"}
            item["content"] = [{"type": "output_text", "text": act["say"], "annotations": []}]
            return self._spoken(thread, {"type": "agentMessage", "id": ident, "text": act["say"]}, item)
        if "partial" in act:
            # A broken attempt: its item never completes.
            ident = self._id("msg")
            started = {"threadId": thread.ident, "turnId": turn, "item": {"type": "agentMessage", "id": ident, "text": ""}}
            delta = {"threadId": thread.ident, "turnId": turn, "itemId": ident, "delta": act["partial"]}
            error = {
                "message": "Reconnecting... 1/3",
                "codexErrorInfo": {"responseStreamDisconnected": {"httpStatusCode": None}},
            }
            gone = {"threadId": thread.ident, "turnId": turn, "willRetry": True, "error": error}
            return [
                self._note("item/started", started),
                self._note("item/agentMessage/delta", delta),
                self._note("error", gone),
            ]
        if "think" in act:
            ident = self._id("rs")
            item = {"type": "reasoning", "id": ident, "summary": [{"type": "summary_text", "text": act["think"]}]}
            item |= {"content": None, "encrypted_content": "e" + ident}
            return self._spoken(thread, {"type": "reasoning", "id": ident, "summary": [act["think"]], "content": []}, item)
        if "call" in act:
            return self._call(thread, act)
        if "exec" in act:
            call = self._id("call")
            item = {"type": "custom_tool_call", "id": self._id("ctc"), "call_id": call, "name": "exec", "input": "js"}
            thread.cell = call
            self._keep(thread, item)
            events = [self._raw_event(thread, turn, item)]
            events += [
                self._tool_request(thread, f"exec-{self._id('n')}", inner["call"], inner["args"]) for inner in act["exec"]
            ]
            if not act["exec"]:
                thread.calls.append({**item, "native": True})
            return events
        # Any other raw item, as it is.
        item = dict(act["raw"])
        if item.get("type") in KNOWN:
            self._keep(thread, item)
        return [self._raw_event(thread, turn, item)]

    def _call(self, thread: Thread, act: dict[str, Any]) -> list[dict[str, Any]]:
        arguments = act["args"] if isinstance(act["args"], str) else json.dumps(act["args"])
        call = act.get("id", self._id("call"))
        item = {"type": "function_call", "id": self._id("fc"), "call_id": call, "name": act["call"], "arguments": arguments}
        space = act.get("namespace", self.namespace)
        if space is not None:
            item["namespace"] = space
        self._keep(thread, item)
        events = [self._raw_event(thread, thread.turn or "", item)]
        thread.calls.append(item)
        try:
            value = json.loads(arguments)
        except ValueError:
            value = None
        if space == self.namespace and act["call"] in thread.declared and value is not None:
            events.append(self._tool_request(thread, call, act["call"], value))
        return events

    def _tool_request(self, thread: Thread, call: str, tool: str, arguments: Any) -> dict[str, Any]:
        thread.pending[self.rpc] = call
        params = {"threadId": thread.ident, "turnId": thread.turn, "callId": call, "namespace": self.namespace}
        message = {"id": self.rpc, "method": "item/tool/call", "params": {**params, "tool": tool, "arguments": arguments}}
        self.rpc += 1
        return message

    def _continue(self, thread: Thread) -> None:
        """Everything of the response is answered: outputs in call order, then what was steered, then the next response."""
        turn = thread.turn or ""
        more = bool(thread.calls or thread.steers or thread.cell)
        for call in thread.calls:
            kind = "function_call_output" if call["type"] == "function_call" else "custom_tool_call_output"
            result = thread.results.get(call["call_id"])
            item = {"type": kind, "id": self._id(PREFIX[kind]), "call_id": call["call_id"]}
            item["output"] = "unsupported call" if result is None else _output(result["contentItems"])
            self._keep(thread, item)
            self.out.append(self._raw_event(thread, turn, item))
        if thread.cell is not None and not any(call["call_id"] == thread.cell for call in thread.calls):
            item = {"type": "custom_tool_call_output", "id": self._id("ctco"), "call_id": thread.cell, "output": "ran"}
            self._keep(thread, item)
            self.out.append(self._raw_event(thread, turn, item))
        thread.calls, thread.results, thread.cell = [], {}, None
        steers, thread.steers = thread.steers, []
        for text in steers:
            self._user(thread, text)
        if more:
            self._respond(thread)
        else:
            self._complete(thread, "completed")

    # Out

    def _spoken(self, thread: Thread, shown: dict[str, Any], item: dict[str, Any]) -> list[dict[str, Any]]:
        place = {"threadId": thread.ident, "turnId": thread.turn}
        self._keep(thread, item)
        events = [self._note("item/started", {**place, "item": {**shown, "text": ""}})]
        if shown["type"] == "agentMessage":
            for start in range(0, len(shown["text"]), 3):
                piece = shown["text"][start : start + 3]
                events.append(self._note("item/agentMessage/delta", {**place, "itemId": shown["id"], "delta": piece}))
        elif self.rng.random() < 0.5:
            part = {**place, "itemId": shown["id"], "summaryIndex": 0, "delta": shown["summary"][0]}
            events.append(self._note("item/reasoning/summaryTextDelta", part))
        ended = self._note("item/completed", {**place, "item": shown})
        raw = self._raw_event(thread, thread.turn or "", item)
        return [*events, ended, raw]

    def _keep(self, thread: Thread, item: dict[str, Any]) -> None:
        thread.input.append({key: value for key, value in item.items() if value is not None})

    def _user(self, thread: Thread, text: str) -> None:
        item = {"type": "message", "id": self._id("msg"), "role": "user", "content": [{"type": "input_text", "text": text}]}
        self._keep(thread, item)
        self.out.append(self._raw_event(thread, thread.turn or "", item, kinds=["user.text"]))
        shown = {"type": "userMessage", "id": self._id("um")}
        self._note_out("item/started", {"threadId": thread.ident, "turnId": thread.turn, "item": shown})

    def _context(self, thread: Thread, turn: str) -> None:
        if thread.told_context:
            return
        thread.told_context = True
        added = {"type": "additional_tools", "id": self._id("at"), "role": "developer", "tools": []}
        thread.echoes.append(self._raw_event(thread, turn, added))
        for role, text, kind in (
            ("developer", thread.base, "model.base_instructions"),
            ("user", "<environment/>", "environments.environment_context"),
        ):
            item = {"type": "message", "id": self._id("msg"), "role": role, "content": [{"type": "input_text", "text": text}]}
            thread.echoes.append(self._raw_event(thread, turn, item, kinds=[kind]))

    def _flush(self, thread: Thread) -> None:
        self.out += thread.echoes
        thread.echoes = []

    def _raw_event(self, thread: Thread, turn: str, item: Mapping[str, Any], kinds: list[str] | None = None) -> dict[str, Any]:
        form = dict(item)
        if self.rng.random() < 0.3 and "phase" not in form:
            form["phase"] = None
        form["internal_chat_message_metadata_passthrough"] = {"turn_id": turn, "content_item_kinds": kinds or ["unknown"]}
        return self._note("rawResponseItem/completed", {"threadId": thread.ident, "turnId": turn, "item": form})

    def _response_end(self, thread: Thread) -> dict[str, Any]:
        usage = {"inputTokens": 100, "cachedInputTokens": 60, "cacheWriteInputTokens": 0, "outputTokens": 9}
        usage |= {"reasoningOutputTokens": 4, "totalTokens": 109}
        params = {"threadId": thread.ident, "turnId": thread.turn, "responseId": self._id("resp"), "usage": usage}
        return self._note("rawResponse/completed", params)

    def _complete(self, thread: Thread, status: str, error: Any = None) -> None:
        turn = {"id": thread.turn, "status": status, "error": error}
        thread.turn = None
        thread.calls, thread.results, thread.cell, thread.steers = [], {}, None, []
        self._note_out("turn/completed", {"threadId": thread.ident, "turn": turn})

    def _note(self, method: str, params: Mapping[str, Any]) -> dict[str, Any]:
        return {"method": method, "params": dict(params), "emittedAtMs": 1}

    def _note_out(self, method: str, params: Mapping[str, Any]) -> None:
        self.out.append(self._note(method, params))

    def _reply(self, ident: Any, result: Any) -> None:
        self.out.append({"id": ident, "result": result})

    def _id(self, prefix: str) -> str:
        self.count += 1
        return f"{prefix}_sim{self.count:05d}"


def _output(parts: list[dict[str, Any]]) -> Any:
    if len(parts) == 1 and parts[0]["type"] == "inputText":
        return parts[0]["text"]
    return [
        {"type": "input_text", "text": part["text"]}
        if part["type"] == "inputText"
        else {"type": "input_image", "image_url": part["imageUrl"], "detail": "original"}
        for part in parts
    ]
