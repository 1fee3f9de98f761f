"""What leaves is read by the provider's own client library, which accumulates the events into an answer."""

from __future__ import annotations

from collections.abc import Callable

import httpx2 as httpx
import pytest
from exchanges import drive, everything, names, nothing, secret, stream
from openai import OpenAI
from responses_shape import check, events

from checkrein.vocab.calls import Call

# Failed answers have no final form, and the library's own reader knows no BOM, no mixed line ends and no missing blank line.
BEYOND = ("provider-failed", "provider-torn", "provider-parallel-everything", "provider-parallel-unended")
STREAMS = [name for name in names("provider-") if name not in BEYOND]


def client(data: bytes) -> OpenAI:
    def answer(request: httpx.Request) -> httpx.Response:
        return httpx.Response(200, headers={"content-type": "text/event-stream"}, content=data)

    return OpenAI(
        api_key="none", base_url="http://guard.invalid/v1", http_client=httpx.Client(transport=httpx.MockTransport(answer))
    )


@pytest.mark.parametrize("refuse", [nothing, secret, everything], ids=lambda refuse: refuse.__name__)
@pytest.mark.parametrize("name", STREAMS)
def test_the_client_library_reads_what_leaves(name: str, refuse: Callable[[Call], bool]) -> None:
    out = drive([stream(name)], refuse).out
    with client(out).responses.stream(model="m", input="x") as read:
        kinds = [event.type for event in read]
        final = read.get_final_response()
    assert kinds.count("response.completed") == 1
    assert [item.type for item in final.output] == [item["type"] for item in events(out)[-1]["response"]["output"]]
    text = "".join(part["text"] for item in check(out) if item["type"] == "message" for part in item["content"])
    assert name == "provider-bare" or final.output_text == text
    assert final.usage is not None
    assert final.usage.total_tokens == 1290
