"""Backoff: each pause lies in [half, whole] of its step, never below Retry-After, and holds nothing more relevant (SPEC 4, 'Retry')."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from ....harness.verdicts import Finding, held
from ... import dispatch_errors as table
from ...dispatch_figures import whole_pause
from ...dispatch_relevance import outranks
from ...dispatch_trace import Attempt, DispatchTrace, Submit
from ...dispatch_waiting import waiting
from ._judging import breach, call, must, seconds


def _pauses(trace: DispatchTrace) -> Iterator[tuple[Submit, Attempt, Attempt]]:
    """Tries that follow one another, of operations with one submit."""
    for submit in trace.submits:
        if len(submit.operation.tries) > 1 and submit.operation.alone is not None:
            for before, after in pairwise(submit.operation.tries):
                if before.end is not None and before.end.seq < after.start.seq:
                    yield submit, before, after


def _not_early(trace: DispatchTrace) -> Finding:
    witnesses = []
    for submit, before, after in _pauses(trace):
        if before.verdict in (table.OK, table.CONFLICT, table.PERMANENT, table.ODD):
            continue
        pause, least = after.began - before.ended, whole_pause(trace.config, before.index) / 2
        if pause < least - trace.near:
            return breach(
                f"was tried again after {seconds(pause)}", [submit, before.end, after], of=call(submit),
                expected=f"a pause of at least half of {seconds(2 * least)}", observed=seconds(pause),
            )  # fmt: skip
        witnesses.append(after.start.seq)
    return held(witnesses)


def _not_late(trace: DispatchTrace) -> Finding:
    """Judged while the call was the only one on its object, a worker was free, and a token surely there."""
    found, witnesses = waiting(trace), []
    for wait in found.waits:
        before = wait.after
        if before is None or before.verdict != table.REFUSED or wait.tries >= trace.config.attempts or before.back:
            continue
        submit = wait.operation.submits[0]
        due = before.ended + max(whole_pause(trace.config, before.index), before.retry_after)
        after = next((item for item in wait.operation.tries if item.index == before.index + 1), None)
        span = found.idle(found.sure, due, wait.until, trace.slack) if wait.until > due else None
        if span is not None:
            return breach(
                f"was not tried again for {seconds(span[1] - before.ended)}", [submit, before.end, after or submit.outcome], of=call(submit),
                expected=f"an attempt by {seconds(due)}", observed=f"none by {seconds(span[1])}",
            )  # fmt: skip
        if after is not None:
            witnesses.append(after.start.seq)
    return held(witnesses)


def _retry_after(trace: DispatchTrace) -> Finding:
    witnesses = []
    for submit, before, after in _pauses(trace):
        asked = before.retry_after
        if not asked:
            continue
        pause = after.began - before.ended
        if pause < asked - trace.near:
            return breach(
                f"was tried again {seconds(pause)} after the server had asked for {seconds(asked)}", [submit, before.end, after], of=call(submit),
                expected=f"not before {seconds(before.ended + asked)}", observed=seconds(after.began),
            )  # fmt: skip
        witnesses.append(after.start.seq)
    return held(witnesses)


def _frees_object(trace: DispatchTrace) -> Finding:
    """Two calls on an object: the holder is in backoff, surely not done, when a more relevant one comes that nothing else holds."""
    found, witnesses = waiting(trace), []
    workers_kept = trace.config.workers < 2
    needed = {submit.prerequisite_of for submit in trace.submits}
    for operations in trace.objects().values():
        if len(operations) != 2:
            continue
        holder, comer = operations[0].alone, operations[1].alone
        if holder is None or comer is None or not outranks(comer, holder) or comer.accepted is None:
            continue
        if comer.uid in needed or comer.plugin in trace.config.shares or trace.config.breaker_failures:
            continue
        last = holder.operation.last_try(comer.start.seq)
        if (
            last is None
            or last.verdict != table.REFUSED
            or last.end_seq > comer.start.seq
            or not holder.live_at(comer.start.seq)
        ):
            continue
        first = comer.operation.first
        again = next((item for item in holder.operation.tries if item.index == last.index + 1), None)
        until = min(
            first.began if first else comer.told, comer.told, again.began if again else holder.told, holder.told
        )
        over = trace.over(comer)
        if over is not None:
            until = min(until, over.at)
        if trace.last is not None:
            until = min(until, trace.last.at, trace.closed_at)
        span = found.idle(found.free if not workers_kept else found.sure, comer.accepted.at, until, trace.slack)
        if span is not None:
            return breach(
                f"was held up by {holder.op}, which waits to be tried again", [holder, last.end, comer, first], of=call(comer),
                expected=f"an attempt at {seconds(comer.accepted.at)}", observed=f"none by {seconds(span[1])}",
            )  # fmt: skip
        if first is not None:
            witnesses.append(first.start.seq)
    return held(witnesses)


def _has(dialect: object) -> bool:
    return bool(getattr(dialect, "retries", False))


INVARIANTS = (
    must("backoff_not_early", "backoff", _not_early, "SPEC 4 retry; D41, D60", "A pause before a retry is at least half of its backoff step.", _has),
    must("backoff_not_late", "backoff", _not_late, "SPEC 4 retry; D41, D51", "A retry that nothing blocks comes when its backoff step is over.", _has),
    must(
        "retry_after", "backoff", _retry_after, "SPEC 4 retry; D60, D61", "A retry never comes before the Retry-After of a 429 or 503, however long.", _has,
    ),
    must(
        "backoff_frees_object", "backoff", _frees_object, "SPEC 4 retry; D91", "A call in backoff does not hold its object against a more relevant one.",
        lambda dialect: dialect.retries and dialect.supersedes,
    ),
)  # fmt: skip
