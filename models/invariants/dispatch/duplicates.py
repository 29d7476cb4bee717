"""No duplicate write, judged by the server's own effect ledger (SPEC 5)."""

from __future__ import annotations

from ....harness.invariant import Invariant, Level
from ....harness.verdicts import Finding, held
from ...dispatch_trace import DispatchTrace, Operation
from ._judging import breach, call, each_queue
from .ledger import NEVER_HAPPENED


def _most(operation: Operation) -> int:
    """How many effects the submits of an operation can account for.

    One, if a key guards it. Otherwise a twin that is submitted after the first has ended is done again, so each submit that was not
    merged into another accounts for one.
    """
    if all(submit.key is not None for submit in operation.submits):
        return 1
    own = [submit for submit in operation.submits if submit.kind not in NEVER_HAPPENED and submit.kind != "merged"]
    return max(1, len(own))


def _no_duplicate(trace: DispatchTrace) -> Finding:
    witnesses = []
    guarded_only = trace.dialect.ambiguous == "resend"
    for operation in trace.operations.values():
        if not operation.effects or not operation.submits:
            continue
        first = operation.submits[0]
        if guarded_only and not first.guarded:
            continue
        effects, most = operation.effects, _most(operation)
        if len(effects) > most:
            return breach(
                f"was done {len(effects)} times", [first, *effects[: most + 1]], of=call(first),
                expected="one effect" if most == 1 else f"at most {most} effects, one a submit",
                observed=", ".join(f"{effect.op} at {effect.at:.6g} s" for effect in effects[: most + 1]),
            )  # fmt: skip
        if len(operation.submits) > 1 or len(operation.tries) > 1:
            witnesses.append(effects[0].seq)
    return held(witnesses)


INVARIANTS = (
    Invariant(
        id="dispatch.no_duplicate_write", level=Level.MUST, safety=True, check=each_queue(_no_duplicate), source="SPEC 5 no duplicate write; D71, D74, D82",
        expectation="One operation has one effect, whatever is joined, tried again or lost on the way.",
    ),
)  # fmt: skip
