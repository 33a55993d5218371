"""Calls inside calls, and scalar expressions over calls: every kind of frame, by every way of writing."""

import pickle

import pyarrow as pa
import pytest

import windrow as wr

pytest.importorskip("polars")
import polars as pl

table = pa.table({"id": [1, 2, 3, 4, 5], "k": ["a", "a", "b", "b", "b"], "v": [10, None, 30, 25, 31]})
by_id = wr.window(order_by="id")
ITEMS = {
    "step": "v - lag(v) OVER (ORDER BY id)",
    "before": "lag(v) OVER (ORDER BY id)",
    "nested": "sum(row_number() OVER (ORDER BY id)) OVER (ORDER BY id)",
    "built": wr.sum(wr.row_number().over(by_id)).over(by_id),
    "key": wr.count().over(wr.window(wr.expr("row_number() OVER (ORDER BY id) % 2"))),
    "best": "rank() OVER (ORDER BY coalesce(v - lag(v) OVER (ORDER BY id), 0) DESC)",
    "share": "sum(v) FILTER (WHERE v >= max(v) OVER (PARTITION BY k)) OVER () + 0 * count(*) OVER (PARTITION BY k)",
    "case": "CASE WHEN row_number() OVER (ORDER BY id) = 1 THEN 'first' ELSE k END",
    "deep": "max(sum(row_number() OVER (ORDER BY id)) OVER (ORDER BY id) - id) OVER (PARTITION BY k) * 2",
}
EXPECTED = {
    "step": [None, None, None, -5, 6],
    "before": [None, 10, None, 30, 25],
    "nested": [1, 3, 6, 10, 15],
    "built": [1, 3, 6, 10, 15],
    "key": [3, 2, 3, 2, 3],
    "best": [2, 2, 2, 5, 1],
    "share": [41] * 5,
    "case": ["first", "a", "b", "b", "b"],
    "deep": [2, 2, 20, 20, 20],
}
STREAMABLE = [n for n in ITEMS if n not in ("key", "best", "share", "deep")]


class TestHosts:
    def test_table(self):
        out = wr.with_columns(table, ITEMS)
        assert out.drop_columns(table.column_names).to_pydict() == EXPECTED
        assert out.select(table.column_names) == table

    def test_batch(self):
        out = wr.select(table.to_batches()[0], ITEMS)
        assert isinstance(out, pa.RecordBatch)
        assert out.to_pydict() == EXPECTED

    @pytest.mark.parametrize("lazy", [False, True])
    def test_polars(self, lazy):
        frame = pl.DataFrame(table)
        out = wr.select(frame.lazy() if lazy else frame, ITEMS)
        assert isinstance(out, pl.LazyFrame if lazy else pl.DataFrame)
        schema = out.collect_schema()
        collected = out.lazy().collect()
        assert collected.to_dict(as_series=False) == EXPECTED
        assert collected.schema == schema

    def test_pandas(self):
        pd = pytest.importorskip("pandas")
        frame = table.to_pandas(types_mapper=pd.ArrowDtype).set_axis(list("vwxyz"))
        out = wr.select(frame, ITEMS)
        assert list(out.index) == list("vwxyz")
        assert all(isinstance(t, pd.ArrowDtype) for t in out.dtypes)
        assert pa.Table.from_pandas(out, preserve_index=False).to_pydict() == EXPECTED

    def test_sorted_reader(self):
        out = wr.select(table.to_reader(2), ITEMS, sort=True)
        assert isinstance(out, pa.RecordBatchReader)
        schema = out.schema
        result = out.read_all()
        assert (result.schema, result.to_pydict()) == (schema, EXPECTED)

    def test_streaming_reader(self):
        out = wr.select(table.to_reader(2), {n: ITEMS[n] for n in STREAMABLE})
        assert out.read_all().to_pydict() == {n: EXPECTED[n] for n in STREAMABLE}

    def test_operator(self):
        op = pickle.loads(pickle.dumps(wr.operator(ITEMS, table.schema, sort=True)))
        result = pa.Table.from_batches(op(table.to_batches(2)))
        assert result.schema == op.schema
        assert result.drop_columns(table.column_names).to_pydict() == EXPECTED
        assert op.new_fields == [f for f in op.schema if f.name in ITEMS]
        assert "v - lag(v) OVER (ORDER BY id) AS step" in repr(op)

    def test_operator_without_rows(self):
        op = wr.operator({n: ITEMS[n] for n in STREAMABLE}, table.schema)
        assert list(op([])) == []
        assert pa.Table.from_batches(op([table.to_batches()[0].slice(0, 0)]), op.schema).num_rows == 0

    def test_in_order(self):
        out = wr.select(table, {n: ITEMS[n] for n in STREAMABLE}, sort=False)
        assert out.to_pydict() == {n: EXPECTED[n] for n in STREAMABLE}
        with pytest.raises(wr.OrderError):
            wr.select(table.take([1, 0]), ITEMS["nested"], sort=False)

    def test_empty(self):
        out = wr.with_columns(table.slice(0, 0), ITEMS)
        assert out.num_rows == 0
        assert out.schema == wr.with_columns(table, ITEMS).schema


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("upper(rank() OVER (ORDER BY v))", r"upper\(a window call\): upper\(int\) is not among the scalars"),
        ("md5(k || rank() OVER (ORDER BY v))", r"md5\(k \|\| a window call\): md5\(string\) is not.*compute it before"),
        ("initcap(lag(k) OVER (ORDER BY v))", r"initcap\(a window call\): initcap\(string\) is not among"),
    ],
)
def test_messages_speak_of_what_was_written(text, says):
    with pytest.raises(wr.WindrowError, match=says) as raised:
        wr.with_columns(table, text)
    assert "__windrow" not in str(raised.value)


