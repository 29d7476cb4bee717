"""Outcomes true to the server's own effect ledger, and none before the effect is decided (SPEC 5)."""

from __future__ import annotations

from bisect import bisect_left

from ....harness.invariant import Invariant, Level
from ....harness.verdicts import Finding, held
from ... import dispatch_errors as errors
from ...dispatch_trace import DONE, DispatchTrace, Operation, Submit
from ._judging import breach, call, each_queue, told

NEVER_HAPPENED = frozenset(
    {"refused", "dropped", "expired", "cancelled", "closed", "breaker_open", "superseded", "failed", "exhausted"}
)
"""Outcomes that say: this submit has changed nothing."""

WHILE_SENT = frozenset({"cancelled", "closed"})
"""Of those, what a queue may say of a call that it gave up while it was on its way; then the effect may land later."""

_ALREADY = frozenset({404, 409, 410, 412})


def _supported(operation: Operation, seq: int, *, noop: bool) -> bool:
    """Whether something that came before ``seq`` says that the server holds it."""
    if operation.effects and operation.effects[0].seq < seq:
        return True
    for attempt in operation.attempts:
        if attempt.end_seq > seq:
            continue
        if attempt.verdict == errors.OK and (noop or not attempt.back):
            return True
        if noop and attempt.status in _ALREADY:
            return True
    return False


def _done_is_true(trace: DispatchTrace) -> Finding:
    witnesses = []
    newest = trace.dialect.coalescing == "newest"
    heirs = _heirs(trace) if newest else {}
    for submit in trace.submits:
        if submit.outcome is None or submit.final not in DONE:
            continue
        seq = submit.outcome.seq
        if _supported(submit.operation, seq, noop=submit.final == "noop"):
            witnesses.append(seq)
            continue
        if newest and submit.kind == "merged" and _inherited(heirs, submit, seq):
            witnesses.append(seq)
            continue
        return breach(
            f"was told {submit.final} though the server had not done it", [submit, *submit.operation.attempts[-2:], submit.outcome],
            of=call(submit), expected="an effect in the server's ledger, or its answer that it holds that already",
            observed=f"{told(submit)}, {len(submit.operation.attempts)} attempts, no effect before",
        )  # fmt: skip
    return held(witnesses)


def _heirs(trace: DispatchTrace) -> dict[tuple[str, str, str], list[int]]:
    """By object, type and target the places at which the server is known to hold something (for ``newest``: any operation's will do)."""
    found: dict[tuple[str, str, str], list[int]] = {}
    for attempt in trace.attempts:
        if attempt.operation.submits and attempt.verdict == errors.OK:
            first = attempt.operation.submits[0]
            found.setdefault((first.uid, first.type, first.target), []).append(attempt.end_seq)
    return {key: sorted(places) for key, places in found.items()}


def _inherited(heirs: dict[tuple[str, str, str], list[int]], submit: Submit, seq: int) -> bool:
    places = heirs.get((submit.uid, submit.type, submit.target), [])
    at = bisect_left(places, submit.start.seq)
    return at < len(places) and places[at] < seq


def _undone_is_true(trace: DispatchTrace) -> Finding:
    witnesses = []
    for submit in trace.submits:
        kind = submit.final
        if submit.outcome is None or kind not in NEVER_HAPPENED or not submit.writes:
            continue
        witnesses.append(submit.outcome.seq)
        effects = submit.operation.effects
        if not effects:
            continue
        lied = {
            item.op
            for item in submit.operation.attempts
            if item.verdict in (errors.REFUSED, errors.PERMANENT, errors.CONFLICT)
        }
        mine = [effect for effect in effects if effect.seq > submit.start.seq and effect.op not in lied]
        if kind in WHILE_SENT and submit.operation.sent_seq < submit.told_seq:
            mine = [effect for effect in mine if _sent_after(submit, effect.op)]
        if mine and not any(
            other is not submit and other.final not in NEVER_HAPPENED for other in submit.operation.submits
        ):
            return breach(
                f"was told {submit.kind} though it was done", [submit, mine[0], submit.outcome], of=call(submit),
                expected="no effect of it in the server's ledger", observed=f"{told(submit)}; an effect by {mine[0].op}",
            )  # fmt: skip
    return held(witnesses)


def _sent_after(submit: Submit, op: str) -> bool:
    return any(attempt.op == op and attempt.start.seq > submit.told_seq for attempt in submit.operation.tries)


def _decided_first(trace: DispatchTrace) -> Finding:
    """Judged for operations with one submit: with several, the one in flight may be another's."""
    witnesses = []
    for submit in trace.submits:
        kind = submit.kind
        if (
            submit.outcome is None
            or kind in ("unknown", "stale")
            or submit.operation.alone is None
            or not submit.writes
        ):
            continue
        last = submit.operation.last_try(submit.told_seq)
        if last is None:
            continue
        if last.end_seq > submit.told_seq:
            return breach(
                f"was told {kind} while its attempt was under way", [submit, last, submit.outcome], of=call(submit),
                expected="the answer first, or unknown", observed=told(submit),
            )  # fmt: skip
        witnesses.append(submit.outcome.seq)
        late = [effect for effect in submit.operation.effects if effect.seq > submit.told_seq]
        if late and kind in DONE and not any(effect.seq < submit.told_seq for effect in submit.operation.effects):
            return breach(
                f"was told {kind} before it was done", [submit, submit.outcome, late[0]], of=call(submit),
                expected="the effect first", observed=told(submit),
            )  # fmt: skip
    return held(witnesses)


INVARIANTS = (
    Invariant(
        id="dispatch.done_is_true", level=Level.MUST, safety=True, check=each_queue(_done_is_true), source="SPEC 5 true to the ledger; D5",
        expectation="Applied, noop and merged with one of them are told only of what the server has really done or holds already.",
    ),
    Invariant(
        id="dispatch.undone_is_true", level=Level.MUST, safety=True, check=each_queue(_undone_is_true), source="SPEC 5 true to the ledger; D77, D85",
        expectation="A submit that is told that it was refused, dropped, superseded, failed or given up unsent has no effect.",
    ),
    Invariant(
        id="dispatch.decided_first", level=Level.MUST, safety=True, check=each_queue(_decided_first), source="SPEC 4 not before its effect is decided; D5",
        expectation="No outcome but unknown is told while an attempt that decides it is under way.",
    ),
)  # fmt: skip
