"""The HTML report and its JSON twin: what they say, in which order, how large they are, and that hostile text stays text."""

import base64
import hashlib
import json
import re
from html.parser import HTMLParser

import pytest

from waitproof.harness.results import (
    InvariantInfo,
    ResultFormatError,
    ResultWriter,
    Row,
    RunInfo,
    SubjectInfo,
    SuiteStats,
    read_results,
)
from waitproof.reports import build_report
from waitproof.reports.doubts import doubts
from waitproof.reports.evidence import gather
from waitproof.reports.matrix import build_matrices
from waitproof.reports.statistics import bound_in_words, reach, rule_of_three, suite_lines
from waitproof.reports.verdict import overall, subject_verdict, worst


class Page(HTMLParser):
    """The elements and texts of a page."""

    VOID = frozenset({"meta", "link", "input", "wbr"})

    def __init__(self, text):
        super().__init__()
        self.elements, self.texts, self.open, self.scripts = [], [], [], []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        (self.scripts if self.open and self.open[-1] in ("script", "style") else self.texts).append(data)

    @property
    def ids(self):
        return [attrs["id"] for _, attrs in self.elements if "id" in attrs]

    @property
    def text(self):
        return " ".join(" ".join(self.texts).split())


@pytest.fixture(scope="module")
def report(make_sample, tmp_path_factory):
    """A realistic report and its page."""
    root = tmp_path_factory.mktemp("report")
    path = build_report([make_sample(root / "results")], root / "out" / "report.html")
    return path, Page(path.read_text())


def minimal(root, rows, *, exit_code=0, status="ran", named=True, stats=True, **info):
    """A result directory of one subject with the given (invariant, verdict) rows."""
    writer = ResultWriter(root)
    for name, verdict in rows:
        held = verdict == "held"
        writer.row(Row(subject="s", suite="suite", invariant=name, verdict=verdict, evaluated=9, exercised=9 * held))
    if stats:
        writer.suite(SuiteStats(subject="s", suite="suite", examples=9, distinct=9, events=99))
    subject = SubjectInfo(name="s", status=status, named=named)
    catalogue = tuple(
        InvariantInfo(id=name, level="MUST", expectation="x", source="y", safety=True) for name, _ in rows
    )
    writer.run(
        RunInfo(
            waitproof="0",
            python="3",
            seed=1,
            profile="quick",
            exit=exit_code,
            subjects=(subject,),
            invariants=catalogue,
            **info,
        )
    )
    return root


def evidence_of(root):
    return gather([read_results(root)])


def found(evidence):
    return {doubt.key: doubt.items for doubt in doubts(evidence) if doubt.items}


