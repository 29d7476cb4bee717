"""From pop to the end of an attempt: the start with token, slot and lease, and what follows from each answer (SPEC 4)."""

from __future__ import annotations

import math
from typing import Any

from ...calls import ApiCall, Precondition
from .answers import Reading, Verdict
from .ending import completed, finish, tell_asked
from .entry import BLOCKED, DONE, EXECUTING, Attempt, Entry, changed
from .parts import Fate, Parts
from .standing import consider, pause, promote, withhold
from .superseding import dominator, withholdable

__all__ = ["conclude", "next_start", "start", "unstarted"]


def next_start(parts: Parts, now: float) -> float:
    """When an attempt can start if nothing else happens (seconds on the queue's clock); infinite if something else must come first."""
    if parts.closed or parts.executing >= parts.config.workers or parts.ready.top() is None:
        return math.inf
    bucket, breaker = parts.bucket, parts.breaker
    token = bucket.next_at(now) if bucket.limited else now
    return token if breaker.opened is None else max(token, breaker.next_at(now))


def start(parts: Parts, now: float) -> Attempt | None:
    """Pop the best eligible call, with a worker, a token and, if need be, a probe's lease; `None` if nothing can start now."""
    if parts.closed or parts.executing >= parts.config.workers:
        return None
    ready, bucket, breaker = parts.ready, parts.bucket, parts.breaker
    entry = ready.top()
    if entry is None or (bucket.limited and not bucket.ready(now)):
        return None
    if breaker.opened is not None and not breaker.admits(now):
        return None
    if bucket.limited:
        bucket.take(now)
    parts.executing += 1
    if ready.shares:
        ready.began(entry.plugin)
    attempt = _attempt(parts, entry, now)
    attempt.epoch = breaker.epoch
    if breaker.opened is not None:
        attempt.lease = breaker.begin(now)
    entry.state = EXECUTING
    entry.attempt = attempt
    if entry.ordered:
        parts.objects.began(entry)
    return attempt


def _attempt(parts: Parts, entry: Entry, now: float) -> Attempt:
    number = entry.attempts + entry.reads
    timeout = parts.config.attempt_timeout
    if entry.read_next:
        entry.reads += 1
        return Attempt(entry, _sent(entry, entry.sent_version), read=True, number=number, timeout=timeout, started=now)
    entry.attempts += 1
    if entry.attempts > 1:
        parts.accounts.retries += 1
    version = entry.pinned
    if version is None and entry.call.precondition.resource_version is not None:
        version = parts.own_writes.rebased(entry.call.uid, entry.call.precondition.resource_version)
    entry.sent_version = version
    timeout = min(timeout, entry.deadline - now)
    return Attempt(entry, _sent(entry, version), read=False, number=number, timeout=timeout, started=now)


def _sent(entry: Entry, version: int | None) -> ApiCall:
    """The call as it is sent: with its snapshot, and its guard rebased."""
    call = entry.call
    if entry.payload is call.payload and version == call.precondition.resource_version:
        return call
    told = call.precondition
    if version != told.resource_version:
        told = Precondition(uid=told.uid, resource_version=version, generation=told.generation)
    return changed(call, payload=entry.payload, precondition=told)


def _over(parts: Parts, attempt: Attempt, healthy: bool | None) -> bool:
    """Give back what an attempt held. Returns whether its entry still waits for it."""
    if attempt.over:
        return False
    attempt.over = True
    parts.executing -= 1
    if parts.ready.shares:
        parts.ready.ended(attempt.plugin)
    if parts.breaker.failures:
        parts.breaker.end(attempt.epoch, attempt.lease, healthy, parts.now)
    entry = attempt.entry
    if entry.state == DONE or entry.attempt is not attempt:
        parts.accounts.audited += 1
        return False
    entry.attempt = None
    return True


def unstarted(parts: Parts, attempt: Attempt) -> None:
    """An attempt was handed out but surely not begun: its token, slot and lease come back, and it does not count."""
    if attempt.over:
        return
    parts.bucket.give_back()
    if _over(parts, attempt, None):
        entry = attempt.entry
        if attempt.read:
            entry.reads -= 1
        else:
            entry.attempts -= 1
        _go_on(parts, entry)


def conclude(parts: Parts, attempt: Attempt, reading: Reading) -> None:
    """An attempt is over. Idempotent: only the first end of an attempt counts."""
    if not _over(parts, attempt, reading.healthy):
        return
    entry = attempt.entry
    if attempt.read:
        _read_back(parts, entry, reading)
    else:
        _answered(parts, entry, reading)


