"""Folding: many steps' items into one history in which every item stands once.

An item that comes again under its identity keeps its place and takes the newest provider form; what the harness itself wrote
(its call, its result) wins over the provider's form, early or late. Items without identity stay distinct and in order.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from checkrein.replay.items import Identity, Item, identity


class Author(StrEnum):
    HARNESS = "harness"
    PROVIDER = "provider"


@dataclass(frozen=True, slots=True)
class Entry:
    """One item of a history and who wrote this form of it."""

    item: Item
    author: Author = Author.PROVIDER


def fold(*parts: Iterable[Entry]) -> tuple[Entry, ...]:
    """One history from its parts, in their order. INVARIANT: folding a fold changes nothing; in stages is as good as at once."""
    entries: list[Entry] = []
    places: dict[Identity, int] = {}
    for part in parts:
        for entry in part:
            key = identity(entry.item)
            place = None if key is None else places.get(key)
            if place is None:
                if key is not None:
                    places[key] = len(entries)
                entries.append(entry)
            elif entry.author is Author.HARNESS or entries[place].author is Author.PROVIDER:
                entries[place] = entry
    return tuple(entries)
