"""The same question to every kind of frame: same kind out, same answer, rows in the order they came."""

import decimal
import gc

import pyarrow as pa
import pytest

import windrow as wr

# The metrics of Spark's documentation: (id, device, level).
ROWS = {"id": [0, 1, 2, 3, 4, 5, 6], "device": [0, 0, 5, 0, 0, 5, 5], "level": [0, 1, 2, 3, 1, 3, 0]}
RANGE = [0, 1, 2, 3, 4, 3, 3]  # sum(level) by device, ordered by id, RANGE 1 PRECEDING .. CURRENT ROW
RUNNING = [0, 1, 2, 4, 5, 5, 5]
TOTAL = [5, 5, 5, 5, 5, 5, 5]

table = pa.table(ROWS)
near = wr.window("device", "id", range=(-1, 0))
CALLS = {
    "near": wr.sum("level").over(near),
    "running": wr.sum("level").over(wr.window("device", "id")),
    "total": "sum(level) OVER (PARTITION BY device)",
}
EXPECTED = {**ROWS, "near": RANGE, "running": RUNNING, "total": TOTAL}


class Capsule:
    """An object that is nothing but a C stream."""

    def __init__(self, table):
        self.table = table

    def __arrow_c_stream__(self, requested_schema=None):
        return self.table.__arrow_c_stream__(requested_schema)


class TestArrow:
    def test_table(self):
        out = wr.with_columns(table, CALLS)
        assert isinstance(out, pa.Table)
        assert out.to_pydict() == EXPECTED

    def test_record_batch(self):
        out = wr.with_columns(table.to_batches()[0], CALLS)
        assert isinstance(out, pa.RecordBatch)
        assert out.to_pydict() == EXPECTED

    def test_stream_object(self):
        out = wr.with_columns(Capsule(table), CALLS)
        assert isinstance(out, pa.Table)
        assert out.to_pydict() == EXPECTED

    def test_chunks(self):
        chunked = pa.concat_tables([table.slice(0, 2), table.slice(2, 0), table.slice(2, 4), table.slice(6)])
        assert wr.with_columns(chunked, CALLS).to_pydict() == EXPECTED

    def test_slices_with_offsets(self):
        padded = pa.concat_tables([table, table, table]).combine_chunks().slice(7, 7)
        assert wr.with_columns(padded, CALLS).to_pydict() == EXPECTED

    def test_passthrough_keeps_its_buffers(self):
        out = wr.with_columns(table, CALLS)
        for name in table.column_names:
            before = [c.buffers()[1].address for c in table[name].chunks]
            assert [c.buffers()[1].address for c in out[name].chunks] == before

    def test_reader_streams(self):
        ordered = table.sort_by([("device", "ascending"), ("id", "ascending")])
        out = wr.with_columns(pa.RecordBatchReader.from_batches(ordered.schema, ordered.to_batches(2)), CALLS)
        assert isinstance(out, pa.RecordBatchReader)
        assert out.schema.names == list(EXPECTED)
        result = out.read_all()
        expected = pa.table(EXPECTED).sort_by([("device", "ascending"), ("id", "ascending")])
        assert result.to_pydict() == expected.to_pydict()

    def test_reader_out_of_order(self):
        out = wr.with_columns(table.to_reader(2), CALLS)
        with pytest.raises(wr.OrderError, match="row"):
            out.read_all()

    def test_reader_sorts_when_asked(self):
        assert wr.with_columns(table.to_reader(2), CALLS, sort=True).read_all().to_pydict() == EXPECTED

    def test_sort_false_checks_a_table(self):
        ordered = table.sort_by([("device", "ascending"), ("id", "ascending")])
        out = wr.with_columns(ordered, wr.sum("level").over(near).alias("level"), sort=False)
        assert out["level"].to_pylist() == [0, 1, 3, 4, 2, 3, 3]
        with pytest.raises(wr.OrderError):
            wr.with_columns(table, wr.sum("level").over(near).alias("level"), sort=False)

    def test_metadata_survives(self):
        marked = table.replace_schema_metadata({"who": "me"})
        assert wr.with_columns(marked, CALLS).schema.metadata == {b"who": b"me"}

    def test_no_rows(self):
        out = wr.with_columns(table.slice(0, 0), CALLS)
        assert out.num_rows == 0
        assert out.schema == wr.with_columns(table, CALLS).schema

    def test_no_columns_read(self):
        assert wr.with_columns(table, n=wr.count().over())["n"].to_pylist() == [7] * 7
        empty = wr.with_columns(pa.table({}), n=wr.count().over())
        assert (empty.num_rows, empty.schema.names) == (0, ["n"])

    def test_nullability(self):
        schema = wr.with_columns(table, n=wr.count().over(), s=wr.sum("level").over()).schema
        assert not schema.field("n").nullable
        assert schema.field("s").nullable


