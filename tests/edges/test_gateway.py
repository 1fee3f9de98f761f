"""The gateway over real HTTP: what reaches the harness, what reaches the provider, what is written, and what is refused."""

import asyncio
import json

import orjson
import pytest
import zstandard
from gateways import PREFIX, TOOL, ask_body, events, gateway, served, told

from checkrein.edges import asgi
from checkrein.edges import gateway as subject
from checkrein.edges.journal import JournalError
from checkrein.edges.upstream import checked
from checkrein.vocab.errors import NotUsableError

CALL = {"name": "exec_command", "args": {"cmd": "ls"}, "id": "c1"}
BAD = {"name": "exec_command", "args": {"cmd": "rm -rf /"}, "id": "c2"}


def dangerous(call):
    return "rm" in call.text


def items(text, kind="function_call"):
    done = [event["item"] for event in events(text) if event["type"] == "response.output_item.done"]
    return [item for item in done if item["type"] == kind]


def test_an_allowed_answer_is_the_upstreams_bytes(tmp_path):
    stream = b': hello\r\nevent: x\r\ndata: {"type":"response.created","response":{"id":"r"}}\r\n\r\n'
    item = {"type": "function_call", "id": "f", "call_id": "c", "name": "exec_command", "arguments": "{}"}
    for event in (
        {"type": "response.output_item.added", "output_index": 0, "item": {**item, "arguments": ""}},
        {"type": "response.output_item.done", "output_index": 0, "item": item},
        {"type": "response.completed", "response": {"id": "r", "output": [item], "usage": {"input_tokens": 1}}},
    ):
        stream += b"data: " + orjson.dumps(event) + b"\n\n"

    async def app(scope, receive, send):
        await asgi.read_body(receive, 10_000)
        await send(
            {
                "type": "http.response.start",
                "status": 200,
                "headers": [(b"content-type", b"text/event-stream"), (b"x-up", b"1")],
            }
        )
        for start in range(0, len(stream), 37):
            await send({"type": "http.response.body", "body": stream[start : start + 37], "more_body": True})
        await send({"type": "http.response.body", "body": b""})

    async def test():
        async with gateway(tmp_path, app) as bench:
            async with bench.http.post(f"{bench.url}/responses", json=ask_body()) as answer:
                assert answer.headers["x-up"] == "1"
                assert await answer.read() == stream
            await bench.journal.sync()
            assert [row["kind"] for row in bench.rows()] == ["request", "decision", "carried", "usage"]

    served(test)


def test_a_refused_call_never_leaves_and_the_model_is_told_why(tmp_path):
    async def test():
        async with gateway(tmp_path, told({"text": "both", "calls": [CALL, BAD]}, {"text": "done"}), dangerous) as bench:
            status, text = await bench.post()
            assert status == 200
            assert [item["call_id"] for item in items(text)] == ["c1"]
            assert "rm -rf" not in text
            assert "[checkrein]" in text
            await bench.journal.sync()
            assert [(row["call_id"], row["released"]) for row in bench.rows("decision")] == [("c1", True), ("c2", False)]
            assert {(row["call_id"], row["form"]) for row in bench.rows("carried")} == {("c1", "released"), ("c2", "drop")}

    served(test)


def test_continuations_are_bounded_within_a_turn(tmp_path):
    async def test():
        async with gateway(tmp_path, told({"calls": [BAD]}, loop=True), dangerous) as bench:
            ends = []
            for _ in range(4):
                _, text = await bench.post()
                ends.append(events(text)[-1]["response"].get("end_turn"))
            assert ends == [False, False, None, None]

    served(test)


def test_a_decision_is_on_disk_before_its_call_is_released(tmp_path):
    async def test():
        async with (
            gateway(tmp_path, told({"calls": [CALL]})) as bench,
            bench.http.post(f"{bench.url}/responses", json=ask_body()) as answer,
        ):
            text = ""
            async for part in answer.content.iter_any():
                text += part.decode()
                if "c1" in text:
                    assert [row["call_id"] for row in bench.rows("decision")] == ["c1"]
                    break
            assert "c1" in text

    served(test)


