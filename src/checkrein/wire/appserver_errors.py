"""A failed turn's error to a failure code. Structure decides, words never do alone.

Order: the error class that the server names; the HTTP status inside it; a JSON error body that the server passed on whole;
and, only where the class is `other`, two sentences of fixed form in which the server wraps a machine token. What remains is
`unknown`, which is honest and routes nowhere.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import orjson

from checkrein.vocab.messages import Failure, FailureCode

CLASSES: Mapping[str, FailureCode] = {
    "contextWindowExceeded": FailureCode.CONTEXT_EXCEEDED,
    "unauthorized": FailureCode.AUTH,
    "usageLimitExceeded": FailureCode.QUOTA,
    "sessionBudgetExceeded": FailureCode.QUOTA,
    "rateLimitExceeded": FailureCode.RATE_LIMIT,
    "serverOverloaded": FailureCode.OVERLOADED,
    "flexUnavailable": FailureCode.OVERLOADED,
    "policyCapacityUnavailable": FailureCode.OVERLOADED,
    "cyberPolicy": FailureCode.POLICY,
    "bioPolicy": FailureCode.POLICY,
    "misalignmentPolicyViolation": FailureCode.POLICY,
    "tooManyDenials": FailureCode.POLICY,
    "inferenceHookDenied": FailureCode.POLICY,
    "internalServerError": FailureCode.SERVER,
    "badRequest": FailureCode.INVALID_REQUEST,
    "modelNotFound": FailureCode.UNKNOWN_MODEL,
    "sandboxError": FailureCode.SERVER,
    "threadRollbackFailed": FailureCode.SERVER,
    # Classes that carry an HTTP status; this is what they mean without one.
    "httpConnectionFailed": FailureCode.TRANSPORT,
    "responseStreamConnectionFailed": FailureCode.TRANSPORT,
    "responseStreamDisconnected": FailureCode.TRANSPORT,
    "responseTooManyFailedAttempts": FailureCode.TRANSPORT,
}

STATUSES: Mapping[int, FailureCode] = {
    400: FailureCode.INVALID_REQUEST,
    401: FailureCode.AUTH,
    402: FailureCode.QUOTA,
    403: FailureCode.AUTH,
    404: FailureCode.INVALID_REQUEST,
    408: FailureCode.TRANSPORT,
    413: FailureCode.INVALID_REQUEST,
    422: FailureCode.INVALID_REQUEST,
    429: FailureCode.RATE_LIMIT,
    503: FailureCode.OVERLOADED,
    529: FailureCode.OVERLOADED,
}

# `error.code` or `error.type` of a body that the model endpoint sent.
BODY_CODES: Mapping[str, FailureCode] = {
    "context_length_exceeded": FailureCode.CONTEXT_EXCEEDED,
    "invalid_api_key": FailureCode.AUTH,
    "authentication_error": FailureCode.AUTH,
    "permission_error": FailureCode.AUTH,
    "insufficient_quota": FailureCode.QUOTA,
    "usage_limit_reached": FailureCode.QUOTA,
    "rate_limit_exceeded": FailureCode.RATE_LIMIT,
    "server_is_overloaded": FailureCode.OVERLOADED,
    "slow_down": FailureCode.OVERLOADED,
    "overloaded_error": FailureCode.OVERLOADED,
    "content_policy_violation": FailureCode.POLICY,
    "invalid_prompt": FailureCode.POLICY,
    "cyber_policy": FailureCode.POLICY,
    "model_not_found": FailureCode.UNKNOWN_MODEL,
    "server_error": FailureCode.SERVER,
    "invalid_request_error": FailureCode.INVALID_REQUEST,
}

# The whole message must have this form, and the class must be `other`.
WRAPPED: tuple[tuple[re.Pattern[str], FailureCode], ...] = (
    (re.compile(r"Incomplete response returned, reason: max_output_tokens"), FailureCode.LENGTH),
    (re.compile(r"Incomplete response returned, reason: content_filter"), FailureCode.POLICY),
    (re.compile(r"stream disconnected before completion: .*", re.DOTALL), FailureCode.TRANSPORT),
)


def failure_of(error: Any) -> Failure:
    """The failure that a turn's `error` means; the error may be absent, a string, or an object of any later version."""
    if error is None:
        return Failure(FailureCode.UNKNOWN, "the turn failed and the server gave no error")
    if not isinstance(error, dict):
        return Failure(FailureCode.UNKNOWN, str(error))
    message = error.get("message")
    message = message if isinstance(message, str) else ""
    name, status = _error_class(error.get("codexErrorInfo"))
    return Failure(_code(name, status, message), message, status, error)


def _error_class(info: Any) -> tuple[str, int | None]:
    if isinstance(info, str):
        return info, None
    if isinstance(info, dict) and len(info) == 1:
        ((name, inner),) = info.items()
        status = inner.get("httpStatusCode") if isinstance(inner, dict) else None
        return str(name), status if isinstance(status, int) and not isinstance(status, bool) else None
    return "other", None


def _code(name: str, status: int | None, message: str) -> FailureCode:
    if status is not None:
        by_status = STATUSES.get(status, FailureCode.SERVER if status >= 500 else None)
        if by_status is not None:
            return by_status
    if name in CLASSES:
        return CLASSES[name]
    body = _body_code(message)
    if body is not None:
        return body
    if name == "other":
        for form, code in WRAPPED:
            if form.fullmatch(message):
                return code
    return FailureCode.UNKNOWN


def _body_code(message: str) -> FailureCode | None:
    if not message.startswith("{"):
        return None
    try:
        body = orjson.loads(message)
    except orjson.JSONDecodeError:
        return None
    error = body.get("error") if isinstance(body, dict) else None
    if not isinstance(error, dict):
        return None
    for key in ("code", "type"):
        if isinstance(error.get(key), str) and error[key] in BODY_CODES:
            return BODY_CODES[error[key]]
    return None
