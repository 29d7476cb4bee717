"""The seams between the bench and a subject: what a subject is, what it is called with, what it is given, what it hands back."""

from __future__ import annotations

import dataclasses
import inspect
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, cast

import httpcore
import httpx

from .dialect import Mode, WaiterDialect
from .jsonable import Json, plain

RESOURCES = ("parse_jobs", "extract_jobs", "build_schema_jobs")

CATEGORIES = ("timeout", "failure", "transport", "cancelled", "value", "other")
"""What a wait may raise, in the bench's words. ``transport`` is every failed fetch: no answer, an HTTP error status, a body that is no
job, the answer for another job."""


@dataclass(frozen=True, kw_only=True)
class WaitCall:
    """The arguments of one wait, in SPEC 2's words. All times are seconds; ``timeout=inf`` waits for ever.

    ``attempts`` is only for subjects whose limit is a number of attempts. ``jitter_seed``: ``None`` means no jitter.
    """

    job_id: str = "job-1"
    resource: str = "parse_jobs"
    timeout: float = 600.0
    attempts: int | None = None
    poll_interval: float | None = None
    first_delay: float = 1.0
    factor: float = 1.5
    cap: float = 10.0
    fetch_timeout: float = 10.0
    not_found_grace: float = 0.0
    raise_on_failure: bool = False
    jitter_seed: int | None = None

    def as_json(self) -> dict[str, Json]:
        """The call as plain data."""
        return cast("dict[str, Json]", plain(dataclasses.asdict(self)))

    @classmethod
    def from_json(cls, data: Mapping[str, Json]) -> WaitCall:
        """Read what :meth:`as_json` wrote; unknown fields raise ``TypeError``."""
        return cls(**cast("dict[str, Any]", dict(data)))


@dataclass(frozen=True, kw_only=True)
class JobView:
    """What a value that the subject handed out says, in the bench's words. ``None``: it does not say.

    ``status`` is one of pending, processing, completed, failed, cancelled. ``raw_status``: the server's word, if the value keeps it.
    ``result``: the payload as JSON. ``error``: ``{"code": …, "message": …}`` or ``None``. ``raw``: the envelope, if it is kept.
    """

    job_id: str | None = None
    status: str | None = None
    raw_status: str | None = None
    result: Json = None
    error: Json = None
    raw: Json = None

    def as_json(self) -> dict[str, Json]:
        """The view as plain data. A value that is not plain is shown by its repr: views come from other people's objects."""
        return {item.name: plain(getattr(self, item.name)) for item in dataclasses.fields(self)}


class Clock(Protocol):
    """The clock that a synchronous subject with a seam is given."""

    resolution: float

    def monotonic(self) -> float:
        """Seconds from an arbitrary origin; never goes back."""

    def sleep(self, seconds: float, /) -> None:
        """Sleep in virtual time; may wake early or late, by plan."""

    def wall(self) -> float:
        """Seconds since 1970; may jump."""


class AsyncClock(Protocol):
    """The clock that an asynchronous subject with a seam is given."""

    resolution: float

    def monotonic(self) -> float:
        """Seconds from an arbitrary origin; never goes back."""

    async def sleep(self, seconds: float, /) -> None:
        """Sleep in virtual time; may wake early or late, by plan."""

    def wall(self) -> float:
        """Seconds since 1970; may jump."""


class WaiterBench(Protocol):
    """What an adapter is given: a server that plays a plan, seen through whatever seam the subject has.

    Every way to the server is recorded at the transport: an httpx transport (synchronous or asynchronous), an ``httpcore`` network
    backend for those that bring their own transport (wrap it with :meth:`recorded`), and plain functions that return dicts.
    """

    base_url: str
    clock: Clock
    async_clock: AsyncClock
    random: random.Random

    def transport(self) -> httpx.BaseTransport:
        """A synchronous httpx transport to the server, in virtual time; honours the request's timeouts."""

    def async_transport(self) -> httpx.AsyncBaseTransport:
        """An asynchronous httpx transport to the server, in virtual time; honours the request's timeouts."""

    def network_backend(self) -> httpcore.NetworkBackend:
        """The network beneath, for subjects that bring a transport of their own over ``httpcore``."""

    def recorded(self, inner: httpx.BaseTransport) -> httpx.BaseTransport:
        """Wrap a subject's own transport, so that its fetches are recorded."""

    def get_job(self, job_id: str, *, resource: str = "parse_jobs", timeout: float | None = None) -> Any:
        """Fetch a job and return the decoded body. Raises ``httpx.HTTPStatusError`` for an error status, ``httpx.TransportError``
        when there is no answer, ``ValueError`` for a body that is no JSON."""

    async def get_job_async(self, job_id: str, *, resource: str = "parse_jobs", timeout: float | None = None) -> Any:
        """The asynchronous twin of :meth:`get_job`."""

    def on_poll(self, view: JobView, *, polls: int | None = None) -> None:
        """A progress callback, recorded. ``polls``: how many fetches the subject says it has made, if it says so."""


