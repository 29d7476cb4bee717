"""JUnit XML: one test suite a subject and suite, one test case an invariant, for continuous integration.

A violation is a failure; what is vacuous or unknown is an error, because it is no pass; a SHOULD that is not met and a promise that is
not made are skipped, with the reason. A subject that could not run is an error if it was named.
"""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET

from ..harness.results import Row
from .evidence import Column, Evidence, Numbered
from .text import clip, one_line
from .verdict import subject_verdict, worst

# XML 1.0 has no way at all to write these characters, not even as references.
_NO_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def render(evidence: Evidence) -> str:
    """The report as JUnit XML. Same evidence, same bytes."""
    root = ET.Element("testsuites", name="waitproof")
    failures = {(item.column, item.failure.suite, item.failure.invariant): item for item in evidence.failures}
    for index, column in enumerate(evidence.columns):
        _ending(root, column)
        for suite in dict.fromkeys([*(row.suite for row in column.rows), *(stats.suite for stats in column.suites)]):
            _suite(
                root,
                evidence,
                column,
                suite,
                {key[2]: item for key, item in failures.items() if key[:2] == (index, suite)},
            )
    for kind in ("tests", "failures", "errors", "skipped"):
        root.set(kind, str(sum(int(suite.get(kind, "0")) for suite in root)))
    root.set("time", f"{sum(float(suite.get('time', '0')) for suite in root):.3f}")
    ET.indent(root, " ")
    return '<?xml version="1.0" encoding="utf-8"?>\n' + ET.tostring(root, encoding="unicode") + "\n"


def _suite(root: ET.Element, evidence: Evidence, column: Column, name: str, failures: dict[str, Numbered]) -> None:
    stats = next((item for item in column.suites if item.suite == name), None)
    suite = ET.SubElement(
        root, "testsuite", name=_text(f"{column.label}: {name}"), time=f"{stats.wall_seconds if stats else 0.0:.3f}"
    )
    run = evidence.runs[column.run].run
    if run.started:
        suite.set("timestamp", _text(run.started))
    properties = ET.SubElement(suite, "properties")
    facts = {
        "waitproof": run.waitproof,
        "python": run.python,
        "seed": run.seed,
        "profile": run.profile,
        "level": run.level,
        "command": run.command,
    }
    if stats:
        facts |= {"examples": stats.examples, "distinct": stats.distinct, "status": stats.status}
    for key, value in facts.items():
        ET.SubElement(properties, "property", name=key, value=_text(str(value)))
    for row in column.rows:
        if row.suite == name:
            _case(suite, column, row, failures.get(row.invariant))
    if stats and (stats.status != "complete" or not stats.examples or not stats.events):
        case = ET.SubElement(
            suite, "testcase", classname=_text(f"{column.label}.{name}"), name="the suite ran to its end"
        )
        said = f"status {stats.status}, {stats.examples} examples, {stats.events} events. {stats.note}".strip()
        ET.SubElement(case, "error", type="unfinished", message=_text(one_line(said, 500)))
    _count(suite)


def _case(suite: ET.Element, column: Column, row: Row, item: Numbered | None) -> None:
    case = ET.SubElement(suite, "testcase", classname=_text(f"{column.label}.{row.suite}"), name=_text(row.invariant))
    counted = f"{row.exercised} of {row.evaluated} histories exercised it"
    # A verdict that this version does not know is no pass.
    verdict = worst([row.verdict])
    tag = {
        "violated": "failure",
        "vacuous": "error",
        "unknown": "error",
        "non-strict": "skipped",
        "not claimed": "skipped",
    }.get(verdict)
    if tag is None:
        ET.SubElement(case, "system-out").text = counted
        return
    result = ET.SubElement(case, tag, message=_text(one_line(f"{row.verdict}: {row.cause or counted}", 500)))
    if tag != "skipped":
        result.set("type", verdict)
    if item is not None:
        result.text = _text(_story(item))


def _story(item: Numbered) -> str:
    failure = item.failure
    lines = [
        failure.cause,
        f"{failure.level}: {item.info.expectation} ({item.info.source})",
        f"expected: {failure.expected}",
        f"observed: {failure.observed}",
        "plan:",
        *(f"  {line}" for line in failure.words[:40]),
        f"deterministic: {'yes' if failure.deterministic else 'no'}",
    ]
    return clip("\n".join(lines), 6_000) + f"\nreplay: {failure.command}"


def _ending(root: ET.Element, column: Column) -> None:
    """A subject that did not simply run gets a test case of its own; so does one that left no verdict."""
    if column.info.status == "ran" and column.rows:
        return
    suite = ET.SubElement(root, "testsuite", name=_text(f"{column.label}: the subject"), time="0.000")
    case = ET.SubElement(suite, "testcase", classname=_text(column.label), name="the subject runs")
    judged = subject_verdict(column)
    message = _text(one_line(f"{column.info.status}: {column.info.reason or judged.sentence}", 500))
    if judged.word == "NOT INSTALLED":
        ET.SubElement(case, "skipped", message=message)
    else:
        ET.SubElement(case, "error", type=_text(column.info.status), message=message)
    _count(suite)


def _count(suite: ET.Element) -> None:
    suite.set("tests", str(len(suite.findall("testcase"))))
    for kind, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        suite.set(kind, str(len(suite.findall(f"testcase/{tag}"))))


def _text(text: str) -> str:
    return _NO_XML.sub(lambda found: f"\\u{ord(found.group()):04x}", text)
