"""The queue against the reference model: where it does what the model does not allow (SPEC 5)."""

from __future__ import annotations

from ....harness import queue_events as ev
from ....harness.history import History
from ....harness.invariant import Invariant, Level
from ....harness.verdicts import Finding, held
from ...queue_following import followed
from ._judging import breach


def _follows(history: History) -> Finding:
    found = followed(history)
    if found.breach is not None:
        shown = [event for event in history if event.seq == found.breach.seq]
        return breach(
            f"does what the model does not: {str(found.breach)[:300]}", shown,
            expected=("; ".join(found.breach.allowed) or found.breach.expected)[:300], observed=str(found.breach)[:300],
        )  # fmt: skip
    steps = [event.seq for event in history.of_kind(ev.CALL_OUTCOME, ev.ATTEMPT_START) if event.seq <= found.last]
    return held(steps)


INVARIANTS = (
    Invariant(
        id="dispatch.follows_model", level=Level.MUST, claim="reference", check=_follows, source="SPEC 4",
        expectation="Each thing that the queue does is one that the reference model allows at that moment.",
    ),
)  # fmt: skip
