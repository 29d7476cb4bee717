"""Prerequisites: a bind is sent after they were applied; if one comes to nothing the bind fails, unsent (SPEC 4)."""

from __future__ import annotations

from collections import defaultdict

from ....harness.verdicts import Finding, held
from ...dispatch_trace import DONE, DispatchTrace, Operation, Submit
from ._judging import breach, call, must, seconds, told


def _needed(trace: DispatchTrace) -> dict[str, list[Operation]]:
    found: dict[str, dict[Operation, None]] = defaultdict(dict)
    for submit in trace.submits:
        if submit.prerequisite_of is not None:
            found[submit.prerequisite_of][submit.operation] = None
    return {uid: list(operations) for uid, operations in found.items()}


def _pairs(trace: DispatchTrace) -> list[tuple[Submit, list[Operation]]]:
    """Each bind with the prerequisites that were live when it was submitted, in its own context."""
    needed = _needed(trace)
    found = []
    for bind in trace.submits:
        if bind.type != "bind" or bind.uid not in needed:
            continue
        mine = [
            operation
            for operation in needed[bind.uid]
            if operation is not bind.operation  # calls that share an operation can't be told apart
            and any(
                item.live_at(bind.start.seq) and (item.context, item.prerequisite_of) == (bind.context, bind.uid)
                for item in operation.submits
            )
        ]
        if mine:
            found.append((bind, mine))
    return found


def _done_seq(operation: Operation) -> int | None:
    """Where it was first known to be done."""
    places = [effect.seq for effect in operation.effects[:1]]
    places += [item.end_seq for item in operation.tries if item.verdict == "ok"]
    places += [item.told_seq for item in operation.submits if item.final in DONE]
    return min(places, default=None)


def _before_bind(trace: DispatchTrace) -> Finding:
    witnesses = []
    for bind, needed in _pairs(trace):
        first = next((item for item in bind.operation.tries if item.start.seq > bind.start.seq), None)
        if first is None or bind.operation.sent_seq < bind.start.seq:
            continue
        for operation in needed:
            done = _done_seq(operation)
            if done is None or done > first.start.seq:
                return breach(
                    f"was sent before its prerequisite {call(operation.submits[0])} was applied", [operation.submits[0], bind, first],
                    of=call(bind), expected="the prerequisite applied first", observed=f"{first.op} at {seconds(first.began)}",
                )  # fmt: skip
        witnesses.append(first.start.seq)
    return held(witnesses)


def _failed_with_it(trace: DispatchTrace) -> Finding:
    witnesses = []
    for bind, needed in _pairs(trace):
        for operation in needed:
            tolds = [item.outcome for item in operation.submits if item.outcome is not None]
            if len(tolds) < len(operation.submits) or _done_seq(operation) is not None:
                continue
            lost = max(tolds, key=lambda event: event.seq)
            if not bind.live_at(lost.seq):
                continue
            if bind.final in DONE or (bind.outcome is not None and bind.told > lost.at + trace.near):
                return breach(
                    f"went on though its prerequisite {call(operation.submits[0])} came to nothing", [operation.submits[0], bind, lost, bind.outcome],
                    of=call(bind), expected=f"failed (prerequisite) at {seconds(lost.at)}", observed=told(bind),
                )  # fmt: skip
            if bind.outcome is None:
                if trace.settled is None:
                    continue
                return breach(
                    f"is left over though its prerequisite {call(operation.submits[0])} came to nothing", [bind, lost],
                    of=call(bind), expected="failed (prerequisite)", observed="no outcome",
                )  # fmt: skip
            witnesses.append(bind.told_seq)
    return held(witnesses)


def _has(dialect: object) -> bool:
    return bool(getattr(dialect, "prerequisites", False))


INVARIANTS = (
    must("prerequisite_first", "prerequisites", _before_bind, "SPEC 4 order on an object", "A bind is sent only after its prerequisites were applied.", _has),
    must(
        "prerequisite_failed", "prerequisites", _failed_with_it, "SPEC 4 order on an object; D10",
        "If a prerequisite settles unapplied or unknown, its bind ends at once, unsent.", _has,
    ),
)  # fmt: skip