class TestPage:
    def test_three_files_are_written_and_nothing_else(self, report):
        path, _ = report
        assert sorted(file.name for file in path.parent.iterdir()) == ["report.html", "report.json", "report.junit.xml"]

    def test_it_is_well_formed_and_every_anchor_leads_somewhere(self, report):
        """Tags close in order, ids are unique, each link within the page has its target."""
        _, page = report
        assert page.open == []
        assert len(page.ids) == len(set(page.ids))
        links = {attrs["href"] for tag, attrs in page.elements if tag == "a"}
        assert {link for link in links if not link.startswith("#")} == set()
        assert {link[1:] for link in links} <= set(page.ids)

    def test_it_asks_the_network_for_nothing(self, report):
        """No element loads anything, no style imports anything, and the policy of the page forbids both."""
        path, page = report
        assert [
            tag for tag, attrs in page.elements if "src" in attrs or tag in ("img", "iframe", "object", "base")
        ] == []
        assert [attrs["href"] for tag, attrs in page.elements if tag == "link"] == ["data:,"]
        assert re.findall(r"@import|url\(|fetch\(|XMLHttp|https?://", path.read_text()) == []
        [policy] = [attrs["content"] for _, attrs in page.elements if attrs.get("http-equiv")]
        assert policy.startswith("default-src 'none'")

    def test_the_policy_lets_exactly_this_style_and_script_run(self, report):
        path, page = report
        text = path.read_text()
        [policy] = [attrs["content"] for _, attrs in page.elements if attrs.get("http-equiv")]
        for element, directive in (("style", "style-src"), ("script", "script-src")):
            inside = re.search(rf"<{element}>(.*?)</{element}>", text, re.DOTALL).group(1)
            digest = base64.b64encode(hashlib.sha256(inside.encode()).digest()).decode()
            assert f"{directive} 'sha256-{digest}'" in policy
        assert [attrs for _, attrs in page.elements if "style" in attrs] == []

    def test_sections_come_in_the_order_that_a_reader_needs(self, report):
        _, page = report
        sections = [attrs["id"] for tag, attrs in page.elements if tag == "section"]
        assert sections == ["verdict", "doubts", "matrix", "failures", "reach", "zoo", "statistics"]

    def test_colour_is_never_the_only_sign(self, report):
        """Each cell of the matrix says its verdict as a word behind a sign."""
        path, _ = report
        cells = re.findall(
            r'<td class="v-([a-z-]+)"><a href="#[^"]+"><span class="sign"[^>]*>(.)</span> ([a-z -]+?) <small>',
            path.read_text(),
        )
        assert len(cells) == 40 * 3
        assert {slug: (sign, word) for slug, sign, word in cells} == {
            "held": ("✓", "held"),
            "violated": ("✕", "violated"),
            "non-strict": ("△", "non-strict"),
            "vacuous": ("○", "vacuous"),
            "unknown": ("?", "unknown"),
        }

    def test_a_failure_shows_cause_plan_and_command(self, report):
        path, page = report
        [first, *_] = gather([read_results(path.parents[1] / "results")]).failures
        assert first.failure.command in page.text
        found = first.failure
        for said in (found.cause, found.expected, found.observed, *found.words):
            assert said in page.text
        for said in (found.model, found.model_observed, found.model_state):
            assert said in page.text
        assert "deterministic: a second run gave the same bytes" in page.text
        assert page.text.count("not deterministic: a second run gave other bytes") == 3

    def test_the_same_files_give_the_same_bytes(self, report, tmp_path):
        path, _ = report
        again = build_report([path.parents[1] / "results"], tmp_path / "report.html")
        for suffix in (".html", ".json", ".junit.xml"):
            assert path.with_suffix(suffix).read_bytes() == again.with_suffix(suffix).read_bytes()


class TestHostileText:
    def test_markup_from_a_subject_stays_text(self, make_sample, hostile, tmp_path):
        """No script but ours, no handler, no element that the clean report has not; the text itself is there to be read."""
        path = build_report([make_sample(tmp_path / "results", text=hostile)], tmp_path / "report.html")
        text = path.read_text()
        page = Page(text)
        assert page.open == []
        assert [attrs.get("type", "") for tag, attrs in page.elements if tag == "script"] == ["application/json", ""]
        assert [name for _, attrs in page.elements for name in attrs if name.startswith("on")] == []
        assert "<!--" not in text
        assert "<b onmouseover=alert(2)>" in page.text

    def test_what_does_not_print_is_shown_as_its_escape(self, make_sample, hostile, tmp_path):
        text = build_report([make_sample(tmp_path / "results", text=hostile)], tmp_path / "report.html").read_text()
        assert [mark for mark in "\u202e\x1b\x00" if mark in text] == []
        assert "\\u202e" in text
        assert "\\x1b" in text

    def test_the_embedded_summary_survives(self, make_sample, hostile, tmp_path):
        """It can't end its element, and it is still the data."""
        path = build_report([make_sample(tmp_path / "results", text=hostile)], tmp_path / "report.html")
        inside = re.search(r'id="waitproof-summary">(.*?)</script>', path.read_text(), re.DOTALL).group(1)
        twin = json.loads(path.with_suffix(".json").read_text())
        assert json.loads(inside)["subjects"] == twin["subjects"]
        assert hostile in twin["subjects"][0]["name"]


