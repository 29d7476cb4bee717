"""Drops: when full the call that is given up is the least of those that may be, and its submitter is told (SPEC 4, 'Bounded')."""

from __future__ import annotations

import heapq
from collections import Counter

from ....harness.verdicts import Finding, held
from ...dispatch_figures import clipped
from ...dispatch_trace import DispatchTrace, Submit
from ._judging import breach, call, must, told


def _allowed(trace: DispatchTrace) -> Finding:
    witnesses = []
    for submit in trace.submits:
        if submit.kind != "dropped" or submit.outcome is None:
            continue
        if not submit.droppable:
            return breach(
                "was dropped though it is not droppable", [submit, submit.outcome], of=call(submit),
                expected="a droppable victim, or the newcomer refused", observed=told(submit),
            )  # fmt: skip
        if submit.operation.alone and submit.operation.sent_seq < submit.told_seq:
            return breach(
                "was dropped after it had been sent", [submit, submit.operation.first, submit.outcome], of=call(submit),
                expected="a victim that was never sent", observed=told(submit),
            )  # fmt: skip
        witnesses.append(submit.outcome.seq)
    return held(witnesses)


def _no_prerequisite(trace: DispatchTrace) -> Finding:
    """Exercised by drops while a prerequisite was live."""
    witnesses = []
    live: dict[Submit, None] = {}
    for seq, what, item in trace.steps:
        if not isinstance(item, Submit):
            continue
        if item.prerequisite_of is not None:
            if what == "told" and item.kind == "dropped":
                return breach(
                    "a prerequisite of a bind was dropped", [item, item.outcome], of=call(item),
                    expected="another victim, or the newcomer refused", observed=told(item),
                )  # fmt: skip
            if what == "submit":
                live[item] = None
            else:
                live.pop(item, None)
        elif live and what == "told" and (item.kind == "dropped" or item.reason == "capacity"):
            witnesses.append(seq)
    return held(witnesses)


def _only_when_full(trace: DispatchTrace) -> Finding:
    witnesses, live = [], 0
    for seq, what, item in trace.steps:
        if not isinstance(item, Submit):
            continue
        if what == "submit":
            live += 1
            continue
        if item.kind == "dropped" or (item.kind == "refused" and item.reason == "capacity"):
            if live < trace.config.capacity:
                return breach(
                    f"was {item.kind} for room though there was some", [item, item.outcome], of=call(item),
                    expected=f"{trace.config.capacity} live submits before anything is given up", observed=f"{live} live",
                )  # fmt: skip
            witnesses.append(seq)
        live -= 1
    return held(witnesses)


class _Victims:
    """The calls that could be dropped, least first. Left out: joined ones, and those with company on their object (it may lend)."""

    def __init__(self, trace: DispatchTrace) -> None:
        self.trace = trace
        self.heap: list[tuple[float, float, float, int, Submit]] = []
        self.company: Counter[str] = Counter()
        self.aging = trace.config.aging if trace.dialect.order == "aged" else 0.0
        self.margin = 1e-6 + 2 * self.aging * trace.near

    def key(self, submit: Submit) -> float:
        """Aged priority as of second 0: all age alike."""
        return clipped(submit.priority, self.trace.config) - self.aging * submit.began

    def add(self, submit: Submit) -> None:
        """A call has come in."""
        self.company[submit.uid] += 1
        if submit.droppable and submit.prerequisite_of is None and submit.operation.alone:
            entry = (self.key(submit), -submit.deadline, submit.rebuild_cost, submit.start.seq, submit)
            heapq.heappush(self.heap, entry)

    def least(self, seq: int, but: Submit) -> Submit | None:
        """The first victim at ``seq`` other than ``but``, if it is sure which that is."""
        kept = None
        while self.heap:
            submit = self.heap[0][4]
            if submit is but:
                kept = heapq.heappop(self.heap)
            elif submit.told_seq <= seq or submit.operation.sent_seq < seq or self.company[submit.uid] > 1:
                heapq.heappop(self.heap)
            else:
                break
        found = self.heap[0][4] if self.heap else None
        if kept is not None:
            heapq.heappush(self.heap, kept)
        return found

    def before(self, one: Submit, other: Submit) -> bool:
        """Whether ``one`` is surely to be dropped rather than ``other``."""
        mine, theirs = self.key(one), self.key(other)
        if abs(mine - theirs) > self.margin:
            return mine < theirs
        if abs(mine - theirs) > 1e-9 or one.began != other.began:
            return False
        if one.deadline != other.deadline:
            return one.deadline > other.deadline
        return one.rebuild_cost < other.rebuild_cost

    def tie(self, one: Submit, other: Submit) -> bool:
        """Whether two are alike in all that decides."""
        same = abs(self.key(one) - self.key(other)) <= 1e-9 and one.began == other.began
        return same and (one.deadline, one.rebuild_cost) == (other.deadline, other.rebuild_cost)

    def sure(self, submit: Submit) -> bool:
        """Whether a call's place in the order is known from outside."""
        alone = submit.operation.alone is not None and self.company[submit.uid] <= 1
        return alone and submit.prerequisite_of is None and submit.droppable


