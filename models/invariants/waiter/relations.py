"""Relations between runs: twins, waits together and alone, and changes that must change nothing (SPEC 5)."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from itertools import takewhile

from ....harness import events
from ....harness.history import Event, History
from ....harness.invariant import Checker, Invariant, Level
from ....harness.verdicts import Finding, first_bad, held, undecided, violated
from ...event_data import number
from ...trace import NOISE, Fetch, WaitTrace, traces
from ._judging import how, seconds
from .wall import jump_harmless

MODES = ("sync", "asyncio", "trio")

EDGE = 1e-6
"""An instant that is this near (seconds) to the edge of a resolution may fall on either side, by float noise alone."""

LEAST_SCALED = 0.02
"""Jittered waits of less (seconds) may meet the floor of 5 ms between fetches (SPEC 2), which does not scale."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One decision of a wait, in a form that two runs can be compared by: what, when since its start, and how long or how."""

    act: str
    at: float
    size: float
    detail: str
    event: Event


def steps_of(wait: WaitTrace, *, sleeps: bool, targets: bool = True) -> list[Step]:
    """The decisions of a wait in order; what the server said stands between them."""
    found = []
    for item in wait.items:
        at = item.start.at - wait.began
        if isinstance(item, Fetch):
            found.append(Step(act="fetch", at=at, size=0.0, detail=item.target if targets else "", event=item.start))
            if item.end is not None:
                said = f"{item.kind}:{item.says.word if item.says is not None else ''}"
                found.append(Step(act="answer", at=item.ended - wait.began, size=0.0, detail=said, event=item.end))
        elif sleeps and not 0 <= item.asked <= NOISE:
            found.append(Step(act="sleep", at=at, size=item.asked, detail="", event=item.start))
    if wait.outcome is not None:
        view = wait.view
        detail = (
            f"{wait.category}:{view.get('status')}:{view.get('raw_status')}"
            if wait.category == "returned"
            else wait.category
        )
        found.append(Step(act="end", at=wait.outcome.at - wait.began, size=0.0, detail=detail, event=wait.outcome))
    return found


def compare(one: WaitTrace, other: WaitTrace, *, what: str, scale: float = 1.0, targets: bool = True) -> Finding:
    """Judge whether two waits take the same decisions at the same times (the other's being ``scale`` times as long)."""
    sleeps = bool(one.sleeps) and bool(other.sleeps)
    near = max(one.tolerance, other.tolerance) * max(scale, 1.0) * 2
    mine, theirs = steps_of(one, sleeps=sleeps, targets=targets), steps_of(other, sleeps=sleeps, targets=targets)
    if one.dialect.transient == "client":  # a client beneath retries with a jitter of its own
        mine, theirs = _until_failure(mine), _until_failure(theirs)
        if mine[-1:] and theirs[-1:] and "end" not in (mine[-1].act, theirs[-1].act):
            mine, theirs = mine[: len(theirs)], theirs[: len(mine)]
    until = min(
        (wait.cancel.at - wait.began for wait in (one, other) if wait.cancel is not None and wait.cancelled),
        default=math.inf,
    )
    if math.isfinite(
        until
    ):  # at the instant of a cancel either may come first, and after it nothing is comparable but how it ended
        mine, theirs = _before(mine, until * min(scale, 1.0) - near), _before(theirs, until * min(scale, 1.0) - near)
    names = f"{one.run or 'one'}/{one.name} and {other.run or 'other'}/{other.name}"
    for number_, (left, right) in enumerate(zip(mine, theirs, strict=False), start=1):
        same_time = abs(left.at * scale - right.at) <= near + 1e-9 * right.at
        if left.act == right.act == "answer" and same_time and _answered(left) != _answered(right):
            # an answer that came in the instant of a timeout: either may win, and from there on nothing is comparable
            return held([left.event.seq, right.event.seq] if number_ > 2 else [])
        same_size = not abs(left.size * scale - right.size) > near + 1e-9 * abs(right.size)
        if left.act != right.act or left.detail != right.detail or not same_time or not same_size:
            if _on_edge(one, left, scale) or _on_edge(other, right, 1.0):
                return held([left.event.seq, right.event.seq] if number_ > 2 else [])
            own = any(step.event.data.get("ending") != "answer" for step in (left, right))
            if left.act == right.act == "answer" and not (own and "absolute_fetch_timeout" in one.claims):
                return undecided(
                    f"{names} were not answered at the same time", events=(left.event.seq, right.event.seq)
                )
            return violated(
                f"{names} part at step {number_}: {what}", events=(left.event.seq, right.event.seq), expected=_words(left, scale), observed=_words(right, 1.0),
            )  # fmt: skip
    cut = one.dialect.transient == "client" and not any(step.act == "end" for step in (*mine, *theirs))
    if math.isfinite(until) or cut:
        return held([step.event.seq for step in (*mine[-1:], *theirs[-1:])])
    if one.outcome is None or other.outcome is None:
        if (one.outcome is None) != (other.outcome is None) and one.stop is None and other.stop is None:
            return violated(
                f"only one of {names} ended: {what}",
                events=(one.start.seq, other.start.seq),
                expected=how(one),
                observed=how(other),
            )
        return undecided(f"the run of {names} ended before the waits did")
    if len(mine) != len(theirs):
        longer = (mine if len(mine) > len(theirs) else theirs)[min(len(mine), len(theirs))]
        return violated(
            f"one of {names} did more: {what}",
            events=(longer.event.seq,),
            expected="the same steps",
            observed=_words(longer, 1.0),
        )
    return held([one.outcome.seq, other.outcome.seq])


