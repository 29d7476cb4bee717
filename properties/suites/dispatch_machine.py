"""A queue under a state machine: somebody submits, cancels, deletes, answers and closes at the instants that matter *now*.

The machine makes a plan step by step. Whenever time is to move it looks at how the plan so far runs on the subject, and at the reference
model beside it: the instants at which attempts start and end, effects land, calls come out of their backoff and deadlines pass are those
at which it acts next, a little before, at and after them. As soon as a queue that claims to follow the model has parted from it the machine
stops acting, so that the plan ends near the fault. Everything that is drawn is an argument of a rule and means something whatever came
before, so Hypothesis can delete any step.
"""

from __future__ import annotations

import dataclasses
import math
import sys
from typing import Any, Literal

from hypothesis import strategies as st
from hypothesis.errors import StopTest
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

from ...faults.kinds import kind_named
from ...faults.plan import Answer, Fault, fault
from ...faults.queue_calls import EPSILON, Flavour, one_call, settled
from ...faults.queue_plan import Planned, QueuePlan
from ...faults.queue_strategies import api_answers, api_kinds, configs
from ...harness import queue_events
from ...harness.calls import ApiCall
from ...harness.history import History
from ...harness.queue_protocols import QueueConfig, QueueSubject
from ...harness.suite import OnCase, Suite
from ._dispatch import FORMAT, figures, invariants, model, parted, runner
from ._dispatch_corners import corners

NAME = "dispatch-machine"

MOST_SUBMITS = 7
"""Submits of one plan."""

MOST_ACTS = 20
"""Steps and passings of time of one plan."""

WIDE = Flavour(
    types=("patch", "bind", "patch", "create", "patch", "bind", "create", "get", "delete", "preempt", "bind", "patch"),
    objects=2,
    keyed=(False, True),
    versioned=(False, False, False, True),
    generations=True,
    contexts=("context-1", "context-1", "context-2"),
    deadlines=(False,),
    plugins=("default", "default", "other"),
)
"""The machine's calls: a bit of everything, over two pods."""

_SEEN = (
    queue_events.ATTEMPT_START,
    queue_events.ATTEMPT_END,
    queue_events.API_EFFECT,
    queue_events.CALL_OUTCOME,
    queue_events.REEVALUATE,
)

Change = Literal["new", "twin", "newer", "payload", "context"]


@st.composite
def _calls(draw: st.DrawFn) -> ApiCall:
    return one_call(draw, WIDE, QueueConfig(), at=0.0, earlier=())


@st.composite
def _answers(draw: st.DrawFn) -> Answer:
    return api_answers(draw, api_kinds(), QueueConfig())


@st.composite
def _configs(draw: st.DrawFn, subject: QueueSubject) -> QueueConfig:
    return configs(draw, subject.dialect)


