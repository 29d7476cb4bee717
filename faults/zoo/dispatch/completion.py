"""Seeded bugs of completion and of the queue's own figures."""

from __future__ import annotations

from typing import Any

from ....harness.subjects.dispatch.parts import Reevaluate
from ..bug import wrapping
from ._bug import QueueBug


def _nothing_has_changed(original: Any, parts: Any, entry: Any, view: Any, plugins: list[str]) -> None:
    if view.kind != "noop":
        original(parts, entry, view, plugins)


def _as_good_as_done(original: Any, parts: Any, ticket: Any, call: Any, *more: Any) -> None:
    original(parts, ticket, call, *more)
    parts.deeds.append(Reevaluate(call, parts.view("applied")))


def _merged_is_applied(original: Any, self: Any, ticket: Any, view: Any) -> None:
    original(self, ticket, view)
    if view.kind == "merged":
        self.accounts.outcomes["merged"] -= 1
        self.accounts.outcomes[view.own] += 1


def _joiners_are_not_live(original: Any, parts: Any, ticket: Any, twin: Any) -> None:
    original(parts, ticket, twin)
    parts.accounts.live -= 1


def _not_asserted(self: Any) -> None:  # noqa: ARG001 - the seam's
    return None


def _the_gauge_keeps_late_ones(original: Any, self: Any, now: float) -> Any:
    figures = original(self, now)
    return {**figures, "executing": figures["executing"] + figures["audited"]}


BUGS = (
    QueueBug(
        name="nothing-has-changed", summary="a write that finds its work done asks for no re-evaluation, so that the pod waits for the next sweep",
        invariant="dispatch.reevaluates", source="D8 kubernetes/kubernetes#141694", replaced={"attempts:completed": wrapping(_nothing_has_changed)},
    ),
    QueueBug(
        name="re-evaluated-in-hope", summary="re-evaluation is asked for when a twin is submitted of a write that is still under way",
        invariant="dispatch.reevaluates_after", source="D7 kubernetes/kubernetes#140082", replaced={"admission:_park": wrapping(_as_good_as_done)},
    ),
    QueueBug(
        name="merged-is-counted-as-applied", summary="whoever joined is counted as applied, and told that it was merged", invariant="dispatch.accounts_agree",
        source="D68 kubernetes/kubernetes@86289668", replaced={"parts:Parts.tell": wrapping(_merged_is_applied)},
    ),
    QueueBug(
        name="joiners-are-not-counted-as-live", summary="the depth counts calls, the outcomes count submits", invariant="dispatch.accounts_conserved",
        source="D38 kubernetes-sigs/controller-runtime!3060",
        replaced={"admission:_join": wrapping(_joiners_are_not_live), "accounts:Accounts.check": _not_asserted},
    ),
    QueueBug(
        name="the-gauge-keeps-late-ones", summary="an attempt whose call was given up meanwhile is never taken off the gauge", invariant="dispatch.accounts_executing",
        source="D20 kubernetes/kubernetes!127182", replaced={"core:DispatchCore.stats": wrapping(_the_gauge_keeps_late_ones)},
    ),
)  # fmt: skip
