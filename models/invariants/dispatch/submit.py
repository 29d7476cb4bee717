"""Submit answers at once, and what can't be done is refused there, for a reason that is so (SPEC 4, 'Submit')."""

from __future__ import annotations

import json
import math
from collections import defaultdict

from ....harness.invariant import Invariant, Level
from ....harness.verdicts import Finding, held
from ...dispatch_relevance import KNOWN
from ...dispatch_trace import DONE, DispatchTrace, Submit, first_of
from ._judging import breach, call, each_queue, must, seconds, told

REFUSALS = frozenset({"type", "in_cycle", "gate", "key_payload", "second_bind", "obsolete", "share", "capacity"})
BACKPRESSURE = frozenset({"share", "capacity", "breaker", "room"})


def _at_once(trace: DispatchTrace) -> Finding:
    witnesses = []
    for submit in trace.submits:
        took = math.inf
        if submit.accepted is not None:
            took = submit.accepted.at - submit.began
            witnesses.append(submit.accepted.seq)
        elif trace.last is not None and (trace.stop is None or trace.stop.data.get("reason") == "hang"):
            took = trace.last.at - submit.began
        if trace.near < took < math.inf:
            return breach(
                "submit did not answer at once", [submit, submit.accepted], of=call(submit),
                expected="an answer in no time", observed=f"{seconds(took)}" if submit.accepted else "no answer",
            )  # fmt: skip
    return held(witnesses)


def _never_raises(trace: DispatchTrace) -> Finding:
    witnesses = []
    for submit in trace.submits:
        if submit.accepted is None:
            continue
        if submit.accepted.data.get("raised"):
            return breach(
                f"submit raised {submit.accepted.data['raised']}", [submit, submit.accepted], of=call(submit),
                expected="a ticket, and a refusal as an outcome", observed=str(submit.accepted.data.get("message") or submit.accepted.data["raised"])[:200],
            )  # fmt: skip
        witnesses.append(submit.accepted.seq)
    return held(witnesses)


def _refusals(trace: DispatchTrace) -> Finding:
    witnesses = []
    for submit in trace.submits:
        if submit.kind != "refused" or submit.outcome is None:
            continue
        if submit.reason not in REFUSALS:
            return breach(
                "was refused without a reason of its own", [submit, submit.outcome], of=call(submit),
                expected=f"one of {', '.join(sorted(REFUSALS))}", observed=told(submit),
            )  # fmt: skip
        if submit.told > submit.began + trace.near:
            return breach(
                "was refused long after its submit", [submit, submit.outcome], of=call(submit),
                expected="a refusal at once", observed=told(submit),
            )  # fmt: skip
        if submit.operation.alone and submit.operation.tries:
            return breach(
                "was refused and sent all the same", [submit, submit.outcome, submit.operation.first], of=call(submit),
                expected="no attempt", observed=f"{submit.operation.tries[0].op}",
            )  # fmt: skip
        witnesses.append(submit.outcome.seq)
    return held(witnesses)


def _hints(trace: DispatchTrace) -> Finding:
    witnesses = []
    for submit in trace.submits:
        if (
            submit.kind not in ("refused", "breaker_open")
            or submit.reason not in BACKPRESSURE
            or submit.outcome is None
        ):
            continue
        hint = submit.view.get("retry_after")
        if not isinstance(hint, int | float) or isinstance(hint, bool) or not 0 <= hint < math.inf:
            return breach(
                "backpressure without a hint when to come again", [submit, submit.outcome], of=call(submit),
                expected="retry_after, finite and not negative", observed=repr(hint),
            )  # fmt: skip
        witnesses.append(submit.outcome.seq)
    return held(witnesses)


def _turned_away(trace: DispatchTrace, submit: Submit, why: str, witnesses: list[int]) -> Finding | None:
    """Judge that this submit is refused at once for this reason (or for one that is checked before)."""
    if submit.accepted is None and submit.outcome is None:
        return None
    allowed = ("refused", "closed") if why != "expired" else ("expired", "closed", "refused")
    if submit.deadline <= submit.began + trace.near:
        allowed = (*allowed, "expired")  # it may be checked first
    if submit.kind in allowed and submit.told <= submit.began + trace.near:
        witnesses.append(submit.start.seq)
        return None
    return breach(
        "can't be done and was not turned away at submit", [submit, submit.outcome, submit.operation.first], of=call(submit),
        expected=f"{allowed[0]} at once: {why}", observed=told(submit),
    )  # fmt: skip


def _unknown_type(trace: DispatchTrace) -> Finding:
    witnesses: list[int] = []
    for submit in trace.submits:
        if submit.type not in KNOWN and (bad := _turned_away(trace, submit, "an unknown type", witnesses)):
            return bad
    return held(witnesses)


def _in_cycle(trace: DispatchTrace) -> Finding:
    witnesses: list[int] = []
    for submit in trace.submits:
        if submit.needed_in_cycle and (bad := _turned_away(trace, submit, "the cycle needs it", witnesses)):
            return bad
    return held(witnesses)


