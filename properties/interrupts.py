"""Ctrl-C as a fact that is looked up, not as an exception that lands anywhere.

A ``KeyboardInterrupt`` in the middle of a lock's own code leaves the lock taken, and with threads about the program then hangs for ever
(it did). So while children run, the signal is only noted, and the loop that waits for them asks.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def noted_interrupts() -> Iterator[Callable[[], bool]]:
    """While this is open, Ctrl-C is noted; the function says whether there was one. Outside the main thread nothing is changed."""
    noted: list[int] = []
    if threading.current_thread() is not threading.main_thread():
        yield lambda: False
        return

    def note(number: int, _frame: FrameType | None) -> None:
        noted.append(number)

    before = signal.signal(signal.SIGINT, note)
    try:
        yield lambda: bool(noted)
    finally:
        signal.signal(signal.SIGINT, before)
