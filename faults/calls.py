"""Strategies for calls: valid ones with times near what matters, invalid ones, and valid ones that hardly anybody tries."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Collection, Sequence
from functools import cache
from typing import Any, Final, TypeVar

from hypothesis import strategies as st

from ..harness.dialect import WaiterDialect
from ..harness.protocols import RESOURCES, WaitCall

T = TypeVar("T")

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


@cache
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
        # A limit of few digits, and never above: sums of floats would put the deadline a rounding error beside a poll.
        return dataclasses.replace(call, timeout=math.floor(longest * 1000) / 1000)
    return call


def endless(call: WaitCall, dialect: WaiterDialect) -> bool:
    """Whether this call goes on for (nearly) ever, if the job does."""
    if dialect.limit == "attempts":
        return call.attempts is None or call.attempts > MOST_FETCHES
    return (
        dialect.limit == "none" or call.timeout > nominal_polls(dataclasses.replace(call, timeout=math.inf))[-1] * 1.01
    )


# -- drawing -----------------------------------------------------------------------------------------------------------


@cache
def _index(last: int) -> st.SearchStrategy[int]:
    return st.integers(0, last)


def pick(draw: st.DrawFn, options: Sequence[T]) -> T:
    """Draw one of ``options``, the first being the simplest.

    As ``draw(st.sampled_from(options))``, but no strategy is made and checked anew in each example, which is most of the cost of a plan.
    """
    return options[draw(_index(len(options) - 1))]


def beside(draw: st.DrawFn, instants: Sequence[float]) -> float:
    """Draw a time (seconds, never negative) at one of ``instants``, or a little before or after it."""
    return max(0.0, round(pick(draw, instants) + pick(draw, EDGES), 6))


# -- calls -------------------------------------------------------------------------------------------------------------


@st.composite
def wait_calls(draw: st.DrawFn, dialect: WaiterDialect, resources: Sequence[str] = RESOURCES) -> WaitCall:
    """Calls with valid parameters, of those that the dialect takes; the others stand at what the dialect makes of them."""
    takes = dialect.parameters
    call = effective_default(dialect, draw(job_ids()), pick(draw, resources))
    chosen: dict[str, Any] = {}
    if "first_delay" in takes:
        chosen["first_delay"] = pick(draw, (1.0, 0.5, 2.0, 0.1, 0.01, 10.0))
    if "factor" in takes:
        chosen["factor"] = pick(draw, (1.5, 1.0, 2.0, 1.1, 10.0))
    if "cap" in takes:
        # a cap below the first delay is refused, so it is drawn as a multiple
        chosen["cap"] = pick(draw, (10.0, 1.0, 1.5, 3.0)) * chosen.get("first_delay", call.first_delay)
    if "poll_interval" in takes:
        fixed = (1.0, 2.0, 5.0, 0.1, 0.01, 30.0)
        # as often none as some, where there need not be one
        none = (None,) * len(fixed) if dialect.defaults.get("poll_interval") is None else ()
        chosen["poll_interval"] = pick(draw, (*none, *fixed))
    if "fetch_timeout" in takes:
        chosen["fetch_timeout"] = pick(draw, (10.0, 1.0, 0.5, 3.0, 30.0))
    if "not_found_grace" in takes:
        chosen["not_found_grace"] = pick(draw, (0.0, 0.5, 3.0, 1000.0))
    if "raise_on_failure" in takes:
        chosen["raise_on_failure"] = pick(draw, (False, True))
    if "jitter_seed" in takes:
        chosen["jitter_seed"] = pick(draw, (None, None, None, 0, 1, 2))
    if "attempts" in takes:
        chosen["attempts"] = 1 + draw(_index(19))
    call = dataclasses.replace(call, **chosen)
    if "timeout" in takes:
        polls = nominal_polls(dataclasses.replace(call, timeout=math.inf))
        # one time in three plain, else beside a nominal poll
        timeout = pick(draw, (600.0, None, None, None, 0.0, 1.0, 5.0, 30.0, 60.0, None, None, None))
        if timeout is None:
            timeout = beside(draw, polls)
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
    call = dataclasses.replace(base, **{name: pick(draw, _EXTREME[name]) for name in names})  # type: ignore[arg-type]
    if call.poll_interval is None and call.cap < call.first_delay:
        if "cap" in dialect.parameters:
            call = dataclasses.replace(call, cap=call.first_delay)
        else:
            call = dataclasses.replace(call, first_delay=base.first_delay)
    return bounded(call, dialect.parameters)
