"""What is sent is the payload as it was at the submit, whatever the caller does to its own copy (SPEC 4)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ....harness.verdicts import Finding, held
from ...dispatch_trace import DispatchTrace
from ._judging import breach, call, must


def _plain(payload: Any) -> Any:
    """Without the bench's own marks."""
    if isinstance(payload, Mapping):
        return {name: value for name, value in payload.items() if name not in ("operation", "mark")}
    return payload


def _snapshot(trace: DispatchTrace) -> Finding:
    witnesses = []
    newest = trace.dialect.coalescing == "newest"
    for attempt in trace.attempts:
        submits = [item for item in attempt.operation.submits if item.start.seq < attempt.start.seq]
        if attempt.back or not submits or not submits[0].writes or newest:
            continue
        mutated = [
            item.mutated for item in submits if item.mutated is not None and item.mutated.seq < attempt.start.seq
        ]
        sent = _plain(attempt.start.data.get("payload"))
        if not any(_plain(item.payload) == sent for item in submits):
            return breach(
                f"{attempt.op} sends another payload than was submitted", [submits[0], *mutated[:1], attempt], of=call(submits[0]),
                expected=repr(_plain(submits[0].payload))[:200], observed=repr(sent)[:200],
            )  # fmt: skip
        if mutated:
            witnesses.append(attempt.start.seq)
    return held(witnesses)


INVARIANTS = (
    must(
        "snapshot", "snapshot", _snapshot, "SPEC 4 call; D25", "What is sent is the payload as it was at the submit.",
        lambda dialect: dialect.snapshots,
    ),
)  # fmt: skip
