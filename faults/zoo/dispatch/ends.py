"""Seeded bugs of how a call ends: deadlines, cancellation, contexts and objects that are over, answers that come too late."""

from __future__ import annotations

import heapq
from dataclasses import replace
from typing import Any

from ....harness.subjects.dispatch.ending import after_leaving, completed, leave
from ....harness.subjects.dispatch.entry import BACKOFF, BLOCKED, READY, WITHHELD
from ....harness.subjects.dispatch.parts import Fate
from ..bug import wrapping
from ._bug import QueueBug


def _expired_whatever_is_out(original: Any, parts: Any, ticket: Any, kind: str, reason: str) -> None:
    entry = ticket.entry
    if kind != "expired" or entry is None:
        original(parts, ticket, kind, reason)
        return
    parts.tell(ticket, parts.view(kind, reason))
    after_leaving(parts, entry)


def _not_in_backoff(original: Any, parts: Any, ticket: Any, kind: str, reason: str) -> None:
    if kind == "expired" and ticket.entry is not None and ticket.entry.state == BACKOFF:
        heapq.heappop(parts.deadlines.items)
        return
    original(parts, ticket, kind, reason)


def _not_while_it_waits(original: Any, parts: Any, ticket: Any, kind: str, reason: str) -> None:
    if kind == "expired" and ticket.entry is not None and ticket.entry.state in (READY, BLOCKED, WITHHELD):
        heapq.heappop(parts.deadlines.items)
        return
    original(parts, ticket, kind, reason)


def _looked_at_when_it_is_its_turn(original: Any, parts: Any, now: float) -> Any:
    if not parts.closed and parts.executing < parts.config.workers:
        while (entry := parts.ready.top()) is not None and entry.deadline <= now:
            for ticket in entry.waiting():
                leave(parts, ticket, "expired", "deadline")
    return original(parts, now)


def _told_and_left(original: Any, parts: Any, ticket: Any, kind: str, reason: str) -> None:
    """Who asks is told, and that is all."""
    entry = ticket.entry
    if kind == "cancelled" and entry is not None and not entry.unanswered:
        parts.tell(ticket, parts.view(kind, reason))
    else:
        original(parts, ticket, kind, reason)


def _expired_and_left(original: Any, parts: Any, ticket: Any, kind: str, reason: str) -> None:
    entry = ticket.entry
    if kind == "expired" and entry is not None and not entry.unanswered:
        parts.tell(ticket, parts.view(kind, reason))
    else:
        original(parts, ticket, kind, reason)


def _whoever_wants(self: Any, attempt: Any) -> bool:  # noqa: ARG001 - the seam's
    return not attempt.over


def _marked(original: Any, self: Any, ticket: Any, now: float) -> None:
    entry = ticket.entry
    if entry is not None and entry.state in (READY, BLOCKED, WITHHELD) and not entry.unanswered:
        vars(self._parts).setdefault("marked", set()).add(ticket.number)
    else:
        original(self, ticket, now)


def _swept_when_popped(original: Any, parts: Any, now: float) -> Any:
    marked = vars(parts).get("marked", set())
    if marked and not parts.closed and parts.executing < parts.config.workers:
        while (entry := parts.ready.top()) is not None and any(one.number in marked for one in entry.waiting()):
            for ticket in entry.waiting():
                if ticket.number in marked:
                    marked.discard(ticket.number)
                    leave(parts, ticket, "cancelled", "cancelled")
    return original(parts, now)


def _cancelled_whatever_is_out(original: Any, parts: Any, ticket: Any, kind: str, reason: str) -> None:
    entry = ticket.entry
    if kind != "cancelled" or entry is None:
        original(parts, ticket, kind, reason)
        return
    parts.tell(ticket, parts.view(kind, reason))
    after_leaving(parts, entry)


def _the_pod_with_it(original: Any, self: Any, context: str, now: float) -> None:
    parts = self._parts
    pods = [entry.call.uid for entry in parts.contexts.of(context)]
    original(self, context, now)
    for uid in pods:
        for entry in parts.uids.of(uid):
            for ticket in entry.waiting():
                leave(parts, ticket, "cancelled", "context")


def _binds_go_on(original: Any, parts: Any, ticket: Any, kind: str, reason: str) -> None:
    if (
        kind == "cancelled"
        and reason in ("context", "deleted")
        and ticket.call is not None
        and ticket.call.type == "bind"
    ):
        return
    original(parts, ticket, kind, reason)


