"""Drive calls of a subject to their ends, in its mode: blocking, on the simulated asyncio loop, or on simulated trio.

Nothing that a subject does ends the harness: what it raises is recorded, what it never ends is stopped. Only a real Ctrl-C, and an
exception of whoever draws the schedule, come through.
"""

from __future__ import annotations

import asyncio
import math
import signal
from collections.abc import Awaitable, Callable, Coroutine, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any, Final, Literal, NoReturn

import anyio
import trio

from ..harness import events
from ..harness.clocks import current_op
from ..harness.entropy import fixed_entropy
from ..harness.loop import SimulationDeadlock, SimulationRefused, refusal, running_simulation
from ..harness.loop.choices import Chooser
from ..harness.loop.simloop import simulate
from ..harness.loop.triorun import simulate_trio
from ..harness.protocols import WaiterSubject
from ..harness.recorder import BudgetExhausted, Recorder
from ..harness.timepatch import patch_time
from .handle import Handle, message_of
from .server.jobs import BenchBrokenError
from .server.world import World

GRACE: Final = 30.0
"""Virtual seconds that an asynchronous run goes on after its last wait has ended, so that tasks left behind are seen."""


class Job:
    """One call within a run: its handle, how it is made, when it starts and when it is cancelled (virtual seconds)."""

    def __init__(
        self,
        handle: Handle,
        announce: Callable[[], None],
        call: Callable[[], Any],
        *,
        start: float = 0.0,
        cancels: Sequence[float] = (),
    ) -> None:
        self.handle = handle
        self.announce = announce
        self.call = call
        self.start = start
        self.cancels = tuple(cancels)
        self.state: Literal["new", "running", "over"] = "new"


def run_jobs(
    jobs: Sequence[Job], subject: WaiterSubject, world: World, *, chooser: Chooser | None, max_steps: int
) -> None:
    """Run calls of a subject to their ends in its mode. Whatever ends the run early is recorded as a stop."""
    recorder = world.recorder
    with ExitStack() as stack:
        stack.enter_context(fixed_entropy(0))
        if subject.patch:
            stack.enter_context(patch_time(subject.patch, time=world.time, recorder=recorder, wakes=world.wakes))
        stack.enter_context(recorded_stops(recorder))
        if subject.mode == "sync":
            for job in jobs:
                _run_sync(job, world)
        elif subject.mode == "asyncio":
            simulate(_on_asyncio(jobs, world), time=world.time, recorder=recorder, chooser=chooser, max_steps=max_steps)
        else:
            simulate_trio(
                _on_trio(jobs, world), time=world.time, recorder=recorder, chooser=chooser, max_steps=max_steps
            )
    if world.server.broken is not None:
        raise BenchBrokenError(
            f"a bug of the bench, not of {subject.name}: {world.server.broken!r}"
        ) from world.server.broken


@contextmanager
def recorded_stops(recorder: Recorder) -> Iterator[None]:
    """Around a run in any mode: whatever ends it early is recorded as a stop, and what is not the subject's is raised again."""
    try:
        yield
    except BudgetExhausted as error:
        recorder.stop("budget", message_of(error))
    except SimulationDeadlock as error:
        recorder.stop("deadlock", message_of(error))
    except SimulationRefused as error:
        recorder.stop("refused", message_of(error))
    except BaseException as error:  # noqa: BLE001 - what is not the subject's is raised again
        for part in _parts(error):  # trio wraps in groups whatever leaves a nursery
            if not of_the_subject(part):
                raise part from None
        recorder.stop("escaped", f"{type(error).__name__} escaped from something left running: {message_of(error)}")


def _parts(error: BaseException) -> list[BaseException]:
    """The exceptions of a group, however deep; of anything else, itself."""
    if isinstance(error, BaseExceptionGroup):
        return [part for inner in error.exceptions for part in _parts(inner)]
    return [error]


def of_the_subject(error: BaseException) -> bool:
    """Whether a subject let this fly, rather than a person's Ctrl-C or Hypothesis ending an example."""
    if isinstance(error, KeyboardInterrupt):
        # Where the process ignores the signal (a subject's own child process does) no person can have sent it.
        return signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    return not type(error).__module__.startswith("hypothesis")


def _run_sync(job: Job, world: World) -> None:
    interrupts = _note_interrupts(world)
    token = current_op.set(job.handle.op)
    try:
        _pass_until(job.start, world, interrupts)
        job.announce()
        with running_simulation(_refuser(world.recorder)):
            value = job.call()
    except BudgetExhausted:
        raise
    except BaseException as error:  # whatever it is, the caller sees it
        planned = isinstance(error, KeyboardInterrupt) and bool(interrupts)
        if not planned and not of_the_subject(error):
            raise
        job.handle.raised(error)
    else:
        job.handle.returned(value)
    finally:
        current_op.reset(token)


