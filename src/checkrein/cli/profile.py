"""`checkrein profile list|show|check|draft|diff`: what Checkrein knows of each harness."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from checkrein.edges import files
from checkrein.vocab.errors import ConfigError, UsageError

if TYPE_CHECKING:
    from checkrein.profiles.schema import Profile, Tool
    from checkrein.vocab.errors import Fault
    from checkrein.wire.request import Declared

_AS_JSON = click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")


@click.group()
def command() -> None:
    """List, show, check, draft and compare harness profiles."""


@command.command("list")
@_AS_JSON
def list_(as_json: bool) -> None:
    """List the built-in profiles."""
    rows = [_row(profile) for profile in files.builtin_profiles().values()]
    if as_json:
        _document("checkrein.profiles/1", profiles=rows)
        return
    for row in rows:
        click.echo(f"{row['name']:<14} {row['title']:<14} {row['wire']:<20} {row['tools']:>3} tools   {row['versions']}")


def _row(profile: Profile) -> dict[str, Any]:
    return {
        "name": profile.name,
        "title": profile.title,
        "wire": profile.wire.value,
        "versions": profile.versions,
        "tools": len(profile.tools),
        "digest": profile.digest,
    }


@command.command()
@click.argument("profile")
@_AS_JSON
def show(profile: str, as_json: bool) -> None:
    """Show a profile: a built-in one by name, or one in a file."""
    from checkrein.profiles.diff import plain

    loaded = files.load_profile(profile)
    if as_json:
        _document("checkrein.profile-show/1", profile=plain(loaded))
        return
    click.echo(f"{loaded.name}: {loaded.title}, versions {loaded.versions or 'any'}, on the wire {loaded.wire.value}")
    click.echo(f"file {loaded.file}\ndigest {loaded.digest}")
    stop = " ".join(filter(None, (str(loaded.stop.status), loaded.stop.code, loaded.stop.event)))
    denial = loaded.denial
    click.echo(f"denial {denial.some_left.value} while calls are left, else {denial.none_left.value}; stop {stop}")
    for tool in loaded.tools:
        click.echo(f"\n{_heading(tool)}")
        for line in _lines(tool):
            click.echo(f"  {line}")


def _heading(tool: Tool) -> str:
    spellings = [f"{space}.{tool.name}" if space else tool.name for space in tool.namespaces]
    marks = [mark for mark, on in (("read-only", tool.read_only), ("stops", tool.stops), ("older", not tool.declared)) if on]
    also = [name for name in dict.fromkeys((*spellings, *tool.aliases)) if name != spellings[0]]
    text = f"{spellings[0]} [{tool.kind.value}]{''.join(f' {mark}' for mark in marks)}"
    return f"{text}\n  also {', '.join(also)}" if also else text


def _lines(tool: Tool) -> Iterator[str]:
    for argument in tool.arguments:
        parts = [argument.pointer, argument.role.value if argument.role else "-", "/".join(argument.types)]
        if argument.values:
            parts.append(f"when one of {', '.join(map(str, argument.values))}")
        if argument.when is not None:
            words = ", ".join(str(word) for word in (*argument.when.values, *argument.when.stems))
            parts.append(f"{'unless' if argument.when.unless else 'if'} {argument.when.key} is {words}")
        yield " ".join(filter(None, parts))
    if tool.schema:
        yield f"pinned: {', '.join(tool.schema.get('properties', {})) or 'no arguments'}"


@command.command()
@click.argument("profiles", nargs=-1)
@_AS_JSON
@click.pass_context
def check(ctx: click.Context, profiles: tuple[str, ...], as_json: bool) -> None:
    """Check profiles, the built-in ones where none is named, and print every fault with its place."""
    from checkrein.profiles.load import parse

    faults: list[Fault] = []
    names = profiles or files.builtin_names()
    for name in names:
        try:
            text, file = files.profile_text(name)
            parse(text, file, thorough=True)
        except ConfigError as error:
            faults += error.faults
    if as_json:
        rows = [
            {"file": fault.file, "line": fault.line, "column": fault.column, "sentence": fault.sentence, "hint": fault.hint}
            for fault in faults
        ]
        _document("checkrein.profile-check/1", ok=not faults, checked=list(names), faults=rows)
    else:
        for fault in faults:
            click.echo(str(fault))
        if not faults:
            click.echo(f"{len(names)} profile{'' if len(names) == 1 else 's'} checked, no fault")
    if faults:
        ctx.exit(ConfigError.code)


@command.command()
@click.option("--from", "capture", required=True, type=click.Path(path_type=Path), help="A captured request, as JSON.")
@click.option("--wire", help="The wire of the request; by its shape where not given.")
@click.option("--name", default="my-harness", show_default=True, help="The name of the new profile.")
@click.option("--against", help="Print only what this profile lacks.")
@click.option("--version", default="", help="The harness's version.")
def draft(capture: Path, wire: str | None, name: str, against: str | None, version: str) -> None:
    """Draft a profile, or the lines that a profile lacks, from a captured model request.

    CAPTURE is the body of one request, an object with it under `body`, or JSON lines of either.
    """
    from checkrein.profiles import draft as drafts
    from checkrein.profiles.drift import compare

    bodies = list(_bodies(capture))
    wire = wire or _wire_of(bodies[0])
    declared, model = _declared(bodies, wire)
    if not declared:
        raise UsageError(f"no request in `{capture}` declares a tool")
    if against is None:
        click.echo(drafts.draft(name, wire, declared, version=version), nl=False)
        return
    profile = files.load_profile(against)
    drift = compare(declared, profile, model, version or _newest(profile))
    lines = drafts.additions(drift, profile)
    click.echo(lines or f"# {profile.name} lacks nothing of what `{capture}` declares\n", nl=False)


def _newest(profile: Profile) -> str:
    """The newest tested version."""
    return profile.versions.rpartition("=")[2]


def _bodies(capture: Path) -> Iterator[dict[str, Any]]:
    """The request bodies in a capture."""
    text = files.read_text(capture)
    try:
        values = [json.loads(text)]
    except ValueError:
        values = []
        for number, line in enumerate(text.splitlines(), 1):
            try:
                values += [json.loads(line)] if line.strip() else []
            except ValueError as error:
                raise UsageError(f"line {number} of `{capture}` is not JSON: {error}") from None
    found = [value.get("body", value) for value in values if isinstance(value, dict)]
    bodies = [body for body in found if isinstance(body, dict)]
    if not bodies:
        raise UsageError(f"`{capture}` holds no request", "capture the JSON body of one model request")
    yield from bodies


def _wire_of(body: dict[str, Any]) -> str:
    """The wire that a body of this shape is on."""
    if "contents" in body:
        return "gemini"
    if "input" in body:
        return "openai-responses"
    tools = body.get("tools")
    if isinstance(tools, list) and any(isinstance(tool, dict) and "input_schema" in tool for tool in tools):
        return "anthropic-messages"
    if "messages" in body:
        return "openai-chat"
    raise UsageError("nothing in the request tells its wire", "name it with `--wire`")


def _declared(bodies: list[dict[str, Any]], wire: str) -> tuple[list[Declared], str]:
    """Every tool that any of the requests declares, and the model of the first."""
    from checkrein.wire import WIRES
    from checkrein.wire.codec import ViolationError

    codec = WIRES.get(wire)
    if codec is None:
        raise UsageError(f"requests on the wire `{wire}` can't be read", f"known: {', '.join(WIRES)}")
    found: dict[tuple[str | None, str], Declared] = {}
    model = ""
    for body in bodies:
        try:
            request = codec.request(body)
        except ViolationError as error:
            raise UsageError(f"the request can't be read: {error}") from None
        model = model or request.model
        for one in request.declared:
            found.setdefault((one.namespace, one.name), one)
    return list(found.values()), model


@command.command()
@click.argument("before")
@click.argument("after")
@_AS_JSON
def diff(before: str, after: str, as_json: bool) -> None:
    """Show what differs between two profiles."""
    from checkrein.profiles.diff import changes

    found = changes(files.load_profile(before), files.load_profile(after))
    if as_json:
        rows = [{"where": one.where, "before": one.before, "after": one.after} for one in found]
        _document("checkrein.profile-diff/1", changes=rows)
        return
    for one in found:
        click.echo(str(one))


def _document(schema: str, **fields: Any) -> None:
    click.echo(json.dumps({"schema": schema, **fields}, ensure_ascii=False))
