"""The deadline: not early, not across, a last look at it, and then the end (SPEC 2, steps 2 and 3; total time is in limits.py)."""

from __future__ import annotations

from ....harness.invariant import Invariant, Level
from ....harness.verdicts import Finding, held, undecided
from ...schedule import PACED_STATUSES, past_deadline
from ...trace import NOISE, Fetch, WaitTrace
from ._judging import breach, each_wait, how, seconds


def _beneath(wait: WaitTrace) -> set[int]:
    """The sleeps that a client beneath takes between its own retries: they are not the waiter's."""
    found: set[int] = set()
    if wait.dialect.transient != "client":
        return found
    failed = False
    for item in wait.items:
        if isinstance(item, Fetch):
            failed = item.retried_beneath
        elif failed:
            found.add(item.start.seq)
    return found


def _no_sleep_past_deadline(wait: WaitTrace) -> Finding:
    deadline, near = wait.deadline, wait.tolerance
    if deadline is None or not wait.dialect.clips:
        return held()
    seen = []
    beneath = _beneath(wait)
    for sleep in wait.sleeps:
        if sleep.start.seq in beneath:
            continue
        target = sleep.start.at + sleep.asked
        if sleep.end is not None and sleep.end.data.get("ending") == "cancelled":
            target = min(target, sleep.end.at)  # cut short in time, by a timeout around it: it crossed nothing
        if not target <= deadline + near:  # also if it is no number
            return breach(
                wait, "asked for a sleep across the deadline", [sleep],
                expected=f"at most {seconds(max(deadline - sleep.start.at, 0.0))}", observed=f"{seconds(sleep.asked)} asked for",
            )  # fmt: skip
        if target >= deadline - near:
            seen.append(sleep.start.seq)
    if wait.dialect.gives_up == "before_pause" and wait.category == "timeout" and wait.outcome is not None:
        seen.append(wait.outcome.seq)  # it could have slept across, and gave up instead
    if not wait.sleeps:  # they are unseen: judge by what follows each poll
        for number, fetch in enumerate(wait.fetches):
            after = wait.fetches[number + 1].start if number + 1 < len(wait.fetches) else wait.outcome
            if after is None or fetch.end is None or fetch.ended > deadline - near or after.at < deadline - near:
                continue
            if after.at > deadline + near:
                return breach(
                    wait, "paused across the deadline", [fetch, after],
                    expected=f"to go on at {seconds(deadline)} at the latest", observed=f"nothing before {seconds(after.at)}",
                )  # fmt: skip
            seen.append(after.seq)
    return held(seen)


def _final_poll(wait: WaitTrace) -> Finding:
    deadline, near = wait.deadline, wait.tolerance
    if (
        deadline is None
        or not wait.dialect.final_poll
        or wait.category != "timeout"
        or wait.cancelled
        or wait.outcome is None
    ):
        if (
            wait.outcome is None
            and deadline is not None
            and wait.last is not None
            and wait.last.at >= deadline
            and wait.dialect.final_poll
        ):
            return undecided("the run ended before the wait did")
        return held()
    last = wait.fetches[-1] if wait.fetches else None
    if last is not None and last.began >= deadline - near:
        return held([last.start.seq])
    if last is not None and last.ended >= deadline - near:
        return held()  # it was in flight at the deadline: that was the last look
    says = last.says if last is not None else None
    asked_off = past_deadline(says, last.ended if last is not None else 0.0, deadline, near) is not False
    if asked_off or (
        says is not None and says.hint is not None and says.http in PACED_STATUSES and "retry_after" not in wait.claims
    ):
        return held()  # the server asked to be left alone past the deadline
    return breach(
        wait, "gave up without a last fetch at the deadline", [last, wait.outcome],
        expected=f"a fetch at {seconds(deadline)}", observed="the last fetch " + (f"at {seconds(last.began)}" if last is not None else "never was"),
    )  # fmt: skip


