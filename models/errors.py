"""Failed fetches: which is transient, which is permanent, which says "not found" (SPEC 2, first bullet). The models' own table."""

from __future__ import annotations

from typing import Final

OK: Final = "ok"
TRANSIENT: Final = "transient"
PERMANENT: Final = "permanent"
NOT_FOUND: Final = "not_found"
UNCLEAR: Final = "unclear"

_TRANSIENT_TYPES: Final = frozenset(
    {
        # every httpx.TransportError, and the httpcore errors of the same names
        "TransportError", "TimeoutException", "ConnectTimeout", "ReadTimeout", "WriteTimeout", "PoolTimeout", "NetworkError",
        "ConnectError", "ReadError", "WriteError", "CloseError", "ProxyError", "ProtocolError", "RemoteProtocolError",
        # the same things, as Python names them
        "TimeoutError", "ConnectionError", "ConnectionResetError", "ConnectionAbortedError", "ConnectionRefusedError",
        "BrokenPipeError",
    }
)  # fmt: skip
_PERMANENT_TYPES: Final = frozenset(
    {"UnsupportedProtocol", "LocalProtocolError", "InvalidURL", "TooManyRedirects", "JSONDecodeError"}
)


def of_status(status: int, *, redirects: bool = False) -> str:
    """The class of an answer with this HTTP status. ``redirects``: it names another place, which a client may follow by itself."""
    if 200 <= status < 300:
        return OK
    if status == 404:
        return NOT_FOUND
    if status in (408, 425, 429) or (500 <= status < 600 and status not in (501, 505)):
        return TRANSIENT
    if redirects and 300 <= status < 400:
        return UNCLEAR
    return PERMANENT


def of_error(name: str) -> str:
    """The class of a fetch that ended without an answer, by the name of its exception type; ``unclear`` for a type of nobody's."""
    short = name.rpartition(".")[2]
    if short in _TRANSIENT_TYPES:
        return TRANSIENT
    return PERMANENT if short in _PERMANENT_TYPES else UNCLEAR
