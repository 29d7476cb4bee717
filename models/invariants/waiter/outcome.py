"""Outcomes: the end of the job decides the end of the wait, and the three ways to fail are told apart (SPEC 2, step 5)."""

from __future__ import annotations

from collections.abc import Callable

from ....harness.history import Event
from ....harness.invariant import Invariant, Level
from ....harness.verdicts import Finding, held, undecided
from ...answers import SURFACING, Says
from ...event_data import mapping
from ...trace import Fetch, WaitTrace
from ...waiter import raises_failure
from ._judging import breach, each_wait, how, seconds


def _expected_end(wait: WaitTrace, says: Says) -> str:
    return "failure" if raises_failure(wait.call, wait.dialect, says) else "returned"


def _by_status(wait: WaitTrace) -> Finding:
    last = wait.final
    if wait.outcome is None or wait.category in ("cancelled", "value"):
        return undecided("the run ended before the wait did") if wait.outcome is None and not wait.cancelled else held()
    if last is None or last.says is None:
        if wait.category in ("returned", "failure") and not wait.fetches:
            return breach(
                wait,
                "ended without an answer",
                [wait.start, wait.outcome],
                expected="an end that an answer gave",
                observed=how(wait),
            )
        return held()
    says, shown = last.says, [last.end, wait.outcome]
    if says.kind in ("unclear", "aborted", "wrong_id") or (
        says.kind == "unknown" and wait.dialect.unknown_status != "continue"
    ):
        return held()
    if not says.terminal:
        if wait.category in ("returned", "failure"):
            return breach(
                wait, f"ended as if the job had ended; the last answer was {describe(says)}", shown,
                expected="a return or a failure only after a terminal answer", observed=how(wait),
            )  # fmt: skip
        return held([wait.outcome.seq]) if says.kind in ("running", "unknown") else held()
    deadline = wait.deadline
    if wait.category == "timeout" and deadline is not None and last.ended >= deadline - wait.tolerance:
        return held()  # too late by its own limit; whether it should have been taken is for prompt_stop
    expected = _expected_end(wait, says)
    if wait.cancelled and wait.category not in ("returned", "failure"):
        return held()
    if wait.category != expected:
        return breach(
            wait, f"the job ended as {says.status} ({says.word!r}), and the caller was told otherwise", shown,
            expected="the job returned" if expected == "returned" else "a failure raised", observed=how(wait),
        )  # fmt: skip
    said = wait.view.get("status") if wait.category == "returned" else None
    if said is not None and said != says.status:
        return breach(
            wait, f"returned {said!r} for a job that ended as {says.status}", shown, expected=str(says.status), observed=str(said),
        )  # fmt: skip
    return held([last.end.seq] if last.end is not None else [])


def describe(says: Says) -> str:
    """An answer in a few words."""
    if says.kind in ("terminal", "running", "unknown"):
        return f"{says.kind} ({says.word!r})"
    return says.kind.replace("_", " ") + (f" (HTTP {says.http})" if says.http else "")


def _failed(wait: WaitTrace) -> Fetch | None:
    """The last poll, if it says that the job failed or was cancelled and that counts as a failure."""
    last = wait.final
    if last is None or last.says is None or not last.says.terminal or last.says.status == "completed" or wait.cancelled:
        return None
    return None if last.says.status == "cancelled" and wait.dialect.cancelled_is == "done" else last


def _failure(wanted: Callable[[WaitTrace, Says], bool]) -> Callable[[WaitTrace], Finding]:
    def judge(wait: WaitTrace) -> Finding:
        last = _failed(wait)
        if last is None or last.says is None or last.end is None or not wanted(wait, last.says):
            return held()
        if wait.outcome is None:
            return undecided("the run ended before the wait did", events=(last.end.seq,))
        says, shown = last.says, [last.end, wait.outcome]
        expected = _expected_end(wait, says)
        if wait.category != expected:
            return breach(
                wait,
                f"the job ended as {says.status}, and this was not {'raised as a failure' if expected == 'failure' else expected}",
                shown,
                expected=expected,
                observed=how(wait),
            )
        carries = mapping(wait.outcome.data.get("carries")) if expected == "failure" else {}
        view = mapping(carries.get("view")) if expected == "failure" else wait.view
        if view.get("status") not in (None, says.status):
            return breach(
                wait, f"handed out a job that is {view.get('status')}", shown, expected=f"a job that is {says.status}", observed=str(view.get("status")),
            )  # fmt: skip
        return held([last.end.seq])

    return judge


def error_text(says: Says) -> bool:
    """True if the envelope says why the job failed, in any of its forms."""
    return says.body is not None and any(
        says.body.get(key) not in (None, "", [], {}) for key in ("error", "failure_reason")
    )


