"""Tokens, slots and leases all come back: after everything has settled, plain reads run at once (SPEC 5)."""

from __future__ import annotations

import math

from ....harness.verdicts import Finding, held
from ...dispatch_trace import DispatchTrace
from ...event_data import number
from ._judging import breach, must, seconds


def _tokens(trace: DispatchTrace, at: float, before: int) -> float:
    """How many tokens a full bucket must hold by now, however it counts: the burst, less what started within the time it takes to fill."""
    _, qps, burst = trace.rates[-1]
    if not trace.dialect.rate or math.isinf(qps):
        return math.inf
    if qps <= 0:
        return 0.0
    used = sum(
        1 for item in reversed(trace.attempts) if item.start.seq < before and item.began > at - (burst + 1) / qps
    )
    changed = trace.rates[-1][0]
    if changed is not None and changed.at > at - (burst + 1) / qps:
        return 0.0
    return burst - used


def _probe(trace: DispatchTrace) -> Finding:
    witnesses = []
    for event in trace.probes:
        ops = event.data.get("ops")
        submits = [trace.by_op[str(op)] for op in ops if str(op) in trace.by_op] if isinstance(ops, list) else []
        lasts = number(event.data.get("seconds"), 0.0)
        if not submits or trace.closed_seq < max(submit.start.seq for submit in submits):
            continue
        begin = submits[0].start
        streak = trace.config.breaker_failures and any(
            item.verdict != "ok" for item in trace.attempts[-8 - len(submits) :]
        )
        shared = trace.dialect.shares and submits[0].plugin in trace.config.shares
        if streak or shared or any(item.end is None and item.start.seq < begin.seq for item in trace.attempts):
            continue
        live = sum(1 for item in trace.submits if item.live_at(begin.seq))
        wanted = min(
            len(submits), trace.config.workers, trace.config.capacity - live, _tokens(trace, begin.at, begin.seq)
        )
        if wanted < 1 or live:
            continue
        started = [item.operation.first for item in submits if item.operation.first is not None]
        at_once = [item for item in started if item.began <= begin.at + trace.slack]
        if (
            trace.last is not None
            and trace.last.at <= begin.at + trace.near
            and len(at_once) < wanted
            and trace.stop is not None
        ):
            continue  # the bench ended the run in that instant
        if len(at_once) < wanted:
            return breach(
                f"{len(at_once)} of {len(submits)} plain reads ran at once after everything had settled", [event, *submits[:1], *at_once[-1:]],
                expected=f"{wanted:g}: {trace.config.workers} workers, and every slot, token and lease back",
                observed=f"{len(at_once)} at {seconds(begin.at)}; each takes {seconds(lasts)}",
            )  # fmt: skip
        witnesses += [item.start.seq for item in at_once]
    return held(witnesses)


INVARIANTS = (
    must(
        "conserved", "conservation", _probe, "SPEC 5 tokens, slots and leases conserved; D67, D87, D98, D107",
        "After everything has settled as many calls run at once as there are workers and tokens.",
    ),
)  # fmt: skip
