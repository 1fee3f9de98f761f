"""The journal rows of one exchange: their own fields, in plain JSON values. Redaction is the journal's business."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

import orjson

from checkrein.profiles.schema import Profile
from checkrein.vocab.calls import Call
from checkrein.vocab.reasons import Reason
from checkrein.vocab.verdicts import Verdict

FAULTY_TEXT = 4096  # characters kept of arguments that could not be read


def digest(call: Call) -> str:
    """SHA-256 of what a call would do: equal arguments have equal digests, however they were spaced or ordered."""
    spelled = (
        call.text.encode(errors="surrogatepass") if call.fault else orjson.dumps(dict(call.args), option=orjson.OPT_SORT_KEYS)
    )
    return hashlib.sha256(spelled).hexdigest()


def decision(call: Call, verdict: Verdict, profile: Profile, policy_digest: str) -> dict[str, Any]:
    """The row of one verdict."""
    rule = verdict.rule
    fields: dict[str, Any] = {
        "call_id": call.id,
        "tool": call.name,
        "namespace": call.namespace,
        "call_kind": call.kind.value,
        "profile": profile.name,
        "wire": profile.wire.value,
        "effects": [effect.to_json() for effect in verdict.effects],
        "verdict": verdict.outcome.value,
        "released": verdict.released,
        "read_only": verdict.read_only,
        "reason": verdict.reason.value if verdict.reason else None,
        "rule": rule.id if rule else None,
        "layer": rule.layer.value if rule else None,
        "file": rule.file if rule else None,
        "remedy": verdict.remedy or None,
        "args_digest": digest(call),
        "args": dict(call.args),
        "policy_digest": policy_digest,
        "profile_digest": profile.digest,
    }
    if call.fault:
        fields |= {"fault": call.fault, "text": call.text[:FAULTY_TEXT]}
    return fields


def carried(call: Call | None, form: str, reason: Reason | None = None) -> dict[str, Any]:
    """The row which says how a call, or the refusal of one, left."""
    return {
        "call_id": call.id if call else None,
        "tool": call.name if call else None,
        "namespace": call.namespace if call else None,
        "form": form,
        "reason": reason.value if reason else None,
    }


def usage(response: str, model: str, reported: Mapping[str, Any]) -> dict[str, Any]:
    """The row of the tokens that the provider reported."""
    return {"response": response, "model": model, "tokens": dict(reported)}


def upstream(event: str, why: str = "", **more: Any) -> dict[str, Any]:
    """The row of an answer that did not come to its end."""
    return {"event": event, "why": why, "failed": True, **more}
