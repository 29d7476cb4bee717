"""Coalescing joins twins only, sends them once, and tells each what really became of the call (SPEC 4)."""

from __future__ import annotations

from ....harness.verdicts import Finding, held
from ...dispatch_relevance import twins
from ...dispatch_trace import NEVER, DispatchTrace, Submit
from ...dispatch_waiting import waiting
from ._judging import breach, call, must, seconds, told


def _only_twins(trace: DispatchTrace) -> Finding:
    witnesses = []
    alike: dict[tuple[str, str, str], list[Submit]] = {}
    newest = trace.dialect.coalescing == "newest"
    for submit in trace.submits:
        group = alike.setdefault((submit.uid, submit.type, submit.target), [])
        group.append(submit)
    for submit in trace.submits:
        if submit.kind != "merged" or submit.outcome is None:
            continue
        others = submit.operation.submits if not newest else alike[submit.uid, submit.type, submit.target]
        if not any(_beside(submit, other) and (newest or twins(submit, other)) for other in others):
            return breach(
                "was merged though nothing like it was live", [submit, submit.outcome], of=call(submit),
                expected="a twin: same object, type, target, key, context and precondition"
                if not newest else "another state of the same object and target",
                observed=told(submit),
            )  # fmt: skip
        witnesses.append(submit.outcome.seq)
    return held(witnesses)


def _beside(one: Submit, other: Submit) -> bool:
    return one is not other and one.start.seq < other.told_seq and other.start.seq < one.told_seq


def _real_outcome(trace: DispatchTrace) -> Finding:
    witnesses = []
    for operation in trace.operations.values():
        if len(operation.submits) < 2:
            continue
        leaders = [
            item
            for item in operation.submits
            if item.kind not in ("", "merged", "cancelled", "expired", "stale", "refused")
        ]
        for submit in operation.submits:
            if submit.kind != "merged" or submit.outcome is None:
                continue
            kinds = {
                item.kind for item in leaders if abs(item.told - submit.told) <= trace.near and _beside(item, submit)
            }
            if kinds and submit.own not in kinds:
                return breach(
                    "was told another outcome than the call that it joined", [submit, *leaders[:1], submit.outcome], of=call(submit),
                    expected=f"merged ({' or '.join(sorted(kinds))})", observed=told(submit),
                )  # fmt: skip
            witnesses.append(submit.outcome.seq)
    return held(witnesses)


def _returned(submit: Submit) -> int:
    """Where a submit had surely been taken in: among threads it may be made while something else goes on."""
    return submit.accepted.seq if submit.accepted is not None else NEVER


def _sent_once(trace: DispatchTrace) -> Finding:
    witnesses = []
    for operation in trace.operations.values():
        first, *others = operation.submits or (None,)
        if first is None or not others or not first.writes or not all(twins(first, other) for other in others):
            continue
        done = None
        for attempt in operation.tries:
            if done is not None and done.end_seq < attempt.start.seq:
                later = [
                    item
                    for item in operation.submits
                    if item.told_seq > done.end_seq and _returned(item) > done.end_seq
                ]
                if not later or later[0].start.seq > attempt.start.seq:
                    return breach(
                        "twins were sent again after one had been applied", [operation.submits[0], done, attempt],
                        of=call(operation.submits[0]), expected="one attempt that does it, for all who joined",
                        observed=f"{attempt.op} at {seconds(attempt.began)} after {done.op} was answered {done.status}",
                    )  # fmt: skip
                done = None
            if attempt.verdict == "ok":
                done = attempt
                joined = [item for item in operation.submits if item.start.seq < attempt.end_seq < item.told_seq]
                if len(joined) > 1:
                    witnesses.append(attempt.start.seq)
    return held(witnesses)


def _lives_on(trace: DispatchTrace) -> Finding:
    witnesses = []
    for operation in trace.operations.values():
        if len(operation.submits) < 2:
            continue
        left = [
            item for item in operation.submits if item.kind in ("cancelled", "expired") and item.outcome is not None
        ]
        for submit in operation.submits:
            gone = [item for item in left if item is not submit and submit.live_at(item.told_seq)]
            if not gone or submit.outcome is None:
                continue
            over = trace.over(submit)
            own = (over is not None and over.seq < submit.told_seq) or submit.deadline <= submit.told + trace.near
            if submit.final in ("cancelled", "expired") and not own:
                return breach(
                    f"was given up because {gone[0].op} was", [submit, gone[0], submit.outcome], of=call(submit),
                    expected="the call lives while one joiner lives", observed=told(submit),
                )  # fmt: skip
            witnesses.append(submit.outcome.seq)
    return held(witnesses)


def _joined_priority(trace: DispatchTrace) -> Finding:
    found = waiting(trace)
    for wrong in found.wrong:
        if len(wrong.instead.operation.submits) > 1:
            return breach(
                f"{wrong.attempt.op} was sent before {call(wrong.instead)}, whose joiners make it more urgent",
                [wrong.instead, wrong.attempt], expected="the priority of a call is the highest of its joiners, its age the oldest",
                observed=f"{wrong.attempt.op} at {seconds(wrong.attempt.began)}",
            )  # fmt: skip
    return held(found.compared_joined)


def _twins(dialect: object) -> bool:
    return getattr(dialect, "coalescing", "") == "twins"


INVARIANTS = (
    must(
        "only_twins_merge", "coalescing", _only_twins, "SPEC 4 coalescing; D58", "Only twins are merged: another version or target never is.",
        lambda dialect: dialect.coalescing != "none",
    ),
    must(
        "joiner_outcome", "coalescing", _real_outcome, "SPEC 4 coalescing; D28", "A joiner is told the real outcome of the call that it joined.", _twins,
    ),
    must("twins_sent_once", "coalescing", _sent_once, "SPEC 4 coalescing", "What has been applied for one twin is not sent again for another.", _twins),
    must(
        "joiner_lives_on", "coalescing", _lives_on, "SPEC 4 coalescing; D81, D108",
        "A call lives while one of its joiners lives, whoever else was cancelled or expired.", _twins,
    ),
    must(
        "joined_priority", "coalescing", _joined_priority, "SPEC 4 coalescing",
        "A call that others joined runs by the highest of their priorities and the oldest of their ages.",
        lambda dialect: dialect.coalescing == "twins" and dialect.order != "fifo",
    ),
)  # fmt: skip
