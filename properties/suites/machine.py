"""Waits under a state machine: somebody acts on the server, the clock and the caller while the subject runs, the model beside it.

Plans cannot react; a machine can. It follows each wait with the reference model, so it knows which instants matter *now* (the next
poll, the deadline, the end of the open fetch) and acts a little before, at and after them. As soon as a wait that claims to follow the
model parts from it the machine stops acting, so that the timeline ends at the fault; what is wrong is said by the invariants, which
judge the whole history. Everything that is drawn is an argument of a rule and means something
whatever came before, so Hypothesis can delete any step.
"""

from __future__ import annotations

import dataclasses
import sys
from collections import Counter
from collections.abc import Mapping, Sequence

from hypothesis import strategies as st
from hypothesis.errors import StopTest
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

from ...faults.kinds import all_kinds, kind_named
from ...faults.plan import Answer, answer
from ...faults.stepping import Session, run_timeline
from ...faults.strategies import EDGES, answers, delays, effective_default, wait_calls
from ...faults.timeline import Cancel, FaultNext, Pass, Server, StartWait, Step, TimelinePlan
from ...harness.history import History
from ...harness.protocols import WaitCall, WaiterSubject
from ...harness.suite import OnCase, Suite
from ...models.following import INSTANTS, Instant, Standing, first_parting, follow
from ...models.trace import traces
from ._formats import format_of, reach
from ._judged import plain

NAME = "waiter-machine"

MOST_WAITS = 4
"""Waits of one timeline; at most two run at a time."""

WORDS = ("completed", "processing", "queued", "hibernating", "failed", "cancelled", "Timed-Out")
"""Status words of most steps: some end the job, some do not, and one is unknown."""

PACED = ("rate_limit", "hint", "http_error")
"""Faults that every third one is: what they do depends most on when they are met."""

LENGTHS = (1.0, 0.001, 0.25, 2.0, 5.0, 9.999, 10.0, 10.001, 30.0)
"""Seconds that pass when no instant of the model is aimed at."""


class WaiterMachine(RuleBasedStateMachine):
    """What does not depend on the subject: taking steps, following with the model, handing over at the end."""

    subject: WaiterSubject
    on_case: OnCase[TimelinePlan]

    def __init__(self) -> None:
        super().__init__()
        self.session = Session(self.subject, suite=NAME)
        self.parted = ""
        self.standings: dict[str, Standing] = {}
        self._broken = False

    def act(self, step: Step) -> None:
        """Take a step, unless the subject has parted from the model, and see where the waits stand now."""
        if self.parted:
            return
        self._broken = True  # should the step raise: that is a fault of the bench, and nothing to judge
        self.session.apply(step)
        if not isinstance(step, Server | FaultNext):  # those are seen by nobody before the next fetch
            self._follow()
        self._broken = False

    def _follow(self) -> None:
        for wait in traces(self.session.history):
            known = self.standings.get(wait.name)
            if known is None or not known.over:
                self.standings[wait.name] = standing = follow(wait)
                if "reference" in self.subject.claims:
                    self.parted = self.parted or standing.parted

    def chosen(self, number: int) -> int:
        """The wait that a number means: a running one if there is one, else the first."""
        running = [wait for wait in range(self.session.waits) if self.session.running(wait)]
        return running[number % len(running)] if running else 0

    def job(self, number: int) -> str:
        """The job of the wait that a number means."""
        calls = [step.call for step in self.session.plan.steps if isinstance(step, StartWait)]
        return str(calls[self.chosen(number)].job_id)

    @property
    def idle(self) -> int:
        """How many waits may be started beside those that run."""
        running = sum(self.session.running(wait) for wait in range(self.session.waits))
        return 0 if self.session.waits >= MOST_WAITS else 2 - running

    @property
    def busy(self) -> bool:
        """Whether any wait is running: without one nothing that the server or the clock does can matter."""
        return not self.parted and any(self.session.running(wait) for wait in range(self.session.waits))

    def seconds_until(self, number: int, instant: Instant, edge: float) -> float:
        """How long (seconds) it is until ``edge`` seconds after an instant that the model knows; 1 if that is over, or not known."""
        standing = self.standings.get(f"w{self.chosen(number)}")
        known = standing.instants if standing is not None else {}
        at = known.get(instant, known.get("wake", known.get("fetch_timeout", self.session.now)))
        seconds = round(at + edge - self.session.now, 9)
        return seconds if seconds > 0 else 1.0

    def teardown(self) -> None:
        """Heal, converge, and hand plan and history over: once, and not at all if the example itself was given up."""
        if self._broken or isinstance(sys.exc_info()[1], StopTest):
            self.session.close()
            return
        history = self.session.finish()
        type(self).on_case(self.session.plan, history)


