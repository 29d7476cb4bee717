"""What the families of waiter invariants share: judging wait by wait, and saying where a wait broke a rule."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeAlias

from ....harness.history import Event, History
from ....harness.invariant import Checker
from ....harness.verdicts import Finding, first_bad, violated
from ...trace import Fetch, Sleep, WaitTrace, traces

Judge: TypeAlias = Callable[[WaitTrace], Finding]


def each_wait(judge: Judge, *, bad_calls: bool = False) -> Checker:
    """A checker that judges each wait by itself. Waits with bad arguments are left out, unless ``bad_calls``: nothing is promised."""

    def check(history: History) -> Finding:
        return first_bad([judge(wait) for wait in traces(history) if bad_calls or wait.sane])

    return check


def breach(
    wait: WaitTrace, cause: str, at: Iterable[Event | Fetch | Sleep | None], *, expected: str, observed: str
) -> Finding:
    """A violation in this wait, shown by these events."""
    name = f"{wait.run}/{wait.name}" if wait.run else wait.name
    shown = tuple(item.seq if isinstance(item, Event) else item.start.seq for item in at if item is not None)
    return violated(f"{name}: {cause}", events=shown, expected=expected, observed=observed)


def how(wait: WaitTrace) -> str:
    """How the wait ended, in words."""
    if wait.outcome is None:
        return "no end yet"
    if wait.category == "returned":
        return f"returned {wait.view.get('status') or 'a value'} at {wait.outcome.at:.6g} s"
    return f"raised {wait.outcome.data.get('type', '?')} ({wait.category}) at {wait.outcome.at:.6g} s"


def seconds(value: float) -> str:
    """A time for a person."""
    return f"{value:.6g} s"
