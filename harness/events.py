"""The event vocabulary: every kind of event that a bench may record, and what its data holds.

A checker reads only what stands here. All times are virtual seconds since the start of the run; all durations are seconds.
``op`` of a wait is ``w0``, ``w1``, …; of a fetch ``w0.f0``, ``w0.f1``, …; where one history holds several runs of the same plan
(twins, metamorphic relations) each op starts with the run's name: ``sync/w0``, ``asyncio/w0.f3``.
"""

from __future__ import annotations

from typing import Final

# -- lanes: who saw it -------------------------------------------------------------------------------------------------
CALLER: Final = "caller"
CLOCK: Final = "clock"
CLIENT: Final = "client"
SERVER: Final = "server"
FAULT: Final = "fault"
BENCH: Final = "bench"
LANES: Final = (CALLER, CLIENT, SERVER, CLOCK, FAULT, BENCH)

# -- the caller's handle -----------------------------------------------------------------------------------------------
WAIT_START: Final = "wait.start"
"""The caller calls. data: ``mode`` (sync, asyncio, trio), ``call`` (the effective WaitCall as data)."""
WAIT_CANCEL: Final = "wait.cancel"
"""The caller asks for cancellation (asynchronous: task cancelled; synchronous: an interrupt is raised in a sleep or a fetch)."""
WAIT_RETURN: Final = "wait.return"
"""The call returned. data: ``view`` (a JobView as data: what the returned value says, in the bench's words)."""
WAIT_RAISE: Final = "wait.raise"
"""The call raised. data: ``category`` (timeout, failure, transport, status, invalid, cancelled, value, other), ``type``, ``message``,
``builtin_timeout`` (is it a TimeoutError), ``carries`` (what the error hands out, as data), ``cause`` (its cause's type or None)."""
POLL_CALLBACK: Final = "wait.on_poll"
"""The subject called the progress callback. data: ``view``, and ``polls``: the number of fetches it says it has made, or None."""

# -- the clock ---------------------------------------------------------------------------------------------------------
SLEEP_START: Final = "sleep.start"
"""The subject asks to sleep. data: ``seconds`` as asked, ``by`` (``seam``, or the module whose time name was patched)."""
SLEEP_END: Final = "sleep.end"
"""The sleep is over. data: ``seconds`` as asked, ``slept``, ``late`` (slept - asked; negative: woke early), ``ending`` (woke, cancelled)."""
WALL_JUMP: Final = "clock.jump"
"""The wall clock alone jumps. data: ``seconds``."""

# -- the transport -----------------------------------------------------------------------------------------------------
FETCH_START: Final = "fetch.start"
"""A request leaves the subject. data: ``method``, ``target`` (raw path and query, as sent), ``headers`` (a chosen few, lower case)."""
FETCH_END: Final = "fetch.end"
"""It is over for the subject. data: ``ending`` (answer, error, cancelled, closed), and for an answer ``status`` (HTTP), ``headers``
(lower case), ``body`` (text), ``arrived`` (virtual time at which the head of the answer was there); for an error ``error`` (its type)
and ``transient`` is not said: that is for the checker's own table."""

# -- the server --------------------------------------------------------------------------------------------------------
SERVER_REQUEST: Final = "server.request"
"""The server has read a whole request. data: ``method``, ``target``, ``job`` (the id it decoded, or None), ``key`` (idempotency key)."""
SERVER_ANSWER: Final = "server.answer"
"""The server has decided its answer. data: ``kind`` (answer kind of the plan), ``words`` (in one sentence), ``index``."""
SERVER_EFFECT: Final = "server.effect"
"""The server's ledger: something was created or changed. data: ``operation`` (harness's id in the payload), ``job``, ``what``."""

# -- the bench ---------------------------------------------------------------------------------------------------------
BENCH_NOTE: Final = "bench.note"
"""A measured fact that no other event holds. data: free, ``what`` names it (``memory``: ``fetches``, ``bodies_kept``)."""
BENCH_STOP: Final = "bench.stop"
"""The bench ended the run. data: ``reason`` (budget, deadlock, refused), ``detail``. What was open stays open."""
