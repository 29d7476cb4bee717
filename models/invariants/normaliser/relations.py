"""Metamorphic relations: an envelope twice, changed the second time in a way that must not matter (SPEC 5)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ....harness import events as bench
from ....harness.history import History
from ....harness.invariant import Checker, Invariant, Level
from ....harness.verdicts import Finding, held, violated
from ...normaliser import OLD
from ...normaliser_trace import Call, Reading, trace_of
from ._judging import outcome_words, short
from .raw import TOLD, first_difference

TIMES = ("created_at", "started_at", "completed_at")


def _relation(history: History) -> str:
    notes = [event for event in history.of_kind(bench.BENCH_NOTE) if event.data.get("what") == "relation"]
    return str(notes[0].data["relation"]) if notes else ""


def _related(names: tuple[str, ...], judge: Callable[[Call, Call], Finding]) -> Checker:
    def check(history: History) -> Finding:
        if _relation(history) not in names:
            return held()
        calls = {call.run: call for call in trace_of(history).calls}
        base, changed = calls.get("base"), calls.get("changed")
        if base is None or changed is None or base.outcome is None or changed.outcome is None:
            return held()
        if base.start.data == changed.start.data or not base.is_object or base.deep:
            return held()  # the change had nothing to change
        return judge(base, changed)

    return check


def _same(parts: Callable[[Call], tuple[str, ...]]) -> Callable[[Call, Call], Finding]:
    def judge(base: Call, changed: Call) -> Finding:
        shown = (*base.shown, *changed.shown)
        if base.reading is None or changed.reading is None:
            if base.reading is changed.reading:
                return held()
            return violated(
                "one of the two made it raise", events=shown, expected=outcome_words(base), observed=outcome_words(changed)
            )  # fmt: skip
        part = first_difference(_plain(base.reading), _plain(changed.reading), parts(base))
        if part:
            return violated(
                f"{part} is another", events=shown, expected=short(base.reading.get(part)), observed=short(changed.reading.get(part))
            )  # fmt: skip
        return held(shown[-1:])

    return judge


def _plain(reading: Reading) -> Reading:
    """A reading whose times are compared as moments: in which zone they are written is for ``times_aware_utc``."""
    shown = Reading(reading)
    for name in TIMES:
        said = reading.get(name)
        if isinstance(said, dict):
            shown[name] = (said.get("is"), said.get("us"))
    return shown


def _parts(*left_out: str) -> Callable[[Call], tuple[str, ...]]:
    return lambda call: tuple(name for name in TOLD if name not in left_out and name in call.dialect.fields)


def _resource(base: Call, changed: Call) -> Finding:
    if base.dialect.old_keys == "family" and set(base.envelope) & set(OLD.values()):
        return held()
    # Old names of times belong to the parse family; whether others read them is open.
    left_out = ("markdown", "result", *(("created_at",) if "received_at" in base.envelope else ()))
    finding = _same(_parts(*left_out))(base, changed)
    if finding.answer and base.reading is not None and changed.reading is not None:
        has = [reading.get("result") != "null" for reading in (base.reading, changed.reading)]
        if has[0] != has[1]:
            return violated(
                "only one of the two resources gives a result", events=(*base.shown, *changed.shown),
                expected=short(base.reading.get("result")), observed=short(changed.reading.get("result")),
            )  # fmt: skip
    return finding


def _zone(base: Call, changed: Call) -> Finding:
    return _same(lambda _: ("raw", *TOLD))(base, changed)


def _with_times(dialect: Any) -> bool:
    return bool(dialect.fields & set(TIMES))


INVARIANTS = (
    Invariant(
        id="normaliser.families_agree", level=Level.MUST, claim="families", check=_related(("family",), _same(_parts())), source="SPEC 3 families",
        expectation="The same job told in the old keys and in the new ones is the same job.",
    ),
    Invariant(
        id="normaliser.resources_agree", level=Level.MUST, claim="resources", check=_related(("resource",), _resource), source="SPEC 3 resources",
        expectation="The same envelope gives the same job whichever of the three resources it is of; only the type of the result differs.",
    ),
    Invariant(
        id="normaliser.key_order_irrelevant", level=Level.MUST, claim="drift", check=_related(("order",), _same(_parts())), source="SPEC 5 normaliser",
        expectation="The order of keys changes nothing.",
    ),
    Invariant(
        id="normaliser.unknown_keys_harmless", level=Level.MUST, claim="drift", check=_related(("extra",), _same(_parts())), source="SPEC 5 normaliser",
        expectation="Keys that it does not know change nothing, whatever they are called.",
    ),
    Invariant(
        id="normaliser.payload_keys_harmless", level=Level.MUST, claim="drift", check=_related(("payload",), _same(_parts("result"))), source="SPEC 5 normaliser",
        expectation="Unknown keys of a payload change nothing else, though they be called like a parameter.",
    ),
    Invariant(
        id="normaliser.epoch_equals_iso", level=Level.MUST, claim="epochs", check=_related(("epoch",), _same(_parts())), source="SPEC 3 times",
        expectation="The same moments as ISO text and as epoch numbers of any unit are the same job.", possible=_with_times,
    ),
    Invariant(
        id="normaliser.tz_irrelevant", level=Level.MUST, safety=True, check=_related(("zone",), _zone), source="SPEC 5 times right in every zone; W71",
        expectation="The time zone of the process changes nothing.",
    ),
)  # fmt: skip