def _answered(step: Step) -> tuple[str, object, object]:
    """What came of a fetch: what it says to a waiter, how it ended, with which HTTP status."""
    return step.detail, step.event.data.get("ending"), step.event.data.get("status")


def _on_edge(wait: WaitTrace, step: Step, scale: float) -> bool:
    """Whether the last bit of a float decides this step: it stands one whole resolution before a target, which is just within it or not.

    A resolution is not scaled: what lies within one of the deadline here may lie beyond it in the scaled run.
    """
    slack = wait.dialect.resolution
    ended = [item for item in wait.sleeps if item.end is not None and item.end.seq < step.event.seq]
    short = bool(ended) and abs(ended[-1].late + slack) <= EDGE
    deadline = wait.deadline
    if deadline is None:
        return short
    left = deadline - wait.began - step.at
    return short or abs(left - slack) <= EDGE or (scale != 1.0 and -EDGE <= left <= slack + EDGE)


def _until_failure(steps: list[Step]) -> list[Step]:
    """The decisions up to the first failed fetch, that one included."""
    for number_, step in enumerate(steps):
        failed = step.event.data.get("ending") != "answer" or number(step.event.data.get("status"), 0.0) >= 400
        if step.act == "answer" and failed:
            return steps[: number_ + 1]
    return steps


def _before(steps: list[Step], until: float) -> list[Step]:
    """The decisions up to the first that is not clearly before this moment."""
    return list(takewhile(lambda step: step.at < until, steps))


def _words(step: Step, scale: float) -> str:
    size = f" of {seconds(step.size * scale)}" if step.act == "sleep" else ""
    return f"{step.act}{size} {step.detail} at {seconds(step.at * scale)}".replace("  ", " ")


def pairs(history: History, left: str, right: str) -> list[tuple[WaitTrace, WaitTrace]]:
    """The waits that two runs of one history have in common."""
    by_run = {(wait.run, wait.name): wait for wait in traces(history)}
    return [
        (wait, by_run[right, name]) for (run, name), wait in by_run.items() if run == left and (right, name) in by_run
    ]


def _twins(history: History) -> Finding:
    present = [mode for mode in MODES if any(wait.run == mode for wait in traces(history))]
    findings = [
        compare(one, other, what="the twins take different decisions")
        for mode in present[1:]
        for one, other in pairs(history, present[0], mode)
    ]
    return first_bad(findings)


def _independent(history: History) -> Finding:
    return first_bad(
        [
            compare(one, other, what="a wait is changed by another")
            for one, other in pairs(history, "alone", "together")
            if not (_tells_the_wall(one) or _tells_the_wall(other))  # together it starts at another time of day
        ]
    )


def _tells_the_wall(wait: WaitTrace) -> bool:
    """An answer asks for a date without a ``Date`` beside it, which does count from the wall clock (SPEC 2, pacing)."""
    hints = [fetch.says.hint for fetch in wait.fetches if fetch.says is not None and fetch.says.hint is not None]
    return any(hint.form == "date" and hint.low < hint.high for hint in hints)


def _relation(name: str, judge: Callable[[WaitTrace, WaitTrace, float], Finding]) -> Checker:
    """Judge base and changed of a history whose note says that this relation holds between them."""

    def check(history: History) -> Finding:
        notes = [
            event
            for event in history.of_kind(events.BENCH_NOTE)
            if event.data.get("what") == "relation" and event.data.get("relation") == name
        ]
        if not notes:
            return held()
        amount = number(notes[0].data.get("amount"), 1.0)
        return first_bad([judge(one, other, amount) for one, other in pairs(history, "base", "changed")])

    return check


