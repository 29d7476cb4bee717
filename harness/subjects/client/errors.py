"""What the client raises besides httpx's own transport errors and what the waiter raises."""

from __future__ import annotations

from collections.abc import Mapping

from ..normaliser.envelope import Resource

__all__ = ["ApiError", "ApiStatusError", "InvalidResponseError", "JobIdMismatchError", "SyncTimeoutError"]

_SHOWN = 200


class ApiError(Exception):
    """The server answered, but not with what was asked for."""


class ApiStatusError(ApiError):
    """The answer's status is not 2xx. The error table classifies it by `status_code`."""

    def __init__(self, status_code: int, headers: Mapping[str, str], body: bytes) -> None:
        super().__init__(status_code, headers, body)
        self.status_code = status_code
        self.headers = headers
        self.body = body

    def __str__(self) -> str:
        return f"HTTP status {self.status_code} instead of 2xx: {self.body[:_SHOWN]!r}"


class InvalidResponseError(ApiError):
    """A 2xx answer whose body is not a JSON object; permanent."""

    def __init__(self, reason: str, body: bytes) -> None:
        super().__init__(reason, body)
        self.reason = reason
        self.body = body

    def __str__(self) -> str:
        return f"expected a JSON object in a 2xx answer, but {self.reason}: {self.body[:_SHOWN]!r}"


class JobIdMismatchError(ApiError):
    """The answer is about another job than the one asked for; permanent, since its result must not be used."""

    def __init__(self, asked: str, answered: object) -> None:
        super().__init__(asked, answered)
        self.asked = asked
        self.answered = answered

    def __str__(self) -> str:
        shown = repr(self.answered) if isinstance(self.answered, str) else f"a {type(self.answered).__name__}"
        return f"asked for job {self.asked!r}, but the answer's job_id is {shown}; something between mixes up answers"


class SyncTimeoutError(ApiError):
    """The direct path gave up on a document (HTTP 504). Never retried: it would time out, and be paid for, again.

    It carries no `status_code` and is no TimeoutError, so that the error table calls it permanent, wherever it gets.
    """

    def __init__(self, resource: Resource) -> None:
        super().__init__(resource)
        self.job_resource = resource.value
        """The attribute of the client to use instead, e.g. 'parse_jobs'."""

    def __str__(self) -> str:
        return (
            "the document is too large for the direct path (HTTP 504); "
            f"use client.{self.job_resource}.create(...) and client.{self.job_resource}.wait(job_id) instead"
        )
