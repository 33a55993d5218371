"""Queries of several SELECTs, on every kind of frame: what they give, what is read, and what is refused."""

import random
from collections import Counter

import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest

import windrow as wr
from windrow._execute import top_rows
from windrow.hosts.projected import ProjectedHost

pl = pytest.importorskip("polars")

TABLE = pa.table(
    {
        "id": [1, 2, 3, 4],
        "k": ["a", "b", "a", None],
        "v": [10, 20, 30, None],
        "x": [-0.0, 0.5, 0.0, None],
        "unread": [None, "p", "q", "r"],
    }
)
QUERIES = {
    "SELECT K, sum(V) AS s, count(*) AS n FROM t GROUP BY k": {
        "K": ["a", "b", None],
        "s": [40, 20, None],
        "n": [2, 1, 1],
    },
    "SELECT k, sum(sum(v)) OVER () AS s FROM t GROUP BY ALL ORDER BY ALL DESC": {"k": ["b", "a", None], "s": [60] * 3},
    "WITH a AS (SELECT k, max(id) AS m FROM t GROUP BY k) SELECT m FROM a UNION ALL SELECT -m FROM a ORDER BY m": {
        "m": [-4, -3, -2, 2, 3, 4]
    },
    "SELECT p FROM (SELECT * EXCEPT (k, x, unread) FROM t) AS q(o, p) WHERE o > 1 ORDER BY p LIMIT ALL": {
        "p": [None, 20, 30]
    },
    "SELECT count(*) AS n, count(v) AS c FROM t WHERE id > 9": {"n": [0], "c": [0]},
    "SELECT n FROM (SELECT count(*) AS n FROM (SELECT id FROM t WHERE id > 2))": {"n": [2]},
    "SELECT sum(v) FILTER (WHERE id > 1) AS s, max(id) + 1 AS m FROM t HAVING count(*) > 3": {"s": [50], "m": [5]},
    "SELECT sum(v) AS s FROM t HAVING count(*) > 4": {"s": []},
    "SELECT count(*) AS n FROM t WHERE id > 9 GROUP BY 'one'": {"n": []},
    "SELECT k, rank() OVER (ORDER BY count(*) DESC) AS r FROM t GROUP BY k QUALIFY r = 1": {"k": ["a"], "r": [1]},
    "SELECT id FROM t UNION SELECT 3 FROM t ORDER BY id DESC LIMIT 2": {"id": [4, 3]},
    "SELECT id % 2 AS odd, (id % 2) + 1 AS o FROM t GROUP BY ID % 2 ORDER BY 1": {"odd": [0, 1], "o": [1, 2]},
    "WITH t AS (SELECT id FROM t WHERE id > 3) SELECT * FROM t": {"id": [4]},
    "SELECT x.id FROM t AS x UNION ALL (SELECT id FROM T ORDER BY id DESC LIMIT 1)": {"id": [1, 2, 3, 4, 4]},
}


def values(frame):
    if isinstance(frame, pa.RecordBatchReader):
        frame = frame.read_all()
    if isinstance(frame, pl.LazyFrame):
        frame = frame.collect()
    if hasattr(frame, "to_pydict"):
        return frame.to_pydict()
    if isinstance(frame, pl.DataFrame):
        return frame.to_dict(as_series=False)
    return pa.Table.from_pandas(frame, preserve_index=False).to_pydict()


def of_pandas(table):
    pd = pytest.importorskip("pandas")
    return table.to_pandas(types_mapper=pd.ArrowDtype)


FRAMES = {
    "table": lambda table: table,
    "batch": lambda table: table.combine_chunks().to_batches()[0],
    "reader": lambda table: table.to_reader(3),
    "polars": pl.DataFrame,
    "lazy": lambda table: pl.DataFrame(table).lazy(),
    "pandas": of_pandas,
    "numpy": lambda table: table.to_pandas(),
}


@pytest.mark.parametrize("kind", FRAMES)
def test_results(kind):
    compared = 0
    for query, expected in QUERIES.items():
        frame = FRAMES[kind](TABLE)
        out = wr.sql(query, t=frame)
        assert type(out) is type(frame), query
        assert values(out) == expected, query
        compared += 1
    assert compared == len(QUERIES)


def test_an_index_is_made_anew_by_groups():
    pd = pytest.importorskip("pandas")
    frame = TABLE.to_pandas().set_index(pd.Index([9, 8, 7, 6]))
    out = wr.sql("SELECT k, count(*) AS n FROM t GROUP BY k", t=frame)
    assert list(out.index) == [0, 1, 2]
    out = wr.sql("SELECT id FROM t UNION ALL SELECT id FROM t", t=frame)
    assert list(out.index) == list(range(8))
    assert out["id"].dtype == "int64"


