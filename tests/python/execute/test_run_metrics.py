"""What a run says of itself: the figures, the log line, explain(metrics=True), the progress bar."""

import logging
import pickle
import sys
import time

import pyarrow as pa
import pytest

import windrow as wr
from windrow._execute.run_metrics import Measured, Metrics, Run, size_text

np = pytest.importorskip("numpy")

ORDERED = "PARTITION BY k ORDER BY t, id"
STREAMED = {"n": f"row_number() OVER ({ORDERED})", "near": f"sum(v) OVER ({ORDERED} ROWS 20 PRECEDING)"}
AHEAD = {"all": "sum(v) OVER (PARTITION BY k)", "last": f"last_value(v) OVER ({ORDERED} ROWS BETWEEN 1 FOLLOWING "
         "AND UNBOUNDED FOLLOWING)"}  # fmt: skip


def rows(number, keys=20, *, ordered=False):
    rng = np.random.default_rng(1)
    table = pa.table(
        {
            "id": rng.permutation(number),
            "k": rng.integers(0, keys, number),
            "t": rng.integers(0, number, number),
            "v": rng.integers(-1000, 1000, number),
        }
    )
    return table.sort_by([(key, "ascending") for key in ("k", "t", "id")]) if ordered else table


def slowly(batches, seconds):
    for batch in batches:
        time.sleep(seconds)
        yield batch


def measured(table, calls, limit=None, sort=True, batches=None):
    """Run an operator to its end; give its figures, what it answered, and the seconds that passed."""
    told = []
    begun = time.perf_counter()
    with wr.config(memory_limit=limit):
        operator = wr.operator([calls], table.schema, sort=sort)
        operator.report = told.append
        out = list(operator(table.to_batches(1000) if batches is None else batches))
    (metrics,) = told
    return metrics, out, time.perf_counter() - begun


@pytest.mark.parametrize(
    ("calls", "limit", "sort", "stages"),
    [
        (STREAMED, None, True, {"read", "answer"}),
        (STREAMED, None, False, {"read", "answer"}),
        (STREAMED, 1, True, {"read", "divide", "answer"}),
        ({"all": "count(*) OVER ()"}, 1, True, {"read", "sort", "summarise", "spill", "exchange", "answer"}),
        ({"d": f"v - lag(v * 2) OVER ({ORDERED})"}, 1, True, {"read", "divide", "evaluate", "answer"}),
        ({"d": f"sum(row_number() OVER ({ORDERED})) OVER ({ORDERED})"}, 1, True, {"read", "divide", "answer"}),
    ],
)
def test_figures(calls, limit, sort, stages):
    table = rows(30_000) if sort else rows(10_000, ordered=True)
    batches = table.to_batches(1000)
    metrics, out, seconds = measured(table, calls, limit, sort)
    assert metrics.rows == table.num_rows == sum(b.num_rows for b in out)
    assert metrics.batches == len(batches)
    assert set(metrics.seconds) - {"evaluate"} == stages - {"evaluate"}
    assert stages <= set(metrics.seconds)
    assert 0 < sum(metrics.seconds.values()) <= metrics.elapsed <= seconds
    if limit is None:
        assert metrics.spilled_bytes == 0
        assert (metrics.sections == 1) == sort
    else:
        assert metrics.sections > 1
        assert metrics.spilled_bytes > table.nbytes / 2
    if sys.platform == "linux":
        assert metrics.peak_bytes > table.nbytes


def test_sections_spill_their_own_texts_alone():
    """Views share buffers: each section once brought those of all batches that it had rows of."""
    table = rows(60_000)
    table = table.append_column(
        "s", pa.array([f"a text that no view holds {i}" for i in range(60_000)], pa.string_view())
    )
    metrics, _, _ = measured(table, AHEAD, 1)
    assert metrics.sections > 2
    assert metrics.spilled_bytes < 3 * (table.nbytes + 60_000 * 32)


def test_time_is_charged_to_the_stage():
    table = rows(5000)
    metrics, _, seconds = measured(table, STREAMED, batches=slowly(table.to_batches(1000), 0.02))
    assert 0.1 <= metrics.seconds["read"] <= seconds
    assert metrics.seconds["answer"] < 0.1

    told = []
    operator = wr.operator([STREAMED], table.schema, sort=True)
    operator.report = told.append
    for _ in operator(table.to_batches(1000)):
        time.sleep(0.02)  # the caller's time is nobody's
    assert told[0].elapsed >= 0.1
    assert sum(told[0].seconds.values()) < 0.1


def test_stages_within_stages():
    run = Run(str)
    with run.stage("a"):
        with run.stage("b"):
            time.sleep(0.02)
        assert run.metrics.seconds["a"] < 0.02 <= run.metrics.seconds["b"]


def test_an_abandoned_run_reports_nothing():
    told = []
    operator = wr.operator([STREAMED], rows(10).schema, sort=True)
    operator.report = told.append
    assert next(operator(rows(5000).to_batches(1000))).num_rows == 1000
    assert told == []


def test_the_log_has_one_line(caplog):
    table = rows(2000)
    with caplog.at_level(logging.INFO, logger="windrow"):
        list(wr.operator([STREAMED], table.schema, sort=True)(table.to_batches(1000)))
        wr.with_columns(table, STREAMED)
        wr.select(table, "k")
    assert [r.levelname for r in caplog.records] == ["INFO", "INFO"]
    for record, batches in zip(caplog.records, (2, 1), strict=True):
        text = record.getMessage()
        assert text.startswith("row_number() OVER (PARTITION BY k ORDER BY t, id) AS n, ")
        assert f": rows 2,000, batches {batches}, sections 1, spilled 0 B" in text
        assert len(text) < 300
        assert record.args[0].rows == 2000  # for handlers that keep figures
    caplog.clear()
    wr.with_columns(table, STREAMED)
    assert caplog.records == []


