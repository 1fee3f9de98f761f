"""Bounded parsing with tree-sitter: the only file that knows the library, for Python and JavaScript code.

INVARIANT: a parse ends after a number of steps that the text's size bounds, whatever the text is.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

from checkrein.shell.words import TooMuchError

if TYPE_CHECKING:
    from tree_sitter import Node, Parser

BRACKETS = re.compile(r"[()\[\]{}]")
MAX_CODE = 65_536
MAX_PROGRESS = 6_000  # callbacks, each about a hundred parser steps; ordinary code of the longest length needs half
MAX_NESTED = 150  # brackets open at one point of the text, strings not told apart: deep nesting is where hostile text costs most


@cache
def parser(language: str) -> Parser:
    from tree_sitter import Language, Parser

    if language == "python":
        import tree_sitter_python as grammar
    else:
        import tree_sitter_javascript as grammar
    return Parser(Language(grammar.language()))


def parse(language: str, text: str) -> Node:
    """The root of the tree. Raises `TooMuchError` when the text is too long or too costly to parse."""
    data = text.encode("utf-8", "surrogateescape")
    if len(data) > MAX_CODE:
        raise TooMuchError(f"it holds {language} code of more than {MAX_CODE} bytes")
    if nesting(text) > MAX_NESTED:
        raise TooMuchError(f"its {language} code is nested more than {MAX_NESTED} levels deep")
    steps = 0

    def too_long(_offset: int, _has_error: bool) -> bool:  # noqa: FBT001 - the library's signature
        nonlocal steps
        steps += 1
        return steps > MAX_PROGRESS

    def read(offset: int, _point: object) -> bytes:
        return data[offset : offset + 8192]

    try:
        tree = parser(language).parse(read, progress_callback=too_long)  # type: ignore[call-arg]
    except ValueError:
        raise TooMuchError(f"its {language} code takes too many steps to parse") from None
    if tree is None:
        raise TooMuchError(f"its {language} code takes too many steps to parse")
    return tree.root_node


def nesting(text: str) -> int:
    """How many brackets are open at most at one point."""
    level = deepest = 0
    for bracket in BRACKETS.findall(text):
        if bracket in "([{":
            level += 1
            deepest = max(deepest, level)
        elif level:
            level -= 1
    return deepest