class TestNames:
    def test_a_column_is_replaced_in_its_place(self):
        out = wr.with_columns(table, wr.sum("level").over(near).alias("device"))
        assert out.to_pydict() == {**ROWS, "device": RANGE}

    def test_dots_spaces_and_backticks(self):
        odd = table.rename_columns(["a.id", "the device", "le`vel"])
        w = wr.window("the device", "a.id", range=(-1, 0))
        assert wr.select(odd, s=wr.sum("le`vel").over(w))["s"].to_pylist() == RANGE
        sql = "sum(`le``vel`) OVER (PARTITION BY `the device` ORDER BY `a.id` RANGE 1 PRECEDING) AS s"
        assert wr.select(odd, sql)["s"].to_pylist() == RANGE

    def test_duplicates_pass_through(self):
        double = pa.table([table["id"], table["device"], table["level"], table["id"]], ["id", "device", "level", "id"])
        out = wr.with_columns(double, wr.sum("level").over(wr.window("device")).alias("s"))
        assert out.column_names == ["id", "device", "level", "id", "s"]
        with pytest.raises(wr.SpecError, match="ambiguous"):
            wr.with_columns(double, wr.sum("id").over())

    def test_unnamed_calls_are_named_by_their_sql(self):
        out = wr.with_columns(table, wr.sum("level").over(wr.window("device")))
        assert out.column_names[-1] == "sum(level) OVER (PARTITION BY device)"

    def test_two_outputs_of_one_name(self):
        with pytest.raises(wr.SpecError, match="two outputs"):
            wr.with_columns(table, {"s": wr.sum("level").over()}, s=wr.sum("id").over())


class TestSelect:
    def test_columns_and_calls(self):
        out = wr.select(table, "id", wr.sum("level").over(near).alias("s"), "device")
        assert out.to_pydict() == {"id": ROWS["id"], "s": RANGE, "device": ROWS["device"]}

    def test_star(self):
        assert wr.select(table, "*", n=wr.count().over()).column_names == ["id", "device", "level", "n"]

    def test_unknown(self):
        with pytest.raises(wr.SpecError, match="did you mean 'device'"):
            wr.select(table, "devise")

    def test_reader(self):
        ordered = table.sort_by([("device", "ascending"), ("id", "ascending")])
        out = wr.select(ordered.to_reader(3), "id", wr.sum("level").over(near).alias("s"))
        assert out.read_all().to_pydict() == {"id": [0, 1, 3, 4, 2, 5, 6], "s": [0, 1, 3, 4, 2, 3, 3]}
        assert wr.select(ordered.to_reader(3), "id").read_all().to_pydict() == {"id": [0, 1, 3, 4, 2, 5, 6]}


class TestErrors:
    @pytest.mark.parametrize(
        ("call", "says"),
        [
            (wr.sum("levle").over(near), r"sum\(levle\) OVER .*'levle' is unknown; did you mean 'level'"),
            (wr.sum("level"), "no window"),
            ("sum(levle) OVER ()", "did you mean 'level'"),
            (wr.sum(wr.expr("levle + 1")).over(), "did you mean 'level'"),
            (5, "is not a window call"),
        ],
    )
    def test_said_before_any_row_is_read(self, call, says):
        with pytest.raises(wr.SpecError, match=says):
            wr.with_columns(table.slice(0, 0), call)

    def test_no_frame(self):
        with pytest.raises(wr.SpecError, match="list is not a frame"):
            wr.with_columns([1, 2], wr.count().over())

    def test_unknown_function(self):
        with pytest.raises(wr.SpecError, match="summ"):
            wr.with_columns(table, "summ(level) OVER ()")