def machine_of(subject: WaiterSubject, on_case: OnCase[TimelinePlan]) -> type[RuleBasedStateMachine]:
    """The machine for one subject: its rules draw what the subject's dialect takes."""
    calls = wait_calls(subject.dialect)
    kinds = [kind for kind in all_kinds().values() if kind.place == "answer" and kind.name != "status"]
    delayed = delays(effective_default(subject.dialect))
    faults = answers(kinds, delayed, deep=False)
    paced = answers([kind for kind in kinds if kind.name in PACED], delayed, deep=False)
    late = st.sampled_from((0.5, 0.001, 5.0, 9.999, 10.0, 10.001)).map(
        lambda delay: answer("status", word="processing", delay=delay)
    )
    spelt = kind_named("status").strategy().map(lambda data: str(data.word))
    waits = st.integers(0, 1)

    class Machine(WaiterMachine):
        @initialize(call=calls)
        def first_wait(self, call: WaitCall) -> None:
            self.act(StartWait(call=call))

        @precondition(lambda self: self.busy)
        @rule(wait=waits, instant=st.sampled_from(INSTANTS), edge=st.sampled_from(EDGES))
        def time_passes_until(self, wait: int, instant: Instant, edge: float) -> None:
            self.act(Pass(seconds=self.seconds_until(wait, instant, edge)))

        @precondition(lambda self: self.busy)
        @rule(wait=waits, edge=st.sampled_from(EDGES))
        def the_next_poll_comes(self, wait: int, edge: float) -> None:
            self.act(Pass(seconds=self.seconds_until(wait, "wake", edge)))

        @precondition(lambda self: self.busy)
        @rule(seconds=st.sampled_from(LENGTHS))
        def time_passes(self, seconds: float) -> None:
            self.act(Pass(seconds=seconds))

        @precondition(lambda self: self.busy)
        @rule(wait=waits, word=st.sampled_from(WORDS) | spelt)
        def the_server_says(self, wait: int, word: str) -> None:
            self.act(Server(job=self.job(wait), word=word))

        @precondition(lambda self: self.busy)
        @rule(wait=waits, given=faults | paced | late)
        def the_next_fetch_meets(self, wait: int, given: Answer) -> None:
            self.act(FaultNext(job=self.job(wait), answer=given))

        @precondition(lambda self: self.busy)
        @rule(wait=waits)
        def the_caller_cancels(self, wait: int) -> None:
            self.act(Cancel(wait=self.chosen(wait)))

        @precondition(lambda self: not self.parted and self.idle > 0)
        @rule(call=calls, shared=st.booleans())
        def another_wait(self, call: WaitCall, shared: bool) -> None:
            name = self.job(0) if shared and self.session.waits else f"job-{self.session.waits + 1}"
            self.act(StartWait(call=dataclasses.replace(call, job_id=name)))

        @precondition(lambda self: not self.busy and (self.parted or not self.idle))
        @rule()
        def nothing_is_left_to_do(self) -> None:
            """Hypothesis wants some rule to be possible at any time."""

    Machine.subject, Machine.on_case = subject, staticmethod(on_case)
    Machine.__name__ = Machine.__qualname__ = f"Machine of {subject.name}"
    return Machine


def run(plan: TimelinePlan, subject: WaiterSubject) -> History:
    """Do a timeline again."""
    return run_timeline(plan, subject, suite=NAME)


def corner_plans(_: WaiterSubject) -> Sequence[TimelinePlan]:
    """Timelines for what a machine seldom does by chance."""
    short = StartWait(call=WaitCall(timeout=4.0))
    other = StartWait(call=WaitCall(job_id="job-2", timeout=5.0))
    return (
        TimelinePlan(steps=(StartWait(), Pass(seconds=1.0), Server(word="completed"))),
        TimelinePlan(steps=(short, Pass(seconds=4.0))),
        TimelinePlan(steps=(short, Pass(seconds=3.999), Server(word="completed"), Pass(seconds=0.001))),
        TimelinePlan(steps=(StartWait(), Pass(seconds=0.5), Cancel())),
        TimelinePlan(
            steps=(StartWait(), FaultNext(answer=answer("hang")), Pass(seconds=1.0), Pass(seconds=0.5), Cancel())
        ),
        TimelinePlan(
            steps=(StartWait(), Pass(seconds=0.5), other, Pass(seconds=0.5), Cancel(wait=1), Pass(seconds=9.0))
        ),
    )


def _reach(plan: TimelinePlan) -> Mapping[str, Mapping[str, int]]:
    steps = dict(Counter(str(item.step) for item in plan.steps))
    return {"steps": steps, **reach([item.answer for item in plan.steps if isinstance(item, FaultNext)])}


SUITES = (
    Suite(
        name=NAME,
        summary="waits under a state machine that acts on server, clock and caller, with the reference model beside it",
        kind="waiter",
        invariants=plain(),
        format=dataclasses.replace(
            format_of(TimelinePlan, words=lambda plan: plan.words(), parts=lambda _: ()), reach=_reach
        ),
        run=run,
        model=first_parting,
        machine=machine_of,
        corners=corner_plans,
        share=0.5,
    ),
)
