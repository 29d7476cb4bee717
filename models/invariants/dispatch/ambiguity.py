"""Ambiguity: what may have happened is neither done again nor told as surely done or not done (SPEC 4, 'Ambiguity')."""

from __future__ import annotations

from ....harness.history import Event
from ....harness.verdicts import Finding, held
from ... import dispatch_errors as table
from ...dispatch_trace import Attempt, DispatchTrace, Operation
from ._ending import interrupted
from ._judging import breach, call, must, seconds, told

SURE = frozenset({"failed", "exhausted", "expired", "cancelled", "closed", "dropped", "refused"})


def _open(attempt: Attempt) -> bool:
    return attempt.verdict == table.AMBIGUOUS or (attempt.verdict == table.CANCELLED and attempt.request is not None)


def _never_resent(trace: DispatchTrace) -> Finding:
    witnesses = []
    for operation in trace.operations.values():
        submits = operation.submits
        if not submits or not submits[0].writes:
            continue
        if trace.dialect.ambiguous == "guarded" and any(submit.guarded for submit in submits):
            continue
        if trace.dialect.coalescing != "twins" and 1 < len(submits) >= len(operation.tries):
            continue  # each of them has an attempt of its own
        for attempt in operation.tries:
            if not _open(attempt):
                continue
            after = operation.tries[attempt.index + 1] if attempt.index + 1 < len(operation.tries) else None
            if after is None:
                witnesses.append(attempt.end_seq)
            elif not any(attempt.end_seq < submit.start.seq < after.start.seq for submit in submits):
                return breach(
                    f"was sent again after {attempt.op}, which may have done it", [submits[0], attempt, attempt.end, after], of=call(submits[0]),
                    expected="no further attempt: nothing guards it" if not submits[0].guarded else "no further attempt",
                    observed=f"{after.op} at {seconds(after.began)}",
                )  # fmt: skip
    return held(witnesses)


def _told_unknown(trace: DispatchTrace) -> Finding:
    witnesses = []
    for submit in trace.submits:
        if submit.outcome is None or submit.operation.alone is None or not submit.writes:
            continue
        last = submit.operation.undecided(submit.told_seq)
        if last is None:
            continue
        if submit.kind in SURE:
            return breach(
                f"was told {submit.kind} though {last.op} may have done it", [submit, last, submit.outcome], of=call(submit),
                expected="unknown", observed=told(submit),
            )  # fmt: skip
        witnesses.append(submit.told_seq)
    return held(witnesses)


def _guard_sent(trace: DispatchTrace) -> Finding:
    witnesses = []
    for operation in trace.operations.values():
        if not operation.submits or not operation.submits[0].writes:
            continue
        first = operation.submits[0]
        if not first.guarded or any(
            (item.key, item.version) != (first.key, first.version) for item in operation.submits
        ):
            continue
        keys = []
        for attempt in operation.tries:
            condition = attempt.start.data.get("precondition")
            version = condition.get("resource_version") if isinstance(condition, dict) else None
            keys.append(attempt.start.data.get("key"))
            bare = (first.key is not None and keys[-1] is None) or (first.version is not None and version is None)
            if bare or (operation.alone is not None and keys[-1] != keys[0]):
                return breach(
                    f"{attempt.op} was sent without the guard of its call", [first, attempt], of=call(first),
                    expected=f"key {first.key!r}, resourceVersion {first.version}", observed=f"key {keys[-1]!r}, resourceVersion {version}",
                )  # fmt: skip
        if operation.tries:
            witnesses.append(operation.tries[-1].start.seq)
    return held(witnesses)


def _rebased(trace: DispatchTrace) -> Finding:
    """A version other than the call's own must lie at the end of an unbroken chain of guarded writes of the queue itself."""
    witnesses, chains = [], _chains(trace)
    for attempt in trace.attempts:
        submits = attempt.operation.submits
        if attempt.back or not submits or submits[0].version is None or not submits[0].rank:
            continue
        condition = attempt.start.data.get("precondition")
        sent = condition.get("resource_version") if isinstance(condition, dict) else None
        if sent is None or any(submit.version == sent for submit in submits):
            continue
        links, version = chains.get(submits[0].uid, {}), submits[0].version
        for _ in range(10_000):
            step = links.get(version)
            if step is None or step[1] > attempt.start.seq or version == sent:
                break
            version = step[0]
        if version != sent:
            return breach(
                f"{attempt.op} was rebased from resourceVersion {submits[0].version} to {sent}", [submits[0], attempt], of=call(submits[0]),
                expected="its own version, or one that the queue's own guarded writes led to without a break", observed=f"the chain ends at {version}",
            )  # fmt: skip
        witnesses.append(attempt.start.seq)
    return held(witnesses)


