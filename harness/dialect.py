"""Dialects: the legitimate choices in which waiters differ, declared by a subject's adapter.

One model and one family of checkers cover implementations that made other choices than the built-in one, because they ask the
dialect. A dialect is data: it travels in the header of each history.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar, Literal

from ._dialect import Dialect
from .jsonable import Json

Mode = Literal["sync", "asyncio", "trio"]


@dataclass(frozen=True, kw_only=True)
class WaiterDialect(Dialect):
    """How a waiter polls. The defaults are those of SPEC 2.

    * ``first``: what comes first, a fetch or a sleep of one delay.
    * ``limit``: what ends an unfinished wait: a time limit, a number of attempts, or nothing.
    * ``clips``: no sleep crosses the deadline. One that does not clip may end one wait late.
    * ``final_poll``: a last fetch happens at the deadline.
    * ``gives_up``: when it gives up: at the deadline, or as soon as the next pause would cross it (``before_pause``).
    * ``unknown_status``: what a status word does that the waiter does not know: go on, raise, or end the wait.
    * ``words``: which words it knows: ``synonyms`` (SPEC 3's table, folded), ``folded`` (the five, in any case and spacing) or ``enum``
      (the five, to the letter). ``more_words``: further words, each with the status that it means.
    * ``failure``: a job that failed or was cancelled is raised as asked by ``raise_on_failure`` (``option``), always raised, or returned.
    * ``cancelled_is``: how a job that was cancelled is treated: as a failure or as a success (``done``).
    * ``transient``: a transient failure of a fetch is retried on the schedule (``retry``), a bounded number of times at once by the HTTP
      client beneath (``client``), or raised (``raise``).
    * ``client_retries``: with ``client``, how many further requests one fetch may cause.
    * ``least_hint``: the least pause after a hint on a 2xx answer (seconds). 0: a hint is obeyed to the letter, and one of no time may
      be taken for none.
    * ``early_wake``: after a sleep that woke early, sleep the remainder or fetch at once.
    * ``fetch_limit``: the fetch timeout is ``absolute``, for each ``phase`` (connect, each read) as httpx has it, or there is none.
    * ``parameters``: which fields of a :class:`~waitproof.harness.protocols.WaitCall` the subject takes; the others keep ``defaults``.
    * ``defaults``: values of the fields that differ from SPEC 2's defaults.
    * ``clock``: where its time comes from: a ``seam``, the ``module``'s own time names, or the event ``loop``.
    * ``resolution``: within this many seconds two instants are one.
    """

    kind: ClassVar[str] = "waiter dialect"
    first: Literal["fetch", "sleep"] = "fetch"
    limit: Literal["time", "attempts", "none"] = "time"
    clips: bool = True
    final_poll: bool = True
    gives_up: Literal["deadline", "before_pause"] = "deadline"
    unknown_status: Literal["continue", "raise", "end"] = "continue"
    words: Literal["synonyms", "folded", "enum"] = "synonyms"
    more_words: Mapping[str, str] = field(default_factory=dict)
    failure: Literal["option", "raise", "return"] = "option"
    cancelled_is: Literal["failure", "done"] = "failure"
    transient: Literal["retry", "client", "raise"] = "retry"
    client_retries: int = 0
    least_hint: float = 0.01
    early_wake: Literal["remainder", "fetch"] = "remainder"
    fetch_limit: Literal["absolute", "phase", "none"] = "absolute"
    parameters: frozenset[str] = frozenset()
    defaults: Mapping[str, Json] = field(default_factory=dict)
    clock: Literal["seam", "module", "loop"] = "seam"
    resolution: float = 0.001
