"""The caller gives up: the task is cancelled, or an interrupt is raised in the sleep or fetch under way."""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import strategies as st

from ..kind import Kind


@dataclass(frozen=True, kw_only=True)
class Cancel:
    """``at``: virtual seconds since the start of the run."""

    at: float = 0.0


def _strategy() -> st.SearchStrategy[Cancel]:
    return st.builds(Cancel, at=st.sampled_from((0.0, 0.5, 1.0, 2.5, 4.75, 9.0)) | st.floats(0.0, 60.0, width=32))


KINDS = (
    Kind(
        name="cancel",
        place="caller",
        data=Cancel,
        strategy=_strategy,
        words=lambda data: f"the caller cancels at {data.at:g} s",
        at=lambda data: float(data.at),
    ),
)
