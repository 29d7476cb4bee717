"""The whole wait against the reference model: each thing that it does is one that the model allows at that moment (SPEC 2)."""

from __future__ import annotations

import math

from ....harness.invariant import Invariant, Level
from ....harness.verdicts import Finding, held, undecided
from ...trace import Fetch, WaitTrace
from ...waiter import Action, State, WaiterModel
from ._judging import breach, each_wait, how, seconds


def _follows(wait: WaitTrace) -> Finding:
    model = WaiterModel.of(wait.call, wait.dialect, wait.claims, wait.began)
    state, near = model.start(), wait.tolerance
    for item in wait.items:
        if wait.cancel is not None and item.start.seq > wait.cancel.seq:
            return held()  # what a cancelled wait may do is for the family of cancellation
        if state.phase == "free":
            return held()
        fetching = isinstance(item, Fetch)
        if not _fits(model, state, "fetch" if fetching else "sleep", item.start.at, near):
            return _parted(
                wait, model, state, item, f"{'a fetch' if fetching else 'a sleep'} at {seconds(item.start.at)}"
            )
        if isinstance(item, Fetch):
            state = model.fetching(state, item.began)
            if item.end is None or item.says is None:
                return (
                    undecided("the run ended in the middle of a fetch", events=(item.start.seq,))
                    if wait.outcome is None
                    else held()
                )
            state = model.answered(state, item.ended, item.says)
        else:
            if item.end is None:
                return (
                    undecided("the run ended in the middle of a sleep", events=(item.start.seq,))
                    if wait.outcome is None
                    else held()
                )
            state = model.slept(state, item.end.at, early=item.late < 0)
    if wait.outcome is None:
        return held() if wait.cancelled else undecided("the run ended before the wait did")
    if wait.cancelled or state.phase in ("free", "cancelled"):
        return held()
    if not _fits(model, state, wait.category, wait.outcome.at, near):
        return _parted(wait, model, state, wait.items[-1] if wait.items else None, how(wait))
    return held([wait.outcome.seq])


def _fits(model: WaiterModel, state: State, act: str, at: float, near: float) -> bool:
    names = {act}
    if act not in ("fetch", "sleep"):
        names |= {"any"} if act == "returned" else {"any", "error"}
    return any(action.act in names and action.low - near <= at <= action.high + near for action in model.allowed(state))


def _parted(wait: WaitTrace, model: WaiterModel, state: State, item: Fetch | object, observed: str) -> Finding:
    options = " or ".join(_words(action) for action in model.allowed(state)) or "nothing before the fetch has ended"
    at = item if isinstance(item, Fetch) else None
    return breach(
        wait, f"does what the model does not: {observed}", [at or wait.start, wait.outcome], expected=options, observed=observed,
    )  # fmt: skip


def _words(action: Action) -> str:
    if action.high - action.low < 1e-6:
        return f"{action.act} at {seconds(action.low)}"
    return f"{action.act} from {seconds(action.low)}" + (
        "" if math.isinf(action.high) else f" to {seconds(action.high)}"
    )


INVARIANTS = (
    Invariant(
        id="waiter.follows_model", level=Level.MUST, claim="reference", check=each_wait(_follows), source="SPEC 2",
        expectation="Each fetch, sleep, return and raise is one that the reference model of the dialect allows at that moment.",
    ),
)  # fmt: skip
