"""The built-in packs without their examples, as one JSON text that is read in a fraction of the time of the packs themselves.

It is generated beside them and tied to them by a digest: where a pack is newer, the packs themselves are read.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import MISSING, Field, dataclass, fields, is_dataclass, replace
from typing import Any, Final

from checkrein.policy.load import parse
from checkrein.policy.schema import Examples, Manifest, Source
from checkrein.vocab.verdicts import Layer

SCHEMA: Final = "checkrein.packs/1"


@dataclass(frozen=True, slots=True)
class Packed:
    """`digest` is that of the packs of which these are the manifests, in the same order."""

    schema: str
    digest: str
    manifests: tuple[Manifest, ...]


def pack(packs: Sequence[tuple[str, str]]) -> bytes:
    """The packed form of packs given as name and text. They must be free of faults."""
    import orjson

    manifests = []
    for name, text in packs:
        one = parse(Source(Layer.BUILT_IN, name, text))
        one.faults.check()
        bare = tuple(replace(rule, examples=Examples()) for rule in one.manifest.rule)
        manifests.append(_plain(replace(one.manifest, rule=bare)))
    document = {"schema": SCHEMA, "digest": digest_of(packs), "manifests": manifests}
    return orjson.dumps(document, option=orjson.OPT_INDENT_2) + b"\n"


def unpack(raw: bytes, packs: Sequence[tuple[str, str]], folder: str) -> tuple[Manifest, ...] | None:
    """The manifests of exactly these packs, which lie in `folder`; None where `raw` was made of others."""
    import msgspec

    if not raw:
        return None
    # The digest stands before the manifests, so that a stale text costs nothing more.
    if f'"{digest_of(packs)}"'.encode() not in raw[:200]:
        return None
    try:
        found = msgspec.json.decode(raw, type=Packed)
    except msgspec.DecodeError:
        return None
    return tuple(_placed(one, f"{folder}/{one.file}") for one in found.manifests) if found.schema == SCHEMA else None


def digest_of(packs: Iterable[tuple[str, str]]) -> str:
    """One digest over names and texts."""
    total = hashlib.sha256()
    for name, text in packs:
        total.update(f"{name}\0{len(text)}\0{text}\0".encode("utf-8", "surrogatepass"))
    return total.hexdigest()


def _placed(manifest: Manifest, file: str) -> Manifest:
    rules = tuple(replace(rule, ref=replace(rule.ref, file=file)) if rule.ref is not None else rule for rule in manifest.rule)
    return replace(manifest, file=file, rule=rules)


def _plain(value: Any) -> Any:
    """A value as JSON has it, without what is default anyway."""
    if is_dataclass(value):
        given = ((row, getattr(value, row.name)) for row in fields(value))
        return {row.name: _plain(got) for row, got in given if not (type(got) is type(_blank(row)) and got == _blank(row))}
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, (tuple, list)):
        return [_plain(item) for item in value]
    return value


def _blank(row: Field[Any]) -> Any:
    """What a field has that nobody set."""
    return row.default_factory() if row.default_factory is not MISSING else row.default
