"""The progress callback (SPEC 2, ``on_poll``)."""

from __future__ import annotations

from collections import deque

from ....harness.invariant import Invariant, Level
from ....harness.verdicts import Finding, held
from ...answers import JOB_KINDS
from ...event_data import mapping
from ...trace import WaitTrace
from ._judging import breach, each_wait


def _progress_callback(wait: WaitTrace) -> Finding:
    """Each open answer is told once, before the next fetch; whether the terminal one or a failed fetch is told is left open."""
    if not wait.callbacks:
        return _never_called(wait)
    calls = deque(wait.callbacks)
    seen = []
    for number, fetch in enumerate(wait.fetches):
        if fetch.end is None or fetch.says is None:
            break
        after = wait.fetches[number + 1] if number + 1 < len(wait.fetches) else None
        mine = []
        while calls and (after is None or calls[0].seq < after.start.seq):
            mine.append(calls.popleft())
        told = [event for event in mine if event.seq > fetch.end.seq]
        if len(told) > 1:
            return breach(
                wait,
                "told one answer more than once",
                told[:2],
                expected="one call for each answer",
                observed=f"{len(told)} calls",
            )
        counted = told[0].data.get("polls") if told else None
        if counted is not None and counted != number + 1:
            return breach(
                wait, f"told that it was poll {counted}", [fetch.end, told[0]], expected=str(number + 1), observed=str(counted),
            )  # fmt: skip
        if fetch.kind == "unclear":
            continue
        if told and fetch.kind in JOB_KINDS:
            status = mapping(told[0].data.get("view")).get("status")
            if status is not None and status != fetch.says.status:
                return breach(
                    wait, f"told {status!r} when the answer was {fetch.says.word!r}", [fetch.end, told[0]], expected=str(fetch.says.status), observed=str(status),
                )  # fmt: skip
            seen.append(told[0].seq)
        if not told and after is not None and fetch.kind in ("running", "unknown"):
            return breach(
                wait,
                f"did not tell the answer {fetch.says.word!r}",
                [fetch.end, after],
                expected="a call before the next fetch",
                observed="none",
            )
    return held(seen)


def _never_called(wait: WaitTrace) -> Finding:
    told = [fetch for fetch in wait.fetches[:-1] if fetch.kind in ("running", "unknown")]
    if told:
        return breach(
            wait,
            "never called the progress callback",
            [told[0].end, *wait.fetches[1:2]],
            expected="a call for each answer",
            observed="none",
        )
    return held()


INVARIANTS = (
    Invariant(
        id="waiter.progress_callback", level=Level.MUST, claim="on_poll", check=each_wait(_progress_callback), source="SPEC 2 on_poll",
        expectation="The progress callback is told each answer once, truly, before the next fetch.",
    ),
)  # fmt: skip
