"""Submits and direct calls end in what the server said, are tried again when that can help, and are paced (SPEC 3; SPEC 2's error table)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from ....harness import events
from ....harness.history import Event, History
from ....harness.invariant import Invariant, Level
from ....harness.verdicts import Finding, held, violated
from ... import errors
from ...event_data import mapping
from ...pacing import Hint, hint_of
from ...trace import NOISE, header_of
from ._judging import seconds
from .paths import calls_of

LONG = 30.0
"""A hint of more (seconds) may be answered by giving up: nobody must hold a submit for that long."""

LEAST_APART = 0.005
OWN = frozenset({"transport", "timeout", "status", "failure", "cancelled"})
"""The categories of a client's own errors; a TypeError out of its inside is none of them."""


def _kind(end: Event) -> str:
    """The class of a request's end, by the models' table; ``unclear`` where the subject itself ended it."""
    if end.data.get("ending") == "error":
        return errors.of_error(str(end.data.get("error", "")))
    status = end.data.get("status")
    if end.data.get("ending") != "answer" or not isinstance(status, int):
        return errors.UNCLEAR
    return errors.of_status(status, redirects="location" in mapping(end.data.get("headers")))


def _hint(end: Event) -> Hint | None:
    return hint_of({str(name): str(value) for name, value in mapping(end.data.get("headers")).items()})


def _job_of(end: Event) -> str | None:
    """The id of the job that a whole 2xx answer speaks of, if it is one that any reader would take."""
    if end.data.get("ending") != "answer" or _kind(end) != errors.OK:
        return None
    try:
        body: Any = json.loads(str(end.data.get("body", "")))
    except (ValueError, RecursionError):
        return None
    job_id = body.get("job_id") if isinstance(body, dict) else None
    return job_id if isinstance(job_id, str) and job_id else None


def _cancelled(happened: list[Event]) -> bool:
    return any(event.kind == events.WAIT_CANCEL for event in happened)


def _told(history: History) -> Finding:
    seen: list[int] = []
    for path in ("create", "direct"):
        for happened in calls_of(history, path).values():
            end = next((event for event in happened if event.kind in (events.WAIT_RETURN, events.WAIT_RAISE)), None)
            if end is None or _cancelled(happened):
                continue
            answers = [event for event in happened if event.kind == events.FETCH_END]
            job = next((found for event in reversed(answers) if (found := _job_of(event)) is not None), None)
            finding = _misled(path, end, answers, job)
            if finding is not None:
                return finding
            seen.append(end.seq)
    return held(seen)


def _misled(path: str, end: Event, answers: list[Event], job: str | None) -> Finding | None:
    shown = (*(event.seq for event in answers[-1:]), end.seq)
    if end.kind == events.WAIT_RAISE:
        how = f"{end.data.get('type')} ({end.data.get('category')})"
        if end.data.get("category") not in OWN:
            return violated(
                f"a {path} ended with an error that is not the client's own: {how}", events=shown,
                expected="a result, or an error of the client's own", observed=how,
            )  # fmt: skip
        if path == "create" and answers and job is not None and _job_of(answers[-1]) == job:
            return violated(
                "a job was created, and its submitter was told an error", events=shown, expected=job, observed=how
            )
        return None
    if not any(_kind(event) in (errors.OK, errors.UNCLEAR) for event in answers):
        return violated(
            f"a {path} returned though no request was accepted", events=shown, expected="an error", observed="a return"
        )
    told = mapping(end.data.get("view")).get("job_id")
    if path == "create" and job is not None and told is not None and str(told) != job:
        return violated(
            "a submit returned another job than the server made", events=shown, expected=job, observed=str(told)
        )
    return None


def _requests(happened: list[Event]) -> list[tuple[Event, Event | None, Event | None]]:
    """Each request of a call with its end, and the start of the next one."""
    starts = [event for event in happened if event.kind == events.FETCH_START]
    ends = {event.op: event for event in happened if event.kind == events.FETCH_END}
    return [
        (start, ends.get(start.op), starts[number + 1] if number + 1 < len(starts) else None)
        for number, start in enumerate(starts)
    ]


