"""Order: poll before sleep, stop when the job has ended, do nothing but read (SPEC 2, steps 1 and 2)."""

from __future__ import annotations

from ....harness.invariant import Invariant, Level
from ....harness.verdicts import Finding, held, undecided
from ...schedule import Delays
from ...trace import Fetch, WaitTrace
from ._judging import breach, each_wait, how, seconds


def _fetch_first(wait: WaitTrace) -> Finding:
    near = wait.tolerance
    if wait.cancel is not None and wait.cancel.at <= wait.began + near:
        return held()
    if not wait.fetches:
        if wait.outcome is not None and not wait.cancelled and wait.dialect.first == "fetch" and not wait.odd_id:
            return breach(
                wait,
                "the wait ended without a single fetch",
                [wait.start, wait.outcome],
                expected="a fetch at once",
                observed=how(wait),
            )
        return (
            held() if wait.outcome is not None or wait.cancelled else undecided("the run ended before the first fetch")
        )
    first = wait.fetches[0]
    if wait.dialect.first == "sleep":
        least = Delays(wait.call)[0] * (0.5 if wait.call.jitter_seed is not None else 1.0)
        if wait.deadline is not None:
            least = min(least, max(wait.deadline - wait.began, 0.0))
        if first.began < wait.began + least - near and not any(sleep.late < 0 for sleep in wait.sleeps[:1]):
            return breach(
                wait, "the first fetch came too early", [wait.start, first],
                expected=f"a first fetch after {seconds(least)}", observed=f"a fetch after {seconds(first.began - wait.began)}",
            )  # fmt: skip
        return held([first.start.seq])
    if not isinstance(wait.items[0], Fetch):
        return breach(
            wait, "slept before the first fetch", [wait.items[0], first],
            expected="a fetch before any sleep", observed=f"a sleep of {seconds(wait.items[0].asked)} first",
        )  # fmt: skip
    if first.began > wait.began + near:
        return breach(
            wait, "the first fetch came late", [wait.start, first],
            expected=f"a fetch at {seconds(wait.began)}", observed=f"a fetch at {seconds(first.began)}",
        )  # fmt: skip
    return held([first.start.seq])


def _prompt_stop(wait: WaitTrace) -> Finding:
    ended = next((fetch for fetch in wait.fetches if fetch.says is not None and fetch.says.terminal), None)
    if ended is None or ended.end is None or ended.says is None:
        return held()
    if wait.cancelled and wait.cancel is not None and wait.cancel.at <= ended.ended + wait.tolerance:
        return held()
    word = f"{ended.says.word!r} at {seconds(ended.ended)}"
    more = wait.after(ended.end)
    if more:
        act = "fetched" if isinstance(more[0], Fetch) else "slept"
        return breach(
            wait,
            f"{act} again after the terminal answer {word}",
            [ended.end, more[0]],
            expected="no further fetch or sleep",
            observed=act,
        )
    if wait.outcome is None:
        if wait.stop is not None and wait.stop.at > ended.ended + wait.tolerance:
            return breach(
                wait,
                f"did not end after the terminal answer {word}",
                [ended.end, wait.stop],
                expected="the end",
                observed="none",
            )
        return undecided("the run ended with the terminal answer", events=(ended.end.seq,))
    if wait.outcome.at > ended.ended + wait.tolerance + sum(
        side.ended - side.began for side in wait.side if side.end is not None
    ):
        return breach(
            wait,
            f"ended late after the terminal answer {word}",
            [ended.end, wait.outcome],
            expected="the end at once",
            observed=how(wait),
        )
    if wait.category == "timeout":
        return breach(
            wait,
            f"timed out with the terminal answer {word} in hand",
            [ended.end, wait.outcome],
            expected="the job's end",
            observed=how(wait),
        )
    return held([ended.end.seq])


def _only_reads(wait: WaitTrace) -> Finding:
    for fetch in (*wait.fetches, *wait.side):
        method = str(fetch.start.data.get("method", "GET")).upper()
        if method not in ("GET", "HEAD"):
            return breach(wait, f"a wait sent {method} {fetch.target}", [fetch], expected="GET only", observed=method)
    return held([wait.outcome.seq] if wait.fetches and wait.outcome is not None else [])


INVARIANTS = (
    Invariant(
        id="waiter.fetch_first", level=Level.MUST, claim="fetch_first", check=each_wait(_fetch_first), source="SPEC 2 step 1; W30, W58",
        expectation="The first fetch happens at once, before any sleep, unless the dialect sleeps first.",
    ),
    Invariant(
        id="waiter.prompt_stop", level=Level.MUST, claim="prompt_stop", check=each_wait(_prompt_stop), source="SPEC 2 step 1; W2, W4, W8, W12, W37",
        expectation="After an answer that says the job has ended there is no further fetch or sleep, and the wait ends at that instant.",
    ),
    Invariant(
        id="waiter.only_reads", level=Level.MUST, claim="only_reads", check=each_wait(_only_reads), source="SPEC 2 step 2; W75",
        expectation="A wait only reads: however it ends, the job may still run and can be waited for again.",
    ),
)  # fmt: skip
