"""Where a dispatch queue stands, as the reference model sees it: submits, the calls they were joined into, and nothing hidden.

A *submit* is what a caller handed in and must be told about once; an *entry* is a call that the queue works on, with one submit or
several twins joined into it. What SPEC 4 leaves free is kept as sets of allowed outcomes or windows of times, never decided.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias

from ..harness.calls import ApiCall
from ..harness.queue_dialect import QueueDialect
from ..harness.queue_protocols import QueueConfig
from .dispatch_claims import DISPATCH_CLAIMS

Decided: TypeAlias = Literal["no", "maybe", "yes"]
"""Whether an entry is *unanswered* (some attempt of it is undecided): ``maybe`` where SPEC lets a queue read it either way."""

ABSTRACT: Final = (
    "pending",
    "blocked on object",
    "blocked on prerequisite",
    "withheld",
    "parked",
    "executing",
    "backoff",
    "unanswered",
    "reading back",
    "cancelled in flight",
    "settled",
)
"""The named states of one submit. ``settled`` is told with any of the closed set of outcomes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Setup:
    """What the model is parameterised by: the effective configuration, the dialect, the claims.

    ``threads``: the bench calls a queue that runs on threads of its own, so what these decided just before may be seen just after.
    """

    config: QueueConfig = field(default_factory=QueueConfig)
    dialect: QueueDialect = field(default_factory=QueueDialect)
    claims: frozenset[str] = frozenset(DISPATCH_CLAIMS)
    threads: bool = False

    @property
    def near(self) -> float:
        """Within this many seconds two instants are one."""
        return self.dialect.resolution + 1e-6


@dataclass(frozen=True, slots=True, kw_only=True)
class Submit:
    """One submit without an outcome told.

    ``entry``: the call that it belongs to. ``parked``: it waits for a twin that executes. ``asked``: it was cancelled, or its context
    or object ended, after it had been sent and before it was answered. ``due``: the outcomes that it must be told one of (empty: it is
    live and undecided); ``reasons``: those that may go with them, empty for any. ``loose``: outcomes that the queue may give it, but
    need not. An outcome is written as its kind, ``merged`` with the call's own as ``merged:applied``.
    """

    index: int
    op: str
    call: ApiCall = field(compare=False)
    at: float = field(compare=False)
    entry: int
    parked: bool = False
    asked: bool = False
    due: frozenset[str] = frozenset()
    reasons: frozenset[str] = frozenset()
    loose: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One call that the queue works on.

    ``order``: its place among the submits. ``live``: not ended (an ended one is kept while an attempt of it still flies). ``flying``,
    ``reading``: an attempt or a read-back is in flight, since ``started``. ``attempts``: begun so far. ``undecided``: unanswered.
    ``conflict``: a conflict came after an ambiguous attempt, and must be read back. ``read``: a read-back was answered after the last
    undecided attempt. ``mute``: it reads, and an attempt of it was not answered, so that whoever leaves it may be told that. ``low``, ``high``: the window in which the next attempt may begin, must have begun. ``waits``: entries that are
    its prerequisites. ``loose``: outcomes that the queue may choose, but need not. ``free``: a prerequisite's fate is left open by
    SPEC, so nothing is demanded. ``since``: from when on (seconds, step) it was eligible beyond doubt.
    """

    index: int
    order: int
    call: ApiCall = field(compare=False)
    operation: str = ""
    payload: str = ""
    live: bool = True
    flying: bool = False
    reading: bool = False
    started: float = 0.0
    attempts: int = 0
    undecided: Decided = "no"
    conflict: bool = False
    read: bool = False
    mute: bool = False
    low: float = 0.0
    high: float = 0.0
    waits: frozenset[int] = frozenset()
    loose: frozenset[str] = frozenset()
    free: bool = False
    since: tuple[float, float] | None = None

    @property
    def in_flight(self) -> bool:
        """Whether it occupies a worker."""
        return self.flying or self.reading


@dataclass(frozen=True, slots=True, kw_only=True)
class Breaker:
    """What is known of the breaker. ``least``, ``most``: failures in a row, by the strictest and the widest reading of what counts.

    ``opened``: when it opened beyond doubt. ``doubt``: when it may have opened. ``since``: when it was last closed; what began before is of
    an earlier epoch.
    """

    least: int = 0
    most: int = 0
    opened: float | None = None
    doubt: float | None = None
    since: float = float("-inf")


@dataclass(frozen=True, slots=True, kw_only=True)
class Bucket:
    """The most tokens that a queue can have, counted at ``at``: one that obeys burst + QPS·t in every window has no more."""

    qps: float
    burst: float
    tokens: float
    at: float = 0.0
    last: float = float("-inf")


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """Where the queue stands. ``step`` counts what happened; ``worker_free``: since when a worker has been free without a break.

    ``outcomes``: told so far, by kind. ``binds``: (uid, context, target) of binds that applied or ended unknown. ``keys``: idempotency
    keys seen, with their payload. ``effects``: operations that the server's ledger shows. ``ended``: contexts and uids that are over.
    """

    bucket: Bucket
    now: float = 0.0
    step: int = 0
    entries: tuple[Entry, ...] = ()
    submits: tuple[Submit, ...] = ()
    submitted: int = 0
    outcomes: tuple[tuple[str, int], ...] = ()
    breaker: Breaker = Breaker()
    binds: frozenset[tuple[str, str, str]] = frozenset()
    keys: frozenset[tuple[str, str]] = frozenset()
    effects: frozenset[str] = frozenset()
    ended: frozenset[str] = frozenset()
    closing: bool = False
    closed: bool = False
    worker_free: tuple[float, float] | None = (0.0, -1.0)

    def entry(self, index: int) -> Entry:
        """The entry with this index. Raises ``KeyError`` if it is over."""
        for one in self.entries:
            if one.index == index:
                return one
        raise KeyError(index)

    def submit(self, op: str) -> Submit | None:
        """The submit with this op, if it has not been told."""
        return next((one for one in self.submits if one.op == op), None)

    def of(self, index: int) -> tuple[Submit, ...]:
        """The submits of an entry, parked ones included, that have no outcome due."""
        return tuple(one for one in self.submits if one.entry == index and not one.due)

    @property
    def live(self) -> int:
        """Submits without an outcome told."""
        return len(self.submits)

    @property
    def conserved(self) -> bool:
        """The conservation law: submitted = live + told (SPEC 4)."""
        return self.submitted == len(self.submits) + sum(count for _, count in self.outcomes)
