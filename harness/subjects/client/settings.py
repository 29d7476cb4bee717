"""What both clients are told once, and how they prepare a request from it."""

from __future__ import annotations

import math
import time
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Required, TypedDict

from ..normaliser.job import JobStatus
from ..normaliser.words import DEFAULT_WORDS
from .create_retry import CreatePolicy
from .routes import ApiRequest, url_of

__all__ = ["DEFAULT_BASE_URL", "ClientOptions", "Settings", "check_limit", "random_key"]

DEFAULT_BASE_URL = "https://api.ade.landing.ai"


def random_key() -> str:
    """Return a new idempotency key."""
    return str(uuid.uuid4())


class ClientOptions(TypedDict, total=False):
    """The keyword arguments that both clients take; `Settings` has their defaults and their meaning."""

    api_key: Required[str]
    base_url: str
    wall: Callable[[], float]
    key_factory: Callable[[], str]
    words: Mapping[str, JobStatus]
    request_timeout: float
    direct_timeout: float
    create_policy: CreatePolicy


@dataclass(frozen=True, kw_only=True)
class Settings:
    """The settings of a client. Raises ValueError for what cannot work.

    `request_timeout` is for one request, in seconds, `direct_timeout` for one on the direct path. `wall` (`time.time`)
    and `key_factory` (random UUIDs) are parameters so that tests can decide. `words` is a table from `status_words`.
    """

    api_key: str = field(repr=False)
    base_url: str = DEFAULT_BASE_URL
    wall: Callable[[], float] = field(default_factory=lambda: time.time)
    key_factory: Callable[[], str] = random_key
    words: Mapping[str, JobStatus] = field(default_factory=lambda: DEFAULT_WORDS)
    request_timeout: float = 60.0
    direct_timeout: float = 600.0
    create_policy: CreatePolicy = field(default_factory=CreatePolicy)

    def __post_init__(self) -> None:
        if not isinstance(self.api_key, str) or not self.api_key.strip():
            msg = "api_key must be a text that is not blank"
            raise ValueError(msg)
        if not isinstance(self.base_url, str) or not self.base_url.startswith(("http://", "https://")):
            msg = f"base_url must start with http:// or https://, got {self.base_url!r}"
            raise ValueError(msg)
        check_limit("request_timeout", self.request_timeout)
        check_limit("direct_timeout", self.direct_timeout)

    def arguments(self, request: ApiRequest, limit: float) -> dict[str, Any]:
        """Return the arguments of httpx's `build_request` for a request that has `limit` seconds in all."""
        return {
            "method": request.method,
            "url": url_of(self.base_url, request),
            "headers": {**request.headers, "authorization": f"Bearer {self.api_key}", "accept": "application/json"},
            "content": request.body,
            "timeout": limit,
            "extensions": {"total_timeout": limit},
        }

    def limit(self, timeout: float | None) -> float:
        """Return the limit of one request: what the caller gave, else the client's own."""
        return self.request_timeout if timeout is None else check_limit("timeout", timeout)


def check_limit(name: str, value: object) -> float:
    """Return a limit in seconds. Raises ValueError if it is not a finite number above 0."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 < value < math.inf:
        msg = f"{name} must be a finite number of seconds above 0, got {value!r}"
        raise ValueError(msg)
    return float(value)
