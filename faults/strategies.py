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
from collections.abc import Callable, Collection, Sequence
from typing import Any, Final, Literal

from hypothesis import strategies as st

from ..harness.dialect import WaiterDialect
from ..harness.protocols import RESOURCES, WaitCall
from .client_plan import Attempt, ClientPlan
from .concurrent_plan import ConcurrentPlan, StartedWait
from .kind import Kind
from .kinds import all_kinds
from .plan import Answer, Fault, WaitPlan, answer
from .reply import Asked
from .server.envelopes import meaning

MOST_FETCHES: Final = 66
"""Nominal fetches of one wait (the default call makes 65); faults and jitter may add a few."""

WEIRD_IDS: Final = (
    "a/b",
    "..",
    ".",
    "../x",
    "?x=1",
    "#",
    "%2F",
    "%252F",
    "%",
    "a b",
    " ",
    "+",
    "é",
    "完",
    "\U0001f4c4",
    "a;b=c",
    "a:b@c",
    'say "hi"',
    "back\\slash",
    "new\nline",
    "x/cancel",
    "x" * 300,
)
"""Job ids that a client must escape."""

EDGES: Final = (0.0, -0.001, 0.001, -0.0004, 0.0004, -0.01, 0.01, -0.5, 0.5)
"""Seconds beside an instant that matters."""

ENDED: Final = ("completed", "failed", "cancelled")


def job_ids() -> st.SearchStrategy[str]:
    """Job ids: the plain one, those that a client must escape, and any short text."""
    # surrogates have no UTF-8 form, so no URL can hold them
    text = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=8)
    return st.one_of(st.just("job-1"), st.just("job-1"), st.sampled_from(WEIRD_IDS), text)


# -- nominal times -----------------------------------------------------------------------------------------------------


def nominal_polls(call: WaitCall, most: int = MOST_FETCHES) -> list[float]:
    """When (seconds after its start) a wait would fetch if every answer came at once, ``most`` fetches at most.

    It only guides the drawing of times: what a subject must do is said by the models.
    """
    at, wait = 0.0, call.first_delay if call.poll_interval is None else call.poll_interval
    polls = [0.0]
    while at < call.timeout and len(polls) < most:
        at = min(at + max(wait, 1e-3), call.timeout)
        polls.append(at)
        if call.poll_interval is None:
            wait = min(wait * call.factor, call.cap)
    return polls


def bounded(call: WaitCall, parameters: Collection[str]) -> WaitCall:
    """The call with its timeout (and attempts) cut so that it makes at most :data:`MOST_FETCHES` nominal fetches, where it takes them."""
    polls = nominal_polls(dataclasses.replace(call, timeout=math.inf))
    longest = polls[-1]
    if "timeout" in parameters and math.isfinite(call.timeout) and call.timeout > longest:
        return dataclasses.replace(call, timeout=longest)
    return call


def endless(call: WaitCall, dialect: WaiterDialect) -> bool:
    """Whether this call goes on for (nearly) ever, if the job does."""
    if dialect.limit == "attempts":
        return call.attempts is None or call.attempts > MOST_FETCHES
    return (
        dialect.limit == "none" or call.timeout > nominal_polls(dataclasses.replace(call, timeout=math.inf))[-1] * 1.01
    )


# -- calls -------------------------------------------------------------------------------------------------------------


@st.composite
def wait_calls(draw: st.DrawFn, dialect: WaiterDialect, resources: Sequence[str] = RESOURCES) -> WaitCall:
    """Calls with valid parameters, of those that the dialect takes; the others stand at what the dialect makes of them."""
    takes = dialect.parameters
    call = effective_default(dialect, draw(job_ids()), draw(st.sampled_from(tuple(resources))))
    chosen: dict[str, Any] = {}
    if "first_delay" in takes:
        chosen["first_delay"] = draw(st.sampled_from((1.0, 0.5, 2.0, 0.1, 0.01, 10.0)))
    if "factor" in takes:
        chosen["factor"] = draw(st.sampled_from((1.5, 1.0, 2.0, 1.1, 10.0)))
    if "cap" in takes:
        # a cap below the first delay is refused, so it is drawn as a multiple
        chosen["cap"] = draw(st.sampled_from((10.0, 1.0, 1.5, 3.0))) * chosen.get("first_delay", call.first_delay)
    if "poll_interval" in takes:
        fixed = st.sampled_from((1.0, 2.0, 5.0, 0.1, 0.01, 30.0))
        optional = dialect.defaults.get("poll_interval") is None
        chosen["poll_interval"] = draw(st.none() | fixed if optional else fixed)
    if "fetch_timeout" in takes:
        chosen["fetch_timeout"] = draw(st.sampled_from((10.0, 1.0, 0.5, 3.0, 30.0)))
    if "not_found_grace" in takes:
        chosen["not_found_grace"] = draw(st.sampled_from((0.0, 0.5, 3.0, 1000.0)))
    if "raise_on_failure" in takes:
        chosen["raise_on_failure"] = draw(st.booleans())
    if "jitter_seed" in takes:
        chosen["jitter_seed"] = draw(st.none() | st.integers(0, 3))
    if "attempts" in takes:
        chosen["attempts"] = draw(st.integers(1, 20))
    call = dataclasses.replace(call, **chosen)
    if "timeout" in takes:
        polls = nominal_polls(dataclasses.replace(call, timeout=math.inf))
        at_a_poll = st.builds(
            lambda poll, edge: max(0.0, round(poll + edge, 6)), st.sampled_from(polls), st.sampled_from(EDGES)
        )
        timeout = draw(st.one_of(st.just(600.0), st.sampled_from((0.0, 1.0, 5.0, 30.0, 60.0)), at_a_poll, at_a_poll))
        call = dataclasses.replace(call, timeout=timeout)
    return bounded(call, takes)


