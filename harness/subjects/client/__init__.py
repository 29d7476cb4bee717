"""A typed client for the ADE v2 API: both of its paths, synchronous and asynchronous (SPEC sections 2 and 3)."""

from .aio import AsyncClient, AsyncJobResource
from .client import Client, JobResource
from .create_retry import CreatePolicy
from .errors import ApiError, ApiStatusError, InvalidResponseError, JobIdMismatchError, SyncTimeoutError
from .settings import DEFAULT_BASE_URL
from .transport import DeadlineTransport

__all__ = [
    "DEFAULT_BASE_URL",
    "ApiError",
    "ApiStatusError",
    "AsyncClient",
    "AsyncJobResource",
    "Client",
    "CreatePolicy",
    "DeadlineTransport",
    "InvalidResponseError",
    "JobIdMismatchError",
    "JobResource",
    "SyncTimeoutError",
]
