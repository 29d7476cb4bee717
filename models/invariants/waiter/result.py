"""Results: what is handed out is what the last answer said, and it is about the job that was asked for (SPEC 2 and 3)."""

from __future__ import annotations

from collections.abc import Mapping

from ....harness.invariant import Invariant, Level
from ....harness.jsonable import Json, plain
from ....harness.verdicts import Finding, held
from ...answers import Says
from ...trace import WaitTrace
from ._judging import breach, each_wait, how
from .outcome import error_text


def _empty(value: Json) -> bool:
    return value in (None, "", [], {})


def _agrees(view: Json, payload: Json) -> bool:
    """Every part of the view that holds something is in the payload. A typed view may lack keys, or add empty ones."""
    if isinstance(view, Mapping) and isinstance(payload, Mapping):
        return all(_empty(value) or (key in payload and _agrees(value, payload[key])) for key, value in view.items())
    if isinstance(view, list) and isinstance(payload, list):
        return len(view) == len(payload) and all(_agrees(one, other) for one, other in zip(view, payload, strict=True))
    return view == payload or (_empty(view) and _empty(payload))


def _result_is_the_answer(wait: WaitTrace) -> Finding:
    last = wait.final
    if (
        wait.category != "returned"
        or wait.outcome is None
        or last is None
        or last.says is None
        or last.says.body is None
        or not last.says.terminal
    ):
        return held()
    view, says, body = wait.view, last.says, last.says.body
    shown = [last.end, wait.outcome]

    def wrong(what: str, expected: object, observed: object) -> Finding:
        return breach(
            wait,
            f"the returned value has another {what} than the last answer",
            shown,
            expected=repr(expected)[:200],
            observed=repr(observed)[:200],
        )

    if view.get("raw_status") is not None and view.get("raw_status") != says.word:
        return wrong("raw status", says.word, view.get("raw_status"))
    if view.get("raw") is not None and plain(view.get("raw")) != plain(body):
        return wrong("envelope", body, view.get("raw"))
    if (
        view.get("job_id") is not None
        and body.get("job_id") is not None
        and str(view.get("job_id")) != str(body.get("job_id"))
    ):
        return wrong("job id", body.get("job_id"), view.get("job_id"))
    if says.status == "completed":
        held_ = [payload for payload in (body.get("result"), body.get("data")) if isinstance(payload, dict) and payload]
        result = view.get("result")
        if held_ and not any(_agrees(result, payload) for payload in held_):
            return wrong("result", held_[0], result)
        if held_ and (
            _empty(result) or (isinstance(result, Mapping) and all(_empty(value) for value in result.values()))
        ):
            return wrong("result", held_[0], result)
    elif says.status == "failed" and error_text(says):
        finding = _error(says, view)
        if finding is not None:
            return wrong("error", *finding)
    return held([last.end.seq] if last.end is not None else [])


def _error(says: Says, view: Mapping[str, Json]) -> tuple[object, object] | None:
    """Expected and observed, if the view lost the message that the envelope gave as text or as an object."""
    body = says.body or {}
    said, reason = body.get("error"), body.get("failure_reason")
    texts = [said.get("message") if isinstance(said, dict) else said, reason]
    wanted = [text for text in texts if isinstance(text, str) and text.strip()]
    shown = view.get("error")
    message = shown.get("message") if isinstance(shown, Mapping) else shown
    if wanted and not (isinstance(message, str) and any(text.strip() in message for text in wanted)):
        return wanted[0], shown
    return None


def _identity(wait: WaitTrace) -> Finding:
    if wait.category != "returned" or wait.outcome is None:
        last = wait.final
        strange = last is not None and last.kind == "wrong_id" and wait.outcome is not None and last.end is not None
        return held([last.end.seq] if strange and last is not None and last.end is not None else [])
    last = wait.final
    asked = str(wait.call.job_id)
    if last is not None and last.says is not None and last.kind == "wrong_id":
        found = (last.says.body or {}).get("job_id")
        return breach(
            wait, f"returned the answer for another job, {found!r}", [last.end, wait.outcome], expected=f"an error: the job asked for was {asked!r}", observed=how(wait),
        )  # fmt: skip
    named = wait.view.get("job_id")
    if named is not None and str(named) != asked and (last is None or last.kind != "unclear"):
        return breach(
            wait,
            f"returned a value that says it is job {named!r}",
            [wait.outcome],
            expected=repr(asked),
            observed=repr(named),
        )
    strangers = [fetch.end.seq for fetch in wait.fetches if fetch.kind == "wrong_id" and fetch.end is not None]
    return held(strangers)


INVARIANTS = (
    Invariant(
        id="waiter.result_is_the_answer", level=Level.MUST, claim="result", check=each_wait(_result_is_the_answer), source="SPEC 3; W10, W35, W85",
        expectation="What is returned says what the last answer said: id, raw status, envelope, result, error.",
    ),
    Invariant(
        id="waiter.identity_of_answer", level=Level.MUST, safety=True, check=each_wait(_identity), source="SPEC 2 identity; W11",
        expectation="An answer that names another job is never returned as the result.",
    ),
)  # fmt: skip