def effective_default(dialect: WaiterDialect, job_id: str = "job-1", resource: str = "parse_jobs") -> WaitCall:
    """The call that a subject of this dialect sees if it is given nothing else."""
    known = {item.name for item in dataclasses.fields(WaitCall)}
    defaults: dict[str, Any] = {name: value for name, value in dialect.defaults.items() if name in known}
    return dataclasses.replace(WaitCall(**defaults), job_id=job_id, resource=resource)


_BAD: Final[dict[str, tuple[object, ...]]] = {
    "timeout": (-1.0, math.nan, -math.inf, -1e-9, True),
    "poll_interval": (0.0, 0.009, -1.0, math.nan, math.inf, True),
    "first_delay": (0.0, 0.009, -1.0, math.nan, math.inf, True),
    "factor": (0.0, 0.99, -1.0, math.nan, math.inf, True),
    "cap": (0.0, 0.009, 0.5, -1.0, math.nan, math.inf, True),
    "fetch_timeout": (0.0, -1.0, math.nan, math.inf, False, True),
    "not_found_grace": (-1.0, math.nan, math.inf, True),
}
"""Values that SPEC 2 refuses; a cap of 0.5 is below the default first delay."""

_EXTREME: Final[dict[str, tuple[object, ...]]] = {
    "timeout": (math.inf, 1e300, 5e-324, 0.0, 1e-3),
    "poll_interval": (0.01, 1e300),
    "first_delay": (0.01, 1e300),
    "factor": (1e308, 1.0, 1.0000000000000002),
    "cap": (1e308, 1.0),
    "fetch_timeout": (5e-324, 1e308, 0.001),
    "not_found_grace": (1e308, 5e-324),
}
"""Values that SPEC 2 accepts and hardly anybody tries."""


def bad_calls(dialect: WaiterDialect) -> st.SearchStrategy[WaitCall]:
    """Calls with one invalid parameter, of those that the dialect takes. Raises ``ValueError`` if it takes none of them."""
    base = effective_default(dialect)
    found = [
        dataclasses.replace(base, **{name: value})  # type: ignore[arg-type]
        for name, values in _BAD.items()
        if name in dialect.parameters
        for value in values
    ]
    if not found:
        raise ValueError(
            "this dialect takes no parameter that could be invalid; ask for bad_calls only if it takes one"
        )
    return st.sampled_from(found)


@st.composite
def extreme_calls(draw: st.DrawFn, dialect: WaiterDialect) -> WaitCall:
    """Valid calls with one to three extreme parameters, of those that the dialect takes. The timeout may be infinite."""
    able = [name for name in _EXTREME if name in dialect.parameters]
    base = effective_default(dialect)
    if not able:
        return base
    names = draw(st.lists(st.sampled_from(able), min_size=1, max_size=3, unique=True))
    call = dataclasses.replace(base, **{name: draw(st.sampled_from(_EXTREME[name])) for name in names})  # type: ignore[arg-type]
    if call.poll_interval is None and call.cap < call.first_delay:
        if "cap" in dialect.parameters:
            call = dataclasses.replace(call, cap=call.first_delay)
        else:
            call = dataclasses.replace(call, first_delay=base.first_delay)
    return bounded(call, dialect.parameters)


# -- answers -----------------------------------------------------------------------------------------------------------


def _kinds(place: str, only: Collection[str] | None) -> list[Kind]:
    return [kind for kind in all_kinds().values() if kind.place == place and (only is None or kind.name in only)]


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


def answers(kinds: Sequence[Kind], delays: st.SearchStrategy[float], *, deep: bool) -> st.SearchStrategy[Answer]:
    """Answers of these kinds. ``deep``: one that would end the wait becomes ``processing`` instead."""
    # the plain answer stands first, so that it is what things shrink to
    ordered = sorted(kinds, key=lambda kind: (kind.name != "status", kind.name))
    one = st.one_of(
        [st.builds(Answer, kind=st.just(kind.name), data=kind.strategy(), delay=delays) for kind in ordered]
    )
    return one.map(_kept_open) if deep else one


def _kept_open(item: Answer) -> Answer:
    return item if goes_on(item) else answer("status", word="processing", delay=item.delay)


