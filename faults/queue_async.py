"""Runs on event loops: asyncio on the simulated loop, and trio. Each is a driver and the main program around the same steps."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, Protocol, TypeAlias, cast

import anyio
import trio

from ..harness import events, queue_events
from ..harness.queue_protocols import QueueConfig, QueueSubject
from ..harness.recorder import BudgetExhausted
from .queue_hands import QueueHands, Submitted
from .queue_kills import Kills, UnforeseenError, suspending
from .queue_plan import QueuePlan
from .queue_program import GRACE, program
from .queue_world import QueueWorld

Strike: TypeAlias = Callable[[], BaseException | None]
Work: TypeAlias = Callable[[], Coroutine[Any, Any, Any]]
Ended: TypeAlias = Callable[[Any, BaseException | None], None]


class LoopDriver(Protocol):
    """What the two drivers have in common."""

    kills: Kills
    over: bool

    def later(self, seconds: float, action: Callable[[], None]) -> None:
        """Call ``action`` in ``seconds`` of virtual time."""

    def watch(self, name: str, work: Work, strike: Callable[[], bool], ended: Ended) -> Callable[[], None]:
        """Run ``work`` beside the queue and tell ``ended`` how it went. ``strike`` is asked at each of its suspensions whether to cancel
        it there. The answer cancels it from outside."""

    async def attempt(self, inner: Coroutine[Any, Any, Any]) -> Any:
        """Await an attempt, and strike at its planned await point."""


class AsyncioDriver:
    """On the simulated asyncio loop."""

    def __init__(self, kills: Kills) -> None:
        self.kills = kills
        self.over = False
        self.tasks: list[asyncio.Task[None]] = []

    def later(self, seconds: float, action: Callable[[], None]) -> None:
        """See :class:`LoopDriver`."""
        if math.isfinite(seconds):
            asyncio.get_running_loop().call_later(seconds, action)

    def watch(self, name: str, work: Work, strike: Callable[[], bool], ended: Ended) -> Callable[[], None]:
        """See :class:`LoopDriver`."""

        def on_suspend() -> None:
            if strike():
                task.cancel()

        async def watched() -> None:
            try:
                value = await suspending(work(), on_suspend)
            except (BudgetExhausted, KeyboardInterrupt):
                raise
            except BaseException as error:  # noqa: BLE001 - whatever it is, it is told
                if not self._over():
                    ended(None, error)
            else:
                if not self._over():
                    ended(value, None)

        task = asyncio.get_running_loop().create_task(watched(), name=name)
        self.tasks.append(task)
        return cast("Callable[[], None]", task.cancel)

    def _over(self) -> bool:
        return self.over or bool(getattr(asyncio.get_running_loop(), "draining", False))

    async def attempt(self, inner: Coroutine[Any, Any, Any]) -> Any:
        """See :class:`LoopDriver`."""
        task = asyncio.current_task()

        def on_suspend() -> BaseException | None:
            if self.kills.due("attempt"):
                if self.kills.raises or task is None:
                    return UnforeseenError("the bench raises this at an await point")
                task.cancel()
            return None

        return await suspending(inner, on_suspend)


class TrioDriver:
    """On simulated trio. A task of the queue's own can't be cancelled from outside, so an attempt is struck by an error instead."""

    def __init__(self, kills: Kills, nursery: trio.Nursery) -> None:
        self.kills = kills
        self.over = False
        self.nursery = nursery

    def later(self, seconds: float, action: Callable[[], None]) -> None:
        """See :class:`LoopDriver`."""

        async def wait() -> None:
            await trio.sleep(seconds)
            action()

        if math.isfinite(seconds):
            self.nursery.start_soon(wait, name="late effect")

    def watch(self, name: str, work: Work, strike: Callable[[], bool], ended: Ended) -> Callable[[], None]:
        """See :class:`LoopDriver`."""
        scope = trio.CancelScope()

        def on_suspend() -> None:
            if strike():
                scope.cancel()

        async def watched() -> None:
            with scope:
                try:
                    value = await suspending(work(), on_suspend)
                except (BudgetExhausted, KeyboardInterrupt):
                    raise
                except BaseException as error:  # whatever it is, it is told
                    if not self.over:
                        ended(None, error)
                    if isinstance(error, trio.Cancelled):
                        raise
                else:
                    if not self.over:
                        ended(value, None)

        self.nursery.start_soon(watched, name=name)
        return scope.cancel

    async def attempt(self, inner: Coroutine[Any, Any, Any]) -> Any:
        """See :class:`LoopDriver`."""

        def on_suspend() -> BaseException | None:
            return UnforeseenError("the bench raises this at an await point") if self.kills.due("attempt") else None

        return await suspending(inner, on_suspend)


async def _awaited(make: Callable[[], Awaitable[Any]]) -> Any:
    return await make()


def join_hands(hands: QueueHands, driver: LoopDriver) -> None:
    """Let the hands' waiting and closing tasks run on this driver."""

    def wait(mine: Submitted) -> None:
        def strike() -> bool:
            due = driver.kills.due("waiter")
            if due:
                hands.world.recorder.note(queue_events.WAITER_CANCEL, events.CALLER, mine.op)
            return due

        def ended(value: Any, error: BaseException | None) -> None:
            hands.waited(mine, value, error)

        ticket = mine.ticket
        cancel = driver.watch(
            f"wait-{mine.op}", lambda: _awaited(lambda: hands.handle.outcome_async(ticket)), strike, ended
        )

        def cancelled() -> None:
            mine.waiting = False
            cancel()

        mine.cancel_waiter = cancelled

    def close(result: Any, number: int) -> None:
        struck = False

        def strike() -> bool:
            nonlocal struck
            due = driver.kills.due("closer")
            struck = struck or due
            return due

        def ended(_: Any, error: BaseException | None) -> None:
            cancelled = struck and isinstance(error, asyncio.CancelledError | trio.Cancelled)
            hands.close_ended(number, None if cancelled else error, cancelled=cancelled)

        driver.watch(f"close-{number}", lambda: _awaited(lambda: result), strike, ended)

    hands.spawn_wait, hands.spawn_close = wait, close


def opened(hands: QueueHands, config: QueueConfig) -> None:
    """Write down that the queue is there."""
    try:
        bounds: object = hands.handle.bounds()
    except Exception as error:  # noqa: BLE001 - the adapter's
        bounds = {"raised": type(error).__name__}
    hands.world.recorder.note(queue_events.QUEUE_OPEN, events.CALLER, config=config.as_json(), bounds=bounds)


async def play(
    plan: QueuePlan, subject: QueueSubject, world: QueueWorld, driver: LoopDriver, config: QueueConfig
) -> None:
    """The whole run on an event loop, from opening the queue to some time after leaving it."""
    async with cast("Any", subject.open(world, config)) as handle:
        hands = QueueHands(plan, subject, world, handle)
        join_hands(hands, driver)
        opened(hands, config)
        for at in program(plan, hands, world, config):
            await anyio.sleep(max(0.0, at - world.time.now))
    await anyio.sleep(GRACE)
    driver.over = True