def test_a_journal_that_cannot_be_written_releases_nothing(tmp_path, monkeypatch):
    async def test():
        async with gateway(tmp_path, told({"text": "first", "calls": [CALL]}, loop=True)) as bench:

            async def broken():
                raise JournalError("no space")

            monkeypatch.setattr(bench.journal, "sync", broken)
            _, text = await bench.post()
            assert "exec_command" not in text
            last = events(text)[-1]
            assert last["type"] == "response.failed"
            assert last["response"]["error"]["code"] == "invalid_prompt"
            monkeypatch.undo()

    served(test)


def test_a_journal_that_takes_no_row_refuses_the_request(tmp_path, monkeypatch):
    async def test():
        async with gateway(tmp_path, told({"calls": [CALL]})) as bench:

            def broken(kind, fields):
                raise JournalError("no space")

            with monkeypatch.context() as patch:
                patch.setattr(bench.journal, "append", broken)
                status, text = await bench.post()
            assert (status, json.loads(text)["error"]["code"]) == (400, "invalid_prompt")
            assert bench.kept == []

    served(test)


ENCODINGS = {"identity": lambda data: data, "zstd": zstandard.compress}


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_the_request_goes_on_as_it_came(tmp_path, encoding):
    seen = {}

    async def app(scope, receive, send):
        seen.update(
            asgi.headers_of(scope), body=await asgi.read_body(receive, 100_000), path=scope["path"], query=scope["query_string"]
        )
        await asgi.respond(send, 400, [], b"{}")

    async def test():
        async with gateway(tmp_path, app) as bench:
            data = ENCODINGS[encoding](b'{ "model":"m", "stream":true,\n"input":[] }')
            headers = {
                "authorization": "Bearer sk-own",
                "content-encoding": encoding,
                "x-mine": "1",
                "accept-encoding": "gzip",
                "connection": "x-hop",
                "x-hop": "no",
            }
            await bench.post(data=data, headers=headers, path=f"{PREFIX}/responses?a=%20b")
            assert seen["body"] == data
            assert (seen["authorization"], seen["x-mine"], seen["accept-encoding"]) == ("Bearer sk-own", "1", "identity")
            assert (seen["path"], seen["query"]) == ("/v1/responses", b"a=%20b")
            assert "x-hop" not in seen
            assert "user-agent" in seen
            await bench.journal.sync()
            assert b"sk-own" not in bench.path.read_bytes()

    served(test)


def test_a_denied_hosted_tool_leaves_the_declaration_and_nothing_else_does(tmp_path):
    async def test():
        async with gateway(tmp_path, told({"text": "ok"}, loop=True), lambda call: call.name == "code_interpreter") as bench:
            body = ask_body(tools=[TOOL, {"type": "code_interpreter", "container": {"type": "auto"}}, {"type": "web_search"}])
            for encode, headers in (
                (orjson.dumps, {}),
                (lambda value: zstandard.compress(orjson.dumps(value)), {"content-encoding": "zstd"}),
            ):
                status, _ = await bench.post(data=encode(body), headers=headers)
                assert status == 200
                assert [tool["type"] for tool in bench.kept[-1]["body"]["tools"]] == ["function", "web_search"]
                assert bench.kept[-1]["body"]["model"] == "m"
            await bench.journal.sync()
            told_rows = [(row["tool"], row["released"]) for row in bench.rows("decision")]
            assert told_rows == [("code_interpreter", False), ("web_search", True)]  # once, not per request

    served(test)


def test_results_are_observed_once(tmp_path):
    async def test():
        async with gateway(tmp_path, told({"text": "ok"}, loop=True)) as bench:
            output = {"type": "function_call_output", "call_id": "c9", "output": "hi"}
            await bench.post(ask_body(output))
            await bench.post(ask_body(output))
            assert [result.call_id for result in bench.observed] == ["c9"]

    served(test)


def test_a_result_of_a_refused_call_stops_the_run(tmp_path):
    async def test():
        async with gateway(tmp_path, told({"calls": [BAD]}, {"text": "ok"}), dangerous) as bench:
            await bench.post()
            output = {"type": "function_call_output", "call_id": "c2", "output": "gone"}
            status, text = await bench.post(ask_body(output))
            assert status == 400
            assert "refused call `c2`" in text
            assert bench.stops
            assert len(bench.kept) == 1

    served(test)


