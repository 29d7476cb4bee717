"""Who waited though it could have run, and for how long: one careful sweep over a dispatch trace (SPEC 5, 'judged from outside with care').

A call is *lone* while it is the only live call on its object, no attempt is under way there, no prerequisite and no share can hold it
back, it was not cancelled, and the breaker can't be open: then it is surely eligible. All else is left out. Times are seconds.
"""

from __future__ import annotations

import heapq
import math
from bisect import bisect_right
from collections import defaultdict
from dataclasses import dataclass, field

from .dispatch_errors import CANCELLED, ODD
from .dispatch_figures import Bucket, clipped, sure_gap
from .dispatch_relevance import KNOWN
from .dispatch_trace import NEVER, Attempt, DispatchTrace, Operation, Submit


@dataclass(slots=True, kw_only=True, eq=False)
class Wait:
    """An operation was lone from ``since`` to ``until``, after ``tries`` attempts; ``from_start``: since its submit."""

    operation: Operation
    since: float
    since_seq: int
    tries: int
    from_start: bool
    until: float = math.inf
    until_seq: int = NEVER
    after: Attempt | None = None

    @property
    def length(self) -> float:
        """Seconds."""
        return self.until - self.since


@dataclass(frozen=True, slots=True, kw_only=True)
class WrongPop:
    """``attempt`` started while the better call ``instead`` was surely eligible, and had been since before there was room for it."""

    attempt: Attempt
    instead: Submit
    lent: Submit | None = None


@dataclass(slots=True, kw_only=True)
class Waiting:
    """What the sweep found. ``free``: spans in which less attempts than workers were under way and a token was surely there; in those of
    ``sure`` no worker was kept by a call in backoff either."""

    waits: list[Wait] = field(default_factory=list)
    free: list[tuple[float, float]] = field(default_factory=list)
    sure: list[tuple[float, float]] = field(default_factory=list)
    wrong: list[WrongPop] = field(default_factory=list)
    inverted: list[WrongPop] = field(default_factory=list)
    compared: list[int] = field(default_factory=list)
    compared_joined: list[int] = field(default_factory=list)
    lent: list[int] = field(default_factory=list)

    @staticmethod
    def idle(spans: list[tuple[float, float]], since: float, until: float, enough: float) -> tuple[float, float] | None:
        """The first part of these spans within these seconds that is longer than ``enough``."""
        at = max(0, bisect_right(spans, (since, math.inf)) - 1)
        while at < len(spans) and spans[at][0] < until:
            span = (max(since, spans[at][0]), min(until, spans[at][1]))
            if span[1] - span[0] > enough:
                return span
            at += 1
        return None


def waiting(trace: DispatchTrace) -> Waiting:
    """The sweep's findings, worked out once a trace."""
    if "waiting" not in trace.memo:
        trace.memo["waiting"] = _Sweep(trace).run()
    found: Waiting = trace.memo["waiting"]
    return found


@dataclass(slots=True, eq=False)
class _Object:
    """What is live on one object: submits by operation, attempts under way; ``version`` changes with the company."""

    live: dict[Operation, int] = field(default_factory=dict)
    running: int = 0
    version: int = 0
    wait: Wait | None = None
    prerequisites: int = 0


class _Spans:
    """Spans of time in which something is so."""

    def __init__(self, into: list[tuple[float, float]]) -> None:
        self.into = into
        self.since: float | None = 0.0

    def shut(self, at: float) -> None:
        """It is so no more."""
        if self.since is not None and at > self.since:
            self.into.append((self.since, at))
        self.since = None

    def update(self, at: float, *, so: bool, since: float, again: bool) -> None:
        """Whether it is so at this second, from ``since`` on; ``again``: what went before has ended."""
        if again or not so:
            self.shut(at)
        if so and self.since is None and since < math.inf:
            self.since = max(at, since)