def _victim(trace: DispatchTrace) -> Finding:
    if trace.dialect.order == "fifo":
        return held()
    victims, witnesses = _Victims(trace), []
    newcomer: Submit | None = None
    for seq, what, item in trace.steps:
        if not isinstance(item, Submit):
            continue
        if what == "submit":
            newcomer = item
            victims.add(item)
            continue
        if item.kind == "dropped" and victims.sure(item):
            within = newcomer is not None and (newcomer.accepted is None or newcomer.accepted.seq > seq)
            asker = newcomer if within and newcomer is not None and victims.sure(newcomer) else None
            if asker is not None and asker is not item and (victims.before(asker, item) or victims.tie(asker, item)):
                return breach(
                    f"was dropped for {asker.op}, which should have been refused", [item, asker, item.outcome], of=call(item),
                    expected="the newcomer refused: it is no better", observed=told(item),
                )  # fmt: skip
            least = victims.least(seq, item)
            if least is not None and least is not newcomer and victims.before(least, item):
                return breach(
                    f"was dropped though {call(least)} is less", [item, least, item.outcome], of=call(item),
                    expected=f"{least.op} dropped: priority with age, then later deadline, then lower rebuild cost",
                    observed=told(item),
                )  # fmt: skip
            witnesses.append(seq)
        elif item.kind == "refused" and item.reason == "capacity" and victims.sure(item):
            least = victims.least(seq, item)
            if least is not None and least.accepted is not None and victims.before(least, item):
                return breach(
                    f"was refused for room though {call(least)} is less", [item, least, item.outcome], of=call(item),
                    expected=f"{least.op} dropped", observed=told(item),
                )  # fmt: skip
            witnesses.append(seq)
        victims.company[item.uid] -= 1
    return held(witnesses)


def _drops(dialect: object) -> bool:
    return getattr(dialect, "when_full", "") == "drop"


INVARIANTS = (
    must("drop_allowed", "drops", _allowed, "SPEC 4 bounded", "Only a droppable call that was never sent is dropped.", _drops),
    must(
        "no_prerequisite_dropped", "drops", _no_prerequisite, "SPEC 4 bounded", "A binding prerequisite is never dropped for room.",
        lambda dialect: dialect.when_full == "drop" and dialect.prerequisites,
    ),
    must(
        "given_up_only_when_full", "drops", _only_when_full, "SPEC 4 bounded", "A call is dropped or refused for room only when there is none.",
        lambda dialect: dialect.when_full in ("drop", "refuse"),
    ),
    must(
        "drop_victim", "drops", _victim, "SPEC 4 bounded",
        "Dropped is the call of lower priority with age, then later deadline, then lower rebuild cost; on a tie the newcomer is refused.", _drops,
    ),
)  # fmt: skip