TERMINAL = [
    ("an array", {"data": b"[]"}),
    ("no JSON", {"data": b"{"}),
    ("a key twice", {"data": b'{"input":[],"input":[]}'}),
    ("invalid UTF-8", {"data": b'{"input":"\xff"}'}),
    ("deep nesting", {"data": b'{"input":' + b"[" * 100_000 + b"]" * 100_000 + b"}"}),
    ("an input of another shape", {"data": b'{"input":5}'}),
    ("too many bytes", {"data": b'{"input":"' + b"x" * 300_000 + b'"}'}),
    ("a bomb", {"data": zstandard.compress(b'{"input":"' + bytes(300_000)), "headers": {"content-encoding": "zstd"}}),
    ("an encoding that we do not read", {"data": b"{}", "headers": {"content-encoding": "br"}}),
    ("another path", {"path": f"{PREFIX}/responses/compact"}),
    ("an encoded path", {"path": f"{PREFIX}/%72esponses"}),
    ("a path that climbs", {"path": f"{PREFIX}/x/../responses"}),
]


@pytest.mark.parametrize("case", TERMINAL, ids=[name for name, _ in TERMINAL])
def test_what_cannot_be_read_is_answered_in_the_form_that_is_not_retried(tmp_path, case):
    async def test():
        from yarl import URL

        async with gateway(tmp_path, told(), body_cap=200_000) as bench:
            more = dict(case[1])
            url = URL(f"http://127.0.0.1:{bench.port}{more.pop('path', PREFIX + '/responses')}", encoded=True)
            async with bench.http.post(url, data=more.pop("data", b"{}"), **more) as answer:
                text = await answer.text()
            assert answer.status == 400
            assert json.loads(text)["error"]["code"] == "invalid_prompt"
            assert json.loads(text)["error"]["message"].startswith("[checkrein] ")
            assert bench.kept == []
            await bench.journal.sync()
            assert bench.rows("request")[-1]["refused"]

    served(test)


async def raw(port, data):
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(data)
    await writer.drain()
    if writer.can_write_eof():
        pass
    got = b""
    try:
        async with asyncio.timeout(3):
            while part := await reader.read(65536):
                got += part
                if b"\r\n\r\n" in got and b"connection: close" not in got:
                    break
    except TimeoutError:
        pass
    writer.close()
    return got


def request(target, *headers, method=b"POST", body=b"{}"):
    lines = [method + b" " + target + b" HTTP/1.1", *headers, b"content-length: %d" % len(body), b"", b""]
    return b"\r\n".join(lines) + body


RAW = {
    "without the secret": (lambda port: request(b"/v1/responses", b"host: 127.0.0.1:%d" % port), 404),
    "with half of the secret": (lambda port: request(b"/s3c/v1/responses", b"host: 127.0.0.1:%d" % port), 404),
    "another host": (lambda port: request(b"/s3cret/v1/responses", b"host: evil.example"), 403),
    "another port": (lambda port: request(b"/s3cret/v1/responses", b"host: 127.0.0.1:1"), 403),
    "two hosts": (lambda port: request(b"/s3cret/v1/responses", b"host: 127.0.0.1:%d" % port, b"host: evil.example"), 403),
    "no host": (lambda port: request(b"/s3cret/v1/responses"), 403),
    "absolute form": (lambda port: request(b"http://evil.example/s3cret/v1/responses", b"host: 127.0.0.1:%d" % port), 400),
    "authority form": (lambda port: request(b"evil.example:443", b"host: x", method=b"CONNECT"), 400),
    "two slashes": (lambda port: request(b"//s3cret/v1/responses", b"host: 127.0.0.1:%d" % port), 400),
    "two lengths": (lambda port: request(b"/s3cret/v1/responses", b"host: 127.0.0.1:%d" % port, b"content-length: 5"), 400),
    "length and chunks": (
        lambda port: request(b"/s3cret/v1/responses", b"host: 127.0.0.1:%d" % port, b"transfer-encoding: chunked"),
        400,
    ),
    "a folded header": (lambda port: request(b"/s3cret/v1/responses", b"host: 127.0.0.1:%d" % port, b"x: a\r\n b"), 400),
    "a space before the colon": (lambda port: request(b"/s3cret/v1/responses", b"host : 127.0.0.1:%d" % port), 400),
    "a long target": (lambda port: request(b"/" + b"a" * 10_000, b"host: x"), 400),
    "many headers": (lambda port: request(b"/s3cret/v1/responses", *[b"x-%d: 1" % n for n in range(400)]), 400),
    "a large head": (lambda port: request(b"/s3cret/v1/responses", b"x: " + b"a" * 300_000), 400),
}


