"""No false alarm: small queues that are right in their own way, written from a dialect alone, run without a violation.

First in, first out without priorities; without coalescing; refusing instead of dropping: three dialects of one list that is looked
through from its head at every event, on asyncio. Without retries: threads that take turns at one condition. Each declares what it does,
claims what it promises, and nothing more.
"""

import asyncio
import copy
import dataclasses
import threading
from contextlib import asynccontextmanager, contextmanager

import httpx
import pytest

from waitproof.harness.calls import OutcomeView
from waitproof.harness.campaign import search
from waitproof.harness.profiles import profile_named
from waitproof.harness.queue_dialect import QueueDialect
from waitproof.harness.queue_protocols import RELEVANCE, QueueSubject
from waitproof.properties.suites import all_suites, suites_for

DONE, GONE, BUSY, LOST, CLASH = "done", "gone", "busy", "lost", "clash"


def meaning(answer):
    """What an answer or an error says of the effect."""
    if isinstance(answer, BaseException):
        unsent = httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout
        return BUSY if isinstance(answer, unsent) else LOST
    if answer.status < 300:
        return DONE
    if answer.status in (409, 412):
        return CLASH
    if answer.status in (408, 500, 502, 504):
        return LOST
    return BUSY if answer.status in (425, 429) or answer.status in (503, 507) else GONE


def says(kind, reason="", **more):
    return OutcomeView(kind=kind, reason=reason, **more)


def relevance(call):
    """0: not a write to the pod object, so in nobody's way."""
    return RELEVANCE.get(call.type, 0)


# -- one list, three dialects --------------------------------------------------------------------------------------------


class Entry:
    """A call that is to be sent, and the submits that want it."""

    def __init__(self, call, number):
        self.call, self.number = call, number
        self.wanted, self.parked = [], []
        self.running = False
        self.attempts = 0
        self.lost = False
        self.not_before = 0.0

    @property
    def everybody(self):
        return self.wanted + self.parked


class Ticket:
    def __init__(self, call, now, settled):
        self.call, self.since, self.settled = call, now, settled
        self.entry = None
        self.future = asyncio.get_running_loop().create_future()


