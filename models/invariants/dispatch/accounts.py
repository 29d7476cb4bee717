"""The queue's own figures agree with what was seen: ``submitted == live + sum(outcomes)``, joiners counted (SPEC 4)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from ....harness.history import Event
from ....harness.verdicts import Finding, held
from ...dispatch_trace import Attempt, DispatchTrace, Submit
from ...event_data import number
from ._judging import breach, must


def _outcomes(event: Event) -> dict[str, float]:
    told = event.data.get("outcomes")
    return {str(kind): number(count, 0.0) for kind, count in told.items()} if isinstance(told, Mapping) else {}


def _conserved(trace: DispatchTrace) -> Finding:
    witnesses = []
    for event in trace.stats:
        submitted, live = number(event.data.get("submitted")), number(event.data.get("live"))
        total = sum(_outcomes(event).values())
        if submitted != live + total:
            return breach(
                "the queue's figures do not add up", [event], expected="submitted == live + sum(outcomes)",
                observed=f"{submitted:g} submitted, {live:g} live, {total:g} outcomes",
            )  # fmt: skip
        witnesses.append(event.seq)
    return held(witnesses)


def _agree(trace: DispatchTrace) -> Finding:
    """What was told in the instant of the question may or may not be counted yet, and so may a submit that has not returned.

    An answer that one thread has got may be seen after what another thread did meanwhile.
    """
    witnesses: list[int] = []
    threads = trace.mode == "threads"
    submitted: list[tuple[int, float]] = [(item.start.seq, item.began) for item in trace.submits]
    tolds = [(item.told_seq, item.told, item.kind) for item in trace.submits if item.outcome is not None]
    tolds.sort()
    at, told_at = 0, 0
    count: Counter[str] = Counter()
    for event in trace.stats:
        while told_at < len(tolds) and tolds[told_at][0] < event.seq:
            count[tolds[told_at][2]] += 1
            told_at += 1
        while at < len(submitted) and submitted[at][0] < event.seq:
            at += 1
        soon: Counter[str] = Counter()
        just: Counter[str] = Counter()
        for place in range(told_at - 1, -1, -1):
            if tolds[place][1] < event.at - trace.near:
                break
            just[tolds[place][2]] += 1
        for place in range(told_at, len(tolds)):
            if tolds[place][1] > event.at + trace.near:
                break
            soon[tolds[place][2]] += 1
        figures = _outcomes(event)
        for kind in sorted({*figures, *count}):
            if not count[kind] - just[kind] <= figures.get(kind, 0.0) <= count[kind] + soon[kind]:
                return breach(
                    f"the queue counts {figures.get(kind, 0.0):g} outcomes {kind}", [event], expected=str(count[kind]),
                    observed=f"{figures.get(kind, 0.0):g}",
                )  # fmt: skip
        returned = at - sum(
            1
            for item in trace.submits[max(0, at - 64) : at]
            if item.accepted is None
            or item.accepted.seq > event.seq
            or (threads and item.accepted.at >= event.at - trace.near)
        )
        claimed = number(event.data.get("submitted"))
        if not returned <= claimed <= at:
            return breach(f"the queue counts {claimed:g} submits", [event], expected=str(at), observed=f"{claimed:g}")
        witnesses.append(event.seq)
    return held(witnesses)


def _when(what: str, item: Submit | Attempt) -> float:
    if isinstance(item, Submit):
        return item.began if what == "submit" else item.told
    return item.began if what == "start" else item.ended


def _executing(trace: DispatchTrace) -> Finding:
    """Judged when nothing is under way, and nothing ended or started in that instant.

    Among threads nothing at all may have happened then: a worker may have an attempt in its hands that it has not begun.
    """
    witnesses: list[int] = []
    if not trace.stats:
        return held()
    running, last, at = 0, -1.0, 0
    threads = trace.mode == "threads"
    marks = [(seq, what, _when(what, item)) for seq, what, item in trace.steps if threads or what in ("start", "end")]
    for event in trace.stats:
        while at < len(marks) and marks[at][0] < event.seq:
            _, what, last = marks[at]
            running += {"start": 1, "end": -1}.get(what, 0)
            at += 1
        soon = at < len(marks) and marks[at][2] <= event.at + trace.near
        executing = event.data.get("executing")
        if running or soon or last >= event.at - trace.near or not isinstance(executing, int):
            continue
        if executing != 0:
            return breach(
                f"the queue counts {executing} executing calls while nothing is under way", [event], expected="0", observed=str(executing),
            )  # fmt: skip
        witnesses.append(event.seq)
    return held(witnesses)


INVARIANTS = (
    must("accounts_conserved", "accounts", _conserved, "SPEC 4 exactly one outcome", "At every step submitted == live + sum(outcomes), joiners counted."),
    must("accounts_agree", "accounts", _agree, "SPEC 4 metrics; D5, D62, D77", "The queue counts as many submits and outcomes of each kind as were seen."),
    must("accounts_executing", "accounts", _executing, "SPEC 4 metrics; D20, D38, D67", "When nothing is under way the queue counts no executing call."),
)  # fmt: skip
