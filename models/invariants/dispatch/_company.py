"""What else was live on an object, by relevance and by intent: counts over sorted places, so that each question costs log n."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict

from ...dispatch_trace import Operation


class Company:
    """The submits of one object by rank and by intent, to tell whether one was ever behind another that supersedes it."""

    def __init__(self, operations: list[Operation]) -> None:
        self.starts: dict[object, list[int]] = defaultdict(list)
        self.ends: dict[object, list[int]] = defaultdict(list)
        self.times: dict[object, list[float]] = defaultdict(list)
        for submit in (item for operation in operations for item in operation.submits):
            keys: list[object] = [rank for rank in (1, 2, 3) if rank <= submit.rank]
            if submit.generation is not None:
                keys.append((submit.type, submit.target))
            for key in keys:
                self.starts[key].append(submit.start.seq)
                self.times[key].append(submit.began)
                self.ends[key].append(submit.told_seq)
        for table in (self.starts, self.ends):
            for places in table.values():
                places.sort()
        for times in self.times.values():
            times.sort()

    def beside(self, key: object, since: int, until: int) -> int:
        """How many of a kind were live at some time between."""
        return bisect_left(self.starts[key], until) - bisect_left(self.ends[key], since)

    def above(self, rank: int, at: float, seq: int) -> bool:
        """Whether one of greater rank, submitted before second ``at``, was live at place ``seq``."""
        return rank < 3 and bisect_left(self.times[rank + 1], at) > bisect_left(self.ends[rank + 1], seq)

    def behind(self, operation: Operation, until: int) -> bool:
        """Whether it may have been withheld behind a more relevant or newer write before ``until``."""
        first = operation.submits[0]
        since = first.start.seq
        if first.rank < 3 and self.beside(first.rank + 1, since, until) > 0:
            return True
        own = sum(1 for submit in operation.submits if submit.start.seq < until)
        return first.generation is not None and self.beside((first.type, first.target), since, until) > own
