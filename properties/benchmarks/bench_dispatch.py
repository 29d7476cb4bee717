"""How fast the built-in dispatch queue is, beside the least that a queue can be: ratios of one run, printed; nothing passes or fails by time.

Seconds are those of the processor, so that a busy machine disturbs little. Each figure is the best of a few rounds, and the rounds of what
is compared take turns.
"""

import asyncio
import gc
import math
import random
import time
import tracemalloc
from heapq import heappop, heappush

import pytest

from waitproof.harness.calls import ApiAnswer, ApiCall
from waitproof.harness.queue_protocols import QueueConfig
from waitproof.harness.subjects.dispatch import DispatchCore, DispatchQueue
from waitproof.harness.subjects.dispatch.snapshots import snapshot

OK = ApiAnswer(status=200, body={"changed": True})
FEATURES = {"qps": 1e9, "burst": 10**9, "breaker_failures": 5, "shares": {"greedy": (10, 2)}, "aging": 1.0}
PLAIN = {"qps": math.inf, "breaker_failures": 0, "shares": {}}
BY_SIZE = {}
"""Seconds a call, by how many are pending: what the core's growth is read from."""


def calls_of(number, *, payload=None):
    draw = random.Random(20261201)
    return [
        ApiCall(
            uid=f"uid-{at}", name=f"pod-{at}", context=f"context-{at}", priority=draw.randint(0, 100), deadline=1e6 + at,
            payload=payload,
        )
        for at in range(number)
    ]  # fmt: skip


def floor(calls):
    """A ``heapq`` and a ``dict``: by priority, first in, first out among equals; each call is found by its number and has an outcome."""
    heap, live, outcomes = [], {}, {}
    began = time.process_time()
    for number, call in enumerate(calls):
        heappush(heap, (-call.priority, number, call))
        live[number] = call
    while heap:
        _, number, call = heappop(heap)
        del live[number]
        outcomes[number] = "applied"
    return time.process_time() - began


def core_seconds(calls, config, *, handlers=True):
    """Seconds for the submits and for all that comes after, of the core alone: every call is pending before the first one runs."""
    core = DispatchCore(QueueConfig(capacity=len(calls) + 1, workers=4, **config), now=0.0, handlers=handlers)
    tickets = []
    began = time.process_time()
    for at, call in enumerate(calls):
        tickets.append(core.submit(call, at * 1e-6))
    submitted = time.process_time()
    now = 10.0
    while (attempt := core.next(now)) is not None:
        core.answered(attempt, OK, now)
        core.take()
    done = time.process_time()
    assert core.stats(now)["outcomes"] == {"applied": len(calls)}
    return submitted - began, done - submitted


def collected(work):
    """Run it with a swept heap that the collector then leaves alone, as both sides make no cycles worth collecting."""
    gc.collect()
    gc.freeze()
    gc.disable()
    try:
        return work()
    finally:
        gc.enable()
        gc.unfreeze()


@pytest.fixture
def say(capsys):
    def said(text):
        with capsys.disabled():
            print(f"\n    {text}")

    return said


@pytest.mark.parametrize("pending", [1_000, 100_000, 1_000_000])
def test_core_beside_heap_and_dict(benchmark, say, pending):
    """Submit to done, all features on. Goal: a tenth of the floor or more; growth no worse than log n."""
    calls = calls_of(pending)
    rounds = {1_000: 30, 100_000: 3}.get(pending, 1)
    floors, submits, runs = [], [], []

    def one_round():
        floors.append(collected(lambda: floor(calls)))
        submit, run = collected(lambda: core_seconds(calls, FEATURES))
        submits.append(submit)
        runs.append(run)

    benchmark.pedantic(one_round, rounds=rounds)
    plain = sum(collected(lambda: core_seconds(calls, PLAIN, handlers=False))) if rounds > 1 else math.inf
    whole = min(submit + run for submit, run in zip(submits, runs, strict=True))
    ratio = min(floors) / whole
    BY_SIZE[pending] = whole / pending
    growth = BY_SIZE[pending] / BY_SIZE.get(1_000, BY_SIZE[pending])
    limit = math.log2(pending) / math.log2(1_000)
    benchmark.extra_info.update(ratio=ratio, plain=min(floors) / plain, growth=growth, growth_limit=limit)
    bare = f" ({min(floors) / plain:.3f} with nothing configured)" if rounds > 1 else ""
    say(
        f"core, {pending:>9,} pending: {ratio:.3f} of the floor{bare}; a call costs "
        f"{1e6 * min(submits) / pending:.1f} + {1e6 * min(runs) / pending:.1f} µs; {growth:.2f} times that of 1,000 (log n: {limit:.2f})"
    )