def delays(call: WaitCall) -> st.SearchStrategy[float]:
    """How late an answer is: mostly not, or near the fetch timeout, or so that a fetch from a nominal poll ends near the deadline."""
    choices: list[float] = [0.0, 0.1, 0.5]
    limit = call.fetch_timeout
    if 0.01 <= limit < 1e6:
        choices += [limit, limit - 0.001, limit + 0.001, limit / 2]
        if call.timeout < 1e6:
            left = [call.timeout - poll for poll in nominal_polls(call)[-4:]]
            choices += [
                round(gap + edge, 6)
                for gap in left
                if 0 < gap < limit
                for edge in (0.0, -0.001, 0.001)
                if gap + edge >= 0
            ]
    return st.one_of(st.just(0.0), st.just(0.0), st.sampled_from(choices))


@st.composite
def _endings(draw: st.DrawFn, call: WaitCall, kinds: Sequence[Kind], *, must_end: bool) -> Answer:
    plain: st.SearchStrategy[Answer] = st.sampled_from([answer("status", word=word) for word in ENDED])
    if must_end:
        return draw(plain)
    forever = answers(kinds, delays(call), deep=False)
    return draw(
        st.one_of(plain, st.sampled_from([answer("status", word=word) for word in ("processing", "pending")]), forever)
    )


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
    call = draw(calls if calls is not None else wait_calls(dialect, resources))
    able = _kinds("answer", kinds)
    enabled = draw(_swarm(able))
    deep = draw(st.booleans())
    longest = most_answers if deep else min(6, most_answers)
    # Hypothesis's lists are mostly short; a bug that needs eight answers in a row would hardly ever be met
    least = min(draw(st.sampled_from((0, 1, 2, 4, 8, 16))), longest)
    listed = draw(st.lists(answers(enabled, delays(call), deep=deep), min_size=least, max_size=longest))
    return WaitPlan(
        call=call,
        answers=tuple(listed),
        ending=draw(_endings(call, enabled, must_end=endless(call, dialect))),
        wakes=tuple(draw(_faults("wake", kinds, most=5))) if wakes else (),
        caller=tuple(draw(_cancellations(call, kinds))) if cancels else (),
        clock=tuple(draw(_faults("clock", kinds, most=2))) if jumps else (),
        origin=draw(st.sampled_from((0.0, 0.0, 1024.0, 1e6, 123_456.789))),
        old_keys=draw(st.booleans()),
    )


def _swarm(kinds: Sequence[Kind]) -> st.SearchStrategy[list[Kind]]:
    weighted = [kind for kind in kinds for _ in range(kind.weight)]
    if not weighted:
        raise ValueError("no kind of answer is left to draw from; name at least one, such as 'status'")
    plain = [kind for kind in kinds if kind.name == "status"] or [kinds[0]]
    return st.one_of(
        st.just(plain),
        *[st.lists(st.sampled_from(weighted), min_size=size, max_size=size).map(_each_once) for size in (1, 2, 4)],
    )


def _each_once(kinds: Sequence[Kind]) -> list[Kind]:
    return list({kind.name: kind for kind in kinds}.values())


def _faults(place: str, only: Collection[str] | None, *, most: int) -> st.SearchStrategy[list[Fault]]:
    kinds = _kinds(place, only)
    if not kinds:
        return st.just([])
    # no fault at all is as likely as some: each kind that is always on hides what happens without it
    one = st.one_of([st.builds(Fault, kind=st.just(kind.name), data=kind.strategy()) for kind in kinds])
    return st.one_of(st.just([]), st.lists(one, max_size=most))


def _cancellations(call: WaitCall, only: Collection[str] | None) -> st.SearchStrategy[list[Fault]]:
    kinds = {kind.name: kind for kind in _kinds("caller", only)}
    if not kinds:
        return st.just([])
    options: list[st.SearchStrategy[list[Fault]]] = [st.just([]), st.just([]), _faults("caller", only, most=1)]
    if "cancel" in kinds:
        polls = [poll for poll in nominal_polls(call) if poll < 1e6]
        make: Callable[[float, float], list[Fault]] = lambda poll, edge: [  # noqa: E731 - a name for its type
            Fault(kind="cancel", data=kinds["cancel"].data(at=max(0.0, round(poll + edge, 6))))
        ]
        options.append(st.builds(make, st.sampled_from(polls), st.sampled_from(EDGES)))
    return st.one_of(options)


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
    enabled = draw(_swarm(_kinds("answer", kinds)))
    late = st.sampled_from((0.0, 0.0, 0.5, 5.0, 9.999, 10.0, 10.001, 60.0))
    attempt = st.builds(
        Attempt, answer=answers(enabled, late, deep=False), effect=st.sampled_from(("auto", "auto", "yes", "no"))
    )
    return ClientPlan(
        op=draw(st.sampled_from(tuple(ops))),
        resource=draw(st.sampled_from(tuple(resources))),
        operation=draw(st.sampled_from(("operation-1", "operation-17"))),
        attempts=tuple(draw(st.lists(attempt, max_size=4))),
        wakes=tuple(draw(_faults("wake", kinds, most=3))) if wakes else (),
        caller=tuple(draw(st.one_of(st.just([]), _faults("caller", kinds, most=1)))) if cancels else (),
    )
