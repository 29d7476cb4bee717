"""The drivers of the built-in queue: tasks (asyncio and trio, in virtual time) and threads, over the same core."""

import asyncio
import threading

import anyio
import pytest

from waitproof.harness.calls import ApiAnswer, ApiCall
from waitproof.harness.clocks import VirtualTime
from waitproof.harness.loop.simloop import simulate
from waitproof.harness.loop.triorun import simulate_trio
from waitproof.harness.queue_protocols import QueueConfig
from waitproof.harness.subjects.dispatch import DispatchQueue, ThreadDispatchQueue

LOOPS = {"asyncio": simulate, "trio": simulate_trio}
OK = ApiAnswer(status=200)


@pytest.fixture(params=LOOPS)
def play(request):
    def played(main):
        return LOOPS[request.param](main, time=VirtualTime(origin=0.0))

    played.loop = request.param
    return played


def pod(n=1, **fields):
    return ApiCall(uid=f"uid-{n}", **fields)


def sender(*answers, seconds=1.0, sent=None):
    """An asynchronous `send` that gives the answers in turn; the last repeats. An exception is raised, a number is waited for."""
    left = list(answers) or [OK]

    async def send(call):
        if sent is not None:
            sent.append((round(anyio.current_time(), 6), call.uid))
        await anyio.sleep(seconds)
        answer = left.pop(0) if len(left) > 1 else left[0]
        if isinstance(answer, BaseException):
            raise answer
        return answer

    return send


def test_calls_run_with_as_many_workers_as_there_are(play):
    async def main():
        async with DispatchQueue(sender(), config=QueueConfig(workers=2), debug=True) as queue:
            tickets = [queue.submit(pod(n)) for n in range(5)]
            outcomes = [(await queue.outcome(ticket)).kind for ticket in tickets]
            return outcomes, anyio.current_time()

    assert play(main) == (["applied"] * 5, 3.0)


def test_retries_quota_and_deadline_in_virtual_time(play):
    sent = []

    async def main():
        config = QueueConfig(qps=1, burst=1, backoff_first=0.1, backoff_cap=0.1)
        async with DispatchQueue(sender(ApiAnswer(status=503), OK, seconds=0, sent=sent), config=config) as queue:
            first, second = queue.submit(pod(1)), queue.submit(pod(2, deadline=1.5))
            third = queue.submit(pod(3, deadline=1.5))
            return [(await queue.outcome(ticket)).kind for ticket in (first, second, third)], anyio.current_time()

    assert play(main) == (["applied", "expired", "expired"], 1.5)
    assert sent == [(0.0, "uid-1"), (1.0, "uid-1")]


def test_an_attempt_is_cancelled_at_its_timeout(play):
    async def main():
        config = QueueConfig(attempt_timeout=2, attempts=1)
        async with DispatchQueue(sender(seconds=99), config=config) as queue:
            return (await queue.outcome(queue.submit(pod()))).kind, anyio.current_time()

    assert play(main) == ("unknown", 2.0)


def test_callbacks_may_submit_and_close(play):
    told = []

    async def main():
        async with DispatchQueue(sender()) as queue:

            def first(view):
                told.append(("first", view.kind))
                queue.submit(pod(2), second)
                queue.close()
                told.append("closed")
                queue.submit(pod(3), lambda view: told.append(("third", view.kind)))

            def second(view):
                told.append(("second", view.kind))

            queue.submit(pod(1), first)
            await anyio.sleep(5)

    play(main)
    assert told == [("first", "applied"), ("second", "closed"), "closed", ("third", "closed")]


def test_a_callback_that_raises_stops_nobody(play):
    errors = []

    def bad(view):
        raise ValueError(view.kind)

    async def main():
        async with DispatchQueue(sender(), on_error=errors.append) as queue:
            tickets = [queue.submit(pod(n), bad) for n in range(3)]
            return [(await queue.outcome(ticket)).kind for ticket in tickets]

    assert play(main) == ["applied"] * 3
    assert [str(error) for error in errors] == ["applied"] * 3


def test_a_waiter_that_is_cancelled_does_not_cancel_the_call(play):
    async def main():
        async with DispatchQueue(sender(seconds=3)) as queue:
            ticket = queue.submit(pod())
            with anyio.move_on_after(1):
                await queue.outcome(ticket)
            assert ticket.outcome is None
            return (await queue.outcome(ticket)).kind

    assert play(main) == "applied"


def test_leaving_the_context_tells_everybody_and_keeps_the_error(play):
    tickets = []

    async def main():
        with pytest.raises(ValueError, match="mine"):
            async with DispatchQueue(sender(seconds=9), config=QueueConfig(workers=1)) as queue:
                tickets.extend([queue.submit(pod(1)), queue.submit(pod(2))])
                await anyio.sleep(1)
                raise ValueError("mine")
        return anyio.current_time()

    assert play(main) == 1.0
    assert [ticket.outcome.kind for ticket in tickets] == ["unknown", "closed"]


def test_a_scope_around_the_queue_ends_it(play):
    tickets = []

    async def main():
        with anyio.move_on_after(1):
            async with DispatchQueue(sender(seconds=9), config=QueueConfig(workers=1)) as queue:
                tickets.extend([queue.submit(pod(1)), queue.submit(pod(2))])
                await anyio.sleep(5)
        return anyio.current_time()

    assert play(main) == 1.0
    assert [ticket.outcome.kind for ticket in tickets] == ["unknown", "closed"]


def test_an_unforeseen_error_of_send_costs_nothing_but_its_own_call(play):
    async def main():
        config = QueueConfig(workers=1)
        async with DispatchQueue(sender(RuntimeError("odd"), OK), config=config, debug=True) as queue:
            tickets = [queue.submit(pod(n)) for n in range(3)]
            kinds = [(await queue.outcome(ticket)).kind for ticket in tickets]
            return kinds, queue.stats()["executing"]

    assert play(main) == (["unknown", "applied", "applied"], 0)


