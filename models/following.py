"""Following a wait with the reference model while it runs: where it stands, where it parted, which instants matter next."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias

from .trace import Fetch, Sleep, WaitTrace
from .waiter import Action, State, WaiterModel

Instant: TypeAlias = Literal["wake", "deadline", "fetch_timeout"]

INSTANTS: Final[tuple[Instant, ...]] = ("wake", "deadline", "fetch_timeout")


@dataclass(frozen=True, kw_only=True)
class Standing:
    """Where a wait stands, by the model.

    ``state``: the model's state after all that was seen. ``parted``: the first thing that the model does not allow, in words, with what
    it does allow; empty as long as the wait follows. ``over``: the wait has ended, or was cancelled: the model has nothing more to say.
    ``instants``: seconds (virtual) at which something matters next: when the next poll is due (``wake``), when the limit is reached
    (``deadline``), when the open fetch must be given up (``fetch_timeout``). Only those that are known and finite.
    """

    state: State
    parted: str = ""
    over: bool = False
    instants: Mapping[Instant, float] = field(default_factory=dict)


def follow(wait: WaitTrace) -> Standing:
    """Follow a wait, finished or not, through the model of its dialect. A pure function of the trace."""
    model = WaiterModel.of(wait.call, wait.dialect, wait.claims, wait.began)
    state, near = model.start(), wait.tolerance
    beneath = {id(fetch) for poll in wait.polls() for fetch in poll[1:]}
    for item in wait.items:
        if state.phase == "free" or (wait.cancel is not None and item.start.seq > wait.cancel.seq):
            return Standing(state=state, over=True)
        options = model.allowed(state)
        if not _fits(options, item, near):
            return Standing(state=state, parted=_words(item, options))
        if isinstance(item, Sleep):
            if item.end is not None:
                state = model.slept(state, item.end.at, early=item.late < 0)
            continue
        if id(item) in beneath:  # a client's own retry belongs to its poll, whatever the client slept before it
            state = dataclasses.replace(state, phase="answered")
        state = model.fetching(state, item.began)
        if item.end is not None and item.says is not None:
            state = model.answered(state, item.ended, item.says)
    if wait.outcome is not None or wait.cancel is not None or wait.stop is not None or state.phase == "free":
        return Standing(state=state, parted=_parted_at_the_end(wait, model, state, near), over=True)
    return Standing(state=state, instants=_instants(model, state))


def _fits(options: tuple[Action, ...], item: Fetch | Sleep, near: float) -> bool:
    """A fetch is judged by when it leaves, a sleep by when it will be over."""
    if isinstance(item, Fetch):
        return any(
            action.act == "fetch" and action.low - near <= item.began <= action.high + near for action in options
        )
    if item.asked <= near:
        return True  # a sleep of no time is no pause
    until = item.start.at + item.asked
    return any(action.act == "sleep" and action.low - near <= until <= action.high + near for action in options)


def _parted_at_the_end(wait: WaitTrace, model: WaiterModel, state: State, near: float) -> str:
    if wait.outcome is None or wait.cancelled or state.phase in ("free", "cancelled"):
        return ""
    at, options = wait.outcome.at, model.allowed(state)
    for action in options:
        if action.act in (wait.category, "any") and action.low - near <= at <= action.high + near:
            return ""
    return f"{wait.category} at {at:.6g} s, where the model allows {_allowed(options)}"


def _words(item: Fetch | Sleep, options: tuple[Action, ...]) -> str:
    at = item.start.at
    what = f"a fetch at {at:.6g} s" if isinstance(item, Fetch) else f"a sleep of {item.asked:.6g} s at {at:.6g} s"
    return f"{what}, where the model allows {_allowed(options)}"


def _allowed(options: tuple[Action, ...]) -> str:
    return (
        " or ".join(f"{action.act} from {action.low:.6g} s to {action.high:.6g} s" for action in options) or "nothing"
    )


def _instants(model: WaiterModel, state: State) -> dict[Instant, float]:
    found: dict[Instant, float] = {}
    if math.isfinite(model.deadline):
        found["deadline"] = model.deadline
    if state.phase == "fetching":
        limit = state.fetch_began + model.call.fetch_timeout
        if model.dialect.fetch_limit != "none" and math.isfinite(limit):
            found["fetch_timeout"] = limit
        return found
    due = [action.low for action in model.allowed(state) if action.act == "fetch" and math.isfinite(action.low)]
    if due:
        found["wake"] = min(due)
    return found
