"""The bounds that a dispatch queue prints beside the worst that a history shows: W, the longest wait, and B, the most overtakes.

Seen is what the checkers of ``dispatch.wait_bounded`` and ``dispatch.overtakes_bounded`` look at: the spans in which a call surely could
have run (:mod:`~waitproof.models.dispatch_waiting`). A run in whose course the quota was changed is left out: its bounds mean nothing then.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Mapping
from typing import Any

from ..harness.figures import Figure
from ..harness.history import History
from .dispatch_trace import DispatchTrace, traces
from .dispatch_waiting import waiting


def figures(history: History) -> tuple[Figure, ...]:
    """W and B of every queue in a history, for those in which some call surely waited. A pure function of the history."""
    return tuple(figure for trace in traces(history) for figure in _of(trace))


def _of(trace: DispatchTrace) -> tuple[Figure, ...]:
    if len(trace.rates) != 1:
        return ()
    waits = [wait for wait in waiting(trace).waits if wait.from_start]
    if not waits:
        return ()
    firsts = [one for one in trace.attempts if one.index == 0 and not one.back and one.operation.submits]
    starts = [one.start.seq for one in firsts]
    owners = [one.operation.submits[0].start.seq for one in firsts]
    overtaken = 0
    for wait in waits:
        low, high = bisect_right(starts, wait.since_seq), bisect_left(starts, wait.until_seq)
        mine = wait.operation.submits[0].start.seq
        overtaken = max(overtaken, sum(1 for owner in owners[low:high] if owner > mine))
    data: Mapping[str, Any] = trace.opened.data if trace.opened is not None else {}
    printed = data.get("bounds")
    why = str(printed.get("why", "")) if isinstance(printed, Mapping) else ""
    longest = max((wait.length for wait in waits if math.isfinite(wait.length)), default=0.0)
    return (
        Figure(name="W: wait", seen=longest, bound=trace.bounds.get("wait", math.inf), unit="s", why=why),
        Figure(name="B: overtakes", seen=float(overtaken), bound=trace.bounds.get("overtakes", math.inf), why=why),
    )