@pytest.mark.parametrize("case", RAW)
def test_requests_that_are_not_the_runs_own_are_refused(tmp_path, case):
    async def test():
        async with gateway(tmp_path, told({"text": "must not be asked"})) as bench:
            make, status = RAW[case]
            got = await raw(bench.port, make(bench.port))
            assert got.startswith(b"HTTP/1.1 %d" % status), got[:200]
            assert bench.kept == []

    served(test)


def test_an_upgrade_is_answered_with_426(tmp_path):
    async def test():
        async with gateway(tmp_path, told()) as bench:
            headers = {"connection": "Upgrade", "upgrade": "websocket", "sec-websocket-key": "x", "sec-websocket-version": "13"}
            async with bench.http.get(f"{bench.url}/responses", headers=headers) as answer:
                assert answer.status == 426

    served(test)


def test_models_pass(tmp_path):
    async def test():
        async with gateway(tmp_path, told()) as bench, bench.http.get(f"{bench.url}/models?client_version=1") as answer:
            assert answer.status == 200
            assert "models" in await answer.json()

    served(test)


def answering(status, headers, body=b"", cut=False):
    async def app(scope, receive, send):
        await asgi.read_body(receive, 100_000)
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": body, "more_body": cut})

    return app


ODD = {
    "a redirect": (answering(307, [(b"location", b"https://evil.example/")]), 400),
    "an encoded answer": (answering(200, [(b"content-type", b"text/event-stream"), (b"content-encoding", b"gzip")], b"x"), 400),
    "another content type": (answering(200, [(b"content-type", b"text/html")], b"<html>"), 400),
    "an error of the provider": (
        answering(429, [(b"content-type", b"application/json"), (b"retry-after", b"1")], b'{"error":{}}'),
        429,
    ),
}


@pytest.mark.parametrize("case", ODD)
def test_an_answer_that_is_no_answer_releases_nothing(tmp_path, case):
    async def test():
        app, status = ODD[case]
        async with gateway(tmp_path, app) as bench:
            got, text = await bench.post()
            assert got == status
            if status == 400:
                assert json.loads(text)["error"]["code"] == "invalid_prompt"
            await bench.journal.sync()
            assert bench.rows("upstream")

    served(test)


def test_a_dead_provider_is_said_and_not_terminal(tmp_path):
    async def test():
        sock = asgi.listener()
        port = sock.getsockname()[1]
        sock.close()
        async with gateway(tmp_path, f"http://127.0.0.1:{port}/v1") as bench:
            status, text = await bench.post()
            assert status == 502
            assert "cannot be reached" in text

    served(test)


def test_a_cut_stream_releases_nothing_that_was_held(tmp_path):
    async def test():
        for after in range(2, 9):
            turn = {"text": "hello", "calls": [CALL], "fault": {"kind": "cut", "after": after}}
            async with gateway(tmp_path / str(after), told(turn)) as bench:
                _, text = await bench.post()
                assert items(text) == []
                assert "exec_command" not in text
                await bench.journal.sync()
                assert bench.rows("upstream")

    served(test)


def test_a_client_that_disconnects_cancels_upstream(tmp_path):
    gone = asyncio.Event()

    async def app(scope, receive, send):
        await asgi.read_body(receive, 100_000)
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"text/event-stream")]})
        await send(
            {
                "type": "http.response.body",
                "body": b'data: {"type":"response.created","response":{"id":"r"}}\n\n',
                "more_body": True,
            }
        )
        item = {"type": "function_call", "id": "f", "call_id": "c", "name": "exec_command", "arguments": ""}
        frame = b"data: " + orjson.dumps({"type": "response.output_item.added", "output_index": 0, "item": item}) + b"\n\n"
        await send({"type": "http.response.body", "body": frame, "more_body": True})
        message = await receive()
        assert message["type"] == "http.disconnect"
        gone.set()

    async def test():
        async with gateway(tmp_path, app) as bench:
            async with bench.http.post(f"{bench.url}/responses", json=ask_body()) as answer:
                await answer.content.readany()
                answer.close()
            await gone.wait()
            async with asyncio.timeout(10):
                while not bench.rows("upstream"):
                    await asyncio.sleep(0.02)
            assert bench.rows("upstream")[0]["event"] == "gone"

    served(test)