class ListQueue:
    """Entries in a list. Whatever happens, :meth:`_turn` looks through it: what is over, what can start, when to look again."""

    def __init__(self, bench, config, dialect):
        self.bench, self.config, self.dialect = bench, config, dialect
        self.loop = asyncio.get_running_loop()
        self.entries, self.numbers, self.closed = [], 0, False
        self.over = {}
        self.tasks, self.alarm, self.turning = set(), None, False
        self.qps, self.burst = config.qps, config.burst
        self.tokens, self.filled = float(config.burst), self.now()

    def now(self):
        return self.bench.async_clock.monotonic()

    # what the caller asks

    def submit(self, call, settled):
        call = copy.deepcopy(call)
        ticket = Ticket(call, self.now(), settled)
        refusal = self._refusal(call)
        if refusal is None and len(self._tickets()) >= self.config.capacity:
            refusal = says("refused", "capacity", retry_after=1.0)
        if refusal:
            self._tell(ticket, refusal)
            return ticket
        twin = self._twin(call)
        if twin is None:
            self._enter([ticket])
        else:  # what is on its way for a twin is done for this one, too, if it turns out well
            ticket.entry = twin
            (twin.parked if twin.attempts else twin.wanted).append(ticket)
        self.loop.call_soon(self._turn)
        return ticket

    def _enter(self, tickets):
        self.numbers += 1
        entry = Entry(tickets[0].call, self.numbers)
        entry.wanted = list(tickets)
        for ticket in tickets:
            ticket.entry = entry
        self.entries.append(entry)

    def cancel(self, ticket):
        self._drop([ticket], "cancelled", "cancelled")

    def end_context(self, context):
        self.over[context] = "context"
        self._drop([item for item in self._tickets() if item.call.context == context], "cancelled", "context")

    def delete_object(self, uid):
        self.over[uid] = "deleted"
        self._drop([item for item in self._tickets() if item.call.uid == uid], "cancelled", "deleted")

    def set_rate(self, qps, burst):
        self._fill()
        self.qps, self.burst = qps, burst
        self.tokens = min(self.tokens, burst)
        self.loop.call_soon(self._turn)

    async def outcome_async(self, ticket):
        return await asyncio.shield(ticket.future)

    def close(self):
        self.closed = True
        self._drop(self._tickets(), "closed", "closed")

    def stats(self):
        return None

    def bounds(self):
        return None

    # how it decides

    def _refusal(self, call):
        if self.closed:
            return says("closed", "closed")
        if call.type not in RELEVANCE:
            return says("refused", "type")
        if call.needed_in_cycle:
            return says("refused", "in_cycle")
        if call.deadline <= self.now():
            return says("expired", "deadline")
        if call.context in self.over or call.uid in self.over:
            return says("cancelled", self.over.get(call.context) or self.over[call.uid])
        if self.dialect.coalescing == "twins" and any(
            item.call.key == call.key is not None and item.call.payload != call.payload for item in self._tickets()
        ):
            return says("refused", "key_payload")
        return None

    def _twin(self, call):
        if self.dialect.coalescing == "none":
            return None
        told = ("uid", "type", "target", "key", "context", "precondition", "payload", "effect", "plugin")
        for entry in self.entries:
            joins = not entry.attempts or call.effect != "READ"
            if joins and all(getattr(entry.call, name) == getattr(call, name) for name in told):
                return entry
        return None

    def _tickets(self):
        return [ticket for entry in self.entries for ticket in entry.everybody]

    def _drop(self, tickets, kind, reason):
        """These submits are over: unsent it is what it is, sent nobody knows."""
        for ticket in tickets:
            entry = ticket.entry
            if entry is None or ticket not in entry.everybody:
                continue
            (entry.wanted if ticket in entry.wanted else entry.parked).remove(ticket)
            if not entry.wanted and not entry.running:
                entry.wanted, entry.parked = entry.parked, []
            if not entry.wanted and not entry.running:
                self.entries.remove(entry)
            self._tell(ticket, says("unknown", reason) if entry.running or entry.lost else says(kind, reason))
        self.loop.call_soon(self._turn)

    def _tell(self, ticket, view, merged=False):
        if merged:
            view = says("merged", view.reason, own=view.kind, status=view.status)
        ticket.future.set_result(view)
        ticket.settled(view)

    def _fill(self):
        now = self.now()
        if self.qps < float("inf"):
            self.tokens = min(self.burst, self.tokens + (now - self.filled) * self.qps)
        self.filled = now

    def _rank(self, entry):
        if self.dialect.order == "fifo":
            return entry.number
        low, high = self.config.priority_low, self.config.priority_high
        aged = max(min(max(item.call.priority, low), high) for item in entry.wanted)
        if self.dialect.order == "aged":
            aged += self.config.aging * (self.now() - min(item.since for item in entry.wanted))
        return (-aged, entry.number)

    def _blocked(self, entry):
        if entry.running or not entry.wanted:
            return True
        for other in self.entries:
            before = other.number < entry.number or other.running
            if (
                other is not entry
                and before
                and relevance(entry.call)
                and relevance(other.call)
                and other.call.uid == entry.call.uid
            ):
                return True
        return False

    def _turn(self):
        now = self.now()
        late = [item for item in self._tickets() if item.call.deadline <= now]
        if late:
            self._drop(late, "expired", "deadline")
            return
        if self.closed:
            return
        self._fill()
        waits = [item.call.deadline for item in self._tickets()]
        able = []
        for entry in self.entries:
            if not self._blocked(entry):
                (able if entry.not_before <= now else waits).append(
                    entry if entry.not_before <= now else entry.not_before
                )
        able.sort(key=self._rank)
        running = sum(entry.running for entry in self.entries)
        for entry in able[: max(0, self.config.workers - running)]:
            if self.qps < float("inf"):
                if self.tokens < 1 - 1e-9:
                    waits.append(now + (1 - self.tokens) / self.qps)
                    break
                self.tokens -= 1
            self._start(entry)
        if self.alarm is not None:
            self.alarm.cancel()
        first = min(waits, default=float("inf"))
        self.alarm = self.loop.call_later(max(first - now, 1e-6), self._turn) if first < 1e12 else None

    def _start(self, entry):
        entry.running, entry.attempts = True, entry.attempts + 1
        task = self.loop.create_task(self._attempt(entry))
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)

    async def _attempt(self, entry):
        if self.closed or not entry.wanted:  # all were told in the same instant, before anything was sent
            entry.running = False
            self.entries.remove(entry)
            return
        try:
            answer = await self.bench.send_async(entry.call, timeout=self.config.attempt_timeout)
        except asyncio.CancelledError as error:
            answer = error
        except Exception as error:
            answer = error
        entry.running = False
        self._answered(entry, answer)

    def _answered(self, entry, answer):
        call, what = entry.call, meaning(answer)
        status = getattr(answer, "status", None)
        guarded = call.key is not None or call.precondition.resource_version is not None
        view = None
        if what == DONE:
            view = says("applied", status=status)
        elif what in (CLASH, GONE):
            view = says("failed", "conflict" if what == CLASH else "permanent", status=status)
            if entry.lost:  # it may be the answer to our own earlier attempt
                view = says("unknown", "ambiguous", status=status)
        else:
            entry.lost |= what == LOST and call.effect != "READ"
            if entry.lost and not guarded:
                view = says("unknown", "ambiguous")
            elif entry.attempts >= self.config.attempts:
                view = says("unknown", "ambiguous") if entry.lost else says("exhausted", "attempts", status=status)
        if view is None and entry.wanted:
            factor = self.config.backoff_factor ** (entry.attempts - 1)
            pause = min(self.config.backoff_cap, self.config.backoff_first * factor)
            entry.not_before = self.now() + max(0.75 * pause, self._hint(answer))
        else:
            self._settle(entry, view or says("unknown" if entry.lost else "exhausted", "attempts"))
        self._turn()

    def _settle(self, entry, view):
        """It is over: tell those who wanted it; who is parked is done with it, runs now, or will never know."""
        self.entries.remove(entry)
        parked = [] if self.closed else entry.parked
        if parked and view.kind != "applied" and (view.kind != "unknown" or entry.call.key is not None):
            self._enter(parked)
            parked = []
        for number, ticket in enumerate(entry.wanted + parked):
            self._tell(ticket, view, merged=number > 0)
        if view.kind == "failed":
            self.bench.failed(entry.call, view)
        self.bench.reevaluate(entry.call, view)

    def _hint(self, answer):
        told = (
            getattr(answer, "headers", {}).get("retry-after", "") if getattr(answer, "status", 0) in (429, 503) else ""
        )
        try:
            return min(max(float(told), 0.0), 86_400.0)
        except ValueError:
            return 0.0


