"""TOML with places: the values by the standard reader, the line and column of every key by tree-sitter.

Places are worked out only when somebody asks for one, so a file without faults never pays for them.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from checkrein.vocab.errors import ConfigError, Fault

if TYPE_CHECKING:
    from tree_sitter import Node

KeyPath = tuple[str | int, ...]
Place = tuple[int, int]

_AT = re.compile(r"^(?P<what>.*?)(?: \(at (?:line (?P<line>\d+), column (?P<column>\d+)|end of document)\))?$", re.DOTALL)

# What the standard reader says -> what we say. The first beginning that matches counts.
_SENTENCES: tuple[tuple[str, str, str], ...] = (
    ("Cannot overwrite a value", "a key is given twice in one table", "remove one of them"),
    ("Cannot declare", "a table is given twice", "put all of its keys under one header"),
    ("Duplicate inline table key", "a key is given twice in one inline table", "remove one of them"),
    ("Cannot redefine namespace", "a key extends a table that is already complete", "write it inside that table"),
    ("Cannot mutate immutable namespace", "a key extends an inline table or list", "write it inside those brackets"),
    ("Unclosed array", "a list has no closing `]`, or a comma is missing between two elements", ""),
    ("Unclosed inline table", "an inline table has no closing `}`, or a comma is missing between two pairs", ""),
    ("Expected ']' at the end", "a table header has no closing `]`", ""),
    ("Expected ']]' at the end", "a table list header has no closing `]]`", ""),
    ("Expected '=' after a key", "a key has no `=` after it", "names with characters beyond A-Z a-z 0-9 - _ need quotes"),
    ("Expected newline or end of document", "something stands after the end of the value", "one key and value per line"),
    ("Invalid initial character for a key part", "a key was expected here", "names with other characters need quotes"),
    ("Invalid value", "a value was expected here", "text needs quotes; the truth values are `true` and `false`"),
    ("Unterminated string", "a text has no closing quote", ""),
    ('Expected "\'"', "a text has no closing quote", ""),
    ("Expected '\"", "a text has no closing quote", ""),
    ("Unescaped '\\'", "an unknown escape stands in a text", "use 'single quotes' for text with backslashes"),
    ("Invalid hex value", "an escape needs hexadecimal digits", ""),
    ("Illegal character", "a control character stands in the text", "write it as an escape, such as \\u0000"),
    ("Found invalid character", "a control character stands outside a text", "remove it"),
    ("Invalid statement", "neither a key nor a table header", ""),
    ("Escaped character is not a Unicode scalar value", "an escape names no character", ""),
)


@dataclass(slots=True, eq=False)
class Document:
    """The value of one file, and where everything in it stands."""

    text: str
    file: str
    value: dict[str, Any]
    _places: dict[KeyPath, Place] = field(default_factory=dict, repr=False)

    def place(self, path: KeyPath) -> Place:
        """Line and column, from 1, of the key or list element at `path`; of its nearest parent where it has none itself."""
        if not self._places:
            self._places = dict(_places(self.text))
            self._places.setdefault((), (1, 1))
        while path and path not in self._places:
            path = path[:-1]
        return self._places[path]

    def fault(self, path: KeyPath, sentence: str, hint: str = "") -> Fault:
        """A fault at the place of `path`."""
        line, column = self.place(path)
        return Fault(self.file, line, column, sentence, hint)


def read(text: str, file: str) -> Document:
    """The file's value; a syntax error is a `ConfigError` with its place."""
    try:
        return Document(text, file, tomllib.loads(text))
    except tomllib.TOMLDecodeError as error:
        raise ConfigError([_syntax_fault(str(error), text, file)]) from None
    except RecursionError:
        raise ConfigError([Fault(file, 1, 1, "the file is nested too deeply to be read")]) from None


