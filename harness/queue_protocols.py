"""The seams between the bench and a dispatch queue: what it is opened with, what it is given, what it hands back."""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager, AbstractContextManager
from dataclasses import dataclass, field
from typing import Any, Protocol, cast

from .calls import ApiAnswer, ApiCall, OutcomeView
from .jsonable import Json, plain, revive
from .protocols import AsyncClock, Clock
from .queue_dialect import QueueDialect, QueueMode

RELEVANCE: Mapping[str, int] = {"delete": 3, "preempt": 3, "bind": 2, "patch": 1, "get": 0, "create": 0}
"""The types that a queue of the bench is told of, by relevance; only writes to the pod object (3, 2, 1) supersede one another."""


@dataclass(frozen=True, kw_only=True)
class QueueConfig:
    """How a queue is set up, in SPEC 4's words. All times are seconds.

    ``workers``: most attempts in flight. ``capacity``: most live submits. ``qps``, ``burst``: of attempts (``inf``: no limit).
    ``attempt_timeout``: of one attempt. ``attempts``: most attempts a call. ``backoff_first``, ``backoff_factor``, ``backoff_cap``: of the
    pause before a retry; the pause lies in [half, whole] of it (jitter from ``jitter_seed``) and is never below a ``Retry-After``.
    ``priority_low``, ``priority_high``: the configured span; a priority outside is clipped to it. ``aging``: priority a second of waiting.
    ``shares``: by plugin (most live, most executing). ``breaker_failures``: transient failures in a row (of one breaker for the whole server)
    after which it opens; 0: no breaker. ``breaker_open``: how long it stays open. ``breaker_probes``: probes at once when half-open.
    """

    workers: int = 2
    capacity: int = 100
    qps: float = float("inf")
    burst: int = 10
    attempt_timeout: float = 5.0
    attempts: int = 4
    backoff_first: float = 0.5
    backoff_factor: float = 2.0
    backoff_cap: float = 8.0
    jitter_seed: int = 0
    priority_low: int = 0
    priority_high: int = 100
    aging: float = 1.0
    shares: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    breaker_failures: int = 0
    breaker_open: float = 10.0
    breaker_probes: int = 1

    def as_json(self) -> dict[str, Json]:
        """The configuration as plain data."""
        return cast("dict[str, Json]", plain(dataclasses.asdict(self)))

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> QueueConfig:
        """Read what :meth:`as_json` wrote, an infinite quota included; unknown fields raise ``TypeError``."""
        values: dict[str, Any] = {name: revive(value) for name, value in data.items()}
        values["shares"] = {name: tuple(pair) for name, pair in dict(values.get("shares", {})).items()}
        return cls(**values)


class Threads(Protocol):
    """Threads, locks and time as a threaded subject takes them from the bench: real ones, scheduled one at a time in virtual time.

    ``lock()`` and ``condition(lock)`` make objects with the methods of ``threading.Lock`` and ``threading.Condition``.
    """

    def lock(self) -> Any:
        """Make a lock, as ``threading.Lock()``."""

    def condition(self, lock: Any = None) -> Any:
        """Make a condition, as ``threading.Condition(lock)``."""

    def start(self, target: Callable[[], object], *, name: str) -> Any:
        """Start a thread; the answer has ``join(timeout=None)`` and ``is_alive()``."""


class QueueBench(Protocol):
    """What a queue's adapter is given: an API server that plays a plan, clocks, threads, and the caller's callbacks."""

    clock: Clock
    async_clock: AsyncClock
    threads: Threads
    random: random.Random

    async def send_async(self, call: ApiCall, *, timeout: float | None = None) -> ApiAnswer:
        """One attempt, over the recorded asynchronous transport. Whatever the HTTP status is, it is an answer.

        ``timeout``: seconds a phase, as httpx has it. Raises ``httpx.TransportError`` when there is no answer.
        """

    def send(self, call: ApiCall, *, timeout: float | None = None) -> ApiAnswer:
        """The blocking twin of :meth:`send_async`."""

    async def read_async(self, call: ApiCall, *, timeout: float | None = None) -> ApiAnswer:
        """Read the object (or, for CREATE, what was created) back; recorded as an attempt that reads."""

    def read(self, call: ApiCall, *, timeout: float | None = None) -> ApiAnswer:
        """The blocking twin of :meth:`read_async`."""

    def holds(self, call: ApiCall, body: Any) -> bool:
        """Whether a body that was read shows the effect of ``call``. That it does not proves nothing: a request may still land."""

    def failed(self, call: ApiCall, view: OutcomeView) -> None:
        """The plugin's failure handler, for permanent errors; recorded."""

    def reevaluate(self, call: ApiCall, view: OutcomeView) -> None:
        """The scheduler is asked to look at the pod again; recorded."""


