"""Profiles: how much a campaign may spend. Registered with Hypothesis under the same names, so a pytest run can pick them too."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass

from hypothesis import HealthCheck, Phase, Verbosity, settings

from .naming import near


@dataclass(frozen=True, kw_only=True)
class Profile:
    """``examples`` a suite, ``shrink_runs``: runs that may be spent on making one counterexample simpler, ``hang_seconds``: real seconds
    without a finished example after which a subject is stopped."""

    name: str
    examples: int
    shrink_runs: int = 400
    hang_seconds: float = 30.0


PROFILES = {
    "quick": Profile(name="quick", examples=40, shrink_runs=200, hang_seconds=20.0),
    "default": Profile(name="default", examples=200),
    "nightly": Profile(name="nightly", examples=3_000, shrink_runs=2_000, hang_seconds=120.0),
}


def hypothesis_settings(profile: Profile, *, share: float = 1.0, shrink: bool = False) -> settings:
    """Hypothesis's settings for one search. No deadline (time is virtual and steps are budgeted), no database (a token holds the plan
    as data), no explain phase (it varies one choice at a time, which misleads for schedules)."""
    phases = (Phase.generate, Phase.shrink) if shrink else (Phase.generate,)
    return settings(
        max_examples=max(1, round(profile.examples * share)),
        database=None,
        deadline=None,
        derandomize=False,
        phases=phases,
        print_blob=False,
        report_multiple_bugs=False,
        suppress_health_check=list(HealthCheck),
        verbosity=Verbosity.quiet,
    )


def register() -> None:
    """Make the profiles known to Hypothesis as ``waitproof-quick``, ``waitproof-default`` and ``waitproof-nightly``."""
    for profile in PROFILES.values():
        settings.register_profile(f"waitproof-{profile.name}", hypothesis_settings(profile, shrink=True))


def profile_named(
    name: str, *, examples: int | None = None, hang_seconds: float | None = None, shrink_runs: int | None = None
) -> Profile:
    """The profile of this name, with other numbers where they are given. Raises ``ValueError`` that lists the names."""
    if name not in PROFILES:
        raise ValueError(f"there is no profile {name!r}{near(name, PROFILES) or ';'} there are {', '.join(PROFILES)}")
    base = PROFILES[name]
    if examples is not None and examples < 1:
        raise ValueError(f"examples must be at least 1, not {examples}")
    if hang_seconds is not None and not 0 < hang_seconds < math.inf:
        raise ValueError(f"hang-seconds must be a finite number above 0, not {hang_seconds}")
    if shrink_runs is not None and shrink_runs < 0:
        raise ValueError(f"shrink-runs must be at least 0, not {shrink_runs}")
    return dataclasses.replace(
        base,
        shrink_runs=base.shrink_runs if shrink_runs is None else shrink_runs,
        examples=base.examples if examples is None else examples,
        hang_seconds=base.hang_seconds if hang_seconds is None else hang_seconds,
    )


register()
