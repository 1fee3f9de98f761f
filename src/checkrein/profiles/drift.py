"""Drift: how the tools that a request declares differ from the profile, before any call is proposed.

New names and grown schemas are measured against the whole profile, vanished names against the variant that this request comes
nearest to, among those for its model and version. MCP tools are the operator's own and are listed apart.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any, Protocol

from checkrein.profiles.schema import Profile, Tool, Variant
from checkrein.profiles.versions import within
from checkrein.vocab.calls import NOTHING, CallKind


class Declared(Protocol):
    """One declared tool, in the words that every wire shares."""

    @property
    def name(self) -> str: ...
    @property
    def namespace(self) -> str | None: ...
    @property
    def kind(self) -> CallKind: ...
    @property
    def keys(self) -> frozenset[str]: ...
    @property
    def schema(self) -> Mapping[str, Any]: ...


@dataclass(frozen=True, slots=True)
class New:
    """A declared tool that the profile does not know in this spelling and kind."""

    name: str
    namespace: str | None
    kind: CallKind
    schema: Mapping[str, Any] = field(default_factory=lambda: NOTHING, hash=False)

    @property
    def spelling(self) -> str:
        return f"{self.namespace}.{self.name}" if self.namespace else self.name


@dataclass(frozen=True, slots=True)
class Grown:
    """A known tool whose declared arguments hold more than the profile knows: pointers below the argument object, and
    `<pointer>=<word>` where a closed list of words has grown.
    """

    spelling: str
    tool: str
    pointers: tuple[str, ...]
    schema: Mapping[str, Any] = field(default_factory=lambda: NOTHING, hash=False)


@dataclass(frozen=True, slots=True)
class Drift:
    """The difference; falsy where there is none. `variant` is the one that the request was measured against."""

    new: tuple[New, ...] = ()
    grown: tuple[Grown, ...] = ()
    vanished: tuple[str, ...] = ()
    mcp: tuple[str, ...] = ()
    variant: str = ""

    def __bool__(self) -> bool:
        return bool(self.new or self.grown or self.vanished)


def compare(declared: Sequence[Declared], profile: Profile, model: str, version: str, *, whole: bool = True) -> Drift:
    """The drift of one request. `whole` is False for a side request, which never declares everything."""
    new: dict[tuple[str | None, str], New] = {}
    grown: dict[str, Grown] = {}
    mcp: dict[str, None] = {}
    for one in declared:
        spelling = f"{one.namespace}.{one.name}" if one.namespace else one.name
        if one.kind is CallKind.HOSTED:
            if one.name not in profile.hosted:
                new[None, one.name] = New(one.name, None, one.kind)
            continue
        tool = profile.find(one.name, one.namespace)
        if tool is None and profile.mcp_tool(one.name, one.namespace):
            mcp[spelling] = None
        elif tool is None or one.kind not in tool.calls:
            new[one.namespace, one.name] = New(one.name, one.namespace, one.kind, one.schema)
        elif pointers := tuple(_grown(tool, one.schema)):
            grown[spelling] = Grown(spelling, tool.name, pointers, one.schema)
    spellings = {f"{one.namespace}.{one.name}" if one.namespace else one.name for one in declared}
    variant = nearest(profile.variants, spellings, model, version) if whole and declared else None
    vanished = tuple(name for name in variant.declares if name not in spellings) if variant else ()
    return Drift(tuple(new.values()), tuple(grown.values()), vanished, tuple(mcp), variant.name if variant is not None else "")


def nearest(variants: Iterable[Variant], spellings: set[str], model: str, version: str) -> Variant | None:
    """The variant for this model and version of which most is declared; the earlier of two equals."""
    best, most = None, -1.0
    for variant in variants:
        if not any(fnmatchcase(model, glob) for glob in variant.models) or not within(version, variant.versions):
            continue
        share = len(spellings.intersection(variant.declares)) / max(len(variant.declares), 1)
        if share > most:
            best, most = variant, share
    return best


def _grown(tool: Tool, schema: Mapping[str, Any]) -> Iterator[str]:
    """What a declared schema holds beyond what the profile knows of the tool."""
    roots = {argument.pointer for argument in tool.arguments}
    for pointer, node in nodes(schema):
        pinned = _pinned_at(tool.schema, pointer) if tool.schema else None
        if tool.schema and pinned is not None:
            yield from (f"{pointer}={word}" for word in _words(node) if _words(pinned) and word not in _words(pinned))
            continue
        if not any(_covers(root, pointer) for root in roots):
            yield pointer


def nodes(schema: Mapping[str, Any], base: str = "") -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Every named property of a schema, with its pointer; `*` is every element of a list."""
    properties = schema.get("properties")
    for name, node in (properties if isinstance(properties, dict) else {}).items():
        pointer = f"{base}/{name.replace('~', '~0').replace('/', '~1')}"
        inner = node if isinstance(node, dict) else {}
        yield pointer, inner
        yield from nodes(inner, pointer)
    items = schema.get("items")
    if isinstance(items, dict):
        yield from nodes(items, f"{base}/*")
    for key in ("anyOf", "oneOf", "allOf"):
        options = schema.get(key)
        for option in options if isinstance(options, list) else ():
            if isinstance(option, dict):
                yield from nodes(option, base)


def _pinned_at(schema: Any, pointer: str) -> Mapping[str, Any] | None:
    """The part of a pinned schema that speaks of a pointer, or None."""
    for part in pointer[1:].split("/"):
        if not isinstance(schema, dict):
            return None
        if part == "*":
            schema = schema.get("items")
        else:
            name = part.replace("~1", "/").replace("~0", "~")
            known = (schema.get("properties") or {}).get(name)
            more = schema.get("additionalProperties")
            schema = known if known is not None else more if isinstance(more, dict) else None
    return schema if isinstance(schema, dict) else None


def _words(schema: Mapping[str, Any]) -> list[Any]:
    words = schema.get("enum")
    return words if isinstance(words, list) else []


def _covers(root: str, pointer: str) -> bool:
    """Whether a known argument speaks of what is declared: it is the same, one holds the other."""
    return pointer == root or pointer.startswith(f"{root}/") or root.startswith(f"{pointer}/")
