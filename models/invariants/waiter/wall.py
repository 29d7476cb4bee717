"""The wall clock within one run: it may jump, and nothing follows from it (SPEC 2, step 6)."""

from __future__ import annotations

from ....harness.invariant import Invariant, Level
from ....harness.verdicts import Finding, held
from ...schedule import Delays, due
from ...trace import WaitTrace
from ._judging import breach, each_wait, how, seconds


def _monotonic_only(wait: WaitTrace) -> Finding:
    """A wait in which the wall clock jumped by more than a resolution neither gave up early nor overslept because of it."""
    jumps = [jump for jump in wait.jumps if wait.outcome is None or jump.seq < wait.outcome.seq]
    if not jumps:
        return held()
    deadline, soonest, near = wait.deadline, wait.soonest_end, wait.tolerance
    if (
        wait.category == "timeout"
        and "deadline" in wait.claims  # one that may give up before its limit is compared with itself, by the relation
        and wait.outcome is not None
        and soonest is not None
        and wait.outcome.at < soonest - near
    ):
        return breach(
            wait, "gave up early after a jump of the wall clock", [jumps[0], wait.outcome], expected=f"a timeout at {seconds(soonest)}", observed=how(wait),
        )  # fmt: skip
    delays = Delays(wait.call)
    for pause in wait.pauses():
        says = pause.after.says if pause.after is not None else None
        window = due(wait.call, wait.dialect, wait.claims, delay=delays[pause.index], begin=pause.begin, says=says)
        if window is None:
            continue
        longest = max(window[1] - pause.begin, delays[pause.index]) + pause.late
        over = pause.next.began - pause.begin - longest
        inside = [jump for jump in jumps if pause.begin - near <= jump.at <= pause.next.began + near]
        if inside and over > near and "schedule" in wait.claims:
            return breach(
                wait, "overslept after a jump of the wall clock", [inside[0], pause.next], expected=f"a fetch within {seconds(longest)}", observed=f"{seconds(over)} later",
            )  # fmt: skip
    end = wait.outcome or wait.last
    busy = max((fetch.ended - fetch.began for fetch in wait.fetches if fetch.end is not None), default=0.0)
    late = sum(max(sleep.late, 0.0) for sleep in wait.sleeps)
    if (
        end is not None
        and deadline is not None
        and not wait.cancelled
        and wait.dialect.clips
        and wait.dialect.transient != "client"
    ):
        bound = deadline + busy + late + near
        if end.at > bound:
            return breach(
                wait, "went on past its limit after a jump of the wall clock", [jumps[0], end], expected=f"the end by {seconds(bound)}", observed=how(wait),
            )  # fmt: skip
    return held([jump.seq for jump in jumps] if wait.outcome is not None else [])


jump_harmless = each_wait(_monotonic_only)

INVARIANTS = (
    Invariant(
        id="waiter.wall_jump_harmless", level=Level.MUST, claim="monotonic", check=jump_harmless, source="SPEC 2 step 6; W61",
        expectation="A wait during which the wall clock jumps gives up at its monotonic deadline, neither earlier nor later.",
    ),
)  # fmt: skip
