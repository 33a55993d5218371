"""LazyFrames larger than memory: the rows, their order and errors are those of the eager frame."""

import random

import numpy as np
import pytest

import windrow as wr
from support.random_calls import make_ask, make_spec, make_table, rounds

pl = pytest.importorskip("polars")
from polars.testing import assert_frame_equal  # noqa: E402

ROWS = 30_000
W = wr.window("k", "t")
V = wr.window("g", "v")
CALLS = [
    wr.sum("v").over(W).alias("total"),
    wr.lag("name").over(V).alias("before"),
    "sum(lag(v) OVER (PARTITION BY k ORDER BY t)) OVER (PARTITION BY k, g ORDER BY t) - t AS nested",
    wr.count().over(wr.window("k")).alias("n"),
]
ENGINES = ["in-memory", "streaming"]


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(3)
    return pl.DataFrame(
        {
            "k": rng.integers(0, 200, ROWS),
            "t": rng.permutation(ROWS),
            "g": rng.integers(0, 2000, ROWS),
            "v": rng.integers(-1000, 1000, ROWS),
            "name": rng.integers(0, 99, ROWS).astype(str),
        }
    )


@pytest.fixture(scope="module")
def expected(frame):
    return wr.with_columns(frame, *CALLS)


@pytest.fixture(params=["2MB", "4GB"])
def result(request, frame, tmp_path_factory):
    """Give the result under a limit that makes the rows go to disk, and under one that does not."""
    path = tmp_path_factory.mktemp("lazy") / "rows.parquet"
    frame.write_parquet(path, row_group_size=ROWS // 10)
    with wr.config(memory_limit=request.param):
        return wr.with_columns(pl.scan_parquet(path), *CALLS)


@pytest.mark.parametrize("engine", ENGINES)
class TestPolarsAsksTheSource:
    def test_all(self, result, expected, engine):
        assert_frame_equal(result.collect(engine=engine), expected)

    @pytest.mark.parametrize("names", [["k"], ["n"], ["nested", "before"], ["v", "total", "t"]])
    def test_columns(self, result, expected, engine, names):
        assert_frame_equal(result.select(names).collect(engine=engine), expected.select(names))
        assert result.select(pl.len()).collect(engine=engine).item() == ROWS

    def test_conditions(self, result, expected, engine):
        conditions = [pl.col("k") == 3, pl.col("total") > 0, pl.col("g") < 50, pl.col("v") == pl.col("v").max()]
        for condition in conditions:
            found = result.filter(condition).select("before", "n").collect(engine=engine)
            assert found.height
            assert_frame_equal(found, expected.filter(condition).select("before", "n"))

    def test_first_rows(self, result, expected, engine):
        assert_frame_equal(result.head(7).collect(engine=engine), expected.head(7))
        assert_frame_equal(result.slice(100, 20_000).collect(engine=engine), expected.slice(100, 20_000))
        of_three = pl.col("k") == 3
        assert_frame_equal(
            result.head(700).filter(of_three).collect(engine=engine), expected.head(700).filter(of_three)
        )
        assert_frame_equal(result.filter(of_three).head(5).collect(engine=engine), expected.filter(of_three).head(5))

    def test_several_sets_of_calls(self, result, expected, engine):
        with wr.config(memory_limit="2MB"):
            for i in range(2):
                call = wr.max("v").over(wr.window("g", "t")).alias(f"most{i}")
                result, expected = wr.with_columns(result, call), wr.with_columns(expected, call)
        assert_frame_equal(result.collect(engine=engine), expected)


def test_sink(result, expected, tmp_path):
    result.sink_parquet(tmp_path / "out.parquet")
    assert_frame_equal(pl.read_parquet(tmp_path / "out.parquet"), expected)


@pytest.mark.parametrize("number", rounds(8, 2))
def test_random_calls(number):
    rng = random.Random(f"out of core {number}")
    frame = pl.DataFrame(make_table(rng, 100))
    compared = 0
    for _ in range(20):
        ask = make_ask(rng, make_spec(rng))
        try:
            eager = wr.with_columns(frame, {"r": ask.text})
        except (wr.SpecError, wr.DataError) as error:
            with wr.config(memory_limit="1GB"), pytest.raises(type(error)):
                wr.with_columns(frame.lazy(), {"r": ask.text}).collect()
            continue
        with wr.config(memory_limit=rng.choice(["1MB", "1GB"])):
            lazy = wr.with_columns(frame.lazy(), {"r": ask.text})
        assert lazy.collect_schema() == eager.schema
        assert_frame_equal(lazy.collect(engine=rng.choice(ENGINES)), eager, rel_tol=1e-9)
        compared += 1
    assert compared >= 8


@pytest.mark.parametrize("engine", ENGINES)
def test_errors(engine):
    frame = pl.LazyFrame({"x": [2**62, 2**62]})
    with wr.config(memory_limit="1GB"):
        lazy = wr.with_columns(frame, s=wr.sum("x").over())
        presorted = wr.with_columns(
            pl.LazyFrame({"x": [2, 1]}), s=wr.row_number().over(wr.window(order_by="x")), sort=False
        )
    # Polars 1 wraps what a source raises
    wrapped = () if int(pl.__version__.split(".")[0]) > 1 else (pl.exceptions.ComputeError,)
    with pytest.raises((wr.ArithmeticOverflowError, *wrapped), match="does not fit Int64"):
        lazy.collect(engine=engine)
    with pytest.raises((wr.OrderError, *wrapped), match="sort"):
        presorted.collect(engine=engine)


def test_no_files_are_left(frame, expected, tmp_path):
    with wr.config(memory_limit="2MB", spill_dir=tmp_path):
        lazy = wr.with_columns(frame.lazy(), *CALLS)
    assert_frame_equal(lazy.head(3).collect(), expected.head(3))
    for batch in lazy.collect_batches(chunk_size=100):
        assert batch.height
        break
    assert list(tmp_path.iterdir()) == []


def test_explain_tells_the_way(frame):
    call = wr.sum("v").over(W)
    assert "in memory: the input has less than half" in wr.explain(frame.lazy(), call).steps[-1]
    assert "unknown size" in wr.explain(frame.lazy().join(frame.lazy(), on="t"), call).steps[-1]
    with wr.config(memory_limit="1GB"):
        assert "memory_limit is set" in wr.explain(frame.lazy(), call).steps[-1]
        of_categories = frame.lazy().with_columns(pl.col("name").cast(pl.Categorical))
        assert "has categories" in wr.explain(of_categories, call).steps[-1]