def _refuser(recorder: Recorder) -> Callable[[str, str], NoReturn]:
    """What ends a blocking run that asks for real time or for threads: nothing can be said about such a run, but why."""

    def refuse(what: str, instead: str) -> NoReturn:
        said = str(refusal(what, instead))
        recorder.stop("refused", said)
        raise BudgetExhausted(said)

    return refuse


def _pass_until(start: float, world: World, interrupts: list[float]) -> None:
    while start > world.time.now:
        try:
            world.time.advance(start - world.time.now)
        except KeyboardInterrupt:
            if not interrupts:
                raise
            # it fell between two waits: there was nobody to interrupt
            interrupts.clear()


def _note_interrupts(world: World) -> list[float]:
    """Remember when the planned interrupt is raised, beside the recording of it."""
    raised: list[float] = []
    record = world.time.on_interrupt

    def on_interrupt() -> None:
        raised.append(world.time.now)
        if record is not None:
            record()

    world.time.on_interrupt = on_interrupt
    return raised


async def _called(job: Job) -> object:
    """Make the call and wait for it. Whatever a synchronous mistake of the adapter is, it is raised here."""
    job.announce()
    value = job.call()
    if not isinstance(value, Awaitable):
        raise TypeError(f"an asynchronous subject must return an awaitable, not {type(value).__name__}")
    return await value


async def handled(job: Job, over: Callable[[], bool]) -> None:
    """One call from its start to its end, as its caller sees it. Nothing is written down about an end that the bench brought about."""
    current_op.set(job.handle.op)
    if job.start > 0:
        await anyio.sleep(job.start)
    job.state = "running"
    try:
        value = await _called(job)
    except (BudgetExhausted, KeyboardInterrupt):
        raise
    except BaseException as error:  # whatever it is, the caller sees it
        job.state = "over"
        if not over():
            job.handle.raised(error)
        if isinstance(error, trio.Cancelled):
            raise
    else:
        job.state = "over"
        if not over():
            job.handle.returned(value)


def _stopped(recorder: Recorder, since: int) -> bool:
    return any(recorder.history[at].kind == events.BENCH_STOP for at in range(len(recorder.history) - 1, since - 1, -1))  # type: ignore[union-attr]


def _on_asyncio(jobs: Sequence[Job], world: World) -> Callable[[], Coroutine[Any, Any, None]]:
    """The main program on asyncio: all calls from their starts on, cancelled as planned, then the grace period."""
    since = len(world.recorder.history)

    async def main() -> None:
        loop = asyncio.get_running_loop()

        def over() -> bool:
            return bool(getattr(loop, "draining", False)) or _stopped(world.recorder, since)

        def cancel(job: Job, task: asyncio.Task[None]) -> None:
            if job.state == "running":
                job.handle.cancel()
                task.cancel()
            elif job.state == "new" and job.start <= world.time.now:
                loop.call_soon(cancel, job, task)  # the schedule has not let it begin yet

        tasks = []
        for job in jobs:
            task = loop.create_task(handled(job, over), name=job.handle.op)
            tasks.append(task)
            for at in job.cancels:
                loop.call_at(world.time.origin + at, cancel, job, task)
        await asyncio.wait(tasks)
        await asyncio.sleep(GRACE)

    return main


def _on_trio(jobs: Sequence[Job], world: World) -> Callable[[], Coroutine[Any, Any, None]]:
    """The main program on trio: all calls from their starts on, cancelled as planned, then the grace period."""
    since = len(world.recorder.history)

    async def one(job: Job, scope: trio.CancelScope) -> None:
        with scope:
            await handled(job, lambda: _stopped(world.recorder, since) or ended(scope))

    def ended(scope: trio.CancelScope) -> bool:
        # cancelled, but not by the plan: the run is being taken down around the call
        return trio.current_effective_deadline() == -math.inf and not scope.cancel_called

    async def cancel(job: Job, scope: trio.CancelScope, at: float) -> None:
        await trio.sleep_until(world.time.origin + at)
        while job.state == "new" and job.start <= world.time.now:
            await trio.lowlevel.checkpoint()
        if job.state == "running":
            job.handle.cancel()
            scope.cancel()

    async def main() -> None:
        async with trio.open_nursery() as cancellers:
            async with trio.open_nursery() as calls:
                for job in jobs:
                    scope = trio.CancelScope()
                    calls.start_soon(one, job, scope, name=job.handle.op)
                    for at in job.cancels:
                        cancellers.start_soon(cancel, job, scope, at)
            cancellers.cancel_scope.cancel()
        await trio.sleep(GRACE)

    return main
