"""A tiny correct queue for tests of the bench: first in, first out, one attempt a call, refuses when full. asyncio and trio."""

from __future__ import annotations

import copy
import dataclasses
from collections import deque
from contextlib import asynccontextmanager

import anyio
import httpx

from waitproof.harness.calls import OutcomeView
from waitproof.harness.queue_dialect import QueueDialect
from waitproof.harness.queue_protocols import RELEVANCE, QueueSubject

DIALECT = QueueDialect(
    order="fifo", coalescing="none", supersedes=False, serialises=False, when_full="refuse", retries=False, deadlines=True,
    contexts=False, cancels=True, prerequisites=False, shares=False, rate=False, breaker=False, read_back=False,
    ambiguous="give_up", parameters=frozenset({"workers", "capacity", "attempt_timeout"}), defaults={"attempts": 1},
)  # fmt: skip


class Ticket:
    """One submit."""

    def __init__(self, call, settled):
        self.call, self.settled = call, settled
        self.view, self.event, self.sent = None, anyio.Event(), False

    def tell(self, **view):
        if self.view is None:
            self.view = OutcomeView(**view)
            self.call = None
            self.event.set()
            self.settled(self.view)


class Tiny:
    """The queue."""

    def __init__(self, bench, config, group):
        self.bench, self.config, self.group = bench, config, group
        self.waiting, self.live, self.closed = deque(), 0, False
        self.wake = anyio.Event()
        self.outcomes = {}
        self.submitted = self.running = 0

    def submit(self, call, settled):
        call = dataclasses.replace(call, payload=copy.deepcopy(call.payload))
        self.submitted += 1
        self.live += 1

        def told(view):
            self.live -= 1
            self.outcomes[view.kind] = self.outcomes.get(view.kind, 0) + 1
            settled(view)

        ticket = Ticket(call, told)
        if self.closed:
            ticket.tell(kind="closed", reason="closed")
        elif call.type not in RELEVANCE:
            ticket.tell(kind="refused", reason="type")
        elif call.needed_in_cycle:
            ticket.tell(kind="refused", reason="in_cycle")
        elif call.deadline <= self.bench.async_clock.monotonic():
            ticket.tell(kind="expired", reason="deadline")
        elif self.live > self.config.capacity:
            ticket.tell(kind="refused", reason="capacity", retry_after=1.0)
        else:
            self.waiting.append(ticket)
            self.wake.set()
        return ticket

    async def outcome_async(self, ticket):
        await ticket.event.wait()
        return ticket.view

    def cancel(self, ticket):
        if not ticket.sent:
            ticket.tell(kind="cancelled", reason="cancelled")

    def close(self):
        self.closed = True
        for ticket in list(self.waiting):
            ticket.tell(kind="closed", reason="closed")
        self.waiting.clear()
        return self.drained()

    async def drained(self):
        while self.running:
            await anyio.sleep(0.05)

    def stats(self):
        return {
            "submitted": self.submitted,
            "live": self.live,
            "outcomes": dict(self.outcomes),
            "tokens": None,
            "executing": self.running,
        }

    def bounds(self):
        return None

    async def work(self):
        while True:
            while self.waiting and self.running < self.config.workers:
                ticket = self.waiting.popleft()
                if ticket.view is None:
                    self.running += 1
                    ticket.sent = True
                    self.group.start_soon(self.attempt, ticket)
            self.wake = anyio.Event()
            with anyio.move_on_after(self.next_deadline()):
                await self.wake.wait()
            now = self.bench.async_clock.monotonic()
            for ticket in list(self.waiting):
                if ticket.view is None and ticket.call.deadline <= now:
                    ticket.tell(kind="expired", reason="deadline")

    def next_deadline(self):
        now = self.bench.async_clock.monotonic()
        found = [ticket.call.deadline - now for ticket in self.waiting if ticket.view is None]
        return max(0.0, min(found, default=float("inf")))

    async def attempt(self, ticket):
        call = ticket.call
        try:
            answer = await self.bench.send_async(call, timeout=self.config.attempt_timeout)
        except httpx.ConnectError:
            ticket.tell(kind="failed", reason="permanent")
        except httpx.TransportError:
            ticket.tell(kind="unknown", reason="ambiguous")
        except Exception:
            ticket.tell(kind="unknown", reason="ambiguous")
        except BaseException:
            ticket.tell(kind="unknown", reason="ambiguous")
            raise
        else:
            if call.deadline < self.bench.async_clock.monotonic():
                ticket.tell(kind="stale", reason="deadline")
            elif answer.status < 300:
                changed = call.effect == "READ" or answer.body.get("changed", True)
                ticket.tell(kind="applied" if changed else "noop", status=answer.status)
            elif answer.status in (408, 500, 502, 504):
                ticket.tell(kind="unknown", reason="ambiguous", status=answer.status)
            else:
                ticket.tell(kind="failed", reason="permanent", status=answer.status)
        finally:
            self.running -= 1
            self.wake.set()


@asynccontextmanager
async def open_tiny(bench, config):
    async with anyio.create_task_group() as group:
        queue = Tiny(bench, config, group)
        group.start_soon(queue.work)
        yield queue
        group.cancel_scope.cancel()


def subject(mode):
    return QueueSubject(
        name=f"tiny-{mode}", mode=mode, open=open_tiny, view=lambda view: view, dialect=DIALECT,
        claims=frozenset("answers_at_once validates capacity close".split()),
    )  # fmt: skip


TINY = subject("asyncio")
TINY_TRIO = subject("trio")
BOTH = (TINY, TINY_TRIO)
