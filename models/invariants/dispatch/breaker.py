"""The breaker opens, lets leased probes through, closes again, and never wedges (SPEC 4, 'Circuit breaker').

One careful reading of what it must be: results that another make of breaker may count otherwise (permanent answers, attempts that were
cancelled or began before the last change) leave it unsure, and nothing is judged while it is.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from ....harness.verdicts import Finding, held
from ... import dispatch_errors as table
from ...dispatch_trace import Attempt, DispatchTrace, Submit
from ._judging import breach, call, must, seconds, told


@dataclass(slots=True)
class _Breaker:
    """``state``: closed, open, half, unsure. ``spans``: when it must have been open (from, until, the failure that opened it)."""

    state: str = "closed"
    streak: int = 0
    since: int = -1
    opened: float = -math.inf
    probes: list[Attempt] = field(default_factory=list)
    spans: list[tuple[float, float, Attempt]] = field(default_factory=list)


def _walk(trace: DispatchTrace, limit: int) -> tuple[_Breaker, list[tuple[Attempt, list[Attempt]]]]:
    """The breaker's spans, and each attempt that started while it was half-open with the probes that were under way then."""
    breaker, probing = _Breaker(), []
    wait = trace.config.breaker_open
    for seq, what, item in trace.steps:
        if not isinstance(item, Attempt):
            continue
        at = item.began if what == "start" else item.ended
        if item.back:  # whether read-backs count is the breaker's own choice; an answer may close it
            if what == "end" and item.transient:
                breaker.opened = max(breaker.opened, at) if breaker.state == "open" else breaker.opened
            elif what == "end" and item.verdict != table.CANCELLED and breaker.state != "unsure":
                breaker.state, breaker.streak, breaker.since = "closed", 0, seq
            continue
        if breaker.state == "open" and at >= breaker.opened + wait - trace.near:
            breaker.state, breaker.probes = "half", []
        if what == "start":
            if breaker.state == "half":
                breaker.probes = [probe for probe in breaker.probes if probe.end_seq > seq]
                probing.append((item, list(breaker.probes)))
                breaker.probes.append(item)
            continue
        fresh = item.start.seq > breaker.since
        if breaker.state == "unsure" and not (item.verdict == table.OK and fresh):
            continue  # until something that was sent since then succeeds
        if item.verdict == table.OK:
            breaker.state, breaker.streak, breaker.since = "closed", 0, seq
        elif item.verdict == table.CANCELLED and fresh and breaker.state == "closed":
            breaker.state, breaker.streak, breaker.since = "unsure", 0, seq  # it may count as a failure, and open it
        elif not item.transient:
            breaker.streak = 0
            if breaker.state == "half" and item.verdict != table.CANCELLED:
                breaker.state, breaker.since = "closed", seq  # an answer is an answer
        elif breaker.state == "half" and fresh:
            _open(breaker, at, wait, item, seq)
        elif breaker.state == "closed" and fresh:
            breaker.streak += 1
            if breaker.streak >= limit:
                _open(breaker, at, wait, item, seq)
        elif breaker.state == "open":
            breaker.opened = max(breaker.opened, at)
    return breaker, probing


def _open(breaker: _Breaker, at: float, wait: float, by: Attempt, seq: int) -> None:
    breaker.state, breaker.opened, breaker.since, breaker.streak = "open", at, seq, 0
    breaker.spans.append((at, at + wait, by))


def _closed_in(trace: DispatchTrace, since: float, until: float) -> float:
    """A success of an attempt from before may close it in some makes; from then on nothing is sure. One that was sent while it was open is
    no excuse for having been sent, nor for others."""
    ends = [
        item.ended
        for item in trace.attempts
        if item.verdict == table.OK and item.began <= since + trace.near and since <= item.ended < until
    ]
    return min(ends, default=until)


def _stops(trace: DispatchTrace) -> Finding:
    limit, witnesses = trace.config.breaker_failures, []
    if not limit:
        return held()
    breaker, _ = _walk(trace, limit)
    at, attempts = 0, trace.attempts
    for since, planned, by in breaker.spans:
        until = _closed_in(trace, since, planned)
        while at < len(attempts) and attempts[at].began <= since + trace.near:
            at += 1
        here = at
        while here < len(attempts) and attempts[here].began < until - trace.near:
            if not attempts[here].back:
                return breach(
                    f"{attempts[here].op} was sent while the breaker must have been open", [by.end, attempts[here]],
                    expected=f"nothing sent from {seconds(since)} to {seconds(planned)}", observed=seconds(attempts[here].began),
                )  # fmt: skip
            here += 1
        witnesses.append(by.end_seq)
    return held(witnesses)