def _syntax_fault(message: str, text: str, file: str) -> Fault:
    found = _AT.match(message)
    assert found is not None
    what = found["what"]
    if found["line"]:
        line, column = int(found["line"]), int(found["column"])
    else:
        lines = text.split("\n")
        line, column = len(lines), len(lines[-1]) + 1
    for beginning, sentence, hint in _SENTENCES:
        if what.startswith(beginning):
            return Fault(file, line, column, f"not valid TOML: {sentence}", hint)
    return Fault(file, line, column, f"not valid TOML: {what[:1].lower()}{what[1:]}")


def _places(text: str) -> Iterator[tuple[KeyPath, Place]]:
    """Every key path with its place; a later pair for the same path is the better one."""
    import tree_sitter_toml
    from tree_sitter import Language, Parser

    # The values come from a reader that drops carriage returns and so must the places; lines stay the same.
    source = text.replace("\r\n", "\n").encode("utf-8", "surrogatepass")
    lines = source.split(b"\n")

    def where(node: Node) -> Place:
        row, column = node.start_point
        return row + 1, len(lines[row][:column].decode("utf-8", "replace")) + 1

    last: dict[KeyPath, int] = {}  # the index of the newest element of each list of tables
    known: set[KeyPath] = set()
    implicit: set[KeyPath] = set()
    work: list[tuple[KeyPath, Node]] = []
    for top in Parser(Language(tree_sitter_toml.language())).parse(source).root_node.children:
        if top.type == "pair":
            work.append(((), top))
        elif top.type in {"table", "table_array_element"}:
            parts = list(_parts(top))
            path: KeyPath = ()
            for rank, (name, node) in enumerate(parts):
                path = (*path, name)
                if rank < len(parts) - 1:
                    if path not in known:
                        known.add(path)
                        implicit.add(path)
                        yield path, where(node)
                    if path in last:
                        path = (*path, last[path])
                    continue
                if path not in known or path in implicit:
                    yield path, where(node)
                known.add(path)
                implicit.discard(path)
                if top.type == "table_array_element":
                    last[path] = last.get(path, -1) + 1
                    path = (*path, last[path])
                    yield path, where(node)
            work.extend((path, child) for child in top.children if child.type == "pair")
    yield from _inner(work, where)


def _inner(work: list[tuple[KeyPath, Node]], where: Callable[[Node], Place]) -> Iterator[tuple[KeyPath, Place]]:
    """The places inside pairs, lists and inline tables. An own stack, because nesting is the writer's choice."""
    seen: set[KeyPath] = set()
    work.reverse()
    while work:
        base, node = work.pop()
        if node.type == "pair":
            path = base
            for name, part in _parts(node):
                path = (*path, name)
                if path not in seen:
                    seen.add(path)
                    yield path, where(part)
            value = [child for child in node.children if child.type != "comment"][-1]
        else:
            path, value = base, node
        if value.type == "inline_table":
            work.extend((path, child) for child in reversed(value.children) if child.type == "pair")
        elif value.type == "array":
            elements = [child for child in value.children if child.is_named and child.type not in {"comment", "ERROR"}]
            for rank, child in enumerate(elements):
                yield (*path, rank), where(child)
            work.extend(((*path, rank), child) for rank, child in reversed(list(enumerate(elements))))


def _parts(node: Node) -> Iterator[tuple[str, Node]]:
    """The parts of a header's or pair's key, in order."""
    for child in node.children:
        if child.type == "dotted_key":
            yield from _parts(child)
        elif child.type == "bare_key":
            yield _plain(child), child
        elif child.type == "quoted_key":
            yield _unquoted(_plain(child)), child
        elif child.type == "=":
            return


def _plain(node: Node) -> str:
    return (node.text or b"").decode("utf-8", "replace")


def _unquoted(key: str) -> str:
    try:
        value: Mapping[str, Any] = tomllib.loads(f"{key} = 0")
    except tomllib.TOMLDecodeError:
        return key
    return next(iter(value))