def _expired(trace: DispatchTrace) -> Finding:
    witnesses: list[int] = []
    for submit in trace.submits:
        late = submit.deadline <= submit.began - trace.near
        if late and (bad := _turned_away(trace, submit, "expired", witnesses)):
            return bad
    return held(witnesses)


def _payload(submit: Submit) -> str:
    return json.dumps(submit.payload, sort_keys=True)


def _one_payload(trace: DispatchTrace) -> Finding:
    """Judged while the first call of that key is live: afterwards the queue need not remember it."""
    witnesses: list[int] = []
    live: dict[str, list[Submit]] = defaultdict(list)
    for submit in trace.submits:
        if submit.key is None:
            continue
        seq = submit.start.seq
        others = live[submit.key] = [item for item in live[submit.key] if item.told_seq > seq]
        clash = [item for item in others if item.kind != "refused" and _payload(item) != _payload(submit)]
        if clash and (bad := _turned_away(trace, submit, f"its key has another payload in {clash[0].op}", witnesses)):
            return bad
        if not clash and len(others) < 8:
            others.append(submit)
    return held(witnesses)


def _second_bind(trace: DispatchTrace) -> Finding:
    witnesses: list[int] = []
    binds: dict[tuple[str, str], list[Submit]] = defaultdict(list)
    for submit in trace.submits:
        if submit.type != "bind" or not submit.rank:
            continue
        first = binds[submit.uid, submit.context]
        seq = submit.start.seq
        for other in first:
            if other.target == submit.target:
                continue
            ended = first_of(trace.context_ended(other), trace.object_deleted(other))
            if ended is not None and ended.seq < seq:
                continue
            holds = other.told_seq > seq or other.final in DONE or other.final == "unknown"
            if holds and (bad := _turned_away(trace, submit, f"{other.op} binds the pod to {other.target}", witnesses)):
                return bad
        if len(first) < 8 and not (submit.outcome is not None and submit.kind == "refused"):
            first.append(submit)
    return held(witnesses)


def _reasons_are_so(trace: DispatchTrace) -> Finding:
    witnesses = []
    keys: dict[str, set[str]] = defaultdict(set)
    binds: dict[str, set[str]] = defaultdict(set)
    intents: dict[tuple[str, str, str], int] = defaultdict(int)
    for submit in trace.submits:
        payload = _payload(submit) if submit.key is not None else ""
        if submit.kind == "refused" and submit.outcome is not None:
            wrong = {
                "type": submit.type in KNOWN,
                "in_cycle": not submit.needed_in_cycle,
                "key_payload": submit.key is None or not keys[submit.key] - {payload},
                "second_bind": submit.type != "bind" or not binds[submit.uid] - {submit.target},
                "obsolete": not intents[submit.uid, submit.type, submit.target],
                "share": submit.plugin not in trace.config.shares,
            }.get(submit.reason, False)
            if wrong:
                return breach(
                    f"was refused for a reason that is not so: {submit.reason}", [submit, submit.outcome], of=call(submit),
                    expected="no refusal, or the true reason", observed=told(submit),
                )  # fmt: skip
            witnesses.append(submit.outcome.seq)
        if submit.key is not None:
            keys[submit.key].add(payload)
        if submit.type == "bind":
            binds[submit.uid].add(submit.target)
        if submit.generation is not None:
            intents[submit.uid, submit.type, submit.target] += 1
    return held(witnesses)


INVARIANTS = (
    must(
        "submit_at_once", "answers_at_once", _at_once, "SPEC 4 submit", "submit returns without any time passing.",
        possible=lambda dialect: dialect.when_full != "block",
    ),
    must("submit_never_raises", "answers_at_once", _never_raises, "SPEC 4 submit; D100", "submit never raises: a refusal is an outcome."),
    must("refusal_typed", "validates", _refusals, "SPEC 4 submit", "A refusal comes at once, with a reason of the closed list, and nothing is sent."),
    must("refusal_is_so", "validates", _reasons_are_so, "SPEC 4 submit", "The reason that a refusal gives is really so."),
    must("unknown_type_refused", "validates", _unknown_type, "SPEC 4 two orders; D88", "A type without a relevance is refused, not ranked lowest."),
    must("in_cycle_refused", "validates", _in_cycle, "SPEC 4 gate on", "A call that the scheduling cycle needs is refused."),
    must(
        "expired_at_submit", "validates", _expired, "SPEC 4 submit", "A call whose deadline has passed is told at submit that it has expired.",
        possible=lambda dialect: dialect.deadlines,
    ),
    must(
        "one_payload_a_key", "validates", _one_payload, "SPEC 4 coalescing", "One idempotency key with two payloads is refused.",
        possible=lambda dialect: dialect.coalescing == "twins",
    ),
    must(
        "second_bind_refused", "validates", _second_bind, "SPEC 4 superseding",
        "A second bind of one pod to another target in one context is refused while the first is live, applied or unknown.",
        possible=lambda dialect: dialect.supersedes,
    ),
    Invariant(
        id="dispatch.backpressure_hint", level=Level.SHOULD, claim="validates", check=each_queue(_hints), source="SPEC 4 submit",
        expectation="A refusal for want of room comes with a hint when to come again.",
    ),
)  # fmt: skip