class QueueMachine(RuleBasedStateMachine):
    """What does not depend on the subject: the plan so far, when its next instants are, handing over at the end."""

    subject: QueueSubject
    on_case: OnCase[QueuePlan]

    def __init__(self) -> None:
        super().__init__()
        self.now = 0.0
        self.config = QueueConfig()
        self.schedule = 0
        self.calls: list[ApiCall] = []
        self.steps: list[tuple[Literal["submit", "other"], dict[str, Any] | Fault]] = []
        self.answers: list[tuple[int, Answer]] = []
        self.parted = False
        self.closed = False
        self.moves = 0
        self._known = (0, 0)
        self._instants: list[float] = []
        self._run = runner(NAME)

    # -- the plan so far -----------------------------------------------------------------------------------------------

    def build(self) -> QueuePlan:
        """The plan as it is now."""
        operations = settled(self.calls, self.subject.dialect)
        steps = []
        for kind, what in self.steps:
            if kind == "submit" and isinstance(what, dict):
                values = dict(what)
                operation, call = operations[values.pop("number")]
                then = values.pop("then", None)
                if then is not None:
                    values["then_operation"], values["then"] = operations[then]
                steps.append(fault("queue_submit", operation=operation, call=call, **values))
            elif isinstance(what, Fault):
                steps.append(what)
        names = list(dict.fromkeys(name for name, _ in operations))
        counts: dict[str, int] = {}
        given = []
        for index, item in self.answers:
            if names:
                name = names[index % len(names)]
                given.append(Planned(operation=name, attempt=counts.get(name, 0), answer=item))
                counts[name] = counts.get(name, 0) + 1
        return QueuePlan(config=self.config, steps=tuple(steps), answers=tuple(given), schedule=self.schedule)

    def instants(self) -> list[float]:
        """What happens after now if nobody does anything more, as far as the bench sees it and callers know it."""
        if self._known != (len(self.steps), len(self.answers)):
            self._known = (len(self.steps), len(self.answers))
            history = self._run(self.build(), self.subject)
            self.parted = self.parted or parted(history, self.subject)
            healed = min((event.at for event in history.of_kind(queue_events.HEALED)), default=math.inf)
            seen = {event.at for event in history.of_kind(*_SEEN)} | {call.deadline for call in self.calls}
            self._instants = sorted(at for at in seen if at < healed)
        return [at for at in self._instants if at > self.now]

    def move(self, which: int, edge: float) -> None:
        """Let time pass until beside one of the next instants; a second if there is none."""
        self.moves += 1
        found = self.instants()
        at = found[which % min(len(found), 3)] if found else self.now + 1.0
        self.now = round(max(self.now, at + edge), 6)

    def add(self, kind: str, /, **data: Any) -> None:
        """Take a step now."""
        self.steps.append(("other", Fault(kind=kind, data=kind_named(kind).data(at=self.now, **data))))

    def add_submit(self, call: ApiCall, *, then: ApiCall | None = None, then_close: bool = False) -> None:
        """Submit now."""
        values: dict[str, Any] = {"at": self.now, "number": len(self.calls), "then_close": then_close}
        self.calls.append(call)
        if then is not None:
            values["then"] = len(self.calls)
            self.calls.append(then)
        self.steps.append(("submit", values))

    @property
    def able(self) -> bool:
        """Whether anything may still be done."""
        return not self.parted and len(self.steps) + self.moves < MOST_ACTS

    def teardown(self) -> None:
        """Run the plan and hand it over with its history; not if the example itself was given up."""
        if isinstance(sys.exc_info()[1], StopTest) or not self.calls:
            return
        plan = self.build()
        for one in dict.fromkeys((0, plan.schedule)):
            ordered = dataclasses.replace(plan, schedule=one)
            type(self).on_case(ordered, self._run(ordered, self.subject))


def varied(calls: list[ApiCall], call: ApiCall, which: int, change: Change) -> ApiCall:
    """A drawn call, or an earlier one again with one thing changed."""
    if change == "new" or not calls:
        return call
    old = calls[which % len(calls)]
    told = old.precondition
    if change == "newer" and told.generation is not None:
        newer = dataclasses.replace(told, generation=(told.generation[0], told.generation[1] + 1))
        return dataclasses.replace(old, precondition=newer, payload=call.payload)
    if change == "payload":
        return dataclasses.replace(old, payload=call.payload, priority=call.priority)
    return dataclasses.replace(old, context="context-2") if change == "context" else old


