"""The circuit breaker: results tagged with their epoch, half-open probes on a lease, so that it can't wedge (SPEC 4)."""

from __future__ import annotations

import math

__all__ = ["LEASE_PHASES", "Breaker"]

LEASE_PHASES = 4
"""A probe whose end is never told gives its lease back after so many attempt timeouts: a blocking client counts its timeout anew for
connecting, writing, reading and the pool."""


class Breaker:
    """Counts transient failures in a row, of the whole server. `failures` 0: there is no breaker.

    Every change between closed, open and half-open is a new *epoch*; the result of an attempt that began in an earlier one says nothing.
    """

    __slots__ = ("epoch", "failures", "in_a_row", "lease", "leases", "next_lease", "opened", "probes", "rest")

    def __init__(self, failures: int, rest: float, probes: int, attempt_timeout: float) -> None:
        self.failures, self.rest, self.probes = failures, rest, probes
        self.lease = LEASE_PHASES * attempt_timeout
        self.epoch = 0
        self.in_a_row = 0
        self.opened: float | None = None
        self.leases: dict[int, float] = {}
        self.next_lease = 0

    def state(self, now: float) -> str:
        """`closed`, `open` or `half-open`."""
        if self.opened is None:
            return "closed"
        return "open" if now < self.opened + self.rest else "half-open"

    def open_for(self, now: float) -> float:
        """For how many seconds more it is open; 0 if it is not."""
        return 0.0 if self.opened is None else max(0.0, self.opened + self.rest - now)

    def admits(self, now: float) -> bool:
        """Whether an attempt may start: closed, or half-open with a lease to spare."""
        if self.opened is None:
            return True
        if now < self.opened + self.rest:
            return False
        if len(self.leases) >= self.probes:
            self.leases = {number: until for number, until in self.leases.items() if until > now}
        return len(self.leases) < self.probes

    def next_at(self, now: float) -> float:
        """When an attempt may start unless a result comes first."""
        if self.admits(now):
            return now
        assert self.opened is not None
        if now < self.opened + self.rest:
            return self.opened + self.rest
        return min(self.leases.values(), default=math.inf)

    def begin(self, now: float) -> int | None:
        """An attempt starts that `admits` let through. Returns its lease, if it is a probe."""
        if self.opened is None:
            return None
        lease, self.next_lease = self.next_lease, self.next_lease + 1
        self.leases[lease] = now + self.lease
        return lease

    def end(self, epoch: int, lease: int | None, success: bool | None, now: float) -> None:
        """An attempt is over: it succeeded, failed in a transient way, or (`None`) says nothing about the server."""
        if lease is not None:
            self.leases.pop(lease, None)
        if not self.failures or success is None or epoch != self.epoch:
            return
        if self.opened is not None:
            self._turn(None if success else now)
        elif success:
            self.in_a_row = 0
        else:
            self.in_a_row += 1
            if self.in_a_row >= self.failures:
                self._turn(now)

    def _turn(self, opened: float | None) -> None:
        self.opened = opened
        self.epoch += 1
        self.in_a_row = 0
        self.leases.clear()
