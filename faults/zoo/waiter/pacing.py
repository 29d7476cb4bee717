"""Seeded bugs about pacing: what the server asks for is dropped, misread, kept too long, or not clipped."""

from __future__ import annotations

import dataclasses
import math
from email.utils import parsedate_to_datetime
from typing import Any

from ..bug import SeededBug, wrapping


def _dropped_above_thirty(original: Any, headers: Any, wall: Any) -> float | None:
    hint = original(headers, wall)
    return None if hint is not None and hint > 30 else hint


def _milliseconds_are_seconds(original: Any, text: str | None, per_second: float) -> Any:  # noqa: ARG001
    return original(text, 1.0)


def _without_milliseconds(original: Any, headers: Any, wall: Any) -> Any:
    return original({name: value for name, value in headers.items() if name != "retry-after-ms"}, wall)


def _dates_are_no_numbers(text: str | None) -> float | None:  # noqa: ARG001
    return None


def _ignored_on_success(original: Any, answer: Any, error: Any, wall: Any) -> Any:
    outcome = original(answer, error, wall)
    return outcome if outcome.error is not None else dataclasses.replace(outcome, hint=None)


def _first_hint_sticks(original: Any, self: Any, outcome: Any, *, arrival: float, now: float) -> Any:
    hint = vars(self).setdefault("hint", outcome.hint)
    if hint is None:
        vars(self).pop("hint")
    return original(self, dataclasses.replace(outcome, hint=hint), arrival=arrival, now=now)


def _last_look_anyway(original: Any, self: Any, outcome: Any, *, arrival: float, now: float) -> Any:
    step = original(self, outcome, arrival=arrival, now=now)
    self._fetch_after_sleep = True
    return step


def _hopeless(original: Any, self: Any, outcome: Any, *, arrival: float, now: float) -> Any:
    step = original(self, outcome, arrival=arrival, now=now)
    return step if self._fetch_after_sleep else self._timed_out(now)


def _a_minute_if_unreadable(original: Any, headers: Any, wall: Any) -> Any:
    hint = original(headers, wall)
    return 60.0 if hint is None and "retry-after" in headers else hint


def _unguarded_date(text: str | None) -> float | None:
    return None if text is None else parsedate_to_datetime(text).timestamp()


def _power(original: Any, self: Any, outcome: Any, *, arrival: float, now: float) -> Any:
    step = original(self, outcome, arrival=arrival, now=now)
    policy = self._policy
    if policy.poll_interval is None:
        self._delay = min(policy.first_delay * policy.factor**self._polls, policy.cap)
    return step


BUGS = (
    SeededBug(
        name="long-hints-are-dropped",
        summary="a Retry-After above 30 s is ignored",
        invariant="waiter.retry_after_honoured",
        source="W15 fern-api/fern#17100",
        replaced={"waiter.outcome:pacing_hint": wrapping(_dropped_above_thirty)},
    ),
    SeededBug(
        name="milliseconds-are-seconds",
        summary="retry-after-ms is read as seconds",
        invariant="waiter.retry_after_ms",
        source="W62 firecrawl/firecrawl#3373",
        replaced={"waiter.pacing:_seconds": wrapping(_milliseconds_are_seconds)},
        mode="trio",
    ),
    SeededBug(
        name="milliseconds-are-swallowed",
        summary="retry-after-ms is ignored",
        invariant="waiter.retry_after_ms",
        source="W15 fern-api/fern#17358",
        replaced={"waiter.outcome:pacing_hint": wrapping(_without_milliseconds)},
    ),
    SeededBug(
        name="dates-are-no-numbers",
        summary="a Retry-After that is a date is ignored",
        invariant="waiter.retry_after_date",
        source="W27 NousResearch/hermes-agent!84762",
        replaced={"waiter.pacing:_http_date": _dates_are_no_numbers},
        mode="asyncio",
    ),
    SeededBug(
        name="hints-count-on-errors-only",
        summary="Retry-After on a job that is still running is ignored",
        invariant="waiter.retry_after_on_success",
        source="W30 Azure/autorest.csharp#1674",
        replaced={"waiter.report:read_outcome": wrapping(_ignored_on_success)},
    ),
    SeededBug(
        name="the-first-hint-sticks",
        summary="the first Retry-After is used for every later pause",
        invariant="waiter.retry_after_each_response",
        source="W31 Azure/azure-sdk-for-java!11809",
        replaced={"waiter.core:WaitCore.fetched": wrapping(_first_hint_sticks)},
        mode="trio",
    ),
    SeededBug(
        name="a-last-look-anyway",
        summary="fetches at the deadline though a 429 asked to be left alone until later",
        invariant="waiter.retry_after_clipped",
        source="own",
        replaced={"waiter.core:WaitCore._sleep": wrapping(_last_look_anyway)},
    ),
    SeededBug(
        name="hopeless-at-once",
        summary="gives up at once, not at the deadline, when a 429 asks for more time than is left",
        invariant="waiter.retry_after_clipped",
        source="own",
        replaced={"waiter.core:WaitCore._sleep": wrapping(_hopeless)},
        mode="asyncio",
    ),
    SeededBug(
        name="a-minute-if-unreadable",
        summary="a Retry-After that it can't read counts as a minute",
        invariant="waiter.retry_after_garbage_ignored",
        source="own",
        replaced={"waiter.outcome:pacing_hint": wrapping(_a_minute_if_unreadable)},
    ),
    SeededBug(
        name="an-absurd-date-escapes",
        summary="a Retry-After that is no date ends the wait with the date parser's exception",
        invariant="waiter.overflow_safe",
        source="W28 anthropics/anthropic-sdk-python!1827",
        suite="waiter-parameters",
        replaced={"waiter.pacing:_http_date": _unguarded_date},
        mode="asyncio",
    ),
    SeededBug(
        name="a-power-that-overflows",
        summary="the delay is a power of the factor that is capped afterwards: it overflows at the 1025th poll",
        invariant="waiter.overflow_safe",
        source="W17 elastic/elastic-transport-python#111",
        suite="waiter-parameters",
        replaced={"waiter.core:WaitCore._sleep": wrapping(_power)},
    ),
    SeededBug(
        name="giant-hints-are-slept",
        summary="no hint is too long to be slept, infinity included",
        invariant="waiter.overflow_safe",
        source="W22 urllib3/urllib3!3743",
        suite="waiter-parameters",
        replaced={"waiter.pacing:LONGEST_HINT": math.inf},
        mode="trio",
    ),
)
