"""Who runs next: the best eligible call, by priority with age (SPEC 4, 'Two orders', 'Eligible')."""

from __future__ import annotations

from collections.abc import Mapping

from .entry import READY, Entry
from .heaps import LazyHeap

__all__ = ["Ready"]

Item = tuple[float, int, Entry]


def _ready(item: Item) -> bool:
    entry = item[2]
    return entry.state == READY and entry.key == item[0]


class Ready:
    """Eligible calls. A plugin with an executing share has a heap of its own, so that one at its share is passed over in one step.

    The key (aging × enqueued − priority) never changes with time: the order of two calls is the same at any instant.
    """

    __slots__ = ("common", "executing", "lanes", "shares")

    def __init__(self, shares: Mapping[str, tuple[int, int]]) -> None:
        self.shares = shares
        self.common: LazyHeap[Item] = LazyHeap(self._common)
        self.lanes: dict[str, LazyHeap[Item]] = {plugin: LazyHeap(self._lane) for plugin in shares}
        self.executing: dict[str, int] = dict.fromkeys(shares, 0)

    def _common(self, item: Item) -> bool:
        entry = item[2]
        return entry.state == READY and entry.key == item[0] and (entry.lifted or entry.plugin not in self.shares)

    def _lane(self, item: Item) -> bool:
        return _ready(item) and not item[2].lifted

    def push(self, entry: Entry) -> None:
        """A call has become eligible, or its key another. A loan lifts the executing share: it goes where there is none."""
        entry.lifted = entry.key < entry.rank
        lane = self.common if entry.lifted or entry.plugin not in self.lanes else self.lanes[entry.plugin]
        lane.push((entry.key, entry.seq, entry))

    def top(self) -> Entry | None:
        """The best eligible call whose plugin has an executing share to spare."""
        best = self.common.top()
        for plugin, lane in self.lanes.items():
            if self.executing[plugin] < self.shares[plugin][1]:
                first = lane.top()
                if first is not None and (best is None or first < best):
                    best = first
        return None if best is None else best[2]

    def began(self, plugin: str) -> None:
        """An attempt of a plugin's call has started."""
        if plugin in self.executing:
            self.executing[plugin] += 1

    def ended(self, plugin: str) -> None:
        """An attempt of a plugin's call is over."""
        if plugin in self.executing:
            self.executing[plugin] -= 1
