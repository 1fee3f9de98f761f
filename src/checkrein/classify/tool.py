"""One call of a known tool -> what it would do, by the roles of its arguments, and what is to be remembered if it is released.

Nothing here knows a harness or a tool by name: a profile says what each argument carries, and every carrier of the same thing
leads to the same effects.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import orjson

from checkrein.classify.arguments import check, roles
from checkrein.classify.carriers import CARRIERS, INERT
from checkrein.classify.locate import located
from checkrein.classify.understanding import MAX_NESTED, Lookup, Mcp, Understanding
from checkrein.classify.zones import normal
from checkrein.profiles.schema import Argument, Profile, Role, Tool, ToolKind
from checkrein.vocab.acts import Act
from checkrein.vocab.calls import Call, CallKind
from checkrein.vocab.effects import EffectKind
from checkrein.vocab.reasons import Reason
from checkrein.vocab.state import MAX_FETCHED, State

MAX_TEXT = 4 * 1024 * 1024  # characters of one call's arguments
MAX_DEPTH = 4  # of calls inside calls
SHOWN = 2_000  # characters of a prompt in an effect


def understand(
    call: Call,
    profile: Profile,
    state: State,
    lookup: Lookup,
    *,
    secrets: re.Pattern[str] | None = None,
) -> Understanding:
    """What the call would do. `failing` is set where its effects admit nothing."""
    found = _understand(call, profile, state, lookup)
    found.effects = list(located(found.effects, state.site, secrets))
    if len(state.fetched | found.fetched) > MAX_FETCHED:
        found.fail(Reason.OVERSIZE, f"the session has downloaded more than {MAX_FETCHED} files")
    return found


def _understand(
    call: Call,
    profile: Profile,
    state: State,
    lookup: Lookup,
    prefix: str = "",
    depth: int = 0,
    budget: list[int] | None = None,
) -> Understanding:
    unknown = Tool(call.name, ToolKind.ORCHESTRATE)
    what = Understanding(call, unknown, profile, state, lookup, nested, prefix, depth, cwd=state.cwd)
    if budget is not None:
        what.budget = budget
    if call.kind is CallKind.HOSTED:
        _hosted(what)
        return what
    found = lookup.find(call)
    if call.fault is not None:
        what.fail(Reason.MALFORMED, call.fault)
    elif len(call.text) > MAX_TEXT:
        what.fail(Reason.OVERSIZE, f"the arguments are longer than {MAX_TEXT} characters")
    elif isinstance(found, Mcp):
        _mcp(what, found)
    elif found is None or call.kind not in found.calls:
        what.fail(Reason.DEFAULT_DENY, "no profile or policy knows the tool")
    else:
        what.tool = found
        _known(what)
    return what


def _known(what: Understanding) -> None:
    call, tool = what.call, what.tool
    what.read_only = tool.read_only
    checked = check(call, tool, call.args)
    if checked.flaw is not None:
        what.fail(Reason.MALFORMED, checked.flaw.why, checked.flaw.pointer)
        return
    what.notes += checked.notes
    for pointer in checked.strange:
        what.opaque(f"the argument `{pointer[1:]}` is new, and what it does is not known", pointer)
    carried = list(roles(tool, call.args))
    _directory(what, carried)
    for argument, pointer, value, siblings in carried:
        assert argument.role is not None
        if argument.role in INERT:
            continue
        carrier = CARRIERS.get(argument.role)
        if carrier is not None:
            carrier(what, argument, pointer, value, siblings)
        else:
            what.opaque(f"`{argument.role.value}` cannot be judged", pointer)
    whole = _WHOLE.get(tool.kind)
    if whole is not None:
        whole(what)


def _directory(what: Understanding, carried: Sequence[tuple[Argument, str, Any, Mapping[str, Any]]]) -> None:
    """The directory in which the call works: what it says, else that of the thread's shell or of the harness."""
    site = what.state.site
    if what.tool.has(Role.CWD):
        what.cwd = site.cwd
    for argument, pointer, value, _ in carried:
        if argument.role is not Role.CWD or value == "":
            continue
        if not isinstance(value, str):
            what.fail(Reason.MALFORMED, f"`{pointer}` must be string", pointer)
            return
        what.cwd = normal(value, site.cwd, site)


# what the kind of the tool says about the call as a whole


def _orchestrate(what: Understanding) -> None:
    what.add(EffectKind.ORCHESTRATE, what.call.spelling, "")


def _spawn(what: Understanding) -> None:
    prompts = [
        value
        for argument, _, value, _ in roles(what.tool, what.call.args)
        if argument.role is Role.PROMPT and isinstance(value, str)
    ]
    what.add(EffectKind.SPAWN, " ".join(prompts)[:SHOWN], "")


def _schedule(what: Understanding) -> None:
    what.add(EffectKind.SCHEDULE, what.call.spelling, "")


def _escalate(what: Understanding) -> None:
    what.add(EffectKind.ESCALATE, what.call.spelling, "")


