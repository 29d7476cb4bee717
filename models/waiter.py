"""The reference waiter: a pure state machine over fetch, sleep, return and raise, parameterised by a dialect (SPEC 2).

It is told what happened and answers with the set of things that may happen next, each with the interval of times at which it may.
Where SPEC 2 or the dialect leave freedom the set has several members. It shares no table with any subject.
"""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from typing import Literal

from ..harness.dialect import WaiterDialect
from ..harness.protocols import WaitCall
from .answers import SURFACING, Says
from .schedule import Delays, due, past_deadline

Act = Literal["fetch", "sleep", "returned", "failure", "timeout", "transport", "cancelled", "error", "any"]

MOST_REMAINDERS = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Action:
    """One thing that may happen next, between ``low`` and ``high`` (virtual seconds; for a sleep: where its target may lie).

    ``error`` stands for every raise, ``any`` for every return and every raise: the rules do not say which.
    """

    act: Act
    low: float
    high: float


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """Where a wait stands.

    ``phase``: ``start``, ``fetching``, ``answered`` (an answer is there and nothing has been done since), ``pausing`` (a sleep has been
    seen since), ``free`` (an answer that the rules do not settle: everything is allowed from here on) or ``cancelled``.
    ``polls``: finished polls. ``retries``: requests of the present poll beyond its first. ``due``: when the next poll is due, before the
    clip. ``hopeless``: the server asked to be left alone past the deadline. ``remainders``: sleeps of this pause.
    """

    phase: Literal["start", "fetching", "answered", "pausing", "free", "cancelled"] = "start"
    now: float = 0.0
    polls: int = 0
    retries: int = 0
    says: Says | None = None
    due: tuple[float, float] | None = None
    hopeless: bool | None = False
    remainders: int = 0
    fetch_began: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class WaiterModel:
    """The machine for one wait: its arguments, the subject's dialect and claims, and when it was called."""

    call: WaitCall
    dialect: WaiterDialect
    claims: frozenset[str]
    began: float = 0.0
    delays: Delays = dataclasses.field(default_factory=lambda: Delays(WaitCall()))

    @classmethod
    def of(cls, call: WaitCall, dialect: WaiterDialect, claims: frozenset[str], began: float = 0.0) -> WaiterModel:
        """The machine for this wait."""
        return cls(call=call, dialect=dialect, claims=claims, began=began, delays=Delays(call))

    @property
    def deadline(self) -> float:
        """The second at which the time limit is reached; infinite without one."""
        return self.began + self.call.timeout if self.dialect.limit == "time" else math.inf

    @property
    def tolerance(self) -> float:
        """Within this many seconds two instants are one."""
        return self.dialect.resolution + 1e-6

    # -- what happened -----------------------------------------------------------------------------------------------

    def start(self) -> State:
        """The wait has been called."""
        first = self.dialect.first == "sleep"
        begin = self.began
        return State(
            now=begin,
            due=due(self.call, self.dialect, self.claims, delay=self.delays[0], begin=begin, says=None)
            if first
            else (begin, begin),
        )

    def fetching(self, state: State, at: float) -> State:
        """A request has left."""
        again = state.phase == "answered" and self._retries_beneath(state)
        return dataclasses.replace(
            state,
            phase="fetching",
            now=at,
            fetch_began=at,
            retries=state.retries + 1 if again else 0,
            polls=state.polls - (1 if again else 0),
        )

    def answered(self, state: State, at: float, says: Says) -> State:
        """The request is over."""
        if says.kind == "aborted":
            return dataclasses.replace(state, phase="cancelled", now=at)
        polls = state.polls + 1
        index = polls - 1 + (1 if self.dialect.first == "sleep" else 0)
        return dataclasses.replace(
            state,
            phase="free" if says.kind == "unclear" else "answered",
            now=at,
            polls=polls,
            says=says,
            due=due(self.call, self.dialect, self.claims, delay=self.delays[index], begin=at, says=says),
            hopeless=past_deadline(says, at, self.deadline if math.isfinite(self.deadline) else None, self.tolerance),
            remainders=0,
        )

    def slept(self, state: State, at: float, *, early: bool = False) -> State:
        """A sleep is over. If it woke late, so is what is due; if it woke early, a waiter that then fetches at once may do so."""
        window = state.due
        if window is not None:
            low, high = window
            if (early and self.dialect.early_wake == "fetch") or state.remainders + 1 >= MOST_REMAINDERS:
                low = min(low, at)
            window = (low, max(high, at))
        return dataclasses.replace(state, phase="pausing", now=at, due=window, remainders=state.remainders + 1)

    def cancelling(self, state: State, at: float) -> State:
        """The caller has cancelled."""
        return dataclasses.replace(state, phase="cancelled", now=at)

    # -- what may happen next ----------------------------------------------------------------------------------------

    def allowed(self, state: State) -> tuple[Action, ...]:
        """The actions that the rules allow now."""
        now = state.now
        match state.phase:
            case "fetching":
                return ()  # it is the server's turn, or the fetch timeout's
            case "free":
                return tuple(Action(act=act, low=now, high=math.inf) for act in ("any", "fetch", "sleep"))
            case "cancelled":
                return (Action(act="cancelled", low=now, high=now),)
            case "start":
                return self._pause(state)
            case "answered":
                return self._after_answer(state)
            case _:
                return self._pause(state)

    def _after_answer(self, state: State) -> tuple[Action, ...]:
        says, now = state.says, state.now
        if says is None:
            return self._pause(state)
        ends = self._ends(state, says)
        if ends is None:
            return self._pause(state)
        if self._retries_beneath(state):
            return (Action(act="fetch", low=now, high=math.inf), Action(act="sleep", low=now, high=math.inf))
        return tuple(Action(act=act, low=now, high=now) for act in ends)

    def _ends(self, state: State, says: Says) -> tuple[Act, ...] | None:
        """How the wait ends after this answer, ``None`` if it goes on."""
        if says.kind == "terminal":
            return ("failure",) if raises_failure(self.call, self.dialect, says) else ("returned",)
        if says.kind in SURFACING:
            return ("transport",)
        if says.kind == "not_found":
            asked_after, grace = state.fetch_began - self.began, self.call.not_found_grace
            if grace <= 0 or asked_after > grace + self.tolerance:
                return ("transport",)
            return None  # within a resolution of its end both are right; the pause says so too
        if says.kind == "transient" and self.dialect.transient != "retry":
            return ("transport",)
        if says.kind == "unknown" and self.dialect.unknown_status != "continue":
            return ("error",) if self.dialect.unknown_status == "raise" else ("any",)
        return None

    def _retries_beneath(self, state: State) -> bool:
        return (
            self.dialect.transient == "client"
            and state.says is not None
            and state.says.kind == "transient"
            and state.retries < self.dialect.client_retries
        )

    def _pause(self, state: State) -> tuple[Action, ...]:
        now, deadline, near = state.now, self.deadline, self.tolerance
        actions: list[Action] = []
        says = state.says
        asked_after = state.fetch_began - self.began
        tolerated = says is not None and says.kind == "not_found" and state.phase == "answered"
        if tolerated and abs(asked_after - self.call.not_found_grace) <= near:
            actions.append(Action(act="transport", low=now, high=now))
        if self.dialect.limit == "attempts" and self.call.attempts is not None and state.polls >= self.call.attempts:
            return (
                *actions,
                Action(act="timeout", low=now, high=math.inf),
                Action(act="sleep", low=now, high=math.inf),
            )
        if state.phase == "answered" and now >= deadline - near:
            actions.append(Action(act="timeout", low=now, high=now))
            if now > deadline - 1e-6:
                return tuple(actions)  # the answer came at the deadline or later: there is no further fetch
        low, high = state.due if state.due is not None else (now, math.inf)
        if self.dialect.clips:
            low, high = min(low, max(deadline, now)), min(high, max(deadline, now))
        if low > now + near or high > now:
            actions.append(Action(act="sleep", low=now, high=max(high, now)))
        if state.phase == "answered" and self.dialect.gives_up == "before_pause" and max(high, low) >= deadline - near:
            actions.append(Action(act="timeout", low=now, high=now))
        final = low >= deadline - near
        if state.hopeless is not False and self.dialect.clips:
            actions.append(Action(act="timeout", low=deadline - near, high=max(deadline, now)))
        if final and not self.dialect.final_poll:
            actions.append(Action(act="timeout", low=deadline - near, high=max(high, now)))
        if state.hopeless is not True and not (final and not self.dialect.final_poll and self.dialect.clips):
            actions.append(Action(act="fetch", low=low, high=max(high, now)))
        return tuple(actions)


def raises_failure(call: WaitCall, dialect: WaiterDialect, says: Says) -> bool:
    """True if this end of the job is raised, by its *status* alone (SPEC 2, step 5)."""
    if says.status == "completed" or (says.status == "cancelled" and dialect.cancelled_is == "done"):
        return False
    return dialect.failure == "raise" or (dialect.failure == "option" and call.raise_on_failure)
