"""The world of one run of a queue: time, server, clocks, threads and every seam that an adapter may plug its queue into (``QueueBench``)."""

from __future__ import annotations

import functools
import math
import random
from collections.abc import Callable, Coroutine
from typing import Any, Protocol

import httpx

from ..harness import events, protocols, queue_events
from ..harness.calls import ApiAnswer, ApiCall, OutcomeView
from ..harness.clocks import AsyncClock, SyncClock, VirtualTime
from ..harness.jsonable import Json, loads, safe_repr
from ..harness.queue_protocols import Threads
from ..harness.recorder import Recorder
from .queue_kills import Kills, UnforeseenError
from .queue_plan import QueuePlan
from .server.cluster import ClusterServer
from .server.cluster_recording import AsyncAttemptTransport, AttemptTape, AttemptTransport
from .server.cluster_wire import holds, operation_in, wire
from .server.recording import current_fetch
from .server.transports import AsyncSimTransport, SimTransport, SyncPasser
from .server.world import BASE_URL


class Driver(Protocol):
    """How a mode lets things happen beside the queue: the asyncio, trio or threads part of a run."""

    def later(self, seconds: float, action: Callable[[], None]) -> None:
        """Call ``action`` in ``seconds`` of virtual time, whatever anybody waits for."""

    async def attempt(self, inner: Coroutine[Any, Any, Any]) -> Any:
        """Await an attempt, and strike at its planned await point."""


class _Coarse:
    """A clock that shows multiples of ``tick`` seconds only, as old systems' clocks do."""

    tick: float = 0.0

    def shown(self, reading: float) -> float:
        """What the clock shows."""
        return math.floor(reading / self.tick + 1e-9) * self.tick if self.tick else reading


class QueueClock(SyncClock, _Coarse):
    """The clock seam of queues made of threads."""

    def monotonic(self) -> float:
        """Seconds on the monotonic clock."""
        return self.shown(super().monotonic())


class AsyncQueueClock(AsyncClock, _Coarse):
    """The clock seam of queues on asyncio and trio."""

    def monotonic(self) -> float:
        """Seconds on the monotonic clock."""
        return self.shown(super().monotonic())


class NoThreads:
    """What an asynchronous subject finds where threads would be: none."""

    def _none(self, *_: object, **__: object) -> Any:
        raise RuntimeError(
            "this subject runs on an event loop: the bench has threads for subjects of mode 'threads' only"
        )

    lock = condition = start = _none


