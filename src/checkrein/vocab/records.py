"""Journal rows: their kinds, how a row is written and hashed, and how a segment is verified.

A row is one JSON line. Its `hash` is the SHA-256 of the row without `hash`, as RFC 8785 JSON; `prev` is the hash of the row
before it, 64 zeros for the first; `seq` starts at 1 and has no gap. A head file beside the segment holds the count and the last
hash; it may lag behind the segment and never leads it.

INVARIANT: `verify` shares no shortcut with `encode`: it parses every line and hashes what it parsed.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import orjson
import rfc8785

SCHEMA = "checkrein.journal/1"
HEAD_SCHEMA = "checkrein.journal-head/1"
ZERO = "0" * 64
_SAFE = 2**53 - 1


class RowKind(StrEnum):
    """What a row tells. The names are a surface that scripts read."""

    START = "start"  # a run begins: versions, digests, workspace
    REQUEST = "request"  # the harness asked the model
    DECISION = "decision"  # one call was judged
    CARRIED = "carried"  # what became of a judged call on the wire
    USAGE = "usage"  # tokens as the provider reported them
    BREAKER = "breaker"  # the breaker tripped or was released
    UPSTREAM = "upstream"  # the provider's answer failed or was not usable
    DRIFT = "drift"  # declared tools differ from the profile
    END = "end"  # the run ended in order


class Form(StrEnum):
    """`carried.form`: how a judged call travelled on."""

    RELEASED = "released"
    TEXT = "text"
    DROP = "drop"
    CONTINUE = "continue"
    FEEDBACK = "feedback"
    ERROR = "error"
    UNDELIVERED = "undelivered"


KINDS = frozenset(kind.value for kind in RowKind)
# The writer's own fields, in the order in which they stand in a line.
FRAME = ("schema", "seq", "time", "kind", "session", "thread", "prev", "hash")


def canonical(value: Any) -> bytes:
    """RFC 8785 JSON. The fast writer is taken only where the two agree: plain types, exact integers, ASCII keys."""
    if _plain(value):
        return orjson.dumps(value, option=orjson.OPT_SORT_KEYS)
    return rfc8785.dumps(value)


def _plain(value: Any) -> bool:
    """Whether the fast writer's output is RFC 8785: no float (its spelling differs), no integer beyond 2^53, no key outside
    ASCII (its order differs), no subclass and no lone surrogate (its treatment differs).
    """
    kind = type(value)
    if kind is str:
        return bool(value.isascii()) or _paired(value)
    if kind is dict:
        return all(type(key) is str and key.isascii() and _plain(item) for key, item in value.items())
    if kind is list:
        return all(map(_plain, value))
    if kind is int:
        return bool(-_SAFE <= value <= _SAFE)
    return value is None or kind is bool


def _paired(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def tidy(value: Any) -> Any:
    """The value as JSON can hold it: tuples and sets as lists, names as text, lone surrogates replaced, numbers that RFC 8785
    has no spelling for as text.
    """
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode() if not _paired(value) else str(value)
    if isinstance(value, bool) or value is None:
        return value
    if isinstance(value, int):
        return int(value) if -_SAFE <= value <= _SAFE else str(value)
    if isinstance(value, float):
        return value if value - value == 0 else str(value)
    if isinstance(value, Mapping):
        return {tidy(str(key)): tidy(item) for key, item in value.items()}
    if isinstance(value, (set, frozenset)):
        return sorted(map(tidy, value), key=str)
    if isinstance(value, Iterable):
        return [tidy(item) for item in value]
    return str(value)


def encode(seq: int, time: str, kind: str, session: str, prev: str, fields: Mapping[str, Any]) -> tuple[bytes, str]:
    """One line with its newline, and its hash."""
    assert kind in KINDS, kind
    row: dict[str, Any] = {"schema": SCHEMA, "seq": seq, "time": time, "kind": kind, "session": session, "thread": None}
    row.update(fields)
    row.update(schema=SCHEMA, seq=seq, time=time, kind=kind, prev=prev)
    row["session"] = row["session"] or session
    row.pop("hash", None)
    if not _plain(row):
        row = tidy(row)
    digest = hashlib.sha256(canonical(row)).hexdigest()
    line = {key: row[key] for key in FRAME if key != "hash"}
    line["hash"] = digest
    for key, value in row.items():
        if key not in line:
            line[key] = value
    return orjson.dumps(line) + b"\n", digest


def encode_head(count: int, last: str) -> bytes:
    """The head file's one line, always of the same length, so that it is replaced by one write."""
    return b'{"schema":"%s","count":%s,"hash":"%s"}\n' % (HEAD_SCHEMA.encode(), str(count).rjust(16).encode(), last.encode())


