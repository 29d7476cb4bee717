"""Errors, attempts, backoff, ambiguity, breaker, accounts, handlers, memory: holding, violating and vacuous histories."""

import random
import re
import time
from pathlib import Path

import pytest

from waitproof.harness.queue_protocols import QueueConfig
from waitproof.models.dispatch_figures import whole_pause
from waitproof.models.dispatch_trace import traces
from waitproof.models.invariants import catalogue
from waitproof.properties.dispatch._histories import Story, dialect, verdict


def plain(**call):
    return Story().done(0, "o0", lasts=1, **call).settled(5)


def tried(*statuses, kind="failed", reason="", gap=1.0, told=None, fields=None, errors=(), config=None, **call):
    """One call whose tries are answered so, ``gap`` seconds apart, and its outcome."""
    story = Story(dialect(**(fields or {})), **(config or {})).call(0, **call)
    at = 0.0
    for number, status in enumerate(statuses):
        at = number * gap
        if isinstance(status, str):
            story.run(at, "o0", error=status)
        else:
            story.run(at, "o0", status)
    for more in errors:
        at += gap
        story.run(at, "o0", more)
    return story.told(at if told is None else told, "s0", kind, reason=reason).settled(99)


def rebased(*, own=True, sent=12, guarded=True):
    """Two patches based on version 10; the first makes version 11. ``sent``: what the second is guarded by."""
    story = Story().call(0, version=10).start(0, "o0", version=10 if guarded else 9)
    story.effect(0, "o0", by="queue" if own else "external").answer(0, "o0").told(0, "s0")
    story.call(1, version=10, target="other").start(1, "o1", version=sent)
    return story


def successor(*, told=True, first=None, at=2.0):
    story = Story().call(0, **(first or {})).call(0, target="other").run(0, "o0", error="ReadTimeout")
    if told:
        story.told(1, "s0", "unknown")
    return story.run(at, "o1")


def conflict_after_doubt(*, back=True, kind="applied"):
    story = Story().call(0, version=10).run(0, "o0", error="ReadTimeout", effect=True).run(1, "o0", 409)
    if back:
        story.run(1, "o0", read=True)
    return story.told(1, "s0", kind).settled(9)


def holder(*, comes=2.0, sent=2.0, second=None, status=503):
    """A patch waits to be tried again when a bind of its pod comes."""
    story = Story(backoff_first=8.0).call(0).run(0, "o0", status)
    if status != 503:
        story.told(0, "s0", "failed")
    story.call(comes, **(second or {"type": "bind", "target": "n"}))
    return story.run(sent, "o1", 422).told(sent, "s1", "failed").run(9, "o0").told(9, "s0")


def tripped(failures=3, *, then=None, probes=1, limit=3, opened=10.0, **more):
    """So many transient failures in a row, one a second, the last at second 3; then what ``then`` does."""
    story = Story(breaker_failures=limit, breaker_open=opened, breaker_probes=probes, workers=9, **more)
    for number in range(failures):
        story.call(1 + number, f"f{number}", uid=f"f{number}").run(1 + number, f"f{number}", 503)
    return then(story) if then else story


def sends(*times, lasts=1.0):
    def then(story):
        for number, at in enumerate(times):
            story.call(at, f"p{number}", uid=f"p{number}").start(at, f"p{number}")
        for number, at in enumerate(times):
            story.answer(at + lasts, f"p{number}")
        return story

    return then


def submits(at, outcome, *, uid="new"):
    return lambda story: story.call(at, uid=uid, outcome=outcome)


def counted(*, submitted=2, live=1, applied=1, executing=0):
    story = Story().done(0, "o0").call(1)
    return story.stats(3, submitted=submitted, live=live, outcomes={"applied": applied}, executing=executing)


def among_threads(at, **figures):
    """The figures of a queue of threads, asked for at this second; its only submit is of second 1."""
    story = Story(mode="threads").call(1)
    return story.stats(at, **{"submitted": 1, "live": 1, "outcomes": {}, "executing": 0, **figures})


def handled(times=1, *, status=422, kind="failed", **more):
    story = Story().call(0, plugin="p").run(0, "o0", status).told(0, "s0", kind)
    for _ in range(times):
        story.failed(0, "o0", **more)
    return story.settled(5)


def given_up_first():
    """An attempt that was given up may have opened the breaker at 1: what comes back at 5 is of before that, and a probe at 11 is right."""
    story = Story(breaker_failures=1, breaker_open=10.0, workers=2).call(0, "o0").call(0, "o1", uid="u1")
    story.start(0, "o0").start(0, "o1").given_up(1, "o1").told(1, "s1", "unknown")
    return story.answer(5, "o0", 503).start(11, "o0")


