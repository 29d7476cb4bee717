"""The client's other paths: a submit is not doubled, a 504 on the direct path is told and not retried (SPEC 3, SPEC 5)."""

from __future__ import annotations

import re
from collections import defaultdict

from ....harness import events
from ....harness.history import Event, History
from ....harness.invariant import Invariant, Level
from ....harness.protocols import RESOURCES
from ....harness.verdicts import Finding, held, undecided, violated
from ...event_data import mapping
from ...trace import split


def calls_of(history: History, path: str) -> dict[str, list[Event]]:
    """The events of each call of this path (``create`` or ``direct``), by run and name.

    The call's start says which path it takes; without one its name does (``c0`` submits, ``d0`` is direct).
    """
    found: dict[str, list[Event]] = defaultdict(list)
    paths: dict[str, str] = {}
    for event in history:
        run, name = split(event.op)
        if name[:1] in ("c", "d") and name[1:].isdigit():
            key = f"{run}/{name}"
            if event.kind == events.WAIT_START:
                paths[key] = str(mapping(event.data.get("call")).get("op", ""))
            found[key].append(event)
    usual = {"c": "create", "d": "direct"}
    return {key: happened for key, happened in found.items() if (paths.get(key) or usual[split(key)[1][0]]) == path}


def _create_not_doubled(history: History) -> Finding:
    created: dict[tuple[str, str], dict[str, Event]] = defaultdict(dict)
    for event in history.of_kind(events.SERVER_EFFECT):
        if str(event.data.get("what", "")).split(" ")[0] in ("create", "created"):
            jobs = created[split(event.op)[0], str(event.data.get("operation"))]
            jobs[str(event.data.get("job"))] = event
            if len(jobs) > 1:
                return violated(
                    f"one submit ({event.data.get('operation')}) created {len(jobs)} jobs", events=tuple(one.seq for one in jobs.values()),
                    expected="one job", observed=", ".join(jobs),
                )  # fmt: skip
    seen: list[int] = []
    for happened in calls_of(history, "create").values():
        starts = [event for event in happened if event.kind == events.FETCH_START]
        lost = [event for event in happened if event.kind == events.FETCH_END and not _answered(event)]
        if len(starts) > 1 or lost:
            seen.extend(event.seq for event in (*lost, *starts[1:]))
    return held(seen)


def _answered(end: Event) -> bool:
    status = end.data.get("status")
    return end.data.get("ending") == "answer" and isinstance(status, int) and 200 <= status < 300


def _create_key_stable(history: History) -> Finding:
    owners: dict[str, tuple[str, Event]] = {}
    seen: list[int] = []
    for op, happened in calls_of(history, "create").items():
        posts = [
            event
            for event in happened
            if event.kind == events.FETCH_START and str(event.data.get("method", "POST")).upper() == "POST"
        ]
        keys = [mapping(event.data.get("headers")).get("idempotency-key") for event in posts]
        for event, key in zip(posts, keys, strict=True):
            if not key:
                return violated(
                    "a submit was sent without an idempotency key",
                    events=(event.seq,),
                    expected="an Idempotency-Key header",
                    observed=repr(key),
                )
            if key != keys[0]:
                return violated(
                    "a retried submit changed its idempotency key", events=(posts[0].seq, event.seq), expected=repr(keys[0]), observed=repr(key),
                )  # fmt: skip
            owner = owners.setdefault(f"{split(op)[0]}:{key}", (op, event))
            if owner[0] != op:
                return violated(
                    "two submits have one idempotency key",
                    events=(owner[1].seq, event.seq),
                    expected="a key each",
                    observed=repr(key),
                )
        if len(posts) > 1:
            seen.extend(event.seq for event in posts)
    if len({op for op, _ in owners.values()}) > 1:
        seen.extend(event.seq for _, event in owners.values())
    return held(sorted(set(seen)))


def _resource(happened: list[Event]) -> str | None:
    """The job resource to use instead: from the call, else from the path of the request."""
    for event in happened:
        named = mapping(event.data.get("call")).get("resource")
        if named in RESOURCES:
            return str(named)
    path = next(
        (str(event.data.get("target", "")).partition("?")[0] for event in happened if event.kind == events.FETCH_START),
        "",
    )
    words = re.split(r"[^a-z]+", path.lower())
    if "build" in words:
        return "build_schema_jobs"
    return next((f"{word}_jobs" for word in ("parse", "extract") if word in words), None)


def _direct_504(history: History) -> Finding:
    seen: list[int] = []
    for happened in calls_of(history, "direct").values():
        late = next(
            (event for event in happened if event.kind == events.FETCH_END and event.data.get("status") == 504), None
        )
        if late is None:
            continue
        again = next((event for event in happened if event.kind == events.FETCH_START and event.seq > late.seq), None)
        if again is not None:
            return violated(
                "a direct call that answered 504 was sent again",
                events=(late.seq, again.seq),
                expected="no retry",
                observed="a second request",
            )
        end = next(
            (
                event
                for event in happened
                if event.kind in (events.WAIT_RAISE, events.WAIT_RETURN) and event.seq > late.seq
            ),
            None,
        )
        if end is None:
            return undecided("the run ended before the direct call did", events=(late.seq,))
        # an adapter may file this error under timeout or under transport: it is a timeout of the *call*, and an HTTP answer
        if end.kind == events.WAIT_RETURN or end.data.get("category") not in ("timeout", "transport", "status"):
            return violated(
                "a 504 on the direct path was not raised as an error of the client's own", events=(late.seq, end.seq), expected="a timeout error",
                observed="a return" if end.kind == events.WAIT_RETURN else f"{end.data.get('type')} ({end.data.get('category')})",
            )  # fmt: skip
        wanted, message = _resource(happened), str(end.data.get("message", ""))
        folded = re.sub(r"[\s-]+", "_", message.lower())
        if not any(name in folded for name in ((wanted,) if wanted else RESOURCES)):
            return violated(
                "the timeout of a direct call does not name the job resource to use instead", events=(late.seq, end.seq),
                expected=wanted or " or ".join(RESOURCES), observed=message,
            )  # fmt: skip
        seen.append(end.seq)
    return held(seen)


INVARIANTS = (
    Invariant(
        id="waiter.create_not_doubled", level=Level.MUST, claim="create_idempotent", check=_create_not_doubled, source="SPEC 5; W74, D60",
        expectation="A submit creates one job at most, however often its answer is lost.",
    ),
    Invariant(
        id="waiter.create_key_stable", level=Level.MUST, claim="create_idempotent", check=_create_key_stable, source="SPEC 5; W74",
        expectation="All requests of one submit carry one idempotency key, and no two submits share one.",
    ),
    Invariant(
        id="waiter.direct_504", level=Level.MUST, claim="direct_504", check=_direct_504, source="SPEC 3 both paths",
        expectation="HTTP 504 on the direct path is never retried, and raised as a timeout that names the job resource to use instead.",
    ),
)  # fmt: skip
