"""The parts of one queue, side by side, and how a submit is told its outcome. No rule is decided here."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from enum import Enum
from typing import Any, TypeAlias

from ...calls import ApiCall, OutcomeView
from .accounts import Accounts
from .bags import Bags
from .binds import Binds
from .breaker import Breaker
from .coalescing import Twins
from .config import QueueConfig
from .eligible import Ready
from .entry import BACKOFF, Attempt, Entry, Ticket
from .heaps import LazyHeap
from .limits import Room
from .order import Objects
from .rate import Bucket
from .retry import Backoff
from .versions import OwnWrites, version_in

__all__ = ["Abort", "Deed", "Failed", "Fate", "Parts", "Reevaluate", "Told"]


class Fate(Enum):
    """What became of a call's effect."""

    DONE = "done"
    NOT = "not"
    UNKNOWN = "unknown"


class Told:
    """Tell a submitter: call `callback(view)` if there is one, wake the waiters."""

    __slots__ = ("callback", "view", "waiters")

    def __init__(
        self, view: OutcomeView, callback: Callable[[OutcomeView], object] | None, waiters: list[Any] | None
    ) -> None:
        self.view, self.callback, self.waiters = view, callback, waiters


class Failed:
    """Call the failure handler of `call.plugin`."""

    __slots__ = ("call", "view")

    def __init__(self, call: ApiCall, view: OutcomeView) -> None:
        self.call, self.view = call, view


class Reevaluate:
    """Ask the scheduler to look at the pod again."""

    __slots__ = ("call", "view")

    def __init__(self, call: ApiCall, view: OutcomeView) -> None:
        self.call, self.view = call, view


class Abort:
    """Nobody waits for this attempt any more: cancel it if that can be done. Its end must be told all the same."""

    __slots__ = ("attempt",)

    def __init__(self, attempt: Attempt) -> None:
        self.attempt = attempt


Deed: TypeAlias = Told | Failed | Reevaluate | Abort
"""What a driver does for the core, outside of any lock."""


def _live(item: tuple[float, int, Ticket]) -> bool:
    return item[2].outcome is None


def _pausing(item: tuple[float, int, Entry]) -> bool:
    return item[2].state == BACKOFF and item[2].not_before == item[0]


class Parts:
    """All that a queue is made of. See the module of each part."""

    def __init__(
        self,
        config: QueueConfig,
        *,
        relevance: Mapping[str, int],
        gate: Callable[[ApiCall], str | None] | None,
        holds: Callable[[ApiCall, Any], bool],
        version_of: Callable[[Any], int | None] | None,
        reads: bool,
        wall: Callable[[], float],
        handlers: bool,
        now: float,
    ) -> None:
        self.config = config
        self.relevance = relevance
        self.gate = gate
        self.holds = holds
        self.version_of = version_in if version_of is None else version_of
        self.reads = reads
        self.wall = wall
        self.handlers = handlers
        self.now = now
        self.closed = False
        self.executing = 0
        self.accounts = Accounts()
        self.bucket = Bucket(config.qps, config.burst, now)
        self.breaker = Breaker(
            config.breaker_failures, config.breaker_open, config.breaker_probes, config.attempt_timeout
        )
        self.backoff = Backoff(config)
        self.room = Room(config.capacity, config.shares)
        self.twins = Twins()
        self.objects = Objects()
        self.ready = Ready(config.shares)
        self.own_writes = OwnWrites(max(1024, config.capacity))
        self.contexts: Bags[str] = Bags()
        self.uids: Bags[str] = Bags()
        self.needs: Bags[str] = Bags()
        """The live prerequisites of a pod's bind."""
        self.binds = Binds(config.capacity)
        self.deadlines: LazyHeap[tuple[float, int, Ticket]] = LazyHeap(_live)
        self.pauses: LazyHeap[tuple[float, int, Entry]] = LazyHeap(_pausing)
        self.deeds: list[Deed] = []
        self._views: dict[tuple[Any, ...], OutcomeView] = {}

    def entries(self) -> Iterator[Entry]:
        """Every live entry, in no order that decides anything."""
        for held in self.uids.held.values():
            if isinstance(held, Entry):
                yield held
            else:
                yield from held

    def view(self, kind: str, reason: str = "", *, own: str | None = None, status: int | None = None) -> OutcomeView:
        """An outcome; equal ones are one object."""
        key = (kind, reason, own, status)
        found = self._views.get(key)
        if found is None:
            found = self._views[key] = OutcomeView(kind=kind, reason=reason, own=own, status=status)
        return found

    def tell(self, ticket: Ticket, view: OutcomeView) -> None:
        """A live submit has its outcome."""
        accounts = self.accounts
        ticket.outcome = view
        accounts.outcomes[view.kind] += 1
        entry, call = ticket.entry, ticket.call
        if entry is not None:
            accounts.live -= 1
            entry.live -= 1
            if not ticket.asked:
                entry.wanting -= 1
            assert call is not None
            room = self.room
            if room.shares or room.drops is not None:
                room.went(call.plugin, accounts.live)
        if ticket.callback is not None or ticket.waiters is not None:
            self.deeds.append(Told(view, ticket.callback, ticket.waiters))
        ticket.entry = ticket.call = ticket.callback = ticket.waiters = None