def probed(at_once, *, count=3, **config):
    story = Story(**{"workers": 2, **config}).done(0, "o0").settled(20)
    story.probe(20, [f"s{number + 1}" for number in range(count)])
    for number in range(count):
        story.call(20, f"p{number}", uid=f"p{number}", type="get", effect="READ")
    for number in range(count):
        story.run(20 if number < at_once else 21, f"p{number}")
    return story


UNGUARDED, KEYED = {}, {"key": "k"}

CASES = [
    ("dispatch.permanent_ends", lambda: tried(422), "held"),
    ("dispatch.permanent_ends", lambda: tried(503, 422), "held"),
    ("dispatch.permanent_ends", lambda: tried(422, 422), "violated"),
    ("dispatch.permanent_ends", lambda: tried(422, kind="exhausted"), "violated"),
    ("dispatch.permanent_ends", lambda: tried(422, told=5), "violated"),
    ("dispatch.permanent_ends", lambda: tried(404, kind="noop", type="delete"), "held"),
    ("dispatch.permanent_ends", plain, "vacuous"),
    ("dispatch.conflict_recomputes", lambda: tried(409, reason="conflict"), "held"),
    ("dispatch.conflict_recomputes", lambda: tried(409, 409), "violated"),
    ("dispatch.conflict_recomputes", lambda: tried(409, reason="permanent"), "violated"),
    ("dispatch.conflict_recomputes", plain, "vacuous"),
    ("dispatch.transient_retried", lambda: tried(503, 200, kind="applied"), "held"),
    ("dispatch.transient_retried", lambda: tried(503), "violated"),
    ("dispatch.transient_retried", lambda: tried(429), "violated"),
    ("dispatch.transient_retried", lambda: tried(503, reason="prerequisite"), "vacuous"),
    ("dispatch.attempts_bound", lambda: tried(503, 503, 503, 503, kind="exhausted"), "held"),
    ("dispatch.attempts_bound", lambda: tried(503, 503, 503, 503, 503, kind="exhausted"), "violated"),
    ("dispatch.attempts_bound", plain, "vacuous"),
    ("dispatch.attempts_all_used", lambda: tried(503, 503, 503, 503, kind="exhausted"), "held"),
    ("dispatch.attempts_all_used", lambda: tried(503, 503, kind="exhausted"), "violated"),
    ("dispatch.attempts_all_used", plain, "vacuous"),
    ("dispatch.told_never_sent", plain, "held"),
    ("dispatch.told_never_sent", lambda: tried(422).run(100, "o0"), "violated"),
    ("dispatch.told_never_sent", lambda: Story().call(0), "vacuous"),
    ("dispatch.backoff_not_early", lambda: tried(503, 200, kind="applied", gap=0.25), "held"),
    ("dispatch.backoff_not_early", lambda: tried(503, 200, kind="applied", gap=0.2), "violated"),
    ("dispatch.backoff_not_early", lambda: tried(503, 503, 200, kind="applied", gap=0.4), "violated"),
    ("dispatch.backoff_not_early", plain, "vacuous"),
    ("dispatch.backoff_not_late", lambda: tried(503, 200, kind="applied", gap=0.5), "held"),
    ("dispatch.backoff_not_late", lambda: tried(503, 200, kind="applied", gap=0.6), "violated"),
    ("dispatch.backoff_not_late", lambda: tried(422), "vacuous"),
    ("dispatch.retry_after", lambda: Story().call(0).run(0, "o0", 429, retry_after=50).run(50, "o0"), "held"),
    ("dispatch.retry_after", lambda: Story().call(0).run(0, "o0", 429, retry_after=50).run(8, "o0"), "violated"),
    ("dispatch.retry_after", lambda: tried(503, 200, kind="applied"), "vacuous"),
    ("dispatch.backoff_frees_object", holder, "held"),
    ("dispatch.backoff_frees_object", lambda: holder(sent=5), "violated"),
    ("dispatch.backoff_frees_object", lambda: holder(sent=5, second={"target": "other"}), "vacuous"),
    ("dispatch.never_resent", lambda: tried("ReadTimeout", kind="unknown"), "held"),
    ("dispatch.never_resent", lambda: tried("ConnectError", 200, kind="applied"), "vacuous"),
    ("dispatch.never_resent", lambda: tried("ReadTimeout", 200, kind="applied"), "violated"),
    ("dispatch.never_resent", lambda: tried(504, 200, kind="applied"), "violated"),
    ("dispatch.never_resent", lambda: tried("ReadTimeout", 200, kind="applied", **KEYED), "vacuous"),
    ("dispatch.never_resent", lambda: tried("ReadTimeout", 200, kind="applied", fields={"ambiguous": "give_up"}, **KEYED), "violated"),
    ("dispatch.told_unknown", lambda: tried("ReadTimeout", kind="unknown"), "held"),
    ("dispatch.told_unknown", lambda: tried("ReadTimeout"), "violated"),
    ("dispatch.told_unknown", lambda: tried(500, 500, kind="exhausted", **KEYED), "violated"),
    ("dispatch.told_unknown", lambda: tried(503), "vacuous"),
    ("dispatch.guard_sent", lambda: tried(503, 200, kind="applied", **KEYED), "held"),
    ("dispatch.guard_sent", lambda: Story().call(0, **KEYED).run(0, "o0", key=None), "violated"),
    ("dispatch.guard_sent", lambda: Story().call(0, **KEYED).run(0, "o0", 503, key="k").run(1, "o0", key="k2"), "violated"),
    ("dispatch.guard_sent", lambda: Story().call(0, version=3).run(0, "o0", version=None), "violated"),
    ("dispatch.guard_sent", plain, "vacuous"),
    ("dispatch.rebased_by_own_chain", lambda: rebased(sent=11), "held"),
    ("dispatch.rebased_by_own_chain", lambda: rebased(sent=12), "violated"),
    ("dispatch.rebased_by_own_chain", lambda: rebased(sent=11, own=False), "violated"),
    ("dispatch.rebased_by_own_chain", lambda: rebased(sent=11, guarded=False), "violated"),
    ("dispatch.rebased_by_own_chain", lambda: rebased(sent=10), "vacuous"),
    ("dispatch.successor_waits", successor, "held"),
    ("dispatch.successor_waits", lambda: successor(told=False), "violated"),
    ("dispatch.successor_waits", lambda: successor(told=False, first={"version": 10}), "vacuous"),
    ("dispatch.conflict_read_back", conflict_after_doubt, "held"),
    ("dispatch.conflict_read_back", lambda: conflict_after_doubt(back=False, kind="failed"), "violated"),
    ("dispatch.conflict_read_back", lambda: tried(409), "vacuous"),
    ("dispatch.breaker_stops", lambda: tripped(then=sends(14)), "held"),
    ("dispatch.breaker_stops", lambda: tripped(then=sends(5)), "violated"),
    ("dispatch.breaker_stops", lambda: tripped(then=sends(5, lasts=0.0)), "violated"),  # its own success is no excuse
    ("dispatch.breaker_stops", lambda: tripped(2, then=sends(5)), "vacuous"),
    ("dispatch.breaker_stops", given_up_first, "vacuous"),
    ("dispatch.breaker_refuses", lambda: tripped(then=submits(5, "breaker_open")), "held"),
    ("dispatch.breaker_refuses", lambda: tripped(then=submits(5, None)), "violated"),
    ("dispatch.breaker_refuses", lambda: tripped(then=submits(14, None)), "vacuous"),
    ("dispatch.breaker_refuses", lambda: tripped(then=submits(5, None, uid="f0")), "vacuous"),
    ("dispatch.breaker_probes", lambda: tripped(then=sends(14)), "held"),
    ("dispatch.breaker_probes", lambda: tripped(then=sends(14, 14.5)), "violated"),
    ("dispatch.breaker_probes", lambda: tripped(then=sends(14, 14.5), probes=2), "held"),
    ("dispatch.breaker_probes", tripped, "vacuous"),
    ("dispatch.breaker_for_a_reason", lambda: tripped(then=submits(5, "breaker_open")), "held"),
    ("dispatch.breaker_for_a_reason", lambda: tripped(2, then=submits(5, "breaker_open")), "violated"),
    ("dispatch.breaker_for_a_reason", lambda: tripped(then=submits(20, "breaker_open")), "violated"),
    ("dispatch.breaker_for_a_reason", tripped, "vacuous"),
    ("dispatch.accounts_conserved", counted, "held"),
    ("dispatch.accounts_conserved", lambda: counted(live=2), "violated"),
    ("dispatch.accounts_conserved", plain, "vacuous"),
    ("dispatch.accounts_agree", counted, "held"),
    ("dispatch.accounts_agree", lambda: counted(applied=2, live=0), "violated"),
    ("dispatch.accounts_agree", lambda: counted(submitted=3, live=2), "violated"),
    ("dispatch.accounts_agree", plain, "vacuous"),
    ("dispatch.accounts_agree", lambda: among_threads(1, submitted=0, live=0), "held"),
    ("dispatch.accounts_agree", lambda: among_threads(2, submitted=0, live=0), "violated"),
    ("dispatch.accounts_executing", counted, "held"),
    ("dispatch.accounts_executing", lambda: among_threads(1, executing=1), "vacuous"),
    ("dispatch.accounts_executing", lambda: among_threads(2, executing=1), "violated"),
    ("dispatch.accounts_executing", lambda: counted(executing=1), "violated"),
    ("dispatch.accounts_executing", plain, "vacuous"),
    ("dispatch.failure_handler_once", handled, "held"),
    ("dispatch.failure_handler_once", lambda: handled(0), "violated"),
    ("dispatch.failure_handler_once", lambda: handled(2), "violated"),
    ("dispatch.failure_handler_once", lambda: handled(plugin="q"), "violated"),
    ("dispatch.failure_handler_once", plain, "vacuous"),
    ("dispatch.failure_handler_only", handled, "held"),
    ("dispatch.failure_handler_only", lambda: handled(status=200, kind="applied"), "violated"),
    ("dispatch.failure_handler_only", plain, "vacuous"),
    ("dispatch.conserved", lambda: probed(2), "held"),
    ("dispatch.conserved", lambda: probed(1), "violated"),
    ("dispatch.conserved", lambda: probed(1, qps=0.01, burst=2), "held"),
    ("dispatch.conserved", plain, "vacuous"),
    ("dispatch.memory", lambda: plain().note(6, what="memory", kept=0, live=0), "held"),
    ("dispatch.memory", lambda: plain().note(6, what="memory", kept=1, live=0), "violated"),
    ("dispatch.memory", plain, "vacuous"),
    ("dispatch.follows_model", plain, "held"),
    ("dispatch.follows_model", lambda: plain().told(6, "s0"), "violated"),
    ("dispatch.follows_model", lambda: Story().settled(5), "vacuous"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "story", "expected"), CASES, ids=[f"{name}-{number}" for number, (name, _, _) in enumerate(CASES)]
)
def test_case(name, story, expected):
    """The checker answers as it should."""
    assert expected == verdict(name, story())


