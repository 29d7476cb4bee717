"""How many payload snapshots are alive, found by the recognisable list that each payload holds."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

from ..harness.history import History
from .memory import collect_ids
from .queue_hands import CANARY


@contextmanager
def counting(*, wanted: bool) -> Iterator[None]:
    """While this is open only what is made from now on is looked at: the count is cheap, and other runs' leavings are not in it."""
    if not wanted:
        yield
        return
    gc.collect()
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()


def snapshots_alive(history: History) -> int:
    """Payloads that are alive outside of the history."""
    gc.collect()
    own: set[int] = set()
    for event in history:
        collect_ids(event.data, own)
    return sum(
        1
        for item in gc.get_objects()
        if type(item) is list and len(item) == 1 and item[0] == CANARY and id(item) not in own
    )
