"""Timelines as data: what a state machine did to a subject, step by step, so that it can be done again without the machine.

A timeline is interactive where a :class:`~waitproof.faults.plan.WaitPlan` is not: it says what the server's job *is* from some instant
on, not what the n-th fetch is answered. It ends with *heal, then converge*: faults that no fetch has met are dropped, every job that
is still open is completed, and time passes until all waits are over. A step that finds nothing to act on (a wait that there is not, or
that has ended) does nothing, so any step can be left out of a timeline.
"""

# No ``from __future__ import annotations`` here: cattrs tells the members of a union apart by a literal field that all of them have
# (``step``), and of dataclasses it looks at the annotations as they stand.

import math
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from ..harness.protocols import WaitCall
from .plan import Answer, WaitPlan, answer


@dataclass(frozen=True, kw_only=True)
class StartWait:
    """The caller calls: the first wait of a timeline is ``w0``, the next ``w1``, … A job that is new is pending at first."""

    step: Literal["start"] = "start"
    call: WaitCall = field(default_factory=WaitCall)

    def words(self) -> str:
        """The step as a sentence."""
        return WaitPlan(call=self.call).words()[0]


@dataclass(frozen=True, kw_only=True)
class Server:
    """From now on the server says ``word`` of the job of this id."""

    step: Literal["server"] = "server"
    job: str = "job-1"
    word: str = "completed"

    def words(self) -> str:
        """The step as a sentence."""
        return f"from now on the server says {self.word!r} of {self.job!r}"


@dataclass(frozen=True, kw_only=True)
class FaultNext:
    """The next fetch of the job of this id meets ``answer``; several in a row are met one after the other."""

    step: Literal["fault"] = "fault"
    job: str = "job-1"
    answer: Answer = field(default_factory=lambda: answer("http_error"))

    def words(self) -> str:
        """The step as a sentence."""
        return f"at the next fetch of {self.job!r} {self.answer.words()}"


@dataclass(frozen=True, kw_only=True)
class Pass:
    """``seconds`` of virtual time pass. Raises ``ValueError`` unless it is finite and not negative."""

    step: Literal["pass"] = "pass"
    seconds: float = 1.0

    def __post_init__(self) -> None:
        if not 0 <= self.seconds < math.inf:
            raise ValueError(f"time can pass for 0 or more seconds, and not for ever, not for {self.seconds!r}")
        object.__setattr__(self, "seconds", float(self.seconds))  # an integer would be written in other bytes

    def words(self) -> str:
        """The step as a sentence."""
        return f"{self.seconds:.9g} s pass"


@dataclass(frozen=True, kw_only=True)
class Cancel:
    """The caller cancels its wait of this number, from 0 (a synchronous one is interrupted where it blocks)."""

    step: Literal["cancel"] = "cancel"
    wait: int = 0

    def words(self) -> str:
        """The step as a sentence."""
        return f"the caller cancels w{self.wait}"


Step: TypeAlias = StartWait | Server | FaultNext | Pass | Cancel


@dataclass(frozen=True, kw_only=True)
class TimelinePlan:
    """What was done, in order. ``origin``: what the monotonic clock reads at the start (seconds)."""

    steps: tuple[Step, ...] = ()
    origin: float = 0.0

    def words(self) -> list[str]:
        """The timeline as sentences, one a step."""
        lines = [f"the monotonic clock reads {self.origin:g} at the start"] if self.origin else []
        lines += [item.words() for item in self.steps]
        return [*lines, "then the server heals: every open job is completed"]
