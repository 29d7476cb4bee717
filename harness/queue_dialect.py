"""The dialect of dispatch queues: the legitimate choices in which they differ, declared by a subject's adapter."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar, Literal

from ._dialect import Dialect
from .jsonable import Json

QueueMode = Literal["asyncio", "trio", "threads"]


@dataclass(frozen=True, kw_only=True)
class QueueDialect(Dialect):
    """What a queue does at all. The defaults are those of SPEC 4.

    * ``order``: who runs first: by ``priority``, with age counted (``aged``), or first in, first out (``fifo``).
    * ``coalescing``: twins are joined, or the ``newest`` full state of an object and target wins over a waiting one, or ``none``.
    * ``supersedes``: less relevant and older writes give way (withheld, then superseded).
    * ``serialises``: at most one write of an object is executed at a time, in submit order.
    * ``when_full``: a submit beyond the capacity drops the least call (``drop``), is refused (``refuse``), waits (``block``: then submit is
      not answered at once), or there is no capacity (``unbounded``).
    * ``retries``: transient failures are tried again with backoff.
    * ``deadlines``: the deadline of a call is obeyed. ``contexts``: contexts and deletions can be ended. ``cancels``: a submit can be
      cancelled. ``prerequisites``: a bind waits for its prerequisites. ``shares``: a plugin has a most of live and executing calls.
    * ``rate``: attempts start at no more than burst + QPS·t in any window.
    * ``breaker``: a circuit breaker. ``read_back``: an ambiguous write is read back.
    * ``ambiguous``: a write without an answer: is re-sent only when the server guards it (``guarded``), is always tried again as any
      transient failure (``resend``: then duplicates are only judged for guarded calls), or is never sent again (``give_up``).
    * ``close``: what is waiting is given up (``abandon``) or worked off first (``drain``).
    * ``snapshots``: the payload is copied at submit. One that does not sends what the caller's object holds at the attempt.
    * ``waiters``: who waits for an outcome is a task, which can be cancelled. A thread can't be.
    * ``parameters``: which fields of a :class:`~waitproof.harness.queue_protocols.QueueConfig` it takes; the others keep ``defaults``.
    * ``defaults``: values of the fields that differ from SPEC 4's defaults.
    * ``resolution``: within this many seconds two instants are one.
    """

    kind: ClassVar[str] = "queue dialect"
    order: Literal["aged", "priority", "fifo"] = "aged"
    coalescing: Literal["twins", "newest", "none"] = "twins"
    supersedes: bool = True
    serialises: bool = True
    when_full: Literal["drop", "refuse", "block", "unbounded"] = "drop"
    retries: bool = True
    deadlines: bool = True
    contexts: bool = True
    cancels: bool = True
    prerequisites: bool = True
    shares: bool = True
    rate: bool = True
    breaker: bool = True
    read_back: bool = True
    ambiguous: Literal["guarded", "resend", "give_up"] = "guarded"
    close: Literal["abandon", "drain"] = "abandon"
    snapshots: bool = True
    waiters: bool = True
    parameters: frozenset[str] = frozenset()
    defaults: Mapping[str, Json] = field(default_factory=dict)
    resolution: float = 0.001
