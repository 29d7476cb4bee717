"""No stale bind: none sent for a context or an object that the queue knew to be gone, none on another object (SPEC 5)."""

from __future__ import annotations

from ....harness.invariant import Invariant, Level
from ....harness.verdicts import Finding, held
from ...dispatch_trace import DispatchTrace, first_of
from ._judging import breach, call, each_queue, seconds


def _no_stale_bind(trace: DispatchTrace) -> Finding:
    """Strictly later only: in the instant of the word the bind may have been on its way already."""
    witnesses = []
    for operation in trace.operations.values():
        if not operation.submits or operation.submits[0].type != "bind":
            continue
        for attempt in operation.tries:
            askers = [submit for submit in operation.submits if submit.start.seq < attempt.start.seq]
            gone = [first_of(trace.context_ended(submit), trace.object_deleted(submit)) for submit in askers]
            if not gone or any(word is None for word in gone):
                continue
            word = max((item for item in gone if item is not None), key=lambda item: item.seq)
            if attempt.began > word.at + trace.near:
                return breach(
                    "a stale bind was sent", [askers[0], word, attempt], of=call(askers[0]),
                    expected=f"nothing sent after {seconds(word.at)}, when the queue was told ({word.kind})",
                    observed=f"{attempt.op} at {seconds(attempt.began)}",
                )  # fmt: skip
        words = [first_of(trace.context_ended(submit), trace.object_deleted(submit)) for submit in operation.submits]
        witnesses += [word.seq for word in words if word is not None]
    return held(witnesses)


def _right_object(trace: DispatchTrace) -> Finding:
    witnesses = []
    for operation in trace.operations.values():
        wanted = {submit.only_uid for submit in operation.submits} or {None}
        if not operation.effects or None in wanted or not operation.submits[0].rank:
            continue
        for effect in operation.effects:
            if effect.data.get("uid") not in wanted:
                return breach(
                    "changed another object of that name", [operation.submits[0], effect], of=call(operation.submits[0]),
                    expected=f"an effect on {' or '.join(sorted(str(uid) for uid in wanted))} only",
                    observed=f"an effect on {effect.data.get('uid')}",
                )  # fmt: skip
            witnesses.append(effect.seq)
    return held(witnesses)


INVARIANTS = (
    Invariant(
        id="dispatch.no_stale_bind", level=Level.MUST, safety=True, check=each_queue(_no_stale_bind), source="SPEC 5 no stale bind; D14",
        expectation="No bind is sent after the queue was told that its context is over or its object is gone.",
        possible=lambda dialect: dialect.contexts,
    ),
    Invariant(
        id="dispatch.right_object", level=Level.MUST, safety=True, check=each_queue(_right_object), source="SPEC 5 an effect on another UID; D14, D15, D21",
        expectation="A call that names the UID of its object never changes another object of the same name.",
    ),
)  # fmt: skip
