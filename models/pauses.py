"""The pauses of a wait: what lies between two of its polls, and which delay of the schedule each of them is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .trace import Fetch, Sleep, WaitTrace


@dataclass(frozen=True, slots=True, kw_only=True)
class Pause:
    """What lies between two polls: the ``index``-th delay of the schedule.

    ``begin``: when it began (the end of the fetch ``after``, or the start of the wait for a waiter that sleeps first). ``late``: seconds
    that the clock itself added. ``early``: some sleep in it woke early.
    """

    index: int
    after: Fetch | None
    begin: float
    next: Fetch
    sleeps: tuple[Sleep, ...]
    late: float
    early: bool

    @property
    def events(self) -> tuple[int, ...]:
        """The events that show it."""
        first = () if self.after is None or self.after.end is None else (self.after.end.seq,)
        return (*first, *(sleep.start.seq for sleep in self.sleeps[:2]), self.next.start.seq)


def find_pauses(wait: WaitTrace) -> list[Pause]:
    """The pauses of a wait that ended in a poll, in order; the caller's cancel ends the list."""
    found: list[Pause] = []
    polls = wait.polls()
    shift = 1 if wait.dialect.first == "sleep" else 0
    sleeps = iter(wait.sleeps)
    pending = next(sleeps, None)
    for number_, poll in enumerate(polls):
        after = polls[number_ - 1][-1] if number_ else None
        inside: list[Sleep] = []
        while pending is not None and pending.start.seq < poll[0].start.seq:
            if after is None or pending.start.seq > after.start.seq:
                inside.append(pending)
            pending = next(sleeps, None)
        if after is None and not shift:
            continue
        if number_ and any(fetch.kind == "unclear" for fetch in polls[number_ - 1][:-1]):
            break  # whether the client took that answer for a failure can't be told, so neither can the number of this pause
        if (after is not None and after.end is None) or (
            wait.cancel is not None and wait.cancel.seq < poll[0].start.seq
        ):
            break
        found.append(
            Pause(
                index=number_ - 1 + shift,
                after=after,
                begin=after.ended if after is not None else wait.began,
                next=poll[0],
                sleeps=tuple(inside),
                late=sum(max(sleep.late, 0.0) for sleep in inside),
                early=any(sleep.late < 0 for sleep in inside),
            )
        )
    return found
