"""The smoke plans of queues: what a plain test does. Nothing goes wrong, nothing is short. Every seeded bug passes them."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from types import MappingProxyType

from ....harness.calls import ApiCall
from ...plan import Fault, fault
from ...queue_plan import QueuePlan


def _call(pod: int) -> ApiCall:
    return dataclasses.replace(ApiCall(), uid=f"uid-{pod}", name=f"pod-{pod}")


def _submit(operation: int, call: ApiCall, at: float) -> Fault:
    return fault("queue_submit", at=at, operation=f"o{operation}", call=call)


ONE = QueuePlan()
"""One call, done at once."""

SEVERAL = QueuePlan(
    steps=(_submit(0, _call(1), 0.0), _submit(1, _call(2), 1.0), _submit(2, dataclasses.replace(_call(1), type="bind", target="node-1"), 2.0))
)  # fmt: skip
"""Three calls on two pods, one after another."""

SMOKE: Mapping[str, tuple[QueuePlan, ...]] = MappingProxyType(
    dict.fromkeys(("dispatch-plans", "dispatch-starved", "dispatch-cancel"), (ONE, SEVERAL))
)
"""By suite: plans that every seeded bug passes."""
