"""Seeded bugs of the quota and of the breaker."""

from __future__ import annotations

from typing import Any

from ....harness.subjects.dispatch.answers import Reading, Verdict
from ..bug import wrapping
from ._bug import QueueBug


def _retries_are_free(original: Any, parts: Any, now: float) -> Any:
    attempt = original(parts, now)
    if attempt is not None and attempt.number:
        parts.bucket.give_back()
    return attempt


def _saves_up(self: Any, now: float) -> None:
    if now > self.at:
        if self.limited:
            self.tokens += self.qps * (now - self.at)
        self.at = now


def _a_token_for_each_twin(original: Any, parts: Any, ticket: Any, twin: Any) -> None:
    original(parts, ticket, twin)
    bucket = parts.bucket
    bucket.burst = max(1, bucket.burst - 1)
    bucket.tokens = min(bucket.tokens, bucket.burst)


def _silence_says_nothing(original: Any, error: BaseException) -> Reading:
    reading: Reading = original(error)
    reading.healthy = None
    return reading


def _timeouts_say_nothing(self: Any, attempt: Any, now: float) -> None:
    self._conclude(attempt, Reading(Verdict.LOST, healthy=None), now)


def _open_to_all(self: Any, now: float) -> float:  # noqa: ARG001 - the seam's
    return 0.0


def _half_open_is_closed(self: Any, now: float) -> bool:
    return self.opened is None or now >= self.opened + self.rest


def _every_error_counts(original: Any, parts: Any, attempt: Any, reading: Any) -> None:
    if reading.verdict is not Verdict.DONE:
        reading.healthy = False
    original(parts, attempt, reading)


def _open_until_a_probe(self: Any, now: float) -> float:  # noqa: ARG001 - the seam's
    return 0.0 if self.opened is None else self.rest


BUGS = (
    QueueBug(
        name="retries-are-free", summary="retries and read-backs take no token", invariant="dispatch.rate", source="D61 kubernetes/client-go#222",
        replaced={"core:start": wrapping(_retries_are_free)},
    ),
    QueueBug(
        name="an-idle-bucket-overflows", summary="tokens are saved up without a limit while nothing is sent", invariant="dispatch.rate",
        source="D105 mjpieters/aiolimiter#298", replaced={"rate:Bucket._refill": _saves_up}, mode="trio",
    ),
    QueueBug(
        name="a-token-for-each-twin", summary="each submit reserves a token, which nobody gives back when it joins a twin", invariant="dispatch.conserved",
        source="D51 kubernetes-sigs/controller-runtime#1594", replaced={"admission:_join": wrapping(_a_token_for_each_twin)},
    ),
    QueueBug(
        name="silence-does-not-open-the-breaker", summary="attempts without any answer do not count for the breaker", invariant="dispatch.breaker_stops",
        source="D104 Xuanwo/backon#26", replaced={"core:read_error": wrapping(_silence_says_nothing), "core:DispatchCore.timed_out": _timeouts_say_nothing},
    ),
    QueueBug(
        name="the-breaker-is-open-to-newcomers", summary="the breaker holds up attempts, and submits are taken in as ever", invariant="dispatch.breaker_refuses",
        source="own", replaced={"breaker:Breaker.open_for": _open_to_all},
    ),
    QueueBug(
        name="half-open-is-closed", summary="when its time is over the breaker lets everything through, not probes only", invariant="dispatch.breaker_probes",
        source="D104 Xuanwo/backon#26", replaced={"breaker:Breaker.admits": _half_open_is_closed},
    ),
    QueueBug(
        name="every-error-opens-the-breaker", summary="conflicts and refused requests count as failures of the server", invariant="dispatch.breaker_for_a_reason",
        source="own", replaced={"core:conclude": wrapping(_every_error_counts)},
    ),
    QueueBug(
        name="open-until-somebody-else-probes", summary="while half-open every submit is refused, so that with nothing left to probe with it stays open",
        invariant="dispatch.breaker_for_a_reason", source="own", replaced={"breaker:Breaker.open_for": _open_until_a_probe}, mode="threads",
    ),
)  # fmt: skip