CONFIGURED = "workers capacity qps burst attempt_timeout attempts backoff_first backoff_factor backoff_cap priority_low priority_high aging"
CLAIMS = (
    "answers_at_once validates capacity coalescing snapshot order progress deadline cancel error_class attempts backoff ambiguity close "
    "conservation isolation bounded_memory"
)


def list_queue(name, **dialect):
    told = QueueDialect(
        **{
            "supersedes": False, "prerequisites": False, "shares": False, "breaker": False, "read_back": False, "when_full": "refuse",
            **dialect,
        },
        parameters=frozenset(CONFIGURED.split()),
        defaults={"shares": {}, "breaker_failures": 0, **({"aging": 0.0} if dialect.get("order") == "fifo" else {})},
    )  # fmt: skip

    @asynccontextmanager
    async def opened(bench, config):
        yield ListQueue(bench, config, told)

    return QueueSubject(
        name=name, mode="asyncio", open=opened, view=lambda value: value, dialect=told, claims=frozenset(CLAIMS.split())
    )


# -- threads, without retries ----------------------------------------------------------------------------------------------


class Waiting:
    def __init__(self, call, number, settled):
        self.call, self.number, self.settled = call, number, settled
        self.running, self.view = False, None


class ThreadedQueue:
    """Workers that wait at one condition for a call that may run. One attempt each; close works off what is there."""

    def __init__(self, bench, config):
        self.bench, self.config = bench, config
        self.changed = bench.threads.condition(bench.threads.lock())
        self.telling = []
        self.live, self.numbers, self.closed, self.stopped, self.over = [], 0, False, False, {}
        self.workers = [bench.threads.start(self._work, name=f"worker-{number}") for number in range(config.workers)]
        self.keeper = bench.threads.start(self._expire, name="keeper")

    def submit(self, call, settled):
        with self.changed:
            self.numbers += 1
            ticket = Waiting(copy.deepcopy(call), self.numbers, settled)
            if self.closed:
                view = says("closed", "closed")
            elif call.type not in RELEVANCE:
                view = says("refused", "type")
            elif call.needed_in_cycle:
                view = says("refused", "in_cycle")
            elif call.deadline <= self.bench.clock.monotonic():
                view = says("expired", "deadline")
            elif call.context in self.over or call.uid in self.over:
                view = says("cancelled", self.over.get(call.context) or self.over[call.uid])
            elif len(self.live) >= self.config.capacity:
                view = says("refused", "capacity", retry_after=1.0)
            else:
                view = None
                self.live.append(ticket)
                self.changed.notify_all()
        if view is not None:
            self._tell(ticket, view)
        return ticket

    def outcome(self, ticket):
        with self.changed:
            self.changed.wait_for(lambda: ticket.view is not None)
        return ticket.view

    def cancel(self, ticket):
        self._drop([ticket], "cancelled", "cancelled")

    def end_context(self, context):
        self.over[context] = "context"
        self._drop([item for item in self.live if item.call.context == context], "cancelled", "context")

    def delete_object(self, uid):
        self.over[uid] = "deleted"
        self._drop([item for item in self.live if item.call.uid == uid], "cancelled", "deleted")

    def _drop(self, tickets, kind, reason):
        with self.changed:
            mine = [item for item in tickets if item in self.live and item.view is None]
            views = [says("unknown" if item.running else kind, reason) for item in mine]
            for item, view in zip(mine, views, strict=True):
                item.view = view
                if not item.running:
                    self.live.remove(item)
            self.changed.notify_all()
        for item, view in zip(mine, views, strict=True):
            self._call_back(item, view)

    def _call_back(self, ticket, view):
        """What is called back may close: then it must not wait for the work, which may be that of the very same thread."""
        here = threading.get_ident()
        self.telling.append(here)
        try:
            ticket.settled(view)
        finally:
            self.telling.remove(here)

    def close(self):
        with self.changed:
            self.closed = True
            self.changed.notify_all()
        if threading.get_ident() in self.telling:
            self._drop(list(self.live), "closed", "closed")
            return
        with self.changed:
            self.changed.wait_for(lambda: not self.live)
            self.stopped = True
            self.changed.notify_all()

    def stats(self):
        return None

    def bounds(self):
        return None

    def _tell(self, ticket, view):
        with self.changed:
            ticket.view = view
            self.changed.notify_all()
        self._call_back(ticket, view)

    def _next(self):
        able = [item for item in self.live if not item.running and item.view is None and not self._behind(item)]
        return min(able, key=lambda item: (-item.call.priority, item.number), default=None)

    def _behind(self, item):
        return relevance(item.call) and any(
            other.call.uid == item.call.uid and relevance(other.call) and (other.number < item.number or other.running)
            for other in self.live
            if other is not item
        )

    def _work(self):
        while True:
            with self.changed:
                while (ticket := self._next()) is None or ticket.call.deadline <= self.bench.clock.monotonic():
                    if self.stopped:
                        return
                    self.changed.wait()
                ticket.running = True
            try:
                answer = self.bench.send(ticket.call, timeout=self.config.attempt_timeout)
            except Exception as error:
                answer = error
            with self.changed:
                ticket.running = False
                self.live.remove(ticket)
                told, ticket.view = ticket.view, ticket.view or self._read(ticket.call, answer)
                self.changed.notify_all()
            if told is None:
                self._call_back(ticket, ticket.view)

    def _read(self, call, answer):
        what, status = meaning(answer), getattr(answer, "status", None)
        if what == DONE:
            return says("applied", status=status)
        if what in (CLASH, GONE):
            return says("failed", "conflict" if what == CLASH else "permanent", status=status)
        return (
            says("unknown", "ambiguous")
            if what == LOST and call.effect != "READ"
            else says("exhausted", "attempts", status=status)
        )

    def _expire(self):
        while True:
            with self.changed:
                now = self.bench.clock.monotonic()
                first = min((item.call.deadline for item in self.live if item.view is None), default=float("inf"))
                if first > now:
                    if self.stopped:
                        return
                    self.changed.wait(None if first == float("inf") else first - now)
                late = [item for item in self.live if item.call.deadline <= self.bench.clock.monotonic()]
            self._drop(late, "expired", "deadline")


