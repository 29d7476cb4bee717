"""Pacing: what the server asks for is obeyed, answer by answer, and clipped to the deadline (SPEC 2, "Pacing")."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

from ....harness.invariant import Invariant, Level
from ....harness.verdicts import Finding, held
from ...pacing import Hint
from ...pauses import Pause
from ...schedule import PACED_STATUSES, obeyed, past_deadline
from ...trace import WaitTrace
from ._judging import breach, each_wait, how, seconds
from .pauses import judge_pauses


def _hint(pause: Pause) -> Hint | None:
    return pause.after.says.hint if pause.after is not None and pause.after.says is not None else None


def _on(pause: Pause, *, success: bool) -> bool:
    http = pause.after.says.http if pause.after is not None and pause.after.says is not None else 0
    return 200 <= http < 300 if success else http in PACED_STATUSES


def _of_form(form: str) -> Callable[[WaitTrace], Finding]:
    def judge(wait: WaitTrace) -> Finding:
        def wanted(pause: Pause) -> bool:
            hint = _hint(pause)
            return hint is not None and hint.form == form and not hint.ignorable and _on(pause, success=False)

        return judge_pauses(wait, wanted)

    return judge


def _on_success(wait: WaitTrace) -> Finding:
    def wanted(pause: Pause) -> bool:
        hint = _hint(pause)
        return hint is not None and not hint.ignorable and _on(pause, success=True)

    return judge_pauses(wait, wanted)


def _each_response(wait: WaitTrace) -> Finding:
    """Exercised once two pauses in a row had different hints, or one had none: then a hint that is kept too long shows."""
    pauses = wait.pauses()
    turns = set()
    for one, other in pairwise(pauses):
        before, now = _hint(one), _hint(other)
        if before is not None and (now is None or now.low != before.low):
            turns.add(other.index)
    return judge_pauses(wait, lambda pause: pause.index in turns)


def _garbage(wait: WaitTrace) -> Finding:
    def wanted(pause: Pause) -> bool:
        says = pause.after.says if pause.after is not None else None
        return says is not None and says.paced and says.hint is None

    last = wait.final
    unread = last is not None and last.says is not None and last.says.paced and last.says.hint is None
    goes_on = last is not None and last.kind in ("running", "unknown")
    if last is not None and unread and goes_on and wait.category in ("other", "value") and not wait.cancelled:
        return breach(
            wait, "a pacing header that can't be read ended the wait", [last.end, wait.outcome],
            expected="to go on as if there were none", observed=how(wait),
        )  # fmt: skip
    return judge_pauses(wait, wanted)


def _clipped(wait: WaitTrace) -> Finding:
    deadline, near = wait.deadline, wait.tolerance
    if deadline is None or not wait.dialect.clips:
        return held()
    seen = []
    for number, fetch in enumerate(wait.fetches):
        says = fetch.says
        if (
            says is None
            or says.hint is None
            or fetch.end is None
            or wait.cancelled
            or not obeyed(says, wait.claims)
            or says.kind == "unclear"
        ):
            continue
        if (
            says.terminal
            or fetch.ended >= deadline - near
            or (says.kind == "transient" and wait.dialect.transient != "retry")
        ):
            continue
        beyond = not says.hint.ignorable and says.arrived + says.hint.low > deadline + near
        after = wait.fetches[number + 1] if number + 1 < len(wait.fetches) else None
        if not beyond or says.kind not in ("running", "unknown", "transient"):
            continue
        if past_deadline(says, fetch.ended, deadline, near):
            if after is not None:
                return breach(
                    wait, "fetched though the server asked to be left alone past the deadline", [fetch.end, after],
                    expected=f"no fetch, and a timeout at {seconds(deadline)}", observed=f"a fetch at {seconds(after.began)}",
                )  # fmt: skip
            if wait.outcome is not None:
                late = sum(max(sleep.late, 0.0) for sleep in wait.sleeps if sleep.start.seq > fetch.end.seq)
                if wait.category != "timeout" or not deadline - near <= wait.outcome.at <= deadline + late + near:
                    return breach(
                        wait, "did not sleep to the deadline and raise", [fetch.end, wait.outcome], expected=f"a timeout at {seconds(deadline)}", observed=how(wait),
                    )  # fmt: skip
                seen.append(wait.outcome.seq)
        elif says.http in PACED_STATUSES or after is None:
            continue
        else:
            late = sum(
                max(sleep.late, 0.0) for sleep in wait.sleeps if fetch.end.seq < sleep.start.seq < after.start.seq
            )
            if not deadline - near <= after.began <= deadline + late + near:
                return breach(
                    wait, "a hint past the deadline was not clipped to it", [fetch.end, after], expected=f"a fetch at {seconds(deadline)}", observed=f"at {seconds(after.began)}",
                )  # fmt: skip
            seen.append(after.start.seq)
    return held(seen)


INVARIANTS = (
    Invariant(
        id="waiter.retry_after_honoured", level=Level.MUST, claim="retry_after", check=each_wait(_of_form("seconds")), source="SPEC 2 pacing; W15, W30, D60",
        expectation="After 429 or 503 with Retry-After in seconds it waits max(delay, hint), counted from the arrival of the answer.",
        possible=lambda dialect: dialect.transient == "retry",
    ),
    Invariant(
        id="waiter.retry_after_ms", level=Level.MUST, claim="retry_after_ms", check=each_wait(_of_form("ms")), source="SPEC 2 pacing; W15",
        expectation="retry-after-ms is obeyed as milliseconds, and wins over Retry-After.",
    ),
    Invariant(
        id="waiter.retry_after_date", level=Level.MUST, claim="retry_after_date", check=each_wait(_of_form("date")), source="SPEC 2 pacing; W25, W27",
        expectation="Retry-After as an HTTP-date is obeyed as the date minus the answer's own Date.",
    ),
    Invariant(
        id="waiter.retry_after_on_success", level=Level.MUST, claim="retry_after_2xx", check=each_wait(_on_success), source="SPEC 2 pacing; W30",
        expectation="A hint on a 2xx answer replaces that one wait, without jitter, at least 0.01 s.",
    ),
    Invariant(
        id="waiter.retry_after_each_response", level=Level.MUST, claim="retry_after", check=each_wait(_each_response), source="SPEC 2 pacing; W31",
        expectation="A hint counts for the pause after its own answer only: the next answer has its own hint, or none.",
    ),
    Invariant(
        id="waiter.retry_after_clipped", level=Level.MUST, claim="retry_after", check=each_wait(_clipped), source="SPEC 2 pacing; W22",
        expectation="A hint past the deadline is clipped to it; on 429 and 503 there is then no final fetch, but a timeout at the deadline.",
        possible=lambda dialect: dialect.limit == "time" and dialect.clips,
    ),
    Invariant(
        id="waiter.retry_after_garbage_ignored", level=Level.MUST, claim="retry_after", check=each_wait(_garbage), source="SPEC 2 pacing; W27, W28",
        expectation="A pacing header that is no finite number of at least 0 and no date changes nothing.",
    ),
)  # fmt: skip
