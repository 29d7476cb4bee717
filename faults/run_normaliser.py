"""Run plans against a normaliser, and get the history of what happened.

Each envelope is decoded from its text, normalised and read; then the bench does what careless callers do: it normalises the job's own raw,
changes the envelope, the result and the raw behind each other's back, and reads again. Nothing that a subject does ends the harness: what
it raises is recorded, and a call that never ends is interrupted. Only a real Ctrl-C comes through.
"""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from types import FrameType
from typing import Any, Final

from ..harness import events as bench
from ..harness import normaliser_events as events
from ..harness.entropy import fixed_entropy
from ..harness.history import History
from ..harness.json_text import read_json, write_json
from ..harness.jsonable import Json, safe_repr
from ..harness.normaliser_subject import JobReading, ListReading, NormaliserSubject
from .envelope_plan import EnvelopePlan, EnvelopeRelationPlan, JobListPlan
from .plan import plan_to_json

PATIENCE: Final = 10.0
"""Real seconds that one call may take. Sane calls take less than a thousandth of it, so that it decides nothing but hangs."""
MARK: Final = "waitproof-changed-this"
_EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001 - differences of naive times


class Hang(BaseException):
    """A call was interrupted since it took too long. A BaseException, so that no ``except Exception`` of a subject swallows it."""


def header_of(subject: NormaliserSubject, plan: object, suite: str = "") -> dict[str, object]:
    """The header of a history: who was run, by which plan, in which dialect."""
    data: dict[str, object] = {
        "subject": subject.name,
        "dialect": subject.dialect.as_json(),
        "claims": sorted(subject.claims),
        "plan": plan_to_json(plan),
    }
    return {"suite": suite, **data} if suite else data


def run_envelope(plan: EnvelopePlan, subject: NormaliserSubject, *, suite: str = "") -> History:
    """Run one envelope, as ``n0``, and return the history."""
    history = History(header_of(subject, plan, suite))
    _Bench(history, subject).envelope("n0", plan)
    return history


def run_envelope_relation(plan: EnvelopeRelationPlan, subject: NormaliserSubject, *, suite: str = "") -> History:
    """Run an envelope and its changed twin, as ``base/n0`` and ``changed/n0``, into one history."""
    history = History(header_of(subject, plan, suite))
    note = {"what": "relation", "relation": plan.relation, "amount": plan.amount}
    history.append(at=0.0, kind=bench.BENCH_NOTE, lane=bench.BENCH, data=note)
    runner = _Bench(history, subject)
    runner.envelope("base/n0", plan.plan, careless=False)
    runner.envelope("changed/n0", plan.changed(), careless=False)
    return history


def run_job_list(plan: JobListPlan, subject: NormaliserSubject, *, suite: str = "") -> History:
    """Run one list, as ``l0``, with its items alone as ``l0.i0``, ``l0.i1``, … Raises ``ValueError`` if the subject makes no lists."""
    history = History(header_of(subject, plan, suite))
    _Bench(history, subject).page("l0", plan)
    return history


