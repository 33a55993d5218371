"""Datasets, Scanners, DuckDB's relations, DataFusion's and Ibis' frames: only what a plan reads is read."""

import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest

import windrow as wr
from windrow.hosts.base import host_of
from windrow.hosts.projected import ProjectedHost

TABLE = pa.table({
    "k": [1, 2, 1, 2, 1],
    "t": [1, 2, 3, 4, 5],
    "x": [5, 7, None, 9, 4],
    'a."b': [1.5, 2.5, 3.5, 4.5, 5.5],
    "Unread": ["a", "b", "c", "d", "e"],
})  # fmt: skip
W = wr.window("k", "t")


def of_datafusion(path):
    datafusion = pytest.importorskip("datafusion")
    return datafusion.SessionContext().read_parquet(str(path))


def of_duckdb(path):
    duckdb = pytest.importorskip("duckdb")
    return duckdb.connect().read_parquet(str(path))


def of_ibis(path):
    ibis, polars = pytest.importorskip("ibis"), pytest.importorskip("polars")
    return ibis.polars.connect({"t": polars.scan_parquet(path)}).table("t")


KINDS = {
    "dataset": ds.dataset,
    "scanner": lambda path: ds.dataset(path).scanner(),
    "datafusion": of_datafusion,
    "duckdb": of_duckdb,
    "ibis": of_ibis,
}


def rows_of(result):
    """Give the columns of a result as lists."""
    return (result.to_pyarrow() if hasattr(result, "to_pyarrow") else pa.table(result)).to_pydict()


@pytest.fixture
def path(tmp_path):
    pq.write_table(TABLE, tmp_path / "t.parquet", row_group_size=2)
    return tmp_path / "t.parquet"


@pytest.fixture
def reads(monkeypatch):
    """Record which columns hosts read."""
    found = []
    for host in ProjectedHost.__subclasses__():

        def read(self, frame, names, original=host.read):
            found.append(names)
            return original(self, frame, names)

        monkeypatch.setattr(host, "read", read)
    return found


@pytest.mark.parametrize("kind", KINDS)
def test_results(kind, path, reads):
    calls = [wr.sum("x").over(W).alias("s"), 'max(`a."b`) OVER (PARTITION BY k) AS m']
    frame = KINDS[kind](path)
    assert rows_of(wr.with_columns(frame, *calls)) == wr.with_columns(TABLE, *calls).to_pydict()
    assert reads == [None]
    frame = KINDS[kind](path)
    assert rows_of(wr.select(frame, "t", *calls)) == wr.select(TABLE, "t", *calls).to_pydict()
    assert reads[1:] == [["k", "t", "x", 'a."b']]
    frame = KINDS[kind](path)
    assert rows_of(wr.select(frame, n=wr.count().over())) == {"n": [5] * 5}
    assert reads[2:] == [["k"]]


@pytest.mark.parametrize("kind", KINDS)
def test_queries_and_plans(kind, path):
    query = "SELECT t, lag(x) OVER w AS p FROM f WHERE k = 1 WINDOW w AS (PARTITION BY k ORDER BY t) ORDER BY t DESC"
    assert rows_of(wr.sql(query, f=KINDS[kind](path))) == {"t": [5, 3, 1], "p": [None, 5, None]}
    plan = wr.explain(KINDS[kind](path), wr.sum("x").over(W).alias("s"))
    assert [row["strategy"] for row in plan.rows] == ["scan"]
    op = wr.operator(wr.sum("x").over(W).alias("s"), KINDS[kind](path))
    assert op.schema.names == [*TABLE.schema.names, "s"]
    with pytest.raises(wr.SpecError, match="'nothing'"):
        wr.with_columns(KINDS[kind](path), wr.sum("nothing").over())
    twice = "WITH c AS (SELECT t, sum(x) OVER (PARTITION BY k) AS s FROM f) SELECT max(s) AS m, count(t) AS n FROM c"
    assert rows_of(wr.sql(twice, f=KINDS[kind](path))) == {"m": [16], "n": [5]}


