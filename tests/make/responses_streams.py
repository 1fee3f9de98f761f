"""Writes the provider-shaped streams below tests/fixtures/codex/streams: raw bytes as a provider may send them.

The recorded streams beside them came from a scripted provider, which sends neither sequence numbers nor reasoning; these show
what a real one sends, and every way in which the event-stream format may be spelled.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parents[1] / "fixtures" / "codex" / "streams"
USAGE = {
    "input_tokens": 1200,
    "input_tokens_details": {"cached_tokens": 1024},
    "output_tokens": 90,
    "output_tokens_details": {"reasoning_tokens": 32},
    "total_tokens": 1290,
}


class Answer:
    """Builds the events of one answer, numbered as a provider numbers them."""

    def __init__(self, number: int) -> None:
        self.events: list[dict[str, Any]] = []
        self.output: list[dict[str, Any]] = []
        self.head = {
            "id": f"resp_{number:032x}",
            "object": "response",
            "created_at": 1796029640,
            "model": "gpt-5.5",
            "temperature": 1.0,
            "metadata": {},
        }
        for kind in ("response.created", "response.in_progress"):
            self.add(kind, response={**self.head, "status": "in_progress", "output": []})

    def add(self, kind: str, **fields: Any) -> None:
        self.events.append({"type": kind, "sequence_number": len(self.events), **fields})

    def open(self, item: dict[str, Any], **empty: Any) -> int:
        index = len(self.output)
        self.output.append(item)
        self.add("response.output_item.added", output_index=index, item={**item, "status": "in_progress", **empty})
        return index

    def close(self, index: int) -> None:
        self.add("response.output_item.done", output_index=index, item=self.output[index])

    def reasoning(self, text: str) -> None:
        item = {
            "id": f"rs_{len(self.output):04}",
            "type": "reasoning",
            "encrypted_content": "Z0FBQUE=",
            "summary": [{"type": "summary_text", "text": text}],
        }
        index = self.open(item, summary=[])
        place = {"item_id": item["id"], "output_index": index, "summary_index": 0}
        self.add("response.reasoning_summary_part.added", **place, part={"type": "summary_text", "text": ""})
        for piece in pieces(text, 5):
            self.add("response.reasoning_summary_text.delta", **place, delta=piece, obfuscation="kX3")
        self.add("response.reasoning_summary_text.done", **place, text=text)
        self.add("response.reasoning_summary_part.done", **place, part={"type": "summary_text", "text": text})
        self.close(index)

    def message(self, text: str, *, close: bool = True) -> int:
        part = {"type": "output_text", "text": text, "annotations": [], "logprobs": []}
        item = {
            "id": f"msg_{len(self.output):04}",
            "type": "message",
            "status": "completed",
            "role": "assistant",
            "content": [part],
        }
        index = self.open(item, content=[])
        place = {"item_id": item["id"], "output_index": index, "content_index": 0}
        self.add("response.content_part.added", **place, part={**part, "text": ""})
        for piece in pieces(text, 4):
            self.add("response.output_text.delta", **place, delta=piece, logprobs=[], obfuscation="a:b")
        self.add("response.output_text.done", **place, text=text, logprobs=[])
        self.add("response.content_part.done", **place, part=part)
        if close:
            self.close(index)
        return index

    def call(self, name: str, arguments: str, *, namespace: str | None = None, close: bool = True, **more: Any) -> int:
        number = len(self.output)
        item = {
            "id": f"fc_{number:04}",
            "type": "function_call",
            "status": "completed",
            "arguments": arguments,
            "call_id": f"call_{number:04}",
            "name": name,
            **more,
        }
        if namespace is not None:
            item["namespace"] = namespace
        index = self.open(item, arguments="")
        place = {"item_id": item["id"], "output_index": index}
        for piece in pieces(arguments, 6):
            self.add("response.function_call_arguments.delta", **place, delta=piece, obfuscation="Q")
        if close:
            self.add("response.function_call_arguments.done", **place, arguments=arguments)
            self.close(index)
        return index

    def custom(self, name: str, text: str) -> None:
        number = len(self.output)
        item = {
            "id": f"ctc_{number:04}",
            "type": "custom_tool_call",
            "status": "completed",
            "call_id": f"call_{number:04}",
            "name": name,
            "input": text,
        }
        index = self.open(item, input="")
        place = {"item_id": item["id"], "output_index": index}
        for piece in pieces(text, 9):
            self.add("response.custom_tool_call_input.delta", **place, delta=piece)
        self.add("response.custom_tool_call_input.done", **place, input=text)
        self.close(index)

    def search(self, query: str) -> None:
        item = {"id": f"ws_{len(self.output):04}", "type": "web_search_call", "status": "completed"}
        index = self.open(item)
        for kind in ("in_progress", "searching", "completed"):
            self.add(f"response.web_search_call.{kind}", item_id=item["id"], output_index=index)
        item["action"] = {"type": "search", "query": query}
        self.close(index)

    def end(self, kind: str = "completed", output: list[Any] | None = None, **more: Any) -> list[dict[str, Any]]:
        answer = {**self.head, "status": kind, "output": self.output if output is None else output, "usage": USAGE, **more}
        self.add(f"response.{kind}", response=answer)
        return self.events


def pieces(text: str, size: int) -> list[str]:
    return [text[n : n + size] for n in range(0, len(text), size)]


def spell(
    events: list[dict[str, Any]], end: str = "\n", names: bool = True, spaced: bool = False, ascii_only: bool = False
) -> bytes:
    separators = (", ", ": ") if spaced else (",", ":")
    blocks = []
    for event in events:
        data = json.dumps(event, separators=separators, ensure_ascii=ascii_only)
        blocks.append((f"event: {event['type']}{end}" if names else "") + f"data: {data}{end}{end}")
    return "".join(blocks).encode()


def parallel() -> list[dict[str, Any]]:
    answer = Answer(1)
    answer.reasoning("Look first, then write.")
    answer.message("Let me look: 🦀 and 日本語, “quoted”.")
    answer.call("exec_command", '{"cmd":"ls -la src","workdir":"/work/app"}')
    answer.call("exec_command", '{"cmd":"echo DENIED_SENTINEL > /etc/passwd"}', namespace="functions")
    answer.custom("apply_patch", "*** Begin Patch\n*** Update File: a.txt\n@@\n-old\n+new 🦀\n*** End Patch\n")
    answer.call("update_plan", '{"plan":[{"step":"look","status":"completed"}]}')
    return answer.end()


def single() -> list[dict[str, Any]]:
    answer = Answer(2)
    answer.reasoning("Only one way.")
    answer.call("exec_command", '{"cmd":"echo DENIED_SENTINEL"}')
    return answer.end(end_turn=False)


def bare() -> list[dict[str, Any]]:
    """No arguments in pieces, an empty list of output at the end, a hosted search in between."""
    answer = Answer(3)
    answer.search("how to: list files")
    index = answer.open(
        {
            "id": "fc_x",
            "type": "function_call",
            "status": "completed",
            "arguments": "{}",
            "call_id": "call_x",
            "name": "get_goal",
        },
        arguments="",
    )
    answer.close(index)
    return answer.end(output=[])


def interleaved() -> list[dict[str, Any]]:
    """Two calls and a message, all open at once."""
    answer = Answer(4)
    answer.call("exec_command", '{"cmd":"echo one"}', close=False)
    answer.call("exec_command", '{"cmd":"echo DENIED_SENTINEL"}', close=False)
    answer.message("meanwhile 🦀")
    for index in (1, 0):
        item = answer.output[index]
        place = {"item_id": item["id"], "output_index": index}
        answer.add("response.function_call_arguments.done", **place, arguments=item["arguments"])
        answer.close(index)
    return answer.end()


def torn() -> list[dict[str, Any]]:
    """The token limit falls into the arguments."""
    answer = Answer(5)
    answer.message("I will")
    answer.call("exec_command", '{"cmd":"echo DENIED_SENTINEL', status="incomplete")
    return answer.end("incomplete", incomplete_details={"reason": "max_output_tokens"})


def failed() -> list[dict[str, Any]]:
    """The provider gives up while a call is open."""
    answer = Answer(6)
    answer.message("I will")
    answer.call("exec_command", '{"cmd":"echo DENIED_SENTINEL"}', close=False)
    return answer.end("failed", error={"code": "server_error", "message": "sorry"})


def everything(events: list[dict[str, Any]]) -> bytes:
    """One stream with all that the format allows: BOM, comments, ids, retry, several data lines, line ends of each kind."""
    blocks = [b"\xef\xbb\xbf: hello\n\n", b"retry: 3000\n\n"]
    for number, event in enumerate(events):
        end = ("\n", "\r\n", "\r")[number % 3]
        if number % 2:
            lines = json.dumps(event, indent=1, ensure_ascii=number % 4 == 1).splitlines()
            text = "".join(f"data:{' ' if n % 2 else ''}{line}{end}" for n, line in enumerate(lines))
        else:
            text = f"data: {json.dumps(event)}{end}"
        block = f"id: {number}{end}: ping 🦀{end}event: {event['type']}{end}{text}{end}"
        blocks.append(block.encode())
        if number % 5 == 0:
            blocks.append(f": keepalive{end}{end}".encode())
    return b"".join(blocks)


def main() -> None:
    streams = {
        "provider-parallel": spell(parallel()),
        "provider-parallel-spaced": spell(parallel(), spaced=True, ascii_only=True, names=False) + b"data: [DONE]\n\n",
        "provider-parallel-crlf": spell(parallel(), "\r\n"),
        "provider-parallel-cr": spell(parallel(), "\r"),
        "provider-parallel-everything": everything(parallel()),
        "provider-parallel-unended": spell(parallel()).removesuffix(b"\n\n"),
        "provider-single": spell(single()),
        "provider-bare": spell(bare()),
        "provider-interleaved": spell(interleaved()),
        "provider-torn": spell(torn()),
        "provider-failed": spell(failed()),
    }
    for name, data in streams.items():
        (HERE / f"{name}.sse").write_bytes(data)
        print(name, len(data))


if __name__ == "__main__":
    main()
