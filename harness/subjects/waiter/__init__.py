"""The job waiter: one sans-I/O decision core and two thin drivers (SPEC section 2)."""

from .aio import AsyncFetch, async_wait_for_job
from .clocks import AnyioClock, AsyncClock, Clock, SystemClock
from .core import Fetch, Raise, Return, Sleep, Step, WaitCore
from .errors import FetchTimeoutError, JobFailedError, JobWaitTimeoutError
from .outcome import Answer, Outcome, read_outcome
from .pacing import pacing_hint
from .policy import PollEvent, WaitOptions, WaitPolicy
from .sync import SyncFetch, wait_for_job

__all__ = [
    "Answer",
    "AnyioClock",
    "AsyncClock",
    "AsyncFetch",
    "Clock",
    "Fetch",
    "FetchTimeoutError",
    "JobFailedError",
    "JobWaitTimeoutError",
    "Outcome",
    "PollEvent",
    "Raise",
    "Return",
    "Sleep",
    "Step",
    "SyncFetch",
    "SystemClock",
    "WaitCore",
    "WaitOptions",
    "WaitPolicy",
    "async_wait_for_job",
    "pacing_hint",
    "read_outcome",
    "wait_for_job",
]
