"""Superseding, prerequisites, order, progress, deadlines, cancellation: holding, violating and vacuous histories."""

import pytest

from waitproof.properties.dispatch._histories import INFINITY, Story, dialect, verdict


def plain(**call):
    return Story().done(0, "o0", lasts=1, **call).settled(5)


def superseded(*, survivor="applied", kind="superseded", old=None, new=None, at=2.0):
    """A patch, then a bind of the same pod that settles at second 2; the patch is told at ``at``."""
    story = Story().call(0, **(old or {})).call(0, **({"type": "bind", "target": "node-1"} | (new or {})))
    if at < 2:
        story.told(at, "s0", kind)
    story.run(1, "o1", 200 if survivor == "applied" else 422, lasts=1).told(2, "s1", survivor)
    return story if at < 2 else story.told(at, "s0", kind)


def patch_then_bind(*, patch_at, bind_at=1.0, lasts=0.5):
    story = Story().call(0).call(0.1, type="bind", target="node-1")
    if patch_at < bind_at:
        story.done(patch_at, "o0", "s0")
    story.start(bind_at, "o1")
    if bind_at <= patch_at < bind_at + lasts:
        story.start(patch_at, "o0")
    story.effect(bind_at + lasts, "o1").answer(bind_at + lasts, "o1").told(bind_at + lasts, "s1")
    return story.told(bind_at + lasts, "s0", "superseded") if patch_at > 1 else story


def survivor_unknown(after=True):
    story = Story().call(0).call(0, type="bind", target="node-1")
    story.run(1, "o1", error="ReadTimeout").told(1, "s1", "unknown")
    return story.run(2, "o0").told(2, "s0") if after else story.told(1, "s0", "failed", reason="survivor")


def needed(*, claim="applied", bind_at=2.0, bind="applied", late=0.0):
    """A claim that a bind needs, settled at second 1, and the bind at ``bind_at`` (0: unsent)."""
    story = (
        Story()
        .call(0, type="create", effect="CREATE", uid="claim", prerequisite_of="uid-1")
        .call(0, type="bind", target="node-1")
    )
    story.start(0.5, "o0")
    if 0 < bind_at < 1:
        story.run(bind_at, "o1")
    if claim == "applied":
        story.effect(1, "o0").answer(1, "o0")
    else:
        story.answer(1, "o0", 422)
    story.told(1, "s0", claim)
    if bind_at > 1:
        story.run(bind_at, "o1")
    return story.told(max(bind_at, 1 + late), "s1", bind, reason="prerequisite" if bind == "failed" else "")


def race(first, *, workers=1, config=None, fields=None, calls=None):
    """One worker is busy until second 5; the calls ``a`` and ``b`` wait. Which is sent ``first``?"""
    story = Story(dialect(**(fields or {})), workers=workers, **(config or {}))
    story.call(0, uid="u0").start(0, "o0")
    for name, call in (calls or {"a": {"priority": 20}, "b": {"priority": 40}}).items():
        story.call(1, name, uid=f"u{name}", **call)
    story.answer(5, "o0").told(5, "s0")
    other = "b" if first == "a" else "a"
    story.run(5, first, lasts=1)
    return story.run(6, other, lasts=1)


def starved(first, **config):
    """Workers enough, but one token a second: the next is free at second 1."""
    story = Story(workers=9, qps=1.0, burst=1, **config).call(0, uid="u0").run(0, "o0")
    story.call(0.2, "a", uid="ua", priority=20).call(0.4, "b", uid="ub", priority=40)
    story.run(1, first)
    return story.run(2, "b" if first == "a" else "a")


def inverted(first, *, lend=True):
    """L holds an object for which H waits; M is more urgent than L and less than H."""
    story = Story(workers=1).call(0, uid="u0").start(0, "o0")
    story.call(1, "low", uid="u1", priority=0).call(1, "mid", uid="u2", priority=40)
    if lend:
        story.call(2, "high", uid="u1", target="other", priority=90)
    story.answer(5, "o0").told(5, "s0").run(5, first, lasts=1)
    return story.run(6, "low" if first == "mid" else "mid")


def waited(seconds, bounds=None, later=0):
    """A call that could run from second 0 is sent after ``seconds``, and ``later`` ones before it."""
    story = Story(bounds={"wait": 5.0, "overtakes": 2} if bounds is None else bounds, workers=1)
    story.call(0, uid="u0")
    for number in range(1, later + 1):
        story.done(0.1 * number, f"o{number}", uid=f"u{number}")
    return story.run(seconds, "o0").told(seconds, "s0")


