"""What the families of dispatch invariants share: judging queue by queue, and saying where one broke a rule."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeAlias

from ....harness.history import Event, History
from ....harness.invariant import Checker, Invariant, Level
from ....harness.verdicts import Finding, first_bad, violated
from ...dispatch_trace import Attempt, DispatchTrace, Submit, traces

Judge: TypeAlias = Callable[[DispatchTrace], Finding]


def each_queue(judge: Judge) -> Checker:
    """A checker that judges each queue of a history by itself."""

    def check(history: History) -> Finding:
        return first_bad([judge(trace) for trace in traces(history)])

    return check


def must(  # noqa: PLR0917 - a table reads best as rows
    name: str, claim: str, judge: Judge, source: str, expectation: str, possible: Callable[[Any], bool] = lambda _: True
) -> Invariant:
    """A MUST of queues that claim this, judged queue by queue."""
    return Invariant(
        id=f"dispatch.{name}",
        level=Level.MUST,
        claim=claim,
        check=each_queue(judge),
        source=source,
        expectation=expectation,
        possible=possible,
    )


def breach(
    cause: str, at: Iterable[Event | Submit | Attempt | None], *, expected: str, observed: str, of: str = ""
) -> Finding:
    """A violation, shown by these events, in the order in which they happened. ``of``: the op that the cause is said of."""
    shown = sorted({item.seq if isinstance(item, Event) else item.start.seq for item in at if item is not None})
    return violated(f"{of}: {cause}" if of else cause, events=tuple(shown), expected=expected, observed=observed)


def call(submit: Submit) -> str:
    """A submit for a person."""
    return f"{submit.op} ({submit.type} {submit.target} of {submit.uid})"


def told(submit: Submit) -> str:
    """What a submit was told, for a person."""
    if submit.outcome is None:
        return "no outcome"
    words = submit.kind + (f" ({submit.own})" if submit.own else "") + (f", {submit.reason}" if submit.reason else "")
    return f"{words} at {seconds(submit.told)}"


def seconds(value: float) -> str:
    """A time for a person."""
    return f"{value:.6g} s"
