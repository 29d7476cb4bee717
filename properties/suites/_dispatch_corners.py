"""Corner plans of dispatch queues: a small plan for each situation that an invariant speaks of, run before anything is drawn.

They keep a quick profile from being vacuous. Steps that a dialect has no word for are left out; what a subject does not take of a
configuration falls back to its dialect's defaults.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from typing import Any

from ...faults.kinds import kind_named
from ...faults.plan import Answer, Fault, answer, fault
from ...faults.queue_calls import effect_of
from ...faults.queue_plan import Planned, QueuePlan
from ...harness.calls import ApiCall, Precondition
from ...harness.queue_dialect import QueueDialect
from ...harness.queue_protocols import QueueConfig

SLOW = answer("api_ok", delay=3.0)
ONE = QueueConfig(workers=1)


def call(kind: str = "patch", pod: int = 1, **values: Any) -> ApiCall:
    """A call of a type to a pod."""
    usual = {"bind": "node-1", "get": "pod", "delete": "pod", "preempt": "pod", "create": "claim"}.get(kind, "status")
    made = ApiCall(type=kind, effect=effect_of(kind), uid=f"uid-{pod}", name=f"pod-{pod}", target=usual)
    version, generation = values.pop("version", None), values.pop("generation", None)
    told = Precondition(resource_version=version, generation=generation)
    return dataclasses.replace(made, precondition=told, **values)


def submit(operation: int, what: ApiCall, at: float = 0.0, **values: Any) -> Fault:
    """A submit of an operation by its number."""
    return fault("queue_submit", at=at, operation=f"o{operation}", call=what, **values)


def planned(operation: int, *answers: Answer) -> tuple[Planned, ...]:
    """The answers to the first attempts of an operation."""
    return tuple(Planned(operation=f"o{operation}", attempt=number, answer=item) for number, item in enumerate(answers))


def plan(*steps: Fault, answers: Sequence[Planned] = (), config: QueueConfig | None = None, **values: Any) -> QueuePlan:
    """A plan of these steps."""
    return QueuePlan(steps=steps, answers=tuple(answers), config=QueueConfig() if config is None else config, **values)


def corners(dialect: QueueDialect) -> list[QueuePlan]:
    """The corner plans, for a subject of this dialect."""
    plans = [
        *_plain(),
        *_order(),
        *_twins(),
        *_limits(),
        *_times(),
        *_failures(),
        *_ambiguous(),
        *_ends(),
        *_callbacks(),
    ]
    return [found for item in plans if (found := suited(item, dialect)) is not None]


def suited(item: QueuePlan, dialect: QueueDialect) -> QueuePlan | None:
    """The plan as it means something to the dialect; ``None`` if a step has to go."""
    if not all(kind_named(step.kind).suits(dialect) for step in item.steps):
        return None
    return item


def _plain() -> list[QueuePlan]:
    return [
        plan(submit(0, call())),
        *(plan(submit(0, call(kind))) for kind in ("bind", "delete", "preempt", "get", "create")),
        plan(submit(0, call(payload={"value": 1})), submit(1, call(payload={"value": 1}, target="status", generation=(1, 1)), at=2.0)),
        plan(submit(0, call("evaporate"))),
        plan(submit(0, call(needed_in_cycle=True))),
        plan(submit(0, call(deadline=1.0), at=1.0)),
        plan(submit(0, call(deadline=0.5), at=1.0), submit(1, call(pod=2), at=1.0)),
        plan(submit(0, call(payload={"value": 1, "items": [1]})), fault("queue_mutate", at=0.0), config=ONE),
        plan(
            submit(0, call(pod=2)), submit(1, call(payload={"value": 1, "items": [1]})), fault("queue_mutate", at=1.0, submit=1),
            answers=planned(0, SLOW), config=ONE,
        ),
        plan(*(submit(number, call(pod=number + 1, payload={"value": number})) for number in range(4)), memory=True),
        plan(submit(0, call(key="key-o0")), origin=2.0**31),
        plan(submit(0, call(deadline=2.0)), submit(1, call(pod=2, deadline=2.0)), answers=planned(0, SLOW), config=ONE, tick=0.25),
        plan(submit(0, call()), fault("queue_external", at=0.5), submit(1, call(version=2, generation=(2, 0)), at=1.0)),
        plan(submit(0, call()), submit(1, call(pod=2)), fault("queue_waiter_cancel", at=0.5), answers=planned(0, SLOW)),
    ]  # fmt: skip


def _order() -> list[QueuePlan]:
    blocked = submit(9, call(pod=3, priority=100))
    held = planned(9, SLOW)
    return [
        plan(blocked, submit(0, call(priority=0)), submit(1, call(pod=2, priority=100)), answers=held, config=ONE),
        plan(blocked, submit(0, call(priority=0)), submit(1, call(pod=2, priority=90), at=2.5), answers=held, config=dataclasses.replace(ONE, aging=50.0)),
        plan(blocked, submit(0, call(priority=10)), submit(1, call("bind", priority=90)), submit(2, call(pod=2, priority=50)), answers=held, config=ONE),
        plan(blocked, submit(0, call()), submit(1, call("bind")), answers=held, config=ONE),
        plan(submit(0, call()), submit(1, call("bind"), at=0.5), submit(2, call(target="other"), at=0.5), answers=planned(0, SLOW)),
        plan(blocked, submit(0, call(generation=(1, 0))), submit(1, call(generation=(1, 1))), answers=held, config=ONE),
        plan(blocked, submit(0, call(generation=(1, 1))), submit(1, call(generation=(1, 0))), answers=held, config=ONE),
        plan(blocked, submit(0, call()), submit(1, call("delete")), answers=[*held, *planned(1, answer("api_error", status=403))], config=ONE),
        plan(blocked, submit(0, call()), submit(1, call("bind")), answers=[*held, *planned(1, answer("api_lost"))], config=ONE),
        plan(blocked, submit(0, call()), submit(1, call("bind")), answers=[*held, *planned(1, answer("api_lost", effect="never"))], config=ONE),
        plan(blocked, submit(0, call(priority=10)), submit(1, call(target="other", priority=90)), submit(2, call(pod=2, priority=50)), answers=held, config=ONE),
        plan(blocked, submit(0, call(pod=2, priority=10)), submit(1, call("create", prerequisite_of="uid-1")), submit(2, call("bind", priority=90)), answers=held, config=ONE),
        plan(blocked, submit(0, call()), submit(1, call("bind")), submit(2, call("delete")), answers=held, config=ONE),
        plan(submit(0, call("bind")), submit(1, call("bind", target="node-2")), answers=planned(0, SLOW)),
        plan(submit(0, call("bind")), submit(1, call("bind", target="node-2", context="context-2"), at=4.0)),
        plan(submit(0, call("create", key="key-o0", prerequisite_of="uid-1")), submit(1, call("bind")), answers=planned(0, SLOW)),
        plan(submit(0, call("create", prerequisite_of="uid-1")), submit(1, call("bind")), answers=planned(0, answer("api_error", status=403))),
        plan(submit(0, call("create", prerequisite_of="uid-1")), submit(1, call("bind")), answers=planned(0, answer("api_lost"))),
        plan(submit(0, call(prerequisite_of="uid-1")), submit(1, call("bind"))),
        plan(*(submit(number, call(pod=number + 1, priority=10 * number)) for number in range(6)), config=ONE, ending=answer("api_ok", delay=0.5)),
        plan(submit(0, call()), submit(1, call(pod=2)), submit(2, call(pod=3), at=1.0), answers=planned(0, answer("api_hang"))),
        plan(blocked, submit(0, call(priority=10)), submit(1, call(target="other", priority=90)), submit(2, call(pod=2, priority=95)), answers=held, config=ONE),
    ]  # fmt: skip


def _twins() -> list[QueuePlan]:
    twin = call(key="key-o0", generation=(1, 0))
    plain = call(generation=(1, 0))
    parked = plan(submit(0, twin), submit(0, twin, at=1.0), answers=planned(0, SLOW))
    return [
        plan(submit(0, twin), submit(0, twin), submit(0, dataclasses.replace(twin, priority=90))),
        parked,
        dataclasses.replace(parked, answers=planned(0, answer("api_error", status=403, delay=3.0))),
        dataclasses.replace(parked, answers=planned(0, *(answer("api_lost", effect="later", delay=3.0),) * 4)),
        plan(submit(0, plain), submit(0, plain, at=1.0), answers=planned(0, answer("api_lost", effect="later", delay=3.0))),
        plan(submit(0, plain), submit(0, plain, at=1.0), answers=planned(0, answer("api_lost", effect="now", delay=3.0))),
        plan(submit(0, twin), submit(0, twin), fault("queue_cancel", at=0.0, submit=0), config=ONE),
        plan(submit(9, call(pod=2, priority=100)), submit(0, twin), submit(0, twin), fault("queue_cancel", at=1.0, submit=1), answers=planned(9, SLOW), config=ONE),
        plan(submit(9, call(pod=2, priority=100)), submit(0, dataclasses.replace(twin, deadline=2.0)), submit(0, twin), answers=planned(9, SLOW), config=ONE),
        plan(submit(9, call(pod=2, priority=100)), submit(0, twin), submit(1, call(key="key-o0", generation=(1, 1), payload={"value": 9})), answers=planned(9, SLOW), config=ONE),
        plan(submit(9, call(pod=3, priority=100)), submit(0, twin), submit(1, call(pod=2, priority=50)), submit(0, dataclasses.replace(twin, priority=90)), answers=planned(9, SLOW), config=ONE),
        plan(submit(9, call(pod=2, priority=100)), submit(0, call(version=1)), submit(1, call(version=2, payload={"value": 3})), answers=planned(9, SLOW), config=ONE),
        plan(submit(0, call("get")), submit(0, call("get")), answers=planned(0, SLOW)),
        plan(submit(9, call(pod=3, priority=100)), submit(0, dataclasses.replace(twin, priority=10)), submit(1, call(pod=2, priority=50)), submit(0, dataclasses.replace(twin, priority=40)), answers=planned(9, SLOW), config=ONE),
    ]  # fmt: skip


def _limits() -> list[QueuePlan]:
    slow = answer("api_ok", delay=2.0)
    full = dataclasses.replace(ONE, capacity=2)
    many = [submit(number, call(pod=number + 1, priority=10 * number)) for number in range(4)]
    return [
        plan(*many, config=full, ending=slow),
        plan(*reversed(many), config=full, ending=slow),
        plan(submit(0, call()), submit(1, call(pod=2, droppable=False)), submit(2, call(pod=3, priority=90)), config=full, ending=slow),
        plan(submit(0, call(pod=2)), submit(1, call("create", prerequisite_of="uid-1")), submit(2, call(pod=3, priority=90)), config=full, ending=slow),
        plan(submit(0, call()), submit(1, call(pod=2, rebuild_cost=0.5)), submit(2, call(pod=3, rebuild_cost=9.0)), submit(3, call(pod=4, priority=5)), config=dataclasses.replace(ONE, capacity=3), ending=slow),
        plan(*many, config=QueueConfig(shares={"default": (2, 1)}, workers=3), ending=slow),
        plan(*many, submit(4, call(pod=5, plugin="other")), config=QueueConfig(shares={"default": (4, 1)}, workers=3), ending=slow),
        plan(*many, config=QueueConfig(qps=1.0, burst=1)),
        plan(*many, config=QueueConfig(qps=2.0, burst=2), answers=planned(0, answer("api_error", status=503))),
        plan(*many, fault("queue_rate", at=0.5, qps=0.5, burst=1), config=QueueConfig(qps=1.0, burst=2)),
        plan(*many, fault("queue_cancel", at=0.5, submit=1), fault("queue_cancel", at=0.5, submit=2), config=QueueConfig(qps=0.5, burst=1)),
        plan(*many, config=QueueConfig(workers=3), ending=slow),
    ]  # fmt: skip


def _times() -> list[QueuePlan]:
    plans = []
    for edge in (-0.001, 0.0, 0.001):
        plans += [
            plan(submit(0, call(pod=2)), submit(1, call(deadline=3.0 + edge)), answers=planned(0, SLOW), config=ONE),
            plan(submit(0, call(deadline=3.0 + edge)), answers=planned(0, SLOW)),
            plan(
                submit(0, call(key="key-o0", deadline=1.0 + edge)), answers=planned(0, answer("api_error", status=503))
            ),
            plan(submit(0, call(deadline=1.0 + edge)), config=QueueConfig(qps=1.0, burst=1)),
        ]
    return [
        *plans,
        plan(submit(0, call(deadline=2.0)), answers=planned(0, answer("api_hang", effect="now"))),
        plan(submit(0, call(deadline=2.0)), answers=planned(0, answer("api_hang", effect="later", lands=4.0))),
        plan(
            submit(0, call(deadline=2.0, key="key-o0")), answers=planned(0, *(answer("api_throttle", seconds=5.0),) * 2)
        ),
        plan(submit(0, call()), submit(1, call(pod=2, deadline=2.0)), config=QueueConfig(qps=0.2, burst=1)),
    ]


def _failures() -> list[QueuePlan]:
    keyed = call(key="key-o0")
    busy = answer("api_error", status=503)
    return [
        *(plan(submit(0, keyed), answers=planned(0, answer("api_error", status=status))) for status in (400, 403, 404, 409, 422, 501, 503, 429, 425, 410)),
        plan(submit(0, keyed), answers=planned(0, busy, busy)),
        plan(submit(0, keyed), answers=planned(0, *(busy,) * 12)),
        plan(submit(0, keyed), answers=planned(0, *(busy,) * 4), config=QueueConfig(attempts=3, backoff_first=1.0, backoff_cap=2.0)),
        plan(submit(0, keyed), answers=planned(0, answer("api_throttle", seconds=7.0), answer("api_throttle", status=503, seconds=0.0))),
        plan(submit(0, keyed), answers=planned(0, answer("api_refused"))),
        plan(submit(0, call()), answers=planned(0, answer("api_refused"))),
        plan(submit(0, call("get")), answers=planned(0, answer("api_hang"), busy)),
        plan(submit(0, keyed), submit(1, call(pod=2), at=1.0), ending=busy, config=QueueConfig(attempts=60)),
        plan(submit(0, keyed), submit(1, call(), at=1.0), answers=planned(0, answer("api_hang")), config=QueueConfig(attempt_timeout=90.0)),
        plan(submit(0, keyed), submit(1, call("bind", pod=1), at=0.1), answers=planned(0, busy, busy)),
        plan(*(submit(number, call(pod=number + 1, key=f"key-o{number}")) for number in range(4)), answers=[item for number in range(3) for item in planned(number, busy, busy)], config=QueueConfig(breaker_failures=2, breaker_open=5.0)),
        plan(
            *(submit(number, call(pod=number + 1, key=f"key-o{number}"), at=float(at)) for number, at in enumerate((0, 0, 1, 7, 8, 20))),
            answers=[item for number in range(4) for item in planned(number, busy, busy, busy)],
            config=QueueConfig(breaker_failures=1, breaker_open=5.0, attempts=2),
        ),
        plan(submit(0, call(version=7))),
        plan(submit(0, call(version=1)), fault("queue_external", at=1.0), answers=planned(0, answer("api_lost", effect="later", lands=2.0))),
    ]  # fmt: skip


def _ambiguous() -> list[QueuePlan]:
    plans = []
    lost = [answer("api_lost", effect=effect) for effect in ("now", "never", "later")]
    lost += [answer("api_error", status=500, done=done) for done in (True, False)]
    lost += [answer("api_hang", effect=effect) for effect in ("now", "never", "later")]
    for item in lost:
        for what in (
            call(),
            call(key="key-o0"),
            call(version=1),
            call("create", key="key-o0"),
            call("create"),
            call("bind", key="key-o0"),
        ):
            plans.append(plan(submit(0, what), answers=planned(0, item)))  # noqa: PERF401 - two loops read better so
    twice = planned(0, lost[0], lost[0])
    return [
        *plans,
        plan(submit(0, call("create", key="key-o0")), answers=twice),
        plan(submit(0, call()), submit(1, call("bind"), at=0.5), answers=planned(0, answer("api_hang", effect="later", lands=7.0))),
        plan(submit(0, call(version=1)), submit(1, call(target="other", payload={"value": 2}), at=0.5), answers=planned(0, lost[2])),
        plan(submit(0, call("delete", key="key-o0")), answers=planned(0, lost[0])),
        plan(submit(0, call(version=1)), submit(1, call(version=1, target="other", payload={"value": 2})), submit(2, call("bind", version=1), at=1.0)),
        plan(submit(0, call(version=1)), submit(1, call(version=1, target="other", payload={"value": 2})), fault("queue_external", at=1.0), answers=planned(0, SLOW)),
    ]  # fmt: skip


def _ends() -> list[QueuePlan]:
    waiting = (submit(9, call(pod=2, priority=100)), submit(0, call()))
    held = planned(9, SLOW)
    plans = []
    for at in (0.0, 1.0, 3.0, 4.0):
        for step in (
            fault("queue_cancel", at=at, submit=1),
            fault("queue_cancel", at=at, submit=0),
            fault("queue_context_end", at=at),
            fault("queue_delete", at=at, name="pod-1"),
            fault("queue_recreate", at=at, name="pod-1"),
            fault("queue_close", at=at),
        ):
            plans.append(plan(*waiting, step, answers=held, config=ONE))  # noqa: PERF401 - as above
    silent = fault("queue_recreate", at=1.0, name="pod-1", told=False)
    return [
        *plans,
        plan(*waiting, silent, answers=held, config=ONE),
        plan(submit(0, call("bind")), fault("queue_recreate", at=1.0), submit(1, call(context="context-2", target="other"), at=5.0), answers=planned(0, answer("api_hang", effect="later", lands=2.0))),
        plan(*waiting, fault("queue_close", at=1.0), fault("queue_close", at=1.0), submit(1, call(pod=3), at=1.5), answers=held, config=ONE),
        plan(*waiting, fault("queue_close", at=1.0), submit(1, call(pod=3), at=5.0), answers=planned(9, answer("api_hang"))),
        plan(submit(0, call(key="key-o0")), fault("queue_close", at=0.6), answers=planned(0, *(answer("api_error", status=503),) * 3)),
        plan(submit(0, call()), fault("queue_context_end", at=1.0), answers=planned(0, answer("api_lost", delay=3.0))),
        plan(submit(0, call()), fault("queue_context_end", at=1.0), submit(1, call(pod=2), at=2.0), answers=planned(0, answer("api_hang", effect="now"))),
        plan(fault("queue_close", at=0.0), submit(0, call(), at=1.0)),
    ]  # fmt: skip


def _callbacks() -> list[QueuePlan]:
    return [
        plan(submit(0, call(), then=call(pod=2), then_operation="o1")),
        plan(submit(0, call(), then=call(generation=(1, 1)), then_operation="o1"), submit(2, call(pod=3), at=0.5)),
        plan(submit(0, call("evaporate"), then=call(pod=2), then_operation="o1")),
        plan(submit(0, call(), then_close=True), submit(1, call(pod=2)), submit(2, call(pod=3)), config=ONE),
        plan(submit(0, call("evaporate"), then_close=True), submit(1, call(pod=2), at=1.0)),
        plan(submit(9, call(pod=2, priority=100)), submit(0, call(), then=call(pod=3), then_operation="o1"), fault("queue_close", at=1.0), answers=planned(9, SLOW), config=ONE),
        plan(submit(9, call(pod=2, priority=100)), submit(0, call(), then_close=True), fault("queue_cancel", at=1.0, submit=1), answers=planned(9, SLOW), config=ONE),
        plan(submit(0, call(deadline=math.inf), then_close=True), submit(1, call(pod=2)), answers=planned(1, SLOW)),
    ]  # fmt: skip