def idle(until, *, busy=0, workers=2, backoff=False):
    """Sent at ``until``, while ``busy`` calls on other objects are under way (or wait to be tried again)."""
    story = Story(workers=workers)
    for number in range(busy):
        story.call(0, f"b{number}", uid=f"b{number}").start(0, f"b{number}")
        if backoff:
            story.answer(0, f"b{number}", 503)
    story.call(0, "x", uid="ux")
    return story.run(until, "x").told(until, f"s{busy}").settled(50)


def healed(at, within=5.0):
    story = Story().call(0).healed(1, within)
    return story.run(at, "o0").told(at, "s0").settled(30)


def due(*, sent=0.5, told=2.0, kind="expired", deadline=2.0, back=False):
    story = Story().call(0, deadline=deadline)
    if sent is not None:
        story.run(sent, "o0", 503)
    if back:
        story.run(deadline, "o0", read=True, lasts=1)
    return story.told(told, "s0", kind).settled(9)


def called_off(*, by="cancel", sent=None, told=1.0, kind="cancelled", end=None, call=None):
    """Cancelled, or its context or object ended, at second 1."""
    story = Story().call(0, **(call or {}))
    if sent is not None and sent < 1:
        story.start(sent, "o0")
    {
        "cancel": lambda: story.cancel(1, "s0"),
        "context": lambda: story.context_end(1),
        "object": lambda: story.deleted(1),
        "nothing": lambda: story,
    }[by]()
    if sent is not None and sent >= 1:
        story.start(sent, "o0")
    if end is not None:
        story.effect(end, "o0").answer(end, "o0")
    return story.told(told, "s0", kind).settled(9)


def waiter(kind="applied", cancelled=True):
    story = Story().call(0)
    if cancelled:
        story.add(1, "waiter.cancel", "caller", "s0")
    if kind == "applied":
        story.run(2, "o0")
    return story.told(2, "s0", kind)


def acted(*, by="context", acts=False, told=2.0, kind="stale"):
    story = called_off(by=by, sent=0.5, end=2.0, told=told, kind=kind)
    return story.reevaluate(3, "o0") if acts else story


def reevaluated(at=1.0, *, sent=True, **more):
    story = Story().call(0).start(0, "o0")
    if at < 1:
        story.reevaluate(at, "o0", **more)
    story.effect(1, "o0").answer(1, "o0").told(1, "s0")
    return (story.reevaluate(at, "o0", **more) if at >= 1 and sent else story).settled(5)


def closing(*, told=2.0, until=2.0, raised=None, twice=False, settled=True):
    story = Story().call(0)
    story.close(1, ends=False)
    if told <= until:
        story.told(told, "s0", "closed")
    if until < 9:
        story.closed(until, raised)
    if told > until:
        story.told(told, "s0", "closed")
    if twice:
        story.close(5)
    return story.settled(9) if settled else story


def newcomer(kind="closed", at=3.0):
    story = Story().close(1, 2)
    if kind == "applied":
        return story.done(at, "o0")
    return story.call(at, outcome=kind)


