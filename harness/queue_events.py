"""The event vocabulary of dispatch queues, beside that of :mod:`waitproof.harness.events` (whose lanes and bench events it shares).

``op`` of a submit is ``s0``, ``s1``, … in the order in which the caller submits; of an attempt ``<operation>.a0``, ``….a1``, where
*operation* is the harness's id of the logical operation (``o0``, ``o1``, …): twins and joiners share one, and it travels in the payload as
``operation``, so that attempts and effects are told apart whatever the queue does with its own keys. A read-back is an attempt too
(``read`` is true). Every event is recorded by the bench at the caller's handle, the transport or the server.
"""

from __future__ import annotations

from typing import Final

WORKER: Final = "worker"
"""A further lane: attempts as the transport sees them."""

# -- the caller's handle -----------------------------------------------------------------------------------------------
QUEUE_OPEN: Final = "queue.open"
"""The queue is there. data: ``config`` (the effective QueueConfig as data), ``bounds`` (``{"wait": W, "overtakes": B}`` as the queue
prints them in seconds and calls, or ``null``; ``why`` may say how they come about)."""
CALL_SUBMIT: Final = "call.submit"
"""The caller submits, op ``s<n>``. data: ``call`` (the ApiCall as data; its payload as it was at this instant), ``operation``,
``submitter`` (``caller``, or ``callback`` for a submit from inside an outcome callback)."""
CALL_ACCEPTED: Final = "call.accepted"
"""``submit`` has returned, op ``s<n>``; an outcome may have come before. data: ``raised`` (the type of an exception that came out, or
``null``), ``message``."""
CALL_MUTATE: Final = "call.mutate"
"""The caller changed its own payload object after the submit, op ``s<n>``."""
CALL_OUTCOME: Final = "call.outcome"
"""The submitter was told, op ``s<n>``. data: ``view`` (an OutcomeView as data). More than one an op is a violation."""
CALL_CANCEL: Final = "call.cancel"
"""The caller cancels its submit, op ``s<n>``."""
WAITER_CANCEL: Final = "waiter.cancel"
"""The task that waits for the outcome of ``s<n>`` is cancelled; the submit itself is not."""
CONTEXT_END: Final = "context.end"
"""The queue is told that a scheduling context is over. data: ``context``."""
OBJECT_DELETED: Final = "object.deleted"
"""The queue is told that an object is gone. data: ``uid``."""
RATE_SET: Final = "queue.rate"
"""The quota changes from now on. data: ``qps``, ``burst``."""
CLOSE_START: Final = "queue.close"
"""``close`` is called, op ``c<n>``. data: ``by`` (``caller``, ``callback``)."""
CLOSE_END: Final = "queue.closed"
"""That ``close`` has returned, same op. data: ``raised`` (or ``null``), ``cancelled`` (true: the bench cancelled the task that waited for it)."""
PLUGIN_FAILURE: Final = "plugin.failure"
"""The failure handler of a plugin was called. data: ``plugin``, ``uid``, ``operation``, ``status``."""
REEVALUATE: Final = "plugin.reevaluate"
"""The queue asks for re-evaluation of a pod after a completion. data: ``uid``, ``context``, ``operation``."""
STATS: Final = "queue.stats"
"""What the queue's own figures say when the bench asks (never used to decide what happened, only judged against it). data:
``submitted``, ``live``, ``outcomes`` (by kind), ``tokens`` (or ``null``), ``executing``."""

# -- the transport -----------------------------------------------------------------------------------------------------
ATTEMPT_START: Final = "attempt.start"
"""A request leaves the queue. data: ``operation``, ``uid`` and ``name`` (of the object that it is sent to), ``type``, ``read`` (true for
a GET, read-backs included), ``method``, ``target`` (path), ``key`` (idempotency key as sent, or ``null``), ``precondition`` (as sent:
``uid``, ``resource_version``), ``payload`` (as sent). ``op`` is ``<operation>.a<n>``."""
ATTEMPT_END: Final = "attempt.end"
"""It is over for the queue, same op. data: ``ending`` (answer, error, cancelled), for an answer ``status``, ``retry_after`` (seconds as
sent, or ``null``), ``body``; for an error ``error`` (its type)."""

# -- the server (lane ``server``) --------------------------------------------------------------------------------------
API_REQUEST: Final = "api.request"
"""The server has read a whole request, op of the attempt. data: ``operation``, ``type``, ``name``, ``key``."""
API_EFFECT: Final = "api.effect"
"""The ledger: the server changed something, op of the attempt that caused it (it may be over for the queue). data: ``operation``,
``type``, ``uid`` (of the object that was really changed), ``target``, ``key``, ``from_version``, ``version`` (resourceVersion before and after; an object that
is made has 0 before), ``by`` (``queue`` or ``external``)."""
API_ANSWER: Final = "api.answer"
"""The server has decided its answer, op of the attempt. data: ``status``, ``words``, ``sent`` (false: it will never arrive), ``applied``
(this attempt changed something), ``repeat`` (answered from the record of an earlier attempt with the same key)."""

# -- the bench ---------------------------------------------------------------------------------------------------------
HEALED: Final = "bench.healed"
"""From here on the server answers at once and well. data: ``within`` (seconds within which all must settle)."""
SETTLED: Final = "bench.settled"
"""The time to settle is over. data: ``open`` (ops of submits without an outcome), ``waiting`` (ops whose waiting task has not come back)."""
PROBE: Final = "bench.probe"
"""After settling the bench submits ``count`` plain reads at once to see whether slots and tokens are all there; their ops are given as
``ops``. Their answers take ``seconds``."""
