"""Exhaustive exploration of the reference waiter: every kind of answer at every fetch, a cancel at every point.

The model is walked breadth-first. Two paths that lead to the same state are one, so the walk ends; each step out of a state that ends
the wait becomes a history in the bench's vocabulary, and every waiter invariant is judged on it. The model and the checkers were
written apart, so an accord of the two is worth something: where they differ, one of them misreads SPEC 2.
"""

from __future__ import annotations

import dataclasses
import json
import math
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from ..harness import events
from ..harness.dialect import WaiterDialect
from ..harness.history import Event, History
from ..harness.invariant import Invariant
from ..harness.jsonable import Json
from ..harness.protocols import WaitCall
from ..harness.verdicts import Finding
from .answers import read
from .claims import WAITER_CLAIMS
from .invariants import catalogue
from .waiter import Action, State, WaiterModel


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """One kind of answer to a fetch: a short name, the data of the ``fetch.end`` event, and how long it takes (seconds)."""

    name: str
    data: Mapping[str, Json]
    lasts: float = 0.0


def _job(
    status: str | None, *, job_id: str = "job-1", headers: Mapping[str, Json] | None = None, **more: Json
) -> dict[str, Json]:
    body = {"job_id": job_id, **({} if status is None else {"status": status}), **more}
    return {"ending": "answer", "status": 200, "headers": dict(headers or {}), "body": json.dumps(body)}


def _http(status: int, **headers: str) -> dict[str, Json]:
    return {
        "ending": "answer",
        "status": status,
        "headers": {key.replace("_", "-"): value for key, value in headers.items()},
        "body": "",
    }


ANSWERS: Final = (
    Answer(name="processing", data=_job("processing")),
    Answer(name="unknown", data=_job("hibernating")),
    Answer(name="completed", data=_job("Succeeded", result={"markdown": "# job-1"})),
    Answer(name="failed", data=_job("failed", failure_reason="unreadable")),
    Answer(name="failed, no error", data=_job("errored")),
    Answer(name="cancelled", data=_job("cancelled")),
    Answer(name="503", data=_http(503)),
    Answer(name="429, 2.5 s", data=_http(429, retry_after="2.5")),
    Answer(name="429, 60 s", data=_http(429, retry_after="60")),
    Answer(name="429, garbage", data=_http(429, retry_after="soon")),
    Answer(name="processing, 0.25 s", data=_job("processing", headers={"retry-after-ms": "250"})),
    Answer(name="404", data=_http(404)),
    Answer(name="403", data=_http(403)),
    Answer(name="no JSON", data={"ending": "answer", "status": 200, "headers": {}, "body": "<html>"}),
    Answer(name="wrong id", data=_job("completed", job_id="job-2")),
    Answer(name="connection lost", data={"ending": "error", "error": "ReadError"}),
    Answer(name="fetch timeout", data={"ending": "error", "error": "ReadTimeout"}, lasts=2.0),
)

CALLS: Final = (
    WaitCall(timeout=8.0, fetch_timeout=2.0, first_delay=1.0, factor=2.0, cap=3.0),
    WaitCall(timeout=2.2, fetch_timeout=2.0, raise_on_failure=True, not_found_grace=1.5),
    WaitCall(timeout=6.0, fetch_timeout=2.0, poll_interval=2.0),
    WaitCall(timeout=3.0, fetch_timeout=2.0, jitter_seed=1),
    WaitCall(timeout=0.0, fetch_timeout=2.0),
    WaitCall(timeout=2.0, fetch_timeout=2.0, first_delay=0.25, factor=1.0, cap=0.25),
)