def _refuses(trace: DispatchTrace) -> Finding:
    limit, witnesses = trace.config.breaker_failures, []
    if not limit:
        return held()
    breaker, _ = _walk(trace, limit)
    uids: dict[str, list[Submit]] = {}
    spans, at = breaker.spans, 0
    for submit in trace.submits:
        before = uids[submit.uid] = [item for item in uids.get(submit.uid, []) if item.told_seq > submit.start.seq]
        before.append(submit)
        while at < len(spans) and spans[at][1] <= submit.began:
            at += 1
        if at >= len(spans) or len(before) > 1:
            continue
        since, planned, by = spans[at]
        until = _closed_in(trace, since, planned)
        if not since + trace.near < submit.began < until - trace.near or (
            submit.accepted is None and submit.outcome is None
        ):
            continue
        if (
            submit.kind not in ("breaker_open", "refused", "expired", "closed")
            or submit.told > submit.began + trace.near
        ):
            return breach(
                "was taken in while the breaker must have been open", [by.end, submit, submit.outcome], of=call(submit),
                expected="breaker_open at once", observed=told(submit),
            )  # fmt: skip
        witnesses.append(submit.start.seq)
    return held(witnesses)


def _probes(trace: DispatchTrace) -> Finding:
    limit, witnesses = trace.config.breaker_failures, []
    if not limit:
        return held()
    _, probing = _walk(trace, limit)
    for attempt, others in probing:
        if len(others) + 1 > trace.config.breaker_probes:
            return breach(
                f"{len(others) + 1} probes under way while half-open", [*others, attempt],
                expected=f"at most {trace.config.breaker_probes}", observed=f"{attempt.op} at {seconds(attempt.began)}",
            )  # fmt: skip
        witnesses.append(attempt.start.seq)
    return held(witnesses)


def _for_a_reason(trace: DispatchTrace) -> Finding:
    """Never told before there were failures enough, nor when the breaker must have half-opened and nothing is under way."""
    limit, witnesses = trace.config.breaker_failures, []
    failures, running, last = 0, 0, -math.inf
    for seq, what, item in trace.steps:
        if isinstance(item, Attempt):
            running += 1 if what == "start" else -1
            if what == "end":
                last = item.ended if item.verdict != table.OK else last
                failures += item.transient or item.verdict in (table.CANCELLED, table.ODD)
            continue
        if what != "told" or item.kind != "breaker_open":
            continue
        if not limit or failures < limit:
            return breach(
                f"was told breaker open after {failures} failures", [item, item.outcome], of=call(item),
                expected=f"{limit} transient failures in a row first" if limit else "no breaker at all", observed=told(item),
            )  # fmt: skip
        if not running and item.began > last + trace.config.breaker_open + trace.slack:
            return breach(
                "was told breaker open though it must have half-opened", [item, item.outcome], of=call(item),
                expected=f"a probe from {seconds(last + trace.config.breaker_open)} on: nothing is under way", observed=told(item),
            )  # fmt: skip
        witnesses.append(seq)
    return held(witnesses)


def _has(dialect: object) -> bool:
    return bool(getattr(dialect, "breaker", False))


INVARIANTS = (
    must("breaker_stops", "breaker", _stops, "SPEC 4 circuit breaker", "After so many transient failures in a row nothing is sent while the breaker is open.", _has),
    must("breaker_refuses", "breaker", _refuses, "SPEC 4 submit", "A submit while the breaker is open is told so at once.", _has),
    must("breaker_probes", "breaker", _probes, "SPEC 4 circuit breaker; D104", "While half-open no more probes are under way than configured.", _has),
    must(
        "breaker_for_a_reason", "breaker", _for_a_reason, "SPEC 4 circuit breaker",
        "The breaker is open only after failures enough, and half-opens when its time is over: it never wedges.", _has,
    ),
)  # fmt: skip