def _retried(history: History) -> Finding:
    seen: list[int] = []
    for happened in calls_of(history, "create").values():
        requests = _requests(happened)
        gave_up = next((event for event in happened if event.kind in (events.WAIT_RETURN, events.WAIT_RAISE)), None)
        if not requests or _cancelled(happened):
            continue
        _, end, again = requests[0]
        if end is None or _kind(end) != errors.TRANSIENT:
            continue
        hint = _hint(end)
        if again is not None:
            seen.append(again.seq)
        elif gave_up is not None and (hint is None or hint.high <= LONG):
            return violated(
                "a submit was given up after one transient failure", events=(end.seq, gave_up.seq),
                expected="a second attempt", observed=str(gave_up.data.get("type", "a return")),
            )  # fmt: skip
    return held(seen)


def _surfaced(history: History) -> Finding:
    seen: list[int] = []
    for happened in calls_of(history, "create").values():
        for _, end, again in _requests(happened):
            if (
                end is None
                or end.data.get("ending") != "answer"
                or _kind(end) not in (errors.PERMANENT, errors.NOT_FOUND)
            ):
                continue
            if again is not None:
                return violated(
                    f"a submit was sent again after HTTP {end.data.get('status')}", events=(end.seq, again.seq),
                    expected="the error, at once", observed="another request",
                )  # fmt: skip
            seen.append(end.seq)
    return held(seen)


def _paced(history: History) -> Finding:
    dialect, _ = header_of(history)
    seen: list[int] = []
    for happened in calls_of(history, "create").values():
        for _, end, again in _requests(happened):
            if end is None or again is None or _woke_early(happened, end, again):
                continue
            least, why = LEAST_APART, "no storm"
            hint = _hint(end)
            if hint is not None and not hint.ignorable and end.data.get("status") in (429, 503):
                arrived = end.data.get("arrived")
                since = end.at - float(arrived) if isinstance(arrived, int | float) else 0.0
                least, why = max(least, hint.low - since), "the server's hint"
            if again.at - end.at < least - dialect.resolution - NOISE:
                return violated(
                    f"a submit was sent again before {why} allows", events=(end.seq, again.seq),
                    expected=f"a pause of at least {seconds(least)}", observed=seconds(again.at - end.at),
                )  # fmt: skip
            seen.append(again.seq)
    return held(seen)


def _woke_early(happened: list[Event], end: Event, again: Event) -> bool:
    """The bench woke a sleep between the two before its time; what the subject then owes is another invariant's question."""
    between = [event for event in happened if end.seq < event.seq < again.seq and event.kind == events.SLEEP_END]
    late: list[Mapping[str, Any]] = [event.data for event in between]
    return any(isinstance(data.get("late"), int | float) and data["late"] < 0 for data in late)


INVARIANTS = (
    Invariant(
        id="waiter.submit_told", level=Level.MUST, claim="submit_told", check=_told, source="SPEC 3 the client; SPEC 5 identity of the answer; W11",
        expectation="A submit or direct call ends with what the server made of it, or with an error of the client's own.",
    ),
    Invariant(
        id="waiter.submit_retried", level=Level.MUST, claim="submit_retries", check=_retried, source="SPEC 2 error table; W15",
        expectation="A submit whose first attempt failed transiently is tried again.",
    ),
    Invariant(
        id="waiter.submit_permanent_surfaced", level=Level.MUST, claim="submit_surfaces", check=_surfaced, source="SPEC 2 error table; W45",
        expectation="A submit that was refused for good is not sent again.",
    ),
    Invariant(
        id="waiter.submit_paced", level=Level.MUST, claim="submit_paces", check=_paced, source="SPEC 2 pacing, no storm; D60, D61",
        expectation="A submit is not sent again before Retry-After on 429 and 503 allows it, and never within 5 ms.",
    ),
)  # fmt: skip