@pytest.mark.parametrize("kind", ["duckdb", "ibis"])
def test_results_are_frames_of_the_kind_that_was_given(kind, path):
    frame = KINDS[kind](path)
    for made in (
        wr.with_columns(frame, s=wr.sum("x").over(W)),
        wr.sql("SELECT t, sum(x) OVER (PARTITION BY k ORDER BY t) AS s FROM f", f=frame),
        wr.sql("SELECT * FROM (SELECT t, sum(x) OVER (PARTITION BY k ORDER BY t) AS s FROM f)", f=frame),
    ):
        assert type(made) is type(frame)
        assert rows_of(wr.select(made, "s", n=wr.count().over()))["s"] == [5, 7, 5, 16, 9]


def test_a_scanner_keeps_its_filter_and_projection(path):
    scanner = ds.dataset(path).scanner(columns=["k", "t", "x"], filter=ds.field("t") > 1)
    assert host_of(scanner).columns(scanner) == ["k", "t", "x"]
    assert wr.with_columns(scanner, s=wr.sum("x").over(W)).to_pydict() == {
        "k": [2, 1, 2, 1],
        "t": [2, 3, 4, 5],
        "x": [7, None, 9, 4],
        "s": [7, None, 16, 4],
    }


def test_errors_of_a_dataset_are_data_errors(path):
    frame = ds.dataset(path)
    path.unlink()
    with pytest.raises(wr.DataError, match="pyarrow cannot give the frame"):
        wr.with_columns(frame, s=wr.sum("x").over(W))


def test_errors_of_datafusion_are_data_errors():
    datafusion = pytest.importorskip("datafusion")
    frame = datafusion.SessionContext().from_arrow(TABLE).select(datafusion.col('"Unread"').cast(pa.int64()).alias("x"))
    with pytest.raises(wr.DataError, match="DataFusion cannot give the frame"):
        wr.with_columns(frame, s=wr.sum("x").over())


def test_errors_of_ibis_are_data_errors():
    ibis, polars = pytest.importorskip("ibis"), pytest.importorskip("polars")
    frame = ibis.polars.connect({"t": polars.from_arrow(TABLE)}).table("t")
    with pytest.raises(wr.DataError, match="Ibis cannot give the frame"):
        wr.with_columns(frame.mutate(x=frame.Unread.cast("int64")), s=wr.sum("x").over())


def narwhals_frames(nw):
    """Give frames of Narwhals' over each of other libraries' frames."""
    polars, pandas = pytest.importorskip("polars"), pytest.importorskip("pandas")
    duckdb = pytest.importorskip("duckdb")
    table = TABLE.select(["k", "t", "x"])
    return [
        nw.from_native(frame)
        for frame in (
            table,
            polars.from_arrow(table),
            polars.from_arrow(table).lazy(),
            pandas.DataFrame(table.to_pydict()),
            duckdb.connect().from_arrow(table),
        )
    ]


@pytest.mark.parametrize("version", ["narwhals", "narwhals.stable.v1"])
def test_narwhals_frames_give_their_own_kind(version):
    nw = pytest.importorskip(version)
    frames = narwhals_frames(nw)
    call = wr.sum("x").over(W).alias("s")
    expected = [5, 7, 5, 16, 9]
    for frame in frames:
        with_query = "WITH c AS (SELECT t, sum(x) OVER (PARTITION BY k ORDER BY t) AS s FROM f) SELECT s FROM c"
        for made in (
            wr.with_columns(frame, call),
            wr.select(frame, call),
            wr.sql("SELECT sum(x) OVER (PARTITION BY k ORDER BY t) AS s FROM f", f=frame),
            wr.sql(with_query, f=frame),
        ):
            assert type(made) is type(frame)
            assert type(made.to_native()) is type(frame.to_native())
            native = made.to_native()
            read = pa.table(native.collect() if hasattr(native, "collect") else native)
            assert read["s"].to_pylist() == expected
        assert [row["strategy"] for row in wr.explain(frame, call).rows] == ["scan"]
        assert wr.operator(call, frame).schema.names == ["k", "t", "x", "s"]
        with pytest.raises(wr.SpecError, match="'nothing'"):
            wr.with_columns(frame, wr.sum("nothing").over())
    assert len(frames) == 5
    with pytest.raises(wr.SpecError, match="Series is one column"):
        wr.with_columns(nw.from_native(TABLE["k"], series_only=True), call)
