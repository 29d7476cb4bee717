"""Seeded bugs of retries: error classes, attempts, pauses."""

from __future__ import annotations

from typing import Any

from ....harness.subjects.dispatch.answers import Reading, Verdict
from ....harness.subjects.dispatch.entry import BLOCKED, DONE, READY
from ....harness.subjects.dispatch.parts import Failed
from ..bug import wrapping
from ._bug import QueueBug


def _read_as(verdict: Verdict, *statuses: int) -> Any:
    def read(original: Any, answer: Any, wall: Any) -> Reading:
        reading: Reading = original(answer, wall)
        if reading.status in statuses:
            reading.verdict = verdict
        return reading

    return wrapping(read)


def _leaking_step(self: Any, attempts: int) -> float:  # noqa: ARG001 - the seam's
    return float(min(self.first, self.cap))


def _hint_on_top(original: Any, self: Any, attempts: int, hint: Any) -> float:
    return float(original(self, attempts, None)) + (hint or 0.0)


def _hint_capped(original: Any, self: Any, attempts: int, hint: Any) -> float:
    return float(original(self, attempts, None if hint is None else min(hint, self.first)))


def _keeps_its_object(entry: Any) -> bool:
    return entry.state in (BLOCKED, READY) and not entry.read_next and (not entry.undecided or entry.pinned is not None)


def _throttled_is_free(original: Any, parts: Any, entry: Any, attempts: int, hint: Any) -> None:
    original(parts, entry, attempts, hint)
    if hint:
        entry.attempts -= 1


def _one_counter(original: Any, parts: Any, entry: Any, reading: Any) -> None:
    kept = entry.attempts
    entry.attempts = max(kept, parts.accounts.retries + 1)
    original(parts, entry, reading)
    if entry.state != DONE:
        entry.attempts = kept


def _without_a_cap(self: Any, attempts: int) -> float:
    return float(self.first * self.factor ** min(60, max(0, attempts - 1)))


def _every_error_is_told(original: Any, parts: Any, entry: Any, attempts: int, hint: Any) -> None:
    parts.deeds.append(Failed(entry.call, parts.view("failed", "permanent")))
    original(parts, entry, attempts, hint)


def _once_a_plugin(original: Any, parts: Any, entry: Any, view: Any, plugins: list[str]) -> None:
    told = vars(parts).setdefault("told", set())
    original(parts, entry, view, [plugin for plugin in plugins if plugin not in told])
    told.update(plugins)


BUGS = (
    QueueBug(
        name="a-404-may-pass", summary="404 is tried again, as if the object might still come", invariant="dispatch.permanent_ends", source="D88 taskiq-python/taskiq#569",
        replaced={"core:read_answer": _read_as(Verdict.AGAIN, 404)},
    ),
    QueueBug(
        name="a-conflict-is-sent-again", summary="a conflict is tried again with the same guard", invariant="dispatch.conflict_recomputes",
        source="D24 kubernetes-sigs/kueue#5061", replaced={"core:read_answer": _read_as(Verdict.AGAIN, 409, 412)},
    ),
    QueueBug(
        name="every-4xx-is-final", summary="429 fails a call for good, as every 4xx does", invariant="dispatch.transient_retried",
        source="D34 kai-scheduler/KAI-Scheduler!504", replaced={"core:read_answer": _read_as(Verdict.PERMANENT, 408, 425, 429)},
    ),
    QueueBug(
        name="a-busy-server-is-final", summary="a single 503 fails a call for good", invariant="dispatch.transient_retried",
        source="D34 kai-scheduler/KAI-Scheduler!504", replaced={"core:read_answer": _read_as(Verdict.PERMANENT, 503)}, mode="trio",
    ),
    QueueBug(
        name="the-smallest-pause-leaks", summary="the pause never grows: each step starts from the smallest one so far", invariant="dispatch.backoff_not_early",
        source="D41 kubernetes-sigs/controller-runtime!3103", replaced={"retry:Backoff.whole": _leaking_step},
    ),
    QueueBug(
        name="the-hint-comes-on-top", summary="the server's Retry-After is added to the backoff", invariant="dispatch.backoff_not_late",
        source="own", replaced={"retry:Backoff.pause": wrapping(_hint_on_top)},
    ),
    QueueBug(
        name="the-hint-is-capped", summary="a Retry-After is cut to the first step of the backoff", invariant="dispatch.retry_after",
        source="D60 kubernetes/kubernetes#26871", replaced={"retry:Backoff.pause": wrapping(_hint_capped)},
    ),
    QueueBug(
        name="a-backoff-holds-its-object", summary="a call that waits to be tried again is not withheld for a more relevant one", invariant="dispatch.backoff_frees_object",
        source="D91 procrastinate-org/procrastinate#1599", replaced={"superseding:withholdable": _keeps_its_object, "attempts:withholdable": _keeps_its_object},
    ),
    QueueBug(
        name="a-throttled-attempt-is-free", summary="an attempt that was answered with a Retry-After does not count", invariant="dispatch.attempts_bound",
        source="D61 kubernetes/client-go#222", replaced={"attempts:_back_off": wrapping(_throttled_is_free)},
    ),
    QueueBug(
        name="one-counter-for-all", summary="the retries of other calls are counted as attempts of each", invariant="dispatch.attempts_all_used",
        source="D102 jd/tenacity#93", replaced={"attempts:_answered": wrapping(_one_counter)},
    ),
    QueueBug(
        name="a-backoff-without-a-cap", summary="the pauses grow without a limit, so that a call is still waiting long after the server is well",
        invariant="dispatch.settles", source="D51 kubernetes-sigs/controller-runtime#1594", replaced={"retry:Backoff.whole": _without_a_cap},
    ),
    QueueBug(
        name="every-error-is-told", summary="the failure handler is called for every attempt that fails, also if a later one is applied",
        invariant="dispatch.failure_handler_only", source="own", replaced={"attempts:_back_off": wrapping(_every_error_is_told)},
    ),
    QueueBug(
        name="once-a-plugin", summary="a plugin's failure handler is called for its first failure only", invariant="dispatch.failure_handler_once",
        source="D28 volcano-sh/volcano#2865", replaced={"attempts:completed": wrapping(_once_a_plugin)},
    ),
)  # fmt: skip
