"""Order on an object: its writes run as they were submitted, the earliest live one holds it (SPEC 4, 'Order on an object')."""

from __future__ import annotations

from collections.abc import Iterator

from .entry import EXECUTING, Entry
from .heaps import LazyHeap

__all__ = ["Crowd", "Objects"]


def _in_order(item: tuple[int, int, Entry]) -> bool:
    return item[2].placed


def _in_demand(item: tuple[float, int, Entry]) -> bool:
    return item[2].placed and item[2].demand == item[0]


class Crowd:
    """An object with several live writes. *Placed* are those in the order: neither withheld nor parked.

    `busy`: the one whose attempt is out or undecided. `intents`: those with a generation, by type and target.
    """

    __slots__ = ("busy", "by_demand", "by_order", "intents", "levels", "placed")

    def __init__(self) -> None:
        self.busy: Entry | None = None
        self.intents: dict[tuple[str, str], dict[Entry, None]] = {}
        self.levels: dict[int, dict[Entry, None]] = {}
        self.placed = 0
        self.by_order: LazyHeap[tuple[int, int, Entry]] = LazyHeap(_in_order)
        self.by_demand: LazyHeap[tuple[float, int, Entry]] = LazyHeap(_in_demand)

    def place(self, entry: Entry) -> None:
        """Give a write its place."""
        entry.placed = True
        self.placed += 1
        self.levels.setdefault(entry.level, {})[entry] = None
        if entry.call.precondition.generation is not None:
            self.intents.setdefault((entry.call.type, entry.call.target), {})[entry] = None
        if entry.state == EXECUTING or entry.undecided:
            self.busy = entry
        self.by_order.push((entry.order, entry.seq, entry))
        self.by_demand.push((entry.demand, entry.seq, entry))

    def unplace(self, entry: Entry) -> None:
        """Take it out of the order."""
        entry.placed = False
        self.placed -= 1
        del self.levels[entry.level][entry]
        if self.busy is entry:
            self.busy = None
        intent = (entry.call.type, entry.call.target)
        if entry in self.intents.get(intent, ()):
            del self.intents[intent][entry]
            if not self.intents[intent]:
                del self.intents[intent]


class Objects:
    """The writes of each object. An object with one write is that entry itself."""

    __slots__ = ("held",)

    def __init__(self) -> None:
        self.held: dict[str, Entry | Crowd] = {}

    def place(self, entry: Entry) -> None:
        """Give a write its place in the order of its object."""
        uid = entry.call.uid
        there = self.held.get(uid)
        if there is None:
            entry.placed = True
            self.held[uid] = entry
            return
        if isinstance(there, Entry):
            crowd = Crowd()
            crowd.place(there)
            self.held[uid] = crowd
            there = crowd
        there.place(entry)

    def unplace(self, entry: Entry) -> None:
        """Take a write out of the order of its object, if it is in it."""
        if not entry.placed:
            return
        uid = entry.call.uid
        there = self.held[uid]
        if there is entry:
            entry.placed = False
            del self.held[uid]
            return
        assert isinstance(there, Crowd)
        there.unplace(entry)
        if not there.placed:
            del self.held[uid]

    def holder(self, uid: str) -> Entry | None:
        """The earliest live write of an object, which holds it."""
        there = self.held.get(uid)
        if there is None or isinstance(there, Entry):
            return there
        if there.busy is not None:
            return there.busy
        first = there.by_order.top()
        return None if first is None else first[2]

    def demanded(self, uid: str) -> float | None:
        """The best demand of an object's writes, which its holder runs with; `None` if there is but one."""
        there = self.held.get(uid)
        if not isinstance(there, Crowd):
            return None
        best = there.by_demand.top()
        return None if best is None else best[0]

    def demand_changed(self, entry: Entry) -> None:
        """A placed write's demand is another now."""
        there = self.held.get(entry.call.uid)
        if entry.placed and isinstance(there, Crowd):
            there.by_demand.push((entry.demand, entry.seq, entry))

    def above(self, entry: Entry) -> Iterator[Entry]:
        """The placed writes of an entry's object at higher relevances, the highest first and each in the order of arrival."""
        there = self.held.get(entry.call.uid)
        if isinstance(there, Entry):
            if there.level > entry.level:
                yield there
        elif there is not None:
            for level in sorted((level for level in there.levels if level > entry.level), reverse=True):
                yield from there.levels[level]

    def below(self, entry: Entry) -> list[Entry]:
        """The placed writes of an entry's object at lower relevances."""
        there = self.held.get(entry.call.uid)
        if isinstance(there, Entry):
            return [there] if there.level < entry.level else []
        if there is None:
            return []
        return [one for level in sorted(there.levels) if level < entry.level for one in there.levels[level]]

    def of_intent(self, entry: Entry) -> list[Entry]:
        """The placed writes of an entry's object with a generation, and its type and target."""
        there = self.held.get(entry.call.uid)
        if isinstance(there, Entry):
            call, other = entry.call, there.call
            return [there] if call.type == other.type and call.target == other.target else []
        return [] if there is None else list(there.intents.get((entry.call.type, entry.call.target), ()))

    def began(self, entry: Entry) -> None:
        """An attempt of a placed write has started: it holds its object, whatever is released before it."""
        there = self.held.get(entry.call.uid)
        if isinstance(there, Crowd):
            there.busy = entry

    def decided(self, entry: Entry) -> None:
        """No attempt of this write is out or undecided any more."""
        there = self.held.get(entry.call.uid)
        if isinstance(there, Crowd) and there.busy is entry:
            there.busy = None
