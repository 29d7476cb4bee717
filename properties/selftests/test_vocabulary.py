"""The vocabulary: canonical JSON, histories, verdicts, tokens and result files say the same after a round trip, and refuse nonsense."""

import dataclasses
import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from waitproof.harness import events
from waitproof.harness import recorder as recording
from waitproof.harness.history import History, HistoryFormatError
from waitproof.harness.invariant import Invariant, Level
from waitproof.harness.jsonable import dumps, loads, plain, safe_repr
from waitproof.harness.recorder import BudgetExhausted, Recorder
from waitproof.harness.results import ResultFormatError, ResultWriter, Row, RunInfo, read_results
from waitproof.harness.results.merge import exit_status, merged
from waitproof.harness.results.records import SubjectInfo
from waitproof.harness.results.writer import safe_name
from waitproof.harness.tokens import Token, TokenError, decode, encode
from waitproof.harness.verdicts import first_bad, held, undecided, violated

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@given(JSON)
def test_canonical_json_round_trips(value):
    """Whatever is plain comes back as it was, infinities and lone surrogates included."""
    if isinstance(value, dict) and set(value) == {"$float"}:
        return
    assert loads(dumps(value)) == value


def test_numbers_that_json_lacks_are_tagged():
    """NaN and the infinities are text in a tag, so that every JSON reader can read the file."""
    text = dumps({"a": math.inf, "b": math.nan})
    json.loads(text, parse_constant=pytest.fail)
    assert loads(text)["a"] == math.inf
    assert math.isnan(loads(text)["b"])


def test_keys_are_sorted_whatever_their_order():
    """Equal mappings give equal bytes."""
    assert dumps({"b": 1, "a": 2}) == dumps({"a": 2, "b": 1}) == '{"a":2,"b":1}'


class Hostile:
    def __repr__(self):
        raise RuntimeError("no")


def test_a_repr_can_neither_raise_nor_be_long_nor_hold_an_address():
    """Objects of subjects are shown safely, and the same in each run."""
    assert safe_repr(Hostile()) == "<Hostile whose repr raised RuntimeError>"
    assert len(safe_repr("x" * 10_000)) == 200
    assert "0x" not in safe_repr(object())
    assert plain(Hostile()) == "<Hostile whose repr raised RuntimeError>"


def history():
    made = History({"subject": "s"})
    made.append(at=0.0, kind="wait.start", lane="caller", op="w0", data={"call": {"timeout": math.inf}})
    made.append(
        at=0.1 + 0.2, kind="sleep.start", lane="clock", op="w0", data={"seconds": 1.5, "by": "seam\u2028\ud800"}
    )
    return made


def test_a_history_round_trips_byte_for_byte():
    """Its JSON Lines are read back to the same bytes and the same digest."""
    text = history().to_jsonl()
    again = History.from_jsonl(text)
    assert again.to_jsonl() == text
    assert again.digest() == history().digest()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "needs a header line"),
        ("{}\n", "expected schema"),
        ("nonsense\n", "line 1 is not JSON"),
        ('{"schema":"waitproof.history/1","header":{}}\n{"at":1}\n', "line 2"),
        ('{"schema":"waitproof.history/1","header":{}}\n[1]\n', "line 2"),
    ],
)
def test_a_broken_history_names_its_line(text, said):
    """The error says which line, and what is wrong with it."""
    with pytest.raises(HistoryFormatError, match=said):
        History.from_jsonl(text)


def test_the_step_budget_ends_a_storm_and_is_recorded_once():
    """After the budget each step raises; the stop is told once, and notes are still taken."""
    made = History()
    recorder = Recorder(made, lambda: 0.0, budget=2)
    recorder.record("a", "bench")
    recorder.record("b", "bench")
    for _ in range(3):
        with pytest.raises(BudgetExhausted):
            recorder.record("c", "bench")
    recorder.note("end", "bench")
    assert [event.kind for event in made] == ["a", "b", "bench.stop", "end"]


def invariant(check, **more):
    return Invariant(id="test.it", level=Level.MUST, expectation="x", source="y", check=check, safety=True, **more)


def test_an_empty_history_is_never_a_pass():
    """Nothing observed is undecided, whatever the checker would say."""
    assert invariant(lambda _: held([0])).judge(History()).answer is None


def test_a_crashed_checker_answers_unknown():
    """A checker that raises has not held."""
    finding = invariant(lambda _: 1 / 0).judge(history())
    assert finding.answer is None
    assert "ZeroDivisionError" in finding.cause