def _by_name(original: Any, entry: Any, version: Any) -> Any:
    call = original(entry, version)
    return replace(call, precondition=replace(call.precondition, uid=None))


def _done_is_done(original: Any, parts: Any, entry: Any, *told: Any) -> None:
    if Fate.DONE in told:
        for ticket in entry.waiting():
            ticket.asked = ""
    original(parts, entry, *told)


def _stale_acts(original: Any, parts: Any, entry: Any, kind: str, *told: Any) -> None:
    if not entry.wanting:
        completed(parts, entry, parts.view(kind), [])
    original(parts, entry, kind, *told)


BUGS = (
    QueueBug(
        name="expired-whatever-is-out", summary="a call whose attempt is unanswered at its deadline is told expired, as if it had not been sent",
        invariant="dispatch.told_unknown", source="D62 kubernetes/kubernetes!108342", replaced={"core:leave": wrapping(_expired_whatever_is_out)},
    ),
    QueueBug(
        name="the-deadline-is-not-looked-at-in-backoff", summary="a deadline that passes while a call waits to be tried again is missed, and it is tried again",
        invariant="dispatch.no_attempt_after_deadline", source="D101 jd/tenacity!423", replaced={"core:leave": wrapping(_not_in_backoff)},
    ),
    QueueBug(
        name="expired-when-popped", summary="a deadline is looked at when it is the call's turn, so that its submitter is told late",
        invariant="dispatch.told_at_deadline", source="D62 kubernetes/kubernetes!108342",
        replaced={"core:leave": wrapping(_not_while_it_waits), "core:start": wrapping(_looked_at_when_it_is_its_turn)}, mode="trio",
    ),
    QueueBug(
        name="cancelled-and-still-in-the-heap", summary="a cancel tells the submitter and leaves the call where it is", invariant="dispatch.cancelled_never_sent",
        source="D81 python-arq/arq#394", replaced={"core:leave": wrapping(_told_and_left), "core:DispatchCore.wanted": _whoever_wants},
    ),
    QueueBug(
        name="expired-and-still-in-the-heap", summary="a call that was told expired is sent when its turn comes", invariant="dispatch.told_never_sent",
        source="D101 jd/tenacity!423", replaced={"core:leave": wrapping(_expired_and_left), "core:DispatchCore.wanted": _whoever_wants}, mode="threads",
    ),
    QueueBug(
        name="cancelled-when-popped", summary="a cancel marks the call, and its submitter is told when the call comes up",
        invariant="dispatch.cancelled_told_at_once", source="D81 python-arq/arq#394",
        replaced={"core:DispatchCore.cancel": wrapping(_marked), "core:start": wrapping(_swept_when_popped)},
    ),
    QueueBug(
        name="cancelled-whatever-is-out", summary="a call that is cancelled while its attempt is under way is told cancelled at once",
        invariant="dispatch.cancelled_while_sent", source="D77 celery/celery#9505", replaced={"core:leave": wrapping(_cancelled_whatever_is_out)}, mode="threads",
    ),
    QueueBug(
        name="a-context-takes-the-pod-with-it", summary="the end of a context ends the calls of its pods in other contexts, too",
        invariant="dispatch.cancelled_for_a_reason", source="own", replaced={"core:DispatchCore.end_context": wrapping(_the_pod_with_it)},
    ),
    QueueBug(
        name="binds-outlive-their-context", summary="a bind is sent though its context or its pod is over", invariant="dispatch.no_stale_bind",
        source="D14 kubernetes/kubernetes#102761", replaced={"core:leave": wrapping(_binds_go_on)},
    ),
    QueueBug(
        name="pods-by-name", summary="calls are sent without the uid of their object", invariant="dispatch.right_object",
        source="D15 koordinator-sh/koordinator!2476", replaced={"attempts:_sent": wrapping(_by_name)},
    ),
    QueueBug(
        name="done-is-done", summary="an answer that comes after the end of its context makes the call applied", invariant="dispatch.stale_outcome",
        source="D11 kubernetes/kubernetes!139602", replaced={"attempts:_ended": wrapping(_done_is_done)},
    ),
    QueueBug(
        name="a-stale-answer-acts", summary="an answer that nobody wants any more asks for re-evaluation all the same", invariant="dispatch.stale_never_acts",
        source="D11 kubernetes/kubernetes!139602", replaced={"attempts:_ended": wrapping(_stale_acts)},
    ),
)  # fmt: skip
