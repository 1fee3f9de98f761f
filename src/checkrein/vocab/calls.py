"""One proposed tool call, as a wire codec read it. The only place where tool identity is spelled."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType
from typing import Any

NOTHING: Mapping[Any, Any] = MappingProxyType({})


class CallKind(StrEnum):
    """The shape in which a wire carries a call."""

    FUNCTION = "function"
    CUSTOM = "custom"
    LOCAL_SHELL = "local_shell"
    TOOL_SEARCH = "tool_search"
    HOSTED = "hosted"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Call:
    """One proposed tool call.

    `args` is the parsed argument object. A custom (freeform) call carries its text as `{"input": text}`; a local shell call
    its `action` object. `args` is empty when `fault` says, in one lower-case sentence, why the arguments could not be read;
    such a call is MALFORMED. `text` is the argument text exactly as proposed. `namespace` is None when absent or null.
    `declared` holds the argument keys which this very request declares for the tool, or None when it declares no such tool.
    """

    name: str
    id: str = ""
    namespace: str | None = None
    kind: CallKind = CallKind.FUNCTION
    args: Mapping[str, Any] = field(default_factory=lambda: NOTHING)
    text: str = ""
    fault: str | None = None
    declared: frozenset[str] | None = None

    @property
    def spelling(self) -> str:
        """The name with its namespace, for people."""
        return f"{self.namespace}.{self.name}" if self.namespace else self.name


@dataclass(frozen=True, slots=True)
class Result:
    """The output of an earlier call as the next request shows it: `call_id` and its plain text."""

    call_id: str
    text: str
    name: str | None = None
