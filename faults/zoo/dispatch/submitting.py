"""Seeded bugs of what is checked at submit: calls that should have been refused, and refusals that are none or lie."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

from ....harness.calls import OutcomeView
from ..bug import wrapping
from ._bug import QueueBug


def _ranked_lowest(original: Any, parts: Any, call: Any) -> Any:
    level = original(parts, call)
    return 0 if level is None and call.type not in parts.relevance else level


def _not_asked(original: Any, parts: Any, ticket: Any) -> Any:
    ticket.call = dataclasses.replace(ticket.call, needed_in_cycle=False)
    return original(parts, ticket)


def _past_is_none(original: Any, parts: Any, ticket: Any) -> Any:
    if ticket.call.deadline <= parts.now:
        ticket.call = dataclasses.replace(ticket.call, deadline=math.inf)
    return original(parts, ticket)


def _same_shape(self: Any, call: Any) -> bool:
    if call.key is None or call.key not in self.payloads:
        return False
    return type(self.payloads[call.key][0]) is not type(call.payload)


def _forgotten(original: Any, self: Any, entry: Any, *, surely_not: bool) -> None:  # noqa: ARG001 - the seam's
    original(self, entry, surely_not=True)


def _always_the_share(original: Any, parts: Any, ticket: Any) -> Any:
    view = original(parts, ticket)
    return dataclasses.replace(view, reason="share") if view is not None and view.reason == "capacity" else view


def _words_for_a_reason(original: Any, parts: Any, ticket: Any) -> Any:
    kind = ticket.call.type
    view = original(parts, ticket)
    return (
        OutcomeView(kind="refused", reason=f"unknown type {kind!r}")
        if view is not None and view.reason == "type"
        else view
    )


def _token_first(original: Any, self: Any, call: Any, settled: Any = None) -> Any:
    bucket, now = self._core._parts.bucket, self._clock.monotonic()  # noqa: SLF001 - a variant of the queue's own method
    if bucket.next_at(now) > now and bucket.qps > 0:
        self._clock.sleep(bucket.next_at(now) - now)
    return original(self, call, settled)


def _ties_by_the_call(self: Any, entry: Any) -> None:
    entry.lifted = entry.key < entry.rank
    lane = self.common if entry.lifted or entry.plugin not in self.lanes else self.lanes[entry.plugin]
    lane.push((entry.key, entry.seq if entry.call.effect == "READ" else entry.payload, entry))


BUGS = (
    QueueBug(
        name="an-unknown-type-is-ranked-lowest", summary="a type without a relevance is taken for the least relevant one",
        invariant="dispatch.unknown_type_refused", source="D88 taskiq-python/taskiq#569", replaced={"admission:_level": wrapping(_ranked_lowest)},
    ),
    QueueBug(
        name="the-cycle-is-kept-waiting", summary="a call that the scheduling cycle needs is queued like any other",
        invariant="dispatch.in_cycle_refused", source="own", replaced={"core:admit": wrapping(_not_asked)},
    ),
    QueueBug(
        name="a-deadline-in-the-past-is-none", summary="a deadline that has passed already is taken for no deadline",
        invariant="dispatch.expired_at_submit", source="D101 jd/tenacity!423", replaced={"core:admit": wrapping(_past_is_none)},
    ),
    QueueBug(
        name="payloads-are-alike-if-their-types-are", summary="a reused key is noticed only if the payload is of another type",
        invariant="dispatch.one_payload_a_key", source="own", replaced={"coalescing:Twins.reused": _same_shape},
    ),
    QueueBug(
        name="a-bind-is-forgotten-when-it-is-over", summary="the target of a bind is remembered while it is live only, so that a pod is bound twice",
        invariant="dispatch.second_bind_refused", source="D17 kubernetes/kubernetes#26043", replaced={"binds:Binds.went": wrapping(_forgotten)},
    ),
    QueueBug(
        name="a-full-queue-blames-the-plugin", summary="a refusal for want of room gives the plugin's share as its reason",
        invariant="dispatch.refusal_is_so", source="D62 kubernetes/kubernetes!108342", replaced={"core:admit": wrapping(_always_the_share)},
    ),
    QueueBug(
        name="the-reason-is-a-sentence", summary="the reason of a refusal is a sentence for people instead of a word of the closed list",
        invariant="dispatch.refusal_typed", source="own", replaced={"core:admit": wrapping(_words_for_a_reason)},
    ),
    QueueBug(
        name="submit-waits-for-a-token", summary="the client's limiter is taken in submit, so that the caller sleeps for its token",
        invariant="dispatch.submit_at_once", source="D1 kubernetes/kubernetes#135900",
        replaced={"threads:ThreadDispatchQueue.submit": wrapping(_token_first)}, mode="threads",
    ),
    QueueBug(
        name="ties-are-broken-by-the-payload", summary="the heap's items are (key, payload, …), so that payloads of equal priority are compared",
        invariant="dispatch.submit_never_raises", source="D100 python/cpython#75328", replaced={"eligible:Ready.push": _ties_by_the_call},
    ),
)  # fmt: skip
