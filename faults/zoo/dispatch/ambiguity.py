"""Seeded bugs of ambiguity: what may have happened is done again, taken for done, or taken for not done."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ....harness.subjects.dispatch.answers import Reading, Verdict
from ....harness.subjects.dispatch.entry import BACKOFF, BLOCKED, READY
from ..bug import wrapping
from ._bug import QueueBug


def _guarded_enough(entry: Any) -> bool:  # noqa: ARG001 - the seam's
    return True


def _never_arrived(original: Any, error: BaseException) -> Reading:
    reading: Reading = original(error)
    if reading.verdict is Verdict.LOST:
        reading.verdict = Verdict.AGAIN
    return reading


def _a_conflict_is_a_conflict(original: Any, parts: Any, entry: Any, reading: Any) -> None:
    if reading.verdict is Verdict.CONFLICT:
        entry.undecided = False
    original(parts, entry, reading)


def _a_key_each(original: Any, entry: Any, version: Any) -> Any:
    call = original(entry, version)
    return replace(call, key=f"{call.key}-{entry.attempts}") if call.key is not None and entry.attempts > 1 else call


def _unguarded_writes_count(original: Any, parts: Any, entry: Any, reading: Any) -> None:
    version = parts.version_of(reading.body)
    if entry.ordered and entry.sent_version is None and version is not None:
        parts.own_writes.wrote(entry.call.uid, version - 1, version)
    original(parts, entry, reading)


def _gives_way_undecided(entry: Any) -> bool:
    return entry.state in (BLOCKED, READY, BACKOFF)


def _it_is_there(parts: Any, entry: Any, body: Any) -> bool:  # noqa: ARG001 - the seam's
    return isinstance(body, dict)


BUGS = (
    QueueBug(
        name="try-again-never-hurts", summary="a write without an answer is sent again though nothing guards it", invariant="dispatch.never_resent",
        source="D74 celery/celery#3802", replaced={"attempts:_guarded": _guarded_enough},
    ),
    QueueBug(
        name="lost-is-not-sent", summary="a connection that was lost before the answer is taken for a request that never arrived",
        invariant="dispatch.no_duplicate_write", source="D74 celery/celery#3796", replaced={"core:read_error": wrapping(_never_arrived)}, mode="threads",
    ),
    QueueBug(
        name="a-500-did-nothing", summary="500, 502 and 504 are taken for a word that nothing was done", invariant="dispatch.undone_is_true",
        source="D85 rq/rq#1507", replaced={"answers:AMBIGUOUS": frozenset()},
    ),
    QueueBug(
        name="a-conflict-is-a-conflict", summary="a conflict settles a call that may have been done by its own earlier attempt",
        invariant="dispatch.conflict_read_back", source="D12 kubernetes/kubernetes#140098", replaced={"attempts:_answered": wrapping(_a_conflict_is_a_conflict)},
    ),
    QueueBug(
        name="a-key-for-each-attempt", summary="each attempt of a call is sent with an idempotency key of its own", invariant="dispatch.guard_sent",
        source="D71 celery/kombu#337", replaced={"attempts:_sent": wrapping(_a_key_each)},
    ),
    QueueBug(
        name="unguarded-writes-count-as-links", summary="a guard is rebased over own writes that were not guarded themselves",
        invariant="dispatch.rebased_by_own_chain", source="D12 kubernetes/kubernetes#140098", replaced={"attempts:_done": wrapping(_unguarded_writes_count)},
    ),
    QueueBug(
        name="undecided-gives-way", summary="a more relevant write goes ahead of one that may still land", invariant="dispatch.successor_waits",
        source="own", replaced={"superseding:withholdable": _gives_way_undecided, "attempts:withholdable": _gives_way_undecided},
    ),
    QueueBug(
        name="there-is-an-object-so-it-was-done", summary="a read-back that finds the object is taken for a proof that the write was done",
        invariant="dispatch.done_is_true", source="D18 kubernetes/kubernetes#72124", replaced={"attempts:_holds": _it_is_there}, mode="trio",
    ),
)  # fmt: skip
