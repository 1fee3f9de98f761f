"""A program that a released call left running."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class LiveShell:
    """`command` is the text that started it, in the shell `dialect`; `cwd` where that stood, None when unknown."""

    command: str
    dialect: str = "posix"
    cwd: str | None = None