class TestSize:
    @pytest.mark.slow
    def test_far_too_much_evidence_still_fits_and_says_what_is_left_out(self, make_huge, tmp_path):
        path = build_report([make_huge(tmp_path / "results")], tmp_path / "report.html")
        page = Page(path.read_text())
        assert path.stat().st_size < 500_000
        assert "There are 600 failures." in page.text
        assert "left out, to keep this file under 500 KB" in page.text
        assert {attrs["href"][1:] for tag, attrs in page.elements if tag == "a"} <= set(page.ids)
        assert len(json.loads(path.with_suffix(".json").read_text())["failures"]) == 600

    def test_many_subjects_fit(self, make_sample, tmp_path):
        people = tuple(f"package_{index}.jobs:wait_for_job" for index in range(16))
        path = build_report([make_sample(tmp_path / "results", subjects=people)], tmp_path / "report.html")
        page = Page(path.read_text())
        assert path.stat().st_size < 500_000
        assert {attrs["href"][1:] for tag, attrs in page.elements if tag == "a"} <= set(page.ids)

    def test_the_script_is_small(self, report):
        path, _ = report
        assert len(re.search(r"<script>(.*?)</script>", path.read_text(), re.DOTALL).group(1)) < 20_000


class TestVerdicts:
    @pytest.mark.parametrize(
        ("rows", "word"),
        [
            ([("a.a", "held")], "PASS"),
            ([("a.a", "held"), ("a.b", "non-strict")], "PASS"),
            ([("a.a", "held"), ("a.b", "not claimed")], "PASS"),
            ([("a.a", "held"), ("a.b", "vacuous")], "UNDECIDED"),
            ([("a.a", "held"), ("a.b", "unknown")], "UNDECIDED"),
            ([("a.a", "held"), ("a.b", "something new")], "UNDECIDED"),
            ([("a.a", "not claimed")], "UNDECIDED"),
            ([], "UNDECIDED"),
            ([("a.a", "unknown"), ("a.b", "violated")], "FAIL"),
        ],
    )
    def test_one_subject(self, rows, word, tmp_path):
        """It passes only if something held and nothing is violated or open."""
        evidence = evidence_of(minimal(tmp_path, rows))
        assert subject_verdict(evidence.columns[0]).word == word
        assert overall(evidence).word == word

    @pytest.mark.parametrize("status", ["died", "hung", "interrupted"])
    def test_a_subject_that_did_not_end_well_never_passes(self, status, tmp_path):
        assert overall(evidence_of(minimal(tmp_path, [("a.a", "held")], status=status))).word == "UNDECIDED"

    @pytest.mark.parametrize(("named", "word"), [(True, "COULD NOT RUN"), (False, "NOT INSTALLED")])
    def test_what_is_not_installed_counts_only_if_it_was_named(self, named, word, tmp_path):
        evidence = evidence_of(minimal(tmp_path, [], status="not installed", named=named, stats=False))
        assert subject_verdict(evidence.columns[0]).word == word

    def test_a_suite_that_observed_nothing_is_no_pass(self, tmp_path):
        root = minimal(tmp_path, [("a.a", "held")])
        ResultWriter(root).suite(SuiteStats(subject="s", suite="empty", examples=5, events=0))
        evidence = evidence_of(root)
        assert overall(evidence).word == "UNDECIDED"
        assert found(evidence)["empty"] == ("s: suite empty ran 5 examples and recorded no event",)

    def test_a_counterexample_without_its_verdict_counts(self, make_failure, tmp_path):
        """A run may be killed between the two."""
        root = minimal(tmp_path, [("a.a", "held")])
        ResultWriter(root).failure(make_failure("s", "suite", "a.b"))
        assert overall(evidence_of(root)).word == "FAIL"

    def test_interrupted_comes_before_all(self, tmp_path):
        evidence = evidence_of(minimal(tmp_path, [("a.a", "violated")], exit_code=130, interrupted=True))
        assert overall(evidence).word == "INTERRUPTED"

    def test_the_worst_over_the_suites(self):
        assert worst(["held", "vacuous", "violated", "unknown"]) == "violated"
        assert worst(["not claimed", "held"]) == "held"
        assert worst([]) == "unknown"


