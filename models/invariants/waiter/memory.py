"""Memory: what is kept does not grow with the number of polls (SPEC 5; R1)."""

from __future__ import annotations

from ....harness import events
from ....harness.history import History
from ....harness.invariant import Invariant, Level
from ....harness.verdicts import Finding, held, violated
from ...event_data import number

ENOUGH_FETCHES = 50
MOST_BODIES = 16
"""The last answer, the one before, and what a client and its pool may hold: far from one for each fetch."""


def _bounded_memory(history: History) -> Finding:
    seen = []
    for event in history.of_kind(events.BENCH_NOTE):
        if event.data.get("what") != "memory":
            continue
        fetches, kept = number(event.data.get("fetches"), 0.0), number(event.data.get("bodies_kept"), 0.0)
        if kept > MOST_BODIES:
            return violated(
                f"after {fetches:g} fetches {kept:g} answers are still in memory", events=(event.seq,),
                expected=f"at most {MOST_BODIES}, however many fetches", observed=f"{kept:g}",
            )  # fmt: skip
        if fetches >= ENOUGH_FETCHES:
            seen.append(event.seq)
    return held(seen)


INVARIANTS = (
    Invariant(
        id="waiter.bounded_memory", level=Level.MUST, claim="bounded_memory", check=_bounded_memory, source="SPEC 5 bounded memory",
        expectation="The number of answers kept in memory does not grow with the number of fetches.",
    ),
)  # fmt: skip