class _Bench:
    def __init__(self, history: History, subject: NormaliserSubject) -> None:
        self.history, self.subject = history, subject

    def record(self, kind: str, op: str, lane: str = bench.CALLER, /, **data: object) -> None:
        self.history.append(at=0.0, kind=kind, lane=lane, op=op, data=data)

    def guarded(self, call: Callable[[], Any]) -> tuple[Any, BaseException | None]:
        """Call the subject; the answer is what it returned, and what it raised. A real Ctrl-C comes through."""
        try:
            with fixed_entropy(0), time_limit(PATIENCE):
                return call(), None
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # noqa: BLE001 - whatever a subject raises is a finding about it
            if isinstance(error, Hang):
                self.record(
                    bench.BENCH_STOP, "", bench.BENCH, reason="hang", detail=f"a call took more than {PATIENCE:g} s"
                )
            return None, error

    def envelope(self, op: str, plan: EnvelopePlan, *, careless: bool = True) -> None:
        text = plan.body.text()
        value = read_json(text)
        with process_zone(plan.zone):
            job = self.normalise(op, value, text, resource=plan.resource, zone=plan.zone)
            self.record(events.INPUT, op, after="call", text=write_json(value))
            if careless and job is not None:
                self.careless(op, job[0], value, plan.resource)

    def normalise(self, op: str, value: Any, text: str, *, resource: str, zone: str = "UTC0") -> tuple[Any] | None:
        """Normalise and read; the job in a tuple, or ``None`` if it raised."""
        self.record(events.CALL, op, text=text, resource=resource, zone=zone, object=isinstance(value, dict))
        job, error = self.guarded(lambda: self.subject.normalise(value, resource))
        if error is not None:
            self.raised(events.RAISE, op, error)
            return None
        self.record(events.RETURN, op, reading=self.read(job))
        return (job,)

    def raised(self, kind: str, op: str, error: BaseException) -> None:
        if isinstance(error, Hang):
            return
        self.record(
            kind, op, type=type(error).__name__, message=_message(error),
            named=isinstance(error, self.subject.errors), exception=isinstance(error, Exception),
        )  # fmt: skip

    def careless(self, op: str, job: Any, value: Any, resource: str) -> None:
        """Normalise the job's own raw; then change envelope, raw and result in turn, and look what else has changed."""
        view, error = self.guarded(lambda: self.subject.view(job))
        if error is not None or not isinstance(view, JobReading) or "raw" not in self.subject.dialect.fields:
            return
        again, error = self.guarded(lambda: self.subject.normalise(view.raw, resource))
        if error is None:
            self.record(events.AGAIN, op, reading=self.read(again))
        else:
            self.record(events.AGAIN, op, type=type(error).__name__, message=_message(error))
        if not isinstance(value, dict | list):
            return
        before = write_json(view.result)
        change_all(view.result, "result")
        if before != write_json(view.result):
            self.record(events.REREAD, op, after="result changed", reading=self.read(job))
        # A second job, so that what was changed above is not counted again.
        fresh, error = self.guarded(lambda: self.subject.normalise(value, resource))
        if error is not None:
            return
        change_all(value, "input")
        self.record(events.REREAD, op, after="input changed", reading=self.read(fresh))
        self.record(events.INPUT, op, after="input changed", text=write_json(value))
        view, error = self.guarded(lambda: self.subject.view(fresh))
        if error is None and isinstance(view, JobReading):
            change_all(view.raw, "raw")
            self.record(events.INPUT, op, after="raw changed", text=write_json(value))

    def read(self, job: Any) -> dict[str, Json]:
        """A job as data; a reading that raises says so in every part."""

        def reading() -> dict[str, Json]:
            view = self.subject.view(job)
            if not isinstance(view, JobReading):
                raise TypeError(f"the adapter's view gave {type(view).__name__}, not a JobReading")
            return {
                name: part(getattr(view, name)) for name, part in _PARTS.items() if name in self.subject.dialect.fields
            }

        found, error = self.guarded(reading)
        if error is None:
            return dict(found)
        told = f"<raises {type(error).__name__}: {_message(error)}>"
        return {name: told for name in _PARTS if name in self.subject.dialect.fields}

    # -- lists ---------------------------------------------------------------------------------------------------------

    def page(self, op: str, plan: JobListPlan) -> None:
        normalise_list = self.subject.normalise_list
        if normalise_list is None:
            raise ValueError(f"subject {self.subject.name!r} makes no lists; its adapter would set normalise_list=")
        text = plan.text()
        value = read_json(text)
        with process_zone("UTC0"):
            self.record(events.LIST_CALL, op, text=text, resource=plan.resource, object=isinstance(value, dict))
            jobs, error = self.guarded(lambda: normalise_list(value, plan.resource))
            if error is not None:
                self.raised(events.LIST_RAISE, op, error)
                return
            items, error = self.guarded(lambda: list(jobs))
            readings: list[Json] = [self.read(job) for job in items] if error is None else []
            self.record(events.LIST_RETURN, op, items=readings, list=isinstance(jobs, list), **self.envelope_of(jobs))
            if isinstance(jobs, list):
                self.slice(op, jobs, plan.start, plan.stop)
            found = read_json(text)
            members = found.get("jobs") if isinstance(found, dict) else None
            for index, item in enumerate(members if isinstance(members, list) else []):
                if isinstance(item, dict):
                    self.normalise(f"{op}.i{index}", item, write_json(item, sort=False), resource=plan.resource)

    def slice(self, op: str, jobs: Any, start: int, stop: int) -> None:
        part, error = self.guarded(lambda: jobs[start:stop])
        if error is not None:
            self.record(
                events.LIST_SLICE,
                op,
                start=start,
                stop=stop,
                count=0,
                same_type=False,
                type=f"raised {type(error).__name__}",
            )
            return
        same = isinstance(part, type(jobs))
        fields = self.envelope_of(part) if same else {}
        self.record(
            events.LIST_SLICE,
            op,
            start=start,
            stop=stop,
            count=len(part),
            same_type=same,
            type=type(part).__name__,
            **fields,
        )

    def envelope_of(self, jobs: Any) -> dict[str, Json]:
        """The envelope of a list as data."""
        names = ("has_more", "org_id", "page", "page_size")
        view, error = self.guarded(lambda: self.subject.list_view(jobs))
        if error is not None or not isinstance(view, ListReading):
            return dict.fromkeys(names, f"<raises {type(error).__name__}>")
        return {name: write_json(getattr(view, name)) for name in names}


