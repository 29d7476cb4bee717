"""Superseding: downwards only, after the survivor was applied; until then what it will replace is withheld (SPEC 4)."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict

from ....harness.verdicts import Finding, held
from ...dispatch_relevance import outranks
from ...dispatch_trace import DONE, DispatchTrace, Operation, Submit
from ._company import Company
from ._judging import breach, call, must, told


def _rivals(trace: DispatchTrace) -> dict[str, list[Submit]]:
    found: dict[str, list[Submit]] = defaultdict(list)
    for submit in trace.submits:
        if submit.rank:
            found[submit.uid].append(submit)
    return found


def _beside(one: Submit, other: Submit) -> bool:
    return one.start.seq < other.told_seq and other.start.seq <= one.told_seq


def _superseded(trace: DispatchTrace) -> list[Submit]:
    return [submit for submit in trace.submits if submit.final == "superseded" and submit.outcome is not None]


def _downwards(trace: DispatchTrace) -> Finding:
    superseded, witnesses = _superseded(trace), []
    rivals = _rivals(trace) if superseded else {}
    for submit in superseded:
        others = rivals.get(submit.uid, [])
        if not any(outranks(other, submit) and _beside(submit, other) for other in _near(others, submit)):
            return breach(
                "was superseded though nothing more relevant or newer was there", [submit, submit.outcome], of=call(submit),
                expected="a survivor: delete or preempt before bind before patch, or a later generation of the same intent",
                observed=told(submit),
            )  # fmt: skip
        witnesses.append(submit.told_seq)
    return held(witnesses)


def _near(others: list[Submit], submit: Submit) -> list[Submit]:
    """Those submitted before the outcome, latest first; most often one of the first few is the survivor."""
    at = bisect_right(others, submit.told_seq, key=lambda item: item.start.seq)
    return others[:at][::-1]


def _applied_before(operation: Operation, since: int, until: int) -> bool:
    if any(since < effect.seq < until for effect in operation.effects):
        return True
    if any(attempt.verdict == "ok" and since < attempt.end_seq < until for attempt in operation.tries):
        return True
    return any(item.final in DONE and since < item.told_seq and item.told_seq <= until for item in operation.submits)


def _after_survivor(trace: DispatchTrace) -> Finding:
    superseded, witnesses = _superseded(trace), []
    rivals = _rivals(trace) if superseded else {}
    for submit in superseded:
        above = [other for other in _near(rivals.get(submit.uid, []), submit) if outranks(other, submit)]
        if not above:
            continue  # that is for superseded_downwards
        # The survivor's own outcome may be told in the same turn, right after.
        grace = (
            submit.told_seq
            if not any(other.told <= submit.told + trace.near for other in above)
            else submit.told_seq + 64
        )
        if not any(_applied_before(other.operation, submit.start.seq, grace) for other in above):
            return breach(
                "was told superseded before its survivor had been applied", [submit, above[0], submit.outcome], of=call(submit),
                expected=f"withheld until {above[0].op} is applied", observed=f"{told(submit)}; {above[0].op}: {told(above[0])}",
            )  # fmt: skip
        witnesses.append(submit.told_seq)
    return held(witnesses)


def _withheld(trace: DispatchTrace) -> Finding:
    witnesses = []
    for operations in trace.objects().values():
        if len(operations) < 2:
            continue
        company = Company(operations)
        for operation in operations:
            first, submit = operation.first, operation.submits[0]
            if first is None or submit.prerequisite_of is not None:
                continue
            if company.above(submit.rank, first.began - trace.near, first.start.seq):
                other = _who(operations, submit, first.began - trace.near, first.start.seq, first.began + trace.near)
                if other is None:
                    continue
                return breach(
                    f"was sent though {call(other)} supersedes it", [submit, other, first], of=call(submit),
                    expected=f"withheld while {other.op} is live", observed=f"{first.op} at {first.began:.6g} s",
                )  # fmt: skip
            if submit.rank < 3 and company.beside(submit.rank + 1, submit.start.seq, first.start.seq) > 0:
                witnesses.append(first.start.seq)
        witnesses += [
            item.start.seq for operation in operations for item in operation.submits[:1] if not operation.tries and item.final == "superseded"
        ]  # fmt: skip
    return held(witnesses)


def _who(operations: list[Operation], submit: Submit, at: float, seq: int, late: float) -> Submit | None:
    for operation in operations:
        for other in operation.submits:
            if outranks(other, submit) and other.began < at and other.live_at(seq) and other.told > late:
                return other
    return None


def _survivor_unknown(trace: DispatchTrace) -> Finding:
    """What was withheld behind a survivor that ended unknown is given back for recomputation, and never sent."""
    witnesses = []
    lost = [
        item
        for item in trace.submits
        if item.rank and item.final == "unknown" and item.operation.alone and item.operation.tries
    ]
    rivals = _rivals(trace) if lost else {}
    for survivor in lost:
        for submit in _near(rivals.get(survivor.uid, []), survivor)[:64]:
            behind = submit.live_at(survivor.told_seq) and outranks(survivor, submit) and submit.operation.alone
            first = submit.operation.first
            if not behind or submit.start.seq > survivor.operation.sent_seq:
                continue
            if first is not None and first.start.seq > survivor.told_seq:
                return breach(
                    f"was sent after {survivor.op}, which would supersede it, had ended unknown", [submit, survivor, survivor.outcome, first],
                    of=call(submit), expected="failed (survivor): recompute", observed=told(submit),
                )  # fmt: skip
            if first is None and submit.outcome is not None:
                witnesses.append(submit.told_seq)
    return held(witnesses)


def _supersedes(dialect: object) -> bool:
    return bool(getattr(dialect, "supersedes", False))


INVARIANTS = (
    must(
        "superseded_downwards", "superseding", _downwards, "SPEC 4 two orders",
        "Only a more relevant write to the same pod, or a later generation of the same intent, supersedes; a bind never its own prerequisite.", _supersedes,
    ),
    must(
        "superseded_after_survivor", "superseding", _after_survivor, "SPEC 4 superseding; D5",
        "A call is told superseded only once its survivor has been applied.", _supersedes,
    ),
    must("withheld", "superseding", _withheld, "SPEC 4 superseding; D11", "A call is not first sent while one that supersedes it is live.", _supersedes),
    must(
        "survivor_unknown", "superseding", _survivor_unknown, "SPEC 4 superseding",
        "What was withheld behind a survivor that ended unknown is not sent: its submitter recomputes.", _supersedes,
    ),
)  # fmt: skip
