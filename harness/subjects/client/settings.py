"""What both clients are told once, and how they prepare a request from it."""

from __future__ import annotations

import math
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ..normaliser.job import JobStatus
from .create_retry import CreatePolicy
from .routes import ApiRequest, url_of

__all__ = ["DEFAULT_BASE_URL", "Settings", "check_limit", "random_key"]

DEFAULT_BASE_URL = "https://api.ade.landing.ai"


def random_key() -> str:
    """Return a new idempotency key."""
    return str(uuid.uuid4())


@dataclass(frozen=True, kw_only=True)
class Settings:
    """The settings of a client. Times are seconds. Raises ValueError for what cannot work."""

    api_key: str = field(repr=False)
    base_url: str
    wall: Callable[[], float]
    key_factory: Callable[[], str]
    words: Mapping[str, JobStatus]
    request_timeout: float
    direct_timeout: float
    create_policy: CreatePolicy

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
