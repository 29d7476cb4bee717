"""The built-in dispatch queue: slow API calls off a critical path, bounded, prioritised, coalesced, retried, cancelled (SPEC section 4).

`DispatchQueue` is for tasks (asyncio and trio), `ThreadDispatchQueue` for threads, `DispatchCore` for a driver of one's own.
"""

from __future__ import annotations

from .accounts import ConservationError
from .aio import DispatchQueue
from .bounds import Bounds
from .config import RELEVANCE, ApiCall, Effect, Outcome, OutcomeView, Precondition, QueueConfig, check_config
from .core import DispatchCore
from .entry import Attempt, Ticket
from .parts import Abort, Deed, Failed, Reevaluate, Told
from .threads import RealThreads, ThreadDispatchQueue

__all__ = [
    "RELEVANCE",
    "Abort",
    "ApiCall",
    "Attempt",
    "Bounds",
    "ConservationError",
    "Deed",
    "DispatchCore",
    "DispatchQueue",
    "Effect",
    "Failed",
    "Outcome",
    "OutcomeView",
    "Precondition",
    "QueueConfig",
    "RealThreads",
    "Reevaluate",
    "ThreadDispatchQueue",
    "Ticket",
    "Told",
    "check_config",
]
