"""What a server of pods does with one request, beside its ordinary work: the script that a planned answer stands for."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiScript:
    """The script of one exchange. The default: the request is handled when it arrives and answered as the API has it.

    * ``refuse``: the connection is refused, nothing arrives. ``arrives``: whether the request reaches the server at all.
    * ``handled``: whether the server does what is asked. ``lands``: seconds from the arrival to the handling; it happens then whether or
      not anybody still waits for the answer.
    * ``status``: answered instead of the real answer; ``None``: the real one. ``headers``: beside it.
    * ``answered``: whether the answer reaches the client; if not, the connection breaks after ``delay``.
    * ``delay``: seconds from the arrival to the answer (or to the break); ``inf``: neither ever comes.
    """

    refuse: bool = False
    arrives: bool = True
    handled: bool = True
    lands: float = 0.0
    status: int | None = None
    headers: tuple[tuple[str, str], ...] = ()
    answered: bool = True
    delay: float = 0.0
