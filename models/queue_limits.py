"""The model's token bucket and breaker: what is forbidden beyond doubt, and what may be so (SPEC 4, rate and circuit breaker)."""

from __future__ import annotations

import dataclasses
import math

from .queue_rules import Meaning
from .queue_state import Breaker, Bucket, Setup

# -- tokens ------------------------------------------------------------------------------------------------------------


def refilled(bucket: Bucket, now: float) -> Bucket:
    """The bucket at ``now``."""
    if not math.isfinite(bucket.qps):
        return dataclasses.replace(bucket, tokens=bucket.burst, at=now)
    tokens = min(bucket.burst, bucket.tokens + bucket.qps * max(0.0, now - bucket.at))
    return dataclasses.replace(bucket, tokens=tokens, at=now)


def has_token(bucket: Bucket, now: float, near: float) -> bool:
    """Whether one more attempt keeps every window within burst + QPS·t; ``near``: seconds that a clock may be off."""
    if not math.isfinite(bucket.qps):
        return True
    return refilled(bucket, now).tokens >= 1 - bucket.qps * near - 1e-6


def taken(bucket: Bucket, now: float) -> Bucket:
    """One attempt has started."""
    full = refilled(bucket, now)
    if not math.isfinite(full.qps):
        return dataclasses.replace(full, last=now)
    return dataclasses.replace(full, tokens=full.tokens - 1, last=now)


def rated(bucket: Bucket, now: float, qps: float, burst: float) -> Bucket:
    """Another quota from now on. What a larger burst adds may be there at once."""
    old = refilled(bucket, now)
    if not math.isfinite(old.qps):
        return Bucket(qps=qps, burst=burst, tokens=burst, at=now, last=now)
    tokens = min(burst, old.tokens + max(0.0, burst - old.burst))
    return Bucket(qps=qps, burst=burst, tokens=tokens, at=now, last=now)


def free_at(bucket: Bucket) -> float:
    """The earliest second at which a token can be there."""
    if not math.isfinite(bucket.qps) or bucket.tokens >= 1:
        return float("-inf")
    return bucket.at + (1 - bucket.tokens) / bucket.qps if bucket.qps > 0 else math.inf


def surely_free_at(bucket: Bucket) -> float:
    """The second from which a token is there for a queue that paces its attempts evenly, too."""
    if not math.isfinite(bucket.qps):
        return float("-inf")
    if bucket.qps <= 0:
        return math.inf
    return max(free_at(bucket), bucket.last + 1 / bucket.qps)


# -- breaker -----------------------------------------------------------------------------------------------------------


def has_breaker(setup: Setup) -> bool:
    """Whether there is a breaker at all."""
    return setup.dialect.breaker and setup.config.breaker_failures > 0


def after(breaker: Breaker, setup: Setup, now: float, started: float, *, says: Meaning, status: int | None) -> Breaker:
    """An attempt that had ``started`` then has ended. Results of an earlier epoch change nothing."""
    if not has_breaker(setup):
        return breaker
    rest, near = setup.config.breaker_open, setup.near
    failed = says in ("again", "lost", "maybe_lost", "unclear")
    if breaker.opened is not None:
        if started < breaker.opened + rest - near:
            return breaker
        if not failed:
            return (
                Breaker(since=now) if says == "ok" else dataclasses.replace(breaker, opened=None, doubt=breaker.opened)
            )
        if status == 429 or says in ("maybe_lost", "unclear"):
            return dataclasses.replace(breaker, opened=None, doubt=now)
        return dataclasses.replace(breaker, opened=now)
    if says == "ok":
        if breaker.doubt is not None and started <= breaker.doubt + near:
            return dataclasses.replace(breaker, least=0)
        return Breaker(since=now if breaker.doubt is not None else breaker.since)
    if not failed:
        return dataclasses.replace(breaker, least=0)
    uncertain = status == 429 or says in ("maybe_lost", "unclear") or started <= breaker.since + near
    least = breaker.least if uncertain else breaker.least + 1
    most, limit = breaker.most + 1, setup.config.breaker_failures
    if least >= limit and breaker.doubt is None and most == least:
        return Breaker(least=0, most=0, opened=now)
    return dataclasses.replace(breaker, least=least, most=most, doubt=now if most >= limit else breaker.doubt)


def after_read_back(breaker: Breaker, setup: Setup, now: float, *, answered: bool) -> Breaker:
    """A read-back is over. Whether it counts is the breaker's own choice: nothing that it may have changed is sure any more."""
    if not has_breaker(setup):
        return breaker
    if breaker.opened is not None:
        return dataclasses.replace(breaker, opened=None, doubt=breaker.opened if answered else now)
    if answered:
        return dataclasses.replace(breaker, least=0)
    most = breaker.most + 1
    doubt = now if most >= setup.config.breaker_failures else breaker.doubt
    return dataclasses.replace(breaker, most=most, doubt=doubt)


def forbids(breaker: Breaker, setup: Setup, now: float) -> bool:
    """Whether it is open beyond doubt: since before this instant, and not yet half-open."""
    if breaker.opened is None:
        return False
    return breaker.opened + setup.near < now < breaker.opened + setup.config.breaker_open - setup.near


def may_be_open(breaker: Breaker) -> bool:
    """Whether it may be open or half-open."""
    return breaker.opened is not None or breaker.doubt is not None
