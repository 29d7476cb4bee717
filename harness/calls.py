"""API calls as data: what a scheduler hands to a dispatch queue, and the closed set of what can become of it (SPEC 4)."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal, cast, get_args

from .jsonable import Json, plain, revive

Effect = Literal["READ", "IDEMPOTENT_WRITE", "CREATE"]
"""The effect class of a call: it changes nothing; done twice it leaves what it left once; each time it makes something new."""

Outcome = Literal[
    "applied",
    "merged",
    "superseded",
    "noop",
    "refused",
    "expired",
    "cancelled",
    "unknown",
    "dropped",
    "failed",
    "exhausted",
    "breaker_open",
    "stale",
    "closed",
]
"""What can become of a submit. ``merged`` comes with the outcome of the call that it was merged into."""

OUTCOMES: Final[tuple[Outcome, ...]] = get_args(Outcome)

REASONS: Final = (
    # refused at submit
    "type",  # a type that the queue has no relevance for
    "in_cycle",  # needed in the cycle, which never waits
    "gate",
    "key_payload",  # one idempotency key with two payloads
    "second_bind",  # a second bind of one pod to another target in one context
    "obsolete",  # an older generation of what is there already
    "share",
    "capacity",
    # of the other outcomes
    "deadline",
    "cancelled",
    "deleted",
    "context",
    "prerequisite",
    "survivor",  # the call that superseded it ended unknown: recompute
    "permanent",
    "conflict",  # recompute from fresh state
    "attempts",
    "ambiguous",
    "breaker",
    "room",
    "closed",
)
"""The bench's words for why an outcome is what it is."""

TYPES: Final = ("delete", "preempt", "bind", "patch", "get", "create")
"""The call types of the bench's cluster. Relevance: delete and preempt before bind before patch; get (READ) and create (CREATE) are in
no such order."""


@dataclass(frozen=True, kw_only=True)
class Precondition:
    """What must be so at the server for a call to have an effect. ``None``: no such condition.

    ``uid``: the object is this one, and not another of its name. ``resource_version``: nobody has changed it since. ``generation``:
    the number of the decision, (resourceVersion that it was based on, ordinal of the intent on it); the greater is the newer.
    """

    uid: str | None = None
    resource_version: int | None = None
    generation: tuple[int, int] | None = None


@dataclass(frozen=True, kw_only=True)
class ApiCall:
    """One API call that a scheduler wants done. All times are seconds on the queue's monotonic clock.

    ``uid``, ``name``: of the object (a pod). ``type``: one of :data:`TYPES`, or a word that no queue knows. ``target``: what it aims at
    (the node of a bind, the condition of a patch). ``key``: idempotency key that the *server* honours, or ``None``. ``payload``: what is
    sent, a JSON object; the caller may change its own copy after the submit. ``priority``: the greater goes first. ``deadline``:
    absolute. ``context``: the scheduling context (one attempt to schedule the pod). ``prerequisite_of``: the uid of the pod whose bind
    waits for this call. ``droppable``, ``rebuild_cost``: whether and how gladly it is dropped for room. ``needed_in_cycle``: the cycle
    can't go on without its answer.
    """

    uid: str = "uid-1"
    name: str = "pod-1"
    type: str = "patch"
    target: str = "status"
    effect: Effect = "IDEMPOTENT_WRITE"
    key: str | None = None
    precondition: Precondition = field(default_factory=Precondition)
    payload: Any = None
    priority: int = 0
    plugin: str = "default"
    deadline: float = float("inf")
    context: str = "context-1"
    prerequisite_of: str | None = None
    droppable: bool = True
    rebuild_cost: float = 1.0
    needed_in_cycle: bool = False

    def as_json(self) -> dict[str, Json]:
        """The call as plain data; a payload that is not plain is shown by its repr."""
        return cast("dict[str, Json]", plain(dataclasses.asdict(self)))

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> ApiCall:
        """Read what :meth:`as_json` wrote, infinite deadlines included; unknown fields raise ``TypeError``."""
        values: dict[str, Any] = {name: revive(value) for name, value in data.items()}
        if isinstance(values.get("precondition"), Mapping):
            told = dict(values["precondition"])
            if told.get("generation") is not None:
                told["generation"] = tuple(told["generation"])
            values["precondition"] = Precondition(**told)
        return cls(**values)


@dataclass(frozen=True, kw_only=True)
class OutcomeView:
    """What a queue tells a submitter, in the bench's words.

    ``kind``: one of :data:`OUTCOMES`; anything else is nonsense and is judged as such. ``own``: for ``merged`` the outcome of the call
    that did the work. ``reason``: one of :data:`REASONS`, or empty if the queue gives none. ``retry_after``: a hint in seconds that came
    with backpressure. ``status``: the HTTP status that decided it, if the queue tells.
    """

    kind: str
    own: str | None = None
    reason: str = ""
    retry_after: float | None = None
    status: int | None = None

    def as_json(self) -> dict[str, Json]:
        """The view as plain data."""
        return {item.name: plain(getattr(self, item.name)) for item in dataclasses.fields(self)}


@dataclass(frozen=True, kw_only=True)
class ApiAnswer:
    """The server's answer to one attempt. ``status``: HTTP. ``headers``: lower case. ``body``: decoded JSON, or ``None``."""

    status: int
    headers: Mapping[str, str] = field(default_factory=dict)
    body: Any = None
