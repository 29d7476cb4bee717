"""Submit, limits, drops, coalescing, snapshots: a history that holds, one that violates, one that never gets there."""

import pytest

from waitproof.properties.dispatch._histories import Story, dialect, verdict


def refused(reason="", at=0.0, hint=None, before=None, **call):
    story = Story()
    if before:
        story.call(0, **before)
    op = f"s{story.submits}"
    story.submit(0, accepted=False, **call)
    return story.told(at, op, "refused", reason=reason, retry_after=hint).add(
        at, "call.accepted", "caller", op, raised=None
    )


def accepted(at=1.0, **call):
    """Taken in and run."""
    story = Story()
    return story.done(at, "o0", **call)


def key_twice(second, outcome=None):
    story = Story().call(0, key="k", payload={"a": 1})
    story.submit(0, key="k", payload={"a": second}, outcome=outcome, reason="key_payload" if outcome else "")
    return story


def binds(outcome=None, first="applied", **second):
    story = Story().call(0, type="bind", target="node-1")
    if first:
        story.run(0, "o0").told(0, "s0", first)
    story.submit(
        1, **{"type": "bind", "target": "node-2", **second}, outcome=outcome, reason="second_bind" if outcome else ""
    )
    return story


def live(count, capacity=2, told_at=None, **fields):
    story = Story(dialect(**fields), capacity=capacity)
    for number in range(count):
        story.submit(0, uid=f"uid-{number}")
    if told_at is not None:
        story.told(told_at, "s0", "dropped")
    return story.told(5, f"s{count - 1}", "cancelled")


def flight(count, workers=2, **call):
    story = Story(workers=workers, shares={"p": (3, 1)})
    for number in range(count):
        story.call(0, uid=f"uid-{number}", **call).start(0, f"o{number}")
    for number in range(count):
        story.answer(1, f"o{number}").told(1, f"s{number}")
    return story


def plugin_live(count):
    story = Story(shares={"p": (1, 1)})
    for number in range(count):
        story.submit(0, uid=f"uid-{number}", plugin="p")
    return story.told(1, "s0", "cancelled")


def drop(victim="s0", *, newcomer=None, calls=({}, {}), capacity=2, sent=False, reason="room", kind="dropped", at=1.0):
    """A full queue of ``calls``, a newcomer at second 1, and who is given up for it."""
    story = Story(capacity=capacity)
    for number, call in enumerate(calls):
        story.submit(0, uid=f"uid-{number}", **call)
    if sent:
        story.run(0, "o0", 503)
    op = story.submit(at, uid="uid-new", accepted=False, **(newcomer or {"priority": 50}))
    story.told(at, victim, kind, reason=reason)
    return story.add(at, "call.accepted", "caller", op, raised=None)


def twins(*, ends=("applied", "merged"), own="applied", same=True, again=False, at=0.0):
    story = Story().call(0, "o0").call(at, "o0" if same else "o1")
    story.run(1, "o0", lasts=1)
    if again:
        story.run(3, "o0")
    for number, kind in enumerate(ends):
        story.told(4 if again else 2, f"s{number}", kind, own=own if kind == "merged" else None)
    return story


def not_alike():
    """Two submits of one operation that are no twins, as they differ in precondition: both are sent."""
    story = Story().call(0, "o0").call(0, "o0", generation=(1, 0))
    return story.run(1, "o0").told(1, "s0").run(2, "o0").told(2, "s1")


def taken_in_late():
    """Among threads: a third twin's submit is under way while the first one is answered, and returns after that."""
    story = Story().call(0, "o0").call(0, "o0").start(1, "o0")
    late = story.submit(2, "o0", accepted=False)
    story.effect(2, "o0").answer(2, "o0").told(2, "s0").told(2, "s1", "merged", own="applied")
    story.add(2, "call.accepted", "caller", late, raised=None, message="")
    return story.run(2, "o0").told(2, late)


def at_once():
    """The second is submitted when the first has been told unknown, while its attempt is still under way."""
    story = Story().call(0, "o0").start(0, "o0").told(1, "s0", "unknown").call(1, "o0").start(1, "o0")
    story.answer(2, "o0", number=1).told(2, "s1")
    return story.answer(3, "o0", number=0)


def newest(target="status"):
    story = Story(dialect(coalescing="newest")).call(0).call(0, target=target)
    return story.run(1, "o1").told(1, "s0", "merged", own="applied").told(1, "s1")


def left(kind, *, cancelled=()):
    """One of two joiners is cancelled at second 1; the other is told at 2."""
    story = Story().call(0, "o0").call(0, "o0").cancel(1, "s0").told(1, "s0", "cancelled")
    for op in cancelled:
        story.cancel(1, op)
    if kind == "applied":
        story.run(2, "o0")
    return story.told(2, "s1", kind)


