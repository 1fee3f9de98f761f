"""`checkrein explain`: the verdict on one call, the rule that decided it, and the way out."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from checkrein.vocab.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from checkrein.cli.envelope import Envelope
    from checkrein.edges.trials import Judged, Proposal
    from checkrein.policy.decide import Policy
    from checkrein.profiles.schema import Profile
    from checkrein.vocab.effects import Effect
    from checkrein.vocab.verdicts import Verdict

# Verdict -> exit code.
CODES: Final = {"allow": 0, "deny": 10, "ask": 11}
_SHOWN: Final = 8  # effects of an admitted call that are listed


@click.command("explain")
@click.argument("envelope", required=False, metavar="[-]")
@click.option("--command", "line", metavar="TEXT", help="A command line.")
@click.option(
    "--shell", type=click.Choice(["posix", "powershell", "cmd"]), help="The shell of the command line. Default: posix."
)
@click.option("--tool", metavar="NAME", help="A tool, by its exact name.")
@click.option("--namespace", metavar="NS", help="The tool's namespace.")
@click.option("--args", "args", metavar="JSON", help="The tool's arguments.")
@click.option("--profile", "profile_name", metavar="P", help="A built-in profile or a file. Default: all that know the tool.")
@click.option(
    "--workspace",
    type=click.Path(path_type=Path, file_okay=False, exists=True),
    help="Default: the git root of the working directory.",
)
@click.option(
    "--policy", "policies", multiple=True, type=click.Path(path_type=Path), help="A policy file for the user layer. Repeatable."
)
@click.option("--preset", type=click.Choice(["strict", "standard", "observe"]), default="standard", show_default=True)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@click.pass_context
def command(
    ctx: click.Context,
    envelope: str | None,
    line: str | None,
    shell: str | None,
    tool: str | None,
    namespace: str | None,
    args: str | None,
    profile_name: str | None,
    workspace: Path | None,
    policies: tuple[Path, ...],
    preset: str,
    as_json: bool,
) -> None:
    """Say what becomes of one call, and why.

    Give a command line, a tool with its arguments, or `-` with a hook's input, a wire item or a journal row on the standard
    input. Nothing is run.

    Exit codes: 0 allow, 10 deny, 11 ask, 2 bad input, 3 invalid policy.
    """
    _one_source(envelope, line, shell, tool, namespace, args)
    from checkrein.edges import policies as shelf
    from checkrein.edges.site import site as site_of
    from checkrein.edges.trials import under_each
    from checkrein.vocab.state import State

    given = _given(line, shell, tool, namespace, args)
    cwd = given.cwd if workspace is None and given.cwd else None
    plain = site_of(workspace, cwd=cwd, own=policies)
    policy = shelf.load(plain.workspace, policies=policies, preset=preset)
    profiles = _profiles(given, line is not None, profile_name, policy)
    notes = given.notes if line is not None else (*given.notes, *_unknown(given, profiles))
    states = {
        one.name: State.at(site_of(plain.workspace, cwd=cwd, profile=one, own=policies) if one.protected else plain)
        for one in profiles
    }
    judged = under_each(given.proposal, policy, profiles, lambda one: states.get(one.name) or State.at(plain))
    if as_json:
        _document(judged, notes)
    else:
        for text in _report(judged, notes):
            click.echo(_printable(text))
    ctx.exit(CODES[judged[0].verdict.outcome.value])


def _one_source(
    envelope: str | None, line: str | None, shell: str | None, tool: str | None, namespace: str | None, args: str | None
) -> None:
    """Exactly one of the three ways to state a call."""
    ways = [name for name, value in (("-", envelope), ("--command", line), ("--tool", tool)) if value is not None]
    if len(ways) != 1:
        said = f"`{'` and `'.join(ways)}` exclude each other" if ways else "there is nothing to explain"
        raise UsageError(said, "give one of `--command TEXT`, `--tool NAME --args JSON`, or `-`")
    if envelope not in {None, "-"}:
        raise UsageError(f"`{envelope}` is no source", "only `-`, the standard input, can stand here")
    if shell is not None and line is None:
        raise UsageError("`--shell` belongs to `--command`")
    if tool is None and (args is not None or namespace is not None):
        raise UsageError(f"`{'--args' if args is not None else '--namespace'}` belongs to `--tool`")
    if tool is not None and args is None:
        raise UsageError("`--tool` needs the arguments", "add `--args JSON`; `--args '{}'` for none")


def _given(line: str | None, shell: str | None, tool: str | None, namespace: str | None, args: str | None) -> Envelope:
    from checkrein.cli.envelope import Envelope, read
    from checkrein.edges.trials import command as command_line

    if line is not None:
        return Envelope(command_line(line, shell or "posix"))
    if tool is not None:
        assert args is not None
        return Envelope(_proposal(tool, namespace, args))
    from checkrein.edges.files import builtin_profiles

    return read(sys.stdin.buffer.read(), lambda: [one.hooks for one in builtin_profiles().values()])


def _proposal(tool: str, namespace: str | None, args: str) -> Proposal:
    import json

    from checkrein.edges.trials import Proposal
    from checkrein.wire.arguments import parse_arguments

    try:
        value = json.loads(args)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"`--args` is not JSON: {str(error)[:1].lower()}{str(error)[1:]}") from None
    if isinstance(value, str):
        return Proposal(tool, namespace, value)
    read = parse_arguments(args)
    return Proposal(tool, namespace, read.args, args, fault=read.fault)


def _profiles(given: Envelope, is_line: bool, named: str | None, policy: Policy) -> list[Profile]:
    from checkrein.edges.files import builtin_names, builtin_profiles, load_profile
    from checkrein.edges.trials import COMMAND, known_by

    if is_line:
        if named is not None:
            raise UsageError("`--profile` belongs to `--tool` and `-`; a command line is judged alike for every harness")
        return [COMMAND]
    if named is not None:
        return [load_profile(named)]
    if given.profile and given.profile != COMMAND.name:
        if given.profile not in builtin_names():
            raise UsageError(
                f"the row is of the profile `{given.profile}`, which is not built in", "name its file: `--profile`"
            )
        return [load_profile(given.profile)]
    return known_by(given.proposal, policy, builtin_profiles())


def _unknown(given: Envelope, profiles: list[Profile]) -> tuple[str, ...]:
    """Where no profile has the tool: what may have been meant."""
    tool = given.proposal.tool
    if any(name == tool for profile in profiles for _, name in profile.index):
        return ()
    from checkrein.edges.files import builtin_profiles
    from checkrein.edges.trials import nearest

    near = nearest(given.proposal, builtin_profiles())
    return (f"no profile has a tool `{tool}`; did you mean {near}?",) if near else ()


# output


def _document(judged: list[Judged], notes: Sequence[str]) -> None:
    import orjson

    document = judged[0].verdict.to_json()
    document["notes"] = [*document["notes"], *notes]
    document["profiles"] = [
        {
            "profile": one.profile.name,
            "verdict": one.verdict.outcome.value,
            "reason": one.verdict.reason.value if one.verdict.reason else None,
            "rule": one.verdict.rule.id if one.verdict.rule else None,
        }
        for one in judged
    ]
    click.echo(orjson.dumps(document).decode())


def _report(judged: list[Judged], notes: Sequence[str]) -> Iterator[str]:
    first = judged[0]
    verdict = first.verdict
    head = [verdict.outcome.value, *([verdict.reason.value] if verdict.reason else [])]
    if first.profile.name != "command":
        head.append(f"{verdict.tool} ({first.profile.name})")
    if verdict.released and verdict.outcome.value != "allow":
        head.append("released")
    yield "  ".join(head)
    cut = _segment(verdict, first.call.args)
    if cut:
        yield _row("segment", cut)
    if verdict.message:
        yield _row("message", verdict.message)
    if verdict.rule is not None:
        rule = verdict.rule
        yield _row("rule", f"{rule.id} ({rule.layer.value}{', locked' if rule.locked else ''}) {rule.file}:{rule.line}")
    if verdict.remedy:
        yield _row("remedy", verdict.remedy)
    if verdict.outcome.value == "allow":
        yield from _effects(verdict)
    for other in judged[1:]:
        yield _row("also", f"{other.verdict.outcome.value} under {other.profile.name}")
    for note in (*verdict.notes, *notes):
        yield _row("note", note)


def _effects(verdict: Verdict) -> Iterator[str]:
    for effect in verdict.effects[:_SHOWN]:
        yield _row("effect", f"{effect.kind.value} {_where(effect)}")
    if len(verdict.effects) > _SHOWN:
        yield _row("effect", f"and {len(verdict.effects) - _SHOWN} more")


def _where(effect: Effect) -> str:
    from checkrein.policy.explain import shown

    sort = effect.act or effect.zone or effect.net
    return f"{shown(effect.value)}{f' ({sort.value})' if sort is not None else ''}"


def _segment(verdict: Verdict, args: Any) -> str:
    """The command that decided, within its argument; empty where that is all of it, or not known."""
    cause = verdict.cause
    if cause is None or not cause.pointer:
        return ""
    from checkrein.policy.explain import shown
    from checkrein.wire.request import at

    text = at(args, cause.pointer)
    if not isinstance(text, str):
        return ""
    raw = text.encode("utf-8", "surrogatepass")
    begin, end = _around(verdict, cause)
    return shown(raw[begin:end].decode("utf-8", "replace")) if begin < end and end - begin < len(raw) else ""


def _around(verdict: Verdict, cause: Effect) -> tuple[int, int]:
    """The span of the smallest command that holds the cause."""
    begin, end = cause.span
    holding = [
        one.span
        for one in verdict.effects
        if one.kind.value == "exec" and one.pointer == cause.pointer and one.span[0] <= begin and end <= one.span[1]
    ]
    return min(holding, key=lambda span: span[1] - span[0], default=cause.span)


def _row(name: str, text: str) -> str:
    return f"  {name:8} {text}"


def _printable(text: str) -> str:
    """No character that would steer a terminal."""
    return "".join(char if char.isprintable() else "?" for char in text)
