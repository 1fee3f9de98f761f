"""Drafts: the TOML of a profile, or of what a profile lacks, made from declared tools.

A draft guesses what each tool does from the names of its arguments, and says that it guessed. A guess is only ever made where
being wrong is seen: a tool with an argument that looks like a command, a path or an address gets the role; one that takes free
text of an unknown kind stays a comment, and so unknown, and so refused.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from checkrein.profiles.drift import Declared, Drift, Grown, New, nodes
from checkrein.profiles.schema import SCHEMA, Profile, Role, ToolKind
from checkrein.vocab.calls import CallKind


class _Clue(NamedTuple):
    """Argument names (lower case, without `_` and `-`) that betray a role, and the JSON types in which they do."""

    role: Role
    names: frozenset[str]
    types: tuple[str, ...] = ("string",)


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


_CLUES: Final = (
    _Clue(Role.ARGV, _names("argv command cmd commands"), ("array",)),
    _Clue(Role.SHELL_POSIX, _names("command cmd shellcommand commandline bash")),
    _Clue(Role.CWD, _names("cwd workdir workingdirectory workingdir")),
    _Clue(Role.SCRIPT_JAVASCRIPT, _names("code script javascript source")),
    _Clue(Role.KEYS, _names("chars keys keystrokes stdin")),
    _Clue(Role.SESSION, _names("sessionid session"), ("string", "number", "integer")),
    _Clue(Role.PATCH, _names("patch patchtext diff")),
    _Clue(Role.URL, _names("url uri urls href address endpoint")),
    _Clue(Role.PATH_READ, _names("path filepath file filename paths files directory dir dirpath notebookpath folder root")),
    _Clue(Role.CONTENT_PART, _names("newstring newstr newsource newtext")),
    _Clue(Role.CONTENT, _names("content filetext text contents")),
    _Clue(Role.PROMPT, _names("prompt message instructions objective task")),
)
_WRITES: Final = re.compile(
    r"write|edit|create|replace|delete|remove|move|rename|insert|append|save|upload|copy", re.IGNORECASE
)
_BARE: Final = re.compile(r"[A-Za-z0-9_-]+")
# From the most to the least dangerous: the first whose role an argument has is the kind.
_KINDS: Final = (
    (ToolKind.EXEC, (Role.SHELL_POSIX, Role.ARGV)),
    (ToolKind.SCRIPT, (Role.SCRIPT_JAVASCRIPT,)),
    (ToolKind.TYPE, (Role.KEYS,)),
    (ToolKind.WRITE, (Role.PATCH, Role.PATH_WRITE)),
    (ToolKind.FETCH, (Role.URL,)),
    (ToolKind.READ, (Role.PATH_READ,)),
    (ToolKind.SPAWN, (Role.PROMPT,)),
)
_REVIEW: Final = "# review: guessed from the names of its arguments"


def draft(name: str, wire: str, declared: Sequence[Declared], *, version: str = "") -> str:
    """A whole profile for a harness whose requests declare these tools; it loads, and every guess in it is marked."""
    tools = [New(one.name, one.namespace, one.kind, one.schema) for one in declared]
    own = [tool for tool in tools if tool.kind is not CallKind.HOSTED]
    hosted = sorted({tool.name for tool in tools if tool.kind is CallKind.HOSTED})
    tables = [table(tool) for tool in own]
    lines = [
        "# Drafted from a captured request. Read every line that says `review` before this profile guards anything.",
        f"schema = {_text(SCHEMA)}",
        f"name = {_text(name)}",
        f"title = {_text(name)}",
        f"wire = {_text(wire)}",
        *([f"versions = {_text(f'>={version},<={version}')}"] if version else []),
        *([] if any(not one.startswith("#") for one in tables) else ["tools = []"]),
        "",
        *(
            ["[hosted]  # review: `search` where the provider only searches", *(f'{_key(one)} = "other"' for one in hosted), ""]
            if hosted
            else []
        ),
    ]
    return "\n".join([*lines, "\n\n".join(tables)]).rstrip() + "\n"


def additions(drift: Drift, profile: Profile) -> str:
    """The exact lines that would bring the profile up to date, each group with where it belongs; empty without drift."""
    parts: list[str] = []
    hosted = [tool for tool in drift.new if tool.kind is CallKind.HOSTED]
    if hosted:
        parts.append("\n".join(["# in [hosted]:", *(f'{_key(tool.name)} = "other"' for tool in hosted)]))
    parts += [table(tool) for tool in drift.new if tool.kind is not CallKind.HOSTED]
    parts += ["\n".join(_growth(grown, profile)) for grown in drift.grown]
    if drift.vanished:
        names = ", ".join(f"`{name}`" for name in drift.vanished)
        parts.append(f"# no longer declared: {names}; where that is for good, take them out of the variant `{drift.variant}`")
    return "\n\n".join(parts) + "\n" if parts else ""


def _growth(grown: Grown, profile: Profile) -> Iterator[str]:
    """What one tool lacks."""
    found = dict(nodes(grown.schema))
    tool = next((tool for tool in profile.tools if tool.name == grown.tool), None)
    pinned = tool is not None and bool(tool.schema)
    yield f"# in the tool {_text(grown.tool)} ({grown.spelling}), its {'`schema`' if pinned else '`arguments`'}:"
    for pointer in grown.pointers:
        where, equals, word = pointer.partition("=")
        if equals:
            yield f"# at `{where}`, one more word of the `enum`: {_text(word)}"
        elif pinned:
            parent, _, name = where.rpartition("/")
            yield f"# at `{parent or '/'}`, one more of the `properties`:"
            yield f"{_key(_unescaped(name))} = {_inline(_closed(found.get(where, {})))}"
        else:
            yield f"{_argument(where, found.get(where, {}), grown.spelling)}{_REVIEW}"


def table(tool: New) -> str:
    """One `[[tools]]` table, or a comment where nothing can be guessed."""
    if tool.kind is CallKind.CUSTOM and "patch" not in tool.name.lower():
        return f"# review: `{tool.spelling}` takes free text; nothing says what it is, so it stays unknown and is refused"
    lines = ["[[tools]]", f"name = {_text(tool.name)}"]
    roots = [(pointer, node) for pointer, node in nodes(tool.schema)]
    roles = {pointer: _role(pointer, node, tool.spelling) for pointer, node in roots}
    if tool.kind is CallKind.CUSTOM:
        roots, roles = [("/input", {"type": "string"})], {"/input": Role.PATCH}
    kind = next((kind for kind, wanted in _KINDS if any(role in wanted for role in roles.values())), ToolKind.ORCHESTRATE)
    lines.append(f"kind = {_text(kind.value)}  {_REVIEW}")
    if tool.namespace is not None:
        lines.append(f"namespaces = [{_text(tool.namespace)}]")
    if tool.kind is not CallKind.FUNCTION:
        lines.append(f"calls = [{_text(tool.kind.value)}]")
    if kind is ToolKind.ORCHESTRATE:
        lines.append(f"schema = {_inline(_closed({**tool.schema, 'type': 'object'}))}")
        return "\n".join(lines)
    required = set(tool.schema.get("required", ()) if isinstance(tool.schema.get("required"), list) else ())
    lines.append("arguments = [")
    inner = {pointer.rpartition("/")[0] for pointer, _ in roots}
    for pointer, node in roots:
        # What only holds others is said by them.
        if pointer not in inner and f"{pointer}/*" not in inner:
            lines.append(f"  {_argument(pointer, node, tool.spelling, required=pointer[1:] in required)}")
    lines.append("]")
    return "\n".join(lines)


def _role(pointer: str, node: Mapping[str, Any], tool: str) -> Role | None:
    name = _unescaped(pointer.rstrip("*/").rpartition("/")[2]).lower().replace("_", "").replace("-", "")
    types = _types(node)
    elements = _types(node.get("items")) if "array" in types else ()
    for clue in _CLUES:
        if name in clue.names and set(clue.types) & {*types, *(elements if clue.role is not Role.ARGV else ())}:
            return Role.PATH_WRITE if clue.role is Role.PATH_READ and _WRITES.search(tool) else clue.role
    return None


def _argument(pointer: str, node: Mapping[str, Any], tool: str, *, required: bool = False) -> str:
    role, types = _role(pointer, node, tool), _types(node)
    if role is not None and role is not Role.ARGV and "array" in types:
        pointer, types, required = f"{pointer}/*", ("string",), False
    fields = [f"pointer = {_text(pointer)}"]
    if role is not None:
        fields.append(f"role = {_text(role.value)}")
        types = tuple(one for one in types if one in {"string", "number", "integer", "array"}) or ("string",)
        if role not in {Role.SESSION, Role.ARGV}:
            types = ("string",)
        elif role is Role.ARGV:
            types = tuple(one for one in types if one in {"string", "array"})
    if types:
        fields.append(f"types = [{', '.join(map(_text, types))}]")
    if required:
        fields.append("required = true")
    return f"{{ {', '.join(fields)} }},"


def _types(node: Any) -> tuple[str, ...]:
    """The JSON types that a schema names."""
    if not isinstance(node, Mapping):
        return ()
    stated = node.get("type")
    if isinstance(stated, str):
        return (stated,)
    if isinstance(stated, list):
        return tuple(one for one in stated if isinstance(one, str))
    found: dict[str, None] = {}
    for key in ("anyOf", "oneOf"):
        options = node.get(key)
        for option in options if isinstance(options, list) else ():
            found.update(dict.fromkeys(_types(option)))
    return tuple(found)


_KEPT: Final = ("type", "enum", "const", "minItems", "maxItems", "minLength", "maxLength", "minimum", "maximum")


def _closed(schema: Any) -> dict[str, Any]:
    """A schema without its prose, admitting no key that it does not name."""
    if not isinstance(schema, Mapping):
        return {}
    kept: dict[str, Any] = {key: schema[key] for key in _KEPT if key in schema and schema[key] is not None}
    properties = schema.get("properties")
    if isinstance(properties, Mapping) or "object" in _types(schema):
        named = properties if isinstance(properties, Mapping) else {}
        required = schema.get("required")
        wanted = [name for name in (required if isinstance(required, list) else ()) if name in named]
        kept |= {"required": wanted} if wanted else {}
        kept |= {"additionalProperties": False, "properties": {name: _closed(inner) for name, inner in named.items()}}
    if isinstance(schema.get("items"), Mapping):
        kept["items"] = _closed(schema["items"])
    for key in ("anyOf", "oneOf"):
        if isinstance(schema.get(key), list):
            kept[key] = [_closed(option) for option in schema[key]]
    return kept


def _inline(value: Any) -> str:
    """A value as inline TOML. A null has no spelling and is left out of lists."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, (int, float)):
        return repr(value)
    if isinstance(value, Mapping):
        pairs = ", ".join(f"{_key(key)} = {_inline(item)}" for key, item in value.items() if item is not None)
        return f"{{ {pairs} }}" if pairs else "{}"
    if isinstance(value, Iterable):
        return f"[{', '.join(_inline(item) for item in value if item is not None)}]"
    return _text(str(value))


def _key(name: str) -> str:
    return name if _BARE.fullmatch(name) else _text(name)


def _text(value: str) -> str:
    """A basic string. JSON escapes are TOML escapes, but for what JSON leaves as it is."""
    plain = value.encode("utf-8", "replace").decode()
    return json.dumps(plain, ensure_ascii=False).replace("\x7f", "\\u007f")


def _unescaped(part: str) -> str:
    return part.replace("~1", "/").replace("~0", "~")
