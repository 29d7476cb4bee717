"""The smoke plans: what a plain test of a waiter does. Nothing goes wrong, and every parameter is as by default."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from ...client_plan import ClientPlan
from ...concurrent_plan import ConcurrentPlan, StartedWait
from ...memory import MemoryPlan
from ...plan import WaitPlan, answer
from ...relations import RelationPlan

WAIT = WaitPlan(answers=(answer("status", word="pending"), *(answer("status", word="processing"),) * 2))
"""Pending, processing twice, completed."""

SMOKE: Mapping[str, tuple[object, ...]] = MappingProxyType(
    {
        "waiter": (WAIT,),
        "waiter-twins": (WAIT,),
        "waiter-parameters": (WAIT,),
        "waiter-concurrent": (ConcurrentPlan(waits=(StartedWait(plan=WAIT), StartedWait(plan=WAIT, start=0.5))),),
        "waiter-memory": (MemoryPlan(fetches=4, every=2),),
        "waiter-relations": (
            RelationPlan(plan=WAIT, relation="origin", amount=1000.0),
            RelationPlan(plan=WAIT, relation="resource", amount=1.0),
            RelationPlan(plan=WAIT, relation="scale", amount=2.0),
            RelationPlan(plan=WAIT, relation="pending", amount=1.0),
        ),
        "client": (ClientPlan(), ClientPlan(op="direct")),
    }
)
"""By suite: plans that every seeded bug passes."""