class ExplorationError(AssertionError):
    """A history of the model breaks an invariant: the message says which, why, and by what path."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Exploration:
    """What was walked, to what ``depth`` (fetches).

    ``states``: distinct states of the model. ``events``, ``histories``: what was judged. ``exercised``: how often each invariant was.
    """

    states: int
    events: int
    histories: int
    depth: int
    exercised: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class _Path:
    """A chain of recorded steps: kind, time, op and data of an event, after those of ``before``."""

    before: _Path | None
    kind: str
    at: float
    op: str
    data: Mapping[str, Json]

    def steps(self) -> list[_Path]:
        found: list[_Path] = []
        path: _Path | None = self
        while path is not None:
            found.append(path)
            path = path.before
        return found[::-1]


class _Here(NamedTuple):
    """Where the walk stands: the state, how it was reached, after how many fetches, and the state when a job was last seen."""

    state: State
    path: _Path
    fetches: int
    told: State | None


CLAIMS: Final = frozenset(WAITER_CLAIMS) - {"on_poll"}
"""What the model is judged by: everything but the callback, which it has not."""

_LANES = {"wait": events.CALLER, "sleep": events.CLOCK, "fetch": events.CLIENT, "bench": events.BENCH}


def _of_waiters(invariant: Invariant) -> bool:
    return invariant.id.startswith(("waiter.", "subject.")) and invariant.applies_to(CLAIMS)


def explore(
    depth: int = 6,
    *,
    calls: Sequence[WaitCall] = CALLS,
    answers: Sequence[Answer] = ANSWERS,
    dialect: WaiterDialect | None = None,
    invariants: Sequence[Invariant] | None = None,
) -> Exploration:
    """Walk the model of this dialect for each call, up to ``depth`` fetches, and judge every history by every invariant.

    Raises :class:`ExplorationError` at the first history that breaks one.
    """
    spoken = dialect or WaiterDialect()
    judges = [one for one in (invariants if invariants is not None else catalogue().values()) if _of_waiters(one)]
    totals = {"states": 0, "events": 0, "histories": 0}
    exercised = dict.fromkeys((judge.id for judge in judges), 0)
    for call in calls:
        walk = _Walk(call, spoken, answers, depth)
        for path in walk.histories():
            history = walk.history(path)
            totals["histories"] += 1
            totals["events"] += len(history)
            for judge in judges:
                finding = judge.check(history)
                if finding.violated:
                    raise ExplorationError(_report(judge, finding, history))
                exercised[judge.id] += bool(finding.witnesses)
        totals["states"] += len(walk.seen)
    return Exploration(**totals, depth=depth, exercised=exercised)


def _report(judge: Invariant, finding: Finding, history: History) -> str:
    lines = [f"{judge.id}: {finding.cause}; expected {finding.expected}, observed {finding.observed}"]
    lines += [f"  {event.seq:3} {event.at:9.3f} {event.kind} {event.op} {dict(event.data)}" for event in history]
    return "\n".join(lines)


class _Walk:
    """The breadth-first walk for one call."""

    def __init__(self, call: WaitCall, dialect: WaiterDialect, answers: Sequence[Answer], depth: int) -> None:
        self.call, self.dialect, self.answers, self.depth = call, dialect, answers, depth
        self.model = WaiterModel.of(call, dialect, CLAIMS)
        self.seen: set[State] = set()

    def history(self, path: _Path) -> History:
        """The path as a history."""
        header = {
            "subject": "reference model",
            "mode": "sync",
            "dialect": self.dialect.as_json(),
            "claims": sorted(CLAIMS),
        }
        history = History(header)
        for step in path.steps():
            history.append(
                at=step.at, kind=step.kind, lane=_LANES[step.kind.partition(".")[0]], op=step.op, data=step.data
            )
        return history

    def histories(self) -> Iterator[_Path]:
        """Every way in which the wait can end, one for each step that ends it."""
        start = _Path(None, events.WAIT_START, 0.0, "w0", {"mode": "sync", "call": self.call.as_json()})
        queue = deque([_Here(self.model.start(), start, 0, None)])
        while queue:
            here = queue.popleft()
            state, path, fetches, told = here
            mark = _rounded(state)
            if mark in self.seen:
                continue
            self.seen.add(mark)
            if fetches >= self.depth and state.phase != "fetching":
                yield _Path(
                    path, events.BENCH_STOP, state.now, "", {"reason": "budget", "detail": f"{fetches} fetches"}
                )
                continue
            for action in self.model.allowed(state):
                if action.act == "fetch":
                    yield from self._fetch(here, action, queue)
                elif action.act == "sleep":
                    yield from self._sleep(here, action, queue)
                elif not (action.act == "timeout" and action.low > state.now + self.model.tolerance):
                    yield self._end(action, state, path, told)

    def _fetch(self, here: _Here, action: Action, queue: deque[_Here]) -> Iterator[_Path]:
        state, path, fetches, told = here
        if not action.low - self.model.tolerance <= state.now <= action.high + self.model.tolerance:
            return
        op = f"w0.f{fetches}"
        asked = _Path(
            path, events.FETCH_START, state.now, op, {"method": "GET", "target": "/v2/parse/jobs/job-1", "headers": {}}
        )
        begun = self.model.fetching(state, state.now)
        yield _cancelled(_Path(_cancel(asked, state.now), events.FETCH_END, state.now, op, {"ending": "cancelled"}))
        for answer in self.answers:
            at = state.now + answer.lasts
            data = {**answer.data, "arrived": at} if answer.data["ending"] == "answer" else dict(answer.data)
            end = Event(seq=0, at=at, kind=events.FETCH_END, lane=events.CLIENT, op=op, data=data)
            says = read(end, job_id="job-1", dialect=self.dialect, aborted=False, gave_up=False)
            after = self.model.answered(begun, at, says)
            seen = after if says.body is not None and not says.failed_fetch else told
            queue.append(_Here(after, _Path(asked, events.FETCH_END, at, op, data), fetches + 1, seen))

    def _sleep(self, here: _Here, action: Action, queue: deque[_Here]) -> Iterator[_Path]:
        state, path, fetches, told = here
        for until in sorted({round(value, 9) for value in self._targets(state, action)}):
            asked = until - state.now
            slept = _Path(path, events.SLEEP_START, state.now, "w0", {"seconds": asked, "by": "seam"})
            half = state.now + asked / 2
            cut = _Path(
                _cancel(slept, half),
                events.SLEEP_END,
                half,
                "w0",
                {"seconds": asked, "slept": asked / 2, "late": -asked / 2, "ending": "cancelled"},
            )
            yield _cancelled(cut)
            # odd wakes in the first two pauses only: they multiply the times at which all that follows can happen
            wakes = [0.0] if fetches > 2 or state.remainders else [0.0, 0.75, -asked / 2]
            for late in wakes:
                at = until + late
                woke = _Path(
                    slept,
                    events.SLEEP_END,
                    at,
                    "w0",
                    {"seconds": asked, "slept": asked + late, "late": late, "ending": "woke"},
                )
                queue.append(_Here(self.model.slept(state, at, early=late < 0), woke, fetches, told))

    def _targets(self, state: State, action: Action) -> list[float]:
        """Where a sleep may aim: as early and as late as the next thing that may follow it allows."""
        following = [
            other
            for other in self.model.allowed(state)
            if other.act in ("fetch", "timeout") and math.isfinite(other.high)
        ]
        ends = [end for other in following for end in (other.low, other.high)]
        if state.hopeless is not False and self.dialect.clips:
            ends = [min(self.model.deadline, action.high)]
        return [end for end in ends if end > state.now + self.model.tolerance]

    def _end(self, action: Action, state: State, path: _Path, told: State | None) -> _Path:
        says = state.says
        job = told.says if told is not None else None
        view: Json = None
        if job is not None and job.body is not None:
            view = {
                "job_id": "job-1",
                "status": job.status,
                "raw_status": job.word,
                "result": job.body.get("result"),
                "error": _error(job.body),
                "raw": dict(job.body),
            }
        if action.act in ("returned", "any"):
            return _Path(path, events.WAIT_RETURN, state.now, "w0", {"view": view})
        category = "other" if action.act == "error" else action.act
        data: dict[str, Json] = {
            "category": category,
            "type": action.act,
            "message": "",
            "builtin_timeout": action.act == "timeout",
            "cause": None,
        }
        if action.act == "timeout":
            data["carries"] = {
                "view": view,
                "elapsed": state.now,
                "polls": state.polls,
                "raw_status": job.word if job is not None else None,
            }
            data["cause"] = "Error" if says is not None and says.failed_fetch else None
        elif action.act == "failure":
            data["carries"] = {"view": view}
        return _Path(path, events.WAIT_RAISE, state.now, "w0", data)


def _error(body: Mapping[str, Json]) -> Json:
    return {"code": None, "message": body["failure_reason"]} if "failure_reason" in body else None


def _cancel(path: _Path, at: float) -> _Path:
    return _Path(path, events.WAIT_CANCEL, at, "w0", {})


def _cancelled(path: _Path) -> _Path:
    data: dict[str, Json] = {
        "category": "cancelled",
        "type": "CancelledError",
        "message": "",
        "builtin_timeout": False,
        "cause": None,
    }
    return _Path(path, events.WAIT_RAISE, path.at, "w0", data)


def _rounded(state: State) -> State:
    """The state, with times rounded to a microsecond and what can't matter any more left out, so that equal states are equal."""
    says = (
        dataclasses.replace(state.says, body=None, arrived=0.0, paced=False, hint=None)
        if state.says is not None
        else None
    )
    if state.phase in ("pausing", "fetching"):
        says = says if state.polls == 1 else None  # what it said has become a time by now
    due = None if state.due is None else (round(state.due[0], 6), round(state.due[1], 6))
    return dataclasses.replace(
        state, now=round(state.now, 6), fetch_began=round(state.fetch_began, 6), due=due, says=says
    )