def test_snapshots(benchmark, say):
    """What the copy of a small payload costs, which the figures above leave out."""
    calls = calls_of(
        1_000, payload={"operation": "o1", "conditions": [{"type": "Ready", "status": "True"}], "value": 1}
    )

    def copies():
        for call in calls:
            snapshot(call.payload)

    benchmark(copies)
    base = min(floor(calls) for _ in range(30))
    say(f"snapshot of a small payload: {benchmark.stats['min'] / base:.2f} of what the floor needs for the whole call")


async def pool_seconds(calls, workers, send):
    """A worker pool over ``asyncio.PriorityQueue``, as people write it."""
    queue = asyncio.PriorityQueue()

    async def worker():
        while True:
            _, _, call, told = await queue.get()
            told.set_result(await send(call))
            queue.task_done()

    tasks = [asyncio.create_task(worker()) for _ in range(workers)]
    loop = asyncio.get_running_loop()
    began = time.process_time()
    outcomes = []
    for number, call in enumerate(calls):
        told = loop.create_future()
        queue.put_nowait((-call.priority, number, call, told))
        outcomes.append(told)
    for told in outcomes:
        await told
    seconds = time.process_time() - began
    for task in tasks:
        task.cancel()
    return seconds


async def dispatcher_seconds(calls, workers, send):
    """The built-in queue with its defaults but for the quota."""
    config = QueueConfig(capacity=len(calls) + 1, workers=workers, breaker_failures=5)
    async with DispatchQueue(send, config=config, reevaluate=lambda _call, _view: None) as queue:
        began = time.process_time()
        tickets = [queue.submit(call) for call in calls]
        for ticket in tickets:
            assert (await queue.outcome(ticket)).kind == "applied"
        return time.process_time() - began


def test_dispatcher_beside_a_priority_queue_pool(benchmark, say):
    """The whole of it, on asyncio. Goal: a quarter or more of what a plain pool does."""
    calls = calls_of(5_000)

    async def send(_call):
        await asyncio.sleep(0)
        return OK

    pool, ours = [], []

    def one_round():
        pool.append(collected(lambda: asyncio.run(pool_seconds(calls, 8, send))))
        ours.append(collected(lambda: asyncio.run(dispatcher_seconds(calls, 8, send))))

    benchmark.pedantic(one_round, rounds=5)
    ratio = min(pool) / min(ours)
    benchmark.extra_info.update(ratio=ratio)
    say(f"dispatcher, 5,000 calls by 8 workers: {ratio:.3f} of a pool over asyncio.PriorityQueue")


def test_memory_of_a_pending_call(benchmark, say):
    """Goal: 1.5 KiB or less, the call itself and its payload left out, its ticket counted in."""
    calls = calls_of(20_000)
    kept = []

    def fill():
        core = DispatchCore(QueueConfig(capacity=len(calls) + 1, **FEATURES), now=0.0)
        tracemalloc.start()
        before = tracemalloc.get_traced_memory()[0]
        tickets = [core.submit(call, 0.0) for call in calls]
        kept.append((tracemalloc.get_traced_memory()[0] - before) / len(calls))
        tracemalloc.stop()
        assert not any(ticket.done for ticket in tickets)

    benchmark.pedantic(fill, rounds=1)
    benchmark.extra_info.update(bytes_a_call=kept[0])
    say(f"memory: {kept[0]:.0f} bytes a pending call")
