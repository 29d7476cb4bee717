"""A sleep wakes too early: a signal, a coarse timer, a clock that is slewed."""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import strategies as st

from ..kind import Kind


@dataclass(frozen=True, kw_only=True)
class Early:
    """``seconds``: how much too early; with ``relative``, as a part of what was asked (0..1). A sleep is never shorter than nothing."""

    seconds: float = 0.5
    relative: bool = False


def _adjust(data: Early, asked: float) -> float:
    return max(0.0, asked - (asked * data.seconds if data.relative else data.seconds))


def _words(data: Early) -> str:
    return f"wakes {data.seconds:.0%} of its time too early" if data.relative else f"wakes {data.seconds:g} s too early"


def _strategy() -> st.SearchStrategy[Early]:
    return st.one_of(
        st.builds(Early, seconds=st.sampled_from((0.5, 0.0005, 0.001, 0.0011, 0.01, 0.1, 1.0, 5.0))),
        st.builds(Early, seconds=st.sampled_from((0.5, 0.01, 0.1, 0.9, 1.0)), relative=st.just(True)),
    )


KINDS = (
    Kind(name="early", place="wake", data=Early, strategy=_strategy, words=_words, adjust=_adjust, seam_only=True),
)
