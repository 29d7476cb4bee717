"""Run plans against a waiter in virtual time, and get the history of what happened.

``run_wait`` runs one wait. ``run_many`` runs several over one shared world: concurrently if the subject is asynchronous, one after
the other if it is not. Both, and ``run_client``, can write into a history that is there already, under a prefix of their own (``sync/``, ``asyncio/``):
twins and metamorphic relations are judged on one history that holds several runs, each with a time line that starts at 0.

Nothing that a subject does ends the harness: what it raises is recorded, what it never ends is stopped. Only a real Ctrl-C, and an
exception of whoever draws the schedule, come through.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Final, TypeAlias, TypedDict, Unpack

from ..harness.history import History
from ..harness.loop.choices import Chooser
from ..harness.protocols import WaiterSubject
from ..harness.recorder import Recorder
from .client_plan import ClientPlan
from .concurrent_plan import ConcurrentPlan
from .driving import Job, run_jobs
from .handle import Handle
from .plan import WaitPlan, plan_to_json
from .server.world import World, moments

BUDGET: Final = 4_000
"""Events that a run may cause before it is stopped."""

RecorderOn: TypeAlias = Callable[[Callable[[], float]], Recorder]
"""Makes the recorder of a run out of what tells the time."""

STEPS_AN_EVENT: Final = 25
"""Steps of an event loop that one event may cost before the run is stopped."""


class RunOptions(TypedDict, total=False):
    """How a run is made.

    ``chooser``: the order of things on the event loop (default: first in, first out). ``budget``: events before the run is stopped
    (default: :data:`BUDGET`). ``prefix``: what the ops of this run begin with. ``history``: write at the end of this one (default: a new
    one). ``suite``: what the header of a new one says of the suite.
    """

    chooser: Chooser | None
    budget: int
    prefix: str
    history: History | None
    suite: str


def header_of(subject: WaiterSubject, plan: object, suite: str = "") -> dict[str, object]:
    """The header of a history: who was run, by which plan, in which dialect."""
    data: dict[str, object] = {
        "subject": subject.name,
        "mode": subject.mode,
        "dialect": subject.dialect.as_json(),
        "claims": sorted(subject.claims),
        "plan": plan,
    }
    return {"suite": suite, **data} if suite else data


def run_wait(plan: WaitPlan, subject: WaiterSubject, **options: Unpack[RunOptions]) -> History:
    """Run one wait, as ``w0``, and return its history (the one given, if one is given, with the events of this run at its end)."""
    return run_many([(plan, 0.0)], subject, header_plan=plan_to_json(plan), **options)


def run_many(
    plans: Sequence[tuple[WaitPlan, float]],
    subject: WaiterSubject,
    *,
    header_plan: object = None,
    first: int = 0,
    **options: Unpack[RunOptions],
) -> History:
    """Run several waits over one world (one server, one clock, one bench), the n-th as ``w<n>`` from its start (virtual seconds) on.

    ``first``: the number that the first wait gets, so that a wait can be run again under the name that it had among others.
    Asynchronous waits run concurrently; synchronous ones one after the other, none before its start. A job id that is used twice gets
    a number, so that each wait has a job of its own. ``header_plan``: what the header says of the plan (default: plans and starts).
    Raises ``ValueError`` if there is no plan.
    """
    if not plans:
        raise ValueError("run_many needs at least one plan")
    told = header_plan
    if told is None:
        told = [{"plan": plan_to_json(plan), "start": start} for plan, start in plans]
    named = {f"w{first + number}": plan for number, plan in enumerate(distinct([plan for plan, _ in plans]))}
    cancels = {op: [at for at, _ in moments(plan.caller, "cancel")] for op, plan in named.items()}

    def world_on(recorder: RecorderOn) -> World:
        return World(
            recorder,
            origin=plans[0][0].origin,
            clock=[item for plan in named.values() for item in plan.clock],
            wakes={op: plan.wakes for op, plan in named.items()},
            interrupt_at=_first(subject, cancels),
            seed=plans[0][0].call.jitter_seed or 0,
        )

    def jobs_in(world: World) -> list[Job]:
        for plan in named.values():
            world.server.add_job(plan.call.resource, plan.call.job_id, plan.answer_to, old_keys=plan.old_keys)
        return [
            _wait_job(op, plan, start=start, subject=subject, world=world, cancels=cancels[op])
            for (op, plan), (_, start) in zip(named.items(), plans, strict=True)
        ]

    return _run(subject, told, world_on, jobs_in, options)


def run_concurrent(
    plan: ConcurrentPlan,
    subject: WaiterSubject,
    *,
    chooser: Chooser | None = None,
    budget: int = BUDGET,
    suite: str = "",
) -> History:
    """Run a :class:`~waitproof.faults.concurrent_plan.ConcurrentPlan`; the header holds it. One without waits gives no events."""
    told = plan_to_json(plan)
    if not plan.waits:
        return History(header_of(subject, told, suite))
    pairs = [(wait.plan, wait.start) for wait in plan.waits]
    return run_many(pairs, subject, header_plan=told, chooser=chooser, budget=budget, suite=suite)


def run_client(plan: ClientPlan, subject: WaiterSubject, **options: Unpack[RunOptions]) -> History:
    """Run one submit or one direct call, as ``c0``; its ``wait.start`` says ``op``, ``resource`` and ``operation``.

    Raises ``ValueError`` if the subject has no such path.
    """
    function = subject.create if plan.op == "create" else subject.direct
    if function is None:
        raise ValueError(f"subject {subject.name!r} has no {plan.op} path; its adapter would set {plan.op}=")
    cancels = [at for at, _ in moments(plan.caller, "cancel")]
    call = plan.call()

    def world_on(recorder: RecorderOn) -> World:
        return World(
            recorder,
            origin=plan.origin,
            clock=plan.clock,
            wakes={"c0": plan.wakes},
            interrupt_at=_first(subject, {"c0": cancels}),
            operations=(plan.operation,),
        )

    def jobs_in(world: World) -> list[Job]:
        world.server.add_posts(plan.op, plan.resource, plan.attempt)
        handle = Handle(subject, world.recorder, "c0")
        announced = {"op": plan.op, **call.as_json()}
        return [Job(handle, lambda: handle.start(announced), lambda: function(world, call), cancels=cancels)]

    return _run(subject, plan_to_json(plan), world_on, jobs_in, options)


def _run(
    subject: WaiterSubject,
    told: object,
    world_on: Callable[[RecorderOn], World],
    jobs_in: Callable[[World], Sequence[Job]],
    options: RunOptions,
) -> History:
    """Make history, recorder and world, run the jobs in it, and answer the history. ``told``: the plan, for the header of a new one."""
    history = options.get("history")
    if history is None:
        history = History(header_of(subject, told, options.get("suite", "")))
    budget, prefix = options.get("budget", BUDGET), options.get("prefix", "")
    world = world_on(functools.partial(Recorder, history, budget=budget, prefix=prefix))
    jobs = jobs_in(world)
    run_jobs(jobs, subject, world, chooser=options.get("chooser"), max_steps=STEPS_AN_EVENT * budget)
    return history


def _first(subject: WaiterSubject, cancels: Mapping[str, Sequence[float]]) -> float | None:
    """When a synchronous run is interrupted. An asynchronous one never is: there, tasks are cancelled."""
    if subject.mode != "sync":
        return None
    return min((at for times in cancels.values() for at in times), default=None)


def distinct(plans: Sequence[WaitPlan]) -> list[WaitPlan]:
    """The plans with job ids that differ: one that is used twice gets a number."""
    taken: set[tuple[str, str]] = set()
    found = []
    for plan in plans:
        job_id, number = plan.call.job_id, 1
        while (plan.call.resource, job_id) in taken:
            number += 1
            job_id = f"{plan.call.job_id}-{number}"
        taken.add((plan.call.resource, job_id))
        found.append(
            plan if number == 1 else dataclasses.replace(plan, call=dataclasses.replace(plan.call, job_id=job_id))
        )
    return found


def _wait_job(
    op: str, plan: WaitPlan, *, start: float, subject: WaiterSubject, world: World, cancels: Sequence[float]
) -> Job:
    call = subject.effective(plan.call)
    handle = Handle(subject, world.recorder, op)
    return Job(handle, lambda: handle.start(call), lambda: subject.wait(world, call), start=start, cancels=cancels)
