"""Bounded memory: finished calls and their payloads are let go (SPEC 5)."""

from __future__ import annotations

from ....harness.verdicts import Finding, held
from ...dispatch_trace import DispatchTrace
from ...event_data import number
from ._judging import breach, must


def _memory(trace: DispatchTrace) -> Finding:
    witnesses = []
    for note in trace.notes:
        if note.data.get("what") != "memory" or "kept" not in note.data:
            continue
        kept, live = number(note.data.get("kept"), 0.0), number(note.data.get("live"), 0.0)
        if kept > live:
            return breach(
                f"{kept:g} payloads are kept for {live:g} live calls", [note], expected=f"at most {live:g}", observed=f"{kept:g}",
            )  # fmt: skip
        witnesses.append(note.seq)
    return held(witnesses)


INVARIANTS = (
    must("memory", "bounded_memory", _memory, "SPEC 4 call; SPEC 5 bounded memory; D52, D58", "The payload of a call is let go once its outcome has been told."),
)  # fmt: skip
