"""What `explain -` finds on its input: a hook payload, an item of a wire, or a journal row -> the call that it proposes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from checkrein.edges.trials import Proposal
from checkrein.profiles.schema import Hooks
from checkrein.vocab.calls import CallKind
from checkrein.vocab.errors import UsageError
from checkrein.wire import strict
from checkrein.wire.arguments import Arguments, parse_arguments, parse_value
from checkrein.wire.request import at

JOURNAL: Final = "checkrein.journal/"
FORMS: Final = "give a hook's input, a `function_call`, `tool_use` or `tool_calls` item, or a `decision` row of a journal"


@dataclass(frozen=True, slots=True)
class Envelope:
    """The proposal, and what else the envelope says: the profile and the working directory, empty where it does not."""

    proposal: Proposal
    profile: str = ""
    cwd: str = ""
    notes: tuple[str, ...] = ()


def read(raw: bytes, hooks: Callable[[], Iterable[Hooks]]) -> Envelope:
    """The one call in an envelope. `hooks` are asked for only where it is no item and no row."""
    try:
        value = strict.loads(raw.strip())
    except strict.StrictError as error:
        raise UsageError(f"the input is not one JSON document: the bytes {error}", FORMS) from None
    if not isinstance(value, dict):
        raise UsageError("the input is JSON, but not an object", FORMS)
    schema = value.get("schema")
    if isinstance(schema, str) and schema.startswith(JOURNAL):
        return _row(value)
    item = value.get("item")
    if isinstance(item, dict) and str(value.get("type", "")).startswith("response.output_item."):
        value = item
    for sort in _ITEMS:
        proposal = sort(value)
        if proposal is not None:
            return Envelope(proposal)
    return _hook(value, hooks())


def _row(row: Mapping[str, Any]) -> Envelope:
    kind, tool, args = row.get("kind"), row.get("tool"), row.get("args")
    if kind != "decision" or not isinstance(tool, str):
        raise UsageError(f"a `{kind}` row of a journal proposes no call", "give a `decision` row")
    fault = row.get("fault")
    if fault is None and not isinstance(args, dict):
        raise UsageError("the row was stored without its arguments", "rows hold them unless `--journal-args none` was given")
    kinds = {one.value: one for one in CallKind}
    proposal = Proposal(
        tool=tool,
        namespace=_text(row, "namespace"),
        args=args,
        text=str(row.get("text") or ""),
        kind=kinds.get(str(row.get("call_kind"))),
        fault=fault if fault is None or isinstance(fault, str) else "its fault is not a text",
        id=str(row.get("call_id") or ""),
    )
    said = f"the row says `{row.get('verdict')}`" + (f" by `{row.get('rule')}`" if row.get("rule") else "")
    return Envelope(proposal, profile=str(row.get("profile") or ""), notes=(f"{said}; its arguments are as they were stored",))


def _text(value: Mapping[str, Any], key: str) -> str | None:
    found = value.get(key)
    return found if isinstance(found, str) else None


# items of the wires


def _responses(item: Mapping[str, Any]) -> Proposal | None:
    """OpenAI Responses: any item whose type says that it is a call."""
    shape = item.get("type")
    if not isinstance(shape, str) or not shape.endswith("_call"):
        return None
    from checkrein.wire.openai_responses.items import read_call

    call = read_call({"call_id": "none", **item})
    return Proposal(call.name, call.namespace, call.args, call.text, call.kind, call.fault, call.id)


def _messages(item: Mapping[str, Any]) -> Proposal | None:
    """Anthropic Messages: a `tool_use` block."""
    name = item.get("name")
    if item.get("type") != "tool_use" or not isinstance(name, str):
        return None
    return _of(name, parse_value(item.get("input")), id=str(item.get("id") or ""))


def _chat(item: Mapping[str, Any]) -> Proposal | None:
    """OpenAI Chat: an element of `tool_calls`."""
    inner = item.get("function")
    if not isinstance(inner, dict) or not isinstance(inner.get("name"), str):
        return None
    return _of(inner["name"], parse_arguments(inner.get("arguments")), id=str(item.get("id") or ""))


def _gemini(item: Mapping[str, Any]) -> Proposal | None:
    """Gemini: a part with a `functionCall`."""
    inner = item.get("functionCall")
    if not isinstance(inner, dict) or not isinstance(inner.get("name"), str):
        return None
    return _of(inner["name"], parse_value(inner.get("args", {})))


def _of(name: str, read_as: Arguments, id: str = "") -> Proposal:  # noqa: A002 - as the field is called
    return Proposal(name, None, read_as.args, kind=CallKind.FUNCTION, fault=read_as.fault, id=id)


_ITEMS: Final = (_responses, _messages, _chat, _gemini)


# hooks


def _hook(value: Mapping[str, Any], hooks: Iterable[Hooks]) -> Envelope:
    for hook in hooks:
        name = at(value, hook.tool) if hook.tool else None
        args = at(value, hook.arguments) if hook.arguments else None
        if isinstance(name, str) and name and args is not None:
            cwd = at(value, hook.cwd) if hook.cwd else None
            return Envelope(Proposal(name, None, args), cwd=cwd if isinstance(cwd, str) else "")
    raise UsageError("nothing in the input is a call", FORMS)
