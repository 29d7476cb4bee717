"""How long all checkers of dispatch queues need for long histories: whether that is linear, and what the time is made of."""

import gc
import random
import time

import pytest

from waitproof.harness import queue_events as ev
from waitproof.harness.calls import ApiCall, OutcomeView
from waitproof.harness.history import History
from waitproof.harness.queue_dialect import QueueDialect
from waitproof.harness.queue_protocols import QueueConfig
from waitproof.models.dispatch_claims import DISPATCH_CLAIMS
from waitproof.models.dispatch_trace import traces
from waitproof.models.invariants import catalogue

BY_SIZE = {}
"""Seconds of the processor, by how many events: what linearity is read from."""


def history_of(length):
    """A right history of about so many events: writes to a thousand pods in turn, of which one in ten is refused once and tried again."""
    claims = sorted(set(DISPATCH_CLAIMS) - {"reference"})
    history = History({"dialect": QueueDialect().as_json(), "claims": claims})
    draw = random.Random(20261201)

    def add(at, kind, lane, op="", **data):
        history.append(at=at, kind=kind, lane=lane, op=op, data=data)

    add(0.0, ev.QUEUE_OPEN, "caller", config=QueueConfig().as_json(), bounds={"wait": 1e9, "overtakes": 1e9})
    number, version = 0, 10
    while len(history) < length:
        at, op, name, uid = float(number), f"s{number}", f"o{number}", f"uid-{number % 997}"
        call = ApiCall(
            uid=uid, payload={"operation": name}, priority=draw.randrange(100), deadline=at + 50, context=f"c{number}"
        )
        add(at, ev.CALL_SUBMIT, "caller", op, call=call.as_json(), operation=name, submitter="caller")
        add(at, ev.CALL_ACCEPTED, "caller", op, raised=None, message="")
        tries = 2 if draw.random() < 0.1 else 1
        for turn in range(tries):
            attempt, last = f"{name}.a{turn}", turn == tries - 1
            add(
                at, ev.ATTEMPT_START, "worker", attempt, operation=name, uid=uid, name="pod-1", type="patch", read=False, key=None,
                precondition={"uid": None, "resource_version": None}, payload={"operation": name}, method="PATCH", target="/",
            )  # fmt: skip
            at += 0.1
            if last:
                version += 1
                add(at, ev.API_REQUEST, "server", attempt, operation=name, type="patch", name="pod-1", key=None)
                add(
                    at, ev.API_EFFECT, "server", attempt, operation=name, type="patch", uid=uid, target="status", key=None,
                    from_version=version - 1, version=version, by="queue",
                )  # fmt: skip
            add(
                at,
                ev.ATTEMPT_END,
                "worker",
                attempt,
                ending="answer",
                status=200 if last else 503,
                retry_after=None,
                body=None,
            )
            at += 0.0 if last else 0.4
        view = OutcomeView(kind="applied").as_json()
        add(at, ev.REEVALUATE, "caller", uid=uid, operation=name, context=f"c{number}", view=view)
        add(at, ev.CALL_OUTCOME, "caller", op, view=view)
        number += 1
    add(number + 1.0, ev.HEALED, "bench", within=10.0)
    add(number + 12.0, ev.SETTLED, "bench", open=[], waiting=[])
    return history


@pytest.mark.parametrize("length", [100_000, 1_000_000])
def test_checking_a_long_history(benchmark, capsys, length):
    """Goals: at most 12 times as long for 10 times the events, and under 20 s for a million."""
    history = history_of(length)
    checkers = {
        name: item for name, item in catalogue().items() if name.startswith("dispatch.") and item.claim != "reference"
    }
    spent = {}

    def judge():
        began = time.process_time()
        traces(history)
        spent["reading"] = time.process_time() - began
        for name, item in checkers.items():
            began = time.process_time()
            finding = item.judge(history)
            spent[name] = time.process_time() - began
            assert not finding.violated, (name, finding)

    gc.collect()
    gc.freeze()
    try:
        benchmark.pedantic(judge, rounds=1)
    finally:
        gc.unfreeze()
    whole = sum(spent.values())
    BY_SIZE[length] = whole
    growth = whole / BY_SIZE.get(length // 10, whole)
    dearest = sorted(spent, key=spent.__getitem__, reverse=True)[:6]
    benchmark.extra_info.update(seconds=whole, growth=growth, **{name: spent[name] for name in dearest})
    with capsys.disabled():
        print(
            f"\n    {len(checkers)} checkers, {len(history):,} events: {whole:.1f} s of the processor, {growth:.1f} times that of a tenth"
        )
        print("    dearest: " + ", ".join(f"{name} {spent[name]:.2f} s" for name in dearest))
