"""Sessions: a live run of a waiter that is stepped, and what it did as a :class:`~waitproof.faults.timeline.TimelinePlan`.

After each step the subject has done all that it does up to that instant of virtual time, and nothing after it. Whatever happens is
recorded in one history, with the same events as a planned run, so the same checkers judge it. Doing a timeline again
(:func:`run_timeline`) goes the same way through the same code, so it gives the same bytes.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
from types import TracebackType
from typing import Final, Self

from ..harness.entropy import fixed_entropy
from ..harness.history import History
from ..harness.loop import SimulationDeadlock, SimulationRefused
from ..harness.protocols import WaitCall, WaiterSubject
from ..harness.recorder import BudgetExhausted, Recorder
from ..harness.timepatch import patch_time
from .driving import Job, of_the_subject
from .handle import Handle, message_of
from .plan import Answer, answer, plan_to_json
from .run import BUDGET, STEPS_AN_EVENT, header_of
from .server.envelopes import meaning
from .server.jobs import BenchBrokenError
from .server.world import World
from .step_asyncio import AsyncioStepper
from .step_sync import SyncStepper
from .step_trio import TrioStepper
from .stepper import Stepper
from .timeline import Cancel, FaultNext, Pass, Server, StartWait, Step, TimelinePlan

PATIENCE: Final = 30.0
"""Real seconds that a synchronous subject may compute between two blocking calls before it is given up."""


@dataclass
class _ServerJob:
    """What the server says of a job now, and the faults that its next fetches meet."""

    word: str = "pending"
    faults: deque[Answer] = field(default_factory=deque)
    decided: dict[int, Answer] = field(default_factory=dict)

    def answer_to(self, index: int) -> Answer:
        """The answer to a fetch. A server may be asked twice for one fetch (at its connection, at its request), and says the same."""
        if index not in self.decided:
            self.decided[index] = self.faults.popleft() if self.faults else answer("status", word=self.word)
        return self.decided[index]


class Session:
    """A live run of ``subject``. ``now`` is 0 and nothing has been called yet.

    ``origin``: what the monotonic clock reads at the start (seconds). ``budget``: events before the run is stopped. ``patience``: see
    :data:`PATIENCE`. A session that was stopped (budget, deadlock, hang, refusal) takes further steps without effect. Use it as a
    context manager, or call :meth:`close`. Nothing that the subject does is raised here; a real Ctrl-C is.
    """

    def __init__(
        self,
        subject: WaiterSubject,
        *,
        origin: float = 0.0,
        budget: int = BUDGET,
        suite: str = "",
        patience: float = PATIENCE,
    ) -> None:
        self._subject = subject
        self._suite = suite
        self._origin = float(origin)
        self._steps: list[Step] = []
        self._jobs: dict[str, _ServerJob] = {}
        self._served: set[tuple[str, str]] = set()
        self._calls: list[Job] = []
        self._parts = 0
        self._stopped = self._closed = False
        self._final: History | None = None
        self.history = History(header_of(subject, None, suite))
        """What has happened so far. Its header does not know the plan yet; :meth:`finish` returns the history that does."""
        self._world = World(lambda now: Recorder(self.history, now, budget=budget), origin=self._origin)
        self._patched = ExitStack()
        if subject.patch:
            self._patched.enter_context(
                patch_time(subject.patch, time=self._world.time, recorder=self._world.recorder, wakes=self._world.wakes)
            )
        try:
            self._stepper = self._stepper_of(subject, STEPS_AN_EVENT * budget, patience)
        except BaseException:
            self._patched.close()
            raise

    def _stepper_of(self, subject: WaiterSubject, max_steps: int, patience: float) -> Stepper:
        if subject.mode == "sync":
            return SyncStepper(self._world, patience)
        return (AsyncioStepper if subject.mode == "asyncio" else TrioStepper)(self._world, max_steps)

    # -- what it is now ------------------------------------------------------------------------------------------------

    @property
    def now(self) -> float:
        """Virtual seconds since the start."""
        return self._world.time.now

    @property
    def plan(self) -> TimelinePlan:
        """What was done so far."""
        return TimelinePlan(steps=tuple(self._steps), origin=self._origin)

    @property
    def waits(self) -> int:
        """How many waits were started."""
        return len(self._calls)

    def running(self, wait: int) -> bool:
        """Whether the wait of this number, from 0, was started and has not ended."""
        return not self._stopped and 0 <= wait < len(self._calls) and self._calls[wait].state == "running"

    # -- steps ---------------------------------------------------------------------------------------------------------

    def start(self, call: WaitCall) -> None:
        """The caller calls; all that the subject does at once is done."""
        self.apply(StartWait(call=call))

    def set_status(self, job: str, word: str) -> None:
        """From now on the server says this word of this job."""
        self.apply(Server(job=job, word=word))

    def fault_next(self, job: str, given: Answer) -> None:
        """The next fetch of this job meets this answer."""
        self.apply(FaultNext(job=job, answer=given))

    def cancel(self, wait: int = 0) -> None:
        """The caller cancels the wait of this number; all that the subject does about it at once is done."""
        self.apply(Cancel(wait=wait))

    def advance(self, seconds: float) -> None:
        """Let virtual time pass; what is due at the last instant is done, too."""
        self.apply(Pass(seconds=seconds))

    def apply(self, step: Step) -> None:
        """Take one step. Raises ``ValueError`` if the session is closed."""
        if self._closed:
            raise ValueError("this session is closed; take steps before finish() and close()")
        self._steps.append(step)
        if not self._stopped:
            self._guarded(lambda: self._take(step))

    def _take(self, step: Step) -> None:
        until = self._world.time.monotonic()
        match step:
            case StartWait(call=call):
                self._start(call)
            case Server(job=job, word=word):
                self._job(job).word = word
                return
            case FaultNext(job=job, answer=given):
                self._job(job).faults.append(given)
                return
            case Cancel(wait=wait):
                if not self.running(wait):
                    return
                self._stepper.cancel(self._calls[wait])
            case Pass(seconds=seconds):
                until += seconds
        self._stepper.run_until(until)

    def _start(self, given: WaitCall) -> None:
        call = self._subject.effective(given)
        name, world, subject = str(call.job_id), self._world, self._subject
        if (call.resource, name) not in self._served:
            self._served.add((call.resource, name))
            world.server.add_job(call.resource, name, self._job(name).answer_to)
        handle = Handle(subject, world.recorder, f"w{len(self._calls)}")
        job = Job(handle, lambda: handle.start(call), lambda: subject.wait(world, call))
        self._calls.append(job)
        self._stepper.start(job)

    def _job(self, name: str) -> _ServerJob:
        return self._jobs.setdefault(name, _ServerJob())

    # -- the end -------------------------------------------------------------------------------------------------------

    def finish(self) -> History:
        """Heal, then converge; close; return the history whose header holds the plan. A second call returns the same one.

        Raises :class:`~waitproof.faults.server.jobs.BenchBrokenError` if the bench itself failed.
        """
        if self._final is None:
            if not (self._stopped or self._closed):
                for job in self._jobs.values():
                    job.faults.clear()
                    if meaning(job.word) not in ("completed", "failed", "cancelled"):
                        job.word = "completed"
                self._guarded(self._stepper.finish)
            self.close()
            self._final = History(header_of(self._subject, plan_to_json(self.plan), self._suite))
            for event in self.history:
                self._final.append(at=event.at, kind=event.kind, lane=event.lane, op=event.op, data=event.data)
            broken = self._world.server.broken
            if broken is not None:
                raise BenchBrokenError(f"a bug of the bench, not of {self._subject.name}: {broken!r}") from broken
        return self._final

    def close(self) -> None:
        """End whatever is still running, without an end that a caller would see being recorded. A second call does nothing."""
        if not self._closed:
            self._closed = True
            try:
                self._guarded(self._stepper.close)
            finally:
                self._patched.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _guarded(self, act: Callable[[], None]) -> None:
        """Run a part of the run; whatever ends it early is recorded as a stop."""
        recorder = self._world.recorder
        self._parts += 1
        try:
            with fixed_entropy(self._parts):  # for each part anew: whoever acts between two parts draws at random, too
                act()
        except BudgetExhausted as error:
            recorder.stop("budget", message_of(error))
        except SimulationDeadlock as error:
            recorder.stop("deadlock", message_of(error))
        except SimulationRefused as error:
            recorder.stop("refused", message_of(error))
        except BaseException as error:
            if not of_the_subject(error):
                raise
            recorder.stop("escaped", f"{type(error).__name__} escaped from something left running: {message_of(error)}")
        else:
            return
        self._stopped = True


def run_timeline(
    plan: TimelinePlan, subject: WaiterSubject, *, budget: int = BUDGET, suite: str = "", patience: float = PATIENCE
) -> History:
    """Do a timeline to a subject and return its history: the same bytes as the session gave whose plan it is.

    A timeline without a wait gives a history without events.
    """
    with Session(subject, origin=plan.origin, budget=budget, suite=suite, patience=patience) as session:
        for step in plan.steps:
            session.apply(step)
        return session.finish()
