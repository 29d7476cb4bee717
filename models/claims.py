"""What a waiter's adapter may claim. A subject is judged by the invariants of what it claims, and by every safety invariant."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

WAITER_CLAIMS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "fetch_first": "The first fetch happens at once, before any sleep (or after one delay, if the dialect sleeps first).",
        "schedule": "Pauses follow first delay, factor and cap, or the fixed interval, exactly.",
        "jitter": "With a jitter seed each pause lies between half the delay and the delay.",
        "early_wake": "A sleep that wakes early is finished before the next fetch.",
        "deadline": "The wait gives up at its limit: not earlier, with no sleep across it, with no poll after it is noticed.",
        "final_poll": "A last fetch happens at the deadline.",
        "absolute_fetch_timeout": "Every fetch as a whole ends within the fetch timeout, and is not given up before.",
        "prompt_stop": "A terminal answer ends the wait at once.",
        "only_reads": "A wait sends GET requests only: it never cancels, changes or creates anything.",
        "failure": "A failed or cancelled job is raised or returned as the dialect says, by its status alone.",
        "disjoint": "Timeout, failure and transport error are told apart, and only the first is a TimeoutError.",
        "timeout_tells": "The timeout error is a TimeoutError and carries view, raw_status, elapsed and polls; its cause is the failed fetch.",
        "result": "What is returned says what the last answer said: id, status, raw word, result, error.",
        "unknown_status": "An unknown status word does what the dialect says.",
        "unknown_visible": "An unknown status word can be read as raw_status in callbacks and errors.",
        "retry_after": "Retry-After in seconds is obeyed on 429 and 503; garbage is ignored.",
        "retry_after_ms": "retry-after-ms is obeyed, and wins over Retry-After.",
        "retry_after_date": "Retry-After as an HTTP-date is obeyed, minus the answer's own Date.",
        "retry_after_2xx": "A hint on a 2xx answer replaces the next pause.",
        "transient": "A transient failure of a fetch is retried as the dialect says.",
        "permanent": "A permanent failure of a fetch is raised at once.",
        "not_found_grace": "A 404 is tolerated for not_found_grace seconds, and no longer.",
        "cancel_prompt": "A cancelled wait ends at once.",
        "cancel_original": "What comes out of a cancelled wait is the original cancellation.",
        "monotonic": "The wall clock and the origin of the monotonic clock decide nothing.",
        "overflow_safe": "No number of polls, no hint and no accepted parameter overflows or crashes.",
        "bounded_memory": "Memory does not grow with the number of polls.",
        "independent": "Waits that run together share nothing.",
        "twins": "The twins (sync, asyncio, trio) take the same decisions at the same times.",
        "resources": "The three job resources behave the same.",
        "validates": "Bad arguments raise ValueError before the first fetch, and good ones do not.",
        "ids_escaped": "Job ids are escaped in URLs.",
        "create_idempotent": "A submit whose answer was lost creates one job, under one stable idempotency key.",
        "submit_told": "A submit or direct call hands out what the server made of it, or raises an error of the client's own.",
        "submit_retries": "A submit whose attempt failed transiently is tried again.",
        "submit_surfaces": "A submit that was refused for good is not sent again.",
        "submit_paces": "A submit is not sent again before Retry-After allows it.",
        "direct_504": "HTTP 504 on the direct path is raised as a timeout that names the job resource, and is not retried.",
        "on_poll": "The progress callback is told each answer once, before the next fetch.",
        "reference": "The waiter behaves as the reference model of its dialect, action for action.",
    }
)
