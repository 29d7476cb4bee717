"""Capacity, workers and shares: never more live or executing calls than configured (SPEC 4, 'Bounded')."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable

from ....harness.invariant import Invariant, Level
from ....harness.verdicts import Finding, held
from ...dispatch_trace import NEVER, Attempt, DispatchTrace, Submit
from ._judging import breach, each_queue, seconds


def _most_live(
    trace: DispatchTrace, group: Callable[[Submit], str], most: Callable[[str], float | None], what: str
) -> Finding:
    """Counted at the end of each instant: within one, a queue may take a call in before it tells the one that it gives up."""
    witnesses: list[int] = []
    live: Counter[str] = Counter()
    at = -1.0
    changed: dict[str, None] = {}
    last: dict[str, Submit] = {}

    def judge() -> Finding | None:
        for name in changed:
            limit = most(name)
            if limit is None or live[name] <= limit:
                continue
            of = f" of {name}" if name else ""
            return breach(
                f"{live[name]} live submits{of} at {seconds(at)}", [last[name]], expected=f"at most {limit:g}{of}: {what}",
                observed=str(live[name]),
            )  # fmt: skip
        changed.clear()
        return None

    for _, what_now, item in trace.steps:
        if not isinstance(item, Submit):
            continue
        now = item.began if what_now == "submit" else item.told
        if now > at:
            if bad := judge():
                return bad
            at = now
        if item.accepted is None and what_now == "submit" and trace.dialect.when_full == "block":
            continue
        name = group(item)
        if what_now == "submit":
            live[name] += 1
            last[name] = item
            if (limit := most(name)) is not None and live[name] >= limit:
                witnesses.append(item.start.seq)
        elif not (item.accepted is None and trace.dialect.when_full == "block"):
            live[name] -= 1
        changed[name] = None
    return judge() or held(witnesses)


def _capacity(trace: DispatchTrace) -> Finding:
    if trace.dialect.when_full == "block":
        return _blocking(trace)
    return _most_live(trace, lambda _: "", lambda _: trace.config.capacity, "the capacity")


def _blocking(trace: DispatchTrace) -> Finding:
    """Of a queue whose submit waits for room, a call is live from when submit has returned."""
    marks = sorted(
        [(submit.accepted.seq, 1, submit.accepted.at) for submit in trace.submits if submit.accepted is not None]
        + [(submit.told_seq, -1, submit.told) for submit in trace.submits if submit.accepted and submit.outcome]
    )
    live, witnesses = 0, []
    for number, (seq, step, at) in enumerate(marks):
        live += step
        later = number + 1 < len(marks) and marks[number + 1][2] <= at
        if live >= trace.config.capacity and step > 0:
            witnesses.append(seq)
        if live > trace.config.capacity and not later:
            return breach(
                f"{live} live submits at {seconds(at)}", [submit for submit in trace.submits if submit.accepted and submit.accepted.seq == seq],
                expected=f"at most {trace.config.capacity}: the capacity", observed=str(live),
            )  # fmt: skip
    return held(witnesses)


def _share_live(trace: DispatchTrace) -> Finding:
    shares = trace.config.shares
    return _most_live(
        trace,
        lambda submit: submit.plugin,
        lambda name: shares[name][0] if name in shares else None,
        "the plugin's share of live calls",
    )


def _workers(trace: DispatchTrace) -> Finding:
    witnesses: list[int] = []
    running: list[Attempt] = []
    for attempt in trace.attempts:
        running = [item for item in running if item.end_seq > attempt.start.seq]
        running.append(attempt)
        if len(running) > trace.config.workers:
            return breach(
                f"{len(running)} attempts under way at {seconds(attempt.began)}", running[-3:],
                expected=f"at most {trace.config.workers}: the workers", observed=str(len(running)),
            )  # fmt: skip
        if len(running) == trace.config.workers:
            witnesses.append(attempt.start.seq)
    return held(witnesses)


def _share_executing(trace: DispatchTrace) -> Finding:
    """A waiting call may lift the share of the one that it waits for, so one with company or that is a prerequisite is left out."""
    shares, witnesses = trace.config.shares, []
    if not shares:
        return held()
    running: dict[str, int] = Counter()
    company: dict[str, int] = defaultdict(int)
    for seq, what, item in trace.steps:
        if isinstance(item, Submit):
            company[item.uid] += 1 if what == "submit" else -1
            continue
        plugins = {submit.plugin for submit in item.operation.submits}
        plugin = next(iter(plugins)) if len(plugins) == 1 else None
        if plugin is None or plugin not in shares:
            continue
        if what == "end":
            running[plugin] -= 1
            continue
        running[plugin] += 1
        first = item.operation.submits[0]
        if company[first.uid] > 1 or first.prerequisite_of is not None:
            continue
        if running[plugin] > shares[plugin][1]:
            others = [other for other in trace.attempts if other.end_seq > seq >= other.start.seq]
            mine = [other for other in others if {submit.plugin for submit in other.operation.submits} == {plugin}]
            return breach(
                f"{running[plugin]} attempts of {plugin} under way at {seconds(item.start.at)}", mine[-3:],
                expected=f"at most {shares[plugin][1]}: its share of executing calls", observed=str(running[plugin]),
            )  # fmt: skip
        if running[plugin] == shares[plugin][1]:
            witnesses.append(seq if seq != NEVER else 0)
    return held(witnesses)


INVARIANTS = (
    Invariant(
        id="dispatch.capacity", level=Level.MUST, claim="capacity", check=each_queue(_capacity), source="SPEC 4 bounded; D72",
        expectation="Never more submits are live than the capacity: pending, parked, withheld, executing and joined ones counted.",
        possible=lambda dialect: dialect.when_full != "unbounded",
    ),
    Invariant(
        id="dispatch.workers", level=Level.MUST, claim="capacity", check=each_queue(_workers), source="SPEC 4 workers are capped; D4, D102",
        expectation="Never more attempts are under way than there are workers.",
    ),
    Invariant(
        id="dispatch.share_live", level=Level.MUST, claim="shares", check=each_queue(_share_live), source="SPEC 4 bounded",
        expectation="A plugin never has more live submits than its share, joiners counted in their own plugin's.",
        possible=lambda dialect: dialect.shares,
    ),
    Invariant(
        id="dispatch.share_executing", level=Level.MUST, claim="shares", check=each_queue(_share_executing), source="SPEC 4 bounded",
        expectation="A plugin never has more attempts under way than its share, unless one was lent priority.",
        possible=lambda dialect: dialect.shares,
    ),
)  # fmt: skip
