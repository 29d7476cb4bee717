"""httpx transports to the simulated server: time passes on the virtual time line, and nothing else happens."""

from __future__ import annotations

import math
from collections.abc import AsyncIterator, Generator, Iterator
from typing import Protocol, TypeVar

import anyio
import httpx

from ...harness.clocks import HORIZON, VirtualTime
from ...harness.recorder import BudgetExhausted, Recorder
from ..reply import Reply
from . import playing
from .jobs import Exchange
from .playing import Pause
from .recording import decoded
from .routes import Request

T = TypeVar("T")


class Opens(Protocol):
    """A server as its transports see it."""

    def open(self, request: Request) -> Exchange:
        """Decide what happens to a request."""


class SyncPasser:
    """Lets virtual time pass for blocking code. ``interrupt_at``: the planned interrupt, the one way out of a wait without end."""

    def __init__(self, time: VirtualTime, recorder: Recorder, interrupt_at: float | None = None) -> None:
        self.time = time
        self._recorder = recorder
        self._interrupt_at = interrupt_at

    def let_pass(self, pause: Pause) -> None:
        """Play one pause. Raises its error, ``KeyboardInterrupt`` when the plan interrupts, :class:`BudgetExhausted` in a hang."""
        seconds, fails = pause.outcome()
        if seconds > HORIZON:
            if self._interrupt_at is None or self._interrupt_at < self.time.now:
                detail = f"{pause.what} never ends, and no timeout was set"
                self._recorder.stop("hang", detail)
                raise BudgetExhausted(detail)
            seconds = HORIZON
        self.time.advance(seconds)
        if fails:
            raise pause.failure()


def _request(request: httpx.Request, content: bytes) -> Request:
    return Request(
        method=request.method,
        target=request.url.raw_path.decode("ascii", "replace"),
        headers=decoded(request.headers),
        body=content,
    )


class SimTransport(httpx.BaseTransport):
    """The synchronous transport. Honours the request's ``timeout`` extension in virtual time, phase by phase."""

    def __init__(self, server: Opens, passer: SyncPasser) -> None:
        self._server = server
        self._passer = passer

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Play the exchange up to the head of the answer. Raises what httpx raises."""
        limit = playing.limits(request.extensions)
        content = request.read()
        reply = self._drive(playing.head(self._server.open(_request(request, content)), limit))
        stream = _SyncBody(reply, self._passer, limit["read"])
        return httpx.Response(reply.status, headers=playing.headers(reply), stream=stream, request=request)

    def _drive(self, steps: Generator[Pause, None, T]) -> T:
        try:
            while True:
                self._passer.let_pass(next(steps))
        except StopIteration as stop:
            return stop.value  # type: ignore[no-any-return]


class _SyncBody(httpx.SyncByteStream):
    def __init__(self, reply: Reply, passer: SyncPasser, limit: float | None) -> None:
        self._steps = playing.body(reply, passer.time.now, lambda: passer.time.now, limit)
        self._passer = passer

    def __iter__(self) -> Iterator[bytes]:
        for step in self._steps:
            if isinstance(step, Pause):
                self._passer.let_pass(step)
            else:
                yield step


class AsyncSimTransport(httpx.AsyncBaseTransport):
    """The asynchronous transport, for asyncio (on the simulated loop) and trio. A hang is simply waited for: cancellation ends it."""

    def __init__(self, server: Opens, time: VirtualTime) -> None:
        self._server = server
        self._time = time

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Play the exchange up to the head of the answer. Raises what httpx raises."""
        limit = playing.limits(request.extensions)
        content = await request.aread()
        steps = playing.head(self._server.open(_request(request, content)), limit)
        try:
            while True:
                await _let_pass(next(steps))
        except StopIteration as stop:
            reply: Reply = stop.value
        stream = _AsyncBody(reply, self._time, limit["read"])
        return httpx.Response(reply.status, headers=playing.headers(reply), stream=stream, request=request)


class _AsyncBody(httpx.AsyncByteStream):
    def __init__(self, reply: Reply, time: VirtualTime, limit: float | None) -> None:
        self._steps = playing.body(reply, time.now, lambda: time.now, limit)

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for step in self._steps:
            if isinstance(step, Pause):
                await _let_pass(step)
            else:
                yield step


async def _let_pass(pause: Pause) -> None:
    seconds, fails = pause.outcome()
    await anyio.sleep(seconds if seconds <= HORIZON else math.inf)
    if fails:
        raise pause.failure()
