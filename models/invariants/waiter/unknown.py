"""Unknown status words: bounded, and visible (SPEC 2 step 1, SPEC 3)."""

from __future__ import annotations

from collections import deque

from ....harness.invariant import Invariant, Level
from ....harness.verdicts import Finding, held, undecided
from ...event_data import mapping
from ...trace import Fetch, WaitTrace
from ._judging import breach, each_wait, how


def _followed(wait: WaitTrace, number: int) -> Fetch | None:
    return wait.fetches[number + 1] if number + 1 < len(wait.fetches) else None


def _does_as_said(wait: WaitTrace) -> Finding:
    policy = wait.dialect.unknown_status
    seen = []
    for number, fetch in enumerate(wait.fetches):
        if fetch.kind != "unknown" or fetch.says is None or fetch.end is None:
            continue
        word, after = fetch.says.word, _followed(wait, number)
        if wait.cancelled and after is None:
            continue
        if policy == "continue":
            if after is None and wait.outcome is None:
                return undecided("the run ended after an unknown status", events=(fetch.end.seq,))
            if after is None and wait.category != "timeout":
                return breach(
                    wait, f"the unknown status {word!r} ended the wait", [fetch.end, wait.outcome], expected="to go on until the limit", observed=how(wait),
                )  # fmt: skip
        elif word is None:
            continue  # a dialect says what an unknown *word* does; here there is none
        else:
            if after is not None:
                return breach(
                    wait,
                    f"went on after the unknown status {word!r}",
                    [fetch.end, after],
                    expected=f"the wait's end ({policy})",
                    observed="a fetch",
                )
            if wait.outcome is None:
                return undecided("the run ended after an unknown status", events=(fetch.end.seq,))
            if policy == "raise" and wait.category == "returned":
                return breach(
                    wait,
                    f"returned after the unknown status {word!r}",
                    [fetch.end, wait.outcome],
                    expected="an error",
                    observed=how(wait),
                )
        seen.append(fetch.end.seq)
    return held(seen)


def _visible(wait: WaitTrace) -> Finding:
    seen = []
    callbacks = deque(wait.callbacks)
    for number, fetch in enumerate(wait.fetches):
        if fetch.kind != "unknown" or fetch.says is None or fetch.end is None or not isinstance(fetch.says.word, str):
            continue
        after = _followed(wait, number)
        until = after.start.seq if after is not None else (wait.outcome.seq if wait.outcome is not None else 1 << 62)
        while callbacks and callbacks[0].seq < fetch.end.seq:
            callbacks.popleft()
        while callbacks and callbacks[0].seq < until:
            event = callbacks.popleft()
            shown = mapping(event.data.get("view")).get("raw_status")
            if shown != fetch.says.word:
                return breach(
                    wait, "an unknown status word can't be read in the progress callback", [fetch.end, event], expected=repr(fetch.says.word), observed=repr(shown),
                )  # fmt: skip
            seen.append(event.seq)
    jobs = [fetch for fetch in wait.fetches if fetch.kind in ("running", "unknown", "terminal")]
    clear = all(fetch.kind not in ("unclear", "open") for fetch in wait.fetches)
    if (
        wait.category == "timeout"
        and jobs
        and jobs[-1].kind == "unknown"
        and jobs[-1].says is not None
        and wait.outcome is not None
        and clear
    ):
        word = jobs[-1].says.word
        shown = mapping(wait.outcome.data.get("carries")).get("raw_status")
        if isinstance(word, str):
            if shown != word:
                return breach(
                    wait,
                    "an unknown status word can't be read in the timeout error",
                    [jobs[-1].end, wait.outcome],
                    expected=repr(word),
                    observed=repr(shown),
                )
            seen.append(wait.outcome.seq)
    return held(seen)


INVARIANTS = (
    Invariant(
        id="waiter.unknown_status_continues", level=Level.MUST, claim="unknown_status", check=each_wait(_does_as_said),
        source="SPEC 2 step 1, SPEC 3; W48, W64, W65", expectation="A status word that nobody knows does what the dialect says: by default the wait goes on to its limit.",
    ),
    Invariant(
        id="waiter.unknown_status_visible", level=Level.MUST, claim="unknown_visible", check=each_wait(_visible),
        source="SPEC 3 raw_status; W65", expectation="A status word that nobody knows can be read by the caller, in callbacks and in the timeout error.",
    ),
)  # fmt: skip
