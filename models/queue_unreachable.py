"""Pairs of a named state and an event that can't be, each with its reason (SPEC 4)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from .queue_state import ABSTRACT

_TABLE: Final[tuple[tuple[tuple[str, ...], tuple[str, ...], str], ...]] = (
    (
        (
            "pending",
            "blocked on object",
            "blocked on prerequisite",
            "withheld",
            "backoff",
            "unanswered",
            "reading back",
        ),
        ("answered", "refused by the server", "try again", "no answer"),
        "no attempt of it is in flight, and only one in flight ends",
    ),
    (
        ("blocked on object", "blocked on prerequisite", "withheld"),
        ("attempt",),
        "it is not eligible",
    ),
    (("backoff",), ("attempt",), "its pause is not over; when it may be, the call is pending again"),
    (("executing", "reading back"), ("attempt",), "a call has one request in flight at most"),
    (
        ("pending", "blocked on object", "blocked on prerequisite", "withheld", "backoff"),
        ("read back", "read-back answered", "read-back lost", "lands late"),
        "nothing of it is undecided: it was not sent, or every attempt was answered",
    ),
    (
        ("blocked on object", "blocked on prerequisite", "withheld", "parked"),
        ("close returns",),
        "close settles at once what was not sent",
    ),
    (("executing", "reading back"), ("read back",), "a call has one request in flight at most"),
    (("executing", "unanswered"), ("read-back answered", "read-back lost"), "no read-back of it is in flight"),
)


def unreachable() -> Mapping[tuple[str, str], str]:
    """Why each of these pairs can't be."""
    return {(state, event): why for states, events, why in _TABLE for state in (states or ABSTRACT) for event in events}
