"""What is found out about one call while its arguments are read: the notebook that every carrier writes into."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from checkrein.profiles.schema import Profile, Tool
from checkrein.vocab.calls import NOTHING, Call
from checkrein.vocab.effects import Effect, EffectKind
from checkrein.vocab.facts import Failing
from checkrein.vocab.reasons import Reason
from checkrein.vocab.sessions import LiveShell
from checkrein.vocab.state import State

MAX_NESTED = 64  # calls inside one call

# Finds the tool of a call: the harness's own, or one that the operator has reviewed. None: nobody knows it.
Lookup = Callable[[Call], "Tool | Mcp | None"]


@dataclass(frozen=True, slots=True)
class Mcp:
    """A tool of an MCP server; `tool` is how it was reviewed, or None."""

    server: str
    name: str
    tool: Tool | None = None


@dataclass(frozen=True, slots=True)
class Trace:
    """What a released call leaves behind."""

    cwd: str | None = None
    moved: bool = False  # `cwd` is that of a shell which keeps its directory
    files: Mapping[str, str] = field(default_factory=lambda: NOTHING)
    fetched: frozenset[str] = frozenset()
    opening: LiveShell | None = None
    typed: tuple[str, LiveShell | None] | None = None


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
    files: dict[str, str] = field(default_factory=dict)
    fetched: set[str] = field(default_factory=set)
    opening: LiveShell | None = None
    typed: tuple[str, LiveShell | None] | None = None
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

    def known_files(self) -> Mapping[str, str]:
        """Texts written by this thread so far, this call included."""
        return {**self.state.files, **self.files} if self.files else self.state.files

    @property
    def trace(self) -> Trace:
        return Trace(self.cwd, self.moved, self.files, frozenset(self.fetched), self.opening, self.typed)
