"""Permanent errors reach the plugin's failure handler, once each (SPEC 4, 'Gate on')."""

from __future__ import annotations

from collections import defaultdict

from ....harness.history import Event
from ....harness.verdicts import Finding, held
from ... import dispatch_errors as table
from ...dispatch_trace import DONE, DispatchTrace
from ._judging import breach, call, must, told


def _calls(trace: DispatchTrace) -> dict[str, list[Event]]:
    found: dict[str, list[Event]] = defaultdict(list)
    for event in trace.failures:
        found[str(event.data.get("operation"))].append(event)
    return found


def _reached(trace: DispatchTrace) -> Finding:
    calls, witnesses = _calls(trace), []
    end = trace.last.at if trace.last is not None else 0.0
    for submit in trace.submits:
        last = submit.operation.last_try(submit.told_seq)
        if submit.kind != "failed" or submit.outcome is None or submit.operation.alone is None:
            continue
        if last is None or last.verdict != table.PERMANENT:
            continue
        mine = calls.get(submit.operation.name, [])
        if not mine and end <= submit.told + trace.near and trace.settled is None:
            continue
        if len(mine) != 1:
            return breach(
                f"its plugin's failure handler was called {len(mine)} times", [submit, last.end, submit.outcome, *mine], of=call(submit),
                expected="once", observed=f"{len(mine)} times",
            )  # fmt: skip
        data = mine[0].data
        if (data.get("plugin"), data.get("uid")) != (submit.plugin, submit.uid):
            return breach(
                "the wrong failure handler was called", [submit, mine[0]], of=call(submit), expected=f"{submit.plugin}, for {submit.uid}",
                observed=f"{data.get('plugin')}, for {data.get('uid')}",
            )  # fmt: skip
        witnesses.append(mine[0].seq)
    return held(witnesses)


def _only_failures(trace: DispatchTrace) -> Finding:
    witnesses = []
    for event in trace.failures:
        operation = trace.operations.get(str(event.data.get("operation")))
        if operation is None or not operation.submits:
            continue
        submits = operation.submits
        if all(submit.final in DONE or submit.final == "superseded" for submit in submits):
            return breach(
                "its failure handler was called though it did not fail", [submits[0], event, submits[0].outcome], of=call(submits[0]),
                expected="no call", observed=told(submits[0]),
            )  # fmt: skip
        witnesses.append(event.seq)
    return held(witnesses)


INVARIANTS = (
    must("failure_handler_once", "failure_handler", _reached, "SPEC 4 gate on; D10, D28", "A permanent error reaches the failure handler of its call's plugin exactly once."),
    must("failure_handler_only", "failure_handler", _only_failures, "SPEC 4 gate on", "The failure handler is not called for a call that was done or superseded."),
)  # fmt: skip
