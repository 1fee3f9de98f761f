"""`checkrein journal`: show, verify and count the rows of runs."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from checkrein.vocab.errors import RecordError, UsageError
from checkrein.vocab.records import FRAME

if TYPE_CHECKING:
    from checkrein.vocab.records import Verification

_PLACE = click.argument("path", required=False, type=click.Path(path_type=Path))
_JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


@click.group("journal")
def command() -> None:
    """Show, verify and count the rows of a run's journal.

    PATH is a segment file or a directory of segments; without it, the usual directory (for `show` and `stats` its newest
    segment).
    """


@command.command("show")
@_PLACE
@_JSON
@click.option("--kind", "kinds", multiple=True, help="Only rows of this kind; may be given more than once.")
def show(path: Path | None, as_json: bool, kinds: tuple[str, ...]) -> None:
    """Print the rows of one segment."""
    from checkrein.edges.journal import lines_of
    from checkrein.vocab.records import KINDS, rows_of

    for kind in kinds:
        if kind not in KINDS:
            raise UsageError(f"`{kind}` is no kind of row", f"kinds are {', '.join(sorted(KINDS))}")
    for row in rows_of(lines_of(_newest(path))):
        if kinds and row.get("kind") not in kinds:
            continue
        if as_json:
            import orjson

            sys.stdout.buffer.write(orjson.dumps(row) + b"\n")
        else:
            click.echo(_line(row))


@command.command("verify")
@_PLACE
@_JSON
def verify(path: Path | None, as_json: bool) -> None:
    """Check every segment: its chain, its order, and that nothing is missing against its head. Exit code 0 or 5."""
    from checkrein.edges.journal import verify_segment

    found = [(segment, verify_segment(segment)) for segment in _all(path)]
    if as_json:
        import orjson

        document = {"schema": "checkrein.journal-verify/1", "segments": [_verified(segment, one) for segment, one in found]}
        click.echo(orjson.dumps(document).decode())
    else:
        for segment, one in found:
            state = "verified" if one.ok else "NOT VERIFIED"
            torn = "; the last row is torn" if one.torn else ""
            open_ = "" if one.ended else "; the run has no end row"
            click.echo(f"{segment}: {one.rows} rows, {state}{torn}{open_}")
            for finding in one.findings:
                click.echo(f"  {f'line {finding.line}: ' if finding.line else ''}{finding.sentence}")
    bad = sum(not one.ok for _, one in found)
    if bad:
        raise RecordError(
            f"{bad} of {len(found)} segments do not verify", "somebody changed, cut or lost rows after they were written"
        )


@command.command("stats")
@_PLACE
@_JSON
def stats(path: Path | None, as_json: bool) -> None:
    """Count calls, refusals and tokens of one segment."""
    from checkrein.edges.journal import lines_of
    from checkrein.turns.summary import summarise
    from checkrein.vocab.records import rows_of

    segment = _newest(path)
    summary = summarise(rows_of(lines_of(segment)))
    if as_json:
        import orjson

        document = {"schema": "checkrein.journal-stats/1", "path": str(segment), **summary.to_json()}
        click.echo(orjson.dumps(document).decode())
        return
    click.echo(f"{segment}")
    click.echo(f"{summary.requests} requests, {summary.line()}, {summary.released} released")
    for tool, times in sorted(summary.tools.items(), key=lambda pair: (-pair[1], pair[0])):
        click.echo(f"  {times:5} {tool}")
    for one in summary.refused:
        click.echo(f"  refused {one.times}x {one.tool}: {one.reason}{f' by {one.rule}' if one.rule else ''}: {one.what}")
    if summary.tokens:
        click.echo("  tokens: " + ", ".join(f"{key} {value}" for key, value in sorted(summary.tokens.items())))


def _all(path: Path | None) -> list[Path]:
    from checkrein.edges.journal import directory, segments

    place = path or directory()
    found = segments(place)
    if not found:
        raise UsageError(f"there is no journal at `{place}`")
    return found


def _newest(path: Path | None) -> Path:
    return _all(path)[-1]


def _verified(segment: Path, one: Verification) -> dict[str, Any]:
    findings = [{"line": finding.line, "sentence": finding.sentence} for finding in one.findings]
    return {
        "path": str(segment),
        "rows": one.rows,
        "verified": one.ok,
        "torn": one.torn,
        "ended": one.ended,
        "findings": findings,
    }


# What a row of each kind shows, after its number, time and kind.
_SHOWN = {
    "start": ("profile", "harness", "workspace", "upstream"),
    "request": ("model", "subagent", "refused"),
    "decision": ("verdict", "tool", "reason", "rule", "args"),
    "carried": ("form", "tool", "call_id"),
    "usage": ("tokens",),
    "breaker": ("state", "cause", "count", "limit"),
    "upstream": ("event", "status", "why"),
    "end": ("exit", "ordered"),
}


def _line(row: Mapping[str, Any]) -> str:
    """One row for people."""
    frame = set(FRAME)
    keys = _SHOWN.get(str(row.get("kind")), tuple(key for key in row if key not in frame))
    parts = [str(row[key]) for key in keys if row.get(key) not in (None, "", {}, [])]
    time = str(row.get("time", ""))[11:23]
    text = f"{row.get('seq', '?')!s:>5} {time} {row.get('kind', '?')!s:9} {' '.join(parts)}".rstrip()
    return "".join(char if char.isprintable() else "?" for char in text)