def _gives_up_not_early(wait: WaitTrace) -> Finding:
    if wait.category != "timeout" or wait.outcome is None or wait.cancelled:
        return held()
    last = wait.final
    if last is not None and last.says is not None and last.says.failed_fetch and wait.dialect.transient != "retry":
        return held()  # it raised a failed fetch; whether it gave it the right name is another question
    if wait.dialect.limit == "attempts":
        wanted, made = wait.call.attempts, len(wait.polls())
        if wanted is not None and made < wanted:
            return breach(
                wait, "gave up before its attempts were used up", [last, wait.outcome],
                expected=f"{wanted} polls", observed=f"{made} polls, then {how(wait)}",
            )  # fmt: skip
        return held([wait.outcome.seq])
    deadline, soonest = wait.deadline, wait.soonest_end
    if deadline is None or soonest is None:
        return breach(
            wait, "gave up though it has no limit", [wait.outcome], expected="to wait for ever", observed=how(wait)
        )
    if wait.outcome.at < soonest - wait.tolerance:
        return breach(
            wait, f"gave up {seconds(deadline - wait.outcome.at)} before the deadline", [last, wait.outcome],
            expected=f"a timeout at {seconds(soonest)} at the soonest", observed=how(wait),
        )  # fmt: skip
    return held([wait.outcome.seq])


def _stops_at_deadline(wait: WaitTrace) -> Finding:
    if wait.dialect.limit == "attempts" and wait.call.attempts is not None and len(wait.polls()) > wait.call.attempts:
        one = wait.polls()[wait.call.attempts][0]
        return breach(
            wait, "polled on after its attempts", [one], expected=f"{wait.call.attempts} polls", observed="one more"
        )
    deadline = wait.deadline
    if deadline is None:
        return held()
    # One that does not clip compares readings, and never aims at the deadline: at a rounding error from it either is right.
    since = deadline - NOISE if wait.dialect.clips else deadline + NOISE
    near = [fetch for fetch in wait.fetches if fetch.end is not None and fetch.ended >= since]
    if len(near) > 1 and any(
        0 < nap.asked <= NOISE and near[0].start.seq < nap.start.seq < near[1].start.seq for nap in wait.sleeps
    ):
        near = near[1:]  # it saw a rounding error of time left, and slept it
    spent = near[0] if near else None
    if spent is None or spent.end is None or spent.kind in ("unclear", "aborted") or wait.cancelled:
        return held()
    group = next(group for group in wait.polls() if spent in group)
    if spent is not group[-1]:
        return held()  # a client beneath retried it
    more = wait.after(spent.end)
    if more:
        act = "fetched" if isinstance(more[0], Fetch) else "slept"
        return breach(
            wait, f"{act} again though the deadline had passed", [spent.end, more[0]],
            expected=f"the end: the deadline was {seconds(deadline)}, it is {seconds(spent.ended)}", observed=act,
        )  # fmt: skip
    if wait.outcome is None:
        return undecided("the run ended at the deadline", events=(spent.end.seq,))
    if wait.outcome.at > spent.ended + wait.tolerance:
        return breach(
            wait,
            "lingered after the deadline",
            [spent.end, wait.outcome],
            expected=f"the end at {seconds(spent.ended)}",
            observed=how(wait),
        )
    return held([wait.outcome.seq])


INVARIANTS = (
    Invariant(
        id="waiter.no_sleep_past_deadline", level=Level.MUST, claim="deadline", check=each_wait(_no_sleep_past_deadline),
        source="SPEC 2 step 3; W54, W55, W57, W58", expectation="No sleep crosses the deadline.",
        possible=lambda dialect: dialect.limit == "time" and dialect.clips,
    ),
    Invariant(
        id="waiter.final_poll", level=Level.MUST, claim="final_poll", check=each_wait(_final_poll), source="SPEC 2 step 3",
        expectation="Before it gives up there is one last fetch at the deadline, unless a 429 or 503 asked for more time than is left.",
    ),
    Invariant(
        id="waiter.gives_up_not_early", level=Level.MUST, claim="deadline", check=each_wait(_gives_up_not_early),
        source="SPEC 2 step 2; W41, W47, W77", expectation="A timeout is raised at the deadline, or when the attempts are used up, never before.",
    ),
    Invariant(
        id="waiter.stops_at_deadline", level=Level.MUST, claim="deadline", check=each_wait(_stops_at_deadline), source="SPEC 2 step 2; W55",
        expectation="An answer that comes at or after the deadline is the last: the wait ends there, with no further fetch or sleep.",
        possible=lambda dialect: dialect.limit == "time",
    ),
)  # fmt: skip
