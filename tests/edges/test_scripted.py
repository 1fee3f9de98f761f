"""The scripted model over real HTTP."""

import asyncio
import json

import aiohttp
import pytest
import zstandard
from openai import AsyncOpenAI

from checkrein.edges import scripted
from checkrein.turns import scenario

TOOL = {"type": "function", "name": "exec_command", "parameters": {"type": "object", "properties": {}}}


def told(*turns) -> scenario.Scenario:
    return scenario.load(json.dumps({"schema": scenario.SCHEMA, "turns": list(turns)}), "s.json")


def test_the_official_client_reads_the_stream():
    async def run():
        call = {"name": "exec_command", "args": {"cmd": "ls"}}
        async with scripted.serving(told({"reasoning": "so", "text": "hi", "calls": [call]})) as url:
            client = AsyncOpenAI(base_url=url, api_key="none", max_retries=0)
            async with client.responses.stream(model="m", input="x", tools=[TOOL]) as stream:
                return await stream.get_final_response()

    response = asyncio.run(run())
    assert response.output_text == "hi"
    assert response.output[-1].arguments == '{"cmd":"ls"}'


def test_requests_are_kept_without_credentials(tmp_path):
    record = tmp_path / "kept.jsonl"

    async def run():
        async with scripted.serving(told({"text": "x"}), keep=scripted.Keeper(record)) as url, aiohttp.ClientSession() as http:
            body = json.dumps({"model": "m", "stream": True, "input": [], "tools": [TOOL]}).encode()
            headers = {"content-encoding": "zstd", "authorization": "Bearer sk-do-not-keep", "x-mark": "1"}
            async with http.post(f"{url}/responses", data=zstandard.compress(body), headers=headers) as answer:
                assert answer.status == 200
                await answer.read()

    asyncio.run(run())
    row = json.loads(record.read_text())
    assert row["body"]["model"] == "m"
    assert row["headers"]["x-mark"] == "1"
    assert row["turn"] == 1
    assert "sk-do-not-keep" not in record.read_text()


def test_a_cut_breaks_the_connection():
    async def run():
        async with (
            scripted.serving(told({"text": "x" * 200, "fault": {"kind": "cut", "after": 5}})) as url,
            aiohttp.ClientSession() as http,
            http.post(f"{url}/responses", json={"model": "m", "stream": True, "input": [], "tools": [TOOL]}) as answer,
        ):
            got = b""
            with pytest.raises(aiohttp.ClientPayloadError):
                async for part in answer.content.iter_any():
                    got += part
            assert got.count(b"\n\n") == 5

    asyncio.run(run())


@pytest.mark.parametrize(
    ("method", "path", "headers", "status"),
    [
        ("GET", "/v1/responses", {"connection": "Upgrade", "upgrade": "websocket"}, 426),
        ("GET", "/v1/models", {}, 200),
        ("GET", "/v1/responses", {}, 404),
        ("POST", "/v1/other", {}, 404),
        ("POST", "/v1/responses", {}, 400),
    ],
)
def test_other_requests_have_their_answer(method, path, headers, status):
    async def run():
        async with (
            scripted.serving(told()) as url,
            aiohttp.ClientSession() as http,
            http.request(
                method, url.removesuffix("/v1") + path, headers=headers, data=b"nonsense" if method == "POST" else None
            ) as answer,
        ):
            return answer.status

    assert asyncio.run(run()) == status
