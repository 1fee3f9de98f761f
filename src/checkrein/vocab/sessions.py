"""A program that a released call left running, and what was typed into it so far."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from checkrein.vocab.calls import NOTHING


@dataclass(frozen=True, slots=True)
class LiveShell:
    """`language` is what the program reads: a shell dialect (`posix`, `powershell`, `cmd`), a script language (`python`,
    `javascript`, `sql`, …), or empty when that is not known, and then nothing typed into it can be followed.

    `cwd` is its working directory, None when unknown; `unsent` the line typed so far that no newline has sent yet; `env`
    variables that were set in it; `outer` the programs that come back when this one ends, the innermost last.
    """

    language: str = ""
    program: str = ""
    cwd: str | None = None
    unsent: str = ""
    env: Mapping[str, str] = field(default_factory=lambda: NOTHING)
    outer: tuple[LiveShell, ...] = ()
    remote: bool = False