def test_types_of_a_union():
    decimals = pa.table({"n": pa.array(["1.5", None]).cast(pa.decimal128(5, 1)), "s": ["a", "b"]})
    numbers = pa.table({"n": pa.array([7], pa.int32()), "s": pa.array(["c"]).dictionary_encode()})
    out = wr.sql(
        "SELECT * FROM d UNION ALL SELECT * FROM n UNION ALL SELECT NULL AS a, NULL AS b FROM n", d=decimals, n=numbers
    )
    assert out.schema.types == [pa.decimal128(11, 1), pa.string()]
    assert [str(v) for v in out["n"].to_pylist()] == ["1.5", "None", "7.0", "None"]
    assert out["s"].to_pylist() == ["a", "b", "c", None]


def test_groups_of_both_zeros_have_the_key_zero():
    out = wr.sql("SELECT x, count(*) AS n FROM t GROUP BY x", t=TABLE)
    assert repr(out["x"].to_pylist()) == "[0.0, 0.5, None]"
    assert out["n"].to_pylist() == [2, 1, 1]


def test_names_in_another_case():
    out = wr.sql("SELECT Id, T.V + iD AS w FROM t WHERE ID > 1 ORDER BY V DESC, ID", t=TABLE)
    assert out.to_pydict() == {"Id": [3, 2, 4], "w": [33, 22, None]}
    both = pa.table({"a": [1], "A": [2]})
    assert wr.sql("SELECT A, a FROM t", t=both).to_pydict() == {"A": [2], "a": [1]}
    for names in (["bc", "bC"], ["bc", "bc"]):
        with pytest.raises(wr.SpecError, match=r"'Bc' is (unknown|ambiguous)"):
            wr.sql("SELECT Bc FROM t", t=pa.table([[1], [2]], names=names))


def test_a_frame_that_is_named_twice_is_read_once():
    read = []

    def batches():
        read.append(1)
        yield from TABLE.to_batches()

    reader = pa.RecordBatchReader.from_batches(TABLE.schema, batches())
    out = wr.sql("WITH a AS (SELECT id FROM t) SELECT id FROM a UNION ALL SELECT v FROM t", t=reader)
    assert not read
    assert out.read_all()["id"].to_pylist() == [1, 2, 3, 4, 10, 20, 30, None]
    assert read == [1]


def test_only_what_a_query_reads_is_read(tmp_path, monkeypatch):
    pq.write_table(TABLE, tmp_path / "t.parquet")
    frame = ds.dataset(tmp_path / "t.parquet")
    found = []
    for host in ProjectedHost.__subclasses__():

        def read(self, frame, names, original=host.read):
            found.append(names)
            return original(self, frame, names)

        monkeypatch.setattr(host, "read", read)
    queries = {
        "SELECT id FROM t WHERE v > 10 QUALIFY max(x) OVER () > 0 ORDER BY k": ["id", "k", "v", "x"],
        "SELECT ID FROM (SELECT *, sum(x) OVER (PARTITION BY k) AS s FROM t) WHERE V > 10": ["id", "v"],
        "SELECT s FROM (SELECT *, sum(x) OVER (PARTITION BY k) AS s FROM t)": ["k", "x"],
        "WITH a AS (SELECT * FROM t) SELECT id FROM a UNION ALL SELECT v FROM a": ["id", "v"],
        "SELECT id FROM (SELECT DISTINCT id, v FROM t)": ["id", "v"],
        "SELECT count(*) AS n FROM (SELECT * FROM t)": ["id"],
        "SELECT p FROM (SELECT max(v), k FROM t GROUP BY k) AS q(o, p)": ["k", "v"],
        "SELECT a FROM t AS x(a, b, c, d, e)": ["id"],
    }
    for query in queries:
        assert wr.sql(query, t=frame).to_pydict() == wr.sql(query, t=TABLE).to_pydict(), query
    assert found == list(queries.values())


JOINS = {"table": "t.join(u, keys=[...])", "polars": "t.join(u, on=[...])", "numpy": "t.merge(u, on=[...])"}


@pytest.mark.parametrize("kind", JOINS)
def test_a_join_is_refused_with_the_hosts_own_way(kind):
    frame = FRAMES[kind](TABLE)
    with pytest.raises(wr.UnsupportedError) as error:
        wr.sql("SELECT id FROM (SELECT * FROM t JOIN u ON t.id = u.id)", t=frame, u=frame)
    assert JOINS[kind] in str(error.value)