class TestPolars:
    pl = pytest.importorskip("polars")

    def frame(self):
        return self.pl.DataFrame(ROWS)

    def test_frame(self):
        out = wr.with_columns(self.frame(), CALLS)
        assert isinstance(out, self.pl.DataFrame)
        assert out.to_dict(as_series=False) == EXPECTED

    def test_lazy_frame(self):
        lazy = wr.with_columns(self.frame().lazy(), CALLS)
        assert isinstance(lazy, self.pl.LazyFrame)
        assert lazy.collect_schema() == wr.with_columns(self.frame(), CALLS).schema
        assert lazy.collect().to_dict(as_series=False) == EXPECTED

    def test_lazy_frame_is_lazy(self):
        def fail(frame):
            raise AssertionError("collected too early")

        broken = self.frame().lazy().map_batches(fail, schema=self.frame().schema)
        lazy = wr.with_columns(broken, CALLS)
        with pytest.raises(Exception, match="collected too early"):
            lazy.collect()
        with pytest.raises(wr.SpecError, match="unknown"):
            wr.with_columns(broken, wr.sum("nothing").over())

    def test_filters_stay_behind_the_window(self):
        lazy = wr.with_columns(self.frame().lazy(), CALLS).filter(self.pl.col("id") == 6).select("running", "total")
        assert lazy.collect().rows() == [(5, 5)]
        assert wr.with_columns(self.frame().lazy(), CALLS).tail(1).collect()["running"].to_list() == [5]

    def test_expressions(self):
        col = self.pl.col
        out = wr.select(
            self.frame(),
            a=wr.sum(col("level") * 2).over(wr.window(col("device") > 0)),
            b=wr.sum("level").filter(col("id") > 3).over(),
            c=wr.sum(wr.expr("level * 2")).over(wr.window(wr.expr("device > 0"))),
        )
        assert out["a"].to_list() == out["c"].to_list() == [10] * 7
        assert out["b"].to_list() == [4] * 7
        assert out.columns == ["a", "b", "c"]

    def test_lazy_expressions(self):
        lazy = wr.select(self.frame().lazy(), a=wr.sum(self.pl.col("level") * 2).over())
        assert lazy.collect()["a"].to_list() == [20] * 7

    def test_types_stay_polars_own(self):
        pl = self.pl
        frame = pl.DataFrame(
            {
                "s": pl.Series(["b", "a", None]),
                "c": pl.Series(["b", "a", None], dtype=pl.Categorical),
                "e": pl.Series(["b", "a", None], dtype=pl.Enum(["b", "a"])),
                "d": pl.Series([decimal.Decimal("1.50"), None, decimal.Decimal("2.25")]),
                "t": pl.Series([1, 2, 3]).cast(pl.Datetime("us", "Europe/Berlin")),
                "b": pl.Series([b"x", None, b"y"]),
            }
        )
        w = wr.window(order_by=wr.expr("1"), rows=(None, None))
        calls = {f"first_{c}": wr.first_value(c).over(w) for c in frame.columns}
        out = wr.select(frame, calls)
        assert list(out.schema.values()) == list(frame.schema.values())
        assert out.row(0) == frame.row(0)
        assert wr.select(frame.lazy(), calls).collect_schema() == out.schema

    def test_enums_are_ordered_by_their_categories(self):
        levels = self.pl.Enum(["low", "high", "extreme"])
        frame = self.pl.DataFrame({"e": self.pl.Series(["high", "extreme", "low", None], dtype=levels)})
        calls = {
            "r": wr.rank().over(wr.window(order_by="e")),
            "least": wr.min("e").over(),
            "most": wr.max("e").over(wr.window(order_by="e")),
        }
        out = wr.with_columns(frame, calls)
        assert out["r"].to_list() == [3, 4, 2, 1]
        assert out["least"].to_list() == ["low"] * 4
        assert out["most"].to_list() == ["high", "extreme", "low", None]
        assert out.schema["most"] == levels
        assert wr.with_columns(frame.lazy(), calls).collect_schema() == out.schema
        with pytest.raises(wr.SpecError, match=r"rank\(\) OVER \(ORDER BY e ROWS"):
            wr.with_columns(frame, wr.rank().over(wr.window(order_by="e", rows=(0, 1))))

    def test_empty(self):
        out = wr.with_columns(self.frame().clear(), CALLS)
        assert out.is_empty()
        assert out.schema == wr.with_columns(self.frame(), CALLS).schema

    def test_a_spark_column_is_refused(self):
        pytest.importorskip("pyspark")
        with pytest.raises(wr.SpecError, match="Polars expression is not a window call"):
            wr.with_columns(self.frame(), self.pl.col("id"))