class QueueWorld:
    """Everything that one run's queue can touch; a :class:`~waitproof.harness.queue_protocols.QueueBench`.

    ``driver``: how this mode lets things happen. ``threads``: for a queue made of threads. ``time`` and ``recorder`` belong together.
    """

    clock: protocols.Clock
    async_clock: protocols.AsyncClock
    threads: Threads

    def __init__(
        self,
        plan: QueuePlan,
        time: VirtualTime,
        recorder: Recorder,
        driver: Driver,
        *,
        kills: Kills,
        threads: Threads | None = None,
    ) -> None:
        self.time = time
        self.recorder = recorder
        self.kills = kills
        self.tape = AttemptTape(recorder)
        self.server = ClusterServer(recorder, scripts=plan.script, op=current_fetch.get, later=driver.later)
        self.driver = driver
        clock, async_clock = QueueClock(time, recorder), AsyncQueueClock(time, recorder)
        clock.tick = async_clock.tick = plan.tick
        clock.resolution = async_clock.resolution = max(plan.tick, 0.001)
        self.clock, self.async_clock = clock, async_clock
        self.threads = NoThreads() if threads is None else threads
        self.random = random.Random(plan.config.jitter_seed)  # noqa: S311 - jitter, not secrets
        self._passer = SyncPasser(time, recorder)

    # -- attempts ------------------------------------------------------------------------------------------------------

    async def send_async(self, call: ApiCall, *, timeout: float | None = None) -> ApiAnswer:
        """One attempt; see the protocol."""
        return await self._exchange_async(call, timeout, read=False)

    async def read_async(self, call: ApiCall, *, timeout: float | None = None) -> ApiAnswer:
        """One read-back; see the protocol."""
        return await self._exchange_async(call, timeout, read=True)

    def send(self, call: ApiCall, *, timeout: float | None = None) -> ApiAnswer:
        """One attempt, blocking."""
        return self._exchange(call, timeout, read=False)

    def read(self, call: ApiCall, *, timeout: float | None = None) -> ApiAnswer:
        """One read-back, blocking."""
        return self._exchange(call, timeout, read=True)

    async def _exchange_async(self, call: ApiCall, timeout: float | None, *, read: bool) -> ApiAnswer:
        told = wire(call, read=read)
        request = self._async_client.build_request(
            told.method, told.target, headers=dict(told.headers), content=told.content, timeout=timeout
        )
        return _answer(await self.driver.attempt(self._async_client.send(request)))

    def _exchange(self, call: ApiCall, timeout: float | None, *, read: bool) -> ApiAnswer:
        told = wire(call, read=read)
        request = self._client.build_request(
            told.method, told.target, headers=dict(told.headers), content=told.content, timeout=timeout
        )
        return _answer(self._client.send(request))

    @functools.cached_property
    def _async_client(self) -> httpx.AsyncClient:
        transport = AsyncAttemptTransport(AsyncSimTransport(self.server, self.time), self.tape)
        return httpx.AsyncClient(base_url=BASE_URL, transport=transport, trust_env=False)

    @functools.cached_property
    def _client(self) -> httpx.Client:
        transport = AttemptTransport(SimTransport(self.server, KillingPasser(self._passer, self.kills)), self.tape)
        return httpx.Client(base_url=BASE_URL, transport=transport, trust_env=False)

    # -- what the queue tells ------------------------------------------------------------------------------------------

    def holds(self, call: ApiCall, body: Any) -> bool:
        """Whether a body that was read shows the effect of this very call."""
        return holds(call, body)

    def failed(self, call: ApiCall, view: OutcomeView) -> None:
        """The plugin's failure handler."""
        data = {"plugin": call.plugin, "uid": call.uid, "operation": operation_in(call.payload), "status": view.status}
        self.recorder.record(queue_events.PLUGIN_FAILURE, events.CALLER, "", **data, view=view_json(view))

    def reevaluate(self, call: ApiCall, view: OutcomeView) -> None:
        """The scheduler is asked to look at the pod again."""
        data = {"uid": call.uid, "context": call.context, "operation": operation_in(call.payload)}
        self.recorder.record(queue_events.REEVALUATE, events.CALLER, "", **data, view=view_json(view))


class KillingPasser(SyncPasser):
    """Lets time pass for blocking attempts, and raises an unforeseen error at the planned one of their pauses."""

    def __init__(self, inner: SyncPasser, kills: Kills) -> None:
        super().__init__(inner.time, inner._recorder)  # noqa: SLF001 - one idea in two classes
        self._kills = kills

    def let_pass(self, pause: Any) -> None:
        """Play one pause, then strike if this is the one."""
        due = self._kills.due("attempt")
        seconds, fails = pause.outcome()
        self.time.advance(min(seconds, 1e10))  # in threads others go on; what never ends is the loop's to report
        if due:
            raise UnforeseenError("the bench raises this at an await point")
        if fails:
            raise pause.failure()


def _answer(response: httpx.Response) -> ApiAnswer:
    try:
        body = loads(response.content) if response.content else None
    except ValueError:
        body = response.text
    headers = {name.lower(): value for name, value in response.headers.items()}
    return ApiAnswer(status=response.status_code, headers=headers, body=body)


def view_json(view: object) -> Json:
    """An outcome view as data; what is none is shown as such."""
    return view.as_json() if isinstance(view, OutcomeView) else {"kind": f"no outcome view: {safe_repr(view)}"}