def test_mistakes_are_found_before_any_row_is_read():
    for frame in (table, pl.DataFrame(table), pl.DataFrame(table).lazy(), table.to_reader()):
        with pytest.raises(wr.SpecError, match="vv"):
            wr.with_columns(frame, "vv - lag(v) OVER (ORDER BY id)")
        with pytest.raises(wr.SpecError, match="column 'vv' is unknown"):
            wr.with_columns(frame, "v - lag(vv) OVER (ORDER BY id)")


@pytest.mark.filterwarnings("ignore:No Partition Defined")
class TestSpark:
    """One job each: what Spark itself answers, with its types."""

    @pytest.fixture
    def frame(self, oracle_spark):
        rows = [tuple(r.values()) for r in table.to_pylist()]
        return oracle_spark.createDataFrame(rows, "id bigint, k string, v bigint")

    def test_as_spark_itself(self, frame):
        # Spark refuses a window in FILTER
        items = {n: t for n, t in ITEMS.items() if isinstance(t, str) and n != "share"}
        items["quotient"] = "v / count(*) OVER (PARTITION BY k)"
        theirs = frame.selectExpr("*", *[f"{text} AS {name}" for name, text in items.items()])
        ours = wr.with_columns(frame, items)
        assert ours.schema == theirs.schema
        assert sorted(map(tuple, ours.collect())) == sorted(map(tuple, theirs.collect()))

    def test_builder_and_columns(self, frame):
        import pyspark.sql.functions as F  # noqa: N812

        w = wr.window("k", "id")
        items = {
            "built": wr.sum(wr.row_number().over(w)).over(by_id),
            "column": wr.sum(wr.lag(frame.v * 2).over(w)).over(wr.window(frame.k, F.desc("id"))),
            "later": wr.max(F.col("id") + frame.id).over(wr.window(wr.rank().over(w))),
            "text": F.expr("id - first(id) OVER (PARTITION BY k ORDER BY id)"),
            "filtered": wr.count().filter(wr.expr("v = max(v) OVER (PARTITION BY k)")).over(wr.window("k")),
        }
        out = wr.select(frame, "id", items).orderBy("id").toArrow().to_pydict()
        assert out == {
            "id": [1, 2, 3, 4, 5],
            "built": [1, 3, 4, 6, 9],
            "column": [20, 20, 110, 110, 50],
            "later": [6, 8, 6, 8, 10],
            "text": [0, 1, 0, 1, 2],
            "filtered": [1] * 5,
        }

    def test_unread_columns_are_not_transferred(self, frame):
        wide = frame.selectExpr("*", "id AS unread", "struct(id, v) AS `s.t`")
        out = wr.select(wide, "id", "`s.t`.v - lag(v) OVER (PARTITION BY k ORDER BY id) AS d")
        plan = out._jdf.queryExecution().optimizedPlan().toString()
        assert "unread" not in plan
        assert out.orderBy("id").toArrow()["d"].to_pylist() == [None, None, None, -5, 6]

    def test_calls_of_one_level_share_an_exchange(self, frame):
        items = [
            "v - lag(v) OVER (PARTITION BY k ORDER BY id) AS a",
            "rank() OVER (PARTITION BY k ORDER BY v) + sum(v) OVER (PARTITION BY k) AS b",
        ]
        plan = wr.explain(frame, *items)
        [stage] = [s for s in plan.steps if s.startswith("stage")]
        assert stage.startswith("stage 1: rows of equal k in one task, then windrow computes ")
        assert all(call in stage for call in ("lag(v)", "rank()", "sum(v)"))
        assert plan.steps[-1] == f"Spark evaluates {items[1].removesuffix(' AS b')} into b last"

    def test_map_in_arrow(self, frame):
        items = {n: ITEMS[n] for n in ("step", "before", "deep", "case")}
        op = wr.operator(items, frame)
        out = frame.coalesce(1).mapInArrow(op, op.spark_schema)
        assert out.schema["id"] == frame.schema["id"]
        assert out.orderBy("id").toArrow().drop_columns(["id", "k", "v"]).to_pydict() == {n: EXPECTED[n] for n in items}
