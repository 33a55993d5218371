"""Window calls in the plans of LazyFrames: Polars optimises around them, and the rows are those of the eager frame."""

import numpy as np
import pyarrow as pa
import pytest

import windrow as wr

pl = pytest.importorskip("polars")

ROWS = 20_000
W = wr.window("k", "t", rows=(-3, 2))
CALLS = [wr.sum("v").over(W).alias("near"), wr.rank().over(wr.window("g", wr.desc("v"))).alias("place")]
ENGINES = ["in-memory", "streaming"]


@pytest.fixture(scope="module")
def frame():
    """Give 30 columns, of which the calls read four, shuffled by ``t``."""
    rng = np.random.default_rng(7)
    columns = {
        "k": rng.integers(0, 300, ROWS),
        "t": rng.permutation(ROWS),
        "g": rng.integers(0, 5, ROWS),
        "v": rng.integers(-1000, 1000, ROWS),
    }
    return pl.DataFrame({**columns, **{f"c{i}": rng.random(ROWS) for i in range(26)}})


@pytest.fixture(scope="module")
def file(frame, tmp_path_factory):
    """Give the frame as a Parquet file of 40 row groups."""
    path = tmp_path_factory.mktemp("lazy") / "wide.parquet"
    frame.write_parquet(path, row_group_size=ROWS // 40)
    return path


@pytest.fixture(scope="module")
def expected(frame):
    """Give the eager result, whose moving sum is held against Polars' own."""
    out = wr.with_columns(frame, CALLS)
    own = pl.col("v").rolling_sum(6, min_samples=1).shift(-2).over("k", order_by="t")
    held = out.with_columns(own=own).filter(pl.col("own").is_not_null())
    assert held.height == ROWS - 600  # Polars' shift leaves the last two rows of 300 keys without a sum
    assert held["own"].equals(held["near"])
    return out


#: What stands above the windows.
ABOVE = {
    "select": lambda q: q.select("k", "near"),
    "one call": lambda q: q.select("place"),
    "no call": lambda q: q.select("c3"),
    "filter on a key": lambda q: q.filter(pl.col("k") < 20).select("k", "t", "near"),
    "filter on a value": lambda q: q.filter(pl.col("v") > 0).select("near", "place"),
    "filter on a result": lambda q: q.filter(pl.col("place") == 1).select("g", "v"),
    "slice": lambda q: q.slice(ROWS // 2, 777).select("near", "c1"),
    "tail": lambda q: q.tail(5).select("near"),
    "sort": lambda q: q.sort("t").select("t", "near").head(100),
    "group": lambda q: q.group_by("g").agg(pl.col("near").sum(), pl.len()).sort("g"),
    "count": lambda q: q.select(pl.len()),
    "join": lambda q: q.join(q.filter(pl.col("place") == 1).select("g", best="v"), on="g").select("t", "best", "near")
    .sort("t", "best").unique(maintain_order=True),
    "chained": lambda q: wr.with_columns(q, wr.max("near").over(wr.window("g")).alias("most")).select("most", "place"),
    "scalars": lambda q: q.with_columns(twice=pl.col("near") * 2).filter(pl.col("twice") > 10).select("twice"),
    "cache": lambda q: pl.concat([(c := q.cache()).select("near"), c.select(near=pl.col("place").cast(pl.Int64))]),
}  # fmt: skip

#: What stands below them.
BELOW = {
    "filter": lambda q: q.filter(pl.col("t") % 3 != 0),
    "slice": lambda q: q.slice(100, ROWS // 3),
    "group": lambda q: q.group_by("k", "g", maintain_order=True).agg(pl.col("t").min(), pl.col("v").sum()),
    "with_columns": lambda q: q.with_columns(v=pl.col("v") * 2),
    "rename": lambda q: q.rename({"v": "x", "c1": "v"}),
    "one row": lambda q: q.filter(pl.col("t") == 5),
    "no row": lambda q: q.filter(pl.col("t") < 0),
}


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("above", ABOVE)
def test_what_stands_above(file, expected, engine, above):
    lazy = wr.with_columns(pl.scan_parquet(file), CALLS)
    wanted = ABOVE[above](expected.lazy()).collect()
    found = ABOVE[above](lazy).collect(engine=engine)
    assert found.height > 0
    assert found.equals(wanted)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("below", BELOW)
def test_what_stands_below(file, frame, engine, below):
    found = wr.with_columns(BELOW[below](pl.scan_parquet(file)), CALLS).collect(engine=engine)
    wanted = wr.with_columns(BELOW[below](frame.lazy()).collect(), CALLS)
    assert (found.height > 0) == (below != "no row")
    assert found.equals(wanted)
    assert found.schema == wanted.schema


def test_the_columns_that_calls_read_are_all_that_is_read(file):
    lazy = wr.with_columns(pl.scan_parquet(file), CALLS[0]).select("near")
    for engine in ENGINES:
        text = lazy.explain(engine=engine)
        assert "PROJECT 3/30 COLUMNS" in text
        assert "windrow: sum(v) OVER (PARTITION BY k ORDER BY t" in text
    assert "PROJECT 1/30 COLUMNS" in wr.select(pl.scan_parquet(file), wr.count().over().alias("n")).explain()


def test_calls_of_one_set_are_computed_together(file):
    runs = []
    w = wr.window("g")
    counted = wr.partition_function(lambda part: (runs.append(len(part)), part)[1], "v", returns=pa.int64()).over(w)
    lazy = wr.with_columns(pl.scan_parquet(file), counted.alias("a"), wr.sum("v").over(w).alias("b"))
    assert lazy.explain().count("WITH_COLUMNS") == 1
    runs.clear()
    lazy.collect(engine="streaming")
    assert sum(runs) == ROWS  # each row once: Polars does not call it for each morsel or column
    assert len(runs) == 5


def test_sink_parquet(file, expected, tmp_path):
    wr.with_columns(pl.scan_parquet(file), CALLS).sink_parquet(tmp_path / "out.parquet")
    assert pl.read_parquet(tmp_path / "out.parquet").equals(expected)


def test_names_that_polars_reads_as_patterns():
    data = {"^a.*$": [1, 2], "*": [3, 4], "": [5, 6], "a1": [7, 8]}
    frame = pl.DataFrame(data)
    calls = {f"r{i}": wr.sum(wr.col(name)).over() for i, name in enumerate(data)}
    out = wr.with_columns(frame.lazy(), calls).collect()
    assert out.equals(wr.with_columns(frame, calls))
    assert out.row(0) == (1, 3, 5, 7, 3, 7, 11, 15)


def test_a_result_may_take_the_name_of_a_column_that_is_read():
    frame = pl.DataFrame({"x": [1, 2, 3], "y": [2, 2, 2]})
    calls = {"x": wr.sum("x").over(), "y": wr.sum("x").over(wr.window(order_by="x"))}
    assert wr.with_columns(frame.lazy(), calls).collect().rows() == [(6, 1), (6, 3), (6, 6)]


def test_no_columns():
    lazy = wr.select(pl.DataFrame().lazy(), wr.count().over().alias("n"))
    assert lazy.collect_schema() == {"n": pl.Int64}
    assert lazy.collect().shape == (0, 1)


class TestToPolars:
    total = wr.sum("v").over(wr.window("k", "t")).alias("total")

    @pytest.mark.parametrize("engine", ENGINES)
    def test_select(self, file, frame, engine):
        lazy = pl.scan_parquet(file)
        found = lazy.select("k", self.total.to_polars(lazy) + 1).collect(engine=engine)
        own = pl.col("v").cum_sum().over("k", order_by="t")
        assert found.equals(frame.select("k", (own + 1).alias("total")))

    @pytest.mark.parametrize("schema", ["polars", "frame", "lazy", "arrow", "table"])
    def test_schemas(self, frame, schema):
        given = {
            "polars": lambda: frame.schema,
            "frame": lambda: frame,
            "lazy": frame.lazy,
            "arrow": lambda: frame.to_arrow().schema,
            "table": frame.to_arrow,
        }[schema]()
        expr = self.total.to_polars(given)
        assert expr.meta.output_name() == "total"
        assert frame.lazy().select(expr).collect_schema() == {"total": pl.Int64}

    def test_groups(self, frame):
        expr = wr.sum("v").over(wr.window(order_by="t")).alias("total").to_polars(frame)
        own = pl.col("v").cum_sum().over("k", order_by="t").alias("total")
        assert frame.with_columns(expr.over("k"))["total"].equals(frame.with_columns(own)["total"])
        grouped = frame.group_by("k", maintain_order=True).agg(expr.max().alias("most"))
        assert grouped.equals(
            frame.with_columns(own).group_by("k", maintain_order=True).agg(most=pl.col("total").max())
        )
        assert grouped.height == 300

    def test_conditions_and_expressions(self, frame):
        first = wr.row_number().over(wr.window("g", "t")).to_polars(frame)
        assert frame.filter(first <= 2).height == 10
        share = wr.expr("v / sum(v) OVER (PARTITION BY g)").alias("share").to_polars(frame)
        assert frame.select(share).equals(wr.select(frame, wr.expr("v / sum(v) OVER (PARTITION BY g)").alias("share")))

    def test_mistakes(self, frame):
        with pytest.raises(wr.SpecError, match="'nothing' is unknown"):
            wr.sum("nothing").over().to_polars(frame)
        with pytest.raises(wr.SpecError, match="no columns"):
            wr.count().over().to_polars(pl.Schema())
        with pytest.raises(wr.SpecError, match="over"):
            wr.sum("v").to_polars(frame)


@pytest.mark.parametrize("engine", ENGINES)
def test_errors_are_those_of_an_eager_frame(engine):
    def fail(part):
        raise KeyError("the user's")

    frame = pl.DataFrame({"x": [2**62, 2**62]})
    for call in (wr.sum("x").over(), wr.partition_function(fail, "x", returns=pa.int64()).over()):
        with pytest.raises(wr.WindrowError) as eager:
            wr.with_columns(frame, s=call)
        with pytest.raises(type(eager.value)) as lazy:
            wr.with_columns(frame.lazy(), s=call).collect(engine=engine)
        assert str(lazy.value) == str(eager.value)
        assert type(lazy.value).__name__ == type(eager.value).__name__
        assert repr(lazy.value.__cause__) == repr(eager.value.__cause__)
