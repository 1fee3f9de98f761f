"""The dialect contract: what a profile says about one harness. Closed vocabularies; defaults are applied once, at load.

`load.py` reads TOML into these types and reports every fault of a file at once.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Literal

from checkrein.vocab.calls import NOTHING, CallKind
from checkrein.vocab.structure import COMPUTED

SCHEMA = "checkrein.profile/1"


class Wire(StrEnum):
    RESPONSES = "openai-responses"
    CHAT = "openai-chat"
    MESSAGES = "anthropic-messages"
    GEMINI = "gemini"
    APP_SERVER = "codex-app-server"


class ToolKind(StrEnum):
    """What a tool is for. An effectful kind must have an argument with a matching role, or the profile does not load."""

    EXEC = "exec"
    SCRIPT = "script"
    TYPE = "type"
    READ = "read"
    WRITE = "write"
    FETCH = "fetch"
    SPAWN = "spawn"
    SCHEDULE = "schedule"
    ORCHESTRATE = "orchestrate"
    SEARCH = "search"  # finds tools or text; no effect outside the conversation
    MCP = "mcp"
    CALLS = "calls"  # carries nested calls
    HOSTED = "hosted"  # runs at the provider
    ESCALATE = "escalate"  # asks to lift a sandbox or permission


class Role(StrEnum):
    """What an argument carries."""

    SHELL_POSIX = "shell.posix"
    SHELL_POWERSHELL = "shell.powershell"
    SHELL_CMD = "shell.cmd"
    ARGV = "argv"
    PROGRAM = "program"
    CWD = "cwd"
    SCRIPT_JAVASCRIPT = "script.javascript"
    SCRIPT_PYTHON = "script.python"
    SCRIPT_CODE_MODE = "script.code-mode"  # JavaScript whose `tools.*` calls are this harness's tools
    KEYS = "keys"
    SESSION = "session"
    PATCH = "patch"
    PATH_READ = "path.read"
    PATH_WRITE = "path.write"
    PATH_DELETE = "path.delete"
    CONTENT = "content"  # the whole text that a sibling path.write gets
    CONTENT_PART = "content.part"  # a text that takes the place of a part of what a sibling path.write has
    URL = "url"
    PROMPT = "prompt"  # text for a model; URLs inside it count for a fetch tool
    SECRET = "secret"
    CALLS = "calls"
    FLAG_ESCALATE = "flag.escalate"


class Carriage(StrEnum):
    """How a denial travels back."""

    TEXT = "text"
    DROP = "drop"
    CONTINUE = "continue"
    FEEDBACK = "feedback"
    ERROR = "error"


@dataclass(frozen=True, slots=True)
class When:
    """A condition on a sibling argument (a key of the same object): `key` has one of `values`, an absent key counting as
    None; or it is a text whose last path part, without `.exe` and in lower case, is one of `stems`. With `unless`, the
    condition holds exactly where it would not.
    """

    key: str
    values: tuple[Any, ...] = ()
    stems: tuple[str, ...] = ()
    unless: bool = False

    def holds(self, siblings: Mapping[str, Any]) -> bool:
        """Whether the condition is met by these sibling arguments."""
        value = siblings.get(self.key)
        named = any(type(one) is type(value) and one == value for one in self.values)
        if not named and self.stems and isinstance(value, str):
            last = value.replace("\\", "/").rstrip("/").rpartition("/")[2]
            named = last.lower().removesuffix(".exe") in self.stems
        return named is not self.unless


@dataclass(frozen=True, slots=True)
class Argument:
    """One argument (or one nested value) of a tool.

    `pointer` is a JSON pointer below the argument object; `*` stands for every element of a list. A custom (freeform) tool
    has the one argument `/input`. `types` are JSON type names (`string number integer boolean array object null`). A
    null where the argument is not required is an absent argument, whatever `types` says. For a
    `flag.escalate` role, `values` are those that lift; without any, every value but null, false and the empty ones does. An
    argument without a role is known and inert, with everything below it. An argument may have several entries, with
    different `when`; each whose condition holds counts. A `calls` argument is a list of objects; `nested_name` and
    `nested_args` are the keys of one element that hold the tool's spelling and its arguments.
    """

    pointer: str
    role: Role | None = None
    types: tuple[str, ...] = ()
    required: bool = False
    values: tuple[Any, ...] = ()
    when: When | None = None
    nested_name: str = ""
    nested_args: str = ""


@dataclass(frozen=True, slots=True)
class Tool:
    """One tool of the dialect.

    `namespaces` lists the namespaces under which the harness resolves the name; None is "absent or null", "" is the empty
    string. `aliases` are further whole spellings of the very same tool (e.g. `functions.update_plan`); they stand without a
    namespace. `schema` is the pinned
    JSON schema of an orchestration tool; a call whose arguments do not fit it is MALFORMED. `stops` marks tools that stop or
    pause the loop. `opens_session` marks an exec tool that may leave a live shell behind; `session_pattern` (a regular
    expression with one group) finds the new session's id in the result text. `variants` limits the tool to named variants of
    the profile; empty means all.
    """

    name: str
    kind: ToolKind
    namespaces: tuple[str | None, ...] = (None,)
    aliases: tuple[str, ...] = ()
    calls: tuple[CallKind, ...] = (CallKind.FUNCTION,)
    arguments: tuple[Argument, ...] = ()
    schema: Mapping[str, Any] = field(default_factory=lambda: NOTHING)
    stops: bool = False
    read_only: bool = False
    opens_session: bool = False
    session_pattern: str = ""
    variants: tuple[str, ...] = ()
    declared: bool = True  # False: an older or inner spelling which the current harness does not declare
    note: str = ""

    @property
    def keys(self) -> frozenset[str]:
        """The argument names that the profile knows."""
        named = {argument.pointer[1:].partition("/")[0] for argument in self.arguments}
        return frozenset(named | set(self.schema.get("properties", ())))

    def has(self, *roles: Role) -> bool:
        """Whether an argument has one of these roles."""
        return any(argument.role in roles for argument in self.arguments)


@dataclass(frozen=True, slots=True)
class Variant:
    """A set of tools that the harness declares for some models or versions. `models` are exact names or `*` globs. `declares`
    are those of a plain installation; whatever comes with a feature, a server or a login is in the profile's tools alone.
    """

    name: str
    models: tuple[str, ...] = ("*",)
    versions: str = ""
    declares: tuple[str, ...] = ()  # exact spellings, namespace dot name; hosted tools by their type


@dataclass(frozen=True, slots=True)
class Key:
    """Where an identity stands in a request, tried in order: `header:<name>`, `header:<name>#<pointer>` (JSON inside the
    header), `body:<pointer>`, `body:<pointer>#<pointer>` (JSON text inside the body).
    """

    sources: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Keys:
    session: Key = Key(())
    thread: Key = Key(())
    turn: Key = Key(())
    trigger: Key = Key(())
    subagent: Key = Key(())
    request_kind: Key = Key(())


@dataclass(frozen=True, slots=True)
class Continuation:
    """How to tell the harness's own continuation from real user input: values of the `trigger` key, and literal beginnings
    of the last user message.
    """

    triggers: tuple[str, ...] = ()
    prefixes: tuple[str, ...] = ()
    aux_kinds: tuple[str, ...] = ()  # values of `request_kind` that are auxiliary requests
    aux_subagents: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Stop:
    """The terminal form: an answer that this harness does not retry. `status` for a request that has no answer yet; `event`
    and `code` for one whose stream has begun.
    """

    status: int = 400
    code: str = ""
    event: str = ""


@dataclass(frozen=True, slots=True)
class Denial:
    """Carriage by case: some calls left, none left, and the bound of native continuations per turn."""

    some_left: Carriage = Carriage.DROP
    none_left: Carriage = Carriage.TEXT
    continue_limit: int = 2
    feedback_limit: int = 2


@dataclass(frozen=True, slots=True)
class Launch:
    """How the harness is started through the gateway.

    `programs` are names looked up on PATH; `packages` npm or PyPI packages with the native binary's path inside. `refused`
    are options that would route around the gateway, `owned` configuration keys that the guard sets. `env` are variables to
    set for the child, with `{base_url}`. `subcommands` is the closed list of those that run models, spelled in full;
    `plain` are those that do not and run as they are; any other is refused. `options` are added, by subcommand (the
    empty text for none), where the binary's own `--help` lists them. `config_env` and `config_dir` say where the harness
    keeps its configuration.
    """

    recipe: str = "none"  # codex | env | config-file | none; a recipe is code in edges/launch_<recipe>.py
    programs: tuple[str, ...] = ()
    packages: tuple[str, ...] = ()
    base_url: str = ""
    credentials: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=lambda: NOTHING)
    refused: tuple[str, ...] = ()
    owned: tuple[str, ...] = ()
    subcommands: tuple[str, ...] = ()
    plain: tuple[str, ...] = ()
    options: Mapping[str, tuple[str, ...]] = field(default_factory=lambda: NOTHING)
    config_env: str = ""
    config_dir: str = ""


@dataclass(frozen=True, slots=True)
class Mcp:
    """How MCP tools appear: `namespace` style (`mcp__<server>` + name) or `flat` (`mcp__<server>__<tool>`)."""

    style: Literal["none", "namespace", "flat"] = "none"
    prefix: str = ""
    separator: str = ""

    def split(self, name: str, namespace: str | None) -> tuple[str, str] | None:
        """Server and tool of a name in this style, or None. A flat name is split at the first separator after the prefix, so
        a server whose own name holds the separator is cut short; callers compare, they never connect by it.
        """
        if self.style == "namespace":
            if namespace is None or not namespace.startswith(self.prefix) or len(namespace) == len(self.prefix) or not name:
                return None
            return namespace[len(self.prefix) :], name
        if self.style != "flat" or namespace or not name.startswith(self.prefix):
            return None
        server, found, tool = name[len(self.prefix) :].partition(self.separator)
        return (server, tool) if found and server and tool else None


@dataclass(frozen=True, slots=True)
class Hooks:
    """The harness's own hook that sees a call before it runs. `tool`, `arguments`, `call_id`, `session`, `cwd` are JSON
    pointers into the hook's input. `deny` names the form of a refusal; `fails_open` the ways in which a broken hook lets
    the call run.
    """

    event: str = ""
    tool: str = ""
    arguments: str = ""
    call_id: str = ""
    session: str = ""
    cwd: str = ""
    deny: str = ""
    fails_open: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Protected:
    """A file or directory of the harness's own permissions and hooks. `~`, `{config}` (the harness's configuration directory)
    and `{workspace}` are expanded at the edge.
    """

    path: str


@dataclass(frozen=True, slots=True)
class Profile:
    """One harness. `paths` are request paths (suffixes) that carry the wire; `passes` those passed through unjudged with
    their method, e.g. `GET /models`. `keep_alive` is the event type that resets the harness's idle timer. `passive` lists the
    output item or block types that cannot execute anything. `namespaces` are those of every tool that names none, where
    `<name>` stands for the tool's own name; `spellings` are aliases of the same tools, with `{name}`.
    """

    name: str
    title: str
    wire: Wire
    tools: tuple[Tool, ...]
    paths: tuple[str, ...] = ()
    passes: tuple[str, ...] = ()
    versions: str = ""  # tested range, e.g. ">=0.153,<=0.171"
    keys: Keys = Keys()
    continuation: Continuation = Continuation()
    launch: Launch = Launch()
    mcp: Mcp = Mcp()
    hosted: Mapping[str, Literal["search", "other"]] = field(default_factory=lambda: NOTHING)  # by declared type
    denial: Denial = Denial()
    stop: Stop = Stop()
    keep_alive: str = ""
    passive: tuple[str, ...] = ()
    retries: Mapping[str, str] = field(default_factory=lambda: NOTHING)  # facts, for docs and doctor
    transcripts: tuple[str, ...] = ()
    protected: tuple[Protected, ...] = ()
    variants: tuple[Variant, ...] = ()
    recorded: str = ""  # the recorded loop below tests/harnesses/
    case_folds: bool = False  # the harness lower-cases tool names
    trims: bool = False  # the harness trims spaces of tool names
    namespaces: tuple[str | None, ...] = (None,)
    spellings: tuple[str, ...] = ()
    hooks: Hooks = Hooks()
    notes: Mapping[str, str] = field(default_factory=lambda: NOTHING)  # facts without a key of their own
    digest: str = field(default="", metadata=COMPUTED)  # sha256 of the file
    file: str = field(default="", metadata=COMPUTED)
    index: Mapping[tuple[str | None, str], Tool] = field(
        default_factory=lambda: NOTHING, compare=False, repr=False, metadata=COMPUTED
    )

    def find(self, name: str, namespace: str | None) -> Tool | None:
        """The tool of exactly this spelling, or None. The index is built at load. Only where the harness itself folds the case
        or trims the name is such a spelling the same one.
        """
        tool = self.index.get((namespace, name))
        if tool is None and (self.case_folds or self.trims):
            name = name.strip(" ") if self.trims else name
            tool = self.index.get((namespace, name.lower() if self.case_folds else name))
        return tool

    def find_nested(self, spelling: str) -> Tool | None:
        """The tool that one text names, where a wire has no room for a namespace: `exec_command`, `functions.exec_command`,
        or, inside a script, `clock__curr_time`.
        """
        found = self.find(spelling, None)
        for separator in (".", "__"):
            head, between, rest = spelling.partition(separator)
            if found is None and between:
                found = self.find(rest, head)
        return found

    def mcp_tool(self, name: str, namespace: str | None) -> tuple[str, str] | None:
        """Server and tool, where the name is one of an MCP server and none of the harness's own."""
        return None if self.find(name, namespace) is not None else self.mcp.split(name, namespace)
