"""What is done to a queue in a run, sans I/O: a generator that says until when to sleep and acts in between. All modes play it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ..harness import events, queue_events
from ..harness.calls import ApiCall
from ..harness.queue_protocols import QueueConfig
from .kinds import kind_named
from .queue_hands import QueueHands
from .queue_memory import snapshots_alive
from .queue_plan import QueuePlan
from .queue_world import QueueWorld

PROBE_SECONDS: Final = 1.0
"""How long each read of the probe takes."""

CLOSE_WITHIN: Final = 60.0
"""Virtual seconds that the last close may take before the run ends around it."""

GRACE: Final = 30.0
"""Virtual seconds that a run goes on after the queue has been left, so that what it left behind is seen."""


def probes(config: QueueConfig) -> int:
    """How many reads the probe submits: as many as should be able to run at once."""
    return max(1, min(config.workers, config.capacity))


def prepare(plan: QueuePlan, world: QueueWorld, config: QueueConfig) -> None:
    """Make the objects that are there before the run begins: of each name the uid that is used first, and those of the probe."""
    made_later = {item.data.uid for item in plan.steps if item.kind == "queue_recreate"}
    for _, item in plan.ordered:
        if item.kind == "queue_submit":
            for call in (item.data.call, item.data.then):
                if call is not None and call.uid not in made_later and call.effect != "CREATE":
                    world.server.create_pod(call.name, call.uid, quietly=True)
    for number in range(probes(config) + 1):
        world.server.create_pod(f"probe-{number}", f"uid-probe-{number}", quietly=True)


def program(plan: QueuePlan, hands: QueueHands, world: QueueWorld, config: QueueConfig) -> Iterator[float]:
    """Act, and yield the virtual times until which to sleep (one that is over already is none)."""
    recorder, time = world.recorder, world.time
    for at, step in plan.ordered:
        if at > time.now:
            yield at
        act = kind_named(step.kind).act
        assert act is not None
        act(step.data, hands)
        hands.stats()
    yield plan.heals_at()
    count = probes(config)
    world.server.heal({f"probe{number}": PROBE_SECONDS for number in range(count)})
    within = plan.within()
    recorder.note(queue_events.HEALED, events.BENCH, within=within)
    yield time.now + within
    waiting = [mine.op for mine in hands.submits if mine.waiting]
    recorder.note(queue_events.SETTLED, events.BENCH, open=hands.open, waiting=waiting)
    if plan.memory:
        live = len(hands.open)
        hands.let_go()
        recorder.note(events.BENCH_NOTE, events.BENCH, what="memory", kept=snapshots_alive(recorder.history), live=live)
    if not hands.closing:
        hands.stats()
        if config.breaker_failures:  # a breaker that has been left half-open is closed by one call that goes well
            hands.probe(_read(config, count), f"probe{count}")
            yield time.now + 2 * PROBE_SECONDS + plan.seconds_for(2)
        ops = [f"s{len(hands.submits) + number}" for number in range(count)]
        recorder.note(queue_events.PROBE, events.BENCH, count=count, ops=ops, seconds=PROBE_SECONDS)
        for number in range(count):
            hands.probe(_read(config, number), f"probe{number}")
        yield time.now + 2 * PROBE_SECONDS + plan.seconds_for(count + 1)
    hands.stats()
    hands.close("caller")
    yield time.now + CLOSE_WITHIN
    world.kills.tell()


def _read(config: QueueConfig, number: int) -> ApiCall:
    """A plain read of an object of its own, outside of every share."""
    return ApiCall(
        uid=f"uid-probe-{number}", name=f"probe-{number}", type="get", target="pod", effect="READ",
        plugin="probe", context="probe", priority=config.priority_high,
    )  # fmt: skip
