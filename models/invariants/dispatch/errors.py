"""Error classes: permanent ends a call at once, a conflict asks for recomputation, transient is tried again (SPEC 4, 'Retry')."""

from __future__ import annotations

from ....harness.verdicts import Finding, held
from ... import dispatch_errors as table
from ...dispatch_trace import Attempt, DispatchTrace, Submit
from ._ending import interrupted
from ._judging import breach, call, must, seconds, told

ALREADY = frozenset({404, 409, 410})
"""A write that is answered so may be found done already."""

NOT_BY_ATTEMPTS = frozenset(
    {"prerequisite", "survivor", "closed", "context", "deleted", "cancelled", "deadline", "obsolete"}
)


def _sure(submit: Submit, attempt: Attempt) -> bool:
    """Every try before this one was surely refused (one that was never sent may be taken for ambiguous), and this one did what its answer
    says."""
    before = submit.operation.tries[: attempt.index]
    return not attempt.effects and all(item.verdict == table.REFUSED for item in before)


def _ends_at_once(trace: DispatchTrace, verdict: str, what: str) -> Finding:
    witnesses = []
    for submit in trace.submits:
        if submit.operation.alone is None:
            continue
        for attempt in submit.operation.tries:
            if attempt.verdict != verdict or not _sure(submit, attempt) or submit.told_seq < attempt.end_seq:
                continue
            more = submit.operation.tries[attempt.index + 1 :]
            if more and (verdict == table.PERMANENT or _same_guard(attempt, more[0])):
                return breach(
                    f"{more[0].op} was sent after {what} {attempt.status}", [submit, attempt.end, more[0]], of=call(submit),
                    expected="no further attempt", observed=f"{more[0].op} at {seconds(more[0].began)}",
                )  # fmt: skip
            if more or interrupted(trace, submit, attempt.ended) or submit.outcome is None:
                break
            right = submit.kind == "failed" or (submit.kind == "noop" and attempt.status in ALREADY)
            read_back = any(item.back and item.start.seq > attempt.end_seq for item in submit.operation.attempts)
            if not right or (submit.told > attempt.ended + trace.slack and not read_back):
                return breach(
                    f"did not fail at once by {what} {attempt.status}", [submit, attempt.end, submit.outcome], of=call(submit),
                    expected=f"failed at {seconds(attempt.ended)}", observed=told(submit),
                )  # fmt: skip
            if verdict == table.CONFLICT and submit.kind == "failed" and submit.reason not in ("conflict", ""):
                return breach(
                    "does not tell its submitter to recompute", [submit, attempt.end, submit.outcome], of=call(submit),
                    expected="failed (conflict)", observed=told(submit),
                )  # fmt: skip
            witnesses.append(attempt.end_seq)
            break
    return held(witnesses)


def _same_guard(one: Attempt, other: Attempt) -> bool:
    mine, theirs = one.start.data.get("precondition"), other.start.data.get("precondition")
    return mine == theirs


def _permanent(trace: DispatchTrace) -> Finding:
    return _ends_at_once(trace, table.PERMANENT, "a permanent")


def _conflict(trace: DispatchTrace) -> Finding:
    return _ends_at_once(trace, table.CONFLICT, "a conflict,")


def _transient(trace: DispatchTrace) -> Finding:
    witnesses = []
    for submit in trace.submits:
        tries = submit.operation.tries
        if submit.operation.alone is None or not tries:
            continue
        last = submit.operation.last_try(submit.told_seq)
        failed = submit.kind == "failed" and submit.reason not in NOT_BY_ATTEMPTS
        if last is None or not failed:
            witnesses += [item.start.seq for item in tries[1:] if tries[item.index - 1].verdict == table.REFUSED]
            continue
        if all(item.transient for item in tries if item.start.seq < submit.told_seq) and last.end is not None:
            if interrupted(trace, submit, submit.told):
                continue
            if not submit.reason and any(item.uid == submit.uid and item is not submit for item in trace.submits):
                continue  # another call on the object may be what failed it
            return breach(
                f"failed for good by {last.status or last.end.data.get('error')}, which may pass", [submit, last.end, submit.outcome], of=call(submit),
                expected="another attempt, exhausted when they are spent, or unknown", observed=told(submit),
            )  # fmt: skip
    return held(witnesses)


INVARIANTS = (
    must(
        "permanent_ends", "error_class", _permanent, "SPEC 4 retry; D88", "A permanent error ends its call at once with failed, and nothing more is sent.",
    ),
    must(
        "conflict_recomputes", "error_class", _conflict, "SPEC 4 retry; D12, D24",
        "A conflict ends its call at once for recomputation, and is not sent again as it was.",
    ),
    must(
        "transient_retried", "error_class", _transient, "SPEC 4 retry; D34, D60", "What may pass does not fail a call for good.",
        lambda dialect: dialect.retries,
    ),
)  # fmt: skip
