"""JUnit XML: counts that add up, verdicts that are no pass, and text that XML can hold."""

import xml.etree.ElementTree as ET

import pytest

from waitproof.harness.results import read_results
from waitproof.reports import junit
from waitproof.reports.evidence import gather


@pytest.fixture(scope="module")
def tree(make_sample, tmp_path_factory):
    root = make_sample(tmp_path_factory.mktemp("junit") / "results")
    return ET.fromstring(junit.render(gather([read_results(root)])))


def case(tree, suite, name):
    [found] = tree.findall(f"testsuite[@name='{suite}']/testcase[@name='{name}']")
    return found


def test_counts_add_up(tree):
    """The numbers of each suite, and of the whole, are those of the cases."""
    tags = {"failures": "failure", "errors": "error", "skipped": "skipped"}
    for suite in tree:
        assert int(suite.get("tests")) == len(suite.findall("testcase"))
        for key, tag in tags.items():
            assert int(suite.get(key)) == len(suite.findall(f"testcase/{tag}"))
    for key in ("tests", *tags):
        assert int(tree.get(key)) == sum(int(suite.get(key)) for suite in tree)


def test_a_violation_is_a_failure_with_its_replay_command(tree):
    failure = case(tree, "naive-loop: backoff", "waiter.pacing_honoured").find("failure")
    assert failure.get("message").startswith("violated: ")
    assert failure.text.splitlines()[-1].startswith("replay: waitproof replay wp1.")


def test_what_was_never_exercised_is_no_pass(tree):
    assert case(tree, "builtin-waiter: backoff", "waiter.sync_is_async").find("error").get("type") == "vacuous"


def test_held_is_a_pass_that_says_how_often(tree):
    held = case(tree, "builtin-waiter: backoff", "waiter.poll_before_sleep")
    assert [child.tag for child in held] == ["system-out"]
    assert held.find("system-out").text == "40 of 400 histories exercised it"


def test_a_should_that_is_not_met_and_a_promise_not_made_are_skipped_with_the_reason(tree):
    messages = [skipped.get("message").split(":")[0] for skipped in tree.iter("skipped")]
    assert {"non-strict", "not claimed", "not installed"} == set(messages)


def test_a_named_subject_that_could_not_run_is_an_error(tree):
    assert case(tree, "broken: the subject", "the subject runs").find("error").get("type") == "unusable"
    assert case(tree, "other-sdk: the subject", "the subject runs").find("skipped") is not None


def test_a_suite_that_died_is_an_error(tree):
    error = case(tree, "acme_sdk.jobs:wait_for_job: cancellation", "the suite ran to its end").find("error")
    assert "exit status -11" in error.get("message")


def test_hostile_text_is_text_and_what_xml_cannot_hold_is_escaped(make_sample, hostile, tmp_path):
    text = junit.render(gather([read_results(make_sample(tmp_path / "results", text=hostile))]))
    tree = ET.fromstring(text)
    assert {element.tag for element in tree.iter()} == {
        "testsuites", "testsuite", "properties", "property", "testcase", "failure", "error", "skipped", "system-out",
    }  # fmt: skip
    text.encode()
    assert "\x1b" not in text
    assert "\\u001b[31m" in tree[0].get("name")
