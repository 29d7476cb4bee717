"""Corner plans: a small plan for each situation that an invariant speaks of, run before anything is drawn.

They keep a quick profile from being vacuous. Parameters that a subject does not take fall back to its dialect's defaults.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...faults.kinds import kind_named
from ...faults.plan import WaitPlan, answer, fault
from ...harness.dialect import WaiterDialect
from ...harness.protocols import WaitCall

_PENDING = answer("status", word="processing")
_DONE = answer("status", word="completed")


def corners(dialect: WaiterDialect) -> Sequence[WaitPlan]:
    """The corner plans, for a subject of this dialect."""
    short = WaitCall(timeout=4.0)
    plans = [
        WaitPlan(),
        WaitPlan(answers=(_PENDING,) * 3),
        WaitPlan(call=short, ending=_PENDING),
        WaitPlan(call=WaitCall(timeout=0.0), ending=_PENDING),
        WaitPlan(call=WaitCall(timeout=5.0, poll_interval=2.0), ending=_PENDING),
        WaitPlan(call=WaitCall(poll_interval=20.0), answers=(_PENDING,) * 2),
        WaitPlan(call=WaitCall(jitter_seed=1), answers=(_PENDING,) * 3),
        WaitPlan(call=WaitCall(raise_on_failure=True), answers=(_PENDING,), ending=answer("status", word="failed")),
        WaitPlan(call=WaitCall(raise_on_failure=True), ending=answer("status", word="failed", error="absent")),
        WaitPlan(call=WaitCall(raise_on_failure=True), ending=answer("status", word="cancelled", error="absent")),
        WaitPlan(call=WaitCall(raise_on_failure=True), ending=_DONE),
        WaitPlan(ending=answer("status", word="failed")),
        WaitPlan(ending=answer("status", word="cancelled")),
        WaitPlan(ending=answer("status", word="SUCCEEDED")),
        WaitPlan(ending=answer("status", word="Timed-Out")),
        WaitPlan(ending=answer("status", word="canceled")),
        WaitPlan(answers=(answer("status", word="hibernating"),)),
        WaitPlan(call=short, ending=answer("status", word="hibernating")),
        WaitPlan(answers=(answer("odd_status"),)),
        WaitPlan(answers=(answer("http_error", status=503),)),
        WaitPlan(answers=(answer("http_error", status=500), _PENDING)),
        WaitPlan(answers=(answer("refused"), answer("disconnect"))),
        WaitPlan(call=short, ending=answer("http_error", status=502)),
        WaitPlan(answers=(_PENDING, answer("http_error", status=403))),
        WaitPlan(answers=(_PENDING, answer("http_error", status=501))),
        WaitPlan(answers=(_PENDING, answer("http_error", status=304))),
        WaitPlan(answers=(answer("http_error", status=408), answer("http_error", status=425))),
        WaitPlan(call=WaitCall(timeout=0.0), ending=answer("status", word="completed", delay=1.0)),
        WaitPlan(call=WaitCall(raise_on_failure=True), ending=answer("partial")),
        WaitPlan(ending=answer("partial", word="cancelled")),
        WaitPlan(call=WaitCall(timeout=2.7), ending=_PENDING),
        WaitPlan(ending=answer("http_error", status=404)),
        WaitPlan(call=WaitCall(not_found_grace=3.0), answers=(answer("http_error", status=404),) * 2),
        WaitPlan(call=WaitCall(not_found_grace=3.0), ending=answer("http_error", status=404)),
        WaitPlan(call=WaitCall(not_found_grace=3.0), answers=(answer("http_error", status=404, delay=5.0),)),
        WaitPlan(answers=(answer("status", word="processing", delay=7.0),)),
        WaitPlan(answers=(_PENDING, answer("not_json"))),
        WaitPlan(answers=(answer("wrong_id"),)),
        WaitPlan(answers=(answer("wrong_id", json='"job-10"'),)),
        WaitPlan(answers=(answer("rate_limit", status=429, form="seconds", seconds=7),)),
        WaitPlan(
            answers=(
                answer("rate_limit", status=503, form="seconds", seconds=3),
                answer("rate_limit", status=429, form="seconds", seconds=9),
                _PENDING,
            )
        ),
        WaitPlan(call=short, answers=(answer("rate_limit", status=429, form="seconds", seconds=60),), ending=_PENDING),
        WaitPlan(call=short, answers=(answer("rate_limit", status=429, form="seconds", seconds=4),), ending=_PENDING),
        WaitPlan(answers=(answer("rate_limit", status=429, form="text", text="soon"),)),
        WaitPlan(answers=(answer("rate_limit", form="date", seconds=7),)),
        WaitPlan(answers=(answer("rate_limit", form="date", seconds=7, own_date=True),)),
        WaitPlan(answers=(answer("rate_limit", form="ms", seconds=7),)),
        WaitPlan(answers=(answer("rate_limit", form="both", seconds=3, other=8),)),
        WaitPlan(answers=(answer("rate_limit", form="ms", seconds=0.05),)),
        WaitPlan(answers=(answer("rate_limit", form="text", text="-5"),)),
        WaitPlan(answers=(answer("hint", seconds=0),) * 2),
        WaitPlan(answers=(answer("rate_limit", form="seconds", seconds=120),)),
        WaitPlan(call=WaitCall(poll_interval=20.0), answers=(answer("rate_limit", form="seconds", seconds=3),)),
        WaitPlan(answers=(answer("hint", seconds=5),)),
        WaitPlan(call=short, answers=(answer("hint", seconds=60),), ending=_PENDING),
        WaitPlan(call=WaitCall(fetch_timeout=2.0), answers=(answer("hang"),)),
        WaitPlan(call=WaitCall(fetch_timeout=2.0), answers=(answer("drip"),)),
        WaitPlan(call=WaitCall(timeout=4.0, fetch_timeout=2.0), ending=answer("hang")),
        WaitPlan(answers=(_PENDING,), wakes=(fault("early", seconds=0.4),)),
        WaitPlan(call=short, answers=(_PENDING,), ending=_PENDING, wakes=(fault("late", seconds=2.0),)),
        WaitPlan(answers=(_PENDING,) * 2, clock=(fault("wall_jump", at=0.5, seconds=-3600.0),)),
        WaitPlan(call=short, ending=_PENDING, clock=(fault("wall_jump", at=0.5, seconds=3600.0),)),
        WaitPlan(
            call=short,
            answers=(answer("http_error", status=500),),
            ending=_PENDING,
            clock=(fault("wall_jump", at=1.5, seconds=3600.0),),
        ),
        WaitPlan(ending=_PENDING, caller=(fault("cancel", at=0.5),)),
        WaitPlan(ending=answer("status", word="processing", delay=3.0), caller=(fault("cancel", at=0.5),)),
        WaitPlan(call=WaitCall(job_id="a/b?c=%2F#..", timeout=4.0), answers=(_PENDING,)),
        WaitPlan(call=WaitCall(job_id="../x y", timeout=4.0), answers=(_PENDING,)),
        WaitPlan(call=WaitCall(resource="extract_jobs"), answers=(_PENDING,)),
        WaitPlan(call=WaitCall(resource="build_schema_jobs"), answers=(_PENDING,)),
        WaitPlan(old_keys=True, answers=(_PENDING,)),
        WaitPlan(call=WaitCall(timeout=300.0), ending=_PENDING),
    ]
    if dialect.clock != "seam":
        plans = [plan for plan in plans if not any(kind_named(item.kind).seam_only for item in plan.wakes)]
    if dialect.limit == "attempts":
        plans += [
            WaitPlan(call=WaitCall(attempts=3), ending=_PENDING),
            WaitPlan(call=WaitCall(attempts=1), ending=_PENDING),
        ]
    return plans
