"""Which arguments of a wait are bad: our own statement of SPEC 2's ``ValueError`` list."""

from __future__ import annotations

import math

from ..harness.protocols import WaitCall

LEAST_DELAY = 0.01

_NUMBERS = (
    "timeout",
    "poll_interval",
    "first_delay",
    "factor",
    "cap",
    "fetch_timeout",
    "not_found_grace",
    "attempts",
    "jitter_seed",
)
_OPTIONAL = ("poll_interval", "attempts", "jitter_seed")


def bad_parameters(call: WaitCall) -> list[str]:
    """What is wrong with the arguments, a phrase each; empty if they are acceptable."""
    wrong = []
    for name in _NUMBERS:
        value = getattr(call, name)
        if isinstance(value, bool):
            wrong.append(f"{name} is a bool")
        elif not isinstance(value, int | float) and not (value is None and name in _OPTIONAL):
            wrong.append(f"{name} is no number")
    if wrong:
        return wrong
    if math.isnan(call.timeout) or call.timeout < 0:
        wrong.append(f"timeout={call.timeout!r} is negative or NaN")
    for name in ("poll_interval", "first_delay", "cap"):
        value = getattr(call, name)
        if value is not None and not (math.isfinite(value) and value >= LEAST_DELAY):
            wrong.append(f"{name}={value!r} is not finite or below {LEAST_DELAY} s")
    if not (math.isfinite(call.factor) and call.factor >= 1):
        wrong.append(f"factor={call.factor!r} is not finite or below 1")
    if call.poll_interval is None and call.cap < call.first_delay:
        wrong.append(f"cap={call.cap!r} is below first_delay={call.first_delay!r}")
    if not (math.isfinite(call.fetch_timeout) and call.fetch_timeout > 0):
        wrong.append(f"fetch_timeout={call.fetch_timeout!r} is not finite or not above 0")
    if not (math.isfinite(call.not_found_grace) and call.not_found_grace >= 0):
        wrong.append(f"not_found_grace={call.not_found_grace!r} is negative or not finite")
    return wrong


def surely_bad(call: WaitCall) -> bool:
    """True if SPEC 2 names the fault. Text or an object where a number belongs is bad too, but SPEC 2 does not say which error it is."""
    found = bad_parameters(call)
    return bool(found) and not all(phrase.endswith("is no number") for phrase in found)
