"""The closed set of reasons for which a call is refused, and what each tells the model and the operator."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple


class Disposition(StrEnum):
    """What the refused side should do: FIX the call, ASK the operator, WAIT, or STOP proposing it."""

    FIX = "FIX"
    ASK = "ASK"
    WAIT = "WAIT"
    STOP = "STOP"


class Reason(StrEnum):
    """Why a call is refused. Names are never reused."""

    DEFAULT_DENY = "DEFAULT_DENY"
    POLICY_BLOCK = "POLICY_BLOCK"
    NEEDS_APPROVAL = "NEEDS_APPROVAL"
    SELF_MODIFY = "SELF_MODIFY"
    SECRET_EXFIL = "SECRET_EXFIL"
    EGRESS_BLOCK = "EGRESS_BLOCK"
    MALFORMED = "MALFORMED"
    OPAQUE = "OPAQUE"
    OVERSIZE = "OVERSIZE"
    PROTOCOL_VIOLATION = "PROTOCOL_VIOLATION"
    POLICY_ERROR = "POLICY_ERROR"
    INTERNAL_ERROR = "INTERNAL_ERROR"


class Row(NamedTuple):
    """One row of `REASONS`. `model` and `operator` are one sentence each; `{}` fields are filled by `policy.explain`."""

    disposition: Disposition
    model: str
    operator: str


REASONS: dict[Reason, Row] = {
    Reason.DEFAULT_DENY: Row(
        Disposition.STOP,
        "the tool `{tool}` is not one that this session may use; use a declared tool instead",
        "no profile or policy admits `{tool}`; if it is a new tool of the harness, add it to the profile",
    ),
    Reason.POLICY_BLOCK: Row(
        Disposition.FIX,
        "{why}; {instead}",
        "rule {rule} ({place}) refuses this; to admit it: {grant}",
    ),
    Reason.NEEDS_APPROVAL: Row(
        Disposition.ASK,
        "{why}, which needs the operator's approval; go on without it, or say in your answer what you need and why",
        "rule {rule} ({place}) asks first and no approver is attached; to admit it: {grant}",
    ),
    Reason.SELF_MODIFY: Row(
        Disposition.STOP,
        "{why}; the guard's and the harness's own permissions cannot be changed from inside the session",
        "rule {rule} ({place}) protects the guard itself; make this change yourself, outside the session",
    ),
    Reason.SECRET_EXFIL: Row(
        Disposition.STOP,
        "{why}; secrets may not be read and sent in one call",
        "rule {rule} ({place}) refuses a call that reads a secret and reaches the network",
    ),
    Reason.EGRESS_BLOCK: Row(
        Disposition.FIX,
        "{why}; {instead}",
        "rule {rule} ({place}) refuses this peer; to admit it: {grant}",
    ),
    Reason.MALFORMED: Row(
        Disposition.FIX,
        "the arguments of `{tool}` could not be accepted: {why}; send them again as its schema says",
        "the call could not be read: {why}",
    ),
    Reason.OPAQUE: Row(
        Disposition.FIX,
        "{why}, so what would run cannot be known; write the command out with constant words",
        "what would run could not be resolved: {why}; to admit it: {grant}",
    ),
    Reason.OVERSIZE: Row(
        Disposition.FIX,
        "{why}; split the work into smaller calls",
        "the call is over a limit of the judge: {why}",
    ),
    Reason.PROTOCOL_VIOLATION: Row(
        Disposition.STOP,
        "the answer contradicted itself: {why}",
        "the provider's stream contradicted itself: {why}; nothing that was held has been released",
    ),
    Reason.POLICY_ERROR: Row(
        Disposition.STOP,
        "the call could not be judged, so it was refused",
        "an error while judging: {why}; run `checkrein policy check`",
    ),
    Reason.INTERNAL_ERROR: Row(
        Disposition.STOP,
        "the guard failed while handling this call, so it was refused",
        "the guard failed: {why}; please report this with the journal row",
    ),
}
