import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checkrein.vocab.errors import ConfigError
from checkrein.vocab.toml import read

TEXT = """\
a = 1
[x.y]
b.c = {d = 1, "e f" = [1, 2, {g = 3}]}
[[t]]
n = "ä"
[[t.q]]
z = \"\"\"
x\"\"\"
[[t]]
"\\u0061b" = 'b'
é = 0
[x]
k = "ü" # ü
l = [ # a comment
  "one",

  # another
  "two"]
"""


@pytest.mark.parametrize(
    ("path", "place"),
    [
        ((), (1, 1)),
        (("a",), (1, 1)),
        (("x", "y"), (2, 4)),
        (("x", "y", "b"), (3, 1)),
        (("x", "y", "b", "c"), (3, 3)),
        (("x", "y", "b", "c", "d"), (3, 8)),
        (("x", "y", "b", "c", "e f"), (3, 15)),
        (("x", "y", "b", "c", "e f", 2), (3, 30)),
        (("x", "y", "b", "c", "e f", 2, "g"), (3, 31)),
        (("t", 0), (4, 3)),
        (("t", 0, "n"), (5, 1)),
        (("t", 0, "q", 0), (6, 5)),
        (("t", 0, "q", 0, "z"), (7, 1)),
        (("t", 1), (9, 3)),
        (("t", 1, "ab"), (10, 1)),
        (("x",), (11, 2)),
        (("x", "k"), (12, 1)),
        (("x", "l", 1), (17, 3)),
        (("t", 1, "missing", "deeper"), (9, 3)),
        (("nowhere",), (1, 1)),
    ],
)
def test_every_path_has_its_line_and_column(path, place):
    assert read(TEXT.replace("é = 0\n", ""), "f.toml").place(path) == place


def test_columns_count_characters_not_bytes():
    document = read('a = ["ä", "ö", {k = 1}]', "f.toml")
    assert document.place(("a", 2, "k")) == (1, 17)


def test_line_ends_of_other_systems_change_no_place():
    text = TEXT.replace("é = 0\n", "")
    assert read(text.replace("\n", "\r\n"), "f").place(("x", "l", 1)) == (17, 3)


@pytest.mark.parametrize(
    ("text", "place", "words"),
    [
        ("a = 1\na = 2\n", (2, 6), "given twice"),
        ("[a]\n[a]\n", (2, 3), "table is given twice"),
        ("a = \n", (1, 5), "value was expected"),
        ("a = [1 2]", (1, 8), "comma"),
        ("a == 1", (1, 4), "value was expected"),
        ("a 1", (1, 3), "no `=`"),
        ("a = 'x", (1, 7), "closing quote"),
        ("a = True", (1, 5), "value was expected"),
        ("a = 1 b = 2", (1, 7), "after the end of the value"),
        ('a = "\\q"', (1, 8), "escape"),
        ("é = 0", (1, 1), "neither a key"),
        ("a = {b = 1\n", (1, 11), "no closing `}`"),
        ("[a\n", (1, 3), "no closing `]`"),
        ("a = " + "[" * 5000, (1, 1), "nested too deeply"),
    ],
)
def test_a_syntax_error_names_its_place_and_what_is_wrong(text, place, words):
    with pytest.raises(ConfigError) as caught:
        read(text, "f.toml")
    (fault,) = caught.value.faults
    assert words in fault.sentence
    assert (fault.file, fault.line, fault.column) == ("f.toml", *place)
    assert caught.value.code == 3


def _dump(value, depth):
    if isinstance(value, dict):
        return "{" + ", ".join(f'"{key}" = {_dump(inner, depth + 1)}' for key, inner in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(_dump(inner, depth + 1) for inner in value) + "]"
    return f'"{value}"' if isinstance(value, str) else str(value)


VALUES = st.recursive(
    st.integers() | st.text("abcä ", max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("abü.", min_size=1, max_size=3), inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(st.text("abü.", min_size=1, max_size=3), VALUES, max_size=4))
def test_the_text_at_each_place_is_that_key_or_element(value):
    text = "\n".join(f'"{key}" = {_dump(inner, 0)}' for key, inner in value.items())
    document = read(text, "f")
    assert document.value == tomllib.loads(text) == value

    def check(inner, path):
        line, column = document.place(path)
        found = text.split("\n")[line - 1][column - 1 :]
        if path:
            name = path[-1]
            assert found.startswith(f'"{name}"' if isinstance(name, str) else _dump(inner, 0))
        pairs = inner.items() if isinstance(inner, dict) else enumerate(inner) if isinstance(inner, list) else ()
        for name, deeper in pairs:
            check(deeper, (*path, name))

    check(value, ())


def test_a_comment_behind_a_value_moves_no_place():
    document = read("[[t]]\nxs = [1, 22] # note\nt = {a = [5]} # note\n", "f")
    assert document.place(("t", 0, "xs", 1)) == (2, 10)
    assert document.place(("t", 0, "t", "a", 0)) == (3, 11)
