"""Seeded bugs about the deadline: sleeping across it, forgetting the last look, giving up early, going on late."""

from __future__ import annotations

from typing import Any

from ..bug import SeededBug, wrapping
from ._parts import full_sleep


def _unclipped(self: Any, outcome: Any, *, arrival: float, now: float) -> Any:
    wait = self._wait(outcome, arrival=arrival, now=now)
    self._delay = self._policy.delay_after(self._delay)
    self._fetch_after_sleep = True
    return full_sleep(self, wait, now)


def _no_last_look(original: Any, self: Any, outcome: Any, *, arrival: float, now: float) -> Any:
    step = original(self, outcome, arrival=arrival, now=now)
    if now + step.seconds >= self._deadline:
        self._fetch_after_sleep = False
    return step


def _no_room_for_another(original: Any, self: Any, outcome: Any, *, arrival: float, now: float) -> Any:
    step = original(self, outcome, arrival=arrival, now=now)
    return self._timed_out(now) if now + step.seconds >= self._deadline else step


def _fifteen_minutes_at_most(original: Any, self: Any, now: float) -> Any:
    step = original(self, now)
    self._deadline = min(self._deadline, now + 900.0)
    return step


def _measured_before(original: Any, self: Any, outcome: Any, *, arrival: float, now: float) -> Any:  # noqa: ARG001
    return original(self, outcome, arrival=arrival, now=self._request_start)


def _renewed_by_an_error(original: Any, self: Any, outcome: Any, *, arrival: float, now: float) -> Any:
    if outcome.error is not None:
        self._deadline = now + self._policy.timeout
    return original(self, outcome, arrival=arrival, now=now)


def _renewed_by_progress(original: Any, self: Any, outcome: Any, *, arrival: float, now: float) -> Any:
    if outcome.job is not None and outcome.job.progress:
        self._deadline = now + self._policy.timeout
    return original(self, outcome, arrival=arrival, now=now)


BUGS = (
    SeededBug(
        name="full-delay-near-the-end",
        summary="sleeps its full delay though less time is left",
        invariant="waiter.no_sleep_past_deadline",
        source="W57 RedHatQE/wait_for#43",
        replaced={"waiter.core:WaitCore._sleep": _unclipped},
    ),
    SeededBug(
        name="no-last-look",
        summary="sleeps to the deadline and gives up without looking once more",
        invariant="waiter.final_poll",
        source="own",
        replaced={"waiter.core:WaitCore._sleep": wrapping(_no_last_look)},
        mode="asyncio",
    ),
    SeededBug(
        name="no-room-for-another",
        summary="gives up at once when the next delay does not fit before the deadline",
        invariant="waiter.gives_up_not_early",
        source="own",
        replaced={"waiter.core:WaitCore._sleep": wrapping(_no_room_for_another)},
    ),
    SeededBug(
        name="fifteen-minutes-at-most",
        summary="never waits longer than 15 minutes, whatever timeout it was given",
        invariant="waiter.gives_up_not_early",
        source="W41 googleapis/python-dataproc#505",
        replaced={"waiter.core:WaitCore.start": wrapping(_fifteen_minutes_at_most)},
        mode="trio",
    ),
    SeededBug(
        name="deadline-measured-before-the-call",
        summary="compares the deadline with the time at which the fetch began, so a slow fetch is not counted",
        invariant="waiter.stops_at_deadline",
        source="W54 litl/backoff#186",
        replaced={"waiter.core:WaitCore.fetched": wrapping(_measured_before)},
    ),
    SeededBug(
        name="an-error-renews-the-budget",
        summary="each failed fetch starts the timeout anew",
        invariant="waiter.total_time",
        source="W81 turbopuffer/turbopuffer-ruby!61",
        replaced={"waiter.core:WaitCore.fetched": wrapping(_renewed_by_an_error)},
        mode="trio",
    ),
    SeededBug(
        name="progress-renews-the-budget",
        summary="as long as the server reports progress there is no limit",
        invariant="waiter.total_time",
        source="W1 openai/openai-python#3097",
        replaced={"waiter.core:WaitCore.fetched": wrapping(_renewed_by_progress)},
        mode="asyncio",
    ),
)
