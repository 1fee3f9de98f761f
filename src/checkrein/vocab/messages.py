"""What goes to a model and what is kept of its answer: content blocks, messages, tools, one stateless request.

A message's durable content is authoritative; its `replay` only restores the provider's own form of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from checkrein.vocab.calls import NOTHING


class BlockKind(StrEnum):
    """The kinds of content block, as they are written into a log."""

    TEXT = "text"
    REASONING = "reasoning"
    IMAGE = "image"
    TOOL_CALL = "tool-call"
    TOOL_RESULT = "tool-result"
    CODEX_ACTION = "codex-action"


@dataclass(frozen=True, slots=True)
class Text:
    text: str
    kind = BlockKind.TEXT


@dataclass(frozen=True, slots=True)
class Reasoning:
    """What the provider shows of its thinking. Never sent back as text."""

    text: str
    kind = BlockKind.REASONING


@dataclass(frozen=True, slots=True)
class Image:
    """An image by its URL, usually a `data:` URL."""

    url: str
    kind = BlockKind.IMAGE


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call that the harness must execute. `arguments` is one JSON object as the model wrote it, byte for byte."""

    id: str
    name: str
    arguments: str
    kind = BlockKind.TOOL_CALL


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What the harness answers to the call `call_id`."""

    call_id: str
    content: tuple[Text | Image, ...]
    is_error: bool = False
    kind = BlockKind.TOOL_RESULT


class Category(StrEnum):
    """What a report is about."""

    LIFECYCLE = "lifecycle"
    CONTEXT = "context"
    ACTION = "action"
    DIAGNOSTIC = "diagnostic"


class Phase(StrEnum):
    """How far the reported thing has come."""

    REQUESTED = "requested"
    STARTED = "started"
    UPDATED = "updated"
    COMPLETED = "completed"
    FAILED = "failed"
    DECLINED = "declined"


@dataclass(frozen=True, slots=True)
class CodexAction:
    """A report of what Codex itself did, added or said. It is never executed and never sent back as it is.

    `event` is the exact protocol event (or the name of our own, which has no slash), `about` the item type or method that it
    concerns, `original` its JSON. `note` is one sentence of ours: what was answered, or what a reader must know.
    """

    category: Category
    phase: Phase
    event: str
    id: str
    about: str
    original: Mapping[str, Any]
    note: str = ""
    kind = BlockKind.CODEX_ACTION


Block = Text | Reasoning | Image | ToolCall | ToolResult | CodexAction


class Role(StrEnum):
    SYSTEM = "system"
    USER = "user"
    ASSISTANT = "assistant"


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a session. Tool results are blocks of a user message. `replay` is the provider's own state of an
    assistant step, exactly as its finish chunk brought it.
    """

    role: Role
    content: tuple[Block, ...]
    replay: Mapping[str, Any] | None = None

    @classmethod
    def user(cls, text: str) -> Message:
        return cls(Role.USER, (Text(text),))

    @classmethod
    def result(cls, call_id: str, text: str, *, is_error: bool = False) -> Message:
        return cls(Role.USER, (ToolResult(call_id, (Text(text),), is_error),))


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool of the harness. `parameters` is a JSON schema of its argument object."""

    name: str
    description: str = ""
    parameters: Mapping[str, Any] = field(default_factory=lambda: {"type": "object", "properties": {}})


@dataclass(frozen=True, slots=True)
class Request:
    """One stateless model request: everything that the answer may depend on.

    `skills` is the session's current skill catalog (the names that the tool `skill` may be called with). A `one_shot`
    request (a title, a summary) has a thread of its own and neither uses nor disturbs what is kept for the session.
    `max_tokens` is advice: a provider that cannot enforce it says so in a report and answers all the same.
    """

    session: str
    model: str
    messages: tuple[Message, ...]
    system: str = ""
    tools: tuple[Tool, ...] = ()
    skills: tuple[str, ...] = ()
    effort: str | None = None
    one_shot: bool = False
    max_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one response. INVARIANT: the five numbers are disjoint, their sum is all tokens of the response."""

    input: int = 0
    cached_input: int = 0
    cache_write: int = 0
    output: int = 0
    reasoning: int = 0

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            self.input + other.input,
            self.cached_input + other.cached_input,
            self.cache_write + other.cache_write,
            self.output + other.output,
            self.reasoning + other.reasoning,
        )


class FailureCode(StrEnum):
    """Why a request failed. Route on this, never on the message."""

    CONTEXT_EXCEEDED = "context_exceeded"
    AUTH = "auth"
    QUOTA = "quota"
    RATE_LIMIT = "rate_limit"
    OVERLOADED = "overloaded"
    POLICY = "policy"
    TRANSPORT = "transport"
    LENGTH = "length"
    SERVER = "server"
    INVALID_REQUEST = "invalid_request"
    UNKNOWN_MODEL = "unknown_model"
    TIMEOUT = "timeout"
    ABORTED = "aborted"
    PROTOCOL = "protocol"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Failure:
    """A failed request: its code, the provider's own words, the HTTP status and the structured error where known."""

    code: FailureCode
    message: str
    status: int | None = None
    detail: Mapping[str, Any] = field(default_factory=lambda: NOTHING)
