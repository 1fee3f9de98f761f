"""Bytes to values and back, incremental; any chunking gives the same values.

`WIRES` is the one table of wires, by the names that profiles use.
"""

from __future__ import annotations

from collections.abc import Mapping

from checkrein.wire import openai_responses
from checkrein.wire.codec import Codec

WIRES: Mapping[str, Codec] = {
    "openai-responses": openai_responses.CODEC,
}
