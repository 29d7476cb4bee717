"""Seeded bugs of who runs first: priority, age, loans, order on an object, the bounds that are printed."""

from __future__ import annotations

import dataclasses
from typing import Any

from ..bug import wrapping
from ._bug import QueueBug


def _ageless(original: Any, self: Any, ticket: Any, *more: Any) -> None:
    original(self, ticket, *more[:-1], -float(ticket.priority))


def _no_loan(self: Any, uid: str) -> None:  # noqa: ARG001 - the seam's
    return None


def _urgent_first(original: Any, self: Any, entry: Any) -> None:
    entry.order = entry.rank
    original(self, entry)


def _deletes_jump_the_line(original: Any, self: Any, ticket: Any, call: Any, *args: Any) -> None:
    original(self, ticket, call, *args)
    self.ordered = self.ordered and call.type != "delete"


def _one_turn(original: Any, config: Any, qps: float, burst: Any = None) -> Any:
    bounds = original(config, qps, burst)
    return dataclasses.replace(bounds, wait=config.attempt_timeout / config.workers)


def _workers_only(original: Any, config: Any, qps: float, burst: Any = None) -> Any:
    return dataclasses.replace(original(config, qps, burst), overtakes=float(config.workers))


BUGS = (
    QueueBug(
        name="priority-without-age", summary="calls do not age: a fixed priority decides for ever", invariant="dispatch.best_first",
        source="D48 kubernetes-sigs/controller-runtime#3496", replaced={"entry:Entry.__init__": wrapping(_ageless)},
    ),
    QueueBug(
        name="nothing-is-lent", summary="the call that holds an object keeps its own low priority, however urgent those behind it are",
        invariant="dispatch.no_inversion", source="own", replaced={"order:Objects.demanded": _no_loan},
    ),
    QueueBug(
        name="the-most-urgent-write-first", summary="the writes of one object run by priority instead of in the order of their submits",
        invariant="dispatch.object_order", source="D105 mjpieters/aiolimiter#298", replaced={"order:Crowd.place": wrapping(_urgent_first)},
    ),
    QueueBug(
        name="deletes-jump-the-line", summary="a delete does not wait for the write that is under way on its object",
        invariant="dispatch.one_write_in_flight", source="own", replaced={"entry:Entry.__init__": wrapping(_deletes_jump_the_line)},
    ),
    QueueBug(
        name="a-bound-of-one-turn", summary="the printed longest wait counts one attempt on each worker, and forgets age, quota and retries",
        invariant="dispatch.wait_bounded", source="D64 kubernetes/kubernetes#112169", replaced={"core:bounds_of": wrapping(_one_turn)},
    ),
    QueueBug(
        name="only-workers-overtake", summary="the printed number of overtakes counts the workers only", invariant="dispatch.overtakes_bounded",
        source="D64 kubernetes/kubernetes#112169", replaced={"core:bounds_of": wrapping(_workers_only)},
    ),
)  # fmt: skip
