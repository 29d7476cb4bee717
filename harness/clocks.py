"""Virtual time: one time line for a run, and the two clock seams (synchronous and asynchronous) that subjects are given.

Nothing here ever waits. A synchronous sleep moves the time line itself; an asynchronous one is a timer of the event loop
(:mod:`waitproof.harness.loop`), whose time *is* the time line. So ``VirtualTime.now``, ``loop.time()``, ``trio.current_time()`` and
a subject's ``clock.monotonic()`` can't disagree.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Final, NoReturn, Protocol, SupportsIndex

import anyio

from . import events
from .recorder import BudgetExhausted, Recorder

current_op: ContextVar[str] = ContextVar("waitproof_current_op", default="")
"""The operation that is running here (``w0``, ``w1``, …). Whoever starts a wait sets it; clocks and transports read it."""

HORIZON: Final = 1e11
"""Seconds. Nothing that lies further ahead than this (some 3,000 years) is ever reached: it counts as never."""

READS_AT_ONE_INSTANT: Final = 100_000
"""So many readings of a clock without any passing of time are a busy wait, which virtual time would never end."""


class VirtualTime:
    """One time line. Times are seconds; it starts at ``now == 0`` and never runs backwards.

    ``origin``: what :meth:`monotonic` reads at the start. ``wall_origin``: what :meth:`wall` reads at the start (epoch seconds).
    ``wall_jumps``: pairs (at, seconds): from virtual time ``at`` on the wall clock alone is shifted by ``seconds`` more.
    ``interrupt_at``: the virtual time at which a *synchronous* :meth:`advance` stops and raises ``KeyboardInterrupt``, once: that is
    how a synchronous wait is cancelled. Raises ``ValueError`` for a time that is not finite, or an event before the start.
    """

    def __init__(
        self,
        *,
        origin: float = 1024.0,
        wall_origin: float = 1_700_000_000.0,
        wall_jumps: tuple[tuple[float, float], ...] = (),
        interrupt_at: float | None = None,
    ) -> None:
        for name, value in (("origin", origin), ("wall_origin", wall_origin)):
            if not math.isfinite(value):
                raise ValueError(f"{name} must be a finite number of seconds, not {value!r}")
        for at, seconds in wall_jumps:
            if not (0 <= at < math.inf and math.isfinite(seconds)):
                raise ValueError(f"a wall jump is (virtual time >= 0, finite seconds), not {(at, seconds)!r}")
        if interrupt_at is not None and not 0 <= interrupt_at < math.inf:
            raise ValueError(f"interrupt_at must be a virtual time >= 0 or None, not {interrupt_at!r}")
        self.origin = origin
        self.wall_origin = wall_origin
        # The monotonic reading is what is stored, not ``now``: a loop compares its timers with readings, and a reading computed
        # anew as origin + now could fall short of a timer by one rounding error, for ever.
        self._reading = origin
        self._jumps = sorted(wall_jumps, key=lambda jump: jump[0])
        self._jumped = 0.0
        self._interrupt_at = interrupt_at
        self.on_jump: Callable[[float], None] | None = None
        self.on_interrupt: Callable[[], None] | None = None
        self.watchers: list[Callable[[], None]] = []
        """Called after each change of :attr:`now` (never asked for an opinion): a frozen wall clock is moved along this way."""
        self._pass_jumps()

    @property
    def now(self) -> float:
        """Virtual seconds since the start."""
        return self._reading - self.origin

    def monotonic(self) -> float:
        """The monotonic clock's reading (seconds; ``origin`` at the start)."""
        return self._reading

    def wall(self) -> float:
        """The wall clock's reading (epoch seconds), jumps included."""
        return self.wall_origin + self.now + self._jumped

    def attach(self, recorder: Recorder) -> None:
        """Record wall jumps when they are passed, and the interrupt when it is raised, in ``recorder``'s history."""

        def jumped(seconds: float) -> None:
            recorder.note(events.WALL_JUMP, events.CLOCK, seconds=seconds)

        def interrupted() -> None:
            recorder.note(events.WAIT_CANCEL, events.CALLER, current_op.get())

        self.on_jump, self.on_interrupt = jumped, interrupted
        if self._jumped:  # a jump at the very start was passed before anybody listened
            jumped(self._jumped)

    def advance(self, seconds: float) -> None:
        """Let ``seconds`` (0 to :data:`HORIZON`) pass, as a blocking call does. Raises ``KeyboardInterrupt`` at ``interrupt_at``."""
        if not 0 <= seconds <= HORIZON:
            raise ValueError(f"time can be advanced by 0 to {HORIZON:g} seconds, not {seconds!r}")
        target = self._reading + seconds
        if self._interrupt_at is not None and target >= self.origin + self._interrupt_at:
            self.reach(self.origin + self._interrupt_at)
            self._interrupt_at = None
            if self.on_interrupt is not None:
                self.on_interrupt()
            raise KeyboardInterrupt(f"the bench interrupts at {self.now:.9g} s of virtual time")
        self.reach(target)

    def reach(self, reading: float) -> None:
        """Move to the monotonic reading ``reading`` (an event loop jumps to its next timer); an earlier one changes nothing."""
        if reading <= self._reading:
            return
        if not reading < math.inf:
            raise ValueError(f"time can't be moved to {reading!r}")
        while self._jumps and self.origin + self._jumps[0][0] <= reading:
            self._reading = max(self._reading, self.origin + self._jumps[0][0])  # a jump is recorded at its own time
            self._pass_jumps()
        self._reading = reading
        for watcher in self.watchers:
            watcher()

    def _pass_jumps(self) -> None:
        while self._jumps and self.origin + self._jumps[0][0] <= self._reading:
            _, seconds = self._jumps.pop(0)
            self._jumped += seconds
            if self.on_jump is not None:
                self.on_jump(seconds)