def _origin(one: WaitTrace, other: WaitTrace, amount: float) -> Finding:
    return compare(one, other, what=f"the clock's origin ({amount:g}) matters")


def _wall(one: WaitTrace, other: WaitTrace, amount: float) -> Finding:
    if _tells_the_wall(one) or _tells_the_wall(other):
        return held()
    return compare(one, other, what=f"a jump of the wall clock by {amount:g} s matters")


def _wall_ignored(history: History) -> Finding:
    """Both ways to see it: two runs that differ in a jump alone, and one run in which the clock jumped."""
    return first_bad([_relation("wall", _wall)(history), jump_harmless(history)])


def _scale(one: WaitTrace, other: WaitTrace, amount: float) -> Finding:
    call = one.call
    shortest = call.first_delay if call.poll_interval is None else call.poll_interval
    if call.jitter_seed is not None and number(shortest, 0.0) < LEAST_SCALED:
        return held()
    return compare(
        one, other, what=f"all times {amount:g} times as long are not all {amount:g} times as long", scale=amount
    )


def _resource(one: WaitTrace, other: WaitTrace, amount: float) -> Finding:  # noqa: ARG001 - the shape of a relation
    return compare(one, other, what="the resource matters", targets=False)


def _pending(one: WaitTrace, other: WaitTrace, amount: float) -> Finding:
    if one.outcome is None or other.outcome is None:
        return undecided("the run ended before the waits did")
    shown = (one.outcome.seq, other.outcome.seq)
    took, longer = one.outcome.at - one.began, other.outcome.at - other.began
    if longer < took - one.tolerance:
        return violated(
            f"{amount:g} more pending answers made it end earlier",
            events=shown,
            expected=f"at least {seconds(took)}",
            observed=seconds(longer),
        )
    if len(other.fetches) < len(one.fetches):
        return violated(
            f"{amount:g} more pending answers made it fetch less", events=shown, expected=f"{len(one.fetches)} or more", observed=str(len(other.fetches)),
        )  # fmt: skip
    last = other.fetches[-1].says if other.fetches else None
    if last is not None and last.kind == "not_found" and number(other.call.not_found_grace, 0.0) > 0:
        return held()  # the same 404 comes later now, when the grace may be over
    if other.category not in (one.category, "timeout") or (
        one.category == other.category == "returned" and one.view.get("status") != other.view.get("status")
    ):
        return violated(
            "more pending answers changed the outcome",
            events=shown,
            expected=f"{how(one)}, or a timeout",
            observed=how(other),
        )
    return held(shown)


INVARIANTS = (
    Invariant(
        id="waiter.twins_agree", level=Level.MUST, claim="twins", check=_twins, source="SPEC 2 step 7; W80",
        expectation="The synchronous and the asynchronous twins take the same decisions at the same times and end alike.",
    ),
    Invariant(
        id="waiter.waits_independent", level=Level.MUST, claim="independent", check=_independent, source="SPEC 5; D102",
        expectation="Waits that run together do what each does alone.",
    ),
    Invariant(
        id="waiter.clock_origin_irrelevant", level=Level.MUST, claim="monotonic", check=_relation("origin", _origin), source="SPEC 2 step 6",
        expectation="Where the monotonic clock starts changes nothing.",
    ),
    Invariant(
        id="waiter.wall_clock_ignored", level=Level.MUST, claim="monotonic", check=_wall_ignored, source="SPEC 2 step 6; W61",
        expectation="A jump of the wall clock changes nothing.",
    ),
    Invariant(
        id="waiter.time_scale_irrelevant", level=Level.MUST, claim="schedule", check=_relation("scale", _scale), source="SPEC 2 step 3; W62",
        expectation="If all parameters and answers take x times as long, every decision comes x times as late and is otherwise the same.",
        possible=lambda dialect: {"timeout", "first_delay", "cap", "fetch_timeout", "poll_interval"} <= dialect.parameters,
    ),
    Invariant(
        id="waiter.resources_agree", level=Level.MUST, claim="resources", check=_relation("resource", _resource), source="SPEC 3",
        expectation="The three job resources behave the same.",
    ),
    Invariant(
        id="waiter.pending_inserted_monotone", level=Level.MUST, claim="schedule", check=_relation("pending", _pending), source="SPEC 2 step 3",
        expectation="More pending answers before the same end never make a wait end earlier, fetch less, or end otherwise than by a timeout.",
        possible=lambda dialect: dialect.clips and dialect.first == "fetch",
    ),
)  # fmt: skip
