"""Stepping synchronous subjects: a thread a call and one baton, so that only one of all the threads ever runs.

A call gives the baton back when it would block beyond the horizon, or until another call is due first; the controller hands it to
whichever is due next, so several blocking waits run side by side in virtual time. The baton never waits on real time, except that a
thread which keeps it for longer than ``patience`` real seconds is given up: that is a hang of the subject, recorded as a stop.
"""

from __future__ import annotations

import contextlib
import math
import threading
from typing import Any, Final

from ..harness.clocks import HORIZON, current_op
from ..harness.loop import refusal
from ..harness.recorder import BudgetExhausted
from .driving import Job
from .server.world import World
from .stepper import SLACK


class _Worker:
    """One call on its thread. ``wakes``: the reading at which it goes on; ``order``: what it is told then; ``holds``: it has the baton."""

    def __init__(self, job: Job, wakes: float) -> None:
        self.job = job
        self.wakes = wakes
        self.order: BaseException | None = None
        self.ended_by: BaseException | None = None
        self.holds = False
        self.go = threading.Semaphore(0)
        self.thread: threading.Thread | None = None


class SyncStepper:
    """See :class:`~waitproof.faults.stepper.Stepper`. ``patience``: real seconds (see the module)."""

    def __init__(self, world: World, patience: float) -> None:
        self._world = world
        self._time = world.time
        self._patience = patience
        self._parked: list[_Worker] = []
        self._workers: dict[str, _Worker] = {}
        self._here = threading.local()
        self._back: Final = threading.Semaphore(0)
        self._horizon = -math.inf
        self._closed: BaseException | None = None
        # Every way in which blocking code lets time pass (clock, transport, patched modules) ends in this one method.
        vars(world.time)["advance"] = self._advance

    # -- the controller's side -----------------------------------------------------------------------------------------

    def start(self, job: Job) -> None:
        """Make the thread of a call; it is parked until :meth:`run_until`."""
        worker = self._workers[job.handle.op] = _Worker(job, self._time.monotonic())
        worker.thread = threading.Thread(target=self._work, args=(worker,), name=job.handle.op, daemon=True)
        self._parked.append(worker)

    def cancel(self, job: Job) -> None:
        """Interrupt a call where it blocks: it goes on now, with a ``KeyboardInterrupt``."""
        worker = self._workers[job.handle.op]
        job.handle.cancel()
        worker.order = KeyboardInterrupt(f"the bench interrupts at {self._time.now:.9g} s of virtual time")
        worker.wakes = self._time.monotonic()

    def run_until(self, reading: float) -> None:
        """Hand the baton round until every call is parked beyond this reading."""
        self._horizon = reading
        while self._parked:
            worker = min(self._parked, key=lambda other: other.wakes)  # of a tie the one that was parked first
            if worker.wakes > reading + SLACK:
                break
            self._parked.remove(worker)
            self._time.reach(worker.wakes)
            self._hand_to(worker)
        if reading < math.inf:
            self._time.reach(reading)

    def finish(self) -> None:
        """Go on until every call is over. No thread outlives its call, so there is no grace period."""
        self.run_until(math.inf)

    def close(self) -> None:
        """Tell every call that is still parked that the run is over, and wait for its thread."""
        self._closed = BudgetExhausted("the run is over")
        for worker in list(self._parked):
            self._parked.remove(worker)
            worker.order = self._closed
            with contextlib.suppress(
                BudgetExhausted
            ):  # it does not even end when it is told to: its thread is given up
                self._hand_to(worker)

    def _hand_to(self, worker: _Worker) -> None:
        thread = worker.thread
        assert thread is not None
        if worker.job.state == "new":
            if self._closed is not None:
                return
            worker.job.state = "running"
            thread.start()
        worker.holds = True
        worker.go.release()
        if not self._back.acquire(timeout=self._patience):
            detail = f"{worker.job.handle.op} did not come back within {self._patience:g} real seconds"
            worker.holds = False
            self._closed = BudgetExhausted(detail)  # for the thread, should it ever come back
            self._world.recorder.stop("hang", detail)
            raise BudgetExhausted(detail)
        if worker.job.state == "over":
            thread.join()
            if worker.ended_by is not None and self._closed is None:
                raise worker.ended_by

    # -- a call's side -------------------------------------------------------------------------------------------------

    def _work(self, worker: _Worker) -> None:
        self._here.worker = worker
        worker.go.acquire()
        current_op.set(worker.job.handle.op)
        try:
            worker.job.announce()
            value = worker.job.call()
        except BudgetExhausted as error:
            worker.ended_by = error
        except BaseException as error:  # noqa: BLE001 - whatever it is, the caller sees it
            self._ended(worker, error)
        else:
            self._ended(worker, None, value)
        finally:
            worker.job.state = "over"
            self._give_back(worker)

    def _give_back(self, worker: _Worker) -> None:
        if worker.holds:  # the controller has given up a thread that does not
            worker.holds = False
            self._back.release()

    def _ended(self, worker: _Worker, error: BaseException | None, value: Any = None) -> None:
        if self._closed is not None:
            return  # an end that the bench brought about is nothing that the caller saw
        if error is not None:
            worker.job.handle.raised(error)
        else:
            worker.job.handle.returned(value)

    def _advance(self, seconds: float) -> None:
        """Stands in for :meth:`~waitproof.harness.clocks.VirtualTime.advance` while the session lives."""
        worker: _Worker | None = getattr(self._here, "worker", None)
        if self._closed is not None:
            raise self._closed
        if worker is None:
            error = refusal(
                "letting time pass in a thread of the subject's own", "keep the wait on the thread that called it"
            )
            self._world.recorder.stop("refused", str(error))
            raise error
        if not 0 <= seconds <= HORIZON:
            raise ValueError(f"time can be advanced by 0 to {HORIZON:g} seconds, not {seconds!r}")
        wakes = self._time.monotonic() + seconds
        first = min((other.wakes for other in self._parked), default=math.inf)
        if wakes <= self._horizon and wakes < first:  # nobody else could run before: no need to hand the baton over
            self._time.reach(wakes)
            return
        worker.wakes = wakes
        self._parked.append(worker)
        self._give_back(worker)
        worker.go.acquire()
        order, worker.order = worker.order, None
        if order is not None:
            raise order
