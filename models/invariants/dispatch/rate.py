"""The quota: in any window t at most burst + QPS·t attempts start (SPEC 4)."""

from __future__ import annotations

import math

from ....harness.invariant import Invariant, Level
from ....harness.verdicts import Finding, held
from ...dispatch_trace import NEVER, Attempt, DispatchTrace
from ._judging import breach, each_queue, seconds


def _rate(trace: DispatchTrace) -> Finding:
    """Windows that reach over a change of the quota are left out: how full the bucket is then is the queue's own choice.

    What is seen to start in the instant of a change may have been let through before it: as many attempts as there are workers.
    """
    witnesses: list[int] = []
    at, attempts = 0, trace.attempts
    for number, (_, qps, burst) in enumerate(trace.rates):
        after = trace.rates[number + 1][0] if number + 1 < len(trace.rates) else None
        until = after.seq if after is not None else NEVER
        changed = trace.rates[number][0]
        let_through = trace.config.workers if changed is not None else 0
        least, since, count = math.inf, None, 0
        while at < len(attempts) and attempts[at].start.seq < until:
            attempt = attempts[at]
            at += 1
            if not math.isfinite(qps):
                continue
            if let_through and changed is not None and attempt.began <= changed.at + trace.near:
                let_through -= 1
                continue
            credit = count - qps * attempt.began  # falls as time passes, rises with each start
            if credit < least:
                least, since = credit, attempt
            count += 1
            allowed = burst + qps * trace.near + 1e-6
            if credit - least + 1 > allowed and since is not None:
                return _too_many(attempts, since, attempt, qps, burst)
            witnesses.append(attempt.start.seq)
    return held(witnesses)


def _too_many(attempts: list[Attempt], since: Attempt, last: Attempt, qps: float, burst: float) -> Finding:
    window = last.began - since.began
    count = sum(1 for item in attempts if since.start.seq <= item.start.seq <= last.start.seq)
    return breach(
        f"{count} attempts started within {seconds(window)}", [since, last],
        expected=f"at most {burst:g} + {qps:g} · {window:.6g} = {burst + qps * window:.6g}", observed=str(count),
    )  # fmt: skip


INVARIANTS = (
    Invariant(
        id="dispatch.rate", level=Level.MUST, safety=True, check=each_queue(_rate), source="SPEC 4 eligible; D61, D105",
        expectation="In any window of t seconds at most burst + QPS·t attempts start, retries and read-backs included.",
        possible=lambda dialect: dialect.rate,
    ),
)  # fmt: skip