class TestPandas:
    pd = pytest.importorskip("pandas")

    def frame(self):
        return self.pd.DataFrame(ROWS, index=list("gfedcba"))

    def test_frame(self):
        out = wr.with_columns(self.frame(), CALLS)
        assert isinstance(out, self.pd.DataFrame)
        assert out.to_dict("list") == EXPECTED
        assert list(out.index) == list("gfedcba")
        assert list(out.dtypes.astype(str)) == ["int64"] * 6

    @pytest.mark.parametrize("odd", [None, float("nan"), 7, True, "unique"])
    def test_text_among_objects_that_repeats(self, odd):
        """Keys go by their hashes; what is no text, or hardly repeats, does not."""
        texts = [f"key {i * 7919 % 50}" for i in range(30_000)]
        if odd == "unique":
            texts = [f"{text} {i}" for i, text in enumerate(texts)]
        elif odd is not None:
            texts[20_000] = odd
        frame = self.pd.DataFrame({"k": self.pd.Series(texts, dtype=object), "x": range(30_000)})
        calls = {
            "s": wr.sum("x").over(wr.window("k", "x")),
            "r": wr.rank().over(wr.window(order_by="k")),
            "most": wr.max("k").over(wr.window("k")),
            "t": wr.sum("x").over(wr.window("k")),
        }
        if odd in (7, True) and odd != "unique":
            with pytest.raises(wr.DataError, match="'k'"):
                wr.with_columns(frame, calls)
            return
        known = frame.fillna({"k": "nothing"}) if odd != odd else frame
        for subset in (calls, {n: c for n, c in calls.items() if n != "most"}):
            out = wr.with_columns(frame, subset)
            assert out["k"].dtype == object
            assert (out["s"] == known.groupby("k")["x"].cumsum()).all()
            assert (out["t"] == known.groupby("k")["x"].transform("sum")).all()
            expected = wr.with_columns(pa.Table.from_pandas(frame), subset).to_pandas()
            for name in subset:
                assert (out[name].astype(object).fillna("") == expected[name].astype(object).fillna("")).all()

    def test_the_frame_given_is_left_alone(self):
        frame = self.frame()
        before = frame.copy()
        wr.with_columns(frame, wr.sum("level").over().alias("level"))
        self.pd.testing.assert_frame_equal(frame, before)

    def test_missing_integers_are_nan(self):
        out = wr.with_columns(self.frame(), before=wr.lag("level").over(wr.window("device", "id")))
        assert str(out["before"].dtype) == "float64"
        assert out["before"].isna().tolist() == [True, False, True, False, False, False, False]

    @pytest.mark.parametrize(("dtype", "result"), [("Int64", "Int64"), ("int64[pyarrow]", "int64[pyarrow]")])
    def test_nullable_and_arrow_columns_stay_whole(self, dtype, result):
        frame = self.frame().astype({"level": dtype})
        out = wr.with_columns(frame, before=wr.lag("level").over(wr.window("device", "id")))
        assert str(out["before"].dtype) == result
        assert out["before"].isna().sum() == 2

    def test_nan_is_missing(self):
        frame = self.pd.DataFrame({"x": [1.0, float("nan"), 3.0]})
        assert wr.with_columns(frame, s=wr.sum("x").over(), n=wr.count("x").over())["s"].tolist() == [4.0] * 3

    def test_text_and_times(self):
        frame = self.pd.DataFrame({"s": ["b", "a"], "t": self.pd.to_datetime(["2013-01-02", "2013-01-01"])})
        out = wr.with_columns(frame, low=wr.min("s").over(), early=wr.min("t").over())
        assert out["low"].dtype == frame["s"].dtype
        assert out["early"].dtype.kind == "M"
        assert out["early"].tolist() == [self.pd.Timestamp("2013-01-01")] * 2

    def test_replaced_in_place_and_selected(self):
        out = wr.with_columns(self.frame(), wr.sum("level").over(near).alias("device"))
        assert out.to_dict("list") == {**ROWS, "device": RANGE}
        assert list(wr.select(self.frame(), wr.count().over().alias("n"), "id").columns) == ["n", "id"]

    def test_labels_that_are_no_names_pass_through(self):
        frame = self.frame()
        frame[7] = 1
        assert list(wr.with_columns(frame, n=wr.count().over()).columns) == ["id", "device", "level", 7, "n"]

    def test_mixed_columns_are_an_error_that_names_them(self):
        frame = self.pd.DataFrame({"x": [1, "a"], "y": [1, 2]}).astype({"x": object})
        assert wr.with_columns(frame, n=wr.sum("y").over())["n"].tolist() == [3, 3]
        with pytest.raises(wr.DataError, match="column 'x'"):
            wr.with_columns(frame, n=wr.count("x").over())


