"""What a profile may not say, beyond its shape. Pure: findings by path, all of them, none of them a mere warning."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, NamedTuple

from checkrein.profiles.schema import Argument, Carriage, Profile, Role, Tool, ToolKind, Wire
from checkrein.profiles.versions import well_formed
from checkrein.vocab.calls import CallKind
from checkrein.vocab.toml import KeyPath

_SHELLS: Final = (Role.SHELL_POSIX, Role.SHELL_POWERSHELL, Role.SHELL_CMD)
_SCRIPTS: Final = (Role.SCRIPT_JAVASCRIPT, Role.SCRIPT_PYTHON, Role.SCRIPT_CODE_MODE)

# An effectful kind -> the roles of which an argument must have one.
NEEDED: Final[Mapping[ToolKind, tuple[Role, ...]]] = {
    ToolKind.EXEC: (*_SHELLS, Role.ARGV, Role.PROGRAM),
    ToolKind.SCRIPT: _SCRIPTS,
    ToolKind.TYPE: (Role.KEYS,),
    ToolKind.READ: (Role.PATH_READ,),
    ToolKind.WRITE: (Role.PATCH, Role.PATH_WRITE, Role.PATH_DELETE),
    ToolKind.FETCH: (Role.URL, Role.PROMPT),
    ToolKind.SPAWN: (Role.PROMPT,),
    ToolKind.SCHEDULE: (Role.PROMPT, *_SHELLS),
    ToolKind.CALLS: (Role.CALLS,),
    ToolKind.ESCALATE: (Role.FLAG_ESCALATE,),
}

# Kinds that are safe only because their arguments are pinned.
PINNED: Final = (ToolKind.ORCHESTRATE, ToolKind.SEARCH)

# Roles that a read-only tool can't have.
_CHANGING: Final = frozenset(
    (*_SHELLS, *_SCRIPTS, Role.ARGV, Role.PROGRAM, Role.KEYS, Role.PATCH, Role.PATH_WRITE, Role.PATH_DELETE, Role.FLAG_ESCALATE)
)

# The JSON types in which a role can be read; anything else would be MALFORMED for every call.
_TYPES: Final[Mapping[Role, frozenset[str]]] = {
    **dict.fromkeys((*_SHELLS, Role.ARGV), frozenset(("string", "array"))),
    **dict.fromkeys(_SCRIPTS, frozenset(("string",))),
    **dict.fromkeys((Role.PROGRAM, Role.CWD, Role.KEYS, Role.PATCH, Role.PATH_READ), frozenset(("string",))),
    **dict.fromkeys(
        (Role.PATH_WRITE, Role.PATH_DELETE, Role.CONTENT, Role.CONTENT_PART, Role.URL, Role.PROMPT), frozenset(("string",))
    ),
    Role.SESSION: frozenset(("string", "number", "integer")),
    Role.CALLS: frozenset(("array",)),
}
_JSON_TYPES: Final = frozenset(("string", "number", "integer", "boolean", "array", "object", "null"))

# Item and block types of each wire that are calls, and so can never be passive.
CALL_TYPES: Final[Mapping[Wire, frozenset[str]]] = {
    Wire.RESPONSES: frozenset(
        (
            "function_call",
            "custom_tool_call",
            "local_shell_call",
            "tool_search_call",
            "shell_call",
            "apply_patch_call",
            "mcp_call",
        )
    ),
    Wire.MESSAGES: frozenset(("tool_use",)),
    Wire.CHAT: frozenset(("tool_calls", "function_call")),
    Wire.GEMINI: frozenset(("functionCall",)),
    Wire.APP_SERVER: frozenset(),
}

_POINTER: Final = re.compile(r"(?:/(?:[^~/]|~[01])+)+")
_PASS: Final = re.compile(r"(?:GET|HEAD|POST|OPTIONS) /\S*")


class Finding(NamedTuple):
    """One thing that a profile may not say; `path` counts the profile's own tools."""

    path: KeyPath
    sentence: str
    hint: str = ""


Claim = tuple[tuple[str | None, str], Tool, int]


def lint(profile: Profile) -> list[Finding]:
    """Every finding, in the order of the file as far as it has one."""
    found = [*_top(profile), *_variants(profile)]
    for rank, tool in enumerate(profile.tools):
        found += [
            Finding(("tools", rank, *finding.path), finding.sentence, finding.hint)
            for rule in _TOOL_RULES
            for finding in rule(tool, profile)
        ]
    return [*found, *_claimed_twice(profile)]


