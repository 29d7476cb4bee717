"""Seeded bugs about failed fetches: transient ones that end the wait, permanent ones that do not, and the grace of a 404."""

from __future__ import annotations

from typing import Any

import httpx

from ....harness.subjects.client.errors import InvalidResponseError
from ....harness.subjects.error_table import ErrorClass
from ..bug import SeededBug, wrapping


def _unavailable_is_final(original: Any, status_code: int) -> Any:
    return ErrorClass.PERMANENT if status_code == 503 else original(status_code)


def _three_strikes(original: Any, self: Any, error: Exception) -> bool:
    strikes = vars(self).get("strikes", 0) + 1
    vars(self)["strikes"] = strikes
    return strikes <= 3 and bool(original(self, error))


def _a_page_is_a_hiccup(original: Any, error: BaseException) -> Any:
    return ErrorClass.TRANSIENT if isinstance(error, InvalidResponseError) else original(error)


def _grace_for_ever(original: Any, self: Any, error: Exception) -> Any:
    return (getattr(error, "status_code", 0) == 404 and self._policy.not_found_grace > 0) or original(self, error)


def _grace_by_arrival(original: Any, self: Any, outcome: Any, *, arrival: float, now: float) -> Any:
    self._request_start = arrival
    return original(self, outcome, arrival=arrival, now=now)


BUGS = (
    SeededBug(
        name="lost-connections-are-final",
        summary="only timeouts are retried: a refused or lost connection ends the wait",
        invariant="waiter.transient_tolerated",
        source="W15 cohere-ai/cohere-python!766",
        replaced={"error_table:_TRANSIENT_EXCEPTIONS": (TimeoutError, httpx.TimeoutException)},
    ),
    SeededBug(
        name="unavailable-is-final",
        summary="a 503 while polling ends the wait",
        invariant="waiter.transient_tolerated",
        source="W38 googleapis/python-api-core#183",
        replaced={"error_table:classify_status": wrapping(_unavailable_is_final)},
        mode="asyncio",
    ),
    SeededBug(
        name="three-strikes",
        summary="the fourth failed fetch of a wait ends it, however many good ones lie between",
        invariant="waiter.transient_tolerated",
        source="own",
        replaced={"waiter.core:WaitCore._tolerates": wrapping(_three_strikes)},
        mode="trio",
    ),
    SeededBug(
        name="every-5xx-is-a-hiccup",
        summary="501 and 505, which never go away, are retried to the deadline",
        invariant="waiter.permanent_surfaced",
        source="W45 m-lab/telescope#25",
        replaced={"error_table:_PERMANENT_STATUSES_FROM_500": frozenset()},
    ),
    SeededBug(
        name="a-page-is-a-hiccup",
        summary="a page of HTML in place of a job is retried to the deadline",
        invariant="waiter.permanent_surfaced",
        source="W45 m-lab/telescope#25",
        replaced={"waiter.core:classify": wrapping(_a_page_is_a_hiccup)},
        mode="trio",
    ),
    SeededBug(
        name="a-grace-without-end",
        summary="with any grace at all a 404 is tolerated for ever",
        invariant="waiter.not_found_grace",
        source="W84 spark-jobserver/python-sjsclient#5",
        replaced={"waiter.core:WaitCore._tolerates": wrapping(_grace_for_ever)},
    ),
    SeededBug(
        name="the-grace-ends-with-the-answer",
        summary="a 404 that was asked for within the grace and arrived after it is not tolerated",
        invariant="waiter.not_found_grace",
        source="W32 Azure/azure-sdk-for-net#44147",
        replaced={"waiter.core:WaitCore.fetched": wrapping(_grace_by_arrival)},
        mode="asyncio",
    ),
)
