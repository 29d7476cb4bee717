"""Which invariants a suite judges by. Those that need a history of a special shape are named here; every other one of the catalogue is
judged by the plain suite of waits, so that a new invariant is a new file and no other change."""

from __future__ import annotations

from ...harness.invariant import Invariant
from ...models.invariants import catalogue, invariant_named

SPECIAL = {
    "twins": ("waiter.twins_agree",),
    "relations": (
        "waiter.clock_origin_irrelevant",
        "waiter.pending_inserted_monotone",
        "waiter.resources_agree",
        "waiter.time_scale_irrelevant",
    ),
    "concurrent": ("waiter.waits_independent",),
    "parameters": ("waiter.bad_parameters_refused", "waiter.good_parameters_accepted", "waiter.overflow_safe"),
    "memory": ("waiter.bounded_memory",),
    "client": (
        "waiter.create_not_doubled",
        "waiter.create_key_stable",
        "waiter.direct_504",
        "waiter.submit_told",
        "waiter.submit_retried",
        "waiter.submit_permanent_surfaced",
        "waiter.submit_paced",
    ),
}


def special(group: str, *more: str) -> tuple[Invariant, ...]:
    """The invariants of a special suite; ``subject.ends`` is judged everywhere."""
    return tuple(invariant_named(name) for name in (*SPECIAL[group], *more, "subject.ends"))


def plain() -> tuple[Invariant, ...]:
    """The invariants of one wait."""
    named = {name for names in SPECIAL.values() for name in names}
    families = ("subject.", "waiter.")
    return tuple(item for name, item in catalogue().items() if name not in named and name.startswith(families))
