"""Failed fetches: transient ones are tolerated, permanent ones surface at once, a 404 has its grace (SPEC 2, first bullet)."""

from __future__ import annotations

from ....harness.invariant import Invariant, Level
from ....harness.verdicts import Finding, held, undecided
from ...answers import SURFACING
from ...trace import Fetch, WaitTrace
from ._judging import breach, each_wait, how, seconds
from .outcome import describe


def _goes_on(wait: WaitTrace, number: int, what: str) -> Finding:
    """The wait went on after this fetch, or timed out at its limit."""
    fetch = wait.fetches[number]
    seqs = [fetch.end.seq] if fetch.end is not None else []
    if number + 1 < len(wait.fetches):
        return held(seqs)
    if wait.cancelled:
        return held()
    if wait.outcome is None:
        return undecided(f"the run ended after {what}", events=tuple(seqs))
    if wait.category != "timeout":
        return breach(
            wait,
            f"{what} ended the wait",
            [fetch.end, wait.outcome],
            expected="to go on until the limit",
            observed=how(wait),
        )
    return held(seqs)


def _transient(wait: WaitTrace) -> Finding:
    policy = wait.dialect.transient
    seen: list[int] = []
    if policy == "raise":
        return held()
    numbers = {id(fetch): number for number, fetch in enumerate(wait.fetches)}
    for poll in wait.polls():
        for place, fetch in enumerate(poll):
            if (
                fetch.kind != "transient"
                or fetch.says is None
                or (policy == "client" and place >= wait.dialect.client_retries)
            ):
                continue
            finding = _goes_on(wait, numbers[id(fetch)], f"a transient failure ({_why(fetch)})")
            if not finding.answer:
                return finding
            seen.extend(finding.witnesses)
    return held(seen)


def _why(fetch: Fetch) -> str:
    if fetch.says is not None and fetch.says.http:
        return f"HTTP {fetch.says.http}"
    return str(fetch.end.data.get("error") or "given up") if fetch.end is not None else "open"


def _surfaces(wait: WaitTrace, number: int) -> Finding:
    """The wait raised a transport error right after this fetch."""
    fetch = wait.fetches[number]
    if fetch.end is None or fetch.says is None:
        return held()
    what = describe(fetch.says)
    if wait.cancelled and wait.cancel is not None and wait.cancel.at <= fetch.ended + wait.tolerance:
        return held()
    more = wait.after(fetch.end)
    if more:
        act = "fetched" if isinstance(more[0], Fetch) else "slept"
        return breach(
            wait,
            f"{act} again after an answer that was {what}",
            [fetch.end, more[0]],
            expected="an error at once",
            observed=act,
        )
    if wait.outcome is None:
        return undecided(f"the run ended after an answer that was {what}", events=(fetch.end.seq,))
    if wait.category != "transport":
        return breach(
            wait,
            f"an answer that was {what} did not surface as such",
            [fetch.end, wait.outcome],
            expected="a transport error",
            observed=how(wait),
        )
    if wait.outcome.at > fetch.ended + wait.tolerance:
        return breach(
            wait,
            f"an answer that was {what} surfaced late",
            [fetch.end, wait.outcome],
            expected=f"an error at {seconds(fetch.ended)}",
            observed=how(wait),
        )
    return held([fetch.end.seq])


def _permanent(wait: WaitTrace) -> Finding:
    seen: list[int] = []
    for number, fetch in enumerate(wait.fetches):
        # Without a grace, which few waiters have, a 404 is permanent as well.
        if fetch.kind in SURFACING or (fetch.kind == "not_found" and wait.call.not_found_grace == 0):
            finding = _surfaces(wait, number)
            if not finding.answer:
                return finding
            seen.extend(finding.witnesses)
    return held(seen)


def _not_found(wait: WaitTrace) -> Finding:
    grace = wait.call.not_found_grace
    seen: list[int] = []
    for number, fetch in enumerate(wait.fetches):
        if fetch.kind != "not_found":
            continue
        asked_after = fetch.began - wait.began
        if grace > 0 and abs(asked_after - grace) <= wait.tolerance:
            continue  # at the very end of the grace both are right
        tolerated = grace > 0 and asked_after < grace
        finding = (
            _goes_on(wait, number, f"a 404 within its grace of {seconds(grace)}")
            if tolerated
            else _surfaces(wait, number)
        )
        if not finding.answer:
            return finding
        seen.extend(finding.witnesses)
    return held(seen)


INVARIANTS = (
    Invariant(
        id="waiter.transient_tolerated", level=Level.MUST, claim="transient", check=each_wait(_transient), source="SPEC 2 first bullet; W15, W38, W44",
        expectation="A transient failure of a fetch (no answer, 408, 425, 429, 5xx but 501 and 505) does not end the wait.",
    ),
    Invariant(
        id="waiter.permanent_surfaced", level=Level.MUST, claim="permanent", check=each_wait(_permanent), source="SPEC 2 first bullet; W45, W77",
        expectation="A permanent failure, a body that is no job and the answer for another job are raised at once, as a transport error.",
    ),
    Invariant(
        id="waiter.not_found_grace", level=Level.MUST, claim="not_found_grace", check=each_wait(_not_found), source="SPEC 2 first bullet; W32, W84",
        expectation="A 404 to a request that began within the grace is tolerated; any other is raised at once.",
    ),
)  # fmt: skip
