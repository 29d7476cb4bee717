"""A tiny correct queue made of threads, for tests of the bench: first in, first out, one attempt a call, refuses when full."""

from __future__ import annotations

import copy
import dataclasses
from collections import deque
from contextlib import contextmanager

import httpx

from waitproof.harness.calls import OutcomeView
from waitproof.harness.queue_dialect import QueueDialect
from waitproof.harness.queue_protocols import RELEVANCE, QueueSubject

DIALECT = QueueDialect(
    order="fifo", coalescing="none", supersedes=False, serialises=False, when_full="refuse", retries=False, deadlines=False,
    contexts=False, cancels=True, prerequisites=False, shares=False, rate=False, breaker=False, read_back=False,
    ambiguous="give_up", parameters=frozenset({"workers", "capacity", "attempt_timeout"}), defaults={"attempts": 1},
)  # fmt: skip


class Ticket:
    """One submit."""

    def __init__(self, call, settled):
        self.call, self.settled, self.view, self.sent = call, settled, None, False


class Threaded:
    """The queue. Outcomes are told outside of the lock."""

    def __init__(self, bench, config):
        self.bench, self.config = bench, config
        self.lock = bench.threads.lock()
        self.changed = bench.threads.condition(self.lock)
        self.waiting, self.live, self.closed = deque(), 0, False
        self.workers = [bench.threads.start(self.work, name=f"worker-{number}") for number in range(config.workers)]

    def submit(self, call, settled):
        ticket = Ticket(dataclasses.replace(call, payload=copy.deepcopy(call.payload)), settled)
        with self.lock:
            if self.closed:
                view = OutcomeView(kind="closed", reason="closed")
            elif call.type not in RELEVANCE:
                view = OutcomeView(kind="refused", reason="type")
            elif call.needed_in_cycle:
                view = OutcomeView(kind="refused", reason="in_cycle")
            elif self.live >= self.config.capacity:
                view = OutcomeView(kind="refused", reason="capacity", retry_after=1.0)
            else:
                view = None
                self.live += 1
                self.waiting.append(ticket)
                self.changed.notify_all()
        if view is not None:
            self.tell(ticket, view, live=0)
        return ticket

    def tell(self, ticket, view, live=1):
        with self.lock:
            if ticket.view is not None:
                return
            ticket.view, ticket.call = view, None
            self.live -= live
            self.changed.notify_all()
        ticket.settled(view)

    def outcome(self, ticket):
        with self.lock:
            while ticket.view is None:
                self.changed.wait()
        return ticket.view

    def cancel(self, ticket):
        with self.lock:
            if ticket.sent or ticket not in self.waiting:
                return
            self.waiting.remove(ticket)
        self.tell(ticket, OutcomeView(kind="cancelled", reason="cancelled"))

    def close(self):
        with self.lock:
            self.closed = True
            left = list(self.waiting)
            self.waiting.clear()
            self.changed.notify_all()
        for ticket in left:
            self.tell(ticket, OutcomeView(kind="closed", reason="closed"))

    def stats(self):
        return None

    def bounds(self):
        return None

    def work(self):
        while True:
            with self.lock:
                while not self.waiting and not self.closed:
                    self.changed.wait()
                if not self.waiting:
                    return
                ticket = self.waiting.popleft()
                ticket.sent = True
            self.tell(ticket, self.attempt(ticket.call))

    def attempt(self, call):
        try:
            answer = self.bench.send(call, timeout=self.config.attempt_timeout)
        except httpx.ConnectError:
            return OutcomeView(kind="failed", reason="permanent")
        except Exception:
            return OutcomeView(kind="unknown", reason="ambiguous")
        if answer.status < 300:
            changed = call.effect == "READ" or answer.body.get("changed", True)
            return OutcomeView(kind="applied" if changed else "noop", status=answer.status)
        if answer.status in (408, 500, 502, 504):
            return OutcomeView(kind="unknown", reason="ambiguous", status=answer.status)
        return OutcomeView(kind="failed", reason="permanent", status=answer.status)


@contextmanager
def open_threaded(bench, config):
    queue = Threaded(bench, config)
    yield queue
    queue.close()
    for worker in queue.workers:
        worker.join()


TINY_THREADS = QueueSubject(
    name="tiny-threads", mode="threads", open=open_threaded, view=lambda view: view, dialect=DIALECT,
    claims=frozenset("answers_at_once validates capacity".split()),
)  # fmt: skip
