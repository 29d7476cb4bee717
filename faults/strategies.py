"""Hypothesis strategies for plans: which calls, which answers and when, which wakes, which cancellations.

Three things make runs worth their time. Times are biased to where bugs live: the deadline and each nominal poll, a little before, at
and after. Kinds are drawn by *swarm*: each example enables a few kinds only, so that some runs are all 503 and others all hints. And
some examples are *deep*: every listed answer lets the wait go on. All draws have the plainest value first, so plans shrink to the
default. Nothing filters.
"""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Collection, Sequence
from functools import cache
from typing import Any, Final, Literal

from hypothesis import strategies as st

from ..harness.dialect import WaiterDialect
from ..harness.protocols import RESOURCES, WaitCall
from .calls import (
    EDGES,
    MOST_FETCHES,
    bad_calls,
    beside,
    effective_default,
    endless,
    extreme_calls,
    nominal_polls,
    pick,
    wait_calls,
)
from .client_plan import Attempt, ClientPlan, Effect
from .concurrent_plan import ConcurrentPlan, StartedWait
from .kind import Kind
from .kinds import all_kinds
from .plan import Answer, Fault, WaitPlan, answer
from .reply import Asked
from .server.envelopes import meaning

__all__ = [
    "EDGES",
    "ENDED",
    "MOST_FETCHES",
    "answers",
    "bad_calls",
    "client_plans",
    "concurrent_plans",
    "delays",
    "effective_default",
    "endless",
    "extreme_calls",
    "goes_on",
    "nominal_polls",
    "wait_calls",
    "wait_plans",
]

ENDED: Final = ("completed", "failed", "cancelled")

# -- answers -----------------------------------------------------------------------------------------------------------


@cache
def _kinds(place: str, only: frozenset[str] | None) -> tuple[Kind, ...]:
    """The kinds of a place, the plain answer first, so that it is what things shrink to."""
    found = [kind for kind in all_kinds().values() if kind.place == place and (only is None or kind.name in only)]
    return tuple(sorted(found, key=lambda kind: (kind.name != "status", kind.name)))


@cache
def _data(kind: Kind) -> st.SearchStrategy[Any]:
    return kind.strategy()


def goes_on(item: Answer) -> bool:
    """Would a wait of the usual kind go on after this answer? Judged from the reply itself, so that it holds for any kind."""
    make = all_kinds()[item.kind].reply
    if make is None:
        return False
    asked = Asked(job_id="job-1")
    reply = make(item.data, asked)
    if (
        reply.refuse
        or reply.lost != "never"
        or reply.cut is not None
        or not math.isfinite(reply.delay + reply.connect + reply.drip)
    ):
        return True
    if reply.status != 200:
        return reply.status in (408, 425, 429, 202) or (reply.status >= 500 and reply.status not in (501, 505))
    try:
        told = json.loads(reply.body)
    except (ValueError, RecursionError):
        return False
    if not isinstance(told, dict) or str(told.get("job_id", asked.job_id)) != asked.job_id:
        return False
    status = told.get("status")
    return not isinstance(status, str) or meaning(status) not in ENDED


@st.composite
def answers(
    draw: st.DrawFn, /, kinds: Sequence[Kind], delays: st.SearchStrategy[float], *, deep: bool = False
) -> Answer:
    """Answers of these kinds. ``deep``: one that would end the wait becomes ``processing`` instead."""
    kind = pick(draw, kinds)
    item = Answer(kind=kind.name, data=draw(_data(kind)), delay=draw(delays))
    return answer("status", word="processing", delay=item.delay) if deep and not goes_on(item) else item


@st.composite
def delays(draw: st.DrawFn, /, call: WaitCall) -> float:
    """How late an answer is: mostly not, or near the fetch timeout, or so that a fetch from a nominal poll ends near the deadline."""
    choices = _delays(call.fetch_timeout, call.timeout, tuple(nominal_polls(call)[-4:]))
    return pick(draw, (0.0, *choices)) if pick(draw, (False, False, True)) else 0.0


@cache
def _delays(limit: float, timeout: float, polls: tuple[float, ...]) -> tuple[float, ...]:
    choices = [0.1, 0.5]
    if 0.01 <= limit < 1e6:
        choices += [limit, limit - 0.001, limit + 0.001, limit / 2]
        if timeout < 1e6:
            left = [timeout - poll for poll in polls]
            choices += [
                round(gap + edge, 6)
                for gap in left
                if 0 < gap < limit
                for edge in (0.0, -0.001, 0.001)
                if gap + edge >= 0
            ]
    return tuple(choices)


def _ending(draw: st.DrawFn, kinds: Sequence[Kind], late: st.SearchStrategy[float], *, must_end: bool) -> Answer:
    word = pick(draw, ENDED if must_end else (*ENDED, "processing", "pending", "any", "any"))
    if word != "any":
        return answer("status", word=word)
    return draw(answers(kinds, late))


# -- plans -------------------------------------------------------------------------------------------------------------


