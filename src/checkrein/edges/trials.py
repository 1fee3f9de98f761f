"""Examples of rules, run: a command or a call at the reference site, and which rules hold for it.

The reference site is `/work/app` with the home `/home/dev`; nothing on the machine is looked at.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

import orjson

from checkrein.classify.understanding import Mcp
from checkrein.edges.files import builtin_profiles
from checkrein.judge import judge, look, lookup
from checkrein.policy.decide import Policy
from checkrein.policy.schema import Example
from checkrein.profiles.schema import Argument, Profile, Role, Tool, ToolKind, Wire
from checkrein.vocab.calls import NOTHING, Call, CallKind
from checkrein.vocab.errors import UsageError
from checkrein.vocab.site import Site
from checkrein.vocab.state import State
from checkrein.vocab.verdicts import STRICTNESS, Verdict

SHELLS: Final = {"posix": Role.SHELL_POSIX, "powershell": Role.SHELL_POWERSHELL, "cmd": Role.SHELL_CMD}


def _shells() -> Profile:
    """No harness at all: one tool for each shell, whose only argument is the command."""
    tools = {
        shell: Tool(shell, ToolKind.EXEC, arguments=(Argument("/command", role, ("string",), required=True),))
        for shell, role in SHELLS.items()
    }
    index: dict[tuple[str | None, str], Tool] = {(None, name): tool for name, tool in tools.items()}
    return Profile("command", "A command line", Wire.RESPONSES, tuple(tools.values()), index=index)


COMMAND: Final = _shells()
NOBODY: Final = Profile("unknown", "No harness", Wire.RESPONSES, ())


@dataclass(frozen=True, slots=True)
class Proposal:
    """A call as somebody states it, without the harness that it is for. `text` is its arguments as proposed."""

    tool: str
    namespace: str | None = None
    args: Any = None
    text: str = ""
    kind: CallKind | None = None  # None: whichever the tool takes
    fault: str | None = None
    id: str = ""

    def call(self, profile: Profile, policy: Policy) -> Call:
        """The call as this harness would see it."""
        name, namespace = self.tool, self.namespace
        kind = self.kind
        if kind is None:
            found = lookup(profile, policy).find(Call(name, namespace=namespace))
            kinds = found.calls if isinstance(found, Tool) else (CallKind.FUNCTION,)
            kind = CallKind.FUNCTION if CallKind.FUNCTION in kinds else kinds[0] if kinds else CallKind.FUNCTION
            if isinstance(self.args, str) and CallKind.CUSTOM in kinds:
                kind = CallKind.CUSTOM
        args: Mapping[str, Any] = NOTHING
        fault = self.fault
        if fault is None and isinstance(self.args, Mapping):
            args = self.args
        elif fault is None and isinstance(self.args, str) and kind is CallKind.CUSTOM:
            args = {"input": self.args}
        elif fault is None:
            fault = "they are not an object"
        text = self.text or (orjson.dumps(dict(args)).decode() if args else "")
        return Call(name=name, id=self.id, namespace=namespace, kind=kind, args=args, text=text, fault=fault)


@dataclass(frozen=True, slots=True)
class Judged:
    """A proposal under one profile."""

    profile: Profile
    call: Call
    verdict: Verdict


def command(text: str, shell: str = "posix") -> Proposal:
    """A command line as a proposal for `COMMAND`."""
    return Proposal(shell, args={"command": text}, kind=CallKind.FUNCTION)


def known_by(proposal: Proposal, policy: Policy, profiles: Mapping[str, Profile]) -> list[Profile]:
    """The profiles that know a tool of exactly this name; where none does, those for which it is some MCP server's."""
    known, perhaps = [], []
    for profile in profiles.values():
        call = proposal.call(profile, policy)
        found = lookup(profile, policy).find(call)
        if isinstance(found, Mcp) and found.tool is None:
            perhaps.append(profile)
        elif found is not None or (call.kind is CallKind.HOSTED and call.name in profile.hosted):
            known.append(profile)
    return known or perhaps


def nearest(proposal: Proposal, profiles: Mapping[str, Profile]) -> str:
    """A tool of nearly this name, with the profiles that have it; empty where there is none."""
    from difflib import get_close_matches

    names = {name: None for profile in profiles.values() for _, name in profile.index}
    near = get_close_matches(proposal.tool, list(names), 1, 0.8)
    if not near or near[0] == proposal.tool:
        return ""
    having = [profile.name for profile in profiles.values() if any(name == near[0] for _, name in profile.index)]
    return f"`{near[0]}` of {', '.join(having)}"


def under_each(
    proposal: Proposal, policy: Policy, profiles: Collection[Profile], states: Callable[[Profile], State]
) -> list[Judged]:
    """The verdicts under each profile, the strictest first; under nobody's where no profile knows the tool."""
    judged = []
    for profile in profiles or (NOBODY,):
        call = proposal.call(profile, policy)
        verdict, _ = judge(call, profile, policy, states(profile))
        judged.append(Judged(profile, call, verdict))
    judged.sort(key=lambda one: -STRICTNESS[one.verdict.outcome])
    return judged


# examples


def proposal_of(example: Example) -> Proposal:
    """What an example proposes."""
    if example.command is not None:
        return command(example.command, example.shell)
    assert example.tool is not None
    kind = None if example.kind is CallKind.FUNCTION else example.kind
    return Proposal(example.tool, example.namespace, example.args, kind=kind, fault=example.fault)


def profiles_of(example: Example, policy: Policy) -> list[Profile]:
    """The profiles under which an example is looked at."""
    if example.command is not None:
        return [COMMAND]
    known = builtin_profiles()
    if example.profile is None:
        return known_by(proposal_of(example), policy, known) or [NOBODY]
    if example.profile not in known:
        raise UsageError(f"there is no profile `{example.profile}`")
    return [known[example.profile]]


def state_after(before: Collection[Example], profile: Profile, policy: Policy, site: Site) -> State:
    """The state that earlier calls left. A program that one leaves running gets the number of the call as its session."""
    state = State.at(site)
    for number, example in enumerate(before, 1):
        here = COMMAND if example.command is not None else profile
        call = proposal_of(example).call(here, policy)
        identity = f"before-{number}"
        _, state = judge(replace(call, id=identity), here, policy, state)
        shell = state.opening.get(identity)
        if shell is not None:
            state = state.with_session(str(number), shell)
    return state


def holding(example: Example, policy: Policy) -> set[str]:
    """The ids of the rules that hold for an effect of the example, before any is loosened. A call that fails has none."""
    rows = [*(checked for _, checked in policy.refusing), *policy.allows]
    found: set[str] = set()
    for profile in profiles_of(example, policy):
        state = state_after(example.before, profile, policy, Site())
        facts, _ = look(proposal_of(example).call(profile, policy), profile, policy, state)
        if facts.failing is None:
            found |= {row.rule.id for row in rows for effect in facts.effects if row.holds(effect, facts)}
    return found


def verdict_of(example: Example, policy: Policy) -> Verdict:
    """The strictest verdict on an example."""
    judged = [
        judge(
            proposal_of(example).call(profile, policy), profile, policy, state_after(example.before, profile, policy, Site())
        )[0]
        for profile in profiles_of(example, policy)
    ]
    return max(judged, key=lambda verdict: STRICTNESS[verdict.outcome])
