"""Policy files -> one `Policy`. Strict: every fault of every file at once, each with its place, and then no policy.

Layers stand on each other: built-in < organisation < user < project. A layer may loosen (by an allow with `overrides`) what a
layer below it says, unless that is locked; a project's file is writable by the agent and so may only tighten, unless the user
has trusted its very text.

INVARIANT: a `Policy` that leaves this module has no fault, and where a trial was given every example of a rule agreed with it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, get_type_hints

from checkrein.policy.decide import Policy, ready
from checkrein.policy.schema import (
    SCHEMA,
    Example,
    FaultKind,
    Manifest,
    Match,
    McpReview,
    Preset,
    Rule,
    Source,
    ToolReview,
)
from checkrein.profiles.schema import Role
from checkrein.vocab.errors import ConfigError, Fault
from checkrein.vocab.reasons import Reason
from checkrein.vocab.structure import BAD, Faults, Reader, Structurer, body_of, kind_of, meant, name_of
from checkrein.vocab.toml import Document, KeyPath, read
from checkrein.vocab.verdicts import Layer, Outcome, RuleRef

LAYERS: Final = {layer: rank for rank, layer in enumerate(Layer)}
BUILT_IN_EXAMPLES: Final = 3
OWN_EXAMPLES: Final = 1

# Judges one example under a policy and says which rules held for it, before any rule is loosened.
Trial = Callable[[Example, Policy], Collection[str]]

_DENIES: Final = frozenset({Reason.POLICY_BLOCK, Reason.SELF_MODIFY, Reason.SECRET_EXFIL, Reason.EGRESS_BLOCK, Reason.OPAQUE})
_FAULTS: Final[Mapping[FaultKind, Reason]] = {
    FaultKind.MALFORMED: Reason.MALFORMED,
    FaultKind.UNKNOWN_TOOL: Reason.DEFAULT_DENY,
    FaultKind.OVERSIZE: Reason.OVERSIZE,
    FaultKind.UNADMITTED: Reason.DEFAULT_DENY,
    FaultKind.ERROR: Reason.POLICY_ERROR,
}


@dataclass(slots=True)
class Read:
    """One file as far as it could be read."""

    source: Source
    document: Document
    faults: Faults
    manifest: Manifest
    ranks: tuple[int, ...]  # where each rule stands in the file
    trusted: bool = False

    def at(self, index: int, *keys: str | int) -> KeyPath:
        """The key path of a rule, or of something in it."""
        return ("rule", self.ranks[index], *keys)


def compile(
    layers: Sequence[Source | Manifest],
    *,
    preset: Preset | str = Preset.STANDARD,
    profiles: Collection[str] = (),
    trial: Trial | None = None,
    broken: Sequence[Fault] = (),
) -> Policy:
    """The policy of these files. A `Manifest` is one that was read and checked before (a built-in pack).

    With `profiles`, names of profiles in the files must be among them. Examples are run by `trial`; without one they are only
    counted. `broken` are the faults of files that could not even be opened; they are reported with all the others.
    """
    files, unread = _read_all(layers, broken)
    fresh = [one for one in files if isinstance(one, Read)]
    digests = {row.digest for one in files for row in _manifest(one).trust if _manifest(one).layer is not Layer.PROJECT}
    for one in fresh:
        one.trusted = one.source.layer is Layer.PROJECT and one.manifest.digest in digests
    by_id = _names(files)
    for one in fresh:
        _check(one, by_id, profiles, whole=not unread)
    _raise(fresh, unread)
    policy = _policy([_manifest(one) for one in files], Preset(preset))
    if trial is not None:
        for one in fresh:
            _try(one, policy, trial)
        _raise(fresh)
    return policy


def checked(layers: Sequence[Source]) -> tuple[Manifest, ...]:
    """The manifests of files that need no others, each checked."""
    files, unread = _read_all(layers, ())
    fresh = [one for one in files if isinstance(one, Read)]
    by_id = _names(files)
    for one in fresh:
        _check(one, by_id, (), whole=not unread)
    _raise(fresh, unread)
    return tuple(one.manifest for one in fresh)


def _read_all(layers: Sequence[Source | Manifest], broken: Sequence[Fault]) -> tuple[list[Read | Manifest], list[Fault]]:
    """Every file as far as it can be read, and the faults of those that cannot be."""
    files: list[Read | Manifest] = []
    unread = list(broken)
    for one in layers:
        try:
            files.append(one if isinstance(one, Manifest) else parse(one))
        except ConfigError as error:
            unread += error.faults
    return files, unread


def _manifest(one: Read | Manifest) -> Manifest:
    return one if isinstance(one, Manifest) else one.manifest


def _raise(files: Iterable[Read], unread: Sequence[Fault] = ()) -> None:
    faults = [*unread, *(fault for one in files for _, fault in one.faults.found)]
    if faults:
        raise ConfigError(faults)


def _policy(files: Sequence[Manifest], preset: Preset) -> Policy:
    ordered = sorted(files, key=lambda one: LAYERS[one.layer])
    rules = tuple(rule for one in ordered for rule in one.rule)
    refusing, allows = ready(rules, preset)
    digest = hashlib.sha256(preset.encode())
    for one in ordered:
        digest.update(f"\n{one.layer.value} {one.digest}".encode())
    return Policy(
        preset=preset,
        refusing=refusing,
        allows=allows,
        faults={kind: rule for rule in rules for kind in rule.on.fault},
        rules=rules,
        mcp=tuple(row for one in ordered for row in one.mcp),
        tools=tuple(row for one in ordered for row in one.tools),
        secrets=tuple(glob for one in ordered for glob in one.secrets.paths),
        digest=digest.hexdigest(),
        files=tuple((one.layer, one.file, one.digest) for one in ordered),
    )


# reading one file


def parse(source: Source) -> Read:
    """One file, with its faults. Only a file that is no TOML at all raises here."""
    document = read(source.text, source.file)
    faults = Faults(document)
    body = body_of(document, SCHEMA, faults)
    structurer = Structurer(_HOOKS)
    tables = body.pop("rule", [])
    ranked = structurer.elements(Rule, tables, faults, ("rule",))
    rest = structurer.read(Manifest, body, faults) or Manifest()
    rules = tuple(
        replace(rule, ref=RuleRef(rule.id, source.layer, source.file, document.place(("rule", rank))[0], rule.locked))
        for rank, rule in ranked
    )
    digest = hashlib.sha256(source.text.encode("utf-8", "surrogatepass")).hexdigest()
    manifest = replace(rest, rule=rules, layer=source.layer, file=source.file, digest=digest)
    return Read(source, document, faults, manifest, tuple(rank for rank, _ in ranked))


def _one_or_more(kind: Any) -> Reader:
    """A list, or one element without its brackets."""
    many: dict[str, Reader] = {}

    def read_them(value: Any, path: KeyPath, faults: Faults) -> Any:
        if "reader" not in many:
            many["reader"] = Structurer().reader(kind)
        inner = many["reader"]
        if isinstance(value, str):
            made = inner([value], path, faults)
            return made or BAD
        if isinstance(value, list) and not value:
            faults.add(path, f"{name_of(path)} is an empty list, which would never hold")
            return BAD
        return inner(value, path, faults)

    return read_them


def _example(value: Any, path: KeyPath, faults: Faults) -> Any:
    """A command alone stands for `{command = "…"}`."""
    if isinstance(value, str):
        return Example(command=value)
    if not isinstance(value, dict):
        faults.add(path, f"{name_of(path)} must be text or a table, not {kind_of(value)}")
        return BAD
    before = len(faults.found)
    made = _TABLES.reader(Example)(value, path, faults)
    if isinstance(made, Example) and len(faults.found) == before and (made.command is None) == (made.tool is None):
        faults.add(path, f"{name_of(path)} must give either a `command` or a `tool`")
        return BAD
    return made


def _befores(value: Any, path: KeyPath, faults: Faults) -> Any:
    if not isinstance(value, list):
        faults.add(path, f"{name_of(path)} must be a list, not {kind_of(value)}")
        return BAD
    made = [_example(item, (*path, rank), faults) for rank, item in enumerate(value)]
    return tuple(item for item in made if item is not BAD)


_TABLES: Final = Structurer({(Example, "before"): _befores})

EXAMPLES: Final[Reader] = _example

_HOOKS: Final[Mapping[Any, Reader]] = {
    Example: _example,
    **{(Match, name): _one_or_more(kind) for name, kind in get_type_hints(Match).items()},
}


# checking


def _names(files: Sequence[Read | Manifest]) -> dict[str, Rule]:
    """Every rule by its id; the second of two is a fault."""
    known: dict[str, Rule] = {}
    for one in files:
        for index, rule in enumerate(_manifest(one).rule):
            first = known.setdefault(rule.id, rule)
            if first is not rule and isinstance(one, Read):
                one.faults.add(
                    one.at(index, "id"), f"the id `{rule.id}` is taken by {_place(first)}", "every rule has its own id"
                )
    return known


def _place(rule: Rule) -> str:
    ref = rule.ref
    return f"{ref.file}:{ref.line} ({ref.layer.value})" if ref is not None else "another rule"


def _check(one: Read, by_id: Mapping[str, Rule], profiles: Collection[str], *, whole: bool) -> None:
    """`whole` says that every file could be read, so that a rule which is not there does not exist."""
    for index, rule in enumerate(one.manifest.rule):
        _check_rule(one, index, rule)
        _check_overrides(one, index, rule, by_id, whole=whole)
        if profiles:
            for rank, name in enumerate(rule.on.profile):
                if name not in profiles:
                    one.faults.add(one.at(index, "on", "profile", rank), f"there is no profile `{name}`", meant(name, profiles))
    _check_reviews(one, profiles)
    if one.source.layer is Layer.PROJECT and not one.trusted:
        _check_tightens(one)
    if one.source.layer is Layer.PROJECT and one.manifest.trust:
        one.faults.add(("trust",), "a project's file cannot say whom to trust")


def _check_rule(one: Read, index: int, rule: Rule) -> None:
    add = one.faults.add
    at = one.at
    on = rule.on
    if not rule.id.strip() or any(not (c.isalnum() or c in ".-_") for c in rule.id):
        add(at(index, "id"), f"`{rule.id}` is no id", "an id has letters, digits, `.`, `-` and `_` only")
    if on == Match() and not one.faults.under(at(index, "on")):
        add(at(index, "on"), "the rule has no condition", "name at least the effect that it is about")
    if rule.also == Match() and not one.faults.under(at(index, "also")):
        add(at(index, "also"), "`also` has no condition")
    if on.fault:
        if rule.verdict is not Outcome.DENY or one.source.layer is not Layer.BUILT_IN or on != Match(fault=on.fault):
            add(at(index, "on", "fault"), "a rule on a fault only names what the ladder refuses; it is built in")
        elif any(rule.reason is not _FAULTS[kind] for kind in on.fault):
            add(at(index, "reason"), f"the reason of this fault is `{_FAULTS[on.fault[0]]}`")
    elif rule.verdict is Outcome.DENY and rule.reason is not None and rule.reason not in _DENIES:
        add(at(index, "reason"), f"a deny cannot have the reason `{rule.reason}`", f"known: {', '.join(sorted(_DENIES))}")
    elif rule.verdict is Outcome.ASK and rule.reason not in {None, Reason.NEEDS_APPROVAL}:
        add(at(index, "reason"), f"an ask cannot have the reason `{rule.reason}`", "leave it out")
    elif rule.verdict is Outcome.ALLOW and rule.reason is not None:
        add(at(index, "reason"), "an allow has no reason")
    if rule.overrides and rule.verdict is not Outcome.ALLOW:
        add(at(index, "overrides"), "only an allow can loosen other rules")
    if rule.locked and LAYERS[one.source.layer] > LAYERS[Layer.ORGANISATION]:
        add(at(index, "locked"), f"the {one.source.layer.value} layer cannot lock a rule")
    if rule.locked and rule.verdict is Outcome.ALLOW:
        add(at(index, "locked"), "an allow cannot be locked", "lock the rules that refuse")
    built_in = one.source.layer is Layer.BUILT_IN
    if built_in and not rule.harm and rule.verdict is not Outcome.ALLOW:
        add(at(index), f"rule `{rule.id}` does not say which harm it prevents", "add `harm`")
    if not on.fault:
        need = BUILT_IN_EXAMPLES if built_in else OWN_EXAMPLES
        for name, given in (("match", rule.examples.match), ("not_match", rule.examples.not_match)):
            if len(given) < need and not one.faults.under(at(index, "examples", name)):
                where = f"at least {need} example{'s' if need > 1 else ''}"
                add(at(index, "examples", name), f"rule `{rule.id}` needs {where} in `{name}`, and has {len(given)}")


def _check_overrides(one: Read, index: int, rule: Rule, by_id: Mapping[str, Rule], *, whole: bool) -> None:
    mine = LAYERS[Layer.USER] if one.trusted else LAYERS[one.source.layer]
    for rank, name in enumerate(rule.overrides):
        path = one.at(index, "overrides", rank)
        other = by_id.get(name)
        if other is None:
            if whole:
                one.faults.add(path, f"there is no rule `{name}`", meant(name, by_id))
        elif other.locked:
            one.faults.add(
                path, f"rule `{name}` is locked at {_place(other)} and cannot be loosened by the {one.source.layer.value} layer"
            )
        elif other.verdict is Outcome.ALLOW:
            one.faults.add(path, f"rule `{name}` is an allow, there is nothing to loosen")
        elif other.ref is not None and LAYERS[other.ref.layer] >= mine:
            one.faults.add(
                path,
                f"rule `{name}` belongs to the {other.ref.layer.value} layer, which the {one.source.layer.value} layer cannot loosen",
                "change that rule itself",
            )


def _check_reviews(one: Read, profiles: Collection[str]) -> None:
    roles = {role.value for role in Role}
    named: tuple[tuple[str, Sequence[McpReview | ToolReview]], ...] = (("mcp", one.manifest.mcp), ("tools", one.manifest.tools))
    for key, reviews in named:
        for rank, review in enumerate(reviews):
            for name, role in (review.arguments or {}).items():
                if role and role not in roles:
                    one.faults.add((key, rank, "arguments", name), f"`{role}` is no role of an argument", meant(role, roles))
            if profiles and review.profile and review.profile not in profiles:
                one.faults.add(
                    (key, rank, "profile"), f"there is no profile `{review.profile}`", meant(review.profile, profiles)
                )


def _check_tightens(one: Read) -> None:
    """What an untrusted project's file may not say."""
    way_out = f'to trust this very text, add `[[trust]]` with `digest = "{one.manifest.digest}"` to the user\'s policy'
    for index, rule in enumerate(one.manifest.rule):
        if rule.verdict is Outcome.ALLOW:
            one.faults.add(one.at(index, "verdict"), "a project's policy may only tighten, and an allow loosens", way_out)
    for key in ("mcp", "tools"):
        if one.document.value.get(key):
            one.faults.add((key,), "a project's policy may only tighten, and a review admits tools", way_out)


# examples


def _try(one: Read, policy: Policy, trial: Trial) -> None:
    for index, rule in enumerate(one.manifest.rule):
        if rule.on.fault or (rule.presets and policy.preset not in rule.presets):
            continue
        for name, wanted in (("match", True), ("not_match", False)):
            given: Sequence[Example] = getattr(rule.examples, name)
            for rank, example in enumerate(given):
                path = one.at(index, "examples", name, rank)
                try:
                    holds = rule.id in trial(example, policy)
                except (Exception, RecursionError) as error:  # noqa: BLE001 - what cannot be judged proves nothing
                    one.faults.add(path, f"the example `{example}` could not be judged: {error or type(error).__name__}")
                    continue
                if holds is not wanted:
                    said = "does not hold for" if wanted else "holds for"
                    one.faults.add(
                        path,
                        f"rule `{rule.id}` {said} its own example `{example}`",
                        "change the rule or the example; `checkrein explain` shows the effects",
                    )


__all__ = ["BUILT_IN_EXAMPLES", "EXAMPLES", "Read", "Trial", "checked", "compile", "parse"]
