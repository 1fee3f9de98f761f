"""The tools of one request as the model sees them: one namespace of ours, ordinary names kept, arguments checked by schema.

The tool `skill` is shown as `harness_skill`, because Codex has skills of its own. It may only name a skill of the session's
current catalog; without any it is not offered. A call's name is mapped back only after the call was found valid.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

import jsonschema_rs
import orjson

from checkrein.replay.items import canonical
from checkrein.vocab.errors import UsageError
from checkrein.vocab.messages import Tool
from checkrein.wire import strict

SKILL = "skill"
SKILL_ALIAS = "harness_skill"
ALIASES: Mapping[str, str] = {SKILL: SKILL_ALIAS}
_NAME = re.compile(r"[a-zA-Z0-9_-]{1,128}")


def exposed(name: str) -> str:
    """The name that the model sees for a tool of the harness."""
    return ALIASES.get(name, name)


def original(name: str) -> str:
    """The harness's name for a tool that the model sees as `name`."""
    return next((ours for ours, shown in ALIASES.items() if shown == name), name)


def strict_object(text: str) -> dict[str, Any] | str:
    """The one JSON object that `text` is, or why it is none. What two readers could read in two ways is none."""
    try:
        value = strict.loads(text.encode())
    except (strict.StrictError, UnicodeEncodeError) as error:
        return f"the arguments {error}"
    return value if isinstance(value, dict) else "the arguments are no JSON object"


class Catalog:
    """The declared tools of one request. Raises `UsageError` when they cannot be declared as they are."""

    def __init__(self, tools: Sequence[Tool] = (), skills: Sequence[str] = ()) -> None:
        self.skills = tuple(dict.fromkeys(skills))
        self.shown: dict[str, dict[str, Any]] = {}
        self._validators: dict[str, Any] = {}
        for tool in tools:
            if tool.name == SKILL and not self.skills:
                continue
            self._declare(tool)

    def _declare(self, tool: Tool) -> None:
        name = exposed(tool.name)
        if not _NAME.fullmatch(name):
            raise UsageError(
                f"the tool name `{tool.name}` cannot be declared", "use letters, digits, `_` and `-`, at most 128 of them"
            )
        if tool.name in ALIASES.values():
            raise UsageError(f"the tool name `{tool.name}` is taken by us", "rename the tool")
        if name in self.shown:
            raise UsageError(f"two tools would be shown as `{name}`", "rename one of them")
        schema = _plain(tool.parameters)
        if tool.name == SKILL:
            schema = self._with_skills(schema)
        try:
            self._validators[name] = jsonschema_rs.validator_for(schema, retriever=_no_retrieval)
        except (ValueError, jsonschema_rs.ReferencingError) as error:
            first = str(error).splitlines()[0]
            raise UsageError(f"the schema of the tool `{tool.name}` is no valid JSON schema: {first}") from error
        self.shown[name] = {"type": "function", "name": name, "description": tool.description, "inputSchema": schema}

    def _with_skills(self, schema: dict[str, Any]) -> dict[str, Any]:
        properties = schema.get("properties")
        properties = dict(properties) if isinstance(properties, dict) else {}
        name = properties.get("name")
        properties["name"] = {**(name if isinstance(name, dict) else {}), "type": "string", "enum": list(self.skills)}
        required = schema.get("required")
        required = list(required) if isinstance(required, list) else []
        return {"type": "object", **schema, "properties": properties, "required": list(dict.fromkeys([*required, "name"]))}

    def declarations(self) -> list[dict[str, Any]]:
        """The dynamic tools, in the harness's order."""
        return list(self.shown.values())

    def digest(self) -> bytes:
        """Equal for catalogs that are declared alike."""
        return canonical(self.declarations())

    def check(self, name: str, arguments: str) -> str | None:
        """None for a call that this request declares, else why it is not one."""
        if name not in self.shown:
            return f"no tool `{name}` is declared"
        value = strict_object(arguments)
        return value if isinstance(value, str) else self.check_object(name, value)

    def check_object(self, name: str, value: Any) -> str | None:
        """The same for arguments that were parsed elsewhere."""
        if name not in self.shown:
            return f"no tool `{name}` is declared"
        if not isinstance(value, dict):
            return "the arguments are no JSON object"
        error = next(self._validators[name].iter_errors(value), None)
        if error is None:
            return None
        place = "/".join(str(step) for step in error.instance_path)
        return f"the arguments do not fit the schema{f' at `{place}`' if place else ''}: {error.message}"


def _no_retrieval(uri: str) -> NoReturn:
    raise ValueError(f"the schema refers to `{uri}`, which is outside of it")


def _plain(schema: Mapping[str, Any]) -> dict[str, Any]:
    """A copy that nobody else can change, and a check that it is JSON."""
    try:
        copy = orjson.loads(orjson.dumps(dict(schema)))
    except (TypeError, orjson.JSONEncodeError) as error:
        raise UsageError(f"a tool's parameters are no JSON: {error}") from error
    assert isinstance(copy, dict)
    return copy
