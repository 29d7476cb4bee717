"""The caller submits a call; inside the callback that tells its outcome it may submit again, or close."""

from __future__ import annotations

from dataclasses import dataclass, field

from hypothesis import strategies as st

from ...harness.calls import ApiCall
from ..kind import Kind
from ._queue_words import call_words, instants


@dataclass(frozen=True, kw_only=True)
class QueueSubmit:
    """``call``: what is submitted; its deadline counts in seconds since the start of the run, and ``operation`` is put into its payload.

    ``then``: submitted from inside the callback that tells the outcome, as ``then_operation``. ``then_close``: that callback closes the
    queue.
    """

    at: float = 0.0
    operation: str = "o0"
    call: ApiCall = field(default_factory=ApiCall)
    then: ApiCall | None = None
    then_operation: str = "o0"
    then_close: bool = False


def _words(data: QueueSubmit) -> str:
    text = f"at {data.at:g} s submits {data.operation}: {call_words(data.call)}"
    if data.then is not None:
        text += f"; when told its outcome submits {data.then_operation}: {call_words(data.then)}"
    return text + ("; when told its outcome closes the queue" if data.then_close else "")


KINDS = (
    Kind(
        name="queue_submit",
        place="step",
        data=QueueSubmit,
        strategy=lambda: st.builds(QueueSubmit, at=instants()),
        words=_words,
        at=lambda data: float(data.at),
        act=lambda data, hands: hands.submit(data),
        weight=3,
    ),
)
