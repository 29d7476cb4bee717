"""What a completed job brought, typed by endpoint and permissive about everything (SPEC section 3).

A result is a view of the payload: each property reads one key and answers None if it is missing or of another type.
So no payload is refused, and what no property names is still in `payload`.
"""

from __future__ import annotations

from typing import Any, ClassVar, TypeVar

from .json_value import same_json

__all__ = ["BuildSchemaResult", "ExtractResult", "ParseResult", "Result"]

_KindT = TypeVar("_KindT")


class Result:
    """The payload of a completed job: a JSON object."""

    __slots__ = ("payload",)

    known: ClassVar[frozenset[str]] = frozenset()
    """The keys which a property of this class reads."""

    payload: dict[str, Any]
    """All that came, unknown keys included; shared neither with the job's `raw` nor with the caller's envelope."""

    def __init__(self, payload: dict[str, Any]) -> None:
        self.payload = payload

    @property
    def extra(self) -> dict[str, Any]:
        """The keys that no property of this class reads."""
        return {key: value for key, value in self.payload.items() if key not in self.known}

    def _typed(self, key: str, kind: type[_KindT]) -> _KindT | None:
        value = self.payload.get(key)
        return value if isinstance(value, kind) else None

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Result) or type(self) is not type(other):
            return NotImplemented
        return same_json(self.payload, other.payload)

    def __hash__(self) -> int:
        return hash((type(self), frozenset(self.payload)))

    def __repr__(self) -> str:
        # Keys only: values may be documents, or nested so deeply that repr() raises.
        return f"{type(self).__name__}({', '.join(sorted(map(str, self.payload)))})"


class ParseResult(Result):
    """A parsed document."""

    __slots__ = ()
    known = frozenset({"markdown", "chunks", "splits", "structure", "grounding", "metadata"})

    @property
    def markdown(self) -> str | None:
        """The document as Markdown."""
        return self._typed("markdown", str)

    @property
    def chunks(self) -> list[Any] | None:
        """The pieces of the document, in reading order."""
        return self._typed("chunks", list)

    @property
    def splits(self) -> list[Any] | None:
        """The parts that the document was split into."""
        return self._typed("splits", list)

    @property
    def structure(self) -> dict[str, Any] | None:
        """The tree of pages and elements."""
        return self._typed("structure", dict)

    @property
    def grounding(self) -> dict[str, Any] | None:
        """Where each piece stands on its page."""
        return self._typed("grounding", dict)

    @property
    def metadata(self) -> dict[str, Any] | None:
        """Page count, model version, duration and the like."""
        return self._typed("metadata", dict)


class ExtractResult(Result):
    """The fields that a schema asked for."""

    __slots__ = ()
    known = frozenset({"extraction", "extraction_metadata", "metadata"})

    @property
    def extraction(self) -> dict[str, Any] | None:
        """The fields, named as in the schema."""
        return self._typed("extraction", dict)

    @property
    def extraction_metadata(self) -> dict[str, Any] | None:
        """Where each field was found."""
        return self._typed("extraction_metadata", dict)

    @property
    def metadata(self) -> dict[str, Any] | None:
        """Model version, duration and the like."""
        return self._typed("metadata", dict)


class BuildSchemaResult(Result):
    """A schema that was built from documents."""

    __slots__ = ()
    known = frozenset({"extraction_schema", "metadata"})

    @property
    def extraction_schema(self) -> dict[str, Any] | str | None:
        """The JSON schema, as an object or as the text of one, whichever the server sent."""
        schema = self._typed("extraction_schema", dict)
        return schema if schema is not None else self._typed("extraction_schema", str)

    @property
    def metadata(self) -> dict[str, Any] | None:
        """Model version, duration and the like."""
        return self._typed("metadata", dict)