def test_the_client_is_kept_alive_while_a_call_is_held(tmp_path):
    go = asyncio.Event()
    item = {"type": "function_call", "id": "f", "call_id": "c", "name": "exec_command", "arguments": "{}"}

    async def app(scope, receive, send):
        await asgi.read_body(receive, 100_000)
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"text/event-stream")]})
        first = b'data: {"type":"response.created","response":{"id":"r"}}\n\ndata: '
        added = {"type": "response.output_item.added", "output_index": 0, "item": {**item, "arguments": ""}}
        await send({"type": "http.response.body", "body": first + orjson.dumps(added) + b"\n\n", "more_body": True})
        await go.wait()
        rest = b""
        for event in (
            {"type": "response.output_item.done", "output_index": 0, "item": item},
            {"type": "response.completed", "response": {"id": "r", "output": [item]}},
        ):
            rest += b"data: " + orjson.dumps(event) + b"\n\n"
        await send({"type": "http.response.body", "body": rest})

    async def test():
        async with gateway(tmp_path, app, tick_seconds=0.05) as bench:
            async with bench.http.post(f"{bench.url}/responses", json=ask_body()) as answer:
                text = ""
                while text.count("response.in_progress") < 3:
                    text += (await answer.content.readany()).decode()
                assert "exec_command" not in text
                go.set()
                text += (await answer.content.read()).decode()
            assert items(text)[0]["call_id"] == "c"

    served(test)


def test_a_client_that_stops_reading_is_cut_off(tmp_path, monkeypatch):
    monkeypatch.setattr(asgi, "STALL_SECONDS", 0.2)
    ended = asyncio.Event()

    async def app(scope, receive, send):
        await asgi.read_body(receive, 100_000)
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"text/event-stream")]})
        frame = b"data: " + orjson.dumps({"type": "response.output_text.delta", "delta": "x" * 60_000}) + b"\n\n"
        watch = asyncio.create_task(receive())
        while not watch.done():
            await send({"type": "http.response.body", "body": frame, "more_body": True})
            await asyncio.sleep(0)
        ended.set()

    async def test():
        async with gateway(tmp_path, app) as bench:
            reader, writer = await asyncio.open_connection("127.0.0.1", bench.port, limit=1024)
            body = orjson.dumps(ask_body())
            writer.write(
                b"POST /s3cret/v1/responses HTTP/1.1\r\nhost: 127.0.0.1:%d\r\ncontent-length: %d\r\n\r\n"
                % (bench.port, len(body))
                + body
            )
            await writer.drain()
            await ended.wait()
            assert reader is not None
            writer.close()

    served(test)


def test_a_fault_of_ours_refuses(tmp_path, monkeypatch, capsys):
    async def test():
        async with gateway(tmp_path, told({"text": "x"})) as bench:
            with monkeypatch.context() as patch:
                patch.setattr(subject, "decode", lambda *_: 1 / 0)
                status, text = await bench.post()
            assert (status, json.loads(text)["error"]["code"]) == (400, "invalid_prompt")
            status, _ = await bench.post()
            assert status == 200

    served(test)
    assert "ZeroDivisionError" in capsys.readouterr().err


def test_many_streams_at_once_each_get_their_own(tmp_path):
    async def test():
        async with gateway(tmp_path, told({"text": "same " * 50, "calls": [CALL]}, loop=True)) as bench:
            texts = await asyncio.gather(*(bench.post() for _ in range(100)))
            assert all(status == 200 and len(items(text)) == 1 for status, text in texts)
            await bench.journal.sync()
            assert len(bench.rows("decision")) == 100

    served(test)


@pytest.mark.parametrize(
    "address",
    [
        "http://example.com/v1",
        "ftp://x",
        "example.com",
        "https://user:pw@example.com/",
        "https://example.com/?a=1",
        "https://",
        "http://127.0.0.1.evil.example/",
    ],
)
def test_an_upstream_must_be_plain_and_encrypted(address):
    with pytest.raises(NotUsableError):
        checked(address)


@pytest.mark.parametrize(
    "address", ["https://example.com/v1", "http://127.0.0.1:8080/v1/", "http://localhost:1", "http://[::1]:8/"]
)
def test_https_anywhere_and_http_on_loopback(address):
    assert checked(address).host
