"""What else may have ended a call: a word to the queue, its deadline, a close. Where one did, other rules are not judged."""

from __future__ import annotations

from ....harness.history import Event
from ...dispatch_trace import DispatchTrace, Submit, first_of


def word_of(trace: DispatchTrace, submit: Submit) -> Event | None:
    """The first word to the queue that this call is not wanted any more. That an object is gone says nothing of a delete, a read or a
    create."""
    gone = trace.object_deleted(submit) if submit.rank and submit.type != "delete" else None
    return first_of(submit.cancel, trace.context_ended(submit), gone)


def interrupted(trace: DispatchTrace, submit: Submit, at: float) -> bool:
    """Whether, by this second, something else than its attempts may have ended the call."""
    word = word_of(trace, submit) or trace.over(submit)
    if word is not None and word.at <= at + trace.near:
        return True
    return submit.deadline <= at + trace.near or trace.closed_at <= at + trace.near
