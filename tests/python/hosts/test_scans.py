"""Datasets, Scanners, DataFusion's DataFrames and DuckDB's relations: only the columns that a plan reads are read."""

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


KINDS = {
    "dataset": ds.dataset,
    "scanner": lambda path: ds.dataset(path).scanner(),
    "datafusion": of_datafusion,
    "duckdb": of_duckdb,
}


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
    assert wr.with_columns(frame, *calls).to_pydict() == wr.with_columns(TABLE, *calls).to_pydict()
    assert reads == [None]
    frame = KINDS[kind](path)
    assert wr.select(frame, "t", *calls).to_pydict() == wr.select(TABLE, "t", *calls).to_pydict()
    assert reads[1:] == [["k", "t", "x", 'a."b']]
    frame = KINDS[kind](path)
    assert wr.select(frame, n=wr.count().over()).to_pydict() == {"n": [5] * 5}
    assert reads[2:] == [["k"]]


@pytest.mark.parametrize("kind", KINDS)
def test_queries_and_plans(kind, path):
    query = "SELECT t, lag(x) OVER w AS p FROM f WHERE k = 1 WINDOW w AS (PARTITION BY k ORDER BY t) ORDER BY t DESC"
    assert wr.sql(query, f=KINDS[kind](path)).to_pydict() == {"t": [5, 3, 1], "p": [None, 5, None]}
    plan = wr.explain(KINDS[kind](path), wr.sum("x").over(W).alias("s"))
    assert [row["strategy"] for row in plan.rows] == ["scan"]
    op = wr.operator(wr.sum("x").over(W).alias("s"), KINDS[kind](path))
    assert op.schema.names == [*TABLE.schema.names, "s"]
    with pytest.raises(wr.SpecError, match="'nothing'"):
        wr.with_columns(KINDS[kind](path), wr.sum("nothing").over())


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
