"""A reply as a script: what a server does with one request, said as data and played by whichever transport is in use.

Sans-I/O: the simulated transports play it in virtual time; a socket server plays the same script for real.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What happens after a request has been sent.

    * ``refuse``: the connection is refused at once; nothing else happens and nothing has an effect.
    * ``lost``: the connection is lost ``before_effect`` (the request never arrives) or ``after_effect`` (it is handled, the answer is
      lost); ``never``: it is not.
    * ``connect``: seconds until the connection is there (before the request is sent). ``inf``: it is never made.
    * ``delay``: seconds from the request to the head of the answer. ``inf``: the head never comes (a hang).
    * ``status``, ``headers``, ``body``: the answer.
    * ``drip``: seconds between one piece of the body and the next, 0 for all at once; ``piece``: bytes a piece.
    * ``drip_head``: the head itself comes in pieces too (only where the transport shows bytes).
    * ``cut``: the connection ends after this many bytes of the body; ``None``: it does not.
    """

    refuse: bool = False
    lost: Literal["never", "before_effect", "after_effect"] = "never"
    connect: float = 0.0
    delay: float = 0.0
    status: int = 200
    headers: tuple[tuple[str, str], ...] = (("content-type", "application/json"),)
    body: bytes = b""
    drip: float = 0.0
    piece: int = 1
    drip_head: bool = False
    cut: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What a kind of answer may look at when it makes its reply.

    ``job_id``: the id that was asked for. ``resource``: parse_jobs, extract_jobs or build_schema_jobs. ``wall``: the server's wall clock
    (epoch seconds). ``index``: how many fetches of this job came before. ``old_keys``: answer with the family's old field names.
    """

    job_id: str
    resource: str = "parse_jobs"
    wall: float = 1_700_000_000.0
    index: int = 0
    old_keys: bool = False
