"""What an attempt's ending says of its effect (SPEC 4, 'Retry' and 'Ambiguity'). The models' own table."""

from __future__ import annotations

from typing import Final

from .errors import TRANSIENT, of_error

OPEN: Final = "open"
OK: Final = "ok"
CONFLICT: Final = "conflict"
"""409 or 412: the state that the call was made for is gone; recompute."""
REFUSED: Final = "refused"
"""A transient failure by which the server says that it did nothing: 425, 429, 503 and the like."""
AMBIGUOUS: Final = "ambiguous"
"""No answer, or 408, 500, 502, 504: the effect may have happened, or may yet."""
UNSENT: Final = "unsent"
"""An error before anything was sent: whoever knows may take it for surely not done, and who does not for ambiguous."""
PERMANENT: Final = "permanent"
CANCELLED: Final = "cancelled"
"""The queue itself gave the attempt up."""
ODD: Final = "odd"
"""An ending that is in nobody's table; nothing is judged by it."""

AMBIGUOUS_STATUS: Final = frozenset({408, 500, 502, 504})
_BEFORE_SENDING: Final = frozenset(
    {
        "ConnectError", "ConnectTimeout", "PoolTimeout", "ConnectionRefusedError", "UnsupportedProtocol", "LocalProtocolError",
        "InvalidURL",
    }
)  # fmt: skip


def of_answer(status: int) -> str:
    """The class of an answer by its HTTP status."""
    if 200 <= status < 300:
        return OK
    if status in AMBIGUOUS_STATUS:
        return AMBIGUOUS
    if status in (409, 412):
        return CONFLICT
    if status in (425, 429) or (500 <= status < 600 and status not in (501, 505)):
        return REFUSED
    return PERMANENT if 400 <= status < 600 else ODD


def of_failure(name: str) -> str:
    """The class of an attempt that ended without an answer, by the type of its error."""
    if name.rpartition(".")[2] in _BEFORE_SENDING:
        return UNSENT
    return AMBIGUOUS if of_error(name) == TRANSIENT else ODD