class Wakes(Protocol):
    """The seam for early and late wakes."""

    def adjust(self, index: int, seconds: float) -> float:
        """How long (seconds, >= 0) the ``index``-th sleep of the run, counted from 0, really takes if ``seconds`` were asked."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class WakePlan:
    """When sleeps wake: the n-th sleep ``offsets[n]`` seconds late (negative: early, but never before it began).

    Sleeps beyond the list wake exactly, or go round it again if ``repeat``. The default plan wakes every sleep exactly.
    Raises ``ValueError`` for an offset that is not finite.
    """

    offsets: tuple[float, ...] = ()
    repeat: bool = False

    def __post_init__(self) -> None:
        wrong = [offset for offset in self.offsets if not math.isfinite(offset)]
        if wrong:
            raise ValueError(f"wake offsets must be finite numbers of seconds, not {wrong[0]!r}")

    def adjust(self, index: int, seconds: float) -> float:
        """See :meth:`Wakes.adjust`."""
        if not self.offsets or (index >= len(self.offsets) and not self.repeat):
            return seconds
        return max(0.0, seconds + self.offsets[index % len(self.offsets)])


@dataclass(frozen=True, slots=True, kw_only=True)
class _Asleep:
    """A sleep that has begun: as asked, and how long it will really take (seconds)."""

    asked: float
    really: float
    began: float
    op: str


class _Clock:
    """What both clocks share: readings, the numbering of sleeps and their recording."""

    resolution: float = 0.001

    def __init__(self, time: VirtualTime, recorder: Recorder, wakes: Wakes | None = None) -> None:
        self.time = time
        self._recorder = recorder
        self._wakes: Wakes = WakePlan() if wakes is None else wakes
        self._sleeps = 0
        self._reads = 0
        self._read_at = -1.0

    def monotonic(self) -> float:
        """Seconds on the monotonic clock. Raises :class:`BudgetExhausted` in a busy wait, which would never end."""
        self._count_read()
        return self.time.monotonic()

    def wall(self) -> float:
        """Epoch seconds on the wall clock, which may jump."""
        self._count_read()
        return self.time.wall()

    def _count_read(self) -> None:
        if self.time.now != self._read_at:
            self._read_at, self._reads = self.time.now, 0
        self._reads += 1
        if self._reads > READS_AT_ONE_INSTANT:
            _hang(self._recorder, f"a busy wait: the clock was read {self._reads} times while no time passed")

    def _begin(self, seconds: float | SupportsIndex, by: str) -> _Asleep:
        asked = (
            seconds if isinstance(seconds, float) else float(operator.index(seconds))
        )  # TypeErrors as time.sleep raises them
        op = current_op.get()
        self._recorder.record(events.SLEEP_START, events.CLOCK, op, seconds=asked, by=by)
        index, self._sleeps = self._sleeps, self._sleeps + 1
        if math.isnan(asked):
            self._end(_Asleep(asked=asked, really=0.0, began=self.time.now, op=op), "woke")
            raise ValueError("Invalid value NaN (not a number)")
        really = max(0.0, self._wakes.adjust(index, max(0.0, asked)))
        return _Asleep(asked=asked, really=really, began=self.time.now, op=op)

    def _end(self, sleep: _Asleep, ending: str) -> None:
        slept = round(self.time.now - sleep.began, 9)
        late = 0.0 if math.isnan(sleep.asked) else round(slept - max(0.0, sleep.asked), 9)
        data = {"seconds": sleep.asked, "slept": slept, "late": late, "ending": ending}
        self._recorder.note(events.SLEEP_END, events.CLOCK, sleep.op, **data)


class SyncClock(_Clock):
    """The clock seam of synchronous subjects: a sleep moves the time line."""

    def sleep(self, seconds: float, *, by: str = "seam") -> None:
        """Sleep for ``seconds``; a negative number takes no time.

        Raises ``ValueError`` for NaN and ``TypeError`` for what is no number, as ``time.sleep`` does; ``KeyboardInterrupt`` when the
        time line's ``interrupt_at`` is reached; :class:`BudgetExhausted` for a sleep beyond :data:`HORIZON`, which is a hang.
        """
        sleep = self._begin(seconds, by)
        if sleep.really > HORIZON:
            _hang(self._recorder, f"a blocking sleep of {sleep.asked!r} s never ends")
        ending = "cancelled"
        try:
            self.time.advance(sleep.really)
            ending = "woke"
        finally:
            self._end(sleep, ending)


class AsyncClock(_Clock):
    """The clock seam of asynchronous subjects, on asyncio and trio: a sleep is a timer of the running loop."""

    async def sleep(self, seconds: float, *, by: str = "seam") -> None:
        """Sleep for ``seconds``; a negative number takes no time, but is a checkpoint. Raises ``ValueError`` for NaN.

        A sleep beyond :data:`HORIZON` ends by cancellation only; the loop reports a deadlock if nothing else can happen.
        """
        sleep = self._begin(seconds, by)
        ending = "cancelled"
        try:
            await anyio.sleep(sleep.really if sleep.really <= HORIZON else math.inf)
            ending = "woke"
        finally:
            self._end(sleep, ending)


def _hang(recorder: Recorder, detail: str) -> NoReturn:
    recorder.stop("hang", detail)
    raise BudgetExhausted(detail)
