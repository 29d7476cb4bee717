"""What else may have ended a call: a word to the queue, its deadline, a close. Where one did, other rules are not judged."""

from __future__ import annotations

from ....harness.history import Event
from ...dispatch_trace import DispatchTrace, Submit


def word_of(trace: DispatchTrace, submit: Submit) -> Event | None:
    """The first word to the queue that this call is not wanted any more. That an object is gone says nothing of a delete, a read or a
    create."""
    told = [submit.cancel, trace.contexts.get(submit.context)]
    if submit.rank and submit.type != "delete":
        told.append(trace.deleted.get(submit.uid))
    known = [event for event in told if event is not None]
    return min(known, key=lambda event: event.seq) if known else None


def interrupted(trace: DispatchTrace, submit: Submit, at: float) -> bool:
    """Whether, by this second, something else than its attempts may have ended the call."""
    word = word_of(trace, submit) or trace.over(submit)
    if word is not None and word.at <= at + trace.near:
        return True
    return submit.deadline <= at + trace.near or trace.closed_at <= at + trace.near