class QueueHandle(Protocol):
    """An open queue as the bench uses it. Everything answers at once; what a queue has not, its adapter leaves out (raise
    ``NotImplementedError``): the bench asks only for what the dialect says."""

    def submit(self, call: ApiCall, settled: Callable[[Any], None]) -> Any:
        """Submit and answer at once with a ticket. ``settled`` is called with the outcome, once, from wherever it is decided (inside
        ``submit`` too); it may submit or close in turn."""

    async def outcome_async(self, ticket: Any) -> Any:
        """Wait for the outcome of a ticket (asynchronous modes)."""

    def outcome(self, ticket: Any) -> Any:
        """Wait for the outcome of a ticket (threads)."""

    def cancel(self, ticket: Any) -> None:
        """Cancel one submit."""

    def end_context(self, context: str) -> None:
        """A scheduling context is over."""

    def delete_object(self, uid: str) -> None:
        """An object is gone."""

    def set_rate(self, qps: float, burst: int) -> None:
        """Another quota from now on."""

    def close(self) -> Any:
        """Close; may be called again and from anywhere. An awaitable answer is awaited, a blocking one is waited for."""

    def stats(self) -> Mapping[str, Any] | None:
        """The queue's own figures (``submitted``, ``live``, ``outcomes``, ``tokens``, ``executing``), or ``None`` if it has none."""

    def bounds(self) -> Mapping[str, float | str] | None:
        """The bounds that it prints: ``wait`` (W, seconds) and ``overtakes`` (B), and ``why``, their derivation in words; or ``None``."""


@dataclass(frozen=True, kw_only=True)
class QueueSubject:
    """A dispatch queue on the bench.

    * ``open(bench, config)``: a context manager (asynchronous for asyncio and trio) that gives a :class:`QueueHandle`.
    * ``view(value)``: read an outcome that the queue handed out, in the bench's words.
    * ``patch``: module prefixes whose time names are patched, for subjects without a clock seam.
    * ``family``, ``package``, ``summary``: as for waiters.
    """

    name: str
    mode: QueueMode
    open: Callable[
        [QueueBench, QueueConfig], AbstractAsyncContextManager[QueueHandle] | AbstractContextManager[QueueHandle]
    ]
    view: Callable[[Any], OutcomeView]
    dialect: QueueDialect = field(default_factory=QueueDialect)
    claims: frozenset[str] = frozenset()
    patch: tuple[str, ...] = ()
    family: str = ""
    package: str = ""
    summary: str = ""
    kind: str = "queue"

    def __post_init__(self) -> None:
        if self.mode not in ("asyncio", "trio", "threads"):
            raise ValueError(f"subject {self.name!r}: mode must be asyncio, trio or threads, not {self.mode!r}")
        known = {item.name for item in dataclasses.fields(QueueConfig)}
        for what, given in (("parameters", self.dialect.parameters), ("defaults", self.dialect.defaults)):
            if wrong := sorted(set(given) - known):
                raise ValueError(
                    f"subject {self.name!r}: dialect {what} name nothing of a queue's configuration: {', '.join(wrong)}; "
                    f"there are {', '.join(sorted(known))}"
                )

    def effective(self, config: QueueConfig) -> QueueConfig:
        """The configuration as this subject will see it: what it does not take has the dialect's defaults."""
        fixed = {
            item.name: self.dialect.defaults[item.name]
            for item in dataclasses.fields(QueueConfig)
            if item.name not in self.dialect.parameters and item.name in self.dialect.defaults
        }
        return dataclasses.replace(config, **cast("dict[str, Any]", fixed))
