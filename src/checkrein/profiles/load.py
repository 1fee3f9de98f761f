"""The text of a profile -> `Profile`. Strict: every fault of the file at once, each with its place, and then no profile.

INVARIANT: a `Profile` that leaves this module has no finding, and its index holds every spelling exactly once.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import replace
from functools import cache
from typing import Any, Final

from checkrein.profiles.lint import claims, lint, schemas
from checkrein.profiles.schema import SCHEMA, Argument, Key, Profile, Protected, Tool, When, Wire
from checkrein.vocab.structure import BAD, Faults, Reader, Structurer, body_of, kind_of, name_of
from checkrein.vocab.toml import KeyPath, read

# How a file writes what TOML has no word for.
ABSENT: Final = "<absent>"  # no namespace, or a null one; an absent argument
OWN_NAME: Final = "<name>"  # a namespace that is the tool's own name

_SOURCE: Final = re.compile(r"(?:header:[a-z0-9!#$%&'*+.^_`|~-]+|body:(?:/[^#]*)?)(?:#(?:/.*)?)?")


def parse(text: str, file: str, *, thorough: bool = False) -> Profile:
    """The profile that the text states; a `ConfigError` with every fault where it states none. A `thorough` reading also tries
    the pinned schemas, which otherwise are tried when a call first meets them.
    """
    document = read(text, file)
    faults = Faults(document)
    body = body_of(document, SCHEMA, faults)
    tables = body.pop("tools", None)
    structurer = _structurer()
    if tables is None:
        faults.add((), "the file lacks the key `tools`", "a harness without tools needs no profile")
    ranked = structurer.elements(Tool, tables, faults, ("tools",)) if tables is not None else []
    top = structurer.read(Profile, {**body, "tools": []}, faults)
    profile = top or _stand_in(body, structurer, faults)
    ranks = [rank for rank, _ in ranked]
    profile = replace(profile, tools=tuple(_spelled(tool, tables[rank], profile) for rank, tool in ranked))
    faulty = [path for path, _ in faults.found]
    for finding in [*lint(profile), *(schemas(profile) if thorough else ())]:
        path = _in_file(finding.path, ranks)
        # A finding about something that is faulty already would only repeat it in other words.
        if not any(at[: len(owner)] == owner for owner in _owners(path) for at in faulty):
            faults.add(path, finding.sentence, finding.hint)
    faults.check()
    assert top is not None
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
    index = {spelling: tool for spelling, tool, _ in claims(profile)}
    return replace(profile, digest=digest, file=file, index=index)


@cache
def _structurer() -> Structurer:
    """One for all files, because reading the annotations is the dearer half of a small file."""
    return Structurer(_HOOKS)


def _stand_in(body: dict[str, Any], structurer: Structurer, faults: Faults) -> Profile:
    """A profile of whatever is sound at the top, so that a fault there hides none in the tools. It never leaves this module."""
    sound = {key: value for key, value in body.items() if not faults.under((key,))}
    needed = {"name": "stand-in", "title": "", "wire": Wire.RESPONSES.value, **sound, "tools": []}
    made = structurer.read(Profile, needed, Faults(faults.document))
    assert made is not None
    return made


def _spelled(tool: Tool, table: dict[str, Any], profile: Profile) -> Tool:
    """The tool with all of its spellings written out."""
    common = "namespaces" not in table
    namespaces = profile.namespaces if common else tool.namespaces
    extra = tuple(pattern.replace("{name}", tool.name) for pattern in profile.spellings) if common else ()
    return replace(
        tool,
        namespaces=tuple(tool.name if space == OWN_NAME else space for space in namespaces),
        aliases=(*tool.aliases, *extra),
    )


def _in_file(path: KeyPath, ranks: list[int]) -> KeyPath:
    """A finding's path in the profile -> its path in the file, where faulty tools keep their places."""
    if len(path) > 1 and path[0] == "tools":
        assert isinstance(path[1], int)
        return ("tools", ranks[path[1]], *path[2:])
    return path


def _owners(path: KeyPath) -> tuple[KeyPath, ...]:
    """What must be sound for a finding to count: the whole tool, or the top-level key; with it what it is measured against."""
    if path[:1] == ("tools",):
        return (path[:2],)
    return {"variants": (path[:1], ("tools",)), "passive": (path[:1], ("wire",))}.get(str(path[0]), (path[:1],))


def _key(value: Any, path: KeyPath, faults: Faults) -> Any:
    if not isinstance(value, list) or not all(isinstance(source, str) for source in value):
        faults.add(path, f"{name_of(path)} must be a list of sources, not {kind_of(value)}", 'such as `["header:session-id"]`')
        return BAD
    for rank, source in enumerate(value):
        if not _SOURCE.fullmatch(source):
            hint = "`header:<lower-case name>` or `body:<pointer>`, each with `#<pointer>` where JSON text stands there"
            faults.add((*path, rank), f"`{source}` is no source of a key", hint)
    return Key(tuple(value))


def _protected(value: Any, path: KeyPath, faults: Faults) -> Any:
    if not isinstance(value, str):
        faults.add(path, f"{name_of(path)} must be text, not {kind_of(value)}")
        return BAD
    if value != "{config}" and not value.startswith(("/", "~/", "{config}/", "{workspace}/")):
        faults.add(path, f"`{value}` is no absolute path", "begin it with `/`, `~/`, `{config}/` or `{workspace}/`")
    return Protected(value)


def _namespaces(value: Any, path: KeyPath, faults: Faults) -> Any:
    if not isinstance(value, list) or not all(isinstance(space, str) for space in value):
        faults.add(path, f"{name_of(path)} must be a list of text, not {kind_of(value)}", f'no namespace is `"{ABSENT}"`')
        return BAD
    if not value:
        faults.add(path, f"{name_of(path)} is empty, so the tool could never be found", f'no namespace is `"{ABSENT}"`')
    return tuple(None if space == ABSENT else space for space in value)


def _values(value: Any, path: KeyPath, faults: Faults) -> Any:
    if not isinstance(value, list):
        faults.add(path, f"{name_of(path)} must be a list, not {kind_of(value)}")
        return BAD
    return tuple(None if one == ABSENT else one for one in value)


_HOOKS: Final[dict[Any, Reader]] = {
    Key: _key,
    Protected: _protected,
    (Profile, "namespaces"): _namespaces,
    (Tool, "namespaces"): _namespaces,
    (When, "values"): _values,
    (Argument, "values"): _values,
}
