"""The reports room: turns result files into an offline HTML page, its JSON twin, JUnit XML and a summary for the terminal.

A report is a function of result files alone: it never sees a live object, so a run of last year gives the same page as a run of today,
and the same files give the same bytes. Of the rest of the house it imports the result-file reader and nothing else.
"""

from .cli import build_report
from .terminal import print_summary

__all__ = ["build_report", "print_summary"]