def _disjoint(wait: WaitTrace) -> Finding:
    last = wait.final
    if (
        wait.outcome is None
        or wait.category not in ("timeout", "failure", "transport")
        or last is None
        or last.says is None
        or wait.cancelled
    ):
        return held()
    says, shown = last.says, [last.end, wait.outcome]
    is_timeout = bool(wait.outcome.data.get("builtin_timeout"))
    if wait.category != "timeout" and is_timeout:
        return breach(
            wait,
            f"a {wait.category} error that is a TimeoutError",
            shown,
            expected="only a timeout is one",
            observed=how(wait),
        )
    soonest = wait.soonest_end
    expected: tuple[str, ...] = ()
    if says.terminal:
        expected = ("failure",)
    elif says.kind in SURFACING:
        expected = ("transport",)
    elif says.kind in ("transient", "not_found"):
        spent = soonest is not None and wait.outcome.at >= soonest - wait.tolerance
        expected = ("timeout", "transport") if spent else ("transport",)
        if spent and says.kind == "transient" and wait.dialect.transient == "retry":
            expected = ("timeout",)
        if wait.dialect.limit == "attempts":
            expected = ("timeout", "transport")
    elif says.kind == "running" or (says.kind == "unknown" and wait.dialect.unknown_status == "continue"):
        expected = ("timeout",)
    if says.kind in SURFACING and "permanent" not in wait.claims:
        expected += ("timeout",)  # it may take that answer for one to be asked again
    if says.kind == "transient" and "transient" not in wait.claims:
        expected += ("transport",)
    if not expected:
        return held()
    if wait.category not in expected:
        return breach(
            wait, f"raised a {wait.category} error after an answer that was {describe(says)}", shown, expected=" or ".join(expected), observed=how(wait),
        )  # fmt: skip
    return held([wait.outcome.seq])


def _timeout_tells(wait: WaitTrace) -> Finding:
    if wait.category != "timeout" or wait.outcome is None or wait.cancelled:
        return held()
    data, carries = wait.outcome.data, mapping(wait.outcome.data.get("carries"))
    shown: list[Fetch | Event] = [*wait.fetches[-1:], wait.outcome]

    def wrong(what: str, expected: object, observed: object) -> Finding:
        return breach(
            wait, f"the timeout error tells {what} wrong", shown, expected=str(expected), observed=str(observed)
        )

    if not data.get("builtin_timeout"):
        return wrong("its type", "a TimeoutError", data.get("type"))
    jobs = [
        fetch.says
        for fetch in wait.fetches
        if fetch.says is not None and fetch.kind in ("terminal", "running", "unknown")
    ]
    clear = all(fetch.kind not in ("unclear", "open") for fetch in wait.fetches)
    elapsed, polls = carries.get("elapsed"), carries.get("polls")
    took = wait.outcome.at - wait.began
    if not isinstance(elapsed, int | float) or abs(elapsed - took) > 2 * wait.tolerance + 1e-9 * took:
        return wrong("the elapsed time", seconds(took), elapsed)
    if polls != len(wait.polls()) and polls != len(wait.fetches):
        return wrong("the number of polls", len(wait.polls()), polls)
    view, word = mapping(carries.get("view")), carries.get("raw_status")
    if clear and not jobs and carries.get("view") is not None and any(value is not None for value in view.values()):
        return wrong("the last job", "None: no fetch succeeded", dict(view))
    if clear and jobs:
        if view.get("status") != jobs[-1].status:
            return wrong("the last job", jobs[-1].status, view.get("status"))
        if isinstance(jobs[-1].word, str) and word != jobs[-1].word:
            return wrong("the raw status", repr(jobs[-1].word), repr(word))
    last = wait.final
    if last is not None and last.says is not None and last.says.failed_fetch and not data.get("cause"):
        return wrong("its cause", f"the failed fetch: {describe(last.says)}", "no cause")
    return held([wait.outcome.seq])


INVARIANTS = (
    Invariant(
        id="waiter.outcome_by_status", level=Level.MUST, safety=True, check=each_wait(_by_status), source="SPEC 2 step 5; W5, W34, W48, W68, W82",
        expectation="A wait returns or raises a failure exactly as the last answer's status says, and never before the job has ended.",
    ),
    Invariant(
        id="waiter.failure_raised", level=Level.MUST, claim="failure",
        check=each_wait(_failure(lambda wait, says: raises_failure(wait.call, wait.dialect, says))), source="SPEC 2 step 5; W5, W68",
        expectation="Where a failure is to be raised, a failed or cancelled job is, and the error hands out that job.",
        possible=lambda dialect: (
            dialect.failure == "raise" or (dialect.failure == "option" and "raise_on_failure" in dialect.parameters)
        ),
    ),
    Invariant(
        id="waiter.failure_returned", level=Level.MUST, claim="failure",
        check=each_wait(_failure(lambda wait, says: not raises_failure(wait.call, wait.dialect, says))), source="SPEC 2 step 5",
        expectation="Where a failure is not to be raised, a failed or cancelled job is returned, and says so.",
        possible=lambda dialect: dialect.failure != "raise",
    ),
    Invariant(
        id="waiter.failure_without_error_object", level=Level.MUST, claim="failure",
        check=each_wait(_failure(lambda _, says: not error_text(says))), source="SPEC 2 step 5; W67",
        expectation="A failed job whose envelope holds no error is treated as any other failed job.",
    ),
    Invariant(
        id="waiter.outcomes_disjoint", level=Level.MUST, claim="disjoint", check=each_wait(_disjoint), source="SPEC 2 step 5; W34, W41, W82",
        expectation="Timeout, failure and transport error are raised each in its own situation, and only the timeout is a TimeoutError.",
    ),
    Invariant(
        id="waiter.timeout_tells", level=Level.MUST, claim="timeout_tells", check=each_wait(_timeout_tells), source="SPEC 2 step 2",
        expectation="The timeout error carries the last job, its raw status, elapsed time and number of polls, and its cause is the failed last fetch.",
    ),
)  # fmt: skip
