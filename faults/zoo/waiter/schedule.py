"""Seeded bugs about the schedule: what comes first, how delays grow, fixed intervals, jitter, how close two fetches come."""

from __future__ import annotations

from typing import Any

from ..bug import SeededBug, wrapping
from ._parts import full_sleep


def _sleep_first(original: Any, self: Any, now: float) -> Any:
    step = original(self, now)
    return step if self._policy.poll_interval is None else full_sleep(self, self._policy.poll_interval, now)


def _cap_before_the_factor(self: Any, delay: float) -> Any:
    return min(delay, self.cap) * self.factor if self.poll_interval is None else self.poll_interval


def _fresh_start_after_an_error(original: Any, self: Any, outcome: Any, *, arrival: float, now: float) -> Any:
    if outcome.error is not None:
        self._delay = self._policy.initial_delay
    return original(self, outcome, arrival=arrival, now=now)


def _growing_interval(self: Any, delay: float) -> Any:
    return min(delay * self.factor, max(self.cap, delay))


def _interval_under_the_cap(self: Any) -> float:
    return float(min(self.first_delay if self.poll_interval is None else self.poll_interval, self.cap))


def _jitter_on_top(self: Any, delay: float) -> Any:
    return delay if self._policy.jitter is None else delay * (1 + 0.5 * self._policy.jitter.random())


def _full_jitter(self: Any, delay: float) -> Any:
    return delay if self._policy.jitter is None else delay * self._policy.jitter.random()


def _half_a_minute_at_most(original: Any, self: Any, delay: float) -> Any:
    return min(original(self, delay), 30.0)


def _sleep_what_was_asked(self: Any, outcome: Any, *, arrival: float, now: float) -> Any:  # noqa: ARG001
    wait = self._delay if outcome.hint is None else outcome.hint
    self._delay = self._policy.delay_after(self._delay)
    self._fetch_after_sleep = True
    return full_sleep(self, min(wait, self._deadline - now), now)


def _float_or_nothing(text: str | None, per_second: float) -> float | None:
    try:
        return float(text or "") / per_second
    except ValueError:
        return None


BUGS = (
    SeededBug(
        name="a-fixed-interval-sleeps-first",
        summary="with a poll interval it sleeps one interval before the first fetch",
        invariant="waiter.fetch_first",
        source="W58 n8n-io/n8n!38579",
        replaced={"waiter.core:WaitCore.start": wrapping(_sleep_first)},
        mode="trio",
    ),
    SeededBug(
        name="cap-before-the-factor",
        summary="caps the delay first and multiplies it then, so that it exceeds the cap",
        invariant="waiter.exact_schedule",
        source="W60 agenda/agenda#1748",
        replaced={"waiter.policy:WaitPolicy.delay_after": _cap_before_the_factor},
    ),
    SeededBug(
        name="an-error-resets-the-backoff",
        summary="after a failed fetch the delays start again at the first",
        invariant="waiter.exact_schedule",
        source="own",
        replaced={"waiter.core:WaitCore.fetched": wrapping(_fresh_start_after_an_error)},
        mode="asyncio",
    ),
    SeededBug(
        name="the-interval-backs-off",
        summary="a fixed poll interval grows by the backoff factor",
        invariant="waiter.interval_fixed",
        source="W37 googleapis/python-api-core#458",
        replaced={"waiter.policy:WaitPolicy.delay_after": _growing_interval},
    ),
    SeededBug(
        name="the-first-interval-is-capped",
        summary="the cap, which is for the backoff, also cuts the first pause of a fixed interval",
        invariant="waiter.interval_fixed",
        source="own",
        replaced={"waiter.policy:WaitPolicy.initial_delay": property(_interval_under_the_cap)},
        mode="trio",
    ),
    SeededBug(
        name="jitter-on-top",
        summary="adds the jitter to the delay after the cap was applied",
        invariant="waiter.jitter_in_range",
        source="W60 agenda/agenda#1748",
        replaced={"waiter.core:WaitCore._jittered": _jitter_on_top},
        mode="asyncio",
    ),
    SeededBug(
        name="full-jitter",
        summary="draws the wait from 0 to the delay, so that fetches may follow each other at once",
        invariant="waiter.no_storm",
        source="own",
        replaced={"waiter.core:WaitCore._jittered": _full_jitter, "waiter.core:MIN_GAP": 0.0},
    ),
    SeededBug(
        name="a-hint-of-zero-is-obeyed",
        summary="a server that says Retry-After: 0 is asked again without any pause",
        invariant="waiter.no_storm",
        source="W24 Azure/azure-sdk-for-js#39793",
        replaced={"waiter.core:_MIN_HINTED_WAIT": 0.0, "waiter.core:MIN_GAP": 0.0},
        mode="trio",
    ),
    SeededBug(
        name="sleeps-minus-five",
        summary="reads Retry-After: -5 as a number of seconds and sleeps it",
        invariant="waiter.sleep_is_a_time",
        source="W27 NousResearch/hermes-agent!84762",
        replaced={"waiter.core:WaitCore._sleep": _sleep_what_was_asked, "waiter.pacing:_seconds": _float_or_nothing},
    ),
    SeededBug(
        name="half-a-minute-at-most",
        summary="no pause is longer than 30 s, whatever cap it was given",
        invariant="waiter.time_scale_irrelevant",
        source="own",
        suite="waiter-relations",
        replaced={"waiter.policy:WaitPolicy.delay_after": wrapping(_half_a_minute_at_most)},
    ),
)