def _read(what: Understanding) -> None:
    """A reading tool without a path reads the directory in which it works."""
    if not any(effect.kind in {EffectKind.READ, EffectKind.OPAQUE} for effect in what.effects):
        where = what.cwd or what.state.site.cwd
        what.add(EffectKind.READ, where, "")


def _must(why: str, *kinds: EffectKind) -> Callable[[Understanding], None]:
    """INVARIANT: a tool of an effectful kind has an effect of that kind, or the call does not count as understood."""
    wanted = frozenset({*kinds, EffectKind.OPAQUE})

    def whole(what: Understanding) -> None:
        if not any(effect.kind in wanted for effect in what.effects):
            what.fail(Reason.MALFORMED, why)

    return whole


def _resources(what: Understanding) -> None:
    """A tool of the harness that reaches into an MCP server, named in its arguments."""
    server = what.call.args.get("server")
    value = f"{server}/{what.call.name}" if isinstance(server, str) else what.call.spelling
    reviewed = isinstance(server, str) and what.lookup.server(server, what.call.name).tool is not None
    act = Act.MCP_REVIEWED if reviewed else Act.MCP_UNREVIEWED
    what.add(EffectKind.MCP, value, "", act=act, why=f"`{value}` belongs to an MCP server")


_WHOLE: Mapping[ToolKind, Callable[[Understanding], None]] = {
    ToolKind.ORCHESTRATE: _orchestrate,
    ToolKind.SEARCH: _orchestrate,
    ToolKind.SPAWN: _spawn,
    ToolKind.SCHEDULE: _schedule,
    ToolKind.ESCALATE: _escalate,
    ToolKind.READ: _read,
    ToolKind.EXEC: _must("it has no command", EffectKind.EXEC),
    ToolKind.SCRIPT: _must("it has no code", EffectKind.SCRIPT, EffectKind.EXEC),
    ToolKind.TYPE: _must("it has no keys", EffectKind.TYPE),
    ToolKind.WRITE: _must("it names no file", EffectKind.WRITE, EffectKind.DELETE),
    ToolKind.FETCH: _must("it names no address", EffectKind.FETCH),
    ToolKind.MCP: _resources,
}


def _mcp(what: Understanding, mcp: Mcp) -> None:
    value = f"{mcp.server}/{mcp.name}"
    act = Act.MCP_UNREVIEWED if mcp.tool is None else Act.MCP_REVIEWED
    what.add(EffectKind.MCP, value, "", act=act, why=f"`{value}` is a tool of an MCP server")
    if mcp.tool is None:
        return
    if what.call.kind not in mcp.tool.calls:
        what.fail(Reason.DEFAULT_DENY, "the tool was reviewed for calls of another form")
        return
    what.tool = mcp.tool
    _known(what)


def _hosted(what: Understanding) -> None:
    """A tool that runs at the provider, judged where a request declares it."""
    sort = what.profile.hosted.get(what.call.name)
    act = Act.HOSTED_SEARCH if sort == "search" else Act.HOSTED_OTHER
    why = f"`{what.call.name}` runs at the provider"
    what.add(EffectKind.FETCH, what.call.name, "", act=act, why=why, program=what.call.name)


# calls inside a call


def nested(what: Understanding, spelling: str, args: Any, pointer: str) -> None:
    """A call that stands in an argument: all of its effects are effects of the call around it."""
    what.budget[0] -= 1
    if what.budget[0] < 0:
        what.fail(Reason.OVERSIZE, f"it holds more than {MAX_NESTED} calls", pointer)
        return
    if what.depth >= MAX_DEPTH:
        what.fail(Reason.OVERSIZE, f"calls are nested more than {MAX_DEPTH} deep", pointer)
        return
    inner = inner_call(what.profile, spelling, args)
    state = replace(what.state, files=what.known_files(), fetched=what.state.fetched | what.fetched)
    found = _understand(inner, what.profile, state, what.lookup, what.prefix + pointer, what.depth + 1, what.budget)
    if found.failing is not None and what.failing is None:
        why = f"the inner call of `{spelling}` is refused: {found.failing.why}"
        what.failing = replace(found.failing, why=why)
    what.effects += found.effects
    what.notes += found.notes
    what.files.update(found.files)
    what.fetched |= found.fetched


def inner_call(profile: Profile, spelling: str, args: Any) -> Call:
    """The call that a spelling and an argument value state, where one text holds name and namespace."""
    name, namespace = spelling, None
    if profile.find(spelling, None) is None:
        for separator in (".", "__"):
            head, between, rest = spelling.partition(separator)
            if between and profile.find(rest, head) is not None:
                name, namespace = rest, head
                break
    tool = profile.find(name, namespace)
    if isinstance(args, str) and tool is not None and CallKind.CUSTOM in tool.calls:
        return Call(name=name, namespace=namespace, kind=CallKind.CUSTOM, args={"input": args}, text=args)
    if isinstance(args, Mapping):
        return Call(name=name, namespace=namespace, args=args, text=orjson.dumps(dict(args)).decode())
    return Call(name=name, namespace=namespace, fault="its arguments are not an object")


__all__ = ["Lookup", "Mcp", "Understanding", "inner_call", "understand"]