CASES = [
    ("dispatch.superseded_downwards", superseded, "held"),
    ("dispatch.superseded_downwards", lambda: superseded(old={"generation": (1, 0)}, new={"type": "patch", "target": "status", "generation": (1, 1)}), "held"),
    ("dispatch.superseded_downwards", lambda: superseded(old={"type": "bind", "target": "n"}, new={"type": "patch", "target": "x"}), "violated"),
    ("dispatch.superseded_downwards", lambda: superseded(old={"prerequisite_of": "uid-1"}), "violated"),
    ("dispatch.superseded_downwards", lambda: superseded(old={"type": "get", "effect": "READ"}), "violated"),
    ("dispatch.superseded_downwards", plain, "vacuous"),
    ("dispatch.superseded_after_survivor", superseded, "held"),
    ("dispatch.superseded_after_survivor", lambda: superseded(at=1.5), "violated"),
    ("dispatch.superseded_after_survivor", lambda: superseded(survivor="failed"), "violated"),
    ("dispatch.superseded_after_survivor", plain, "vacuous"),
    ("dispatch.withheld", superseded, "held"),
    ("dispatch.withheld", lambda: patch_then_bind(patch_at=0.5), "violated"),
    ("dispatch.withheld", plain, "vacuous"),
    ("dispatch.survivor_unknown", lambda: survivor_unknown(after=False), "held"),
    ("dispatch.survivor_unknown", survivor_unknown, "violated"),
    ("dispatch.survivor_unknown", superseded, "vacuous"),
    ("dispatch.prerequisite_first", needed, "held"),
    ("dispatch.prerequisite_first", lambda: needed(bind_at=0.7), "violated"),
    ("dispatch.prerequisite_first", plain, "vacuous"),
    ("dispatch.prerequisite_failed", lambda: needed(claim="failed", bind_at=0, bind="failed"), "held"),
    ("dispatch.prerequisite_failed", lambda: needed(claim="failed"), "violated"),
    ("dispatch.prerequisite_failed", lambda: needed(claim="failed", bind_at=0, bind="failed", late=3), "violated"),
    ("dispatch.prerequisite_failed", needed, "vacuous"),
    ("dispatch.best_first", lambda: race("b", calls={"a": {"priority": 20}, "b": {"priority": 40}, "c": {"priority": 1}}), "held"),
    ("dispatch.best_first", lambda: race("a"), "violated"),
    ("dispatch.best_first", lambda: race("b", fields={"order": "fifo"}), "violated"),
    ("dispatch.best_first", lambda: race("a", fields={"order": "fifo"}), "held"),
    ("dispatch.best_first", lambda: race("a", fields={"order": "priority"}), "violated"),
    ("dispatch.best_first", lambda: race("a", config={"shares": {"default": (9, 1)}}), "vacuous"),
    ("dispatch.best_first", lambda: starved("b"), "held"),
    ("dispatch.best_first", lambda: starved("a"), "violated"),
    ("dispatch.best_first", plain, "vacuous"),
    ("dispatch.no_inversion", lambda: inverted("low"), "held"),
    ("dispatch.no_inversion", lambda: inverted("mid"), "violated"),
    ("dispatch.no_inversion", lambda: inverted("mid", lend=False), "vacuous"),
    ("dispatch.wait_bounded", lambda: waited(4), "held"),
    ("dispatch.wait_bounded", lambda: waited(6), "violated"),
    ("dispatch.wait_bounded", lambda: waited(6, bounds={"wait": INFINITY}), "vacuous"),
    ("dispatch.overtakes_bounded", lambda: waited(4, later=2), "held"),
    ("dispatch.overtakes_bounded", lambda: waited(4, later=3), "violated"),
    ("dispatch.overtakes_bounded", lambda: waited(4, bounds={}, later=3), "vacuous"),
    ("dispatch.no_lost_wakeup", lambda: idle(0), "held"),
    ("dispatch.no_lost_wakeup", lambda: idle(1), "violated"),
    ("dispatch.no_lost_wakeup", lambda: idle(1, busy=2), "held"),
    ("dispatch.no_lost_wakeup", lambda: idle(1, busy=2, backoff=True), "held"),
    ("dispatch.no_lost_wakeup", Story, "vacuous"),
    ("dispatch.settles", lambda: healed(4), "held"),
    ("dispatch.settles", lambda: healed(8), "violated"),
    ("dispatch.settles", plain, "vacuous"),
    ("dispatch.isolation", lambda: idle(0, busy=1), "held"),
    ("dispatch.isolation", lambda: idle(1, busy=1), "violated"),
    ("dispatch.isolation", lambda: idle(1, busy=2, backoff=True), "violated"),
    ("dispatch.isolation", plain, "vacuous"),
    ("dispatch.no_attempt_after_deadline", due, "held"),
    ("dispatch.no_attempt_after_deadline", lambda: due(sent=3, told=3), "violated"),
    ("dispatch.no_attempt_after_deadline", plain, "vacuous"),
    ("dispatch.told_at_deadline", due, "held"),
    ("dispatch.told_at_deadline", lambda: due(told=4), "violated"),
    ("dispatch.told_at_deadline", lambda: due(told=3, back=True), "held"),
    ("dispatch.told_at_deadline", plain, "vacuous"),
    ("dispatch.not_expired_early", due, "held"),
    ("dispatch.not_expired_early", lambda: due(told=1), "violated"),
    ("dispatch.not_expired_early", plain, "vacuous"),
    ("dispatch.cancelled_never_sent", called_off, "held"),
    ("dispatch.cancelled_never_sent", lambda: called_off(sent=2, end=2), "violated"),
    ("dispatch.cancelled_never_sent", lambda: called_off(by="object", sent=2, end=2), "violated"),
    ("dispatch.cancelled_never_sent", lambda: called_off(sent=0.5, end=2, told=2, kind="unknown"), "vacuous"),
    ("dispatch.cancelled_told_at_once", lambda: called_off(by="context"), "held"),
    ("dispatch.cancelled_told_at_once", lambda: called_off(told=2), "violated"),
    ("dispatch.cancelled_told_at_once", lambda: called_off(kind="stale"), "violated"),
    ("dispatch.cancelled_told_at_once", lambda: called_off(by="object", call={"type": "delete"}, sent=2, end=2, kind="applied", told=2), "vacuous"),
    ("dispatch.cancelled_while_sent", lambda: called_off(sent=0.5, end=2, kind="unknown"), "held"),
    ("dispatch.cancelled_while_sent", lambda: called_off(sent=0.5, end=2), "violated"),
    ("dispatch.cancelled_while_sent", lambda: called_off(sent=0.5, end=2, told=2, kind="applied"), "violated"),
    ("dispatch.cancelled_while_sent", called_off, "vacuous"),
    ("dispatch.cancelled_for_a_reason", called_off, "held"),
    ("dispatch.cancelled_for_a_reason", lambda: called_off(by="nothing"), "violated"),
    ("dispatch.cancelled_for_a_reason", plain, "vacuous"),
    ("dispatch.waiter_cancel_harmless", waiter, "held"),
    ("dispatch.waiter_cancel_harmless", lambda: waiter("cancelled"), "violated"),
    ("dispatch.waiter_cancel_harmless", lambda: waiter(cancelled=False), "vacuous"),
    ("dispatch.stale_outcome", acted, "held"),
    ("dispatch.stale_outcome", lambda: acted(kind="applied"), "violated"),
    ("dispatch.stale_outcome", lambda: acted(by="object", kind="applied"), "violated"),
    ("dispatch.stale_outcome", lambda: acted(by="nothing", kind="applied"), "vacuous"),
    ("dispatch.stale_never_acts", acted, "held"),
    ("dispatch.stale_never_acts", lambda: acted(acts=True), "violated"),
    ("dispatch.stale_never_acts", lambda: acted(by="nothing", acts=True), "vacuous"),
    ("dispatch.reevaluates", reevaluated, "held"),
    ("dispatch.reevaluates", lambda: reevaluated(sent=False), "violated"),
    ("dispatch.reevaluates", lambda: reevaluated(uid="uid-2"), "violated"),
    ("dispatch.reevaluates", lambda: reevaluated(3), "violated"),
    ("dispatch.reevaluates", called_off, "vacuous"),
    ("dispatch.reevaluates_after", reevaluated, "held"),
    ("dispatch.reevaluates_after", lambda: reevaluated(0.5), "violated"),
    ("dispatch.reevaluates_after", plain, "vacuous"),
    ("dispatch.close_tells_all", closing, "held"),
    ("dispatch.close_tells_all", lambda: closing(told=4), "violated"),
    ("dispatch.close_tells_all", lambda: closing(until=9), "undecided"),
    ("dispatch.close_tells_all", plain, "vacuous"),
    ("dispatch.close_returns", lambda: closing(twice=True), "held"),
    ("dispatch.close_returns", lambda: closing(raised="RuntimeError"), "violated"),
    ("dispatch.close_returns", lambda: closing(until=9), "violated"),
    ("dispatch.close_returns", lambda: closing(until=9, settled=False), "undecided"),
    ("dispatch.close_returns", plain, "vacuous"),
    ("dispatch.closed_to_newcomers", newcomer, "held"),
    ("dispatch.closed_to_newcomers", lambda: newcomer("applied"), "violated"),
    ("dispatch.closed_to_newcomers", plain, "vacuous"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "story", "expected"), CASES, ids=[f"{name}-{number}" for number, (name, _, _) in enumerate(CASES)]
)
def test_case(name, story, expected):
    """The checker answers as it should."""
    assert expected == verdict(name, story())


def test_inversion_is_exercised():
    """A call that is more urgent than holder and waiter goes first, and is compared with them."""
    story = Story(workers=1).call(0, uid="u0").start(0, "o0")
    story.call(1, "low", uid="u1", priority=10).call(1, "top", uid="u3", priority=99).call(
        2, "high", uid="u1", target="other", priority=50
    )
    story.answer(5, "o0").told(5, "s0").run(5, "top", lasts=1).told(6, "s2")
    assert verdict("dispatch.no_inversion", story) == "held"
