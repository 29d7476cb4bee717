"""Where a history parts from the reference model: what the model allowed beside what was observed."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Parting:
    """The first place where a subject did what the reference model of its dialect does not allow.

    ``event``: its sequence number. ``state``: where the model stood, in words. ``allowed``: what the model allowed there, and when (virtual
    seconds). ``observed``: what was seen, and when. Both may have several lines; where they do, lines of one place stand side by side.
    """

    event: int
    state: str
    allowed: str
    observed: str
