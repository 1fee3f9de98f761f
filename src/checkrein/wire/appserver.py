"""The protocol of `codex app-server`, as far as we rely on it: versions, requests, answers, and what each event is to us.

Newline JSON-RPC without a `"jsonrpc"` member. `rawResponseItem/completed` and `rawResponse/completed` are in no published
schema; they were read off live runs of every version in `TESTED`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from checkrein.vocab.calls import NOTHING
from checkrein.vocab.messages import Category, Image, Text, ToolResult

# The oldest and the newest version that the live tests drive. A version outside is refused unless the operator allows it.
TESTED = ("0.153.3", "0.171.0")

# The server refuses `turn/start` and `turn/steer` input above 1,048,576 characters; we stay below, and inject what is larger.
INPUT_CAP = 1_000_000

# The turn id under which injected history and the context of a cold start are echoed starts with this.
SETUP_TURN = "auto-compact-"

BASE_INSTRUCTIONS_KIND = "model.base_instructions"

# Long enough that Code Mode never samples the model again while the harness runs a tool.
YIELD_MS = 3_600_000

# Native tools and Codex-owned context that go away by a switch which every tested version knows.
FEATURES_OFF = (
    "shell_tool", "unified_exec", "view_image", "goals", "sleep_tool", "multi_agent", "apps", "plugins", "hooks",
    "image_generation",
)  # fmt: skip
CONTEXT_OFF: Mapping[str, Any] = {
    "skills.include_instructions": False,
    "include_permissions_instructions": False,
    "include_environment_context": False,
    "include_collaboration_mode_instructions": False,
    "project_doc_max_bytes": 0,
    "web_search": "disabled",
    "notify": [],
}
# What no switch removes; said in the report of every new thread.
KEPT_BY_CODEX = (
    "the AGENTS.md of Codex's own home",
    "request_user_input and apply_patch, or exec and wait on models that only know Code Mode",
    "the multi-agent messages and tools of such models",
)


def version_of(user_agent: str) -> str:
    """The version inside `initialize`'s user agent (`<client>/0.171.0 (…)`), or an empty string."""
    found = re.match(r"[^/]+/(\d+\.\d+\.\d+[\w.-]*)", user_agent)
    return found.group(1) if found else ""


def is_tested(version: str) -> bool:
    numbers = _numbers(version)
    low, high = (_numbers(bound) for bound in TESTED)
    return numbers is not None and low is not None and high is not None and low <= numbers <= high


def _numbers(version: str) -> tuple[int, int, int] | None:
    """None for anything but three plain numbers: a pre-release is not the release."""
    found = re.fullmatch(r"(\d+)\.(\d+)\.(\d+)", version)
    return (int(found[1]), int(found[2]), int(found[3])) if found else None


@dataclass(frozen=True, slots=True)
class Setup:
    """How every thread is set up, apart from what the request itself says. Part of a lease's epoch."""

    cwd: str
    namespace: str = "checkrein"
    model_provider: str | None = None
    native_tools: bool = False
    environments: tuple[Mapping[str, Any], ...] | None = ()
    sandbox: str = "read-only"
    approvals: str = "never"
    summary: str | None = None
    muted_servers: tuple[str, ...] = ()
    config: Mapping[str, Any] = field(default_factory=lambda: NOTHING)

    def overrides(self) -> dict[str, Any]:
        """The configuration of the thread: ours first, then the operator's."""
        config: dict[str, Any] = {
            "features.code_mode.direct_only_tool_namespaces": [self.namespace],
            "features.code_mode.default_exec_yield_time_ms": YIELD_MS,
            # The harness bounds its own results and compacts its own history.
            "tool_output_token_limit": 1_000_000_000,
            "model_auto_compact_token_limit": 2**53 - 1,
            **CONTEXT_OFF,
        }
        if not self.native_tools:
            config |= {f"features.{name}": False for name in FEATURES_OFF}
        if self.muted_servers:
            config["mcp_servers"] = {name: {"enabled": False} for name in self.muted_servers}
        return config | dict(self.config)


def initialize(name: str, version: str) -> dict[str, Any]:
    return {"clientInfo": {"name": name, "title": name, "version": version}, "capabilities": {"experimentalApi": True}}