class TestDuckDB:
    @pytest.fixture
    def connection(self):
        connection = pytest.importorskip("duckdb").connect()
        connection.register("metrics", table)
        return connection

    def test_relations_give_relations(self, connection):
        out = wr.with_columns(connection.sql("SELECT * FROM metrics ORDER BY id"), CALLS)
        gc.collect()
        assert out.to_arrow_table().to_pydict() == EXPECTED
        assert out.filter("id = 0").project("id, level").fetchall() == [(0, 0)]
        joined = connection.sql("SELECT count(*) FROM out JOIN metrics USING (id)")
        assert joined.fetchall() == [(len(ROWS["id"]),)]
        chained = wr.select(out, "id", wr.count().over().alias("n")).order("id").limit(1)
        assert chained.fetchall() == [(0, len(ROWS["id"]))]
        assert connection.sql("SELECT count(*) FROM duckdb_views() WHERE view_name LIKE '%windrow%'").fetchall() == [
            (0,)
        ]

    def test_tables_of_a_database_are_not_taken_for_results(self, connection):
        for name in ("result", "frame", "windrow_result", "relation"):
            connection.execute(f"CREATE TABLE {name} AS SELECT -1 AS n")
        out = wr.select(connection.sql("SELECT * FROM metrics"), wr.count().over().alias("n"))
        assert out.fetchall() == [(len(ROWS["id"]),)] * len(ROWS["id"])

    def test_a_query_of_several_selects_gives_a_relation(self, connection):
        query = "WITH c AS (SELECT id, row_number() OVER (ORDER BY id) AS n FROM f) SELECT * FROM c WHERE n > 1"
        out = wr.sql(query, f=connection.sql("SELECT * FROM metrics"))
        assert out.aggregate("count(*)").fetchall() == [(len(ROWS["id"]) - 1,)]

    def test_where_duckdb_finds_no_variables_is_an_error(self, connection):
        relation = connection.sql("SELECT 1 AS x")
        connection.execute("SET python_enable_replacements = false")
        with pytest.raises(wr.DataError, match="to_arrow_table"):
            wr.with_columns(relation, n=wr.count().over())


def test_importing_windrow_imports_no_host():
    import subprocess
    import sys

    code = "import sys, windrow; print(sorted({'polars', 'pandas', 'pyspark', 'sqlglot'} & set(sys.modules)))"
    assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == "[]"
