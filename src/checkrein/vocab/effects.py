"""What a call would do, with the evidence for it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from checkrein.vocab.acts import Act


class EffectKind(StrEnum):
    """The closed set of effects (DESIGN, words)."""

    EXEC = "exec"  # run a program
    SCRIPT = "script"  # run inline code of an interpreter
    TYPE = "type"  # keys into a live program
    READ = "read"
    WRITE = "write"
    DELETE = "delete"
    FETCH = "fetch"  # any network exchange
    SPAWN = "spawn"  # a sub-agent
    SCHEDULE = "schedule"  # something that runs later
    ESCALATE = "escalate"  # lift a sandbox or permission
    MCP = "mcp"  # a tool of an MCP server
    ORCHESTRATE = "orchestrate"  # plan, todo, goal, ask-user: no effect outside the conversation
    OPAQUE = "opaque"  # something would run that cannot be resolved


class Zone(StrEnum):
    """Where a path lies. The most specific zone wins; `classify.zones` assigns it."""

    WORKSPACE_ROOT = "workspace-root"
    WORKSPACE = "workspace"
    WORKSPACE_SECRET = "workspace-secret"  # .env*, except .example/.sample/.template
    GIT_DIR = "git-dir"  # a .git as a whole
    GIT_HOOKS = "git-hooks"
    GIT_CONFIG = "git-config"
    GIT_INNER = "git-inner"  # anything else below .git
    TEMP_ROOT = "temp-root"
    TEMP = "temp"
    CACHE = "cache"  # caches of toolchains
    HOME_ROOT = "home-root"
    HOME = "home"
    HOME_DOT = "home-dot"
    SIBLING = "sibling"  # another repository beside the workspace
    SYSTEM_ROOT = "system-root"  # / or a top directory of the system as a whole, or all homes
    SYSTEM = "system"
    DEVICE = "device"  # raw disks and the like
    NULL_DEVICE = "null-device"  # /dev/null, /dev/stdout, /dev/tty ...
    CREDENTIALS = "credentials"  # private keys, cloud/package/cluster credentials, keyrings, browser stores
    SHELL_RC = "shell-rc"
    AUTOSTART = "autostart"  # autostart, systemd units, cron, launch agents
    AUTHORIZED_KEYS = "authorized-keys"
    HARNESS_CONFIG = "harness-config"  # the harness's permission and hook files
    CHECKREIN = "checkrein"  # policy, profiles, journals
    NETWORK = "network"  # a remote path: host:path, UNC
    UNRESOLVED = "unresolved"


class Flag(StrEnum):
    """Modifiers of an effect."""

    RECURSIVE = "recursive"
    GLOB = "glob"  # the value is the root of a glob or of a listing program's output
    FILTERED = "filtered"  # only some entries below the value: a name filter, a suffix
    UNRESOLVED = "unresolved"  # an argument could not be resolved
    APPEND = "append"
    SENDS = "sends"  # a fetch that carries a body or a file out
    FETCHED = "fetched"  # the program or text that runs was downloaded by this call
    WRITTEN = "written"  # the program that runs was written by this call or earlier in the session
    REMOTE = "remote"  # runs on another machine or in a container
    STDIN = "stdin"  # the code or data comes from standard input
    EXPOSED = "exposed"  # what was read reaches the output or a network client
    CONTENT = "content"  # a write that replaces what was there
    CREATE = "create"
    ATTRIBUTES = "attributes"  # rights or owner change, not the content
    EXTRACTED = "extracted"  # an archive is unpacked below the value
    MOVED = "moved"  # a delete that keeps the content elsewhere
    LINKED = "linked"  # a link gives the place another name


class Net(StrEnum):
    """The class of a network peer."""

    LOOPBACK = "loopback"
    PRIVATE = "private"
    LINK_LOCAL = "link-local"
    METADATA = "metadata"
    PUBLIC = "public"
    UNRESOLVED = "unresolved"


@dataclass(frozen=True, slots=True)
class Effect:
    """One effect and its evidence.

    `value` is the command line, path, URL, tool name or prompt that it is about, resolved as far as it could be.
    `pointer` is the JSON pointer of the argument, `span` the byte offsets of the cause in that argument's UTF-8 text.
    `why` says, for OPAQUE and for acts, what was seen, as part of a sentence. `program` is the base name of the program.
    """

    kind: EffectKind
    value: str
    pointer: str = ""
    span: tuple[int, int] = (0, 0)
    program: str = ""
    act: Act | None = None
    flags: frozenset[Flag] = frozenset()
    zone: Zone | None = None
    host: str = ""
    net: Net | None = None
    why: str = ""

    def at(self, pointer: str, span: tuple[int, int] | None = None) -> Effect:
        """The same effect with its evidence placed."""
        return replace(self, pointer=pointer, span=self.span if span is None else span)

    def to_json(self) -> dict[str, Any]:
        """The shape of `checkrein.explain/1` and of journal rows."""
        detail: dict[str, Any] = {}
        if self.program:
            detail["program"] = self.program
        if self.act is not None:
            detail["act"] = self.act.value
        for flag in sorted(self.flags):
            detail[flag.value] = True
        if self.zone is not None:
            detail["zone"] = self.zone.value
        if self.host:
            detail["host"] = self.host
        if self.net is not None:
            detail["net"] = self.net.value
        if self.why:
            detail["why"] = self.why
        return {
            "kind": self.kind.value,
            "value": self.value,
            "pointer": self.pointer,
            "span": list(self.span),
            "detail": detail,
        }
