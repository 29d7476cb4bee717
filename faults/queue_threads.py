"""Runs of queues made of threads: cooperative threads in virtual time."""

from __future__ import annotations

import math
from collections.abc import Callable, Coroutine
from typing import Any, cast

from ..harness.loop.threads import CoopThreads
from ..harness.queue_protocols import QueueConfig, QueueSubject
from ..harness.recorder import BudgetExhausted
from .queue_async import opened
from .queue_hands import QueueHands, Submitted
from .queue_plan import QueuePlan
from .queue_program import GRACE, program
from .queue_world import QueueWorld


class ThreadDriver:
    """Waiting, closing and late effects are threads of their own. Nobody can cancel a thread: attempts are struck by an error."""

    def __init__(self, threads: CoopThreads) -> None:
        self.threads = threads

    def later(self, seconds: float, action: Callable[[], None]) -> None:
        """Call ``action`` in ``seconds`` of virtual time."""

        def wait() -> None:
            self.threads.sleep(seconds)
            action()

        if math.isfinite(seconds):
            self.threads.start(wait, name="late effect")

    def spawn(self, name: str, work: Callable[[], None]) -> None:
        """Run ``work`` in a thread."""
        self.threads.start(work, name=name)

    async def attempt(self, inner: Coroutine[Any, Any, Any]) -> Any:
        """Threads make no asynchronous attempts."""
        inner.close()
        raise RuntimeError("a queue made of threads sends with bench.send, not with send_async")


def join_hands(hands: QueueHands, driver: ThreadDriver) -> None:
    """Let the hands' waiting and closing run in threads."""

    def wait(mine: Submitted) -> None:
        ticket = mine.ticket

        def work() -> None:
            try:
                value = hands.handle.outcome(ticket)
            except (BudgetExhausted, KeyboardInterrupt):
                raise
            except BaseException as error:  # noqa: BLE001 - whatever it is, it is told
                hands.waited(mine, None, error)
            else:
                hands.waited(mine, value, None)

        driver.spawn(f"wait-{mine.op}", work)

    hands.spawn_wait = wait
    hands.aside = driver.spawn
    hands.submits_aside = hands.subject.dialect.when_full == "block"


def play(plan: QueuePlan, subject: QueueSubject, world: QueueWorld, driver: ThreadDriver, config: QueueConfig) -> None:
    """The whole run, in the first thread."""
    with cast("Any", subject.open(world, config)) as handle:
        hands = QueueHands(plan, subject, world, handle)
        join_hands(hands, driver)
        opened(hands, config)
        for at in program(plan, hands, world, config):
            driver.threads.sleep(max(0.0, at - world.time.now))
    driver.threads.sleep(GRACE)