@dataclass(frozen=True, kw_only=True)
class WaiterSubject:
    """A waiter on the bench.

    * ``wait(bench, call)``: run one wait and return what the subject returns (an awaitable for asyncio and trio).
    * ``view(value)``: read a returned value.
    * ``errors``: exception types by category of :data:`CATEGORIES`; the first category that fits counts.
    * ``carries(error)``: what a raised error hands out (``view`` of its job, ``elapsed``, ``polls``, ``raw_status``).
    * ``patch``: module prefixes whose time names are patched, for subjects without a clock seam.
    * ``family``: twins (sync, asyncio, trio) of one implementation share it.
    * ``package``: the distribution whose version is reported; empty for code that is in no distribution.
    * ``twins``: all the modes of this implementation, itself included; empty if it has no twin.
    * ``create``, ``direct``: the same client's other paths, for the client suites; ``None`` if it has none.
    """

    name: str
    mode: Mode
    wait: Callable[[WaiterBench, WaitCall], Any]
    view: Callable[[Any], JobView]
    dialect: WaiterDialect = field(default_factory=WaiterDialect)
    claims: frozenset[str] = frozenset()
    errors: Mapping[str, tuple[type[BaseException], ...]] = field(default_factory=dict)
    carries: Callable[[BaseException], Mapping[str, object]] | None = None
    patch: tuple[str, ...] = ()
    family: str = ""
    package: str = ""
    summary: str = ""
    create: Callable[[WaiterBench, CreateCall], Any] | None = None
    direct: Callable[[WaiterBench, CreateCall], Any] | None = None
    twins: Callable[[], Sequence[WaiterSubject]] = tuple
    kind: str = "waiter"

    def __post_init__(self) -> None:
        if self.mode not in ("sync", "asyncio", "trio"):
            raise ValueError(f"subject {self.name!r}: mode must be sync, asyncio or trio, not {self.mode!r}")
        if self.mode == "sync" and inspect.iscoroutinefunction(self.wait):
            raise ValueError(
                f"subject {self.name!r}: its wait is a coroutine function, so mode must be asyncio or trio, not sync"
            )
        known = {item.name for item in dataclasses.fields(WaitCall)}
        for what, given in (("parameters", self.dialect.parameters), ("defaults", self.dialect.defaults)):
            if wrong := sorted(set(given) - known):
                raise ValueError(
                    f"subject {self.name!r}: dialect {what} name no argument of a wait: {', '.join(wrong)}; there are {', '.join(sorted(known))}"
                )
        unknown = sorted(set(self.errors) - set(CATEGORIES))
        if unknown:
            raise ValueError(
                f"subject {self.name!r}: no error category {', '.join(unknown)}; there are {', '.join(CATEGORIES)}"
            )

    def effective(self, call: WaitCall) -> WaitCall:
        """The call as this subject will see it: fields that it does not take have the dialect's defaults."""
        fixed = {
            item.name: self.dialect.defaults.get(item.name, item.default)
            for item in dataclasses.fields(WaitCall)
            if item.name not in self.dialect.parameters | {"job_id", "resource"}
        }
        if call.attempts is None and "attempts" in self.dialect.parameters:
            fixed["attempts"] = self.dialect.defaults.get("attempts")
        return dataclasses.replace(call, **cast("dict[str, Any]", fixed))

    def categorise(self, error: BaseException) -> str:
        """The category of a raised error."""
        for category, types in self.errors.items():
            if isinstance(error, types):
                return category
        return "other"


@dataclass(frozen=True, kw_only=True)
class CreateCall:
    """The arguments of one submit or one direct call: which resource, and the operation id that the harness puts into the payload."""

    resource: str = "parse_jobs"
    operation: str = "operation-1"

    def as_json(self) -> dict[str, Json]:
        """The call as plain data."""
        return {"resource": self.resource, "operation": self.operation}
