"""Seeded bugs of superseding: the wrong call gives way, too early, or is forgotten."""

from __future__ import annotations

from typing import Any

from ....harness.subjects.dispatch.ending import finish
from ....harness.subjects.dispatch.entry import EXECUTING, Entry
from ....harness.subjects.dispatch.parts import Fate
from ....harness.subjects.dispatch.superseding import dominates
from ..bug import wrapping
from ._bug import QueueBug


def _later_wins(one: Entry, other: Entry) -> bool:
    if one.level != other.level or one.call.precondition.generation is None:
        return dominates(one, other)
    return one.call.type == other.call.type and one.call.target == other.call.target and one.seq > other.seq


def _overwritten_at_once(original: Any, parts: Any, entry: Entry, survivor: Entry) -> None:
    original(parts, entry, survivor)
    finish(parts, entry, "superseded", "", Fate.NOT)


def _only_newcomers_give_way(objects: Any, entry: Entry) -> list[Entry]:  # noqa: ARG001 - the seam's
    return []


def _unknown_is_not(original: Any, parts: Any, entry: Entry, fate: Fate) -> None:
    original(parts, entry, Fate.NOT if fate is Fate.UNKNOWN else fate)


def _whatever_became_of_it(original: Any, parts: Any, entry: Entry, fate: Fate) -> None:
    original(parts, entry, Fate.DONE if fate is Fate.NOT else fate)


def _forgotten(original: Any, parts: Any, entry: Entry, fate: Fate) -> None:
    if fate is Fate.NOT:
        entry.withheld = None
    original(parts, entry, fate)


def _executing_is_overwritten(original: Any, parts: Any, entry: Entry) -> None:
    original(parts, entry)
    for other in parts.uids.of(entry.call.uid):
        if other.state == EXECUTING and other.ordered and dominates(entry, other):
            for ticket in other.waiting():
                parts.tell(ticket, parts.view("superseded"))


BUGS = (
    QueueBug(
        name="the-later-submit-wins", summary="of two generations of an intent the one that was submitted later supersedes, even if it is the older one",
        invariant="dispatch.superseded_downwards", source="D35 kai-scheduler/KAI-Scheduler!195",
        replaced={"superseding:dominates": _later_wins, "ending:dominates": _later_wins},
    ),
    QueueBug(
        name="overwritten-at-once", summary="a call that gives way is told superseded before its survivor has been sent",
        invariant="dispatch.superseded_after_survivor", source="D5 kubernetes/kubernetes!135180",
        replaced={"standing:withhold": wrapping(_overwritten_at_once)},
    ),
    QueueBug(
        name="overwritten-while-it-runs", summary="a call that executes is told superseded as soon as a more relevant one is submitted",
        invariant="dispatch.decided_first", source="D5 kubernetes/kubernetes!135180",
        replaced={"admission:arrange": wrapping(_executing_is_overwritten)}, mode="trio",
    ),
    QueueBug(
        name="only-newcomers-give-way", summary="a waiting patch is still sent when a more relevant write has come after it",
        invariant="dispatch.withheld", source="D11 kubernetes/kubernetes!139602", replaced={"standing:subjects": _only_newcomers_give_way},
    ),
    QueueBug(
        name="an-unknown-survivor-is-none", summary="what was withheld is sent after all when its survivor has ended unknown",
        invariant="dispatch.survivor_unknown", source="own", replaced={"ending:_settle_withheld": wrapping(_unknown_is_not)},
    ),
    QueueBug(
        name="superseded-by-a-failure", summary="what was withheld is told superseded though its survivor has failed",
        invariant="dispatch.superseded_after_survivor", source="D5 kubernetes/kubernetes!135180",
        replaced={"ending:_settle_withheld": wrapping(_whatever_became_of_it)}, mode="threads",
    ),
    QueueBug(
        name="a-failed-survivor-takes-all-with-it", summary="what was withheld behind a call that failed is never looked at again, and nobody is told",
        invariant="dispatch.one_outcome", source="D31 kubernetes-sigs/kube-batch!909", replaced={"ending:_settle_withheld": wrapping(_forgotten)},
    ),
)  # fmt: skip
