"""Order on an object: its writes run one at a time and in submit order, apart from superseding (SPEC 4)."""

from __future__ import annotations

import heapq
from collections import defaultdict

from ....harness.invariant import Invariant, Level
from ....harness.verdicts import Finding, held
from ...dispatch_trace import Attempt, DispatchTrace, Operation
from ._company import Company
from ._judging import breach, call, each_queue, seconds


def _one_in_flight(trace: DispatchTrace) -> Finding:
    witnesses: list[int] = []
    running: dict[str, list[Attempt]] = defaultdict(list)
    for attempt in trace.attempts:
        operation = attempt.operation
        if attempt.back or not operation.submits or not operation.submits[0].rank:
            continue
        first = operation.submits[0]
        others = running[first.uid] = [item for item in running[first.uid] if item.end_seq > attempt.start.seq]
        for other in others:
            if any(submit.told > attempt.began + trace.near for submit in other.operation.submits):
                return breach(
                    f"was sent while {other.op} on the same object was under way", [other, attempt], of=attempt.op,
                    expected=f"one write on {first.uid} at a time",
                    observed=f"{other.op} since {seconds(other.began)}, {attempt.op} at {seconds(attempt.began)}",
                )  # fmt: skip
        others.append(attempt)
        witnesses.append(attempt.start.seq)
    return held(witnesses)


def _in_order(trace: DispatchTrace) -> Finding:
    witnesses: list[int] = []
    for operations in trace.objects().values():
        if len(operations) < 2:
            continue
        company = Company(operations)
        judged = [item for item in operations if item.tries and not company.behind(item, item.sent_seq)]
        waiting: list[tuple[int, int]] = []
        starts = sorted((item for item in operations if item.tries), key=lambda item: item.sent_seq)
        queue = sorted(judged, key=lambda item: item.submits[0].start.seq)
        at = 0
        for later in starts:
            while at < len(queue) and queue[at].submits[0].start.seq < later.sent_seq:
                heapq.heappush(waiting, (queue[at].submits[0].start.seq, at))
                at += 1
            while waiting and _gone(queue[waiting[0][1]], later.sent_seq, later.tries[0].began + trace.near):
                heapq.heappop(waiting)
            if not waiting:
                witnesses.append(later.sent_seq)
                continue
            earlier = queue[waiting[0][1]]
            first, then = earlier.submits[0], later.submits[0]
            if earlier is later or first.start.seq > then.start.seq:
                witnesses.append(later.sent_seq)
                continue
            if any(submit.prerequisite_of == first.uid for submit in later.submits):
                continue  # flags are the strictest over the joiners: one of them makes the call a prerequisite of that bind
            return breach(
                f"was overtaken on its object by {call(then)}", [first, then, later.first, earlier.first], of=call(first),
                expected="writes on one object start in the order in which they were submitted",
                observed=f"{then.op} first sent at {seconds(later.tries[0].began)}, {first.op} at {seconds(earlier.tries[0].began)}",
            )  # fmt: skip
    return held(witnesses)


def _gone(operation: Operation, seq: int, at: float) -> bool:
    """Sent before, or its first submit settled by then (it may be told in that instant only)."""
    return operation.sent_seq < seq or operation.submits[0].told <= at


INVARIANTS = (
    Invariant(
        id="dispatch.one_write_in_flight", level=Level.MUST, safety=True, check=each_queue(_one_in_flight), source="SPEC 4 order on an object",
        expectation="At most one write on an object is under way, but for one that has ended unknown.",
        possible=lambda dialect: dialect.serialises,
    ),
    Invariant(
        id="dispatch.object_order", level=Level.MUST, safety=True, check=each_queue(_in_order), source="SPEC 4 order on an object; D11, D78",
        expectation="Writes on an object are first sent in the order in which they were submitted, apart from superseding.",
        possible=lambda dialect: dialect.serialises,
    ),
)  # fmt: skip
