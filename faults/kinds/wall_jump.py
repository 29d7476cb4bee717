"""The wall clock jumps (NTP, a suspended machine, a person); the monotonic clock does not."""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import strategies as st

from ..kind import Kind


@dataclass(frozen=True, kw_only=True)
class WallJump:
    """``at``: virtual seconds since the start of the run. ``seconds``: by how much, forward if positive."""

    at: float = 0.0
    seconds: float = 3600.0


def _words(data: WallJump) -> str:
    return f"the wall clock jumps by {data.seconds:+g} s at {data.at:g} s"


def _strategy() -> st.SearchStrategy[WallJump]:
    return st.builds(
        WallJump,
        at=st.sampled_from((0.0, 0.5, 1.0, 2.5, 10.0)) | st.floats(0.0, 60.0, width=32),
        seconds=st.sampled_from((3600.0, -3600.0, 1.0, -1.0, 86_400.0, -1e9, 1e9)),
    )


KINDS = (
    Kind(
        name="wall_jump", place="clock", data=WallJump, strategy=_strategy, words=_words, at=lambda data: float(data.at)
    ),
)
