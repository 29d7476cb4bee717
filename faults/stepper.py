"""What a stepper is: a live run of a subject that goes on exactly as far as it is told, and no further. One a mode."""

from __future__ import annotations

from typing import Final, Protocol

from .driving import Job

SLACK: Final = 1e-9
"""Seconds. Whatever is due this little after the instant that a run may reach is due at it: sums of the same times differ by rounding."""


class Stepper(Protocol):
    """A live run in one mode. Readings are of the virtual monotonic clock, in seconds.

    Each method raises what ended the run early (:class:`~waitproof.harness.recorder.BudgetExhausted`, a deadlock, a refusal, whatever
    escaped from something that the subject left running); after that only :meth:`close` may be called.
    """

    def start(self, job: Job) -> None:
        """Begin a call now; it runs at the next :meth:`run_until`."""

    def cancel(self, job: Job) -> None:
        """Cancel a call that is running; it notices at the next :meth:`run_until`."""

    def run_until(self, reading: float) -> None:
        """Do all that happens up to and at this instant, and nothing after it."""

    def finish(self) -> None:
        """Go on until every call is over and the grace period has passed, however long that takes."""

    def close(self) -> None:
        """End whatever is still running, at once. Raises what escaped while it was ended."""
