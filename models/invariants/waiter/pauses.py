"""Pauses: the delay recurrence, the fixed interval, jitter, and sleeps that wake early (SPEC 2, steps 3, 4 and 6)."""

from __future__ import annotations

import math
from collections.abc import Callable

from ....harness.invariant import Invariant, Level
from ....harness.verdicts import Finding, held, undecided
from ...pauses import Pause
from ...schedule import Delays, due
from ...trace import WaitTrace
from ...waiter import MOST_REMAINDERS
from ._judging import breach, each_wait, seconds


def judge_pause(wait: WaitTrace, pause: Pause, delays: Delays) -> Finding | None:
    """Judge the length of one pause; ``None`` if nothing that the subject claims says how long it should be."""
    window = due(
        wait.call,
        wait.dialect,
        wait.claims,
        delay=delays[pause.index],
        begin=pause.begin,
        says=pause.after.says if pause.after is not None else None,
    )
    if window is None or len(pause.sleeps) >= MOST_REMAINDERS:
        return None
    low, high = window
    deadline = wait.deadline
    if wait.dialect.clips and deadline is not None:
        low, high = min(low, max(deadline, pause.begin)), min(high, max(deadline, pause.begin))
    if pause.early and wait.dialect.early_wake == "fetch":
        low = pause.begin
    near, began = wait.tolerance, pause.next.began
    if low - near <= began <= high + pause.late + near:
        return held([pause.next.start.seq])
    rule = (
        seconds(low - pause.begin)
        if high - low < 1e-6
        else f"{seconds(low - pause.begin)} to {seconds(high - pause.begin)}"
    )
    return breach(
        wait,
        f"pause {pause.index + 1} was too {'short' if began < low else 'long'}",
        [pause.after.end if pause.after is not None else wait.start, *pause.sleeps[:1], pause.next],
        expected=f"a pause of {rule} from {seconds(pause.begin)}",
        observed=f"a pause of {seconds(began - pause.begin)}",
    )


def judge_pauses(wait: WaitTrace, wanted: Callable[[Pause], bool]) -> Finding:
    """Judge every pause that is ``wanted``."""
    delays = Delays(wait.call)
    seen: list[int] = []
    for pause in wait.pauses():
        finding = judge_pause(wait, pause, delays) if wanted(pause) else None
        if finding is not None and finding.violated:
            return finding
        if finding is not None:
            seen.extend(finding.witnesses)
    return held(seen)


def _overdue(wait: WaitTrace, wanted: Callable[[Pause], bool]) -> Finding:
    """As :func:`judge_pauses`, and a run which the bench ended in mid-pause with nothing to show is undecided."""
    finding = judge_pauses(wait, wanted)
    if finding.vacuous and wait.outcome is None and not wait.cancelled:
        return undecided("the run ended before the first pause did")
    return finding


def hinted(pause: Pause) -> bool:
    """The answer before this pause carries a pacing header."""
    return pause.after is not None and pause.after.says is not None and pause.after.says.paced


def _exact_schedule(wait: WaitTrace) -> Finding:
    if wait.call.poll_interval is not None or wait.call.jitter_seed is not None:
        return held()
    return _overdue(wait, lambda pause: not hinted(pause))


def _interval_fixed(wait: WaitTrace) -> Finding:
    if wait.call.poll_interval is None or wait.call.jitter_seed is not None:
        return held()
    return _overdue(wait, lambda pause: not hinted(pause))


def _jitter_in_range(wait: WaitTrace) -> Finding:
    if wait.call.jitter_seed is None:
        return held()
    return _overdue(wait, lambda pause: not hinted(pause))


def _early_wake(wait: WaitTrace) -> Finding:
    if wait.dialect.early_wake != "remainder":
        return held()
    seen = []
    for pause in wait.pauses():
        targets = [sleep.start.at + sleep.asked for sleep in pause.sleeps if sleep.late < -wait.tolerance]
        if not targets or len(pause.sleeps) >= MOST_REMAINDERS:
            continue
        target = max(targets)
        if not math.isfinite(target):
            continue
        if pause.next.began < target - wait.tolerance:
            return breach(
                wait, "fetched after a sleep that woke early, before its time", [*pause.sleeps[:2], pause.next],
                expected=f"no fetch before {seconds(target)}", observed=f"a fetch at {seconds(pause.next.began)}",
            )  # fmt: skip
        seen.append(pause.next.start.seq)
    return held(seen)


INVARIANTS = (
    Invariant(
        id="waiter.exact_schedule", level=Level.MUST, claim="schedule", check=each_wait(_exact_schedule), source="SPEC 2 step 3; W20, W60, W62",
        expectation="Between polls it pauses for the delay that the recurrence says (first delay, factor, cap), clipped to the deadline.",
    ),
    Invariant(
        id="waiter.interval_fixed", level=Level.MUST, claim="schedule", check=each_wait(_interval_fixed), source="SPEC 2 step 4; W47, W62",
        expectation="With poll_interval every pause is that interval: no backoff, no cap.",
        possible=lambda dialect: "poll_interval" in dialect.parameters,
    ),
    Invariant(
        id="waiter.jitter_in_range", level=Level.MUST, claim="jitter", check=each_wait(_jitter_in_range), source="SPEC 2 jitter; W60",
        expectation="With jitter each pause lies between half the delay and the delay, never above the cap.",
        possible=lambda dialect: "jitter_seed" in dialect.parameters,
    ),
    Invariant(
        id="waiter.early_wake_no_fetch", level=Level.MUST, claim="early_wake", check=each_wait(_early_wake), source="SPEC 2 step 6",
        expectation="A sleep that wakes early sleeps its remainder; there is no fetch before its time.",
    ),
)  # fmt: skip