def test_figures_add_up():
    one = Metrics("c", 10, 2, 1, 100, {"read": 1.0}, 3.0, 5000, 0)
    two = Metrics("c", 30, 4, 2, 0, {"read": 0.5, "answer": 1.0}, 2.0, None, 1)
    both = Measured("x", [one, two])
    expected = Metrics("x", 40, 6, 3, 100, {"read": 1.5, "answer": 1.0}, 3.0, 5000)
    assert both.total() == expected
    assert both.most_rows() == 30
    assert Measured("x", []).total() == Metrics("x")
    assert pickle.loads(pickle.dumps(one)) == one
    line = "rows 10, batches 2, sections 1, spilled 100 B, process peak 4.9 KiB, 3.000 s (read 1.000)"
    assert str(one) == f"partition 0: c: {line}"
    assert size_text(3 << 40) == "3.0 TiB"


@pytest.mark.parametrize("kind", ["table", "batch", "reader", "polars", "lazy", "pandas", "stream"])
def test_explain_computes(kind):
    polars, pandas = pytest.importorskip("polars"), pytest.importorskip("pandas")
    table = rows(1000)

    class Stream:
        def __arrow_c_stream__(self, requested_schema=None):
            return table.__arrow_c_stream__(requested_schema)

    frame = {
        "table": table,
        "batch": table.combine_chunks().to_batches()[0],
        "reader": table.to_reader(100),
        "polars": polars.from_arrow(table),
        "lazy": polars.from_arrow(table).lazy(),
        "pandas": pandas.DataFrame(table.to_pydict()),
        "stream": Stream(),
    }[kind]
    calls = {"n": f"row_number() OVER ({ORDERED})", "<half>": f"sum(v) OVER ({ORDERED}) / 2"}
    explained = wr.explain(frame, calls, sort=True)
    plan = wr.explain(frame, calls, metrics=True, sort=True)
    (measured,) = plan.metrics
    (run,) = measured.runs
    assert measured.name == "n, <half>"
    assert (run.rows, run.sections) == (1000, 1)
    assert plan.seconds >= run.elapsed >= sum(run.seconds.values())
    text = str(plan)
    before, _, after = text.partition("\n\ncomputed in ")
    assert before == str(explained)
    _, name, figures, *stages = after.splitlines()
    assert name == "  n, <half>"
    assert figures.startswith("    1,000 rows; 1 section; 0 B spilled; ")
    assert [line.split()[0] for line in stages] == list(run.seconds)
    assert all("█" in line for line in stages)
    assert all(line == line.rstrip() for line in text.splitlines())
    page = plan._repr_html_()
    assert "<small>1,000 rows; 1 section; 0 B spilled; " in page
    assert page.count("<rect") == 2 * len(run.seconds)
    assert "n, &lt;half&gt;" in page
    assert "<half>" not in page


@pytest.mark.slow
def test_explain_of_a_reader_spills(tmp_path):
    table = rows(300_000)  # and sections are smaller than where there is memory
    with wr.config(memory_limit=1, spill_dir=tmp_path):
        plan = wr.explain(table.to_reader(1000), AHEAD, sort=True, metrics=True)
    total = plan.metrics[0].total()
    assert (total.rows, total.batches) == (300_000, 300)
    assert total.sections > 10
    assert f"; {size_text(total.spilled_bytes)} spilled; " in str(plan)


def test_explain_refuses():
    with pytest.raises(wr.SpecError, match="a schema has no rows"):
        wr.explain(rows(1).schema, STREAMED, metrics=True)
    with pytest.raises(wr.SpecError, match="to call a column so"):
        wr.explain(rows(1), metrics="sum(v) OVER ()")
    plan = wr.explain(rows(1), STREAMED)
    assert (plan.metrics, plan.seconds) == ([], None)
    assert "computed" not in str(plan) + plan._repr_html_()


def test_progress(capsys):
    pytest.importorskip("tqdm")
    table = rows(20_000)
    with wr.config(progress=True):
        list(wr.operator([STREAMED], table.schema, sort=True)(iter(table.to_batches(1000))))
    shown = capsys.readouterr().err
    assert "windrow: read: 20.0k rows [" in shown
    assert "windrow: answered: 100%" in shown
    assert "20.0k/20.0k" in shown
    with wr.config(progress=True):
        reader = rows(20_000, ordered=True).to_reader(1000)
        for _ in wr.with_columns(reader, STREAMED):  # streams: what is read has been answered
            pass
    shown = capsys.readouterr().err
    assert "windrow: read: 20.0k rows [" in shown
    assert "answered" not in shown
    list(wr.operator([STREAMED], table.schema, sort=True)(table.to_batches(1000)))
    assert capsys.readouterr().err == ""


def test_progress_needs_tqdm(monkeypatch):
    monkeypatch.setitem(sys.modules, "tqdm", None)
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    with wr.config(progress=True):
        operator = wr.operator([STREAMED], rows(1).schema, sort=True)
        with pytest.raises(wr.UnsupportedError, match=r"windrow-arrow\[progress\]"):
            operator([])