@dataclass(frozen=True, slots=True)
class Finding:
    """What is wrong with a segment, and at which line (0: the segment as a whole)."""

    line: int
    sentence: str


@dataclass(frozen=True, slots=True)
class Verification:
    """The outcome for one segment. A torn last row is told and is no fault: a crash leaves one."""

    rows: int
    last: str
    findings: tuple[Finding, ...]
    torn: bool = False
    ended: bool = False

    @property
    def ok(self) -> bool:
        """Whether the segment is whole and unedited."""
        return not self.findings


def rows_of(lines: Iterable[bytes]) -> Iterator[dict[str, Any]]:
    """The readable rows, for those who show and count. A torn or unreadable line is passed over; `verify` tells of it."""
    for line in lines:
        try:
            row = orjson.loads(line)
        except orjson.JSONDecodeError:
            continue
        if isinstance(row, dict):
            yield row


def verify(lines: Iterable[bytes], head: bytes | None = None) -> Verification:
    """Check the chain of one segment, given line by line with newlines, against its head file's content."""
    findings: list[Finding] = []
    count, prev, ended, torn = 0, ZERO, False, False
    wanted, at_wanted = _read_head(head, findings)
    for number, line in enumerate(lines, 1):
        if torn:
            findings.append(Finding(number - 1, "a line without its newline stands before other lines"))
            torn = False
        row = _parse(line)
        if not line.endswith(b"\n"):
            # INVARIANT: only the last line may lack its newline; even if it parses, it never became a row.
            torn = True
            continue
        if row is None:
            findings.append(Finding(number, "the line is not one JSON object with unique keys"))
            continue
        findings.extend(Finding(number, sentence) for sentence in _check(row, count + 1, prev))
        # After a fault the chain goes on from what the row says, so that one edit is one finding.
        count, prev = _number(row.get("seq"), count + 1), str(row.get("hash"))
        if count == wanted:
            at_wanted = prev if at_wanted is None else at_wanted
            if at_wanted != prev:
                findings.append(Finding(number, "the head file holds another hash for this row"))
        ended = row.get("kind") == RowKind.END.value
    if wanted > count:
        findings.append(Finding(0, f"the head file counts {wanted} rows and the segment ends after {count}"))
    return Verification(count, prev, tuple(findings), torn, ended)


def _read_head(head: bytes | None, findings: list[Finding]) -> tuple[int, str | None]:
    if head is None:
        findings.append(Finding(0, "the head file is missing, so that a cut end would not be seen"))
        return 0, None
    value = _parse(head)
    if value is None or value.get("schema") != HEAD_SCHEMA or not isinstance(value.get("count"), int):
        findings.append(Finding(0, "the head file cannot be read"))
        return 0, None
    return value["count"], str(value.get("hash"))


def _check(row: Mapping[str, Any], seq: int, prev: str) -> Iterator[str]:
    if row.get("schema") != SCHEMA:
        yield f"the row's schema is not `{SCHEMA}`"
    if row.get("seq") != seq or isinstance(row.get("seq"), bool):
        yield f"row {seq} was expected and `{row.get('seq')}` stands here"
    if row.get("kind") not in KINDS:
        yield f"`{row.get('kind')}` is no kind of row"
    if row.get("prev") != prev:
        yield "the row does not follow the row before it"
    bare = {key: value for key, value in row.items() if key != "hash"}
    try:
        digest = hashlib.sha256(canonical(bare)).hexdigest()
    except rfc8785.CanonicalizationError:
        digest = ""
    if row.get("hash") != digest:
        yield "the row was changed after it was written"


def _parse(line: bytes) -> dict[str, Any] | None:
    """The object of a line; None when it is none, or when a key stands twice in it."""
    try:
        row = orjson.loads(line)
        if not isinstance(row, dict):
            return None
        # A line as a writer leaves it needs no slow look for doubled keys: they would make it longer than its own copy.
        if len(orjson.dumps(row)) != len(line.rstrip(b"\n")):
            json.loads(line, object_pairs_hook=_unique)
    except (ValueError, RecursionError, TypeError):
        return None
    return row


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    row = dict(pairs)
    if len(row) != len(pairs):
        raise ValueError("a key stands twice")
    return row


def _number(value: object, default: int) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) else default
