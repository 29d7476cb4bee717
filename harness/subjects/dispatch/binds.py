"""Binds: those that are live, and which target a pod was bound to in a context (SPEC 4, 'A second bind … is refused')."""

from __future__ import annotations

from collections import OrderedDict

from ...calls import ApiCall
from .bags import Bags
from .entry import Entry

__all__ = ["Binds"]

_LEAST_KEPT = 4096


class Binds:
    """`live`: by uid of the pod. What was applied or ended unknown is kept until its context or object ends; bounded, the oldest go first."""

    __slots__ = ("_by_context", "_by_uid", "_held", "_most", "live")

    def __init__(self, capacity: int) -> None:
        self.live: Bags[str] = Bags()
        self._most = max(_LEAST_KEPT, 4 * capacity)
        self._held: OrderedDict[tuple[str, str], tuple[str, int]] = OrderedDict()
        self._by_context: dict[str, dict[str, None]] = {}
        self._by_uid: dict[str, dict[str, None]] = {}

    def other_target(self, call: ApiCall) -> bool:
        """Whether the pod is bound to another target in this context, or may be."""
        held = self._held.get((call.uid, call.context))
        return held is not None and held[0] != call.target

    def came(self, entry: Entry) -> None:
        """A bind is live."""
        call = entry.call
        self.live.add(call.uid, entry)
        key = (call.uid, call.context)
        _, count = self._held.get(key, (call.target, 0))
        self._held[key] = (call.target, count + 1)
        self._by_context.setdefault(call.context, {})[call.uid] = None
        self._by_uid.setdefault(call.uid, {})[call.context] = None
        if len(self._held) > self._most:
            self._drop(next(iter(self._held)))

    def went(self, entry: Entry, *, surely_not: bool) -> None:
        """A bind is over. One that is not surely unapplied is never counted down, so that its target stays."""
        call = entry.call
        self.live.remove(call.uid, entry)
        key = (call.uid, call.context)
        if surely_not and key in self._held:
            target, count = self._held[key]
            if count <= 1:
                self._drop(key)
            else:
                self._held[key] = (target, count - 1)

    def _drop(self, key: tuple[str, str]) -> None:
        uid, context = key
        del self._held[key]
        for index, first, second in ((self._by_context, context, uid), (self._by_uid, uid, context)):
            del index[first][second]
            if not index[first]:
                del index[first]

    def context_ended(self, context: str) -> None:
        """Forget what was bound in a context."""
        for uid in tuple(self._by_context.get(context, ())):
            self._drop((uid, context))

    def object_ended(self, uid: str) -> None:
        """Forget what a pod was bound to."""
        for context in tuple(self._by_uid.get(uid, ())):
            self._drop((uid, context))

    def clear(self) -> None:
        """Forget everything."""
        self.live.held.clear()
        self._held.clear()
        self._by_context.clear()
        self._by_uid.clear()
