"""The one door: `judge` says what becomes of a proposed call, `observe` learns from the result of a released one. Both are pure.

INVARIANT: whatever is not understood, or fails while it is being understood, is refused with a reason; only a released call
changes the state.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any

from checkrein.classify.arguments import escape
from checkrein.classify.tool import Lookup, Mcp, Understanding, understand
from checkrein.policy.decide import Policy, decide
from checkrein.policy.match import secret_paths
from checkrein.policy.schema import McpReview, ToolReview
from checkrein.profiles.schema import Argument, Profile, Role, Tool, ToolKind
from checkrein.vocab.calls import Call, CallKind, Result
from checkrein.vocab.facts import Facts, Failing
from checkrein.vocab.reasons import Reason
from checkrein.vocab.state import MAX_SESSIONS, State, forgetting, newest
from checkrein.vocab.verdicts import Verdict

_ANY_KIND = tuple(kind for kind in CallKind if kind in {CallKind.FUNCTION, CallKind.CUSTOM})


def judge(call: Call, profile: Profile, policy: Policy, state: State) -> tuple[Verdict, State]:
    """The verdict on a call, and the state after it. An exception on the way is a refusal."""
    try:
        facts, what = look(call, profile, policy, state)
        verdict = decide(facts, policy)
        return verdict, _after(call, what, state) if verdict.released else state
    except Exception as error:  # noqa: BLE001 - whatever it is, it admits nothing
        return _failed(call, profile, policy, state, error), state


def look(call: Call, profile: Profile, policy: Policy, state: State) -> tuple[Facts, Understanding]:
    """What a call would do, before anything is decided."""
    what = understand(call, profile, state, lookup(profile, policy), secrets=secret_paths(policy.secrets, state.site))
    facts = Facts(
        tool=call.spelling or "(no name)",
        namespace=call.namespace,
        name=call.name,
        profile=profile.name,
        site=state.site,
        effects=tuple(what.effects),
        failing=what.failing,
        notes=tuple(dict.fromkeys(what.notes)),
        read_only=what.read_only,
    )
    return facts, what


def _failed(call: Call, profile: Profile, policy: Policy, state: State, error: BaseException) -> Verdict:
    why = f"{type(error).__name__}: {str(error)[:200]}" if str(error) else type(error).__name__
    failing = Failing(Reason.POLICY_ERROR, why)
    facts = Facts(call.spelling or "(no name)", call.namespace, call.name, profile.name, state.site, failing=failing)
    return decide(facts, policy)


def _after(call: Call, what: Understanding, state: State) -> State:
    """What a released call leaves for later ones."""
    changes: dict[str, Any] = {}
    if what.moved and what.cwd != state.cwd:
        changes["cwd"] = what.cwd
    if what.files:
        kept = {path: text for path, text in state.files.items() if path not in what.files}
        changes["files"] = forgetting({**kept, **what.files})
        changes["drafts"] = {**state.drafts, call.id: state.drafts.get(call.id, frozenset()) | what.files.keys()}
    if not what.fetched <= state.fetched:
        changes["fetched"] = state.fetched | what.fetched
    if what.opening is not None and call.id:
        changes["opening"] = newest({**state.opening, call.id: what.opening}, MAX_SESSIONS)
    return replace(state, **changes) if changes else state


def observe(result: Result, profile: Profile, state: State) -> State:
    """The state after the result of a released call was seen: the session that it left, files that can be read from now on."""
    shell = state.opening.get(result.call_id)
    if shell is not None:
        state = replace(state, opening=_without(state.opening, result.call_id))
        session = _session(result, profile)
        if session is not None:
            state = state.with_session(session, shell)
    drafts = state.drafts.get(result.call_id)
    if drafts is not None:
        state = replace(state, drafts=_without(state.drafts, result.call_id))
        if state.site.read is not None:
            still = frozenset(path for paths in state.drafts.values() for path in paths)
            files = {path: text for path, text in state.files.items() if path not in drafts or path in still}
            state = replace(state, files=files)
    return state


def _without(rows: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    return {one: row for one, row in rows.items() if one != key}


def _session(result: Result, profile: Profile) -> str | None:
    for tool in profile.tools:
        if tool.session_pattern and (result.name is None or result.name == tool.name):
            found = _pattern(tool.session_pattern).search(result.text)
            if found is not None:
                return found[1]
    return None


@lru_cache(maxsize=64)
def _pattern(text: str) -> re.Pattern[str]:
    return re.compile(text)


# who knows a tool


def lookup(profile: Profile, policy: Policy) -> Lookup:
    """Finds tools as the harness itself does, then MCP tools, then what the operator has reviewed."""

    def server(name: str, tool: str, call: Call | None = None) -> Mcp:
        return Mcp(name, tool, _reviewed_mcp(profile, policy, name, tool, call))

    def find(call: Call) -> Tool | Mcp | None:
        tool = profile.find(call.name, call.namespace)
        if tool is not None:
            return tool
        named = profile.mcp_tool(call.name, call.namespace)
        if named is not None:
            return server(*named, call)
        return _reviewed(profile, policy, call)

    return Lookup(find, server)


def _reviewed_mcp(profile: Profile, policy: Policy, server: str, name: str, call: Call | None) -> Tool | None:
    exact = [row for row in policy.mcp if row.server == server and row.tool == name]
    whole = [row for row in policy.mcp if row.server == server and row.tool == "*"]
    for row in (*exact, *whole):
        if row.profile in {"", profile.name}:
            return _mcp_tool(name, row, call)
    return None


def _mcp_tool(name: str, row: McpReview, call: Call | None) -> Tool:
    """Without reviewed arguments, those of the call are known and inert."""
    given = row.arguments if row.arguments is not None else dict.fromkeys(call.args if call is not None else (), "")
    arguments = tuple(_argument(key, role) for key, role in given.items())
    return Tool(name, ToolKind.HOSTED, arguments=arguments, calls=_ANY_KIND, read_only=row.read_only)


def _reviewed(profile: Profile, policy: Policy, call: Call) -> Tool | None:
    for row in policy.tools:
        if (row.profile, row.name, row.namespace) == (profile.name, call.name, call.namespace):
            return _own_tool(row)
    return None


def _own_tool(row: ToolReview) -> Tool:
    arguments = tuple(_argument(key, role) for key, role in row.arguments.items())
    return Tool(row.name, row.kind, (row.namespace,), calls=_ANY_KIND, arguments=arguments)


def _argument(key: str, role: str) -> Argument:
    return Argument(key if key.startswith("/") else f"/{escape(key)}", Role(role) if role else None)


__all__ = ["judge", "look", "lookup", "observe"]
