"""How a call of any kind of subject ended, in two words at most: what a run's reach counts."""

from __future__ import annotations

from collections.abc import Mapping

from . import queue_events
from .history import Event


def outcome_of(event: Event) -> str:
    """``returned``, ``raised …`` (the category, or the type where nobody sorts errors), a queue's kind of outcome; else empty.

    Every vocabulary ends a call by an event ``….return`` or ``….raise``; dispatch queues tell an outcome.
    """
    if event.kind.endswith(".return"):
        return "returned"
    if event.kind.endswith(".raise"):
        return f"raised {event.data.get('category') or event.data.get('type')}"
    if event.kind == queue_events.CALL_OUTCOME:
        view = event.data.get("view")
        return str(view.get("kind")) if isinstance(view, Mapping) else "unreadable"
    return ""