def thread_start(setup: Setup, model: str, system: str, tools: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    params: dict[str, Any] = {
        "model": model,
        "cwd": setup.cwd,
        "approvalPolicy": setup.approvals,
        "sandbox": setup.sandbox,
        "baseInstructions": system,
        "developerInstructions": "",
        "config": setup.overrides(),
        "ephemeral": True,
        "dynamicTools": [],
        "runtimeWorkspaceRoots": [],
        "selectedCapabilityRoots": [],
        "experimentalRawEvents": True,
    }
    if tools:
        params["dynamicTools"] = [
            {"type": "namespace", "name": setup.namespace, "description": "Tools of the harness.", "tools": list(tools)}
        ]
    if setup.environments is not None:
        params["environments"] = list(setup.environments)
    if setup.model_provider is not None:
        params["modelProvider"] = setup.model_provider
    return params


def inject(thread: str, items: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    return {"threadId": thread, "items": list(items)}


def turn_start(thread: str, text: str | None, effort: str | None, summary: str | None) -> dict[str, Any]:
    params: dict[str, Any] = {"threadId": thread, "input": [] if text is None else [{"type": "text", "text": text}]}
    if effort is not None:
        params["effort"] = effort
    if summary is not None:
        params["summary"] = summary
    return params


def steer(thread: str, turn: str, text: str) -> dict[str, Any]:
    return {"threadId": thread, "expectedTurnId": turn, "input": [{"type": "text", "text": text}]}


def interrupt(thread: str, turn: str) -> dict[str, Any]:
    return {"threadId": thread, "turnId": turn}


def tool_answer(result: ToolResult) -> dict[str, Any]:
    return {"contentItems": [_answer_part(part) for part in result.content], "success": not result.is_error}


def _answer_part(part: Text | Image) -> dict[str, Any]:
    if isinstance(part, Text):
        return {"type": "inputText", "text": part.text}
    return {"type": "inputImage", "imageUrl": part.url}


def tool_refusal(why: str) -> dict[str, Any]:
    """An answer that the model reads. A JSON-RPC error would hide the words from it."""
    return {"contentItems": [{"type": "inputText", "text": f"This call was not executed: {why}."}], "success": False}


TOOL_CALL = "item/tool/call"

# What every other server request is answered; None: an error, because no harmless answer exists.
DECLINES: Mapping[str, Mapping[str, Any] | None] = {
    "item/commandExecution/requestApproval": {"decision": "decline"},
    "item/fileChange/requestApproval": {"decision": "decline"},
    "item/permissions/requestApproval": {"permissions": {}},
    "item/tool/requestUserInput": {"answers": {}},
    "mcpServer/elicitation/request": {"action": "decline", "content": None},
    "applyPatchApproval": {"decision": "denied"},
    "execCommandApproval": {"decision": "denied"},
    "account/chatgptAuthTokens/refresh": None,
    "attestation/generate": None,
    "currentTime/read": None,
}


class Handling(StrEnum):
    """What a notification is to us."""

    RAW_ITEM = "raw item"
    RAW_RESPONSE = "end of a response"
    TEXT_DELTA = "text"
    REASONING_DELTA = "reasoning"
    ITEM_STARTED = "start of an item"
    ITEM_COMPLETED = "end of an item"
    TURN_STARTED = "start of the turn"
    TURN_COMPLETED = "end of the turn"
    TOKENS = "usage when a response brought none"
    ERROR = "diagnostic report; a retry gives up the open blocks"
    CLOSED = "end of the thread"
    PROGRESS = "shown, not stored"
    ACTION = "action report"
    LIFECYCLE = "lifecycle report"
    DIAGNOSTIC = "diagnostic report"
    QUIET = "nothing"


# Every notification of the newest tested version. One that is not here is a diagnostic report, or progress if its name says delta.
NOTIFICATIONS: Mapping[str, Handling] = {
    "rawResponseItem/completed": Handling.RAW_ITEM,
    "rawResponse/completed": Handling.RAW_RESPONSE,
    "item/agentMessage/delta": Handling.TEXT_DELTA,
    "item/reasoning/summaryTextDelta": Handling.REASONING_DELTA,
    "item/reasoning/textDelta": Handling.REASONING_DELTA,
    "item/started": Handling.ITEM_STARTED,
    "item/completed": Handling.ITEM_COMPLETED,
    "turn/started": Handling.TURN_STARTED,
    "turn/completed": Handling.TURN_COMPLETED,
    "thread/tokenUsage/updated": Handling.TOKENS,
    "error": Handling.ERROR,
    "thread/closed": Handling.CLOSED,
    "thread/deleted": Handling.CLOSED,
    "item/reasoning/summaryPartAdded": Handling.PROGRESS,
    "item/plan/delta": Handling.PROGRESS,
    "item/commandExecution/outputDelta": Handling.PROGRESS,
    "item/fileChange/outputDelta": Handling.PROGRESS,
    "item/fileChange/patchUpdated": Handling.PROGRESS,
    "item/mcpToolCall/progress": Handling.PROGRESS,
    "turn/diff/updated": Handling.PROGRESS,
    "command/exec/outputDelta": Handling.PROGRESS,
    "process/outputDelta": Handling.PROGRESS,
    "thread/realtime/item/transcript/delta": Handling.PROGRESS,
    "thread/realtime/transcript/delta": Handling.PROGRESS,
    "thread/realtime/outputAudio/delta": Handling.PROGRESS,
    "thread/search/partial": Handling.PROGRESS,
    "externalAgentConfig/import/progress": Handling.PROGRESS,
    "hook/started": Handling.ACTION,
    "hook/completed": Handling.ACTION,
    "turn/plan/updated": Handling.ACTION,
    "item/autoApprovalReview/started": Handling.ACTION,
    "item/autoApprovalReview/completed": Handling.ACTION,
    "autoApprovalReview/strictReviewRequired": Handling.ACTION,
    "item/commandExecution/terminalInteraction": Handling.ACTION,
    "thread/compacted": Handling.ACTION,
    "thread/goal/updated": Handling.ACTION,
    "thread/goal/cleared": Handling.ACTION,
    "process/exited": Handling.ACTION,
    "mcpServer/event/stream/notification": Handling.ACTION,
    "mcpServer/startupStatus/updated": Handling.LIFECYCLE,
    "mcpServer/oauthLogin/completed": Handling.LIFECYCLE,
    "thread/environment/connected": Handling.LIFECYCLE,
    "thread/environment/disconnected": Handling.LIFECYCLE,
    "windowsSandbox/setupCompleted": Handling.LIFECYCLE,
    "warning": Handling.DIAGNOSTIC,
    "guardianWarning": Handling.DIAGNOSTIC,
    "deprecationNotice": Handling.DIAGNOSTIC,
    "configWarning": Handling.DIAGNOSTIC,
    "windows/worldWritableWarning": Handling.DIAGNOSTIC,
    "model/rerouted": Handling.DIAGNOSTIC,
    "model/verification": Handling.DIAGNOSTIC,
    "model/safetyBuffering/updated": Handling.DIAGNOSTIC,
    "modelProvider/authRecoveryStarted": Handling.DIAGNOSTIC,
    "modelProvider/authRecoveryCompleted": Handling.DIAGNOSTIC,
    "turn/moderationMetadata": Handling.DIAGNOSTIC,
    "account/updated": Handling.DIAGNOSTIC,
    "account/login/completed": Handling.DIAGNOSTIC,
    "account/gatewayOAuth/changed": Handling.DIAGNOSTIC,
    "thread/reverted": Handling.DIAGNOSTIC,
    "thread/realtime/started": Handling.DIAGNOSTIC,
    "thread/realtime/itemAdded": Handling.DIAGNOSTIC,
    "thread/realtime/item/started": Handling.DIAGNOSTIC,
    "thread/realtime/item/completed": Handling.DIAGNOSTIC,
    "thread/realtime/transcript/done": Handling.DIAGNOSTIC,
    "thread/realtime/sdp": Handling.DIAGNOSTIC,
    "thread/realtime/error": Handling.DIAGNOSTIC,
    "thread/realtime/closed": Handling.DIAGNOSTIC,
    "externalAgentConfig/import/completed": Handling.DIAGNOSTIC,
    "thread/started": Handling.QUIET,
    "thread/status/changed": Handling.QUIET,
    "thread/readState/changed": Handling.QUIET,
    "thread/archived": Handling.QUIET,
    "thread/unarchived": Handling.QUIET,
    "thread/name/updated": Handling.QUIET,
    "thread/section/changed": Handling.QUIET,
    "thread/attachment/updated": Handling.QUIET,
    "thread/prediction/updated": Handling.QUIET,
    "thread/queue/changed": Handling.QUIET,
    "thread/project/updated": Handling.QUIET,
    "thread/settings/updated": Handling.QUIET,
    "project/changed": Handling.QUIET,
    "skills/changed": Handling.QUIET,
    "serverRequest/resolved": Handling.QUIET,
    "account/rateLimits/updated": Handling.QUIET,
    "app/list/updated": Handling.QUIET,
    "remoteControl/status/changed": Handling.QUIET,
    "fs/changed": Handling.QUIET,
    "fuzzyFileSearch/sessionUpdated": Handling.QUIET,
    "fuzzyFileSearch/sessionCompleted": Handling.QUIET,
}

CATEGORIES: Mapping[Handling, Category] = {
    Handling.ACTION: Category.ACTION,
    Handling.LIFECYCLE: Category.LIFECYCLE,
    Handling.DIAGNOSTIC: Category.DIAGNOSTIC,
}


def handling(method: str) -> Handling:
    known = NOTIFICATIONS.get(method)
    if known is not None:
        return known
    return Handling.PROGRESS if method.lower().endswith("delta") else Handling.DIAGNOSTIC


def thread_of(params: Mapping[str, Any]) -> str | None:
    """The thread that an event or a server request belongs to; None when it is the whole process's."""
    for key in ("threadId", "conversationId"):
        if isinstance(params.get(key), str):
            return str(params[key])
    thread = params.get("thread")
    return thread["id"] if isinstance(thread, dict) and isinstance(thread.get("id"), str) else None


def turn_of(params: Mapping[str, Any]) -> str | None:
    if isinstance(params.get("turnId"), str):
        return str(params["turnId"])
    turn = params.get("turn")
    return turn["id"] if isinstance(turn, dict) and isinstance(turn.get("id"), str) else None
