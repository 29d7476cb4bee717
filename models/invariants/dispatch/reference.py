"""The queue against the reference model: the bench steps both, and writes down where they part (SPEC 5)."""

from __future__ import annotations

from ....harness.verdicts import Finding, held
from ...dispatch_trace import DispatchTrace, number
from ._judging import breach, must


def _follows(trace: DispatchTrace) -> Finding:
    witnesses = []
    for note in trace.notes:
        if note.data.get("what") != "model":
            continue
        if note.data.get("breach"):
            return breach(
                f"does what the model does not: {str(note.data['breach'])[:300]}", [note], expected="what the reference model allows",
                observed=str(note.data["breach"])[:300],
            )  # fmt: skip
        if number(note.data.get("steps"), 0.0) > 0:
            witnesses.append(note.seq)
    return held(witnesses)


INVARIANTS = (
    must("follows_model", "reference", _follows, "SPEC 4", "Each thing that the queue does is one that the reference model allows at that moment."),
)  # fmt: skip
