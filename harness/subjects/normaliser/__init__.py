"""The job normaliser: whatever envelope the server sent becomes one `Job` (SPEC section 3)."""

from .envelope import EnvelopeError, Resource, normalise_job
from .job import TERMINAL_STATUSES, Job, JobError, JobStatus
from .job_list import JobList, normalise_job_list
from .results import BuildSchemaResult, ExtractResult, ParseResult, Result
from .times import parse_time
from .words import DEFAULT_WORDS, normalise_word, status_words

__all__ = [
    "DEFAULT_WORDS",
    "TERMINAL_STATUSES",
    "BuildSchemaResult",
    "EnvelopeError",
    "ExtractResult",
    "Job",
    "JobError",
    "JobList",
    "JobStatus",
    "ParseResult",
    "Resource",
    "Result",
    "normalise_job",
    "normalise_job_list",
    "normalise_word",
    "parse_time",
    "status_words",
]