def threaded_queue():
    @contextmanager
    def opened(bench, config):
        yield ThreadedQueue(bench, config)

    return QueueSubject(
        name="threads without retries",
        mode="threads",
        open=opened,
        view=lambda value: value,
        dialect=QueueDialect(
            order="priority", coalescing="none", supersedes=False, when_full="refuse", retries=False, prerequisites=False, shares=False,
            rate=False, breaker=False, read_back=False, ambiguous="give_up", close="drain",
            parameters=frozenset("workers capacity attempt_timeout".split()),
            defaults={
                "qps": float("inf"), "attempts": 1, "aging": 0.0, "shares": {}, "breaker_failures": 0, "priority_low": -1_000_000,
                "priority_high": 1_000_000,
            },
        ),
        claims=frozenset(
            "answers_at_once validates capacity snapshot order progress deadline cancel error_class close isolation bounded_memory".split()
        ),
    )  # fmt: skip


QUEUES = (
    list_queue("first in, first out", order="fifo"),
    list_queue("no coalescing", coalescing="none"),
    list_queue("refuses", order="priority"),
    threaded_queue(),
)


SUITES = [name for name, suite in all_suites().items() if suite.kind == "queue"]
FEW = profile_named("quick", examples=6)


def quicker(suite):
    """The same suite with first in, first out and one other schedule a plan."""
    return dataclasses.replace(suite, variants=lambda plan: suite.variants(plan)[:2])


@pytest.mark.slow
@pytest.mark.parametrize("suite", SUITES)
@pytest.mark.parametrize("subject", QUEUES, ids=lambda subject: subject.name)
def test_a_correct_queue_of_another_make_raises_no_alarm(subject, suite):
    """Whatever is drawn, nothing that it claims and no safety invariant is violated; and the bench does not let it off."""
    if not suites_for(subject, [all_suites()[suite]]):
        return
    result = search(quicker(all_suites()[suite]), subject, FEW, seed=20261201)
    assert [(row.invariant, row.cause) for row in result.rows if row.verdict in ("violated", "non-strict")] == []
    if suite == "dispatch-plans":
        held = [row.invariant for row in result.rows if row.verdict == "held"]
        assert len(held) >= 30, held
