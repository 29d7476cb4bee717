"""Safety invariants of dispatch queues: a history that holds, one that violates, one that never gets there."""

import pytest

from waitproof.models.invariants import catalogue
from waitproof.properties.dispatch._histories import Story, dialect, verdict


def empty():
    return Story().settled(1)


def applied():
    story = Story()
    story.done(0, "o0", lasts=1)
    return story.settled(5)


def told_twice():
    story = Story()
    story.done(0, "o0")
    return story.told(1, "s0").settled(5)


def never_told():
    story = Story()
    story.submit(0)
    return story.settled(5)


def budget():
    story = Story()
    story.submit(0)
    return story.stopped(5, "budget")


def deadlock():
    story = Story()
    story.submit(0)
    return story.stopped(5, "deadlock")


def odd_kind():
    story = Story()
    story.submit(0, outcome="overwritten")
    return story


def merged_without_own():
    story = Story()
    story.submit(0, outcome="merged")
    return story


def applied_unsent():
    story = Story()
    return story.told(1, story.submit(0))


def applied_by_read_back():
    """An empty read-back is answered with 200 as well: it is no proof."""
    story = Story()
    op = story.submit(0)
    story.run(0, "o0", error="ReadTimeout")
    story.run(1, "o0", read=True)
    return story.told(1, op)


def merged_newest():
    """The newest full state wins: the older submit is done by another operation's effect."""
    story = Story(dialect(coalescing="newest"))
    story.submit(0)
    story.submit(0)
    story.run(1, "o1")
    return story.told(1, "s0", "merged", own="applied").told(1, "s1")


def noop():
    story = Story()
    op = story.submit(0, type="delete")
    story.run(0, "o0", 404)
    return story.told(0, op, "noop")


def dropped():
    story = Story()
    story.submit(0)
    return story.told(1, "s0", "dropped", reason="room")


def dropped_but_done():
    story = dropped()
    return story.run(2, "o0")


def twin_did_it():
    """One of two twins is cancelled; the effect is the other's."""
    story = Story()
    story.submit(0, "o0")
    story.submit(0, "o0")
    story.told(0, "s0", "cancelled")
    story.run(1, "o0")
    return story.told(1, "s1")


def cancelled_while_sent():
    story = Story()
    story.submit(0)
    story.start(0, "o0").cancel(1, "s0").given_up(1, "o0").told(1, "s0", "cancelled")
    return story.effect(2, "o0")


def cancelled_then_sent():
    story = Story()
    story.submit(0)
    story.cancel(1, "s0").told(1, "s0", "cancelled")
    return story.run(2, "o0")


def told_while_sent():
    story = Story()
    story.submit(0)
    return story.start(0, "o0").told(1, "s0", "superseded").effect(2, "o0").answer(2, "o0")


def unknown_while_sent():
    story = Story()
    story.submit(0, deadline=1.0)
    return story.start(0, "o0").told(1, "s0", "unknown").effect(2, "o0").answer(2, "o0")


def retried_once_done():
    story = Story()
    story.submit(0, key="k")
    story.run(0, "o0", error="ReadTimeout", effect=True)
    return story.run(1, "o0", effect=False).told(1, "s0")


def done_twice(**fields):
    story = Story(dialect(**fields))
    story.submit(0)
    story.run(0, "o0", error="ReadTimeout", effect=True)
    return story.run(1, "o0").told(1, "s0")


def done_again_later():
    """A twin that comes after the first has ended is another call, if no key says that it is not."""
    story = Story()
    story.done(0, "o0")
    return story.done(5, "o0")


def bind(*, sent, ended=5.0, **more):
    story = Story()
    story.submit(0, type="bind", target="node-1", only_uid="uid-1", **more)
    if sent < ended:
        story.run(sent, "o0").told(sent, "s0")
    story.context_end(ended)
    return story if sent < ended else story.run(sent, "o0").told(sent, "s0")


def other_uid():
    story = Story()
    story.submit(0, only_uid="uid-1")
    story.start(0, "o0").effect(0, "o0", uid="uid-2")
    return story


def own_uid():
    story = Story()
    return story.done(0, "o0", only_uid="uid-1")


def two_writes(*, second=2.0, first_told="applied", **more):
    story = Story(**more)
    story.submit(0)
    story.submit(0, target="other")
    story.start(0, "o0")
    if second >= 2:
        story.effect(1, "o0").answer(1, "o0").told(1, "s0", first_told)
    elif first_told == "unknown":
        story.told(0.2, "s0", "unknown")
    return story.run(second, "o1").told(second, "s1")


def overtaken(**second):
    story = Story()
    story.submit(0)
    story.submit(0, **{"target": "other", **second})
    story.run(1, "o1").told(1, "s1")
    return story.run(2, "o0").told(2, "s0")


def withheld_and_back():
    """The survivor fails: what was withheld behind it runs after it, and after what came in between."""
    story = Story()
    story.submit(0, generation=(1, 0))
    story.submit(0, target="other")
    story.submit(0, generation=(2, 0))
    story.run(1, "o1").told(1, "s1")
    story.run(2, "o2", 422).told(2, "s2", "failed")
    return story.run(3, "o0").told(3, "s0")


def starts(*times, qps=1.0, burst=2):
    story = Story(qps=qps, burst=burst)
    for number, at in enumerate(times):
        story.done(at, f"o{number}", uid=f"uid-{number}")
    return story


def rate_changed():
    story = starts(0, 0)
    story.rate(0.5, 10.0, 3)
    for number in range(2, 5):
        story.done(0.5, f"o{number}", uid=f"uid-{number}")
    return story