def test_frames_of_two_kinds():
    with pytest.raises(wr.SpecError, match="t is of the kind 'arrow' and u is of the kind 'polars'"):
        wr.sql("SELECT id FROM t UNION ALL SELECT id FROM u", t=TABLE, u=pl.DataFrame(TABLE))
    out = wr.sql("SELECT id FROM t UNION ALL SELECT id FROM u", t=TABLE.to_batches()[0], u=TABLE)
    assert isinstance(out, pa.Table)


TOP = [
    "SELECT k, t, id FROM f QUALIFY row_number() OVER (PARTITION BY k ORDER BY t, id) <= 3",
    "SELECT k, t, rank() OVER w AS r FROM f WINDOW w AS (PARTITION BY k ORDER BY t DESC) QUALIFY r < 4 ORDER BY ALL",
    "SELECT *, dense_rank() OVER (PARTITION BY k ORDER BY t) AS r FROM f QUALIFY 2 >= r AND id > 100",
    "SELECT id FROM f WHERE t > 50 QUALIFY row_number() OVER (ORDER BY -t, id) = 2",
    "SELECT id FROM f QUALIFY rank() OVER (ORDER BY s) BETWEEN 1 AND 2",
    "SELECT id, r FROM (SELECT *, row_number() OVER (PARTITION BY k ORDER BY t DESC, id) AS r FROM f) WHERE r <= 5",
    "SELECT id FROM (SELECT *, rank() OVER (PARTITION BY k ORDER BY x) AS r FROM f) WHERE r <= 2 AND id % 2 = 0",
]
ALL_ROWS = [
    # long texts are sorted
    "SELECT *, dense_rank() OVER (PARTITION BY k ORDER BY s, t) AS r FROM f QUALIFY 2 >= r AND id > 100",
    "SELECT id, r FROM (SELECT *, row_number() OVER (PARTITION BY s ORDER BY t, id) AS r FROM f) WHERE r <= 5",
    "SELECT id, sum(t) OVER (PARTITION BY k) AS s FROM f "
    "QUALIFY row_number() OVER (PARTITION BY k ORDER BY t, id) <= 3",
    "SELECT id FROM f QUALIFY row_number() OVER (ORDER BY t, id) <= 3 OR id = 7",
    "SELECT id, rank() OVER (ORDER BY t) AS r FROM f QUALIFY row_number() OVER (ORDER BY id) <= 3",
    "SELECT id FROM (SELECT *, row_number() OVER (ORDER BY t, id) AS r FROM f ORDER BY t DESC, id LIMIT 9) "
    "WHERE r <= 5",
    "WITH a AS (SELECT *, row_number() OVER (ORDER BY t, id) AS r FROM f) SELECT id FROM a WHERE r < 3 "
    "UNION ALL SELECT count(*) FROM a",
    "SELECT id FROM f QUALIFY row_number() OVER (ORDER BY t, id) <= 0",
    "SELECT r FROM (SELECT row_number() OVER (ORDER BY t, id) AS r, id AS i FROM f) AS q(i, r) WHERE r <= 5",
]


@pytest.mark.parametrize("kind", ["table", "polars", "pandas", "lazy", "reader"])
def test_first_rows_of_partitions(kind, monkeypatch):
    """As in DuckDB, whether or not the other rows are left out first."""
    duckdb = pytest.importorskip("duckdb")
    rng = random.Random(9)
    rows = 12_000
    table = pa.table(
        {
            "id": pa.array(range(rows), pa.int64()),
            "k": pa.array([rng.choice([*range(40), None]) for _ in range(rows)], pa.int64()),
            "t": pa.array([rng.randint(0, 3000) for _ in range(rows)], pa.int64()),
            "s": pa.array([rng.choice(["a", "a" * 40, "a" * 39 + "b", None]) for _ in range(rows)]),
            "x": pa.array([rng.choice([0.0, -1.5, 2.0, None]) for _ in range(rows)], pa.float64()),
        }
    )
    found = []

    def spy(*args, original=top_rows.top_rows):
        kept = original(*args)
        if kept is not None:
            found.append(kept)
        return kept

    for host in ("arrow", "pandas", "polars"):
        monkeypatch.setattr(f"windrow.hosts.{host}.top_rows", spy)
    connection = duckdb.connect()
    connection.execute("SET default_null_order = 'nulls_first_on_asc_last_on_desc'")
    connection.register("f", table)
    compared = 0
    for query in [*TOP, *ALL_ROWS]:
        found.clear()
        out = values(wr.sql(query, f=FRAMES[kind](table)))
        expected = connection.sql(query).fetchall()
        assert Counter(zip(*out.values(), strict=True)) == Counter(expected), query
        if kind != "lazy":
            assert len(found) == (query in TOP), query
        compared += len(expected)
    assert compared > 1000
