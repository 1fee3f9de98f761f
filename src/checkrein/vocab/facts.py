"""What judging knows of one call: its effects, or why it has none that could be trusted."""

from __future__ import annotations

from dataclasses import dataclass

from checkrein.vocab.effects import Effect
from checkrein.vocab.reasons import Reason
from checkrein.vocab.site import Site


@dataclass(frozen=True, slots=True)
class Failing:
    """Why a call is refused before its effects count. `why` is a clause in lower case, `pointer` names the argument."""

    reason: Reason
    why: str
    pointer: str = ""


@dataclass(frozen=True, slots=True)
class Facts:
    """The effects of one call with their evidence.

    `tool` is the spelling as proposed. A `failing` call may still list effects, for people; they admit nothing.
    """

    tool: str
    namespace: str | None
    name: str
    profile: str
    site: Site
    effects: tuple[Effect, ...] = ()
    failing: Failing | None = None
    notes: tuple[str, ...] = ()
    read_only: bool = False
