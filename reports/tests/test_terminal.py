"""The summary for a terminal: short, the replay command last, plain where there is no terminal, harmless whatever the text."""

import io
import re

import pytest

from waitproof.reports import print_summary


class Terminal(io.StringIO):
    """A file that says it is a terminal."""

    def isatty(self):
        return True


@pytest.fixture
def colours(monkeypatch):
    """A terminal with colours, whatever the tests run in."""
    monkeypatch.setenv("TERM", "xterm-256color")
    for name in ("NO_COLOR", "FORCE_COLOR", "TTY_COMPATIBLE", "COLORTERM"):
        monkeypatch.delenv(name, raising=False)


def printed(results, file, **options):
    print_summary([results], file=file, **options)
    return file.getvalue()


def test_plain_lines_where_there_is_no_terminal(make_sample, tmp_path):
    lines = printed(make_sample(tmp_path), io.StringIO()).splitlines()
    assert lines[0].split() == ["builtin-waiter", "UNDECIDED:", "39", "held,", "1", "vacuous"]
    assert lines[-2] == "✕ FAIL: 1 of 4 subjects broke at least one invariant of level MUST"
    assert lines[-1].startswith("replay: waitproof replay wp1.")
    assert not re.search(r"[\x1b│─]", "\n".join(lines))


def test_the_first_counterexample_takes_about_ten_lines(make_sample, tmp_path):
    text = printed(make_sample(tmp_path), io.StringIO())
    shown = text.split("\n\n")[1].splitlines()
    assert len(shown) <= 12
    assert shown[0] == "violated: waiter.pacing_honoured (MUST) by naive-loop in backoff"


def test_the_reference_model_beside_what_was_seen(make_sample, tmp_path):
    lines = printed(make_sample(tmp_path), io.StringIO()).splitlines()
    start = lines.index("  model     allows a sleep that ends from 3.29 s to 5 s")
    assert lines[start + 1] == "            but there was a sleep of 2.25 s at 3.29 s"


@pytest.mark.usefixtures("colours")
def test_a_table_with_colours_on_a_terminal(make_sample, tmp_path):
    text = printed(make_sample(tmp_path), Terminal(), width=120)
    assert "\x1b[" in text
    bare = re.sub(r"\x1b\[[0-9;]*m", "", text)
    [line] = [line for line in bare.splitlines() if line.startswith("naive-loop")]
    assert line.split() == ["naive-loop", "✕", "FAIL", "36", "2", "1", "·", "1", "·"]


@pytest.mark.usefixtures("colours")
def test_the_table_fits_into_80_columns(make_sample, tmp_path):
    """No heading is cut, no verdict is; a long name is folded."""
    text = re.sub(r"\x1b\[[0-9;]*m", "", printed(make_sample(tmp_path), Terminal(), width=80))
    table = text.split("\n\n")[0]
    assert max(map(len, table.splitlines())) <= 80
    assert "…" not in table
    for word in (
        "held",
        "violated",
        "non-",
        "strict",
        "vacuous",
        "unknown",
        "not",
        "claimed",
        "UNDECIDED",
        "COULD NOT RUN",
    ):
        assert re.search(rf"(?<![a-zA-Z]){word}(?![a-zA-Z])", table), word


def test_a_fail_is_not_said_to_be_a_pass_that_may_be_believed(make_sample, tmp_path):
    """What was not looked at is told under a failure too, by another name."""
    text = printed(make_sample(tmp_path), io.StringIO())
    assert "What this run could not show: " in text
    assert "Before believing a pass" not in text


@pytest.mark.usefixtures("colours")
def test_no_color(make_sample, tmp_path, monkeypatch):
    monkeypatch.setenv("NO_COLOR", "1")
    text = printed(make_sample(tmp_path), Terminal(), width=120)
    assert not re.search(r"\x1b\[[0-9;]*3[0-7]", text)


@pytest.mark.usefixtures("colours")
def test_the_replay_command_is_one_line_that_can_be_copied(make_sample, tmp_path):
    last = re.sub(r"\x1b\[[0-9;]*m", "", printed(make_sample(tmp_path), Terminal(), width=60)).splitlines()[-1]
    assert re.fullmatch(r"replay: waitproof replay wp1\.[0-9a-f]{256}", last)


@pytest.mark.usefixtures("colours")
@pytest.mark.parametrize("kind", [io.StringIO, Terminal])
def test_a_subject_cannot_repaint_the_terminal(make_sample, hostile, tmp_path, kind):
    text = printed(make_sample(tmp_path, text=hostile), kind())
    assert "\x1b[31m<" not in text
    assert "\u202e" not in text
    assert "\\x1b[31m" in text
    text.encode()


def test_a_clean_run_says_so_and_has_nothing_to_replay(make_sample, tmp_path):
    lines = printed(make_sample(tmp_path, clean=True), io.StringIO()).splitlines()
    assert lines[-1] == "✓ PASS: everything that 3 subjects promised held wherever it was exercised"