def _chains(trace: DispatchTrace) -> dict[str, dict[int, tuple[int, int]]]:
    found: dict[str, dict[int, tuple[int, int]]] = {}
    for attempt in trace.attempts:
        condition = attempt.start.data.get("precondition")
        guard = condition.get("resource_version") if isinstance(condition, dict) else None
        for effect in attempt.effects:
            before, after = effect.data.get("from_version"), effect.data.get("version")
            if guard == before and isinstance(before, int) and isinstance(after, int):
                found.setdefault(str(effect.data.get("uid")), {})[before] = (after, effect.seq)
    return found


def _successor(trace: DispatchTrace) -> Finding:
    witnesses: list[int] = []
    unclear: dict[str, dict[Operation, Attempt]] = {}
    for seq, what, item in trace.steps:
        if what not in ("start", "end") or item.operation.submits == [] or not isinstance(item, Attempt):
            continue
        first = item.operation.submits[0]
        if not first.rank or item.back:
            continue
        here = unclear.setdefault(first.uid, {})
        if what == "end":
            if _open(item):
                here[item.operation] = item
            continue
        here.pop(item.operation, None)
        for operation, attempt in list(here.items()):
            # Joiners of it and what is told in this instant count as told: they are told one after the other.
            mine = [submit for submit in operation.submits if submit.start.seq < attempt.end_seq]
            live = [submit for submit in mine if submit.told > item.began + trace.near]
            if len(live) < len(mine) or not live:
                witnesses.append(seq)
                del here[operation]
            elif live[0].version is None:
                return breach(
                    f"{item.op} was sent while {attempt.op} on the same object may still land", [live[0], attempt.end, item], of=call(live[0]),
                    expected="a successor waits until it is decided, or has ended unknown", observed=f"{item.op} at {seconds(item.began)}",
                )  # fmt: skip
    return held(witnesses)


def _read_back(trace: DispatchTrace) -> Finding:
    witnesses = []
    for submit in trace.submits:
        if submit.operation.alone is None or not submit.writes:
            continue
        doubt: Event | None = None
        for attempt in submit.operation.tries:
            if _open(attempt):
                doubt = attempt.end
            elif attempt.verdict == table.CONFLICT and doubt is not None and submit.live_at(attempt.end_seq):
                if submit.outcome is None or interrupted(trace, submit, submit.told):
                    break
                back = [
                    item
                    for item in submit.operation.attempts
                    if item.back and attempt.end_seq < item.start.seq < submit.told_seq
                ]
                if not back and submit.kind not in ("unknown", "stale"):
                    return breach(
                        "settled by a conflict that may be with its own write", [submit, doubt, attempt.end, submit.outcome], of=call(submit),
                        expected="read back first", observed=told(submit),
                    )  # fmt: skip
                witnesses.append(attempt.end_seq)
                break
    return held(witnesses)


INVARIANTS = (
    must(
        "never_resent", "ambiguity", _never_resent, "SPEC 4 ambiguity; D74, D85",
        "A write without an answer is sent again only if the server guards it (and never where the dialect gives up).",
        lambda dialect: dialect.ambiguous != "resend",
    ),
    must("told_unknown", "ambiguity", _told_unknown, "SPEC 4 what ends a call; D77", "A call that may have been done is never told as surely not done."),
    must("guard_sent", "ambiguity", _guard_sent, "SPEC 4 ambiguity", "Every attempt carries the guards of its call, and the same key each time."),
    must(
        "rebased_by_own_chain", "ambiguity", _rebased, "SPEC 4 ambiguity; D12",
        "A guard is rebased only along an unbroken chain of the queue's own guarded writes.",
    ),
    must(
        "successor_waits", "ambiguity", _successor, "SPEC 4 ambiguity", "Nothing else is written to an object while an unguarded write on it is undecided and not told.",
        lambda dialect: dialect.serialises,
    ),
    must(
        "conflict_read_back", "ambiguity", _read_back, "SPEC 4 ambiguity", "A conflict after an ambiguous attempt is read back before it settles the call.",
        lambda dialect: dialect.read_back,
    ),
)  # fmt: skip