def schemas(profile: Profile) -> list[Finding]:
    """Pinned schemas that are none. Apart, because loading the validator takes longer than loading a profile."""
    import jsonschema_rs

    found = []
    for rank, tool in enumerate(profile.tools):
        if not tool.schema:
            continue
        try:
            jsonschema_rs.validator_for(dict(tool.schema))
        except (jsonschema_rs.ValidationError, ValueError) as error:
            first = str(error).partition("\n")[0]
            found.append(Finding(("tools", rank, "schema"), f"the schema of `{tool.name}` is none: {first}"))
    return found


def claims(profile: Profile) -> Iterator[Claim]:
    """Every spelling of every tool, as (namespace, name), with the tool's rank."""
    for rank, tool in enumerate(profile.tools):
        for space in dict.fromkeys(tool.namespaces):
            yield (space, tool.name), tool, rank
        for alias in dict.fromkeys(tool.aliases):
            yield (None, alias), tool, rank
            if "" in tool.namespaces or None not in tool.namespaces:
                yield ("", alias), tool, rank


def _claimed_twice(profile: Profile) -> Iterator[Finding]:
    first: dict[tuple[str | None, str], int] = {}
    told: set[tuple[int, str]] = set()
    for (space, name), tool, rank in claims(profile):
        if tool.declared and profile.case_folds and name != name.lower():
            yield Finding(("tools", rank, "name"), f"`{name}` could never be found, since this harness lower-cases names")
        owner = first.setdefault((space, name), rank)
        spelling = f"{space}.{name}" if space else name
        if owner != rank and (rank, spelling) not in told:
            told.add((rank, spelling))
            other = profile.tools[owner].name
            yield Finding(("tools", rank, "name"), f"`{spelling}` is already claimed by the tool `{other}` (`tools[{owner}]`)")


# --- one tool -------------------------------------------------------------------------------------------------------------------


def _role_needed(tool: Tool, _profile: Profile) -> Iterator[Finding]:
    needed = NEEDED.get(tool.kind)
    if needed is None or tool.has(*needed):
        return
    names = ", ".join(f"`{role}`" for role in needed)
    yield Finding(
        ("kind",),
        f"`{tool.name}` is of kind `{tool.kind}`, but none of its arguments has a role that says what it does",
        f"give the argument that does one of the roles {names}",
    )


def _pinned(tool: Tool, _profile: Profile) -> Iterator[Finding]:
    if tool.kind not in PINNED:
        return
    for rank, argument in enumerate(tool.arguments):
        if argument.role is not None and argument.role is not Role.PROMPT:
            yield Finding(
                ("arguments", rank),
                f"`{tool.name}` is of kind `{tool.kind}`, so `{argument.pointer}` can't have the role `{argument.role}`",
                "what has an effect is of another kind",
            )
    if not tool.schema:
        yield Finding(
            ("kind",),
            f"`{tool.name}` is of kind `{tool.kind}`, but its arguments are not pinned by a `schema`",
            'without arguments it is `schema = { type = "object", properties = {}, additionalProperties = false }`',
        )
        return
    if tool.schema.get("type") != "object":
        yield Finding(("schema",), f'the schema of `{tool.name}` does not say `type = "object"`')
    for path in _open_objects(tool.schema):
        where = "/".join(str(part) for part in path)
        yield Finding(
            ("schema", *path),
            f"the schema of `{tool.name}` admits unknown keys{f' at `{where}`' if where else ''}",
            "say `additionalProperties = false` there",
        )


def _open_objects(schema: Any, path: KeyPath = ()) -> Iterator[KeyPath]:
    """Where a schema admits keys that it does not name."""
    if not isinstance(schema, dict):
        return
    kinds = schema.get("type")
    objects = kinds == "object" or (isinstance(kinds, list) and "object" in kinds) or "properties" in schema
    if objects and schema.get("additionalProperties") is not False and not isinstance(schema.get("additionalProperties"), dict):
        yield path
    for key, inner in (schema.get("properties") or {}).items():
        yield from _open_objects(inner, (*path, "properties", key))
    for key in ("items", "additionalProperties"):
        yield from _open_objects(schema.get(key), (*path, key))
    for key in ("anyOf", "oneOf", "allOf"):
        for rank, inner in enumerate(schema.get(key) or ()):
            yield from _open_objects(inner, (*path, key, rank))


