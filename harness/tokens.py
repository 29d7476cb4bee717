"""Replay tokens: a plan and its versions as data, in one word that can be pasted into a shell.

A token holds no choices of Hypothesis, so it outlives an upgrade of it. Form: ``wp1.`` and URL-safe base64 of a compressed canonical
JSON object ``{"suite", "subject", "invariant", "plan", "digest", "versions"}``.
"""

from __future__ import annotations

import base64
import binascii
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field

from .jsonable import Json, dumps, loads

PREFIX = "wp1."
_MOST = 4_000_000


class TokenError(ValueError):
    """A text is not a token of this version, or was cut."""


@dataclass(frozen=True, kw_only=True)
class Token:
    """What a token holds. ``subject`` is how to load it; ``digest`` that of the history which it stands for; ``schedule`` the scheduler's
    choices that differ from first-in first-out (none so far)."""

    suite: str
    subject: str
    invariant: str
    plan: Json
    digest: str = ""
    schedule: Json = None
    versions: Mapping[str, str] = field(default_factory=dict)


def encode(token: Token) -> str:
    """Write a token."""
    data = {
        "suite": token.suite,
        "subject": token.subject,
        "invariant": token.invariant,
        "plan": token.plan,
        "digest": token.digest,
        "schedule": token.schedule,
        "versions": dict(token.versions),
    }
    packed = zlib.compress(dumps(data).encode(), 9)
    return PREFIX + base64.urlsafe_b64encode(packed).decode().rstrip("=")


def decode(text: str) -> Token:
    """Read a token. Raises :class:`TokenError` that says what is wrong with it."""
    text = text.strip()
    if not text.startswith(PREFIX):
        raise TokenError(f"a replay token starts with {PREFIX!r}; this text starts with {text[:12]!r}")
    body = text[len(PREFIX) :]
    try:
        packed = base64.b64decode(body + "=" * (-len(body) % 4), altchars=b"-_", validate=True)
        stream = zlib.decompressobj()
        raw = stream.decompress(packed, _MOST)
        if not stream.eof:
            raise TokenError("the token was cut, or is larger than any plan")
        data = loads(raw)
    except (binascii.Error, zlib.error, ValueError) as error:
        if isinstance(error, TokenError):
            raise
        raise TokenError(f"the token is damaged or was cut: {error}") from error
    if not isinstance(data, dict) or not {"suite", "subject", "plan"} <= set(data):
        raise TokenError("the token holds no plan")
    versions = data.get("versions")
    return Token(
        suite=str(data["suite"]),
        subject=str(data["subject"]),
        invariant=str(data.get("invariant", "")),
        plan=data["plan"],
        digest=str(data.get("digest", "")),
        schedule=data.get("schedule"),
        versions={key: str(value) for key, value in versions.items()} if isinstance(versions, dict) else {},
    )
