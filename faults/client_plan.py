"""Plans for a client's other two paths: submitting a job, and the direct call for small documents."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from ..harness.protocols import CreateCall
from .plan import Answer, Fault, answer

Effect = Literal["auto", "yes", "no"]


@dataclass(frozen=True, kw_only=True)
class Attempt:
    """What one POST meets.

    ``effect``: whether it changes anything at the server. ``auto``: exactly if the answer is a 2xx, whether or not that answer arrives;
    ``yes`` with a 504 is a gateway that gave up on a server that did not.
    """

    answer: Answer = field(default_factory=lambda: answer("status"))
    effect: Effect = "auto"

    def words(self) -> str:
        """The attempt as a sentence."""
        extra = {"auto": "", "yes": ", and the request has its effect", "no": ", and the request has no effect"}
        return self.answer.words() + extra[self.effect]


@dataclass(frozen=True, kw_only=True)
class ClientPlan:
    """One call and all that it meets. The default: a submit that is answered at once.

    ``op``: ``create`` (submit a job) or ``direct``. ``operation``: the id that the harness puts into the payload; effects are counted by
    it. ``attempts``: what the first, second, … POST meets. ``ending``: what every later one meets. ``wakes``, ``caller``, ``clock``,
    ``origin``: as in a :class:`~waitproof.faults.plan.WaitPlan`.
    """

    op: Literal["create", "direct"] = "create"
    resource: str = "parse_jobs"
    operation: str = "operation-1"
    attempts: tuple[Attempt, ...] = ()
    ending: Attempt = field(default_factory=Attempt)
    wakes: tuple[Fault, ...] = ()
    caller: tuple[Fault, ...] = ()
    clock: tuple[Fault, ...] = ()
    origin: float = 0.0

    def call(self) -> CreateCall:
        """The arguments that the subject is given."""
        return CreateCall(resource=self.resource, operation=self.operation)

    def attempt(self, index: int) -> tuple[Answer, Effect]:
        """What the POST of this index, from 0, meets."""
        found = self.attempts[index] if index < len(self.attempts) else self.ending
        return found.answer, found.effect

    def words(self) -> list[str]:
        """The plan as sentences, one an item, leaving out whatever is as by default."""
        what = "submit a job to" if self.op == "create" else "make a direct call to"
        lines = [f"{what} {self.resource} as {self.operation!r}"]
        if self.origin:
            lines.append(f"the monotonic clock reads {self.origin:g} at the start")
        lines += [f"attempt {number}: {item.words()}" for number, item in enumerate(self.attempts, start=1)]
        lines.append(f"{'then always' if self.attempts else 'always'}: {self.ending.words()}")
        lines += [f"sleep {number} {item.words()}" for number, item in enumerate(self.wakes, start=1)]
        lines += [item.words() for item in (*self.caller, *self.clock)]
        return lines
