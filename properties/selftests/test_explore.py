"""The reference model, walked to its end, breaks no invariant; and a model that is wrong is caught by one."""

import pytest

from waitproof.harness.dialect import WaiterDialect
from waitproof.models import explore as exploring
from waitproof.models.explore import ANSWERS, CALLS, ExplorationError, explore
from waitproof.models.waiter import Action, WaiterModel

REACHED = [
    "waiter.cancel_original",
    "waiter.cancel_prompt",
    "waiter.cancel_stops",
    "waiter.early_wake_no_fetch",
    "waiter.exact_schedule",
    "waiter.failure_raised",
    "waiter.failure_returned",
    "waiter.failure_without_error_object",
    "waiter.fetch_bounded",
    "waiter.fetch_first",
    "waiter.final_poll",
    "waiter.follows_model",
    "waiter.gives_up_not_early",
    "waiter.identity_of_answer",
    "waiter.interval_fixed",
    "waiter.jitter_in_range",
    "waiter.no_sleep_past_deadline",
    "waiter.no_storm",
    "waiter.not_found_grace",
    "waiter.outcome_by_status",
    "waiter.outcomes_disjoint",
    "waiter.permanent_surfaced",
    "waiter.prompt_stop",
    "waiter.result_is_the_answer",
    "waiter.retry_after_clipped",
    "waiter.retry_after_each_response",
    "waiter.retry_after_garbage_ignored",
    "waiter.retry_after_honoured",
    "waiter.retry_after_on_success",
    "waiter.stops_at_deadline",
    "waiter.timeout_tells",
    "waiter.total_time",
    "waiter.transient_tolerated",
    "waiter.unknown_status_continues",
    "waiter.unknown_status_visible",
]


@pytest.mark.slow
def test_the_model_breaks_no_invariant():
    found = explore(depth=6)
    print(
        f"\n{found.states} states, {found.events} events, {found.histories} histories, {len(ANSWERS)} kinds of answer"
    )
    assert found.depth >= 6
    assert len(ANSWERS) >= 10
    assert found.histories > 1_000
    assert [name for name in REACHED if not found.exercised[name]] == []


@pytest.mark.parametrize(
    "dialect",
    [
        WaiterDialect(first="sleep"),
        WaiterDialect(final_poll=False),
        WaiterDialect(clips=False),
        WaiterDialect(unknown_status="raise"),
        WaiterDialect(failure="raise", cancelled_is="done"),
        WaiterDialect(transient="raise"),
        WaiterDialect(early_wake="fetch"),
        WaiterDialect(words="enum"),
    ],
    ids=lambda dialect: ",".join(
        f"{key}={value}" for key, value in dialect.as_json().items() if value != WaiterDialect().as_json()[key]
    ),
)
def test_every_dialect_breaks_no_invariant(dialect):
    assert explore(depth=3, calls=CALLS[:2], dialect=dialect).histories > 100


def wrong(monkeypatch, change):
    """Let the model that is walked, but not the one that judges, allow ``change`` of what it should."""
    right = WaiterModel.allowed

    class Walk(exploring._Walk):
        def __init__(self, *args):
            super().__init__(*args)
            monkeypatch.setattr(WaiterModel, "allowed", right)
            self.model = Wrong.of(self.call, self.dialect, exploring.CLAIMS)

    class Wrong(WaiterModel):
        def allowed(self, state):
            return change(self, state, super().allowed(state))

    monkeypatch.setattr(exploring, "_Walk", Walk)


def test_a_model_that_gives_up_early_is_caught(monkeypatch):
    wrong(
        monkeypatch,
        lambda model, state, acts: (
            (*acts, Action(act="timeout", low=state.now, high=state.now)) if state.phase == "pausing" else acts
        ),
    )
    with pytest.raises(ExplorationError, match=r"early|before|without a last fetch"):
        explore(depth=3, calls=CALLS[:1])


def test_a_model_that_ignores_failures_is_caught(monkeypatch):
    wrong(
        monkeypatch,
        lambda model, state, acts: tuple(
            Action(act="returned", low=a.low, high=a.high) if a.act == "failure" else a for a in acts
        ),
    )
    with pytest.raises(ExplorationError, match=r"waiter\.(failure|outcome)"):
        explore(depth=2, calls=CALLS[1:2])