@pytest.mark.parametrize("backend", LOOPS)
def test_what_is_no_exception_ends_the_queue_and_is_raised(backend):
    class Stop(BaseException):
        pass

    tickets = []

    async def main():
        async with DispatchQueue(sender(Stop("now"), seconds=0), config=QueueConfig(workers=1)) as queue:
            tickets.extend(queue.submit(pod(n)) for n in range(2))
            await anyio.sleep_forever()

    with pytest.raises(BaseExceptionGroup) as caught:
        anyio.run(main, backend=backend)
    assert caught.group_contains(Stop)
    assert {ticket.outcome.kind for ticket in tickets} == {"unknown", "closed"}


@pytest.mark.parametrize("turn", range(12))
def test_a_worker_or_timer_that_is_cancelled_survives(turn):
    """On asyncio only: trio has no cancellation of one task. Every task of the queue is cancelled in turn, at each of some turns."""

    async def main():
        sent = []
        async with DispatchQueue(
            sender(seconds=0.5, sent=sent), config=QueueConfig(workers=2, qps=2, burst=1), debug=True
        ) as queue:
            tickets = [queue.submit(pod(n, key=f"k{n}")) for n in range(3)]
            for _ in range(turn):
                await asyncio.sleep(0.1)
            for task in sorted(asyncio.all_tasks(), key=lambda task: task.get_name()):
                if task.get_name().startswith("dispatch"):
                    task.cancel()
            for ticket in tickets:
                assert (await queue.outcome(ticket)).kind == "applied"
            late = queue.submit(pod(7))
            assert (await queue.outcome(late)).kind == "applied"
            assert queue.stats()["executing"] == 0

    simulate(main, time=VirtualTime(origin=0.0))


class CoarseClock:
    """Shows multiples of a quarter of a second."""

    resolution = 0.25

    def monotonic(self):
        return anyio.current_time() // 0.25 * 0.25

    async def sleep(self, seconds):
        await anyio.sleep(seconds)


def test_a_coarse_clock_delays_nothing_by_more_than_one_tick(play):
    """A retry is due between two ticks, and so is a deadline."""

    async def main():
        config = QueueConfig(backoff_first=0.4, backoff_cap=0.4)
        send = sender(ApiAnswer(status=503), OK, seconds=0)
        async with DispatchQueue(send, config=config, clock=CoarseClock(), debug=True) as queue:
            first = queue.submit(pod(1))
            assert (await queue.outcome(first)).kind == "applied"
            assert anyio.current_time() <= 0.4
            await anyio.sleep(2 - anyio.current_time())
            queue.set_rate(0, 1)
            queue.submit(pod(2))
            second = queue.submit(pod(3, deadline=2.3))
            assert (await queue.outcome(second)).kind == "expired"
            return anyio.current_time()

    assert play(main) == pytest.approx(2.3)


def test_close_from_another_thread():
    async def main():
        async with DispatchQueue(sender(seconds=30)) as queue:
            ticket = queue.submit(pod())
            await anyio.to_thread.run_sync(queue.close)
            return (await queue.outcome(ticket)).kind

    for backend in LOOPS:
        assert anyio.run(main, backend=backend) == "unknown"


def test_a_bad_configuration_is_told_where_it_is_given():
    for queue in (DispatchQueue, ThreadDispatchQueue):
        with pytest.raises(ValueError, match="workers"):
            queue(sender(), config=QueueConfig(workers=0))


# -- threads -----------------------------------------------------------------------------------------------------------


def test_threads_run_callbacks_outside_of_the_lock():
    told, third = [], threading.Event()

    with ThreadDispatchQueue(lambda call: OK, config=QueueConfig(workers=2), debug=True) as queue:

        def first(view):
            told.append(view.kind)
            queue.submit(pod(2), lambda view: (told.append(view.kind), third.set()))

        queue.submit(pod(1), first)
        assert third.wait(20)
    assert told == ["applied", "applied"]


def test_a_thread_closes_from_its_own_callback():
    gate = threading.Event()

    def send(call):
        gate.wait(20)
        return OK

    with ThreadDispatchQueue(send, config=QueueConfig(workers=1)) as queue:
        first = queue.submit(pod(1), lambda view: queue.close())
        second = queue.submit(pod(2))
        gate.set()
        assert queue.outcome(first, timeout=20).kind == "applied"
        assert queue.outcome(second, timeout=20).kind == "closed"


def test_threads_time_out_waiting_and_expire_in_real_time():
    with ThreadDispatchQueue(lambda call: OK, config=QueueConfig(workers=1, qps=0.001, burst=1)) as queue:
        first = queue.submit(pod(1))
        assert queue.outcome(first, timeout=20).kind == "applied"
        second = queue.submit(pod(2))
        with pytest.raises(TimeoutError):
            queue.outcome(second, timeout=0.01)
        queue.cancel(second)
        assert second.outcome.kind == "cancelled"


def test_a_worker_thread_outlives_whatever_send_raises():
    errors, left = [], [SystemExit(3), OK]

    def send(call):
        answer = left.pop(0)
        if isinstance(answer, BaseException):
            raise answer
        return answer

    with ThreadDispatchQueue(send, config=QueueConfig(workers=1), on_error=errors.append) as queue:
        tickets = [queue.submit(pod(n)) for n in range(2)]
        assert [queue.outcome(ticket, timeout=20).kind for ticket in tickets] == ["unknown", "applied"]
    assert [type(error) for error in errors] == [SystemExit]
