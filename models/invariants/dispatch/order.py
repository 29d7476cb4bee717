"""Who runs first: the best eligible call, with no inversion on an object, and nobody beyond the printed bounds (SPEC 4)."""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right

from ....harness.verdicts import Finding, held
from ...dispatch_trace import DispatchTrace
from ...dispatch_waiting import Wait, waiting
from ._judging import breach, call, must, seconds


def _best_first(trace: DispatchTrace) -> Finding:
    found = waiting(trace)
    for wrong in found.wrong:
        if len(wrong.instead.operation.submits) == 1:
            mine = wrong.attempt.operation.submits[0]
            return breach(
                f"{call(mine)} was sent before {call(wrong.instead)}", [wrong.instead, mine, wrong.attempt],
                expected=f"{wrong.instead.op} (priority {wrong.instead.priority:g}, since {seconds(wrong.instead.began)}) first: it was eligible all the while",
                observed=f"{mine.op} (priority {mine.priority:g}, since {seconds(mine.began)}) at {seconds(wrong.attempt.began)}",
            )  # fmt: skip
    return held(found.compared)


def _no_inversion(trace: DispatchTrace) -> Finding:
    found = waiting(trace)
    for wrong in found.inverted:
        if wrong.lent is not None:
            return breach(
                f"{wrong.attempt.op} was sent before {call(wrong.instead)}, for which {call(wrong.lent)} waits",
                [wrong.instead, wrong.lent, wrong.attempt],
                expected=f"{wrong.lent.op} lends its priority {wrong.lent.priority:g} to the call that holds its object",
                observed=f"{wrong.attempt.op} at {seconds(wrong.attempt.began)}",
            )  # fmt: skip
    return held(found.lent)


def _lone(trace: DispatchTrace) -> list[Wait]:
    """Waits from the submit on; a changed quota leaves the printed bounds without a meaning."""
    return [wait for wait in waiting(trace).waits if wait.from_start] if len(trace.rates) == 1 else []


def _wait_bounded(trace: DispatchTrace) -> Finding:
    most, witnesses = trace.bounds.get("wait", math.inf), []
    if not math.isfinite(most):
        return held()
    for wait in _lone(trace):
        submit = wait.operation.submits[0]
        if wait.length > most + trace.slack:
            return breach(
                f"waited {seconds(wait.length)} though it could have run", [submit, wait.operation.first, submit.outcome], of=call(submit),
                expected=f"at most W = {seconds(most)}, as the queue prints", observed=seconds(wait.length),
            )  # fmt: skip
        witnesses.append(submit.start.seq)
    return held(witnesses)


def _overtakes_bounded(trace: DispatchTrace) -> Finding:
    most, witnesses = trace.bounds.get("overtakes", math.inf), []
    if not math.isfinite(most):
        return held()
    firsts = [
        attempt for attempt in trace.attempts if attempt.index == 0 and not attempt.back and attempt.operation.submits
    ]
    starts = [attempt.start.seq for attempt in firsts]
    suspects = []
    for wait in _lone(trace):
        low, high = bisect_right(starts, wait.since_seq), bisect_left(starts, wait.until_seq)
        witnesses.append(wait.operation.submits[0].start.seq)
        if high - low > most:
            suspects.append((wait, low, high))
    counts = _later(firsts_of=[attempt.operation.submits[0].start.seq for attempt in firsts], asked=suspects)
    for (wait, low, high), count in zip(suspects, counts, strict=True):
        if count > most:
            submit = wait.operation.submits[0]
            return breach(
                f"was overtaken {count} times though it could have run", [submit, firsts[low], firsts[high - 1]], of=call(submit),
                expected=f"at most B = {most:g}, as the queue prints", observed=str(count),
            )  # fmt: skip
    return held(witnesses)


def _later(*, firsts_of: list[int], asked: list[tuple[Wait, int, int]]) -> list[int]:
    """For each wait how many of the calls first sent between two places were submitted after it: a Fenwick tree, offline."""
    order = sorted(range(len(firsts_of)), key=lambda at: -firsts_of[at])
    tree = [0] * (len(firsts_of) + 1)

    def below(at: int) -> int:
        total = 0
        while at > 0:
            total += tree[at]
            at -= at & -at
        return total

    answers, added = [0] * len(asked), 0
    for number in sorted(range(len(asked)), key=lambda at: -asked[at][0].operation.submits[0].start.seq):
        wait, low, high = asked[number]
        while added < len(order) and firsts_of[order[added]] > wait.operation.submits[0].start.seq:
            at = order[added] + 1
            while at < len(tree):
                tree[at] += 1
                at += at & -at
            added += 1
        answers[number] = below(high) - below(low)
    return answers


INVARIANTS = (
    must(
        "best_first", "order", _best_first, "SPEC 4 eligible; SPEC 5; D1, D44, D45, D105",
        "A call is sent only if no better one was eligible since before a worker and a token were both free for it.",
    ),
    must(
        "no_inversion", "order", _no_inversion, "SPEC 4 order on an object",
        "A call that waits for its object lends its priority to the one that holds it.",
        lambda dialect: dialect.serialises and dialect.order == "aged",
    ),
    must(
        "wait_bounded", "no_starvation", _wait_bounded, "SPEC 4 no starvation; D1, D48", "No call is eligible for longer than W, as the queue prints it.",
        lambda dialect: dialect.order != "priority",
    ),
    must(
        "overtakes_bounded", "no_starvation", _overtakes_bounded, "SPEC 4 no starvation; D48",
        "No eligible call is overtaken by more than B later ones, as the queue prints it.",
        lambda dialect: dialect.order != "priority",
    ),
)  # fmt: skip
