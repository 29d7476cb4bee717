"""A mapping from a key to a few entries: one entry stands for itself, so that a million keys with one each cost little."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Generic, TypeVar

from .entry import Entry

__all__ = ["Bags"]

K = TypeVar("K")


class Bags(Generic[K]):
    """Entries by key, in the order in which they came."""

    __slots__ = ("held",)

    def __init__(self) -> None:
        self.held: dict[K, Entry | dict[Entry, None]] = {}

    def add(self, key: K, entry: Entry) -> None:
        """Put an entry under a key."""
        there = self.held.get(key)
        if there is None:
            self.held[key] = entry
        elif type(there) is dict:
            there[entry] = None
        elif there is not entry:
            self.held[key] = {there: None, entry: None}  # type: ignore[dict-item]

    def remove(self, key: K, entry: Entry) -> None:
        """Take an entry from under a key; nothing happens if it is not there."""
        there = self.held.get(key)
        if there is entry:
            del self.held[key]
        elif type(there) is dict:
            there.pop(entry, None)
            if not there:
                del self.held[key]

    def of(self, key: K) -> Iterable[Entry]:
        """The entries under a key, as a copy."""
        there = self.held.get(key)
        if there is None:
            return ()
        return tuple(there) if type(there) is dict else (there,)  # type: ignore[return-value]

    def __contains__(self, key: K) -> bool:
        return key in self.held
