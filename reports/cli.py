"""``waitproof report``: the one plain function that this room offers to the front door."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ..harness.results import read_results
from . import html, junit, twin
from .evidence import gather


def build_report(result_dirs: Sequence[Path], output: Path) -> Path:
    """Write the HTML report of some result directories to ``output``, and beside it the JSON twin (``.json``) and JUnit XML (``.junit.xml``).

    Folders are made as needed; each file is written whole or not at all; the answer is ``output``. The same result files give the same
    bytes. Raises ``ValueError`` if no directory is given or ``output`` does not end in ``.html``, and
    :class:`~waitproof.harness.results.ResultFormatError` if a directory can't be read; then nothing is written.
    """
    if output.suffix.lower() not in (".html", ".htm"):
        raise ValueError(f"the report is an HTML file, so its name must end in .html, not {output.name!r}")
    evidence = gather([read_results(path) for path in result_dirs])
    texts = {
        output: html.render(evidence),
        output.with_suffix(".json"): twin.render(evidence),
        output.with_suffix(".junit.xml"): junit.render(evidence),
    }
    output.parent.mkdir(parents=True, exist_ok=True)
    for path, text in texts.items():
        _write(path, text)
    return output


def _write(path: Path, text: str) -> None:
    part = path.with_name(path.name + ".part")
    part.write_text(text, encoding="utf-8", newline="\n")
    part.replace(path)
