"""Keys typed into a program that an earlier call left running. Only those that say nothing can be followed so far."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from checkrein.classify.arguments import roles
from checkrein.classify.understanding import Understanding
from checkrein.profiles.schema import Argument, Role
from checkrein.vocab.effects import EffectKind
from checkrein.vocab.reasons import Reason

# Polls, Ctrl-C and Ctrl-D say nothing that could run.
_HARMLESS = frozenset({"", "\x03", "\x04"})


def keys(what: Understanding, _argument: Argument, pointer: str, value: Any, _siblings: Mapping[str, Any]) -> None:
    """The carrier of typed text."""
    if not isinstance(value, str):
        what.fail(Reason.MALFORMED, f"`{pointer}` must be string", pointer)
        return
    what.add(EffectKind.TYPE, value, pointer, span=(0, len(value.encode("utf-8", "surrogatepass"))))
    if value in _HARMLESS:
        return
    session = _session(what)
    if session not in what.state.sessions:
        what.opaque(f"the session `{session}` is not one that a released call has opened", pointer, value)
        return
    what.opaque("what is typed cannot be followed", pointer, value)


def _session(what: Understanding) -> str:
    for argument, _, value, _ in roles(what.tool, what.call.args):
        if argument.role is Role.SESSION:
            return str(value)
    return ""
