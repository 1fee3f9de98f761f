r"""One JSON text, strictly: no key twice, nothing after it, no NaN, no lone surrogates, no abyss of nesting.

No JSON library at hand refuses a key that stands twice, and two readers of such a text may see different calls. Proving that
no key does costs one serialisation in the common case:

- `dumps(loads(x)) == x` proves it, because a text with a doubled key loses a member on the way.
- Otherwise count colons. Every member has one outside of strings, and inside of strings a colon is itself unless it is
  written as `\u003a`; so equal counts, and no such escape, prove that no member was lost.
- Otherwise the text is read again, slowly, member by member.
"""

from __future__ import annotations

import json
from typing import Any

import orjson

DEEPEST = 254  # levels; what orjson can write. Readers above recurse over values, so this bounds them too

_ESCAPED_COLON = (b"\\u003a", b"\\u003A")


class StrictError(ValueError):
    """The text is not one strict JSON value. `str()` completes the sentence "they ..."."""


def loads(data: bytes) -> Any:
    """The value of `data`, or `StrictError`.

    INVARIANT: a returned value was written in exactly one way of reading `data`: no member of any object was dropped.
    """
    try:
        value = orjson.loads(data)
    except orjson.JSONDecodeError as error:
        if error.msg.startswith("depth limit"):
            raise StrictError(f"are nested deeper than {DEEPEST} levels") from None
        raise StrictError(f"are not valid JSON ({error.msg}, at character {error.pos + 1})") from None
    try:
        canonical = orjson.dumps(value)
    except TypeError:
        raise StrictError(f"are nested deeper than {DEEPEST} levels") from None
    if canonical != data and not (
        canonical.count(b":") == data.count(b":") and _ESCAPED_COLON[0] not in data and _ESCAPED_COLON[1] not in data
    ):
        _reread(data)
    return value


def _unique(pairs: list[tuple[str, Any]]) -> None:
    """The hook of the slow reading; it only looks at keys, so it keeps no value."""
    seen = set()
    for key, _ in pairs:
        if key in seen:
            raise StrictError(f"have the key `{key[:80]}` twice")
        seen.add(key)


_SLOW = json.JSONDecoder(object_pairs_hook=_unique)


def _reread(data: bytes) -> None:
    try:
        _SLOW.decode(data.decode())
    except StrictError:
        raise
    except (ValueError, RecursionError):
        # The quick reader took it and this one does not: two readers disagree, which is the very thing to refuse.
        raise StrictError("can be read in more than one way") from None
