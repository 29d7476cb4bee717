"""The decisions of a wait, without any I/O (SPEC section 2).

A driver tells the core what happened and what time it is, and does what the core answers. The core never reads a
clock and never sleeps, so its rules can be tested, modelled and explored as plain arithmetic::

    core = WaitCore(WaitPolicy(timeout=60.0), resolution=0.001)
    step = core.start(now)
    # Fetch()          -> fetch the job, then core.fetched(outcome, arrival=..., now=...)
    # Sleep(seconds=s) -> sleep s seconds, then core.slept(now)
    # Return(job=j)    -> return j
    # Raise(error=e)   -> raise e
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeAlias

from ..error_table import ErrorClass, classify
from ..normaliser.job import Job, JobStatus, ResultT
from .errors import JobFailedError, JobWaitTimeoutError
from .nap import Nap
from .outcome import Outcome
from .policy import PollEvent, WaitPolicy

__all__ = ["Fetch", "Raise", "Return", "Sleep", "Step", "WaitCore"]

MIN_GAP = 0.005
"""Seconds that two fetches are apart at the least, the one at the deadline excepted."""

_MIN_HINTED_WAIT = 0.01

# Leaves a jittered wait a millisecond of tolerance above MIN_GAP. It is still in the upper half of its delay: no
# delay is below 10 ms.
_MIN_JITTERED_WAIT = MIN_GAP + 0.001

# arrival + hint and start + timeout are sums of floats: what differs by less than this is the same moment.
_ROUNDING = 1e-6


@dataclass(frozen=True, kw_only=True)
class Fetch:
    """Fetch the job now."""


@dataclass(frozen=True, kw_only=True)
class Sleep:
    """Sleep, then say so."""

    seconds: float
    """Always above 0."""


@dataclass(frozen=True, kw_only=True)
class Return(Generic[ResultT]):
    """The wait is over: this is its result."""

    job: Job[ResultT]


@dataclass(frozen=True, kw_only=True)
class Raise:
    """The wait is over: this is its error."""

    error: Exception


Step: TypeAlias = Fetch | Sleep | Return[ResultT] | Raise


class WaitCore(Generic[ResultT]):
    """The state of one wait. Times are seconds of one monotonic clock, `resolution` is that clock's.

    A moment is reached when it is less than or exactly one resolution away: a sleep that ends there is done, and a
    deadline that near has come.
    """

    def __init__(self, policy: WaitPolicy, *, resolution: float) -> None:
        self._policy = policy
        self._resolution = resolution
        self._delay = policy.initial_delay
        self._start = 0.0
        self._deadline = 0.0
        self._request_start = 0.0
        self._polls = 0
        self._last_job: Job[ResultT] | None = None
        self._last_error: Exception | None = None  # of the last fetch, not the last error ever
        # Of the sleep under way:
        self._nap = Nap(target=0.0, tolerance=0.0)
        self._fetch_after_sleep = True

    def start(self, now: float) -> Fetch:
        """Begin the wait: the job is fetched at once."""
        self._start = self._request_start = now
        self._deadline = now + self._policy.timeout
        return Fetch()

    def poll_event(self, outcome: Outcome[ResultT], *, arrival: float) -> PollEvent:
        """Return what to tell `on_poll` about the fetch that has just ended, before `fetched` is called."""
        return PollEvent(
            polls=self._polls + 1,
            elapsed=arrival - self._start,
            job=outcome.job or self._last_job,
            error=outcome.error,
        )

    def fetched(self, outcome: Outcome[ResultT], *, arrival: float, now: float) -> Step[ResultT]:
        """Decide what follows a fetch that ended at `arrival`; `now` is later if something took time since."""
        self._polls += 1
        self._last_error = outcome.error
        if outcome.job is not None:
            self._last_job = outcome.job
            if outcome.job.is_terminal:
                return self._ended(outcome.job)
        elif outcome.error is not None and not self._tolerates(outcome.error):
            return Raise(error=outcome.error)
        if self._deadline - now <= self._resolution:
            return self._timed_out(now)
        return self._sleep(outcome, arrival=arrival, now=now)

    def slept(self, now: float) -> Step[ResultT]:
        """Decide what follows a sleep: its remainder if it was cut short, else the next fetch."""
        remainder = self._nap.remainder(now)
        if remainder is not None:
            return Sleep(seconds=remainder)
        if not self._fetch_after_sleep:
            return self._timed_out(now)
        self._request_start = now
        return Fetch()

    def _ended(self, job: Job[ResultT]) -> Return[ResultT] | Raise:
        # Keyed on the status alone: a failure without an error object is still a failure.
        if self._policy.raise_on_failure and job.status is not JobStatus.COMPLETED:
            return Raise(error=JobFailedError(job=job))
        return Return(job=job)

    def _tolerates(self, error: Exception) -> bool:
        kind = classify(error)
        if kind is ErrorClass.NOT_FOUND:
            return self._request_start - self._start < self._policy.not_found_grace
        return kind is ErrorClass.TRANSIENT

    def _timed_out(self, now: float) -> Raise:
        error = JobWaitTimeoutError(job=self._last_job, elapsed=now - self._start, polls=self._polls)
        error.__cause__ = self._last_error
        return Raise(error=error)

    def _sleep(self, outcome: Outcome[ResultT], *, arrival: float, now: float) -> Sleep:
        wait = self._wait(outcome, arrival=arrival, now=now)
        # Whatever this wait is, the delays follow their own recurrence.
        self._delay = self._policy.delay_after(self._delay)
        left = self._deadline - now
        # A server that asks to be left alone until after the deadline is not asked again, not even once at the end.
        hint = outcome.hint if outcome.error is not None else None
        self._fetch_after_sleep = hint is None or arrival + hint <= self._deadline + _ROUNDING
        if wait >= left:
            self._nap = Nap(target=self._deadline, tolerance=self._resolution)
            return Sleep(seconds=left)
        # A clock may be so coarse that its tolerance would let two fetches meet.
        self._nap = Nap(target=now + wait, tolerance=min(self._resolution, wait - MIN_GAP))
        return Sleep(seconds=wait)

    def _wait(self, outcome: Outcome[ResultT], *, arrival: float, now: float) -> float:
        """Return how long to sleep from `now`, before the clip to the deadline."""
        # The hint counts from the arrival of the answer; a callback may have used some of it up.
        hint = None if outcome.hint is None else outcome.hint - (now - arrival)
        if hint is not None and outcome.error is None:
            return max(hint, _MIN_HINTED_WAIT)
        wait = self._jittered(self._delay)
        return wait if hint is None else max(wait, hint)

    def _jittered(self, delay: float) -> float:
        if self._policy.jitter is None:
            return delay
        drawn = delay * (0.5 + 0.5 * self._policy.jitter.random())
        return max(drawn, _MIN_JITTERED_WAIT)