def let_through(at_once):
    """One worker, and a quota of one a second from second 1 on; so many attempts are seen in that instant."""
    story = Story(workers=1).rate(1, 1.0, 1)
    for number in range(at_once):
        story.done(1, f"o{number}", uid=f"uid-{number}")
    return story


def closed(after=None, **fields):
    story = Story(dialect(**fields))
    story.submit(0)
    story.close(1, 2)
    story.told(2, "s0", "closed")
    return story if after is None else story.run(after, "o0")


def closed_while_draining():
    story = Story(dialect(close="drain"))
    story.submit(0)
    story.close(1, ends=False).run(1.5, "o0").told(1.5, "s0")
    return story.closed(2)


def sent_while_closing():
    story = Story()
    story.submit(0)
    story.close(1, ends=False).run(1.5, "o0").told(1.5, "s0")
    return story.closed(2)


CASES = [
    ("dispatch.one_outcome", applied, "held"),
    ("dispatch.one_outcome", told_twice, "violated"),
    ("dispatch.one_outcome", never_told, "violated"),
    ("dispatch.one_outcome", deadlock, "violated"),
    ("dispatch.one_outcome", budget, "undecided"),
    ("dispatch.one_outcome", empty, "vacuous"),
    ("dispatch.outcome_kind", applied, "held"),
    ("dispatch.outcome_kind", odd_kind, "violated"),
    ("dispatch.outcome_kind", merged_without_own, "violated"),
    ("dispatch.outcome_kind", never_told, "vacuous"),
    ("dispatch.done_is_true", applied, "held"),
    ("dispatch.done_is_true", noop, "held"),
    ("dispatch.done_is_true", merged_newest, "held"),
    ("dispatch.done_is_true", applied_unsent, "violated"),
    ("dispatch.done_is_true", applied_by_read_back, "violated"),
    ("dispatch.done_is_true", dropped, "vacuous"),
    ("dispatch.undone_is_true", dropped, "held"),
    ("dispatch.undone_is_true", twin_did_it, "held"),
    ("dispatch.undone_is_true", cancelled_while_sent, "held"),
    ("dispatch.undone_is_true", dropped_but_done, "violated"),
    ("dispatch.undone_is_true", cancelled_then_sent, "violated"),
    ("dispatch.undone_is_true", applied, "vacuous"),
    ("dispatch.decided_first", applied, "held"),
    ("dispatch.decided_first", told_while_sent, "violated"),
    ("dispatch.decided_first", unknown_while_sent, "vacuous"),
    ("dispatch.no_duplicate_write", retried_once_done, "held"),
    ("dispatch.no_duplicate_write", done_again_later, "held"),
    ("dispatch.no_duplicate_write", done_twice, "violated"),
    ("dispatch.no_duplicate_write", lambda: done_twice(ambiguous="resend"), "vacuous"),
    ("dispatch.no_stale_bind", lambda: bind(sent=1), "held"),
    ("dispatch.no_stale_bind", lambda: bind(sent=6), "violated"),
    ("dispatch.no_stale_bind", lambda: bind(sent=1, context="context-2"), "vacuous"),
    ("dispatch.right_object", own_uid, "held"),
    ("dispatch.right_object", other_uid, "violated"),
    ("dispatch.right_object", applied, "vacuous"),
    ("dispatch.one_write_in_flight", two_writes, "held"),
    ("dispatch.one_write_in_flight", lambda: two_writes(second=0.5, first_told="unknown"), "held"),
    ("dispatch.one_write_in_flight", lambda: two_writes(second=0.5), "violated"),
    ("dispatch.one_write_in_flight", dropped, "vacuous"),
    ("dispatch.object_order", two_writes, "held"),
    ("dispatch.object_order", lambda: overtaken(type="bind"), "held"),
    ("dispatch.object_order", withheld_and_back, "held"),
    ("dispatch.object_order", overtaken, "violated"),
    ("dispatch.object_order", applied, "vacuous"),
    ("dispatch.rate", lambda: starts(0, 0, 1, 2), "held"),
    ("dispatch.rate", rate_changed, "held"),
    ("dispatch.rate", lambda: starts(0, 0, 0.5), "violated"),
    ("dispatch.rate", lambda: let_through(2), "held"),
    ("dispatch.rate", lambda: let_through(3), "violated"),
    ("dispatch.rate", lambda: starts(0, 5, 5, 5.5), "violated"),
    ("dispatch.rate", applied, "vacuous"),
    ("dispatch.close_starts_nothing", closed, "held"),
    ("dispatch.close_starts_nothing", closed_while_draining, "held"),
    ("dispatch.close_starts_nothing", sent_while_closing, "violated"),
    ("dispatch.close_starts_nothing", lambda: closed(after=2, close="drain"), "violated"),
    ("dispatch.close_starts_nothing", applied, "vacuous"),
]


@pytest.mark.parametrize(
    ("name", "story", "expected"), CASES, ids=[f"{name}-{number}" for number, (name, _, _) in enumerate(CASES)]
)
def test_case(name, story, expected):
    """The checker answers as it should."""
    assert expected == verdict(name, story())


def test_safety_is_safety():
    """What this file tests can't be unclaimed."""
    assert all(catalogue()[name].safety for name, _, _ in CASES)


def test_a_joiner_makes_a_call_a_prerequisite_that_may_go_first():
    """A bind waits for its prerequisites, and a flag holds for the call if one joiner has it."""
    story = Story().call(0, "o0", type="bind", target="node-1").call(0, "o1").call(0, "o1", prerequisite_of="uid-1")
    story.run(0, "o1").told(0, "s1").told(0, "s2", "merged", own="applied").run(0, "o0", lasts=1).told(1, "s0")
    assert verdict("dispatch.object_order", story.settled(5)) in ("held", "vacuous")
