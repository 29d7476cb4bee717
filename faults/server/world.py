"""The world of one run: time, server, clocks and every seam that an adapter may plug its subject into (``WaiterBench``)."""

from __future__ import annotations

import functools
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import quote

import httpcore
import httpx

from ...harness import events, protocols
from ...harness.clocks import AsyncClock, SyncClock, VirtualTime, current_op
from ...harness.jsonable import Json, safe_repr
from ...harness.protocols import JobView
from ...harness.recorder import Recorder
from ..kinds import kind_named
from ..plan import Fault
from .jobs import JobServer
from .network import SimNetworkBackend
from .recording import AsyncRecordingTransport, RecordingTransport, Tape, current_fetch
from .routes import JOBS_ROUTE
from .transports import AsyncSimTransport, SimTransport, SyncPasser

BASE_URL: Final = "http://waitproof.test"
WALL_ORIGIN: Final = 1_700_000_000.0
"""What the server's wall clock, and the client's before it jumps, read at the start (epoch seconds)."""


@dataclass
class PlannedWakes:
    """How the sleeps of each operation wake: by its own plan, counted for itself, whoever else shares the clock."""

    wakes: Mapping[str, Sequence[Fault]] = field(default_factory=dict)
    _counts: dict[str, int] = field(default_factory=dict)

    def adjust(self, index: int, seconds: float) -> float:  # noqa: ARG002 - the clock counts all sleeps, this counts its own
        """How long (seconds) a sleep of the running operation really takes if ``seconds`` were asked."""
        op = current_op.get()
        planned = self.wakes.get(op, ())
        number = self._counts.get(op, 0)
        self._counts[op] = number + 1
        if number >= len(planned):
            return seconds
        kind = kind_named(planned[number].kind)
        if kind.adjust is None:
            raise ValueError(f"a {kind.place} fault ({kind.name}) does not say how a sleep wakes")
        return kind.adjust(planned[number].data, seconds)


def moments(faults: Sequence[Fault], name: str) -> list[tuple[float, Any]]:
    """The faults of one kind with the virtual seconds at which they act, the earliest first."""
    found = []
    for item in faults:
        kind = kind_named(item.kind)
        if kind.at is None:
            raise ValueError(f"a {kind.place} fault ({kind.name}) does not say when it acts")
        if item.kind == name:
            found.append((max(0.0, kind.at(item.data)), item.data))
    return sorted(found, key=lambda pair: pair[0])


class World:
    """Everything that one run's subject can touch; a :class:`~waitproof.harness.protocols.WaiterBench`.

    ``recorder_of``: makes the recorder, given the virtual time. ``origin``: what the monotonic clock reads at the start (seconds).
    ``clock``: the plan's faults of the wall clock. ``wakes``: how sleeps wake, by operation (``w0``, …). ``interrupt_at``: when a
    synchronous run is interrupted (virtual seconds). ``operations``: operation ids that the server looks for in payloads. ``seed``: of
    the random numbers that a subject may draw. Jobs are added to ``server``.
    """

    base_url: str = BASE_URL
    clock: protocols.Clock
    async_clock: protocols.AsyncClock

    def __init__(
        self,
        recorder_of: Callable[[Callable[[], float]], Recorder],
        *,
        origin: float = 0.0,
        clock: Sequence[Fault] = (),
        wakes: Mapping[str, Sequence[Fault]] | None = None,
        interrupt_at: float | None = None,
        operations: Sequence[str] = (),
        seed: int = 0,
    ) -> None:
        self.time = VirtualTime(
            origin=origin,
            wall_origin=WALL_ORIGIN,
            wall_jumps=tuple((at, data.seconds) for at, data in moments(clock, "wall_jump")),
            interrupt_at=interrupt_at,
        )
        self.recorder = recorder_of(lambda: self.time.now)
        self.time.attach(self.recorder)
        self.tape = Tape(self.recorder, lambda: self.time.now)
        self.server = JobServer(
            self.recorder,
            wall=lambda: WALL_ORIGIN + self.time.now,
            op=lambda: current_fetch.get() or current_op.get(),
            operations=operations,
            alias=self.tape.alias,
        )
        self.wakes = PlannedWakes(wakes or {})
        self.clock = SyncClock(self.time, self.recorder, self.wakes)
        self.async_clock = AsyncClock(self.time, self.recorder, self.wakes)
        self.random = random.Random(seed)  # noqa: S311 - jitter, not secrets
        self._passer = SyncPasser(self.time, self.recorder, interrupt_at)

    def transport(self) -> httpx.BaseTransport:
        """A synchronous httpx transport to the server, in virtual time; honours the request's timeouts; recorded."""
        return RecordingTransport(SimTransport(self.server, self._passer), self.tape)

    def async_transport(self) -> httpx.AsyncBaseTransport:
        """An asynchronous httpx transport to the server, in virtual time; honours the request's timeouts; recorded."""
        return AsyncRecordingTransport(AsyncSimTransport(self.server, self.time), self.tape)

    def network_backend(self) -> httpcore.NetworkBackend:
        """The network beneath, for subjects that bring a transport of their own over ``httpcore``; wrap that with :meth:`recorded`."""
        return SimNetworkBackend(self.server, self._passer)

    def recorded(self, inner: httpx.BaseTransport) -> httpx.BaseTransport:
        """Wrap a subject's own transport, so that its fetches are recorded."""
        return RecordingTransport(inner, self.tape)

    def get_job(self, job_id: str, *, resource: str = "parse_jobs", timeout: float | None = None) -> Any:
        """Fetch a job and return the decoded body.

        ``timeout``: seconds a phase (connect, each read), as httpx and requests have it. Raises ``httpx.HTTPStatusError`` for an error
        status, ``httpx.TransportError`` when there is no answer, ``ValueError`` for a body that is no JSON.
        """
        return _decoded(self._client.get(job_target(resource, job_id), timeout=timeout))

    async def get_job_async(
        self,
        job_id: str,
        *,
        resource: str = "parse_jobs",
        timeout: float | None = None,
    ) -> Any:
        """The asynchronous twin of :meth:`get_job`."""
        return _decoded(await self._async_client.get(job_target(resource, job_id), timeout=timeout))

    def on_poll(self, view: JobView, *, polls: int | None = None) -> None:
        """A progress callback, recorded, with the number of fetches that the subject says it has made."""
        seen: object = view
        told: Json = (
            seen.as_json() if isinstance(seen, JobView) else {"other": f"the callback was given {safe_repr(view)}"}
        )
        self.recorder.record(events.POLL_CALLBACK, events.CALLER, current_op.get(), view=told, polls=polls)

    @functools.cached_property
    def _client(self) -> httpx.Client:
        return httpx.Client(base_url=BASE_URL, transport=self.transport(), trust_env=False)

    @functools.cached_property
    def _async_client(self) -> httpx.AsyncClient:
        return httpx.AsyncClient(base_url=BASE_URL, transport=self.async_transport(), trust_env=False)


def job_target(resource: str, job_id: str) -> str:
    """The path of a job, its id escaped. Dots too where the id is nothing else: URL libraries take those for folders."""
    name = job_id.replace(".", "%2E") if set(job_id) == {"."} else quote(job_id, safe="")
    return f"{JOBS_ROUTE[resource]}/{name}"


def _decoded(response: httpx.Response) -> Any:
    response.raise_for_status()
    try:
        return response.json()
    except RecursionError as error:
        raise ValueError("the body is JSON nested too deep to be read") from error
