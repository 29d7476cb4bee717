"""Following a wait with the reference model, while it runs or afterwards: where it stands, where it parted, which instants matter next."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias

from ..harness.history import Event, History
from ..harness.parting import Parting
from .trace import NOISE, Fetch, Sleep, WaitTrace, traces
from .waiter import Action, State, WaiterModel

Instant: TypeAlias = Literal["wake", "deadline", "fetch_timeout"]

INSTANTS: Final[tuple[Instant, ...]] = ("wake", "deadline", "fetch_timeout")


@dataclass(frozen=True, kw_only=True)
class Standing:
    """Where a wait stands, by the model.

    ``state``: the model's state after all that was seen. ``parting``: the first thing that the model does not allow, and what it does
    allow; ``None`` as long as the wait follows. ``over``: the wait has ended, or was cancelled: the model has nothing more to say.
    ``instants``: seconds (virtual) at which something matters next: when the next poll is due (``wake``), when the limit is reached
    (``deadline``), when the open fetch must be given up (``fetch_timeout``). Only those that are known and finite.
    """

    state: State
    parting: Parting | None = None
    over: bool = False
    instants: Mapping[Instant, float] = field(default_factory=dict)

    @property
    def parted(self) -> str:
        """Where it parted, in a line; empty as long as the wait follows."""
        return f"{self.parting.observed}, where the model allows {self.parting.allowed}" if self.parting else ""


def first_parting(history: History) -> Parting | None:
    """The first place in a history where a wait parts from the model, ``None`` if none does. Waits with bad arguments are passed over."""
    standings = [follow(wait) for wait in traces(history) if wait.sane]
    found = [standing.parting for standing in standings if standing.parting is not None]
    return min(found, key=lambda parting: parting.event, default=None)


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
            return Standing(state=state, parting=_parting(wait, model, state, item.start, _item_words(item)))
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
        return Standing(state=state, parting=_parting_at_the_end(wait, model, state, near), over=True)
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


def _parting_at_the_end(wait: WaitTrace, model: WaiterModel, state: State, near: float) -> Parting | None:
    if wait.outcome is None or wait.cancelled or state.phase in ("free", "cancelled"):
        return None
    at = wait.outcome.at
    for action in model.allowed(state):
        if action.act in (wait.category, "any") and action.low - near <= at <= action.high + near:
            return None
    words = "a return" if wait.category == "returned" else _NAMES.get(wait.category, f"a raise ({wait.category})")
    return _parting(wait, model, state, wait.outcome, f"{words} at {seconds(at)}")


def _parting(wait: WaitTrace, model: WaiterModel, state: State, event: Event, observed: str) -> Parting:
    name = f"{wait.run}/{wait.name}" if wait.run else wait.name
    return Parting(
        event=event.seq,
        state=f"{name}: {_standing_words(model, state)}",
        allowed=_allowed(model.allowed(state)),
        observed=observed,
    )


def _item_words(item: Fetch | Sleep) -> str:
    at = seconds(item.start.at)
    return f"a fetch at {at}" if isinstance(item, Fetch) else f"a sleep of {seconds(item.asked)} at {at}"


def _standing_words(model: WaiterModel, state: State) -> str:
    """Where the model stands, for a person."""
    parts = [f"{state.phase} at {seconds(state.now)}", f"{state.polls} {'poll' if state.polls == 1 else 'polls'} done"]
    parts += [f"the last answer was {state.says.kind}"] if state.says is not None else []
    goes_on = any(action.act in ("fetch", "sleep") for action in model.allowed(state))
    parts += [f"next poll due {_span(*state.due)}"] if goes_on and state.due is not None else []
    parts += [f"deadline at {seconds(model.deadline)}"] if math.isfinite(model.deadline) else []
    return ", ".join(parts)


_NAMES: Final[Mapping[str, str]] = {
    "fetch": "a fetch",
    "sleep": "a sleep",
    "returned": "a return",
    "failure": "the failure error",
    "timeout": "the timeout error",
    "transport": "the transport error",
    "cancelled": "the cancellation",
    "error": "any error",
    "any": "any return or error",
}


def _allowed(options: tuple[Action, ...]) -> str:
    return " or ".join(_option(action) for action in options) or "nothing before the fetch has ended"


def _option(action: Action) -> str:
    until = "that ends " if action.act == "sleep" else ""
    return f"{_NAMES[action.act]} {until}{_span(action.low, action.high)}"


def _span(low: float, high: float) -> str:
    if high - low < NOISE:
        return f"at {seconds(low)}"
    return f"from {seconds(low)} on" if math.isinf(high) else f"from {seconds(low)} to {seconds(high)}"


def seconds(value: float) -> str:
    """Seconds for a person: six digits are enough to tell two instants apart."""
    return f"{value:.6g} s"


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
