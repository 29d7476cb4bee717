"""What the adapters to runners of jobs share: they are told "run this coroutine", and know nothing of API calls, outcomes or retries.

One job is one attempt. How it ended is read by the shared words of HTTP: 2xx is applied; 409 and 412 failed for a conflict; 408, 500,
502, 504 and a lost answer unknown (a read, which changes nothing, is only out of attempts); 425, 429, other 5xx and a connection that was
never made out of attempts; all else failed for good.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Any, Final

import httpx

from ..calls import ApiAnswer, ApiCall, OutcomeView
from ..jsonable import Json
from ..queue_protocols import QueueBench
from .error_table import ErrorClass, classify_status

UNLIMITED: Final = 1_000_000

PLAIN: Final[Mapping[str, Any]] = {
    "order": "fifo",
    "coalescing": "none",
    "when_full": "unbounded",
    "ambiguous": "give_up",
    "close": "drain",
    **dict.fromkeys(
        "supersedes serialises retries deadlines contexts prerequisites shares rate breaker read_back snapshots".split(),
        False,
    ),
}
"""The dialect of a runner that only runs: what an adapter says beyond it, its package has."""

DEFAULTS: Final[Mapping[str, Json]] = {
    "capacity": UNLIMITED,
    "qps": float("inf"),
    "attempts": 1,
    "priority_low": -UNLIMITED,
    "priority_high": UNLIMITED,
    "aging": 0.0,
    "shares": {},
    "breaker_failures": 0,
}
"""How a runner that only runs is set up, whatever is asked for."""

_NEVER_SENT = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout, httpx.UnsupportedProtocol)
_AMBIGUOUS = (408, 500, 502, 504)


class Job:
    """One submit: the coroutine to run (:meth:`run`), and the future of how it ended, which is told once."""

    def __init__(self, bench: QueueBench, call: ApiCall, timeout: float, settled: Callable[[Any], None]) -> None:
        self.call = call
        self.sent = False
        self.unwanted = False
        self.future: asyncio.Future[OutcomeView] = asyncio.get_running_loop().create_future()
        self.own: Any = None
        """What the runner handed out for it."""
        self._bench = bench
        self._timeout = timeout
        self._settled = settled

    async def run(self) -> ApiAnswer:
        """The one attempt."""
        self.sent = True
        return await self._bench.send_async(self.call, timeout=self._timeout)

    def ended(self, answer: ApiAnswer | BaseException) -> None:
        """It ended with an answer or an error."""
        self.tell(outcome(self.call, answer))

    def given_up(self, word: str) -> None:
        """It was given up (``cancelled``, ``closed``, …); what was on its way may still land."""
        self.tell(OutcomeView(kind="unknown" if self.sent else word, reason=word))

    def tell(self, view: OutcomeView) -> None:
        """Tell its submitter."""
        self.future.set_result(view)
        self._settled(view)


def outcome(call: ApiCall, ended: ApiAnswer | BaseException) -> OutcomeView:
    """What the end of a call's only attempt means; see the module."""
    lost = "exhausted" if call.effect == "READ" else "unknown"
    if isinstance(ended, BaseException):
        unsent = isinstance(ended, _NEVER_SENT)
        return OutcomeView(kind="exhausted" if unsent else lost, reason="attempts" if unsent else "ambiguous")
    status = ended.status
    if 200 <= status < 300:
        return OutcomeView(kind="applied", status=status)
    if status in _AMBIGUOUS:
        return OutcomeView(kind=lost, reason="ambiguous", status=status)
    if classify_status(status) is ErrorClass.TRANSIENT:
        return OutcomeView(kind="exhausted", reason="attempts", status=status)
    return OutcomeView(kind="failed", reason="conflict" if status in (409, 412) else "permanent", status=status)


def same(value: Any) -> OutcomeView:
    """The view of an outcome that :meth:`Job.tell` has told."""
    assert isinstance(value, OutcomeView)
    return value


class BareHandle:
    """A :class:`~waitproof.harness.queue_protocols.QueueHandle` without anything that a runner of jobs has not."""

    async def outcome_async(self, ticket: Job) -> OutcomeView:
        """Whoever waits may go; the job stays."""
        return await asyncio.shield(ticket.future)

    def _has_not(self, *_: object) -> Any:
        raise NotImplementedError("this queue has nothing of the kind")

    outcome: Any = _has_not
    cancel: Any = _has_not
    end_context: Any = _has_not
    delete_object: Any = _has_not
    set_rate: Any = _has_not

    def stats(self) -> None:
        """It has no figures."""

    def bounds(self) -> None:
        """It prints no bounds."""
