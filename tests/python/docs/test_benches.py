"""The comparison with the peers finds wrong answers, counts right, and runs from end to end."""

import json
import signal
import subprocess
import sys
from fractions import Fraction
from xml.etree import ElementTree

import pyarrow as pa
import pytest

pytest.importorskip("datafusion")
pytest.importorskip("matplotlib")

from benches.compare import agree, data, exactness, measure, memory, report
from benches.compare.cases import CASES
from benches.compare.engines import ENGINES
from benches.compare.h2o import QUERIES
from support.paths import ROOT, child_environment

BY_NAME = {case.name: case for case in CASES}


def answers(kind, values):
    return pa.table({"ts": [0, 1, 2], "r0": pa.array(values, kind)})


def compare(case, ours, theirs, largest=1.0):
    return agree.compare(BY_NAME[case], "a shape", "duckdb", ours, theirs, largest)


def test_rows_are_matched_by_the_order_column_and_types_are_made_alike():
    theirs = pa.table({"r0": pa.array([7, 5, None], pa.decimal128(38, 0)), "ts": [2, 0, 1]})
    assert compare("sum_v", answers(pa.int64(), [5, None, 7]), theirs) == []


@pytest.mark.parametrize(
    ("case", "kind", "right", "wrong"),
    [
        ("sum_v", pa.int64(), 6, 7),
        ("sum_v", pa.int64(), 6, None),
        ("sum_v", pa.int64(), None, 6),
        ("sum_d", pa.float64(), 6.0, 6.0001),
        ("sum_d", pa.float64(), 6.0, float("nan")),
        ("sum_d", pa.float64(), None, 0.0),
    ],
)
def test_a_planted_wrong_answer_is_found(case, kind, right, wrong):
    found = compare(case, answers(kind, [5, right, 7]), answers(kind, [5, wrong, 7]))
    assert len(found) == 1
    assert (found[0].row, found[0].rows, found[0].ours) == (1, 1, right)
    for word in (case, "a shape", "duckdb", "row 1", repr(right), repr(found[0].theirs)):
        assert word in str(found[0])


def test_floats_may_differ_by_the_rounding_of_the_inputs():
    ours, theirs = answers(pa.float64(), [5, 1e-9, 7]), answers(pa.float64(), [5, 5e-9, 7])
    assert compare("sum_d", ours, theirs, largest=1000.0) == []
    assert compare("sum_d", ours, theirs) != []


def test_missing_rows_are_found():
    assert compare("sum_v", answers(pa.int64(), [1, 2, 3]), answers(pa.int64(), [1, 2, 3]).slice(1))


def test_a_known_fault_excuses_what_it_names_and_nothing_else():
    def fault(case, ours, theirs):
        found = agree.compare(BY_NAME[case], "a shape", "polars", ours, theirs, 1.0)
        return agree.fault_of(found[0])

    kind = pa.int64()
    assert fault("total", answers(kind, [1, None, 3]), answers(kind, [1, 0, 3])) is not None
    assert fault("total", answers(kind, [1, None, 3]), answers(kind, [1, 0, 4])) is None
    assert fault("lag", answers(kind, [1, None, 3]), answers(kind, [1, 0, 3])) is None


@pytest.mark.parametrize("name", list(ENGINES)[1:])
def test_a_wrong_answer_of_windrow_is_found_against_each_rival(name):
    case, shape = BY_NAME["sum_v"], data.Shape(500, 3)
    table = data.table(case, shape)
    ours, rival = ENGINES["windrow"](1), ENGINES[name](1)
    right = ours.run(ours.prepare(table), case, ids=True)
    answer = rival.run(rival.prepare(table), case, ids=True)
    assert agree.compare(case, shape.name, name, right, answer, 1e6) == []
    planted = [value + (row == 99) for row, value in enumerate(right["r0"].to_pylist())]
    found = agree.compare(case, shape.name, name, right.set_column(0, "r0", [planted]), answer, 1e6)
    assert [(each.rows, each.row) for each in found] == [(1, right["ts"][99].as_py())]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_sorted_shapes_hold_the_same_rows_in_order(case):
    columns = [(name, "ascending") for name in [*case.keys, case.order]]
    shuffled, ordered = (data.table(case, data.Shape(300, 7, ordered)) for ordered in (False, True))
    assert shuffled.sort_by(columns).equals(ordered)
    assert not shuffled.equals(ordered)
    assert len(ordered[case.order].unique()) == 300


