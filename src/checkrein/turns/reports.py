"""What Codex did, as reports: the phase of each thing from its own status, and the original JSON with it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from checkrein.replay.classify import Landing, Row
from checkrein.replay.items import OUTPUT_OF, kind_of, text_field
from checkrein.vocab.messages import Category, CodexAction, Phase
from checkrein.wire.appserver import turn_of

STATUS_PHASES: Mapping[str, Phase] = {
    "completed": Phase.COMPLETED,
    "success": Phase.COMPLETED,
    "failed": Phase.FAILED,
    "error": Phase.FAILED,
    "errored": Phase.FAILED,
    "incomplete": Phase.FAILED,
    "interrupted": Phase.FAILED,
    "aborted": Phase.FAILED,
    "cancelled": Phase.FAILED,
    "canceled": Phase.FAILED,
    "declined": Phase.DECLINED,
    "denied": Phase.DECLINED,
    "rejected": Phase.DECLINED,
    "inProgress": Phase.STARTED,
    "in_progress": Phase.STARTED,
    "running": Phase.STARTED,
    "searching": Phase.STARTED,
    "generating": Phase.STARTED,
    "queued": Phase.STARTED,
}


def status_phase(status: Any) -> Phase | None:
    """The phase that a status names, in any of the server's forms; None when it names none that we know."""
    if isinstance(status, Mapping):
        status = status.get("type")
    return STATUS_PHASES.get(status) if isinstance(status, str) else None


def of_raw_item(landing: Landing, event: str, params: Mapping[str, Any], ordinal: int) -> CodexAction:
    """The report of a raw item whose row has one."""
    category = landing.report
    assert category is not None
    item = landing.item
    about = kind_of(item) or "item without a type"
    ident = text_field(item, "call_id") or text_field(item, "id") or f"{turn_of(params) or ''}:{ordinal}"
    note = landing.fault or ""
    if landing.row is Row.COMPACTION:
        note = "the thread's history is no longer the session's; the next request rebuilds it"
    return CodexAction(category, _raw_phase(item), event, ident, about, params, note)


def _raw_phase(item: Mapping[str, Any]) -> Phase:
    named = status_phase(item.get("status"))
    if kind_of(item) in OUTPUT_OF:
        # A call's status tells of its making; that it was carried out is another event.
        return named if named in {Phase.FAILED, Phase.DECLINED} else Phase.REQUESTED
    return named or Phase.COMPLETED


def of_thread_item(event: str, params: Mapping[str, Any], item: Mapping[str, Any], *, ended: bool) -> CodexAction:
    """The report of one end of a thread item's life."""
    named = status_phase(item.get("status"))
    if not ended:
        phase = Phase.STARTED
    elif named is Phase.STARTED:
        phase = Phase.UPDATED
    else:
        phase = named or Phase.COMPLETED
    about = kind_of(item) or "item without a type"
    return CodexAction(Category.ACTION, phase, event, text_field(item, "id") or event, about, params)


def of_event(category: Category, event: str, params: Mapping[str, Any], note: str = "") -> CodexAction:
    """The report of a notification that is no item."""
    run = params.get("run")
    named = status_phase(run.get("status") if isinstance(run, Mapping) else params.get("status"))
    phase = named or (Phase.FAILED if category is Category.DIAGNOSTIC and event == "error" else Phase.UPDATED)
    if event.endswith("/completed") and named is None:
        phase = Phase.COMPLETED
    elif event.endswith("/started"):
        phase = Phase.STARTED
    ident = next((str(params[key]) for key in ("itemId", "reviewId", "turnId", "threadId") if params.get(key)), event)
    return CodexAction(category, phase, event, ident, event, params, note)


def of_ours(category: Category, name: str, ident: str, original: Mapping[str, Any], note: str) -> CodexAction:
    """A report of something that we did or found. Its event has no slash, so it is none of the protocol's."""
    return CodexAction(category, Phase.COMPLETED, name, ident, name, original, note)