def _arguments(tool: Tool, _profile: Profile) -> Iterator[Finding]:
    keys = tool.keys
    for rank, argument in enumerate(tool.arguments):
        for name, sentence, hint in _argument(argument, tool):
            yield Finding(("arguments", rank, name), sentence, hint)
        if argument.when is not None and argument.pointer.count("/") == 1 and argument.when.key not in keys:
            known = ", ".join(sorted(keys))
            yield Finding(
                ("arguments", rank, "when"),
                f"`{argument.when.key}` is no argument of `{tool.name}`",
                f"known: {known}",
            )


def _gaps(tool: Tool, _profile: Profile) -> Iterator[Finding]:
    """A pointer whose every role has a condition would have none at all where no condition holds."""
    roles = [(rank, argument) for rank, argument in enumerate(tool.arguments) if argument.role is not None]
    for pointer in dict.fromkeys(argument.pointer for _, argument in roles):
        entries = [(rank, argument.when) for rank, argument in roles if argument.pointer == pointer]
        if all(when is not None and not when.unless for _, when in entries):
            yield Finding(
                ("arguments", entries[-1][0], "when"),
                f"where no condition holds, `{pointer}` of `{tool.name}` has no role",
                "leave one entry without `when`, or give one `unless = true`",
            )


def _argument(argument: Argument, tool: Tool) -> Iterator[tuple[str, str, str]]:
    pointer, role = argument.pointer, argument.role
    if not _POINTER.fullmatch(pointer):
        yield "pointer", f"`{pointer}` is no JSON pointer to an argument", "such as `/cmd` or `/edits/*/path`"
    elif tool.calls == (CallKind.CUSTOM,) and pointer != "/input":
        yield "pointer", f"`{tool.name}` takes free text, which stands at `/input` alone", ""
    for name in argument.types:
        if name not in _JSON_TYPES:
            yield "types", f"`{name}` is no JSON type", f"known: {', '.join(sorted(_JSON_TYPES))}"
    if argument.when is not None and not argument.when.values and not argument.when.stems:
        yield "when", f"the condition of `{pointer}` never holds", "give it `values` or `stems`"
    if role is None:
        return
    if not argument.types:
        yield "pointer", f"`{pointer}` has the role `{role}` but no `types`", 'such as `types = ["string"]`'
    readable = _TYPES.get(role)
    odd = [name for name in argument.types if readable and name in _JSON_TYPES and name not in {*readable, "null"}]
    if readable is not None and odd:
        yield (
            "types",
            f"the role `{role}` can't be read from {' or '.join(odd)}",
            f"it is read from {' or '.join(sorted(readable))}",
        )
    if role is Role.CALLS and not (argument.nested_name and argument.nested_args):
        yield (
            "role",
            f"`{pointer}` carries calls, but not where their name and arguments stand",
            "set `nested_name` and `nested_args`",
        )
    if role is Role.FLAG_ESCALATE and not argument.values and not set(argument.types) <= {"boolean", "object", "array"}:
        yield "role", f"`{pointer}` lifts a permission, but not by which `values`", ""


def _sessions(tool: Tool, _profile: Profile) -> Iterator[Finding]:
    if tool.opens_session and tool.kind is not ToolKind.EXEC:
        yield Finding(("opens_session",), f"`{tool.name}` runs no program, so it can't leave a live one behind")
    if tool.opens_session != bool(tool.session_pattern):
        yield Finding(
            ("session_pattern",) if tool.session_pattern else ("opens_session",),
            f"`{tool.name}` has only one of `opens_session` and `session_pattern`",
            "a tool that may leave a live program behind needs both",
        )
    if tool.session_pattern:
        try:
            groups = re.compile(tool.session_pattern).groups
        except re.error as error:
            yield Finding(("session_pattern",), f"the session pattern of `{tool.name}` is no regular expression: {error}")
        else:
            if groups != 1:
                yield Finding(("session_pattern",), f"the session pattern of `{tool.name}` has {groups} groups instead of one")