def test_the_h2o_table_is_the_generators():
    table = data.large(20_000)
    assert len(table["id3"].unique()) == 20_000
    assert len(table["id2"].unique()) == 20
    assert max(table["id3"].to_pylist()) > 20_000
    assert len(QUERIES) == 12


def test_the_clock_alternates_and_keeps_to_its_budget():
    order = []
    times = measure.clock({"a": lambda: order.append("a"), "b": lambda: order.append("b")}, 3, enough=0.0)
    assert order == ["a", "b"] * 3
    assert [len(each) for each in times.values()] == [3, 3]
    assert [len(each) for each in measure.clock({"a": lambda: None, "b": lambda: None}, 3).values()] == [15, 15]
    assert [len(each) for each in measure.clock({"a": lambda: None}, 5, budget=0.0).values()] == [1]


def line(case, ours, rivals, *, rows=1_000_000, keys=100, ordered=False, peak=None):
    shape = data.Shape(rows, keys, ordered)
    times = {"windrow": [ours], **{name: [time] for name, time in rivals.items()}}
    one_call = BY_NAME[case].one_call
    peaks = {} if peak is None else {"windrow": peak}
    return report.Line(
        "cases", shape.name, shape.title, case, case, rows, keys, ordered, one_call, times=times, peaks=peaks
    )


def test_ratios_are_of_medians_and_to_the_best_rival():
    made = line("sum_v", 0.0, {})
    made.times = {"windrow": [1.0, 9.0, 2.0], "polars": [8.0, 1.0, 9.0], "duckdb": [10.0]}
    assert (made.best_rival, made.ratio) == ("polars", 0.25)
    assert line("sum_v", 1.0, {}).ratio is None


def test_targets_are_met_or_not():
    def worst(lines):
        return {target.text.split(",")[0]: (target.worst, len(target.missed)) for target in report.targets(lines)}

    lines = [
        line("sum_v", 1.0, {"polars": 4.0, "duckdb": 5.0}, peak=24_000_000 + 64 * 2**20),
        line("sum_v", 1.0, {"polars": 5.0}, ordered=True, peak=2 * (24_000_000 + 64 * 2**20)),
        line("eight_calls", 2.0, {"polars": 3.2}, peak=10**12),
        line("sum_v", 13.0, {}, rows=10_000_000, keys=100_000),
        line("sum_v", 2.0, {}, keys=200_000),
    ]
    found = worst(lines)
    assert found["every case and shape"] == (0.625, 1)
    assert found["geometric mean of the ratios"][0] == pytest.approx((0.25 * 0.2 * 0.625) ** (1 / 3))
    assert found["already sorted input"] == (0.2, 1)
    assert found["eight calls on one window"] == (2.0, 0)
    assert found["peak memory of one call beyond input and output"] == (2.0, 1)
    assert found["10M rows in 100K partitions"] == (13.0, 1)
    assert found["200K partitions"] == (2.0, 0)
    assert all("not measured" in str(target) for target in report.targets([]))
    assert "NOT met in 1 of 3" in str(report.targets(lines)[0])


def test_losses_are_named():
    lost = report.Record(["windrow", "polars"], {}, 2, [line("lag", 2.0, {"polars": 1.0})])
    assert "Lost: lag (2.00, polars)" in lost.text()
    assert "won 0 and lost 1" in lost.text()


