"""How the plans of the suites are written, read, told and made simpler."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from ...faults.plan import Answer, Fault, WaitPlan, plan_from_json, plan_to_json, simpler, size
from ...harness.suite import PlanFormat

P = TypeVar("P")


def format_of(
    cls: type[P], *, words: Callable[[P], Sequence[str]], parts: Callable[[P], Sequence[Any]]
) -> PlanFormat[P]:
    """The format of a plan class. ``parts``: the wait plans and the answers and faults in it, for the report's reach."""
    return PlanFormat(
        to_json=plan_to_json,
        from_json=lambda data: plan_from_json(cls, data),
        words=words,
        size=size,
        simpler=simpler,
        reach=lambda plan: reach(parts(plan)),
    )


def reach(parts: Sequence[WaitPlan | Fault]) -> Mapping[str, Mapping[str, int]]:
    """How often each fault kind stands in a plan, by place."""
    counts: dict[str, Counter[str]] = {name: Counter() for name in ("answers", "wakes", "caller", "clock", "resources")}
    for part in parts:
        if isinstance(part, WaitPlan):
            counts["answers"].update(item.kind for item in (*part.answers, part.ending))
            counts["wakes"].update(item.kind for item in part.wakes)
            counts["caller"].update(item.kind for item in part.caller)
            counts["clock"].update(item.kind for item in part.clock)
            counts["resources"][part.call.resource] += 1
        elif isinstance(part, Answer):
            counts["answers"][part.kind] += 1
    return {group: dict(found) for group, found in counts.items() if found}


WAIT_FORMAT: PlanFormat[WaitPlan] = format_of(WaitPlan, words=lambda plan: plan.words(), parts=lambda plan: [plan])