def test_backoff_of_many_attempts():
    """The step of the millionth attempt is the cap."""
    assert whole_pause(QueueConfig(), 10**6) == 8.0
    assert whole_pause(QueueConfig(backoff_factor=1.0), 10**6) == 0.5


def test_every_invariant_is_tested():
    """Each has a history that holds, one that violates and one that is vacuous, in some file of this folder."""
    text = "".join(path.read_text() for path in sorted(Path(__file__).parent.glob("test_invariants_dispatch_*.py")))
    case = r'\("(dispatch\.\w+)",(?:(?!"dispatch\.).)*?"(held|violated|vacuous)",?\s*\)'
    found = set(re.findall(case, re.sub(r"\(\s+", "(", text), re.DOTALL))
    wanted = {
        (name, answer)
        for name in catalogue()
        if name.startswith("dispatch.")
        for answer in ("held", "violated", "vacuous")
    }
    assert wanted - found == set()


def big(calls):
    """A correct run of so many calls on as many objects, five workers, some failing once."""
    draw = random.Random(1)
    story = Story(workers=5, capacity=10**6, bounds={"wait": 1e9, "overtakes": 1e9})
    for number in range(calls):
        at, name = float(number), f"o{number}"
        op = story.submit(at, uid=f"u{number % 997}", priority=draw.randrange(100), deadline=at + 50)
        if draw.random() < 0.1:
            story.run(at, name, 503)
            at += 0.5
        story.run(at, name, lasts=0.1)
        story.reevaluate(at + 0.1, name)
        story.told(at + 0.1, op)
    return story.settled(calls + 1.0)


def seconds_for(calls):
    story = big(calls)
    began = time.process_time()
    for name, item in catalogue().items():
        if name.startswith("dispatch."):
            finding = item.judge(story.history)
            assert finding.answer is True, (name, finding)
    return time.process_time() - began, len(story.history)


@pytest.mark.slow
def test_checkers_are_linear():
    """Ten times the events take at most about ten times as long (SPEC 5; generous, for a busy machine)."""
    seconds_for(50)
    small, _ = seconds_for(200)
    large, _ = seconds_for(2000)
    assert large < 25 * small
    assert traces(big(5).history)[0].submits