def test_exactness_counts_units_in_the_last_place_and_zero_frames():
    values, width = exactness.DATA["1e16, 1, -1e16"]
    right = [float(truth) for truth in exactness.exact("sum", values, width)]
    assert right[1:4] == [1e16, 1.0, 1e16 - 1e16 - 1e16 + 2.0]
    assert exactness.judge("1e16, 1, -1e16", "sum", "windrow", right).failed is False
    off = [right[0], right[1], 3.0, *right[3:]]
    assert exactness.judge("1e16, 1, -1e16", "sum", "windrow", off).ulps == 2.0**53
    dirty = [value or 1e-300 for value in right]
    errors = exactness.judge("1e16, 1, -1e16", "sum", "windrow", dirty)
    assert (errors.failed, errors.zeros, errors.of_zeros) == (True, right.count(0.0), right.count(0.0))
    lost = [float("nan")] * len(right)
    assert exactness.judge("1e16, 1, -1e16", "sum", "windrow", lost).ulps == float("inf")
    assert list(exactness.exact("stddev_samp", [1.0, 3.0], 2))[1] ** 2 == pytest.approx(Fraction(2))


def run(*arguments):
    return subprocess.run(
        [sys.executable, "-m", "benches.compare", *arguments],
        cwd=ROOT,
        env=child_environment(),
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.slow
def test_the_command_runs_from_end_to_end(tmp_path):
    small = ["--rows", "2000", "--keys", "10", "--h2o-rows", "2000", "--repeat", "1", "--no-memory"]
    picked = ["--cases", "total,eight_calls,string_sum,two_keys_row_number,decimal_sum,partition_by,range_between"]
    done = run(*small, *picked, "--output", str(tmp_path))
    assert done.returncode == 0, done.stderr
    text = (tmp_path / "latest.md").read_text()
    assert text.strip() == done.stdout.strip()
    for word in ("2K rows in 10 partitions, sorted", "h2o window queries", "Geometric mean", "Targets"):
        assert word in text
    (row,) = [json.loads(each) for each in (tmp_path / "runs.jsonl").read_text().splitlines()]
    assert row["complete"]
    assert row["failures"] == 0
    assert len(row["cases"]) == 2 * 5 + 2
    assert set(row["cases"][0]["median_ms"]) == set(ENGINES)
    assert ElementTree.parse(tmp_path / "latest.svg").getroot().tag.endswith("svg")


@pytest.mark.slow
def test_float_errors_are_printed():
    done = run("--suite", "exact", "--check")
    assert done.returncode == 0, done.stderr
    assert done.stdout.count(", stddev_samp") == len(exactness.DATA)
    assert "zeros 80 of 80" in done.stdout


@pytest.mark.skipif(not memory.available(), reason="this system does not tell peaks")
def test_peaks_leave_out_input_and_result():
    found = memory.peak("cases", "sum_v", "windrow", (200_000, 10, False), 1)
    assert found is not None
    assert 100_000 < found < 100_000_000


def test_check_takes_no_time_and_writes_nothing(tmp_path):
    done = run("--check", "--rows", "500", "--cases", "lag", "--engines", "duckdb", "--output", str(tmp_path))
    assert done.returncode == 0, done.stderr
    assert "2 answers of rivals compared with windrow's, 0 failures" in done.stdout
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_an_interrupt_leaves_what_was_measured(tmp_path):
    command = [sys.executable, "-m", "benches.compare", "--rows", "2000", "--no-memory", "--output", str(tmp_path)]
    with subprocess.Popen(command, cwd=ROOT, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        for progress in process.stderr:
            if "ratio" in progress:
                process.send_signal(signal.SIGINT)
                break
        process.communicate()
    assert process.returncode == 130
    (row,) = [json.loads(each) for each in (tmp_path / "runs.jsonl").read_text().splitlines()]
    assert not row["complete"]
    assert row["cases"][0]["ratio"] is not None
    assert "ended early" in (tmp_path / "latest.md").read_text()


@pytest.mark.slow
def test_unknown_names_are_refused():
    assert "no case nothing" in run("--cases", "nothing", "--rows", "10").stderr
    assert "no engine nothing" in run("--engines", "nothing").stderr
    assert "no shape nothing" in run("--shapes", "nothing").stderr