@st.composite
def wait_plans(
    draw: st.DrawFn,
    dialect: WaiterDialect,
    *,
    calls: st.SearchStrategy[WaitCall] | None = None,
    kinds: Collection[str] | None = None,
    wakes: bool = True,
    cancels: bool = True,
    jumps: bool = True,
    resources: Sequence[str] = RESOURCES,
    most_answers: int = 30,
) -> WaitPlan:
    """Plans of one wait.

    ``calls``: where the call comes from (default: :func:`wait_calls`). ``kinds``: which kinds of fault may be drawn, by name (default:
    all that there are). ``wakes``, ``cancels``, ``jumps``: whether sleeps wake early or late, the caller cancels, the wall clock jumps.
    A call without end gets an ending that ends it.
    """
    only = None if kinds is None else frozenset(kinds)
    call = draw(calls if calls is not None else wait_calls(dialect, tuple(resources)))
    enabled = _swarm(draw, _kinds("answer", only))
    late = delays(call)
    deep = pick(draw, (False, True, True))
    longest = most_answers if deep else min(6, most_answers)
    # Hypothesis's lists are mostly short; a bug that needs eight answers in a row would hardly ever be met
    least = min(pick(draw, (0, 1, 2, 4, 8, 16)), longest)
    listed = draw(st.lists(answers(enabled, late, deep=deep), min_size=least, max_size=longest))
    return WaitPlan(
        call=call,
        answers=tuple(listed),
        ending=_ending(draw, enabled, late, must_end=endless(call, dialect)),
        wakes=draw(_faults("wake", only, 5, seam=dialect.clock == "seam")) if wakes else (),
        caller=_cancellation(draw, call, only) if cancels else (),
        clock=draw(_faults("clock", only, 2)) if jumps else (),
        origin=pick(draw, (0.0, 0.0, 1024.0, 1e6, 123_456.789)),
        old_keys=pick(draw, (False, True)),
    )


def _swarm(draw: st.DrawFn, kinds: Sequence[Kind]) -> list[Kind]:
    """A few of the kinds, at least one: mostly one, two or four draws by weight."""
    if not kinds:
        raise ValueError("no kind of answer is left to draw from; name at least one, such as 'status'")
    weighted = [kind for kind in kinds for _ in range(kind.weight)]
    drawn = [pick(draw, weighted) for _ in range(pick(draw, (0, 1, 2, 4)))]
    return list({kind.name: kind for kind in drawn or kinds[:1]}.values())


@cache
def _faults(
    place: str, only: frozenset[str] | None, most: int, *, seam: bool = True
) -> st.SearchStrategy[tuple[Fault, ...]]:
    kinds = [kind for kind in _kinds(place, only) if seam or not kind.seam_only]
    if not kinds:
        return st.just(())
    # no fault at all is as likely as some: a kind that is always on hides what happens without it
    one = st.one_of([st.builds(Fault, kind=st.just(kind.name), data=_data(kind)) for kind in kinds])
    return st.one_of(st.just(()), st.lists(one, max_size=most).map(tuple))


def _cancellation(draw: st.DrawFn, call: WaitCall, only: frozenset[str] | None) -> tuple[Fault, ...]:
    """Mostly none; else whatever a caller may do, or a cancellation beside a nominal poll."""
    kinds = {kind.name: kind for kind in _kinds("caller", only)}
    way = pick(draw, ("none", "none", "none", "any", "poll")) if kinds else "none"
    if way == "poll" and "cancel" in kinds:
        polls = [poll for poll in nominal_polls(call) if poll < 1e6]
        return (Fault(kind="cancel", data=kinds["cancel"].data(at=beside(draw, polls))),)
    return () if way == "none" else draw(_faults("caller", only, 1))


@st.composite
def concurrent_plans(draw: st.DrawFn, /, dialect: WaiterDialect, *, most: int = 4, **options: Any) -> ConcurrentPlan:
    """Two to ``most`` waits over one world, with a job each. ``options``: as for :func:`wait_plans`."""
    waits = draw(
        st.lists(
            st.builds(
                StartedWait,
                plan=wait_plans(dialect, most_answers=8, **options),
                start=st.sampled_from((0.0, 0.0, 0.5, 1.0, 3.0)),
            ),
            min_size=2,
            max_size=most,
        )
    )
    renamed = []
    for number, wait in enumerate(waits):
        call = wait.plan.call
        call = dataclasses.replace(
            call, job_id=f"job-{number + 1}" if call.job_id == "job-1" else f"{call.job_id}{number + 1}"
        )
        renamed.append(dataclasses.replace(wait, plan=dataclasses.replace(wait.plan, call=call)))
    return ConcurrentPlan(waits=tuple(renamed))


@st.composite
def client_plans(
    draw: st.DrawFn,
    *,
    ops: Sequence[Literal["create", "direct"]] = ("create", "direct"),
    kinds: Collection[str] | None = None,
    resources: Sequence[str] = RESOURCES,
    wakes: bool = True,
    cancels: bool = True,
) -> ClientPlan:
    """Plans of one submit or one direct call: what each attempt meets, and whether it has its effect. Every later attempt succeeds."""
    only = None if kinds is None else frozenset(kinds)
    enabled = _swarm(draw, _kinds("answer", only))
    attempts = st.builds(Attempt, answer=answers(enabled, _LATE), effect=_EFFECTS)
    return ClientPlan(
        op=pick(draw, ops),
        resource=pick(draw, resources),
        operation=pick(draw, ("operation-1", "operation-17")),
        attempts=tuple(draw(st.lists(attempts, max_size=4))),
        wakes=draw(_faults("wake", only, 3)) if wakes else (),
        caller=draw(_faults("caller", only, 1)) if cancels and pick(draw, (False, True)) else (),
    )


_LATE: Final = st.sampled_from((0.0, 0.0, 0.5, 5.0, 9.999, 10.0, 10.001, 60.0))
_EFFECTS: Final[st.SearchStrategy[Effect]] = st.sampled_from(("auto", "auto", "yes", "no"))