def machine_of(subject: QueueSubject, on_case: OnCase[QueuePlan]) -> type[RuleBasedStateMachine]:
    """The machine for one subject: its rules draw what the subject's dialect has."""
    dialect = subject.dialect
    numbers, edges = st.integers(0, 5), st.sampled_from(EPSILON)
    pods = st.sampled_from(("pod-1", "pod-2"))
    changes = st.sampled_from(("new", "new", "twin", "newer", "payload", "context"))
    spans = st.sampled_from((math.inf, math.inf, 1.0, 5.0, 0.0, 2.0)) if dialect.deadlines else st.just(math.inf)

    class Machine(QueueMachine):
        @initialize(config=_configs(subject), schedule=st.integers(0, 9_999), call=_calls())
        def opened(self, config: QueueConfig, schedule: int, call: ApiCall) -> None:
            self.config, self.schedule = config, schedule
            self.add_submit(call)

        @precondition(lambda self: self.able and len(self.calls) < MOST_SUBMITS)
        @rule(call=_calls(), which=numbers, change=changes, span=spans, edge=edges)
        def submits(self, call: ApiCall, which: int, change: Change, span: float, edge: float) -> None:
            made = varied(self.calls, call, which, change)
            limit = round(max(0.0, self.now + span + edge), 6) if math.isfinite(span) else math.inf
            self.add_submit(dataclasses.replace(made, deadline=limit) if dialect.deadlines else made)

        @precondition(lambda self: self.able and len(self.calls) < MOST_SUBMITS - 1)
        @rule(call=_calls(), then=_calls(), which=numbers, change=changes)
        def submits_one_that_submits(self, call: ApiCall, then: ApiCall, which: int, change: Change) -> None:
            self.add_submit(call, then=varied(self.calls, then, which, change))

        @precondition(lambda self: self.able and not self.closed and len(self.calls) < MOST_SUBMITS)
        @rule(call=_calls())
        def submits_one_that_closes(self, call: ApiCall) -> None:
            self.add_submit(call, then_close=True)

        @precondition(lambda self: self.able)
        @rule(operation=numbers, given=_answers())
        def the_server_will_answer(self, operation: int, given: Answer) -> None:
            self.answers.append((operation, given))

        @precondition(lambda self: self.able)
        @rule(which=numbers, edge=edges)
        def time_moves(self, which: int, edge: float) -> None:
            self.move(which, edge)

        @precondition(lambda self: self.able)
        @rule(edge=edges)
        def the_next_thing_happens(self, edge: float) -> None:
            self.move(0, edge)

        @precondition(lambda self: self.able)
        @rule(given=_answers())
        def the_last_operation_meets(self, given: Answer) -> None:
            self.answers.append((-1, given))

        @precondition(lambda self: self.able and self.now > 0 and dialect.cancels)
        @rule(which=numbers)
        def cancels(self, which: int) -> None:
            self.add("queue_cancel", submit=which % len(self.calls))

        @precondition(lambda self: self.able and self.now > 0)
        @rule(which=numbers)
        def a_waiter_is_cancelled(self, which: int) -> None:
            self.add("queue_waiter_cancel", submit=which % len(self.calls))

        @precondition(lambda self: self.able and dialect.snapshots)
        @rule(which=numbers)
        def mutates(self, which: int) -> None:
            self.add("queue_mutate", submit=which % len(self.calls))

        @precondition(lambda self: self.able and self.now > 0 and dialect.contexts)
        @rule(context=st.sampled_from(("context-1", "context-2")))
        def a_context_ends(self, context: str) -> None:
            self.add("queue_context_end", context=context)

        @precondition(lambda self: self.able and self.now > 0)
        @rule(name=pods, told=st.booleans())
        def an_object_is_deleted(self, name: str, told: bool) -> None:
            self.add("queue_delete", name=name, told=told)

        @precondition(lambda self: self.able and self.now > 0)
        @rule(name=pods, told=st.booleans())
        def an_object_is_made_anew(self, name: str, told: bool) -> None:
            self.add("queue_recreate", name=name, uid=f"uid-{name[-1]}9", told=told)

        @precondition(lambda self: self.able and self.now > 0)
        @rule(name=pods, condition=st.sampled_from(("other", "status")))
        def somebody_else_writes(self, name: str, condition: str) -> None:
            self.add("queue_external", name=name, target=condition)

        @precondition(lambda self: self.able and dialect.rate)
        @rule(qps=st.sampled_from((1.0, 0.2, 5.0)), burst=st.sampled_from((1, 2)))
        def the_quota_changes(self, qps: float, burst: int) -> None:
            self.add("queue_rate", qps=qps, burst=burst)

        @precondition(lambda self: self.able and self.now > 0 and not self.closed and len(self.steps) > 4)
        @rule()
        def closes(self) -> None:
            self.closed = True
            self.add("queue_close")

        @precondition(lambda self: not self.able)
        @rule()
        def nothing_is_left_to_do(self) -> None:
            """Hypothesis wants some rule to be possible at any time."""

    Machine.subject, Machine.on_case = subject, staticmethod(on_case)
    Machine.__name__ = Machine.__qualname__ = f"Machine of {subject.name}"
    return Machine


def run(plan: QueuePlan, subject: QueueSubject) -> History:
    """Do a plan of the machine again."""
    return runner(NAME)(plan, subject)


SUITES = (
    Suite(
        name=NAME,
        summary="a queue under a state machine that acts when it matters, with the reference model beside it",
        kind="queue",
        invariants=invariants(),
        format=FORMAT,
        run=run,
        machine=machine_of,
        model=model,
        figures=figures,
        corners=lambda subject: corners(subject.dialect)[:1],
        share=0.5,
    ),
)
