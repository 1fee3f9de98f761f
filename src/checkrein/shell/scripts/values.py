"""What an expression of inline code may be: constants, names of known functions, places, and what is known of the rest.

Shared by the languages that are parsed. A value is immutable. A NUL in a text stands for an unknown part, as in shell words.
"""

from __future__ import annotations

import base64
import binascii
import codecs
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from checkrein.shell.spec import Feed

UNKNOWN = "\0"
PLACEHOLDER = "__unknown_part__"
MAX_TEXT = 65_536
MAX_ITEMS = 256
MAX_ALTERNATIVES = 8


@dataclass(frozen=True, slots=True)
class Text:
    """A string (or bytes). `roots` are places that its unknown part is known to come from."""

    text: str
    feed: Feed | None = None
    path: bool = False  # a path object

    @property
    def known(self) -> bool:
        return UNKNOWN not in self.text


@dataclass(frozen=True, slots=True)
class Number:
    number: float


@dataclass(frozen=True, slots=True)
class Items:
    """A list or tuple; `open` when it may hold more."""

    items: tuple[Value, ...]
    open: bool = False


@dataclass(frozen=True, slots=True)
class Table:
    """A dictionary or plain object with constant keys."""

    items: tuple[tuple[str, Value], ...]

    def get(self, key: str) -> Value | None:
        return next((value for name, value in self.items if name == key), None)


@dataclass(frozen=True, slots=True)
class Ref:
    """A module, or something inside one, by its dotted name."""

    name: str


@dataclass(frozen=True, slots=True)
class Thing:
    """An object of a known kind (`file`, `session`, `socket` ...), with the value that it was made from."""

    kind: str
    of: Value
    mode: str = ""


@dataclass(frozen=True, slots=True)
class Code:
    """A function of the text itself: its node."""

    name: str
    node: Any


@dataclass(frozen=True, slots=True)
class Alternatives:
    values: tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class Unknown:
    """Something else; `feed` says what is known of its content."""

    feed: Feed | None = None


Value = Text | Number | Items | Table | Ref | Thing | Code | Alternatives | Unknown
NOTHING = Unknown()


def feed_of(value: Value) -> Feed | None:
    """What is known of the content of a value."""
    if isinstance(value, Text | Unknown):
        return value.feed
    if isinstance(value, Thing):
        return feed_of(value.of)
    if isinstance(value, Items):
        return next((feed for feed in map(feed_of, value.items) if feed is not None), None)
    return None


def either(a: Value | None, b: Value) -> Value:
    """One of two values."""
    if a is None or a == b:
        return b
    values = (*(b.values if isinstance(b, Alternatives) else (b,)), *(a.values if isinstance(a, Alternatives) else (a,)))
    unique = tuple(dict.fromkeys(values))
    return unique[0] if len(unique) == 1 else Alternatives(unique) if len(unique) <= MAX_ALTERNATIVES else NOTHING


def each(value: Value) -> tuple[Value, ...]:
    return value.values if isinstance(value, Alternatives) else (value,)


def as_text(value: Value) -> Text:
    """The value inside a string."""
    if isinstance(value, Alternatives):
        value = value.values[0]
    if isinstance(value, Text):
        return value
    if isinstance(value, Number):
        number = value.number
        return Text(str(int(number)) if number == int(number) else str(number)) if abs(number) < 1e15 else Text(UNKNOWN)
    return Text(UNKNOWN, feed_of(value))


def joined(parts: Sequence[Value], glue: str = "") -> Text:
    texts = [as_text(part) for part in parts]
    feed = next((text.feed for text in texts if text.feed is not None), None)
    return Text(glue.join(text.text for text in texts)[:MAX_TEXT], feed)


def changed(value: Text, change: Callable[[str], str | None]) -> Value:
    """A text with a function applied, when all of it is known."""
    if not value.known:
        return Text(UNKNOWN, value.feed)
    result = change(value.text)
    return Text(result, value.feed) if result is not None and UNKNOWN not in result else Text(UNKNOWN, Feed(decoded=True))


def decode(value: Value, how: str) -> Value:
    """A text decoded; what cannot be decoded here is marked as decoded."""
    text = as_text(value)
    if not text.known:
        feed = text.feed
        return Unknown(Feed(decoded=True, fetched=feed.fetched if feed is not None else False))
    return changed(text, lambda raw: decoded(raw, how))


def decoded(raw: str, how: str) -> str | None:
    try:
        if how == "base64":
            packed = "".join(raw.split()).replace("-", "+").replace("_", "/")
            return base64.b64decode(packed + "=" * (-len(packed) % 4)).decode("utf-8")
        if how == "hex":
            return bytes.fromhex(raw).decode("utf-8")
        if how == "base32":
            return base64.b32decode(raw + "=" * (-len(raw) % 8)).decode("utf-8")
        if how in ("rot13", "rot_13"):
            return codecs.decode(raw, "rot13")
        if how == "unicode_escape":
            return raw.encode("latin-1", "backslashreplace").decode("unicode_escape")
    except (binascii.Error, ValueError):
        return None
    return None


def pick(value: Value, key: Value) -> Value:
    """`value[key]` for constants."""
    if isinstance(value, Alternatives):
        value = value.values[0]
    if isinstance(value, Items) and isinstance(key, Number) and key.number == int(key.number):
        at = int(key.number)
        if -len(value.items) <= at < len(value.items) and not (value.open and at < 0):
            return value.items[at]
        return NOTHING
    if isinstance(value, Table) and isinstance(key, Text):
        found = value.get(key.text)
        return found if found is not None else NOTHING
    if isinstance(value, Text) and isinstance(key, Number) and value.known:
        at = int(key.number)
        return Text(value.text[at], value.feed) if -len(value.text) <= at < len(value.text) else NOTHING
    return Unknown(feed_of(value))
