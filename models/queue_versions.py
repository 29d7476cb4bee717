"""Guards that move along the queue's own writes: from which resourceVersion which other may be reached (SPEC 4, ambiguity)."""

from __future__ import annotations

from ..harness import queue_events
from ..harness.history import Event


class Versions:
    """The chain of own writes of each object, each guarded at exactly the version that it replaced, as the server's ledger has it."""

    def __init__(self) -> None:
        self._guards: dict[str, object] = {}
        self._links: dict[tuple[str, int], int] = {}

    def note(self, event: Event) -> None:
        """Look at one event of the history; all but attempts and the ledger are passed over."""
        if event.kind == queue_events.ATTEMPT_START:
            sent = event.data.get("precondition")
            self._guards[event.op] = sent.get("resource_version") if isinstance(sent, dict) else None
        elif event.kind == queue_events.API_EFFECT and event.data.get("by") != "external":
            before, after = event.data.get("from_version"), event.data.get("version")
            if isinstance(before, int) and isinstance(after, int) and self._guards.get(event.op) == before:
                self._links[str(event.data.get("uid")), before] = after

    def leads(self, uid: str, submitted: int | None, sent: object) -> bool:
        """Whether a guard at ``submitted`` may be sent as ``sent``: unmoved, or moved along an unbroken chain."""
        at = submitted
        while at != sent:
            if at is None or (uid, at) not in self._links:
                return False
            at = self._links[uid, at]
        return True
