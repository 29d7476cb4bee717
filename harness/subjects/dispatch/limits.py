"""Room: capacity, a plugin's share of live calls, and whom to drop when there is none (SPEC 4, 'Bounded')."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from .entry import BLOCKED, READY, WITHHELD, Entry
from .heaps import LazyHeap

__all__ = ["Room"]

Item = tuple[float, float, float, int, Entry]


def _least(entry: Entry) -> Item:
    """Lower aged priority, then later deadline, then lower cost, then the newest, goes first."""
    return (-entry.rank, -entry.deadline, entry.cost, -entry.seq, entry)


def _droppable(item: Item) -> bool:
    entry = item[4]
    return (
        entry.state in (READY, BLOCKED, WITHHELD)
        and entry.attempts == 0
        and entry.droppable
        and not entry.prerequisite_of
        and item[:3] == (-entry.rank, -entry.deadline, entry.cost)
    )


class Room:
    """Counts live submits by plugin, and finds the call to drop. Its heap is built when the queue is full for the first time, kept up from
    then on, and let go when the pressure is over."""

    __slots__ = ("capacity", "drops", "live", "shares")

    def __init__(self, capacity: int, shares: Mapping[str, tuple[int, int]]) -> None:
        self.capacity = capacity
        self.shares = shares
        self.live: dict[str, int] = dict.fromkeys(shares, 0)
        self.drops: LazyHeap[Item] | None = None

    def share_is_used_up(self, plugin: str) -> bool:
        """Whether a plugin has as many live submits as it may."""
        return plugin in self.live and self.live[plugin] >= self.shares[plugin][0]

    def came(self, plugin: str) -> None:
        """A submit is live."""
        if plugin in self.live:
            self.live[plugin] += 1

    def went(self, plugin: str, live: int) -> None:
        """A submit is told; `live` are left in all."""
        if plugin in self.live:
            self.live[plugin] -= 1
        if self.drops is not None and 2 * live < self.capacity:
            self.drops = None

    def changed(self, entry: Entry) -> None:
        """An entry is new, or what decides its dropping is."""
        if self.drops is not None:
            self.drops.push(_least(entry))

    def victim(self, newcomer: Item | tuple[float, float, float], entries: Iterable[Entry]) -> Entry | None:
        """The call that is dropped for a newcomer with these (−rank, −deadline, cost); `None` if the newcomer is to be refused."""
        if self.drops is None:
            self.drops = LazyHeap(_droppable, [_least(entry) for entry in entries])
        least = self.drops.top()
        return least[4] if least is not None and least[:3] < newcomer[:3] else None
