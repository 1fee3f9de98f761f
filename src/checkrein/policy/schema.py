"""What a policy file may say. Closed vocabularies; an unknown key or word is a fault with its place, and then no policy.

    schema = "checkrein.policy/1"

    [[rule]]
    id = "git.force-push"             # unique over all layers; the part before the dot is the family
    verdict = "deny"                  # deny | ask | allow
    reason = "POLICY_BLOCK"           # default: POLICY_BLOCK for a deny, NEEDS_APPROVAL for an ask
    locked = false                    # no lower layer may loosen it
    presets = ["standard"]            # only in these presets; default: all of them
    harm = "one sentence"             # what it prevents
    instead = "push to a new branch"  # what the model should do; completes "...; <instead>"
    overrides = ["rule id"]           # only an allow: these rules do not count for the effects that it matches
    [rule.on]                         # every condition given must hold for ONE effect; a list means "one of"
    effect = "exec"
    [rule.also]                       # and these for ANOTHER effect of the same call
    [rule.examples]
    match = ["a posix command", { tool = "exec_command", profile = "codex", args = { cmd = "…" } }]
    not_match = []

A call is admitted when no deny and no ask holds for any of its effects and every effect is matched by an allow.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Literal

from checkrein.profiles.schema import ToolKind
from checkrein.vocab.acts import Act
from checkrein.vocab.calls import NOTHING, CallKind
from checkrein.vocab.effects import EffectKind, Flag, Net, Zone
from checkrein.vocab.reasons import Reason
from checkrein.vocab.structure import COMPUTED
from checkrein.vocab.verdicts import Layer, Outcome, RuleRef

SCHEMA = "checkrein.policy/1"


class Preset(StrEnum):
    """How the same rules are applied: `strict` asks nobody, `observe` releases what only policy refuses."""

    STRICT = "strict"
    STANDARD = "standard"
    OBSERVE = "observe"


class FaultKind(StrEnum):
    """What the ladder refuses before any effect is looked at. A rule on a fault gives the refusal its name and its words."""

    MALFORMED = "malformed"
    UNKNOWN_TOOL = "unknown-tool"
    OVERSIZE = "oversize"
    UNADMITTED = "unadmitted"  # an effect that no allow matches
    ERROR = "error"  # an exception while judging


@dataclass(frozen=True, slots=True)
class Match:
    """Conditions on one effect; an empty one holds always.

    `program` takes base names and `*` globs; `host` globs over the lower-case host, or `host:port`; `path` globs over the
    absolute path (`~/…` below home, a relative one below the workspace, `*` within one name, `**` over any number);
    `value` the exact value; `command` the first words of a command line; `flags` must all be there, none of `without` may.
    `tool`, `namespace` ("" is none) and `profile` are those of the call.
    """

    effect: tuple[EffectKind, ...] = ()
    act: tuple[Act, ...] = ()
    zone: tuple[Zone, ...] = ()
    net: tuple[Net, ...] = ()
    program: tuple[str, ...] = ()
    host: tuple[str, ...] = ()
    path: tuple[str, ...] = ()
    value: tuple[str, ...] = ()
    command: tuple[str, ...] = ()
    flags: tuple[Flag, ...] = ()
    without: tuple[Flag, ...] = ()
    tool: tuple[str, ...] = ()
    namespace: tuple[str, ...] = ()
    profile: tuple[str, ...] = ()
    fault: tuple[FaultKind, ...] = ()


@dataclass(frozen=True, slots=True)
class Example:
    """One call at the reference site: a command for a shell, or a whole call of a profile's tool. `before` are calls (in the
    same form) that were judged and released earlier.
    """

    command: str | None = None
    shell: Literal["posix", "powershell", "cmd"] = "posix"
    tool: str | None = None
    namespace: str | None = None
    profile: str | None = None
    kind: CallKind = CallKind.FUNCTION
    args: Mapping[str, Any] = field(default_factory=lambda: NOTHING)
    fault: str | None = None
    before: tuple[Example, ...] = ()

    def __str__(self) -> str:
        return self.command if self.command is not None else f"{self.tool} {dict(self.args)}"


@dataclass(frozen=True, slots=True)
class Examples:
    match: tuple[Example, ...] = ()
    not_match: tuple[Example, ...] = ()


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule. `ref`, `family` and `number` are worked out: where it stands, and its rank among all rules."""

    id: str
    verdict: Outcome
    on: Match
    reason: Reason | None = None
    locked: bool = False
    presets: tuple[Preset, ...] = ()
    harm: str = ""
    instead: str = ""
    also: Match | None = None
    examples: Examples = Examples()
    overrides: tuple[str, ...] = ()
    ref: RuleRef | None = field(default=None, metadata=COMPUTED)


@dataclass(frozen=True, slots=True)
class McpReview:
    """A tool of an MCP server that the operator has reviewed. `tool = "*"` means every tool of the server. `arguments` are
    the argument names with their roles ("" is none); without them any argument is inert. `digest` is that of the declared
    argument schema when it was reviewed.
    """

    server: str
    tool: str
    profile: str = ""
    arguments: Mapping[str, str] | None = None
    digest: str = ""
    read_only: bool = False


@dataclass(frozen=True, slots=True)
class ToolReview:
    """A tool of the harness itself which its profile does not know yet, reviewed by the operator."""

    profile: str
    name: str
    kind: ToolKind
    namespace: str | None = None
    arguments: Mapping[str, str] = field(default_factory=lambda: NOTHING)
    digest: str = ""


@dataclass(frozen=True, slots=True)
class Secrets:
    """Paths (globs as in a rule) whose reading counts as that of a secret of the workspace."""

    paths: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Trust:
    """A project's policy file that may loosen as the user may, as long as its text has this SHA-256."""

    file: str
    digest: str


@dataclass(frozen=True, slots=True)
class Manifest:
    """One policy file. `title` and `about` head its chapter of the rule reference."""

    title: str = ""
    about: str = ""
    rule: tuple[Rule, ...] = ()
    mcp: tuple[McpReview, ...] = ()
    tools: tuple[ToolReview, ...] = ()
    secrets: Secrets = Secrets()
    trust: tuple[Trust, ...] = ()
    layer: Layer = field(default=Layer.BUILT_IN, metadata=COMPUTED)
    file: str = field(default="", metadata=COMPUTED)
    digest: str = field(default="", metadata=COMPUTED)


@dataclass(frozen=True, slots=True)
class Source:
    """The text of one policy file and the layer that it belongs to."""

    layer: Layer
    file: str
    text: str
