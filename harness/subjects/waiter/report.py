"""What follows every fetch, in both drivers: note the arrival, read the outcome, report it, decide."""

from __future__ import annotations

from collections.abc import Callable

from ..normaliser.job import Job, ResultT
from .core import Step, WaitCore
from .outcome import Answer, read_outcome
from .policy import WaitPolicy

__all__ = ["conclude_fetch"]


def conclude_fetch(
    core: WaitCore[ResultT],
    policy: WaitPolicy,
    answer: Answer[ResultT] | Job[ResultT] | None,
    error: Exception | None,
    *,
    monotonic: Callable[[], float],
    wall: Callable[[], float],
) -> Step[ResultT]:
    """Return the step that follows a fetch which has just returned `answer` or raised `error`."""
    now = arrival = monotonic()
    outcome = read_outcome(answer, error, wall)
    if policy.on_poll is not None:
        policy.on_poll(core.poll_event(outcome, arrival=arrival))
        now = monotonic()
    return core.fetched(outcome, arrival=arrival, now=now)
