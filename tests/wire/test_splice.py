from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from checkrein.wire.request import at
from checkrein.wire.splice import cut


@pytest.mark.parametrize(
    ("text", "pointers", "left"),
    [
        (b'{"tools":[1,2,3],"x":[9]}', ["/tools/0"], b'{"tools":[2,3],"x":[9]}'),
        (b'{"tools":[1,2,3]}', ["/tools/1"], b'{"tools":[1,3]}'),
        (b'{"tools":[1,2,3]}', ["/tools/2"], b'{"tools":[1,2]}'),
        (b'{"tools":[1,2,3]}', ["/tools/0", "/tools/2", "/tools/1"], b'{"tools":[]}'),
        (b'{"tools":[1]}', ["/tools/0"], b'{"tools":[]}'),
        (b'{"a":"],[","tools":["],\\"",{"b":[1,2]}]}', ["/tools/0"], b'{"a":"],[","tools":[{"b":[1,2]}]}'),
        (
            b'{"input":[{"tools":[{"t":1},{"t":2}]},{"tools":[3]}]}',
            ["/input/0/tools/1"],
            b'{"input":[{"tools":[{"t":1}]},{"tools":[3]}]}',
        ),
        (b'{"t\\u006fols":[1,2]}', ["/tools/1"], b'{"t\\u006fols":[1]}'),
        (b'{ "n" : 1.50 , "tools" : [ 1 , 2 ] }', ["/tools/0"], b'{ "n" : 1.50 , "tools" : [ 2 ] }'),
    ],
)
def test_an_element_is_cut_and_every_other_byte_kept(text: bytes, pointers: list[str], left: bytes) -> None:
    assert cut(text, pointers) == left


def test_order_among_many_is_numeric() -> None:
    text = json.dumps({"tools": list(range(12))}, separators=(",", ":")).encode()
    assert json.loads(cut(text, ["/tools/2", "/tools/10", "/tools/9"]))["tools"] == [0, 1, 3, 4, 5, 6, 7, 8, 11]


@pytest.mark.parametrize("pointer", ["/tools", "/tools/9", "/tools/x", "/none/0", "", "/tools/-1", "/tools/0/a"])
def test_what_is_no_element_is_refused(pointer: str) -> None:
    with pytest.raises(ValueError, match="no element"):
        cut(b'{"tools":[{"a":1}]}', [pointer])


LEAVES = st.integers(0, 9) | st.text('ab[]{},:"\\', max_size=4)
TREES = st.recursive(
    LEAVES, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text("ab/~", max_size=2), inner, max_size=3)
)


@settings(max_examples=300)
@given(st.lists(TREES, min_size=1, max_size=5), st.data(), st.sampled_from([None, 1]))
def test_cutting_is_deleting(elements: list[object], data: st.DataObject, indent: int | None) -> None:
    value = {"x": elements, "tools": [*elements], "y": {"tools": elements}}
    index = data.draw(st.integers(0, len(elements) - 1))
    left = json.loads(cut(json.dumps(value, indent=indent).encode(), [f"/tools/{index}"]))
    del value["tools"][index]
    assert left == value
    assert at(left, "/x") == elements
