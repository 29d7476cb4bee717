"""What a normaliser's adapter may claim. A subject is judged by the invariants of what it claims, and by every safety invariant."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

NORMALISER_CLAIMS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "total": "No JSON object makes it raise.",
        "deep": "No depth of nesting makes it raise.",
        "non_objects": "A body that is no object raises the one documented error.",
        "raw": "The job keeps the whole envelope as it came.",
        "unaliased": "What the job keeps is shared with nobody.",
        "idempotent": "Normalising a job's own raw gives the same job.",
        "families": "Both envelope families give the same job.",
        "resources": "The same envelope gives the same job whichever resource it is of.",
        "drift": "The order of keys and unknown keys change nothing.",
        "words": "The words of its dialect mean what its dialect says.",
        "status": "The status is one of the five, whatever came.",
        "unknown_status": "An unknown status word becomes the status that its dialect names.",
        "raw_status": "The status word can be read as it came.",
        "terminal": "A job says whether it has ended.",
        "new_keys": "The new key wins when it holds something.",
        "old_keys": "The old key is read when the new one is absent or null.",
        "odd_new_key": "The old key is read when the new one is of the wrong type, empty or unreadable.",
        "result": "The payload of a completed job can be read.",
        "result_completed": "Only a completed job has a result.",
        "errors": "The failure forms of the two families are read: an object with code and message, a text as failure_reason.",
        "error_forms": "A failure may also be a text or a list under either key, or an object under the old one.",
        "error_kept": "A failure is kept whatever the status.",
        "error_codes": "An integer code is a code.",
        "iso": "ISO 8601 text is read as the moment that it names.",
        "epochs": "An epoch number is read in the unit that its magnitude tells.",
        "time_types": "A bool, NaN, an infinity and text of digits are no times; what can't be read becomes None.",
        "times_utc": "Times are aware, and in UTC.",
        "progress": "Progress is a number from 0 to 1 or None, and never made of anything but a number.",
        "odd_fields": "A missing or odd field becomes None.",
        "list_total": "No JSON object makes a list raise, whatever stands under its keys.",
        "list_bad_items": "A bad item of a list is kept in its place, flagged.",
        "list_items": "A good item of a list is the job that it would be alone.",
        "list_flags": "The envelope of a list is read without coercion.",
        "list_slices": "A slice of a list keeps its envelope.",
    }
)