def _answered(parts: Parts, entry: Entry, reading: Reading) -> None:
    verdict = reading.verdict
    writes = entry.call.effect != "READ"
    if verdict is Verdict.DONE:
        _done(parts, entry, reading)
        return
    if writes and verdict in (Verdict.LOST, Verdict.UNCLEAR) and not entry.undecided:
        entry.undecided = True
        entry.pinned = entry.sent_version
    if not entry.wanting:
        _nobody(parts, entry)
        return
    if not entry.undecided:
        parts.objects.decided(entry)
        tell_asked(parts, entry)
    spent = entry.attempts >= parts.config.attempts
    if verdict is Verdict.AGAIN or verdict is Verdict.LOST or (verdict is Verdict.UNCLEAR and writes):
        again = verdict is not Verdict.UNCLEAR and not spent and (not entry.undecided or _guarded(entry))
        if again:
            _back_off(parts, entry, entry.attempts, reading.hint)
        elif entry.undecided:
            _read_next(parts, entry)
        else:
            _ended(parts, entry, "exhausted", "attempts", Fate.NOT, reading.status)
    elif entry.undecided:
        _read_next(parts, entry)  # the conflict may be the call's own write
    else:
        reason = "conflict" if verdict is Verdict.CONFLICT else "permanent"
        _ended(parts, entry, "failed", reason, Fate.NOT, reading.status)


def _guarded(entry: Entry) -> bool:
    """Whether the server itself sees to it that a second sending does nothing twice."""
    return entry.call.key is not None or (entry.ordered and entry.sent_version is not None)


def _done(parts: Parts, entry: Entry, reading: Reading) -> None:
    if entry.ordered and entry.sent_version is not None:
        parts.own_writes.wrote(entry.call.uid, entry.sent_version, parts.version_of(reading.body))
    entry.undecided = False
    _ended(parts, entry, "noop" if reading.noop else "applied", "", Fate.DONE, reading.status)


def _nobody(parts: Parts, entry: Entry) -> None:
    """No joiner of its own wants it any more; the attempt that was out is over without its having been done for sure."""
    if entry.undecided:
        finish(parts, entry, "unknown", "ambiguous", Fate.UNKNOWN)
    else:
        finish(parts, entry, "stale", "", Fate.NOT)


def _ended(parts: Parts, entry: Entry, kind: str, reason: str, fate: Fate, status: int | None) -> None:  # noqa: PLR0917
    if entry.wanting and parts.handlers:
        plugins = [] if kind != "failed" else sorted({
            one.call.plugin for one in entry.waiting() if one.call is not None and not one.asked
        })  # fmt: skip
        completed(parts, entry, parts.view(kind, reason, status=status), plugins)
    finish(parts, entry, kind, reason, fate, status=status)


def _back_off(parts: Parts, entry: Entry, attempts: int, hint: float | None) -> None:
    entry.not_before = parts.now + parts.backoff.pause(attempts, hint)
    pause(parts, entry)
    _give_way(parts, entry)


def _read_next(parts: Parts, entry: Entry) -> None:
    if not parts.reads:
        _ended(parts, entry, "unknown", "ambiguous", Fate.UNKNOWN, None)
        return
    entry.read_next = True
    _go_on(parts, entry)


def _go_on(parts: Parts, entry: Entry) -> None:
    entry.state = BLOCKED
    if not entry.living() and not entry.live:
        return
    if not entry.undecided:
        parts.objects.decided(entry)
    if not entry.wanting:
        _nobody(parts, entry)
        return
    if not entry.undecided:
        _give_way(parts, entry)
    if entry.ordered and entry.placed:
        promote(parts, entry.call.uid)
    if entry.state == BLOCKED:
        consider(parts, entry)


def _give_way(parts: Parts, entry: Entry) -> None:
    """A call that does not execute any more does not hold its object against a more relevant one."""
    if not entry.ordered or not withholdable(entry):
        return
    top = dominator(parts.objects, entry)
    if top is not None:
        withhold(parts, entry, top)
    promote(parts, entry.call.uid)


def _read_back(parts: Parts, entry: Entry, reading: Reading) -> None:
    """The object was read back. That it shows nothing proves nothing: the request may still land."""
    conclusive = reading.verdict is Verdict.DONE or reading.status == 404
    if conclusive and _holds(parts, entry, reading.body):
        entry.undecided = False
        _ended(parts, entry, "applied", "", Fate.DONE, None)
    elif not entry.wanting or conclusive or entry.reads >= parts.config.attempts:
        _ended(parts, entry, "unknown", "ambiguous", Fate.UNKNOWN, reading.status if not conclusive else None)
    elif reading.verdict in (Verdict.AGAIN, Verdict.LOST, Verdict.UNCLEAR):
        _back_off(parts, entry, entry.reads, reading.hint)
    else:
        _ended(parts, entry, "unknown", "ambiguous", Fate.UNKNOWN, reading.status)


def _holds(parts: Parts, entry: Entry, body: Any) -> bool:
    try:
        return parts.holds(_sent(entry, entry.sent_version), body) is True
    except Exception:  # noqa: BLE001 - other people's judge; what it can't say is not known
        return False