class _Sweep:
    def __init__(self, trace: DispatchTrace) -> None:
        self.trace = trace
        self.found = Waiting()
        self.objects: dict[str, _Object] = defaultdict(_Object)
        self.bucket = Bucket(trace)
        self.running = 0
        self.free_seq = -1
        self.token_at = -math.inf
        self.between: dict[Operation, None] = {}
        self.free, self.sure = _Spans(self.found.free), _Spans(self.found.sure)
        self.gap = sure_gap(trace)
        self.streak = 0
        self.staged: list[tuple[int, float, float, Submit, int, Submit | None]] = []
        self.staged_at = 0
        self.heap: list[tuple[float, int, Submit, int, Submit | None]] = []
        self.near = trace.near
        self.over = self._over()

    def _over(self) -> dict[Operation, int]:
        """From where on an operation may be on its way out."""
        trace = self.trace
        if not (trace.contexts or trace.deleted or any(submit.cancel for submit in trace.submits)):
            return {}
        found: dict[Operation, int] = {}
        for submit in trace.submits:
            word = trace.over(submit)
            if word is not None:
                found[submit.operation] = min(found.get(submit.operation, NEVER), word.seq)
        return found

    def run(self) -> Waiting:
        trace, end = self.trace, self.trace.closed_seq
        limit = trace.config.breaker_failures if trace.dialect.breaker else 0
        at, at_seq = 0.0, -1
        for seq, what, item in trace.steps:
            if seq > end or (limit and self.streak >= limit):
                break
            at_seq = seq
            if isinstance(item, Submit):
                at = item.began if what == "submit" else item.told
                (self._submit if what == "submit" else self._told)(item)
            elif what == "start":
                at = item.began
                self._start(item)
            else:
                at = item.ended
                self._end(item)
        else:
            at = trace.closed_at if trace.closes else trace.last.at if trace.last is not None else at
            at_seq = trace.closed_seq if trace.closes else NEVER
        for place in self.objects.values():
            self._stop_wait(place, at, at_seq)
        self.free.shut(at)
        self.sure.shut(at)
        return self.found

    def _room(self, at: float, *, again: bool = False) -> None:
        """Workers or tokens have come or gone."""
        workers = self.trace.config.workers
        self.free.update(at, so=self.running < workers, since=self.token_at, again=again)
        self.sure.update(at, so=self.running + len(self.between) < workers, since=self.token_at, again=again)

    # -- calls ---------------------------------------------------------------------------------------------------------

    def _submit(self, submit: Submit) -> None:
        place = self.objects[submit.uid]
        if submit.prerequisite_of is not None:
            held = self.objects[submit.prerequisite_of]
            held.prerequisites += 1
            self._stop_wait(held, submit.began, submit.start.seq)
        known = place.live.get(submit.operation, 0)
        place.live[submit.operation] = known + 1
        if not known:
            place.version += 1
            self._stop_wait(place, submit.began, submit.start.seq)
        if not self._free_to_run(submit) or place.running:
            return
        begin = submit.accepted
        if begin is None:
            return
        if len(place.live) == 1:
            if not known and not submit.operation.tries_before(submit.start.seq):
                place.wait = Wait(
                    operation=submit.operation, since=begin.at, since_seq=begin.seq, tries=0, from_start=True
                )
            self.staged.append((begin.seq, begin.at, self._key(submit), submit, place.version, None))
        elif len(place.live) == 2 and not known and self.trace.dialect.order == "aged":
            self._lend(place, submit)

    def _lend(self, place: _Object, waiter: Submit) -> None:
        """The second call on an object lends its priority to the first, which holds the object."""
        holder = next(iter(place.live)).submits[-1]
        same_order = holder.rank and waiter.rank and waiter.rank <= holder.rank
        newer = (waiter.type, waiter.target) == (holder.type, holder.target) and waiter.generation != holder.generation
        if not same_order or newer or len(holder.operation.submits) > 1 or not self._free_to_run(holder):
            return
        if holder.operation.sent_seq < waiter.start.seq or self._key(waiter) <= self._key(holder):
            return
        begin = waiter.accepted
        if begin is not None and waiter.rank == holder.rank:
            self.staged.append((begin.seq, begin.at, self._key(waiter), holder, place.version, waiter))

    def _free_to_run(self, submit: Submit) -> bool:
        trace = self.trace
        if submit.type not in KNOWN or (trace.dialect.shares and submit.plugin in trace.config.shares):
            return False
        return not (submit.type == "bind" and self.objects[submit.uid].prerequisites)

    def _key(self, submit: Submit) -> float:
        """Priority at second 0, if it aged backwards: the order of two calls never changes, as all age alike."""
        order, config = self.trace.dialect.order, self.trace.config
        if order == "fifo":
            return float(-submit.start.seq)
        aging = config.aging if order == "aged" else 0.0
        return clipped(submit.priority, config) - aging * submit.began

    def _told(self, submit: Submit) -> None:
        place = self.objects[submit.uid]
        left = place.live.get(submit.operation, 0) - 1
        if left > 0:
            place.live[submit.operation] = left
        else:
            place.live.pop(submit.operation, None)
            if self.between.pop(submit.operation, 0) is None:
                self._room(submit.told)
            self._stop_wait(place, submit.told, submit.told_seq)
            self._alone_again(place, submit.told, submit.told_seq, None)
        if submit.prerequisite_of is not None:
            self._stop_wait(self.objects[submit.prerequisite_of], submit.told, submit.told_seq)

    def _alone_again(self, place: _Object, at: float, seq: int, after: Attempt | None) -> None:
        """The only call that is left on an object becomes lone."""
        if len(place.live) != 1 or place.running or place.wait is not None:
            return
        operation = next(iter(place.live))
        submit = operation.submits[-1]
        begin = submit.accepted
        if begin is None or begin.seq > seq or len(operation.submits) > 1 or not self._free_to_run(submit):
            return
        tries = sum(1 for attempt in operation.tries if attempt.start.seq < seq)
        if tries and after is None:
            return
        place.wait = Wait(operation=operation, since=at, since_seq=seq, tries=tries, from_start=False, after=after)

    def _stop_wait(self, place: _Object, at: float, seq: int) -> None:
        wait, place.wait = place.wait, None
        if wait is None:
            return
        gone = self.over.get(wait.operation, NEVER)
        wait.until, wait.until_seq = at, seq
        if gone < seq:
            word = self.trace.over(wait.operation.submits[0])
            wait.until, wait.until_seq = (word.at if word is not None else wait.since), gone
        if wait.until_seq >= wait.since_seq:
            self.found.waits.append(wait)

    # -- attempts ------------------------------------------------------------------------------------------------------

    def _start(self, attempt: Attempt) -> None:
        at, seq = attempt.began, attempt.start.seq
        first = attempt.operation.submits[0] if attempt.operation.submits else None
        place = self.objects[first.uid] if first is not None else None
        token = self.bucket.free_at()
        if place is not None and first is not None:
            if not attempt.back and attempt.index == 0:
                self._judge(attempt, place, token)
            self._stop_wait(place, at, seq)
            place.running += 1
        self.bucket.take(attempt)
        self.running += 1
        self.between.pop(attempt.operation, None)
        if self.gap:
            self.token_at = at + self.gap
        self._room(at, again=self.gap > 0)

    def _end(self, attempt: Attempt) -> None:
        at, seq = attempt.ended, attempt.end_seq
        was_full = self.running >= self.trace.config.workers
        self.running -= 1
        if was_full and self.running < self.trace.config.workers:
            self.free_seq = seq
        if attempt.operation.living(seq):
            self.between[attempt.operation] = None
        self._room(at)
        if attempt.transient or attempt.verdict in (CANCELLED, ODD):
            self.streak += 1  # whether a cancelled one counts as a failure is the breaker's own choice
        elif attempt.verdict == "ok":
            self.streak = 0
        if attempt.operation.submits:
            place = self.objects[attempt.operation.submits[0].uid]
            place.running -= 1
            self._alone_again(place, at, seq, attempt)

    def _judge(self, attempt: Attempt, place: _Object, token: float) -> None:
        """Whether a better call was surely eligible since before a worker and a token were both free."""
        self._unstage(token)
        operation, seq = attempt.operation, attempt.start.seq
        if len(place.live) == 2 and next(iter(place.live)) is operation and operation.alone is not None:
            self._lent(operation, list(place.live)[1], seq)
        if len(place.live) != 1 or operation not in place.live:
            return
        if self.trace.dialect.coalescing == "newest" and place.version > 1:
            return  # it may have come to run in the place of an older one
        askers = [submit for submit in operation.submits if submit.start.seq < seq]
        if any(submit.prerequisite_of is not None for submit in askers):
            return
        best = self._best(seq, operation)
        if best is None or not askers:
            return
        key, _, better, _, lender = best
        priorities = max(clipped(submit.priority, self.trace.config) for submit in askers)
        order, aging = self.trace.dialect.order, self.trace.config.aging
        if order == "fifo":
            mine, margin = float(-askers[0].start.seq), 0.0
        else:
            mine = priorities - (aging * askers[0].began if order == "aged" else 0.0)
            margin = 1e-6 + (2 * aging * self.near if order == "aged" else 0.0)
        joins = len(better.operation.submits) > 1 or len(askers) > 1
        joined = self.found.compared_joined if joins else self.found.compared
        (joined if lender is None else self.found.lent).append(seq)
        started = better.operation.first
        if -key <= mine + margin or (started is not None and started.began <= attempt.began + self.near):
            return
        into = self.found.wrong if lender is None else self.found.inverted
        into.append(WrongPop(attempt=attempt, instead=better, lent=lender))

    def _lent(self, holder: Operation, waiter: Operation, seq: int) -> None:
        """The holder of an object goes before a call that is more urgent than itself, as one that waits for it is more urgent still."""
        best = self._best(seq, holder)
        mine, theirs = holder.submits[0], waiter.submits[0]
        if best is not None and mine.rank == theirs.rank and self._key(mine) < -best[0] <= self._key(theirs):
            self.found.lent.append(seq)

    def _unstage(self, token: float) -> None:
        """Calls that were there before a worker or a token became free, whichever came last, take part."""
        while self.staged_at < len(self.staged):
            seq, at, key, submit, version, lender = self.staged[self.staged_at]
            if not (seq < self.free_seq or at < token - 2 * self.near):
                break
            heapq.heappush(self.heap, (-key, seq, submit, version, lender))
            self.staged_at += 1
        if self.staged_at > 1024 and self.staged_at * 2 > len(self.staged):
            del self.staged[: self.staged_at]
            self.staged_at = 0

    def _best(self, seq: int, mine: Operation) -> tuple[float, int, Submit, int, Submit | None] | None:
        while self.heap:
            best = self.heap[0]
            submit, version, lender = best[2], best[3], best[4]
            gone = submit.told_seq < seq or submit.operation.sent_seq < seq or submit.operation is mine
            gone = gone or self.objects[submit.uid].version != version or not self._free_to_run(submit)
            gone = gone or self.over.get(submit.operation, NEVER) < seq
            if lender is not None:
                gone = gone or lender.told_seq < seq or self.over.get(lender.operation, NEVER) < seq
            if not gone:
                return best
            heapq.heappop(self.heap)
        return None
