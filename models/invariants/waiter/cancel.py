"""Cancellation: it stops, at once, and comes out as it went in (SPEC 2, step 7; SPEC 5 safety)."""

from __future__ import annotations

from ....harness.history import Event
from ....harness.invariant import Invariant, Level
from ....harness.verdicts import Finding, held, undecided
from ...trace import Fetch, WaitTrace
from ._judging import breach, each_wait, how, seconds


def _stops(wait: WaitTrace) -> Finding:
    if wait.outcome is not None:
        leaked = wait.after(wait.outcome)
        if leaked:
            act = "fetch" if isinstance(leaked[0], Fetch) else "sleep"
            return breach(
                wait, f"a {act} began after the wait had ended", [wait.outcome, leaked[0]], expected="nothing more", observed=f"a {act} at {seconds(leaked[0].start.at)}",
            )  # fmt: skip
    if wait.cancel is None or not wait.cancelled:
        return held()
    for fetch in wait.fetches:
        # a task that was already awake when it was cancelled may reach its next await first: the same instant is no fault
        if fetch.start.seq > wait.cancel.seq and fetch.began > wait.cancel.at + wait.tolerance:
            return breach(
                wait, "a fetch began after the wait had been cancelled", [wait.cancel, fetch],
                expected=f"no fetch after {seconds(wait.cancel.at)}", observed=f"a fetch at {seconds(fetch.began)}",
            )  # fmt: skip
    if wait.outcome is None:
        return undecided("the run ended before the cancelled wait did", events=(wait.cancel.seq,))
    return held([wait.cancel.seq])


def _prompt(wait: WaitTrace) -> Finding:
    if wait.cancel is None or not wait.cancelled:
        return held()
    end = wait.outcome or wait.last
    if end is not None and end.at > wait.cancel.at + wait.tolerance:
        return breach(
            wait, "went on after it had been cancelled", [wait.cancel, end], expected=f"the end at {seconds(wait.cancel.at)}", observed=how(wait),
        )  # fmt: skip
    if wait.outcome is None:
        return undecided("the run ended before the cancelled wait did", events=(wait.cancel.seq,))
    for fetch in wait.fetches[-2:]:
        if (
            fetch.end is not None
            and fetch.start.seq < wait.outcome.seq
            and fetch.ended > wait.outcome.at + wait.tolerance
        ):
            return breach(
                wait, "left a fetch running behind it", [wait.outcome, fetch.end], expected=f"its end at {seconds(wait.cancel.at)}",
                observed=f"its end at {seconds(fetch.ended)}",
            )  # fmt: skip
    return held([wait.cancel.seq])


def _decided_by_then(wait: WaitTrace, cancel: Event) -> bool:
    """Something was over at the instant of the cancel, so that the wait may have ended by itself."""
    if wait.outcome is None or wait.outcome.at > cancel.at + wait.tolerance:
        return False
    since = cancel.at - wait.tolerance
    ends = [item.end for item in wait.items[-2:] if item.end is not None and item.end.at >= since]
    return any(end.data.get("ending") in ("answer", "error", "woke") for end in ends)


def _original(wait: WaitTrace) -> Finding:
    if wait.cancel is None or not wait.cancelled:
        return held()
    if wait.outcome is None:
        return undecided("the run ended before the cancelled wait did", events=(wait.cancel.seq,))
    if wait.category == "cancelled":
        return held([wait.outcome.seq])
    if _decided_by_then(wait, wait.cancel):
        return held()
    return breach(
        wait, "the cancellation did not come out", [wait.cancel, wait.outcome], expected="the original cancellation", observed=how(wait),
    )  # fmt: skip


INVARIANTS = (
    Invariant(
        id="waiter.cancel_stops", level=Level.MUST, safety=True, check=each_wait(_stops, bad_calls=True), source="SPEC 5 safety; W78",
        expectation="No fetch begins after the cancel was delivered, and nothing begins after the wait has ended.",
    ),
    Invariant(
        id="waiter.cancel_prompt", level=Level.MUST, claim="cancel_prompt", check=each_wait(_prompt), source="SPEC 2 step 7; W78",
        expectation="A cancelled wait ends at the instant of the cancel, and so does its fetch.",
    ),
    Invariant(
        id="waiter.cancel_original", level=Level.MUST, claim="cancel_original", check=each_wait(_original), source="SPEC 2 step 7; W78",
        expectation="A cancelled wait raises the original cancellation: it is not converted, not swallowed, not retried.",
    ),
)  # fmt: skip
