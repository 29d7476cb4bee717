"""The dispatch queue without I/O: it is told the time and what happened, and answers what to do next (SPEC 4).

It is the composition of the ideas beside it: `admission` (checks of a submit), `coalescing`, `superseding`, `order`, `eligible`,
`standing` (loans), `limits`, `rate`, `breaker`, `retry`, `answers` (what an answer says), `versions` (rebasing), `attempts`, `ending`,
`accounts`, `bounds`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

from ...calls import ApiCall, OutcomeView
from .admission import admit
from .answers import Reading, Verdict, read_answer, read_error
from .attempts import conclude, next_start, start, unstarted
from .bounds import Bounds, bounds_of
from .config import RELEVANCE, QueueConfig, check_config
from .ending import leave
from .entry import DONE, Attempt, Ticket
from .parts import Abort, Deed, Parts
from .standing import pause_over

__all__ = ["DispatchCore"]


def _never(call: ApiCall, body: Any) -> bool:  # noqa: ARG001 - the hook's
    return False


class DispatchCore:
    """One queue. Not safe for threads: a driver holds a lock around each method and does the deeds of `take` outside of it.

    `now` is seconds on one monotonic clock, given to every method; a reading below an earlier one counts as that one. `relevance`: by
    call type (see `config.RELEVANCE`). `gate(call)`: a reason to refuse a call, or nothing. `holds(call, body)`: whether a body that was
    read back shows the call's effect; `reads`: whether there can be read-backs at all. `version_of(body)`: the resourceVersion that an answer shows. `wall()`: seconds since 1970, for
    a `Retry-After` date without a `Date`. `handlers`: whether `take` brings failures and re-evaluations. `debug`: check the
    conservation law at each step.

    Raises `ValueError` for a configuration that can't be followed.
    """

    def __init__(
        self,
        config: QueueConfig | None = None,
        *,
        now: float,
        relevance: Mapping[str, int] = RELEVANCE,
        gate: Callable[[ApiCall], str | None] | None = None,
        holds: Callable[[ApiCall, Any], bool] = _never,
        version_of: Callable[[Any], int | None] | None = None,
        reads: bool = True,
        wall: Callable[[], float] = time.time,
        handlers: bool = True,
        debug: bool = False,
    ) -> None:
        config = QueueConfig() if config is None else config
        check_config(config)
        self._debug = debug
        self._parts = Parts(
            config, relevance=relevance, gate=gate, holds=holds, version_of=version_of, reads=reads, wall=wall, handlers=handlers,
            now=now,
        )  # fmt: skip

    # -- what happened -------------------------------------------------------------------------------------------------

    def submit(self, call: ApiCall, now: float, callback: Callable[[OutcomeView], object] | None = None) -> Ticket:
        """Submit a call. The ticket's outcome is there at once if it is refused; nothing is raised for that."""
        parts = self._parts
        self.tick(now)
        ticket = Ticket(parts.accounts.submitted, call, callback, parts.now)
        parts.accounts.submitted += 1
        view = admit(parts, ticket)
        if view is not None:
            parts.tell(ticket, view)
        if self._debug:
            parts.accounts.check()
        return ticket

    def tick(self, now: float) -> None:
        """Time has passed."""
        parts = self._parts
        if now > parts.now:  # noqa: PLR1730 - a call of max costs, and this runs at every step
            parts.now = now
        # A first item that is dead may be looked at, too: the first living one is not earlier.
        items = parts.deadlines.items
        if items and items[0][0] <= parts.now:
            while (due := parts.deadlines.top()) is not None and due[0] <= parts.now:
                leave(parts, due[2], "expired", "deadline")
        paused = parts.pauses.items
        if paused and paused[0][0] <= parts.now:
            while (over := parts.pauses.top()) is not None and over[0] <= parts.now:
                pause_over(parts, over[2])
        if self._debug:
            parts.accounts.check()

    def next(self, now: float) -> Attempt | None:
        """Take the next attempt that can start now, with its worker, token and lease; the caller owes its end. Ask until `None`."""
        self.tick(now)
        return start(self._parts, self._parts.now)

    def answered(self, attempt: Attempt, answer: Any, now: float) -> None:
        """An attempt was answered: anything with `status` (HTTP), `headers` and `body`."""
        self._conclude(attempt, read_answer(answer, self._parts.wall), now)

    def failed(self, attempt: Attempt, error: BaseException, now: float) -> None:
        """An attempt ended in an exception instead of an answer."""
        self._conclude(attempt, read_error(error), now)

    def timed_out(self, attempt: Attempt, now: float) -> None:
        """An attempt's timeout is over, and it was cancelled."""
        self._conclude(attempt, Reading(Verdict.LOST, healthy=False), now)

    def abandoned(self, attempt: Attempt, now: float) -> None:
        """An attempt was cancelled from outside. It may have been sent; of the server it says nothing."""
        self._conclude(attempt, Reading(Verdict.LOST, healthy=None), now)

    def wanted(self, attempt: Attempt) -> bool:
        """Whether an attempt that was taken should still be begun: what happened meanwhile may have cancelled its call."""
        return not attempt.over and attempt.entry.attempt is attempt and attempt.entry.wanting > 0

    def unstarted(self, attempt: Attempt, now: float) -> None:
        """An attempt was taken but surely never begun: token, slot and lease come back."""
        self.tick(now)
        unstarted(self._parts, attempt)

    def _conclude(self, attempt: Attempt, reading: Reading, now: float) -> None:
        parts = self._parts
        if now > parts.now:  # noqa: PLR1730 - a call of max costs, and this runs at every step
            parts.now = now
        # What comes after the deadline of a joiner is stale for that one; at its very deadline it is in time.
        items = parts.deadlines.items
        if items and items[0][0] < parts.now:
            while (due := parts.deadlines.top()) is not None and due[0] < parts.now:
                leave(parts, due[2], "expired", "deadline")
        conclude(parts, attempt, reading)
        self.tick(now)

    def cancel(self, ticket: Ticket, now: float) -> None:
        """A submitter cancels its submit; one that is told already stays as it is."""
        self.tick(now)
        leave(self._parts, ticket, "cancelled", "cancelled")
        if self._debug:
            self._parts.accounts.check()

    def end_context(self, context: str, now: float) -> None:
        """A scheduling context is over: its calls end unsent, or their results are stale."""
        self.tick(now)
        parts = self._parts
        for entry in sorted(parts.contexts.of(context), key=lambda one: -one.seq):
            for ticket in entry.waiting():
                leave(parts, ticket, "cancelled", "context")
        parts.binds.context_ended(context)
        if self._debug:
            parts.accounts.check()

    def delete_object(self, uid: str, now: float) -> None:
        """An object is gone: its calls end unsent, or their results are stale."""
        self.tick(now)
        parts = self._parts
        for entry in sorted(parts.uids.of(uid), key=lambda one: -one.seq):
            for ticket in entry.waiting():
                leave(parts, ticket, "cancelled", "deleted")
        parts.binds.object_ended(uid)
        parts.own_writes.forget(uid)
        if self._debug:
            parts.accounts.check()

    def own_write(self, uid: str, guarded_at: int, version: int) -> None:
        """An own write was seen elsewhere (a watch): it was guarded at one version, and made the other."""
        self._parts.own_writes.wrote(uid, guarded_at, version)

    def set_rate(self, qps: float, burst: int, now: float) -> None:
        """Another quota from now on. Raises `ValueError` for one that is none."""
        self.tick(now)
        self._parts.bucket.set_rate(qps, burst, self._parts.now)

    def close(self, now: float) -> None:
        """Close: everybody is told, nothing more starts. Idempotent. Attempts that are out still owe their end."""
        self.tick(now)
        parts = self._parts
        if parts.closed:
            return
        parts.closed = True
        entries = sorted(parts.entries(), key=lambda one: one.seq)
        sent = {entry: entry.unanswered for entry in entries}
        for entry in entries:
            kind = "unknown" if sent[entry] else "closed"
            for ticket in entry.waiting():
                parts.tell(ticket, parts.view(kind, "closed"))
            if entry.attempt is not None:
                parts.deeds.append(Abort(entry.attempt))
            entry.state = DONE
            entry.tickets = []
            entry.payload = entry.parked = entry.twin_of = entry.survivor = entry.withheld = None
        self._empty()
        if self._debug:
            parts.accounts.check()

    def _empty(self) -> None:
        parts = self._parts
        for bags in (parts.contexts, parts.uids, parts.needs):
            bags.held.clear()
        parts.objects.held.clear()
        parts.twins.by_key.clear()
        parts.twins.payloads.clear()
        parts.deadlines.items.clear()
        parts.pauses.items.clear()
        parts.ready.common.items.clear()
        for lane in parts.ready.lanes.values():
            lane.items.clear()
        parts.room.drops = None
        parts.binds.clear()

    # -- what to do next -----------------------------------------------------------------------------------------------

    def take(self) -> list[Deed]:
        """What a driver has to do now, in order, outside of its lock: tell submitters, call handlers, abort attempts."""
        # Never the list that is still filled: a thread looks at the answer after it has let the lock go.
        deeds, self._parts.deeds = self._parts.deeds, []
        return deeds

    def can_start(self, now: float) -> bool:
        """Whether `next` would give an attempt."""
        return next_start(self._parts, max(now, self._parts.now)) <= max(now, self._parts.now)

    def wake_at(self, now: float) -> float:
        """When `tick` or `next` has something to do unless something happens before; infinite for never."""
        parts = self._parts
        due = next_start(parts, max(now, parts.now))
        deadlines, pauses = parts.deadlines, parts.pauses
        # Only what comes before is of interest, so that a first item which is later, dead or not, need not be looked at.
        if (
            deadlines.items
            and deadlines.items[0][0] < due
            and (first := deadlines.top()) is not None
            and first[0] < due
        ):
            due = first[0]
        if pauses.items and pauses.items[0][0] < due and (over := pauses.top()) is not None and over[0] < due:
            due = over[0]
        return due

    # -- figures -------------------------------------------------------------------------------------------------------

    @property
    def config(self) -> QueueConfig:
        """How the queue was set up."""
        return self._parts.config

    @property
    def closed(self) -> bool:
        """Whether `close` was called."""
        return self._parts.closed

    def bounds(self) -> Bounds:
        """W and B, for the slowest quota so far."""
        bucket = self._parts.bucket
        return bounds_of(self._parts.config, bucket.slowest, bucket.burst)

    def stats(self, now: float) -> dict[str, Any]:
        """`submitted`, `live`, `outcomes` (by kind), `tokens` (`None` without a quota), `executing`, `breaker`, `leases`, `retries`, `audited`."""
        parts = self._parts
        now = max(now, parts.now)
        parts.bucket.ready(now)
        return {
            "submitted": parts.accounts.submitted,
            "live": parts.accounts.live,
            "outcomes": {kind: count for kind, count in parts.accounts.outcomes.items() if count},
            "tokens": parts.bucket.tokens if parts.bucket.limited else None,
            "executing": parts.executing,
            "breaker": parts.breaker.state(now),
            "leases": len(parts.breaker.leases),
            "retries": parts.accounts.retries,
            "audited": parts.accounts.audited,
            "oldest": _oldest(parts, now),
        }


def _oldest(parts: Parts, now: float) -> float | None:
    """The age (seconds) of the submit that has been live for longest."""
    return max((now - entry.enqueued for entry in parts.entries()), default=None)
