"""A heap whose dead items are dropped when they come up, or all at once when they become the half of it."""

from __future__ import annotations

from collections.abc import Callable
from heapq import heapify, heappop, heappush
from typing import Generic, TypeVar

__all__ = ["LazyHeap"]

T = TypeVar("T")

_SMALL = 64


class LazyHeap(Generic[T]):
    """Least first. `alive` says whether an item still counts. Push and pop are O(log n), amortised."""

    __slots__ = ("alive", "items", "limit")

    def __init__(self, alive: Callable[[T], bool], items: list[T] | None = None) -> None:
        self.alive = alive
        self.items: list[T] = [] if items is None else items
        if items:
            heapify(self.items)  # type: ignore[type-var]
        self.limit = max(_SMALL, 2 * len(self.items))

    def push(self, item: T) -> None:
        """Add an item."""
        items = self.items
        heappush(items, item)  # type: ignore[type-var]
        if len(items) > self.limit:
            alive = self.alive
            items[:] = [one for one in items if alive(one)]
            heapify(items)  # type: ignore[type-var]
            self.limit = max(_SMALL, 2 * len(items))

    def top(self) -> T | None:
        """The least living item, which stays."""
        items, alive = self.items, self.alive
        while items:
            if alive(items[0]):
                return items[0]
            heappop(items)  # type: ignore[type-var]
        return None
