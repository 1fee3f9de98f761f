"""`checkrein policy check|show|test|lint`: what the policy is, whether it holds together, and whether it says what was meant."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

import click

from checkrein.vocab.errors import ConfigError, Fault, UsageError

if TYPE_CHECKING:
    from checkrein.policy.decide import Policy
    from checkrein.policy.schema import Rule, Source

F = TypeVar("F", bound=Callable[..., Any])

_PRESETS: Final = ("standard", "strict", "observe")


def _common(function: F) -> F:
    """The options of every verb."""
    for option in reversed(
        (
            click.option(
                "--workspace",
                type=click.Path(path_type=Path, file_okay=False, exists=True),
                help="Default: the git root of the working directory.",
            ),
            click.option(
                "--policy",
                "policies",
                multiple=True,
                type=click.Path(path_type=Path),
                help="A policy file for the user layer. Repeatable.",
            ),
            click.option("--preset", type=click.Choice(sorted(_PRESETS)), default="standard", show_default=True),
            click.option("--json", "as_json", is_flag=True, help="Print one JSON document."),
        )
    ):
        function = option(function)
    return function


@click.group()
def command() -> None:
    """Check, show, test and lint the policy."""


def _root(workspace: Path | None) -> Path:
    from checkrein.edges.site import git_root

    return workspace.absolute() if workspace is not None else git_root(Path.cwd())


# check


@command.command()
@click.argument("files", nargs=-1, type=click.Path(path_type=Path))
@click.option(
    "--layer",
    type=click.Choice(["organisation", "user", "project"]),
    help="The layer of the FILES. Default: project below a `.checkrein` directory, else user.",
)
@_common
@click.pass_context
def check(
    ctx: click.Context,
    files: tuple[Path, ...],
    layer: str | None,
    workspace: Path | None,
    policies: tuple[Path, ...],
    preset: str,
    as_json: bool,
) -> None:
    """Check every policy file, the examples of its rules included, and print every fault with its place.

    With FILES only these are checked, on top of the built-in rules.
    """
    if layer is not None and not files:
        raise UsageError("`--layer` belongs to files", "name the files to check")
    if files and policies:
        raise UsageError("`--policy` and files exclude each other")
    above, broken = _named(files, layer) if files else _above(workspace, policies)
    faults, policy = _compiled(above, broken, preset)
    if as_json:
        names = [source.file for source in above] + sorted({fault.file for fault in broken})
        _document("checkrein.policy-check/1", ok=not faults, checked=names, faults=_rows(faults))
    else:
        _print(faults)
        if policy is not None:
            said = f"{_count(len(policy.rules), 'rule')} in {_count(len(policy.files), 'file')}"
            click.echo(f"{said}, {_count(_examples(policy), 'example')} run, no fault")
    ctx.exit(ConfigError.code if faults else 0)


def _named(files: Sequence[Path], layer: str | None) -> tuple[list[Source], list[Fault]]:
    from checkrein.edges.files import read_text
    from checkrein.policy.schema import Source
    from checkrein.vocab.verdicts import Layer

    found: list[Source] = []
    broken: list[Fault] = []
    for path in dict.fromkeys(one.absolute() for one in files):
        of = Layer(layer) if layer else Layer.PROJECT if path.parent.name == ".checkrein" else Layer.USER
        try:
            found.append(Source(of, str(path), read_text(path)))
        except ConfigError as error:
            broken += error.faults
    return found, broken


def _above(workspace: Path | None, policies: Sequence[Path]) -> tuple[list[Source], list[Fault]]:
    from checkrein.edges.policies import sources

    return sources(_root(workspace), policies)


def _compiled(above: Sequence[Source], broken: Sequence[Fault], preset: str) -> tuple[list[Fault], Policy | None]:
    """The faults under this preset and those that a rule names, each once; the policy where there is none."""
    from checkrein.edges.policies import assemble

    faults: dict[Fault, None] = {}
    policy: Policy | None = None
    try:
        policy = assemble(above, broken, preset=preset, thorough=True)
    except ConfigError as error:
        faults.update(dict.fromkeys(error.faults))
    others = {name for rule in policy.rules for name in rule.presets} - {preset} if policy is not None else set()
    for other in sorted(others):
        try:
            assemble(above, broken, preset=other, thorough=True)
        except ConfigError as error:
            faults.update(dict.fromkeys(error.faults))
    return sorted(faults), policy if not faults else None


def _examples(policy: Policy) -> int:
    return sum(len(rule.examples.match) + len(rule.examples.not_match) for rule in policy.rules if not rule.on.fault)


# test


@command.command()
@click.option(
    "--cases",
    "case_files",
    multiple=True,
    type=click.Path(path_type=Path),
    help="A file of cases, TOML or JSON lines, each with the verdict that is expected. Repeatable.",
)
@_common
@click.pass_context
def test(
    ctx: click.Context,
    case_files: tuple[Path, ...],
    workspace: Path | None,
    policies: tuple[Path, ...],
    preset: str,
    as_json: bool,
) -> None:
    """Run every example of every rule of every layer, and files of your own cases.

    A case is a call and what is expected of it: {"command": "git push --force", "expect": "deny"}. It may name `shell`, or
    `tool`, `args` and `profile` in place of the command, and `rule` or `reason`. Cases are judged in the workspace /work/app
    with the home /home/dev; nothing is run.
    """
    from checkrein.edges.files import read_text
    from checkrein.edges.trials import verdict_of
    from checkrein.policy import cases

    faults, policy = _compiled(*_above(workspace, policies), preset)
    ran = failed = 0
    for path in case_files:
        try:
            rows = cases.parse(read_text(path), str(path))
        except ConfigError as error:
            faults += error.faults
            continue
        if policy is None:
            continue
        for case in rows:
            ran += 1
            try:
                found = case.disagreement(verdict_of(case.example, policy))
            except UsageError as error:
                found = Fault(case.file, case.line, case.column, str(error), error.hint)
            if found is not None:
                failed += 1
                faults.append(found)
    examples = _examples(policy) if policy is not None else 0
    if as_json:
        _document("checkrein.policy-test/1", ok=not faults, examples=examples, cases=ran, failed=failed, faults=_rows(faults))
    else:
        _print(faults)
        if policy is not None:
            click.echo(f"{_count(examples, 'example')} and {_count(ran, 'case')} run, {_count(len(faults), 'fault')}")
    ctx.exit(ConfigError.code if faults else 0)


# lint


@command.command()
@click.option("--strict", is_flag=True, help="A finding counts as a fault.")
@_common
@click.pass_context
def lint(
    ctx: click.Context, strict: bool, workspace: Path | None, policies: tuple[Path, ...], preset: str, as_json: bool
) -> None:
    """Point at what a policy says but hardly means. Faults end with 3, findings only with `--strict`."""
    from checkrein.edges.policies import builtin_sources
    from checkrein.edges.trials import verdict_of
    from checkrein.policy.lint import findings
    from checkrein.policy.load import parse

    above, broken = _above(workspace, policies)
    faults, policy = _compiled(above, broken, preset)
    found: list[Fault] = []
    if policy is not None:
        for source in (*builtin_sources(), *above):
            found += findings(parse(source), policy, verdict_of)
    if as_json:
        _document("checkrein.policy-lint/1", ok=not faults and not found, faults=_rows(faults), findings=_rows(found))
    else:
        _print([*faults, *found])
        if not faults:
            click.echo(_count(len(found), "finding") if found else "no finding")
    ctx.exit(ConfigError.code if faults or (strict and found) else 0)


# show


@command.command()
@click.argument("rule", required=False)
@_common
def show(rule: str | None, workspace: Path | None, policies: tuple[Path, ...], preset: str, as_json: bool) -> None:
    """Show the files and the rules that are in force, or all of one RULE."""
    from checkrein.edges.policies import assemble
    from checkrein.policy.explain import sketch

    policy = assemble(*_above(workspace, policies), preset=preset, thorough=rule is not None)
    if rule is not None:
        _show_rule(_rule(rule, policy), policy, as_json=as_json)
        return
    if as_json:
        files = [{"layer": layer.value, "file": file, "digest": digest} for layer, file, digest in policy.files]
        rules = [_rule_json(one) for one in policy.rules]
        _document("checkrein.policy-show/1", preset=policy.preset.value, digest=policy.digest, files=files, rules=rules)
        return
    click.echo(f"preset {policy.preset.value}, {_count(len(policy.rules), 'rule')}, digest {policy.digest}")
    for layer, file, digest in policy.files:
        click.echo(f"{layer.value:<13} {digest[:12]}  {file}")
    for one in policy.rules:
        marks = "".join(f" {mark}" for mark, on in (("locked", one.locked), ("loosens", bool(one.overrides))) if on)
        click.echo(f"{one.verdict.value:<6} {one.id}{marks}  {sketch(one.on)}")
    for what, count in (("reviewed MCP tools", len(policy.mcp)), ("reviewed tools", len(policy.tools))):
        if count:
            click.echo(f"{count} {what}")


def _rule(name: str, policy: Policy) -> Rule:
    for rule in policy.rules:
        if rule.id == name:
            return rule
    from checkrein.vocab.structure import meant

    raise UsageError(f"there is no rule `{name}`", meant(name, [rule.id for rule in policy.rules]))


def _show_rule(rule: Rule, policy: Policy, *, as_json: bool) -> None:
    from checkrein.policy.explain import sketch

    loosened = [one.id for one in policy.rules if rule.id in one.overrides]
    if as_json:
        examples = {name: [str(one) for one in getattr(rule.examples, name)] for name in ("match", "not_match")}
        _document("checkrein.policy-rule/1", rule=_rule_json(rule) | {"examples": examples, "loosened_by": loosened})
        return
    click.echo(f"{rule.id}: {rule.verdict.value}{f' {rule.reason.value}' if rule.reason else ''}")
    assert rule.ref is not None
    rows: list[tuple[str, str]] = [
        ("place", f"{rule.ref.file}:{rule.ref.line} ({rule.ref.layer.value}{', locked' if rule.locked else ''})"),
        ("presets", ", ".join(one.value for one in rule.presets)),
        ("on", sketch(rule.on)),
        ("also", sketch(rule.also) if rule.also is not None else ""),
        ("harm", rule.harm),
        ("instead", rule.instead),
        ("loosens", ", ".join(rule.overrides)),
        ("loosened", ", ".join(loosened)),
        *(("match", str(one)) for one in rule.examples.match),
        *(("not", str(one)) for one in rule.examples.not_match),
    ]
    for name, text in rows:
        if text:
            click.echo(_printable(f"  {name:8} {text}"))


def _rule_json(rule: Rule) -> dict[str, Any]:
    from checkrein.policy.explain import conditions

    ref = rule.ref
    assert ref is not None
    return {
        "id": rule.id,
        "verdict": rule.verdict.value,
        "reason": rule.reason.value if rule.reason else None,
        "layer": ref.layer.value,
        "file": ref.file,
        "line": ref.line,
        "locked": rule.locked,
        "presets": [one.value for one in rule.presets],
        "overrides": list(rule.overrides),
        "on": dict(conditions(rule.on)),
        "also": dict(conditions(rule.also)) if rule.also is not None else None,
        "harm": rule.harm,
        "instead": rule.instead,
    }


# output


def _print(faults: Sequence[Fault]) -> None:
    for fault in faults:
        for line in str(fault).splitlines():
            click.echo(_printable(line))


def _printable(text: str) -> str:
    return "".join(char if char.isprintable() else "?" for char in text)


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


def _rows(faults: Sequence[Fault]) -> list[dict[str, Any]]:
    return [
        {"file": fault.file, "line": fault.line, "column": fault.column, "sentence": fault.sentence, "hint": fault.hint}
        for fault in faults
    ]


def _document(schema: str, **fields: Any) -> None:
    import json

    click.echo(json.dumps({"schema": schema, **fields}, ensure_ascii=False))