def _marks(tool: Tool, profile: Profile) -> Iterator[Finding]:
    if not tool.name or tool.name != tool.name.strip():
        yield Finding(("name",), f"`{tool.name}` is no tool name", "list a spelling with spaces among the `aliases`")
    if not tool.calls:
        yield Finding(("calls",), f"`{tool.name}` has no kind of call, so it could never be found")
    if tool.stops and tool.kind is not ToolKind.ORCHESTRATE:
        yield Finding(("stops",), f"`{tool.name}` is said to stop the loop, but is of kind `{tool.kind}`")
    if tool.read_only and any(argument.role in _CHANGING for argument in tool.arguments):
        yield Finding(("read_only",), f"`{tool.name}` is said to change nothing, but has an argument that does")
    known = {variant.name for variant in profile.variants}
    for rank, name in enumerate(tool.variants):
        if name not in known:
            yield Finding(("variants", rank), f"`{name}` is no variant of this profile", f"known: {', '.join(sorted(known))}")


_TOOL_RULES: Final[tuple[Callable[[Tool, Profile], Iterator[Finding]], ...]] = (
    _marks,
    _role_needed,
    _pinned,
    _arguments,
    _gaps,
    _sessions,
)


# --- the rest of the file -------------------------------------------------------------------------------------------------------


def _top(profile: Profile) -> Iterator[Finding]:
    if not re.fullmatch(r"[a-z][a-z0-9-]*", profile.name):
        yield Finding(("name",), f"`{profile.name}` is no profile name", "lower-case letters, digits and dashes")
    if not well_formed(profile.versions):
        yield Finding(("versions",), f"`{profile.versions}` is no range of versions", "such as `>=0.153,<=0.171`")
    for rank, path in enumerate(profile.paths):
        if not path.startswith(("/", ":")):
            yield Finding(("paths", rank), f"the path `{path}` begins with neither `/` nor `:`")
    for rank, line in enumerate(profile.passes):
        if not _PASS.fullmatch(line):
            yield Finding(("passes", rank), f"`{line}` is no method and path", "such as `GET /models`")
        elif line.partition(" ")[2] in profile.paths:
            yield Finding(("passes", rank), f"`{line}` would pass unjudged what `paths` says is to be judged")
    for rank, name in enumerate(profile.passive):
        if name in CALL_TYPES[profile.wire]:
            yield Finding(("passive", rank), f"`{name}` is a call, so it can't be passive")
    if not 400 <= profile.stop.status <= 599:
        yield Finding(("stop", "status"), f"the stop form answers {profile.stop.status}, which is no error", "400 to 599")
    if profile.denial.none_left is Carriage.DROP:
        yield Finding(
            ("denial", "none_left"), "`drop` leaves nothing when no call is left", "`text`, `continue`, `feedback` or `error`"
        )
    if profile.denial.some_left is Carriage.CONTINUE:
        yield Finding(("denial", "some_left"), "`continue` is for answers that have no call left", "`drop`, `text` or `error`")
    for name in ("continue_limit", "feedback_limit"):
        if not 0 <= getattr(profile.denial, name) <= 16:
            yield Finding(("denial", name), f"`{name}` must be between 0 and 16")
    if profile.mcp.style != "none" and not profile.mcp.prefix and not profile.mcp.separator:
        yield Finding(("mcp", "style"), "MCP tools need a `prefix` or a `separator` to be told apart")
    if profile.mcp.style == "flat" and not profile.mcp.separator:
        yield Finding(("mcp", "style"), "flat MCP names need a `separator` between server and tool")
    for rank, pattern in enumerate(profile.spellings):
        if "{name}" not in pattern:
            yield Finding(("spellings", rank), f"`{pattern}` does not hold `{{name}}`")
    for rank, path in enumerate(entry.path for entry in profile.protected):
        if path.startswith("{config}") and not profile.launch.config_dir:
            yield Finding(("protected", rank), f"`{path}` needs `launch.config_dir`")


def _variants(profile: Profile) -> Iterator[Finding]:
    known = {f"{space}.{name}" if space else name for (space, name), _, _ in claims(profile)} | set(profile.hosted)
    names: set[str] = set()
    for rank, variant in enumerate(profile.variants):
        if variant.name in names:
            yield Finding(("variants", rank, "name"), f"there is already a variant `{variant.name}`")
        names.add(variant.name)
        if not well_formed(variant.versions):
            yield Finding(("variants", rank, "versions"), f"`{variant.versions}` is no range of versions")
        for place, spelling in enumerate(variant.declares):
            if spelling not in known:
                yield Finding(("variants", rank, "declares", place), f"`{spelling}` is no tool of this profile")
