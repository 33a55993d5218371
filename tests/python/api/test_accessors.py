"""``df.wr`` does what windrow's functions do, and a filter on the keys of all calls goes below them."""

import subprocess
import sys

import numpy as np
import pytest

import windrow as wr
from support.paths import child_environment

pl = pytest.importorskip("polars")
pd = pytest.importorskip("pandas")

import windrow.pandas  # noqa: E402
import windrow.polars  # noqa: E402

W = wr.window("k", "t")
DATA = {"k": [1, 2, 1, 2, 1], "g": [1, 1, 2, 2, 2], "t": [1, 2, 3, 4, 5], "x": [5, 7, None, 9, 4]}
FRAMES = {
    "polars": lambda: pl.DataFrame(DATA),
    "lazy": lambda: pl.LazyFrame(DATA),
    "pandas": lambda: pd.DataFrame(DATA),
}


def rows(frame):
    if isinstance(frame, pl.LazyFrame):
        frame = frame.collect()
    return frame.rows() if isinstance(frame, pl.DataFrame) else pl.DataFrame(frame).rows()


@pytest.mark.parametrize("kind", FRAMES)
def test_methods(kind):
    frame = FRAMES[kind]()
    calls = ["sum(x) OVER (PARTITION BY k) AS a", wr.rank().over(W).alias("b")]
    for made, wanted in (
        (frame.wr.with_columns(*calls, c=wr.count().over()), wr.with_columns(frame, *calls, c=wr.count().over())),
        (frame.wr.select("t", *calls), wr.select(frame, "t", *calls)),
        (
            frame.wr.sql("SELECT t, lag(x) OVER (ORDER BY t) AS p FROM self WHERE k = 1 ORDER BY t DESC"),
            wr.sql("SELECT t, lag(x) OVER (ORDER BY t) AS p FROM f WHERE k = 1 ORDER BY t DESC", f=frame),
        ),
    ):
        assert type(made) is type(frame)
        assert len(rows(made)) >= 3
        assert str(rows(made)) == str(rows(wanted))
    assert str(frame.wr.explain(*calls)) == str(wr.explain(frame, *calls))


@pytest.mark.parametrize("kind", FRAMES)
@pytest.mark.parametrize(
    ("condition", "kept"),
    [
        ("k = 1 AND t > 1", [3, 5]),
        ("x > 4", [1, 2, 4]),
        ("row_number() OVER (PARTITION BY k ORDER BY t DESC) = 1", [4, 5]),
        ("x >= avg(x) OVER ()", [2, 4]),
        (wr.expr("t % 2 = 0"), [2, 4]),
        (wr.bool_or(wr.expr("x > 8")).over(wr.window("k")), [2, 4]),
    ],
)
def test_filter(kind, condition, kept):
    made = FRAMES[kind]().wr.filter(condition)
    assert [row[2] for row in rows(made)] == kept
    assert list(made.collect_schema() if kind == "lazy" else made.columns) == list(DATA)


@pytest.mark.parametrize("kind", FRAMES)
def test_a_condition_must_be_boolean(kind):
    frame = FRAMES[kind]()
    for condition in ("x + 1", "sum(x) OVER ()"):
        with pytest.raises(wr.SpecError, match="a condition gives true or false"):
            frame.wr.filter(condition)
    with pytest.raises(wr.SpecError, match=r"filter\(\) got True"):
        frame.wr.filter(True)
    with pytest.raises(wr.SpecError, match="'nothing'"):
        frame.wr.filter("nothing > 1")


def test_a_filter_on_the_keys_of_all_calls_goes_below_the_windows(tmp_path):
    rng = np.random.default_rng(3)
    n = 5_000
    frame = pl.DataFrame({c: rng.integers(0, 20, n) for c in ("k", "g", "x")} | {"t": rng.permutation(n)})
    frame.write_parquet(tmp_path / "t.parquet")
    lazy = pl.scan_parquet(tmp_path / "t.parquet")
    both = wr.window(["k", "g"], "t")
    below = {
        "one key of two": ([wr.sum("x").over(both).alias("s"), wr.rank().over(W).alias("r")], "k = 3"),
        "all keys": ([wr.sum("x").over(both).alias("s")], "k < 3 AND g IN (1, 2)"),
        "an expression": ([wr.sum("x").over(both).alias("s")], pl.col("k") + pl.col("g") > 20),
        "calls in calls": (["sum(row_number() OVER (PARTITION BY k ORDER BY t)) OVER (PARTITION BY k) AS s"], "k = 3"),
    }
    above = {
        "not a key of all": ([wr.sum("x").over(both).alias("s"), wr.rank().over(W).alias("r")], "g = 3"),
        "a value": ([wr.sum("x").over(W).alias("s")], "x = 3"),
        "a value as well": ([wr.sum("x").over(W).alias("s")], "k = 3 AND x > 2"),
        "no keys": ([wr.sum("x").over().alias("s")], "k = 3"),
        "a result": ([wr.sum("x").over(W).alias("s")], "s > 9"),
        "a key replaced": ([wr.sum("x").over(W).alias("k")], "k > 9"),
        "another order's rows": ([wr.sum(pl.col("x").cum_sum().over("g")).over(W).alias("s")], "k = 3"),
        "a literal": ([wr.sum("x").over(W).alias("s")], "1 = 1"),
    }
    for name, (calls, condition) in {**below, **above}.items():
        made = lazy.wr.with_columns(*calls).wr.filter(condition)
        wanted = frame.wr.with_columns(*calls).wr.filter(condition)
        assert made.collect().equals(wanted), name
        assert 0 < wanted.height <= n, name
        plan = made.explain()
        assert ("SELECTION" in plan) == (name in below), (name, plan)


def test_filters_go_below_chained_windows():
    frame = pl.DataFrame(DATA)
    calls = [wr.sum("x").over(W).alias("s")]
    more = [wr.max("s").over(wr.window("k")).alias("m")]
    lazy = frame.lazy().wr.with_columns(*calls).wr.with_columns(*more).wr.filter("k = 1").wr.filter("k < 9")
    assert lazy.collect().equals(frame.wr.with_columns(*calls).wr.with_columns(*more).filter(pl.col("k") == 1))
    text = lazy.explain()
    assert text.rindex("FILTER") > text.rindex("WITH_COLUMNS")


def test_settings_that_have_changed_keep_a_filter_above():
    lazy = pl.LazyFrame({"k": [1, 2], "x": [2**62, 1]}).wr.with_columns(wr.sum("x").over(wr.window("k")).alias("s"))
    with wr.config(ansi=False):
        assert lazy.wr.filter("k = 1").explain().index("FILTER") < lazy.explain().index("WITH_COLUMNS") + 100


def test_nothing_is_registered_before_the_import():
    code = "import windrow, polars, pandas; print(hasattr(polars.DataFrame, 'wr'), hasattr(pandas.DataFrame, 'wr'))"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=child_environment()
    )
    assert done.stdout.split() == ["False", "False"]
