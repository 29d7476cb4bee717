"""A sleep wakes too late: a busy machine, a suspended laptop."""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import strategies as st

from ..kind import Kind


@dataclass(frozen=True, kw_only=True)
class Late:
    """``seconds``: how much too late; with ``relative``, as a multiple of what was asked."""

    seconds: float = 0.5
    relative: bool = False


def _adjust(data: Late, asked: float) -> float:
    return asked + max(0.0, asked * data.seconds if data.relative else data.seconds)


def _words(data: Late) -> str:
    return f"wakes {data.seconds:.0%} of its time too late" if data.relative else f"wakes {data.seconds:g} s too late"


def _strategy() -> st.SearchStrategy[Late]:
    return st.one_of(
        st.builds(Late, seconds=st.sampled_from((0.5, 0.0005, 0.001, 0.01, 0.1, 1.0, 5.0, 30.0, 3600.0))),
        st.builds(Late, seconds=st.sampled_from((0.5, 0.01, 0.1, 1.0, 3.0)), relative=st.just(True)),
    )


KINDS = (Kind(name="late", place="wake", data=Late, strategy=_strategy, words=_words, adjust=_adjust),)