def _time(value: object) -> Json:
    """A time as data: what it is, its microseconds since 1970, and how it says them."""
    if value is None:
        return {"is": "none"}
    if not isinstance(value, datetime):
        return {"is": "odd", "text": safe_repr(value)}
    offset = value.utcoffset()
    moment = value.replace(tzinfo=None) - _EPOCH - (offset or timedelta(0))
    return {
        "is": "time",
        "us": moment // timedelta(microseconds=1),
        "aware": offset is not None,
        "utc": offset == timedelta(0),
        "text": value.isoformat(),
    }


_TIMES = ("created_at", "started_at", "completed_at")
_PARTS: Final[dict[str, Callable[[object], Json]]] = {
    name: _time if name in _TIMES else write_json for name in JobReading.__dataclass_fields__
}


def _message(error: BaseException) -> str:
    try:
        return safe_repr(str(error), 300)
    except Exception as worse:  # noqa: BLE001 - a subject's error may raise when it is shown
        return f"<{type(worse).__name__} while it was shown>"


def change_all(value: object, how: str) -> None:
    """Change everything in a value that can be changed in place: a key more in each dict, an item more in each list."""
    seen: set[int] = set()
    work = [value]
    while work:
        item = work.pop()
        if id(item) in seen or not isinstance(item, dict | list):
            continue
        seen.add(id(item))
        work += item.values() if isinstance(item, dict) else item
        if isinstance(item, dict):
            item[f"{MARK}-{how}"] = how
        else:
            item.append(f"{MARK}-{how}")


@contextmanager
def process_zone(zone: str) -> Iterator[None]:
    """While this is open the process is in the time zone ``zone`` (as in TZ). Afterwards all is as before."""
    before = os.environ.get("TZ")
    os.environ["TZ"] = zone
    time.tzset()
    try:
        yield
    finally:
        if before is None:
            del os.environ["TZ"]
        else:
            os.environ["TZ"] = before
        time.tzset()


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Raise :class:`Hang` in what runs here for longer than so many real seconds, and again each second, since it may be swallowed.

    Only in the main thread, where signals are heard; elsewhere a hang is for whoever watches the process.
    """
    if threading.current_thread() is not threading.main_thread() or signal.getitimer(signal.ITIMER_REAL)[0]:
        yield
        return

    def stop(_: int, __: FrameType | None) -> None:
        raise Hang

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds, 1.0)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)