class TestDoubts:
    def test_a_clean_run_has_none_but_the_skipped_level(self, make_sample, tmp_path):
        evidence = evidence_of(make_sample(tmp_path / "results", clean=True))
        assert overall(evidence).word == "PASS"
        assert list(found(evidence)) == ["levels"]

    def test_every_kind_is_found_where_it_is(self, make_sample, tmp_path):
        root = make_sample(tmp_path / "results")
        with (root / "subjects" / "naive-loop" / "rows.jsonl").open("a") as file:
            file.write('{"schema": "waitproof.res')
        kinds = set(found(evidence_of(root)))
        assert kinds == {
            "vacuous",
            "unknown",
            "unfinished",
            "stops",
            "determinism",
            "subjects",
            "zoo",
            "reach",
            "levels",
            "reading",
        }

    def test_an_exit_status_that_contradicts_the_files(self, tmp_path):
        evidence = evidence_of(minimal(tmp_path, [("a.a", "violated")], exit_code=0))
        assert found(evidence)["evidence"] == (
            "s: a.a in suite is violated, but its counterexample is missing",
            "the recorded exit status is 0, but the files say FAIL",
        )

    def test_held_by_nothing(self, tmp_path):
        root = minimal(tmp_path, [])
        ResultWriter(root).row(Row(subject="s", suite="suite", invariant="a.a", verdict="held"))
        assert found(evidence_of(root))["empty"] == ("s: a.a in suite is said to hold, but no history exercised it",)

    def test_a_run_without_an_end(self, tmp_path):
        assert "unfinished" in found(evidence_of(minimal(tmp_path, [("a.a", "held")], exit_code=None)))


class TestSeveralRuns:
    def test_subjects_of_one_name_stay_apart(self, tmp_path):
        first, second = (
            minimal(tmp_path / "1", [("a.a", "held")]),
            minimal(tmp_path / "2", [("a.a", "violated")], exit_code=1),
        )
        evidence = gather([read_results(first), read_results(second)])
        assert [column.label for column in evidence.columns] == ["s (run 1)", "s (run 2)"]
        [row] = build_matrices(evidence)[0].rows
        assert [cell.verdict for cell in row.cells] == ["held", "violated"]


class TestStatistics:
    def test_rule_of_three(self):
        """3/n, never above 1, nothing for nothing; never below the exact bound."""
        assert [rule_of_three(n) for n in (0, 1, 3, 300)] == [None, 1.0, 1.0, 0.01]
        assert all(rule_of_three(n) >= 1 - 0.05 ** (1 / n) for n in range(1, 2_000))

    def test_in_words(self):
        assert bound_in_words(300) == "at most 1 in 100 (95%)"
        assert bound_in_words(2) == "2 clean histories: too few for a bound"

    def test_a_broken_suite_has_no_bound_and_repeats_do_not_count(self, make_sample, tmp_path):
        lines = {(line.label, line.suite): line for line in suite_lines(evidence_of(make_sample(tmp_path / "results")))}
        assert lines["naive-loop", "backoff"].bound is None
        assert lines["builtin-waiter", "backoff"].bound == 3 / 371

    def test_reach_sums_subjects_and_keeps_what_never_happened(self, make_sample, tmp_path):
        answers = reach(evidence_of(make_sample(tmp_path / "results")))[0]
        assert answers.group == "answers"
        assert dict(answers.rows)["reset"] == (0, 0, 36, 0, 0)


class TestRefusals:
    def test_no_directory(self, tmp_path):
        with pytest.raises(ValueError, match="at least one result directory"):
            build_report([], tmp_path / "report.html")

    def test_a_name_that_the_twin_would_overwrite(self, make_sample, tmp_path):
        with pytest.raises(ValueError, match=r"must end in \.html, not 'report.json'"):
            build_report([make_sample(tmp_path / "results")], tmp_path / "report.json")

    def test_a_directory_without_results_writes_nothing(self, tmp_path):
        with pytest.raises(ResultFormatError):
            build_report([tmp_path / "nothing"], tmp_path / "out" / "report.html")
        assert not (tmp_path / "out").exists()


def test_the_twin_has_every_verdict_and_no_history(report):
    path, _ = report
    twin = json.loads(path.with_suffix(".json").read_text())
    rows = read_results(path.parents[1] / "results").rows
    assert twin["schema"] == "waitproof.report/1"
    assert twin["verdict"] == "FAIL"
    [matrix] = twin["matrices"]
    assert sum(len(cell["rows"]) for row in matrix["rows"] for cell in row["cells"] if cell) == len(rows)
    assert [failure["number"] for failure in twin["failures"]] == [1, 2, 3, 4]
    assert all("history" not in failure and failure["file"] for failure in twin["failures"])
