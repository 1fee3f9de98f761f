"""What is found out about one call while its arguments are read: the notebook that every carrier writes into."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from checkrein.profiles.schema import Profile, Tool
from checkrein.vocab.calls import Call
from checkrein.vocab.effects import Effect, EffectKind
from checkrein.vocab.facts import Failing
from checkrein.vocab.reasons import Reason
from checkrein.vocab.sessions import LiveShell
from checkrein.vocab.state import State

MAX_NESTED = 64  # calls inside one call


@dataclass(frozen=True, slots=True)
class Mcp:
    """A tool of an MCP server; `tool` is how it was reviewed, or None."""

    server: str
    name: str
    tool: Tool | None = None


@dataclass(frozen=True, slots=True)
class Lookup:
    """Who knows a tool. `find` gives the tool of a call: the harness's own, or one that the operator has reviewed; None: nobody
    knows it. `server` gives a tool of an MCP server by the two names, where a call of the harness's own reaches into one.
    """

    find: Callable[[Call], Tool | Mcp | None]
    server: Callable[[str, str], Mcp] = Mcp


@dataclass(slots=True)
class Understanding:
    """Filled by the carriers of one call: effects so far, and why the call fails."""

    call: Call
    tool: Tool
    profile: Profile
    state: State
    lookup: Lookup
    inner: Callable[[Understanding, str, Any, str], None]  # judges a call that stands in an argument
    prefix: str = ""
    depth: int = 0
    budget: list[int] = field(default_factory=lambda: [MAX_NESTED])
    effects: list[Effect] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    failing: Failing | None = None
    cwd: str | None = None
    moved: bool = False
    files: dict[str, str | None] = field(default_factory=dict)  # written by this call; None: with unknown content
    fetched: set[str] = field(default_factory=set)
    opening: LiveShell | None = None
    read_only: bool = False

    def add(self, kind: EffectKind, value: str, pointer: str, **more: Any) -> None:
        """One effect of the argument at `pointer`."""
        self.effects.append(Effect(kind=kind, value=value, pointer=self.prefix + pointer, **more))

    def fail(self, reason: Reason, why: str, pointer: str = "") -> None:
        """The call cannot be judged. The first reason stands."""
        if self.failing is None:
            self.failing = Failing(reason, why, self.prefix + pointer)

    def opaque(self, why: str, pointer: str, value: str = "") -> None:
        """Something in the call cannot be followed."""
        self.add(EffectKind.OPAQUE, value, pointer, why=why)

    def known_files(self) -> Mapping[str, str | None]:
        """Texts written by this thread so far, this call included."""
        return {**self.state.files, **self.files} if self.files else self.state.files