def test_an_invariant_record_is_consistent():
    """Ids have one form; safety can't hang on a claim; what is no safety needs one."""
    for wrong in ({"id": "Nope"}, {"claim": "c"}, {"safety": False}):
        with pytest.raises(ValueError, match=r"id|claim"):
            dataclasses.replace(invariant(lambda _: held()), **wrong)


def test_a_violation_outweighs_the_undecided_and_that_the_held():
    """Parts of a history are joined by the worst of them."""
    bad = violated("b", events=(1,), expected="", observed="")
    assert first_bad([held([1]), undecided("u"), bad]) is bad
    assert first_bad([held([1]), undecided("u")]).answer is None
    assert first_bad([held([1]), held([2])]).witnesses == (1, 2)


@given(JSON)
def test_a_token_round_trips(plan):
    """A token holds its plan as data."""
    if plan != loads(dumps(plan)):
        return
    token = Token(suite="waiter", subject="s", invariant="waiter.x", plan=plan, digest="d", versions={"a": "1"})
    assert decode(encode(token)) == token


@pytest.mark.parametrize("cut", [5, 20, -3])
def test_a_token_that_was_cut_is_refused(cut):
    """Every cut is seen."""
    word = encode(Token(suite="waiter", subject="s", invariant="i", plan={"a": list(range(50))}))
    with pytest.raises(TokenError):
        decode(word[:cut])


def write(root, verdicts, **run):
    writer = ResultWriter(root)
    fields = {
        "waitproof": "0",
        "python": "3",
        "seed": 1,
        "profile": "quick",
        "subjects": (SubjectInfo(name="s"),),
        **run,
    }
    writer.run(RunInfo(**fields))
    for number, verdict in enumerate(verdicts):
        writer.row(Row(subject="s", suite=f"suite{number}", invariant="a.b", verdict=verdict))
    return read_results(root)


@pytest.mark.parametrize(
    ("verdicts", "run", "status"),
    [
        (["held"], {}, 0),
        (["held", "vacuous"], {}, 0),
        (["held", "violated"], {}, 1),
        (["vacuous"], {}, 3),
        (["unknown"], {}, 3),
        (["non-strict"], {}, 0),
        (["not claimed"], {}, 3),
        ([], {}, 3),
        (["held"], {"subjects": (SubjectInfo(name="s", status="unusable"),)}, 2),
        (["held"], {"subjects": (SubjectInfo(name="s", status="not installed", named=False),)}, 0),
        (["held"], {"subjects": (SubjectInfo(name="s", status="harness error"),)}, 2),
        (["violated"], {"subjects": (SubjectInfo(name="s", status="unusable"),)}, 1),
        (["unknown"], {"subjects": (SubjectInfo(name="s", status="unusable"),)}, 2),
        (["violated"], {"interrupted": True}, 130),
    ],
)
def test_exit_status(tmp_path, verdicts, run, status):
    """130, 1, 2, 3 in this order; being held in one suite makes up for being vacuous in another."""
    assert exit_status(write(tmp_path, verdicts, **run)) == status


def test_the_first_of_equal_rows_decides(tmp_path):
    """The order of suites is the order of evidence."""
    rows = write(tmp_path, ["violated", "violated"]).rows
    assert merged(rows)["s", "a.b"].suite == "suite0"


def test_a_cut_line_is_left_out_and_told(tmp_path):
    """A run that was killed in the middle of a line keeps all the lines before it."""
    write(tmp_path, ["held", "held"])
    file = tmp_path / "subjects" / "s" / "rows.jsonl"
    file.write_text(file.read_text()[:-20])
    results = read_results(tmp_path)
    assert len(results.rows) == 1
    assert "rows.jsonl line 2" in results.warnings[0]


def test_a_folder_without_results_is_refused(tmp_path):
    """The error names the folder and what it lacks."""
    with pytest.raises(ResultFormatError, match=r"no run\.json"):
        read_results(tmp_path)


@given(st.text())
def test_any_name_makes_a_file_name(name):
    """No subject's name can lead out of its folder."""
    made = safe_name(name)
    assert made
    assert "/" not in made
    assert not made.startswith(".")


def test_a_long_run_gives_signs_of_life(monkeypatch):
    """A run that records events is alive, however long it takes: only one that records none for the limit hangs."""
    told = []
    monkeypatch.setattr(recording, "_pulse", [lambda: told.append(1)])
    writes = Recorder(History({}), lambda: 0.0, budget=1_000)
    for _ in range(1_000):
        writes.record(events.BENCH_NOTE, events.BENCH)
    assert len(told) == 1_000 // recording.PULSE_EVERY + 1
