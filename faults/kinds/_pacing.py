"""How a server asks to be left alone: every form of ``Retry-After`` that has been seen, good and bad."""

from __future__ import annotations

from dataclasses import dataclass
from email.utils import formatdate
from typing import Literal

from hypothesis import strategies as st

Form = Literal["none", "seconds", "date", "ms", "both", "text", "ms_text"]

GARBAGE = (
    "",
    "soon",
    "-5",
    "NaN",
    "inf",
    "-inf",
    "1e30",
    "1e400",
    "1_0",
    "0x10",
    "1.9",
    "+3",
    " 7 ",
    "2147483648",
    "10000000000",
    "9" * 400,
    "٣",
    "3,5",
    "Fri, 31 Dec 99999 23:59:59 GMT",
    "Fri, 31 Dec 9999 23:59:59 GMT",
    "Thu, 01 Jan 1970 00:00:00 GMT",
    "Wed, 99 Foo 2023 99:99:99 GMT",
    "2023-11-14T22:13:30Z",
)
"""Texts for a header: numbers that are none, numbers that are too large, dates that do not exist."""


@dataclass(frozen=True, kw_only=True)
class Pacing:
    """One pacing hint.

    ``form``: none; ``seconds`` (``Retry-After: 7``); ``date`` (an HTTP-date ``seconds`` after the answer, in whole seconds); ``ms``
    (``retry-after-ms``); ``both`` (``retry-after-ms`` says ``seconds``, ``Retry-After`` says ``other``); ``text`` and ``ms_text``
    (``text`` as it is, in ``Retry-After`` or ``retry-after-ms``). ``own_date``: the answer has a ``Date`` of its own.
    """

    form: Form = "none"
    seconds: float = 1.0
    other: float = 2.0
    text: str = ""
    own_date: bool = False

    def headers(self, wall: float) -> tuple[tuple[str, str], ...]:
        """The headers of an answer that is sent when the server's wall clock reads ``wall`` (epoch seconds)."""
        date = (("date", formatdate(int(wall), usegmt=True)),) if self.own_date else ()
        return date + self._hints(wall)

    def _hints(self, wall: float) -> tuple[tuple[str, str], ...]:
        match self.form:
            case "none":
                return ()
            case "seconds":
                return (("retry-after", f"{self.seconds:g}"),)
            case "date":
                return (("retry-after", formatdate(int(wall) + round(self.seconds), usegmt=True)),)
            case "ms":
                return (("retry-after-ms", f"{self.seconds * 1000:.12g}"),)
            case "both":
                return (("retry-after-ms", f"{self.seconds * 1000:.12g}"), ("retry-after", f"{self.other:g}"))
            case "text":
                return (("retry-after", self.text),)
            case "ms_text":
                return (("retry-after-ms", self.text),)

    def hint_words(self) -> str:
        """`` with Retry-After: 7``, or nothing."""
        own = " and a Date of its own" if self.own_date else ""
        match self.form:
            case "none":
                return own and " with a Date of its own"
            case "seconds":
                return f" with Retry-After: {self.seconds:g}{own}"
            case "date":
                return f" with Retry-After as a date {round(self.seconds)} s ahead{own}"
            case "ms":
                return f" with retry-after-ms: {self.seconds * 1000:.12g}{own}"
            case "both":
                return f" with retry-after-ms: {self.seconds * 1000:.12g} beside Retry-After: {self.other:g}{own}"
            case "text":
                return f" with Retry-After: {self.text!r}{own}"
            case "ms_text":
                return f" with retry-after-ms: {self.text!r}{own}"


SECONDS = st.sampled_from((0.0, 0.001, 1.0, 1.9, 2.0, 3.0, 5.0, 7.0, 9.0, 10.0, 15.0, 30.0, 60.0, 600.0, 86_400.0, 1e7))


def pacing_fields(forms: tuple[Form, ...]) -> dict[str, st.SearchStrategy[object]]:
    """Strategies for the fields of a :class:`Pacing`; ``forms``: which forms, the plainest first."""
    return {
        "form": st.sampled_from(forms),
        "seconds": SECONDS,
        "other": SECONDS,
        "text": st.sampled_from(GARBAGE),
        "own_date": st.booleans(),
    }
