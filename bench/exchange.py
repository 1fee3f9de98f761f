"""Events per second through the exchange machine, beside bare splitting of the same bytes. One core, no I/O.

python bench/exchange.py [--json]
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from statistics import median

import orjson

from checkrein.profiles.schema import Denial, Profile, Stop, Wire
from checkrein.turns.exchange import Exchange
from checkrein.turns.intake import Intake
from checkrein.vocab.calls import Call
from checkrein.vocab.verdicts import Outcome, Verdict
from checkrein.wire.request import Request
from checkrein.wire.sse import Decoder

EVENTS = 20_000
READ = 16 * 1024  # bytes of one read from upstream, when it sends as fast as it can
PROFILE = Profile(
    name="bench",
    title="Bench",
    wire=Wire.RESPONSES,
    tools=(),
    denial=Denial(),
    stop=Stop(400, "invalid_prompt", "response.failed"),
    passive=("message",),
)


def text_stream() -> bytes:
    blocks = [event("response.created", response={"id": "resp_1", "status": "in_progress", "output": []})]
    blocks.append(event("response.output_item.added", output_index=0, item={"id": "msg_1", "type": "message", "content": []}))
    blocks += [
        event(
            "response.output_text.delta",
            sequence_number=number,
            item_id="msg_1",
            output_index=0,
            content_index=0,
            delta=" some: text",
            logprobs=[],
            obfuscation="abcdefgh",
        )
        for number in range(EVENTS)
    ]
    return b"".join(blocks)


def call_stream() -> bytes:
    blocks = [event("response.created", response={"id": "resp_1", "status": "in_progress", "output": []})]
    arguments = '{"cmd":"ls -la src"}'
    for number in range(EVENTS // 4):
        item = {"id": f"fc_{number}", "type": "function_call", "call_id": f"c{number}", "name": "exec_command"}
        place = {"item_id": item["id"], "output_index": number}
        blocks += [
            event("response.output_item.added", output_index=number, item={**item, "arguments": ""}),
            event("response.function_call_arguments.delta", **place, delta=arguments),
            event("response.function_call_arguments.done", **place, arguments=arguments),
            event("response.output_item.done", output_index=number, item={**item, "arguments": arguments}),
        ]
    return b"".join(blocks)


def event(kind: str, **fields: object) -> bytes:
    return b"event: " + kind.encode() + b"\ndata: " + orjson.dumps({"type": kind, **fields}) + b"\n\n"


def split(chunks: list[bytes]) -> int:
    decoder = Decoder()
    return sum(len(decoder.feed(chunk)) for chunk in chunks)


def split_and_parse(chunks: list[bytes]) -> int:
    decoder, count = Decoder(), 0
    for chunk in chunks:
        for frame in decoder.feed(chunk):
            count += orjson.loads(frame.data or b"0") is not None
    return count


def exchange(chunks: list[bytes]) -> int:
    def judge(call: Call) -> Verdict:
        return Verdict(Outcome.ALLOW, True, call.name, "bench")

    machine = Exchange(PROFILE, judge, Intake(Request(stream=True)))
    machine.head(200, [(b"content-type", b"text/event-stream")])
    for chunk in chunks:
        machine.feed(chunk)
    return EVENTS


def rate(work: Callable[[list[bytes]], int], chunks: list[bytes]) -> float:
    times = []
    for _ in range(7):
        begin = time.perf_counter()
        work(chunks)
        times.append(time.perf_counter() - begin)
    return EVENTS / median(times)


def main() -> None:
    shapes = {
        "text, 16 KiB reads": [text[at : at + READ] for text in (text_stream(),) for at in range(0, len(text), READ)],
        "text, one event a read": [block + b"\n\n" for block in text_stream().split(b"\n\n")[:-1]],
        "calls, 16 KiB reads": [text[at : at + READ] for text in (call_stream(),) for at in range(0, len(text), READ)],
    }
    found = {
        shape: {work.__name__: round(rate(work, chunks)) for work in (split, split_and_parse, exchange)}
        for shape, chunks in shapes.items()
    }
    if "--json" in sys.argv:
        print(json.dumps({"schema": "checkrein.bench-exchange/1", "events_per_second": found}))
        return
    for shape, rates in found.items():
        print(f"{shape:26}" + "  ".join(f"{name} {value:>10,}/s" for name, value in rates.items()))


if __name__ == "__main__":
    main()