def joined(first, *, low=0, high=50):
    """One worker is busy; A of middling priority waits, and B, which a joiner made urgent. Which is ``first`` when the worker is free?"""
    story = Story(workers=1).call(0, uid="u0").start(0, "o0")
    story.call(1, "a", uid="ua", priority=20).call(1, "b", uid="ub", priority=low).call(2, "b", uid="ub", priority=high)
    story.answer(5, "o0").told(5, "s0")
    story.run(5, first, lasts=1)
    return story.run(6, "b" if first == "a" else "a")


def mutated(sent, **fields):
    story = Story(dialect(**fields)).call(0, payload={"a": 1}).mutate(1, "s0")
    return story.run(2, "o0", payload={"a": sent, "operation": "o0"}).told(2, "s0")


CASES = [
    ("dispatch.submit_at_once", accepted, "held"),
    ("dispatch.submit_at_once", lambda: Story().call(0, took=1), "violated"),
    ("dispatch.submit_at_once", Story, "vacuous"),
    ("dispatch.submit_never_raises", accepted, "held"),
    ("dispatch.submit_never_raises", lambda: Story().call(0, raised="ValueError"), "violated"),
    ("dispatch.submit_never_raises", Story, "vacuous"),
    ("dispatch.refusal_typed", lambda: refused("capacity"), "held"),
    ("dispatch.refusal_typed", lambda: refused(""), "violated"),
    ("dispatch.refusal_typed", lambda: refused("capacity", at=1), "violated"),
    ("dispatch.refusal_typed", lambda: refused("capacity").run(1, "o0"), "violated"),
    ("dispatch.refusal_typed", accepted, "vacuous"),
    ("dispatch.refusal_is_so", lambda: refused("type", type="frobnicate"), "held"),
    ("dispatch.refusal_is_so", lambda: refused("type"), "violated"),
    ("dispatch.refusal_is_so", lambda: refused("key_payload", key="k"), "violated"),
    ("dispatch.refusal_is_so", lambda: refused("share"), "violated"),
    ("dispatch.refusal_is_so", accepted, "vacuous"),
    ("dispatch.unknown_type_refused", lambda: refused("type", type="frobnicate"), "held"),
    ("dispatch.unknown_type_refused", lambda: accepted(type="frobnicate"), "violated"),
    ("dispatch.unknown_type_refused", accepted, "vacuous"),
    ("dispatch.in_cycle_refused", lambda: refused("in_cycle", needed_in_cycle=True), "held"),
    ("dispatch.in_cycle_refused", lambda: accepted(needed_in_cycle=True), "violated"),
    ("dispatch.in_cycle_refused", accepted, "vacuous"),
    ("dispatch.expired_at_submit", lambda: Story().call(5, deadline=1.0, outcome="expired"), "held"),
    ("dispatch.expired_at_submit", lambda: Story().done(5, "o0", deadline=1.0), "violated"),
    ("dispatch.expired_at_submit", lambda: accepted(deadline=9.0), "vacuous"),
    ("dispatch.one_payload_a_key", lambda: key_twice(2, "refused"), "held"),
    ("dispatch.one_payload_a_key", lambda: key_twice(2), "violated"),
    ("dispatch.one_payload_a_key", lambda: key_twice(1), "vacuous"),
    ("dispatch.second_bind_refused", lambda: binds("refused"), "held"),
    ("dispatch.second_bind_refused", lambda: binds("refused", first=""), "held"),
    ("dispatch.second_bind_refused", binds, "violated"),
    ("dispatch.second_bind_refused", lambda: binds(first=""), "violated"),
    ("dispatch.second_bind_refused", lambda: binds(context="context-2"), "vacuous"),
    ("dispatch.second_bind_refused", lambda: binds(first="failed"), "vacuous"),
    ("dispatch.backpressure_hint", lambda: refused("capacity", hint=1.0), "held"),
    ("dispatch.backpressure_hint", lambda: refused("capacity"), "violated"),
    ("dispatch.backpressure_hint", lambda: refused("type", type="frobnicate"), "vacuous"),
    ("dispatch.capacity", lambda: live(2), "held"),
    ("dispatch.capacity", lambda: live(3, told_at=0), "held"),
    ("dispatch.capacity", lambda: live(3, told_at=1), "violated"),
    ("dispatch.capacity", lambda: live(1), "vacuous"),
    ("dispatch.capacity", lambda: live(2, when_full="block"), "held"),
    ("dispatch.capacity", lambda: live(3, when_full="block"), "violated"),
    ("dispatch.workers", lambda: flight(2), "held"),
    ("dispatch.workers", lambda: flight(3), "violated"),
    ("dispatch.workers", lambda: flight(1), "vacuous"),
    ("dispatch.share_live", lambda: plugin_live(1), "held"),
    ("dispatch.share_live", lambda: plugin_live(2), "violated"),
    ("dispatch.share_live", accepted, "vacuous"),
    ("dispatch.share_executing", lambda: flight(1, plugin="p"), "held"),
    ("dispatch.share_executing", lambda: flight(2, plugin="p"), "violated"),
    ("dispatch.share_executing", lambda: flight(2), "vacuous"),
    ("dispatch.drop_allowed", drop, "held"),
    ("dispatch.drop_allowed", lambda: drop(calls=({"droppable": False}, {})), "violated"),
    ("dispatch.drop_allowed", lambda: drop(sent=True), "violated"),
    ("dispatch.drop_allowed", accepted, "vacuous"),
    ("dispatch.no_prerequisite_dropped", lambda: drop("s1", calls=({"prerequisite_of": "uid-9"}, {})), "held"),
    ("dispatch.no_prerequisite_dropped", lambda: drop(calls=({"prerequisite_of": "uid-9"}, {})), "violated"),
    ("dispatch.no_prerequisite_dropped", drop, "vacuous"),
    ("dispatch.given_up_only_when_full", drop, "held"),
    ("dispatch.given_up_only_when_full", lambda: drop(capacity=9), "violated"),
    ("dispatch.given_up_only_when_full", accepted, "vacuous"),
    ("dispatch.drop_victim", lambda: drop(calls=({"priority": 1}, {"priority": 2})), "held"),
    ("dispatch.drop_victim", lambda: drop(calls=({"priority": 2}, {"priority": 1})), "violated"),
    ("dispatch.drop_victim", lambda: drop(calls=({"deadline": 50.0}, {"deadline": 99.0})), "violated"),
    ("dispatch.drop_victim", lambda: drop(calls=({"rebuild_cost": 2.0}, {"rebuild_cost": 1.0})), "violated"),
    ("dispatch.drop_victim", lambda: drop(newcomer={"priority": 0}), "violated"),
    ("dispatch.drop_victim", lambda: drop(newcomer={"priority": 0}, at=0.0), "violated"),
    (
        "dispatch.drop_victim",
        lambda: drop("s2", newcomer={"priority": 0}, kind="refused", reason="capacity", at=0.0),
        "held",
    ),
    (
        "dispatch.drop_victim",
        lambda: drop("s2", newcomer={"priority": 9}, kind="refused", reason="capacity"),
        "violated",
    ),
    ("dispatch.drop_victim", accepted, "vacuous"),
    ("dispatch.only_twins_merge", twins, "held"),
    ("dispatch.only_twins_merge", newest, "held"),
    ("dispatch.only_twins_merge", lambda: newest("other"), "violated"),
    ("dispatch.only_twins_merge", lambda: twins(same=False), "violated"),
    ("dispatch.only_twins_merge", accepted, "vacuous"),
    ("dispatch.joiner_outcome", twins, "held"),
    ("dispatch.joiner_outcome", lambda: twins(own="failed"), "violated"),
    ("dispatch.joiner_outcome", accepted, "vacuous"),
    ("dispatch.twins_sent_once", twins, "held"),
    ("dispatch.twins_sent_once", lambda: twins(at=1.5), "held"),
    ("dispatch.twins_sent_once", lambda: twins(again=True), "violated"),
    ("dispatch.twins_sent_once", not_alike, "vacuous"),
    ("dispatch.twins_sent_once", taken_in_late, "held"),
    ("dispatch.twins_sent_once", at_once, "vacuous"),
    ("dispatch.twins_sent_once", accepted, "vacuous"),
    ("dispatch.joiner_lives_on", lambda: left("applied"), "held"),
    ("dispatch.joiner_lives_on", lambda: left("cancelled", cancelled=["s1"]), "held"),
    ("dispatch.joiner_lives_on", lambda: left("cancelled"), "violated"),
    ("dispatch.joiner_lives_on", twins, "vacuous"),
    ("dispatch.joined_priority", lambda: joined("b"), "held"),
    ("dispatch.joined_priority", lambda: joined("a", high=10), "held"),
    ("dispatch.joined_priority", lambda: joined("a"), "violated"),
    ("dispatch.joined_priority", accepted, "vacuous"),
    ("dispatch.snapshot", lambda: mutated(1), "held"),
    ("dispatch.snapshot", lambda: mutated(2), "violated"),
    ("dispatch.snapshot", accepted, "vacuous"),
]


@pytest.mark.parametrize(
    ("name", "story", "expected"), CASES, ids=[f"{name}-{number}" for number, (name, _, _) in enumerate(CASES)]
)
def test_case(name, story, expected):
    """The checker answers as it should."""
    assert expected == verdict(name, story())
