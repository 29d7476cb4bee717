"""Metamorphic relations: the same wait twice, the second time changed in a way that must not matter, or must matter in one way only.

Both runs go into one history, under ``base/`` and ``changed/``, with a note that says what was changed.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from typing import Literal

from hypothesis import strategies as st

from ..harness import events
from ..harness.dialect import WaiterDialect
from ..harness.history import History
from ..harness.protocols import RESOURCES, WaiterSubject
from .plan import WaitPlan, answer, fault, plan_to_json
from .run import header_of, run_wait
from .strategies import wait_plans

Relation = Literal["origin", "scale", "pending", "resource", "wall"]


@dataclass(frozen=True, kw_only=True)
class RelationPlan:
    """One wait and what is changed in its second run.

    ``origin``: the monotonic clock reads ``amount`` seconds more at the start. ``wall``: the wall clock jumps by ``amount`` seconds soon
    after the start. ``resource``: another of the three resources (``amount`` picks which). ``pending``: ``amount`` further answers "processing"
    come first. ``scale``: every time of the plan is ``amount`` times as long (a power of two, so that no rounding differs).
    """

    plan: WaitPlan = field(default_factory=WaitPlan)
    relation: Relation = "origin"
    amount: float = 1.0

    def words(self) -> list[str]:
        """The plan as sentences, one an item."""
        change = {
            "origin": f"the monotonic clock reads {self.amount:g} more at the start",
            "wall": f"the wall clock jumps by {self.amount:g} s after a quarter of a second",
            "resource": f"the job is of {self.changed().call.resource}",
            "pending": f"{int(self.amount)} more answers 'processing' come first",
            "scale": f"every time is {self.amount:g} times as long",
        }[self.relation]
        return [*self.plan.words(), f"and once more, but {change}"]

    def changed(self) -> WaitPlan:
        """The plan of the second run."""
        plan = self.plan
        if self.relation == "origin":
            return dataclasses.replace(plan, origin=plan.origin + self.amount)
        if self.relation == "wall":
            return dataclasses.replace(plan, clock=(*plan.clock, fault("wall_jump", at=0.25, seconds=self.amount)))
        if self.relation == "resource":
            others = [name for name in RESOURCES if name != plan.call.resource]
            return dataclasses.replace(
                plan, call=dataclasses.replace(plan.call, resource=others[int(self.amount) % len(others)])
            )
        if self.relation == "pending":
            more = (answer("status", word="processing"),) * int(self.amount)
            return dataclasses.replace(plan, answers=(*more, *plan.answers))
        return _scaled(plan, self.amount)


def _scaled(plan: WaitPlan, by: float) -> WaitPlan:
    call = plan.call
    return dataclasses.replace(
        plan,
        call=dataclasses.replace(
            call,
            timeout=call.timeout * by,
            poll_interval=None if call.poll_interval is None else call.poll_interval * by,
            first_delay=call.first_delay * by,
            cap=call.cap * by,
            fetch_timeout=call.fetch_timeout * by,
            not_found_grace=call.not_found_grace * by,
        ),
        answers=tuple(dataclasses.replace(item, delay=item.delay * by) for item in plan.answers),
        ending=dataclasses.replace(plan.ending, delay=plan.ending.delay * by),
    )


def relation_plans(dialect: WaiterDialect) -> st.SearchStrategy[RelationPlan]:
    """Plans of every relation that can hold for this dialect.

    Scaling needs every time of the schedule to be a parameter, and answers whose times are all in the plan (no hints, no dripping).
    """
    relations: list[Relation] = ["origin", "wall", "resource"]
    if dialect.clips and dialect.first == "fetch":
        relations.append("pending")
    if {"timeout", "first_delay", "cap", "fetch_timeout", "poll_interval"} <= dialect.parameters:
        relations.append("scale")

    def of(relation: Relation) -> st.SearchStrategy[RelationPlan]:
        amounts: dict[str, st.SearchStrategy[float]] = {
            "origin": st.sampled_from((1.0, 1000.0, 123_456.0, 86_400.0 * 365)),
            "wall": st.sampled_from((-3600.0, 3600.0, -86_400.0 * 365, 86_400.0 * 365)),
            "resource": st.sampled_from((0.0, 1.0)),
            "pending": st.sampled_from((1.0, 2.0, 5.0)),
            "scale": st.sampled_from((2.0, 4.0)),
        }
        plans = wait_plans(dialect)
        if relation == "scale":
            plans = plans.map(_plain)
        elif relation == "resource":
            plans = plans.map(_sizeless)
        elif relation == "pending":
            plans = plans.map(_plain).map(_instant)
        return st.builds(RelationPlan, plan=plans, relation=st.just(relation), amount=amounts[relation])

    return st.sampled_from(relations).flatmap(of)


def _plain(plan: WaitPlan) -> WaitPlan:
    """Status words and delays alone; nothing wakes early or late and nobody cancels."""
    keep = [item for item in plan.answers if item.kind in ("status", "http_error")]
    ending = plan.ending if plan.ending.kind == "status" else answer("status")
    return dataclasses.replace(plan, answers=tuple(keep), ending=ending, wakes=(), caller=(), clock=())


def _sizeless(plan: WaitPlan) -> WaitPlan:
    """Nothing depends on the length of an answer: the resources' envelopes differ in it."""
    keep = [item for item in plan.answers if item.kind != "drip"]
    ending = answer("status") if plan.ending.kind == "drip" else plan.ending
    return dataclasses.replace(plan, answers=tuple(keep), ending=ending)


def _instant(plan: WaitPlan) -> WaitPlan:
    """No answer takes time: a slow one that a limit now cuts off would make the longer wait end earlier, and rightly."""
    answers = tuple(dataclasses.replace(item, delay=0.0) for item in plan.answers)
    return dataclasses.replace(plan, answers=answers, ending=dataclasses.replace(plan.ending, delay=0.0))


def run_relation(plan: RelationPlan, subject: WaiterSubject, *, suite: str = "") -> History:
    """Run both and return the one history."""
    history = History(header_of(subject, plan_to_json(plan), suite))
    history.append(
        at=0.0,
        kind=events.BENCH_NOTE,
        lane=events.BENCH,
        data={"what": "relation", "relation": plan.relation, "amount": plan.amount},
    )
    run_wait(plan.plan, subject, prefix="base/", history=history)
    run_wait(plan.changed(), subject, prefix="changed/", history=history)
    return history
