"""Errors that people see: one lower-case sentence, the place, a hint.

CheckreinError
├── UsageError      2  bad input of a command
├── ConfigError     3  invalid policy or profile; carries every fault of the file
├── NotUsableError  4  harness or upstream not found or not usable
├── RecordError     5  journal, log or witness does not agree
└── ProtocolError   1  a peer broke its protocol
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


class CheckreinError(Exception):
    """`str()` is the sentence; `hint` the way out; `code` the exit code (CONTRACTS)."""

    code = 1

    def __init__(self, sentence: str, hint: str = "") -> None:
        super().__init__(sentence)
        self.hint = hint


class UsageError(CheckreinError):
    """Bad input of a command."""

    code = 2


@dataclass(frozen=True, slots=True, order=True)
class Fault:
    """One fault of a file. `line` and `column` start at 1."""

    file: str
    line: int
    column: int
    sentence: str
    hint: str = ""

    def __str__(self) -> str:
        text = f"{self.file}:{self.line}:{self.column}: {self.sentence}"
        return f"{text}\nhint: {self.hint}" if self.hint else text


class ConfigError(CheckreinError):
    """Every fault of one or more files, sorted by place."""

    code = 3

    def __init__(self, faults: Sequence[Fault]) -> None:
        self.faults = tuple(sorted(faults))
        super().__init__("\n".join(str(fault) for fault in self.faults))


class NotUsableError(CheckreinError):
    """Harness or upstream not found or not usable."""

    code = 4


class RecordError(CheckreinError):
    """Journal, log or witness does not agree."""

    code = 5


class ProtocolError(CheckreinError):
    """A peer broke its protocol."""
