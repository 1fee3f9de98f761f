"""Effects with their places: each path gets its zone, each peer its class. What the shell found is only text until then."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace

from checkrein.classify.net import classify
from checkrein.classify.zones import SHARP, normal, zone
from checkrein.vocab.effects import Effect, EffectKind, Flag, Zone
from checkrein.vocab.site import Site

_PATHS = frozenset({EffectKind.READ, EffectKind.WRITE, EffectKind.DELETE})
# Places that mean the same on any machine; other paths of another machine or a container are not ours.
_EVERYWHERE = frozenset({Zone.SYSTEM_ROOT, Zone.HOME_ROOT, Zone.DEVICE, Zone.CREDENTIALS, Zone.NULL_DEVICE, Zone.UNRESOLVED})
# What a secret of the operator's own may be besides; sharper places stay what they are.
_SHARPER = SHARP | {Zone.UNRESOLVED}


def located(effects: Iterable[Effect], site: Site, secrets: re.Pattern[str] | None = None) -> Iterator[Effect]:
    """The same effects with zone, host and class of peer. `secrets` matches paths whose reading counts as that of a secret."""
    for effect in effects:
        if effect.kind in _PATHS:
            yield replace(effect, zone=_zone(effect, site, secrets))
        elif effect.kind is EffectKind.FETCH and effect.net is None:
            peer = classify(effect.value, unresolved=Flag.UNRESOLVED in effect.flags)
            yield replace(effect, host=peer.host, net=peer.net)
        else:
            yield effect


def _zone(effect: Effect, site: Site, secrets: re.Pattern[str] | None) -> Zone:
    if Flag.UNRESOLVED in effect.flags:
        return Zone.UNRESOLVED
    found = zone(effect.value, site, follow=effect.kind is not EffectKind.DELETE)
    if Flag.REMOTE in effect.flags and found not in _EVERYWHERE:
        return Zone.NETWORK
    reads = secrets is not None and effect.kind is EffectKind.READ and found not in _SHARPER
    if reads and secrets is not None and secrets.fullmatch(effect.value):
        return Zone.WORKSPACE_SECRET
    return found


def place(path: str, cwd: str | None, site: Site) -> tuple[str, frozenset[Flag]]:
    """The absolute form of a path that an argument names, and the mark of one that cannot be told."""
    found = normal(path, cwd, site)
    return (path, frozenset({Flag.UNRESOLVED})) if found is None else (found, frozenset())
