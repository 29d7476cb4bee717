"""What a dispatch queue's adapter may claim. A subject is judged by the invariants of what it claims, and by every safety invariant."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

DISPATCH_CLAIMS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "answers_at_once": "submit returns without waiting, and never raises for a call that is refused.",
        "validates": "What can't be done is refused at submit: unknown types, calls that the cycle needs, expired ones, bad payloads.",
        "capacity": "Never more live submits than the capacity, never more attempts in flight than workers.",
        "shares": "A plugin never has more live or executing calls than its share.",
        "drops": "When full the call given up is the right one, and its submitter is told.",
        "coalescing": "Only twins share an attempt (or the newest state wins, by dialect), and each submitter gets the real outcome.",
        "snapshot": "What is sent is the payload as it was at submit.",
        "superseding": "Only a more relevant or newer write supersedes, and only once it has been applied.",
        "prerequisites": "A bind is sent only after its prerequisites were applied; they are never dropped.",
        "order": "Attempts start in the order of the dialect: the best eligible call first.",
        "no_starvation": "No call waits longer, or is overtaken more often, than the bounds that the queue prints.",
        "progress": "Whatever can run does run: no wake-up is lost, no object or worker is wedged.",
        "deadline": "No attempt starts after the deadline of its call, and the submitter is told then.",
        "cancel": "A cancelled, deleted or out-of-context call that was not sent has no effect, ever.",
        "stale": "An answer for a call whose context is over or whose deadline has passed never acts.",
        "reevaluation": "A completion asks for re-evaluation of its pod.",
        "error_class": "Permanent errors end a call at once, conflicts ask for recomputation, transient ones are tried again.",
        "attempts": "Never more attempts than configured, and all of them when nothing else ends the call.",
        "backoff": "Pauses between attempts lie within the backoff's bounds, and respect Retry-After.",
        "ambiguity": "A write without an answer is sent again only if the server guards it, and is never told as surely done or not done.",
        "breaker": "The breaker opens, half-opens with leased probes and closes again; it never wedges.",
        "close": "close is idempotent, tells every submitter, and starts nothing more.",
        "conservation": "Tokens, slots and leases all come back, whatever is cancelled and whatever is raised.",
        "accounts": "The queue's own figures agree with what the bench saw.",
        "failure_handler": "Permanent errors reach the plugin's failure handler, once each.",
        "isolation": "One object's trouble does not hold up another's calls.",
        "bounded_memory": "Finished calls and their payloads are let go.",
        "reference": "The queue behaves as the reference model allows. (Not for threads yet: there a submit takes effect between call and return.)",
    }
)
