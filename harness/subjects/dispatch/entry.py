"""The two records that the queue keeps: a `Ticket` for each submit, an `Entry` for each call that it works on (one or more twins)."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Final

from ...calls import ApiCall, OutcomeView

__all__ = [
    "BACKOFF",
    "BLOCKED",
    "DONE",
    "EXECUTING",
    "PARKED",
    "READY",
    "STATES",
    "WITHHELD",
    "Attempt",
    "Entry",
    "Ticket",
    "changed",
]

BLOCKED: Final = 0
"""Behind an earlier write of its object, or waiting for a prerequisite."""
READY: Final = 1
"""Eligible, but for the limits that are shared (tokens, workers, shares, breaker)."""
EXECUTING: Final = 2
BACKOFF: Final = 3
WITHHELD: Final = 4
PARKED: Final = 5
DONE: Final = 6

STATES: Final = ("blocked", "ready", "executing", "backoff", "withheld", "parked", "done")


def changed(call: ApiCall, **fields: Any) -> ApiCall:
    """A call with some fields replaced, as `dataclasses.replace`, at a tenth of its cost: it is made for each attempt and each outcome."""
    made: ApiCall = object.__new__(type(call))
    made.__dict__.update(call.__dict__, **fields)
    return made


class Ticket:
    """One submit, as its submitter holds it.

    `number` counts submits from 0. `outcome` is `None` while the submit is live, and never changes afterwards. `call` is the submitted
    call while it is live, `None` afterwards, so that a ticket which is kept holds no payload.
    """

    __slots__ = (
        "__weakref__", "asked", "call", "callback", "enqueued", "entry", "number", "outcome", "priority", "waiters",
    )  # fmt: skip

    def __init__(
        self, number: int, call: ApiCall, callback: Callable[[OutcomeView], object] | None, now: float
    ) -> None:
        self.number = number
        self.call: ApiCall | None = call
        self.callback = callback
        self.outcome: OutcomeView | None = None
        self.entry: Entry | None = None
        self.enqueued = now
        self.priority: float = 0
        self.asked = ""
        self.waiters: list[Any] | None = None

    @property
    def done(self) -> bool:
        """Whether the outcome is there."""
        return self.outcome is not None

    def __repr__(self) -> str:
        state = "live" if self.outcome is None else self.outcome.kind
        return f"<Ticket {self.number}: {state}>"


class Entry:
    """One call that the queue works on: what is sent, who joined, and where it stands.

    `tickets`: who joined, those already told included (they are skipped). `live`: how many are not told; `wanting`: how many of those did
    not ask to end. `rank`: the own priority with age, in a form that never changes with time (aging × enqueued − priority: the least goes first).
    `demand`: the same with the loans of binds that wait for it; `key`: with the loans of those behind it on its object, too.
    `undecided`: an attempt of it may have had, or may yet have, an effect. `pinned`: the version that its guard was sent with while
    undecided. `read_next`: the next attempt reads back. `done_as`: what its first joiner is told, once it ends.
    """

    __slots__ = (
        "attempt", "attempts", "call", "cost", "deadline", "demand", "done_as", "droppable", "enqueued", "key", "level", "lifted",
        "live", "not_before", "order", "ordered", "parked", "payload", "pinned", "placed", "plugin", "prerequisite_of", "priority", "rank",
        "read_next", "reads", "sent_version", "seq", "state", "survivor", "tickets", "twin_key", "twin_of", "undecided",
        "wanting", "withheld",
    )  # fmt: skip

    def __init__(self, ticket: Ticket, call: ApiCall, payload: Any, level: int, rank: float) -> None:
        self.seq = ticket.number
        self.order = 2 * ticket.number
        self.call = call
        self.payload = payload
        self.tickets = [ticket]
        self.live = 1
        self.wanting = 1
        self.state = BLOCKED
        self.level = level
        self.ordered = level > 0 and call.effect == "IDEMPOTENT_WRITE"
        self.placed = False
        self.rank = self.demand = self.key = rank
        self.lifted = False
        self.priority = ticket.priority
        self.enqueued = ticket.enqueued
        self.deadline = call.deadline
        self.plugin = call.plugin
        self.droppable = call.droppable
        self.cost = call.rebuild_cost
        self.prerequisite_of: tuple[str, ...] = () if call.prerequisite_of is None else (call.prerequisite_of,)
        self.done_as = ""
        self.attempts = 0
        self.reads = 0
        self.attempt: Attempt | None = None
        self.undecided = False
        self.pinned: int | None = None
        self.sent_version: int | None = None
        self.read_next = False
        self.not_before = -math.inf
        self.survivor: Entry | None = None
        self.withheld: dict[Entry, None] | None = None
        self.parked: Entry | None = None
        self.twin_of: Entry | None = None
        self.twin_key: tuple[Any, ...] | None = None

    @property
    def unanswered(self) -> bool:
        """Whether an attempt of it is undecided."""
        return self.undecided or (self.attempt is not None and not self.attempt.read)

    def living(self) -> bool:
        """Whether somebody still wants it: a joiner who did not ask to end, or one that is parked behind it."""
        return self.wanting > 0 or (self.parked is not None and self.parked.wanting > 0)

    def waiting(self) -> list[Ticket]:
        """The joiners that are not told."""
        return [one for one in self.tickets if one.outcome is None]

    def __repr__(self) -> str:
        return f"<Entry {self.seq}: {STATES[self.state]}>"


class Attempt:
    """One attempt, handed to a driver, which owes the core its end.

    `call`: what to send (the snapshot, guards rebased) or, if `read`, to read back. `timeout`: seconds it may take. `number`: 0, 1, …
    among the entry's attempts, read-backs included.
    """

    __slots__ = ("abort", "call", "entry", "epoch", "lease", "number", "over", "plugin", "read", "started", "timeout")

    def __init__(self, entry: Entry, call: ApiCall, *, read: bool, number: int, timeout: float, started: float) -> None:
        self.entry = entry
        self.call = call
        self.read = read
        self.number = number
        self.timeout = timeout
        self.started = started
        self.plugin = entry.plugin
        self.epoch = 0
        self.lease: int | None = None
        self.over = False
        self.abort: Callable[[], object] | None = None
