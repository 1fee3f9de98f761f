from __future__ import annotations

import json

import pytest

from checkrein.wire import strict


@pytest.mark.parametrize(
    "data",
    [
        b'{"a":1}',
        b'{ "a" : 1 }',
        b'{"a":{"a":{"a":1}}}',
        b'["a","a"]',
        b'{"a":"\\u003a"}',
        b'{"a":1.0,"b":1e5,"c":-0}',
        b'"x"',
        b"null",
    ],
)
def test_one_value_is_read(data: bytes) -> None:
    assert strict.loads(data) == json.loads(data)


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b'{"a":1,"a":1}', "twice"),
        (b'{"a":{"b":1,"b":2}}', "twice"),
        (b'{"a":":","a":1,"c":"\\u003a\\u003a\\u003a"}', "twice"),
        (b'{"a":1,"\\u0061":2}', "twice"),
        (b'{"a":1} 2', "not valid JSON"),
        (b'"\xff"', "not valid JSON"),
        (b"", "not valid JSON"),
        (b"[" * 300 + b"]" * 300, "nested deeper"),
        (b"[" * 100_000 + b"]" * 100_000, "nested deeper"),
        (b'{"a" : %s, "x":"\\u003a"}' % (b"9" * 5000), "not valid JSON"),
    ],
)
def test_what_has_two_readings_is_refused(data: bytes, why: str) -> None:
    with pytest.raises(strict.StrictError, match=why):
        strict.loads(data)


class Disagreeing:
    def decode(self, text: str) -> None:
        raise RecursionError(text)


def test_a_reading_that_only_one_reader_takes_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(strict, "_SLOW", Disagreeing())
    with pytest.raises(strict.StrictError, match="more than one way"):
        strict.loads(b'{"a": "\\u003a"}')
