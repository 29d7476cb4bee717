"""The one table that classifies a failed call: transient, not found or permanent (SPEC section 2, 'one error table').

The waiter and the dispatch queue both ask it, so a 503 can never be worth a retry for one and fatal for the other.
"""

from __future__ import annotations

from enum import StrEnum

import httpx

__all__ = ["ErrorClass", "classify", "classify_status", "status_of"]


class ErrorClass(StrEnum):
    """What a failure means for the one who called."""

    TRANSIENT = "transient"
    """The same call may succeed later: try again on the schedule."""

    NOT_FOUND = "not_found"
    """HTTP 404: permanent, unless the caller has just created the object (read-after-write grace)."""

    PERMANENT = "permanent"
    """The same call fails the same way again: tell the caller at once."""


_TRANSIENT_STATUSES_BELOW_500 = frozenset({408, 425, 429})
_PERMANENT_STATUSES_FROM_500 = frozenset({501, 505})

# Builtins come first in the world of a caller's own fetch function, httpx's in the world of our client.
_TRANSIENT_EXCEPTIONS: tuple[type[Exception], ...] = (TimeoutError, ConnectionError, httpx.TransportError)

# Transport errors that speak of our own request, which will be as wrong the next time.
_PERMANENT_EXCEPTIONS: tuple[type[Exception], ...] = (httpx.UnsupportedProtocol, httpx.LocalProtocolError)


def classify_status(status_code: int) -> ErrorClass:
    """Classify an HTTP status code that is not a usable answer.

    408, 425, 429 and every 5xx but 501 and 505 are transient; 404 is not found; all the rest is permanent,
    redirections and nonsense included.
    """
    if status_code == 404:
        return ErrorClass.NOT_FOUND
    if status_code in _TRANSIENT_STATUSES_BELOW_500:
        return ErrorClass.TRANSIENT
    if 500 <= status_code <= 599 and status_code not in _PERMANENT_STATUSES_FROM_500:
        return ErrorClass.TRANSIENT
    return ErrorClass.PERMANENT


def status_of(error: BaseException) -> int | None:
    """Return the HTTP status code that an exception carries, or None if it speaks of no HTTP answer.

    Understood: `httpx.HTTPStatusError`, and the custom of most SDKs, an integer attribute `status_code`.
    """
    if isinstance(error, httpx.HTTPStatusError):
        return error.response.status_code
    status_code = getattr(error, "status_code", None)
    if isinstance(status_code, int) and not isinstance(status_code, bool):
        return status_code
    return None


def classify(error: BaseException) -> ErrorClass:
    """Classify an exception: by the HTTP status that it carries, else by its type.

    Timeouts, connection errors and every `httpx.TransportError` are transient, except `UnsupportedProtocol` and
    `LocalProtocolError`. What the table does not know is permanent: an error nobody understands must be seen.
    """
    status_code = status_of(error)
    if status_code is not None:
        return classify_status(status_code)
    if isinstance(error, _PERMANENT_EXCEPTIONS):
        return ErrorClass.PERMANENT
    if isinstance(error, _TRANSIENT_EXCEPTIONS):
        return ErrorClass.TRANSIENT
    return ErrorClass.PERMANENT
