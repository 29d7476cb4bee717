"""What a fault kind is. The kinds themselves are the files of :mod:`waitproof.faults.kinds`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from hypothesis.strategies import SearchStrategy

from ..harness.queue_dialect import QueueDialect
from .api_script import ApiScript
from .reply import Asked, Reply

Place = Literal["answer", "wake", "caller", "clock", "api", "step"]


@dataclass(frozen=True, kw_only=True)
class Kind:
    """One kind of thing that a plan can make happen.

    * ``place``: where it acts: the server's ``answer`` to one fetch, how one sleep ``wake``s, what the ``caller`` does meanwhile, what
      the wall ``clock`` does; for dispatch queues, the ``api`` server's answer to one attempt, or a ``step`` of whoever uses the queue.
    * ``data``: its frozen dataclass; every field has a default, and the default is the plainest case.
    * ``strategy``: draws the data.
    * ``words``: the data as a sentence without a capital or a full stop ("the server answers 503 with Retry-After: 7").
    * ``reply`` (answers): the data and what was asked, made into a reply.
    * ``adjust`` (wakes): seconds asked to seconds really slept.
    * ``at`` (caller, clock, step): the virtual second at which it acts.
    * ``script`` (api): the data made into a script of the exchange.
    * ``act`` (step): carries it out, given the data and the hands of the caller (:class:`~waitproof.faults.queue_hands.QueueHands`).
    * ``suits`` (api, step): whether it means anything to a queue of this dialect; where it does not it is not drawn.
    * ``seam_only`` (wakes): ``time.sleep`` and an event loop's sleep promise never to wake so, hence it is drawn only for subjects whose
      clock is a parameter.
    * ``weight``: how often it is drawn beside the other kinds of its place.
    """

    name: str
    place: Place
    data: type
    strategy: Callable[[], SearchStrategy[Any]]
    words: Callable[[Any], str]
    reply: Callable[[Any, Asked], Reply] | None = None
    adjust: Callable[[Any, float], float] | None = None
    at: Callable[[Any], float] | None = None
    script: Callable[[Any], ApiScript] | None = None
    act: Callable[[Any, Any], None] | None = None
    suits: Callable[[QueueDialect], bool] = lambda _: True
    seam_only: bool = False
    weight: int = 1

    def __post_init__(self) -> None:
        need = {
            "answer": self.reply,
            "wake": self.adjust,
            "caller": self.at,
            "clock": self.at,
            "api": self.script,
            "step": self.act and self.at,
        }[self.place]
        if need is None:
            raise ValueError(f"fault kind {self.name!r} acts at {self.place!r} but does not say how")
