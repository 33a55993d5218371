"""What windrow would read as something else is refused by name: ordered categories, extension types, other rows."""

import datetime as dt
import itertools
import random
import uuid

import pyarrow as pa
import pytest

import windrow as wr

pl = pytest.importorskip("polars")
pd = pytest.importorskip("pandas")

POLARS = tuple(map(int, pl.__version__.split(".")[:2]))
LEVELS = ["waiting", "on the way", "delivered"]


def frames(rng, rows=12):
    """Give the same ordered categories on each host."""
    values = [rng.choice(LEVELS) for _ in range(rows)]
    indices = pa.array([LEVELS.index(v) for v in values], pa.int8())
    yield pd.DataFrame({"e": pd.Categorical(values, categories=LEVELS, ordered=True), "v": range(rows)})
    yield pa.table({"e": pa.DictionaryArray.from_arrays(indices, LEVELS, ordered=True), "v": range(rows)})
    yield pl.DataFrame({"e": pl.Series(values, dtype=pl.Enum(LEVELS)), "v": range(rows)})


COMPARING = [
    "listagg(DISTINCT e, ',') OVER ()",
    "sum(v) OVER (ORDER BY e RANGE 1 PRECEDING)",
    "greatest(e, 'x') || (count(*) OVER ())",
    "CASE WHEN e > 'waiting' THEN count(*) OVER () END",
    "CASE WHEN e BETWEEN 'a' AND 'b' THEN count(*) OVER () END",
]
STREAMED = ["max_by(v, e) OVER ()", "mode(e) OVER ()", "collect_list(v ORDER BY e) OVER ()", "max(e) OVER ()"]
STREAMED += ["rank() OVER (ORDER BY e)", "max(lag(e) OVER (ORDER BY v)) OVER ()", "rank() OVER (ORDER BY (e))"]


@pytest.mark.parametrize("seed", range(3))
def test_ordered_categories_are_not_compared_as_text(seed):
    refused = 0
    for frame in frames(random.Random(seed)):
        for text in COMPARING:
            with pytest.raises(wr.UnsupportedError, match="ordered categories"):
                wr.with_columns(frame, y=text)
            refused += 1
        for text in COMPARING + STREAMED:
            with pytest.raises(wr.UnsupportedError, match="ordered categories"):
                wr.operator({"y": text}, pa.table(frame).schema, sort=True)
            refused += 1
    assert refused == 6 * len(COMPARING) + 3 * len(STREAMED)


def made_of_categories(rng, depth):
    """Give an expression whose value is the category, by ways that leave its type text."""
    text = "e"
    for _ in range(depth):
        text = rng.choice(
            [
                "coalesce({}, 'waiting')",
                "nvl('waiting', {})",
                "if(v > 3, {}, 'waiting')",
                "iff(v > 3, 'delivered', {})",
                "nvl2({0}, {0}, 'waiting')",
                "nullif({}, 'on the way')",
                "CASE v WHEN 1 THEN 'waiting' ELSE {} END",
                "CASE WHEN v > 3 THEN {} END",
                "({})",
            ]
        ).format(text)
    return text


@pytest.mark.parametrize("seed", range(3))
def test_the_order_of_categories_is_not_lost_in_expressions(seed):
    rng = random.Random(seed)
    refused = answered = 0
    for frame in frames(rng):
        for _ in range(8):
            made = "e"
            while made.strip("()") == "e":  # which is the column itself
                made = made_of_categories(rng, rng.randrange(1, 4))
            comparing = rng.choice(
                [
                    "max({}) OVER ()",
                    "min({}) OVER (PARTITION BY v)",
                    "max_by(v, {}) OVER ()",
                    "mode({}) OVER ()",
                    "collect_set({}) OVER ()",
                    "collect_list(DISTINCT {}) OVER ()",
                    "row_number() OVER (ORDER BY v, {})",
                    "sum(v) OVER (ORDER BY {} DESC)",
                    "collect_list(v ORDER BY {}) OVER ()",
                ]
            )
            with pytest.raises(wr.UnsupportedError, match="compare the ordered categories of"):
                wr.with_columns(frame, y=comparing.format(made))
            with pytest.raises(wr.UnsupportedError, match="compare the ordered categories of"):
                wr.sql(f"SELECT v FROM t ORDER BY {made}", t=frame)
            if not isinstance(frame, pl.DataFrame):
                with pytest.raises(wr.UnsupportedError, match="compare the ordered categories of"):
                    wr.operator([comparing.format(made) + " AS y"], pa.table(frame).schema, sort=True)
            refused += 2
            # a cast says that the text is meant
            first = f"first({made}) OVER (PARTITION BY v)"
            out = wr.with_columns(
                frame,
                t=first,
                y=f"max(cast({made} AS string)) OVER ()",
                n=f"count({made}) OVER ()",
                d=f"count(DISTINCT {made}) OVER ()",
            )
            text, greatest, n = (list(pa.array(out[c]).to_pylist()) for c in ("t", "y", "n"))
            texts = [t for t in text if t is not None]
            assert greatest == [max(texts, default=None)] * 12
            assert n == [len(texts)] * 12
            assert list(pa.array(out["d"]).to_pylist()) == [len(set(texts))] * 12
            answered += 1
        by_polars = [pl.col("e"), pl.col("e").fill_null("waiting"), pl.when(pl.col("v") > 3).then(pl.col("e"))]
        for expression in by_polars:
            made = wr.with_columns(frame, y=wr.max(expression).over(), n=wr.collect_set(expression).over())
            values = list(made["n"][0].as_py() if isinstance(frame, pa.Table) else made["n"][0])
            column = made["y"].to_pylist() if isinstance(frame, pa.Table) else list(made["y"])
            assert column == [max(values, key=LEVELS.index)] * 12
            assert values == sorted(values, key=LEVELS.index)
            answered += 1
    assert refused == 3 * 16
    assert answered == 24 + 9


def test_categories_within_structs_and_lists_are_not_compared_as_text():
    frame = pl.DataFrame({"v": [1, 2], "e": pl.Series(["waiting", "delivered"], dtype=pl.Enum(LEVELS))})
    frame = frame.with_columns(s=pl.struct("e"), l=pl.concat_list("e"))
    for text in ("max(s.e) OVER ()", "max(l[0]) OVER ()", "max(get(l, 0)) OVER ()", "sum(v) OVER (ORDER BY s.e)",
                 "max(if(v > 0, s.e, '')) OVER ()", "row_number() OVER (ORDER BY if(v > 0, s, s))"):  # fmt: skip
        for frame_ in (frame, frame.to_arrow()):
            # Polars before 1.44 takes no item of lists of categories that come from Arrow
            panics = POLARS < (1, 44) and "(l" in text and frame_ is not frame
            error, says = (wr.DataError, "Polars cannot evaluate") if panics else (wr.UnsupportedError, "ordered categ")
            with pytest.raises(error, match=says):
                wr.with_columns(frame_, y=text)


def test_what_compares_no_categories_stays():
    for frame in frames(random.Random(1)):
        out = wr.sql(
            "SELECT e, v, lag(e) OVER (ORDER BY v) AS p, count(*) OVER (PARTITION BY e) AS n, "
            "count(DISTINCT e) OVER () AS k FROM t WHERE e = 'waiting' OR e IN ('delivered', 'on the way')",
            t=frame,
        )
        rows = out.rows() if isinstance(out, pl.DataFrame) else list(pa.table(out).to_pandas().itertuples(index=False))
        assert len(rows) == 12
        values = [r[0] for r in rows]
        assert [r[2] for r in rows][1:] == values[:-1]
        assert [r[3] for r in rows] == [values.count(v) for v in values]


def test_an_enum_is_ordered_by_position_where_polars_knows_it():
    frame = list(frames(random.Random(2)))[2]
    expected = max(frame["e"].to_list(), key=LEVELS.index)
    out = wr.with_columns(frame, m=wr.max("e").over(), r=wr.rank().over(wr.window(order_by=pl.col("e").to_physical())))
    assert out["m"].to_list() == [expected] * 12
    positions = [LEVELS.index(v) for v in frame["e"]]
    assert out["r"].to_list() == [1 + sum(p < q for p in positions) for q in positions]


def test_extension_types_are_refused_and_pass_through():
    frame = pd.DataFrame(
        {
            "p": pd.period_range("2024-01", periods=3, freq="M"),
            "i": pd.arrays.IntervalArray.from_breaks([0, 1, 2, 3]),
            "v": [1, 2, 3],
        }
    )
    table = pa.table(
        {"p": pa.array([uuid.UUID(int=i).bytes for i in range(3)], pa.uuid()), "v": [1, 2, 3]},
    )
    nested = table.set_column(0, "p", pa.ListArray.from_arrays(pa.array([0, 1, 2, 3]), table["p"].combine_chunks()))
    for one, column in [(frame, "p"), (frame, "i"), (table, "p"), (table.to_reader(), "p"), (nested, "p")]:
        with pytest.raises(wr.UnsupportedError, match=f"column '{column}' is of the extension type"):
            wr.with_columns(one, y=wr.lag(column).over(wr.window(order_by="v")))
    with pytest.raises(wr.UnsupportedError, match="extension type"):
        wr.sql("SELECT v FROM t WHERE p IS NULL", t=table)
    assert wr.with_columns(table, y=wr.sum("v").over()).schema.field("p").type == pa.uuid()
    assert wr.with_columns(frame, y=wr.sum("v").over())["p"].dtype == frame["p"].dtype


def test_objects_and_wide_integers_of_polars_are_refused():
    frame = pl.DataFrame(
        {"o": pl.Series([object()] * 3, dtype=pl.Object), "w": pl.Series([1, 2, 3], dtype=pl.Int128), "v": [1, 2, 3]}
    )
    for call in (wr.count().over(wr.window("o")), wr.lag("o").over(wr.window(order_by="v"))):
        with pytest.raises(wr.UnsupportedError, match="'o' holds Python objects"):
            wr.with_columns(frame, y=call)
    with pytest.raises(wr.UnsupportedError, match="'w' is Int128"):
        wr.with_columns(frame, y=wr.sum("w").over())
    assert wr.with_columns(frame.drop("o"), y=wr.sum("v").over())["y"].to_list() == [6] * 3


V = pl.col("v")
ACROSS = [
    V - V.mean(),
    (V - V.mean()).abs(),
    V.diff(),
    V.cum_sum(),
    V.shift(),
    V.rank(),
    V * V.sum(),
    pl.len() + V,
    V.fill_null(strategy="forward"),
    V.is_duplicated(),
    V.reverse(),
    V.rolling_mean(2),
    V.null_count() + V,
    V.map_batches(lambda s: s - s.mean(), return_dtype=pl.Float64),
    pl.when(V.median() < V).then(V),
    V.quantile(0.5) + V,
    V.first() - V,
    V.sort(),
    V.gather(0) + V,
    V.skew() + V,
    (V + V.max()).sqrt(),
    V.interpolate(),
    V.pct_change(),
]
WITHIN = [
    V + 1,
    (V * 2).abs(),
    pl.when(V > 1).then(V).otherwise(0),
    V.cast(pl.String).str.len_chars(),
    V.fill_null(0),
    V.clip(0, 2),
    pl.coalesce(V, 0),
    pl.max_horizontal(V, "v"),
    V.is_between(1, 2).cast(int),
    V.map_elements(lambda x: int(str(x)), return_dtype=pl.Int64),
    V - V.mean().over("k"),
    V.replace({1: 5}),
    pl.struct("v").struct.field("v"),
    V.round(),
    V.is_in([1, 2]).cast(int),
]


def test_expressions_that_read_other_rows_know_no_partitions():
    frame = pl.DataFrame({"k": ["a", "a", "b", "b"], "v": [1, 2, 3, None]})
    for expression in ACROSS:
        for call in (wr.max(expression), wr.count().filter(expression > 1), wr.first_value("v").order_by(expression)):
            with pytest.raises(wr.UnsupportedError, match="reads other rows than its own"):
                wr.with_columns(frame, y=call.over(wr.window("k")))
        with pytest.raises(wr.UnsupportedError, match="one batch of the stream"):
            wr.with_columns(frame.to_arrow().to_reader(), y=wr.max(expression).over(wr.window(rows=(None, None))))
    for expression in WITHIN:
        out = wr.with_columns(frame, y=wr.max(expression).over(wr.window("k")))
        assert out["y"].to_list() == frame.select(expression.alias("y"), "k").select(V_MAX)["y"].to_list()
    # without partitions a mean is the frame's, and a key is one of the frame's
    assert wr.with_columns(frame, y=wr.max(V - V.mean()).over())["y"].to_list() == [1.0] * 4
    assert wr.with_columns(frame, y=wr.count().over(wr.window(V.mean() < V)))["y"].to_list() == [2, 2, 1, 1]


V_MAX = pl.col("y").max().over("k")


def test_several_columns_are_not_one():
    frame = pl.DataFrame({"a": [1], "b": [2]})
    for expression in (pl.col("a", "b"), pl.all(), pl.col("^.*$")):
        with pytest.raises(wr.SpecError, match="columns, of which each needs a name"):
            wr.with_columns(frame, y=wr.sum(expression).over())


def labels(rng):
    pool = [0, 1, 2, "0", "a", "", "column_0", ("x", 1), 2.5, None, "level", "A", "two words", "b`c"]
    return rng.sample(pool, rng.randrange(2, 6))


@pytest.mark.parametrize("seed", range(30))
def test_pandas_labels(seed):
    rng = random.Random(seed)
    names = labels(rng)
    data = {i: [rng.randrange(9) for _ in range(5)] for i in range(len(names))}
    frame = pd.DataFrame(data)
    frame.columns = pd.Index(names, tupleize_cols=False, dtype=object)
    for position, label in enumerate(names):
        text = str(label)
        if [str(n) for n in names].count(text) > 1 and not isinstance(label, str):
            continue
        out = wr.with_columns(frame, y=wr.sum(wr.col(text)).over())
        assert out["y"].tolist() == [sum(data[position])] * 5
        assert list(out.columns)[:-1] == names
        if isinstance(label, int):
            with pytest.raises(wr.SpecError, match=rf"{label} is a number here.*'{label}'|no name of its own"):
                wr.with_columns(frame, y=wr.sum(label).over())
        kept = wr.with_columns(frame, {text: wr.max(wr.col(text)).over()})
        assert list(kept.columns) == names
    assert list(wr.select(frame, "*", wr.count().over().alias("n")).columns) == [*names, "n"]


@pytest.mark.parametrize("seed", range(10))
def test_a_star_means_positions(seed):
    rng = random.Random(seed)
    names = [rng.choice("aab") for _ in range(rng.randrange(2, 5))]
    columns = [[rng.randrange(9)] for _ in names]
    table = pa.Table.from_arrays([pa.array(c) for c in columns], names=names)
    frame = pd.DataFrame([[c[0] for c in columns]], columns=names)
    query = "SELECT *, count(*) OVER () AS n FROM t"
    for out in (wr.sql(query, t=table), wr.select(table, "*", wr.count().over().alias("n"))):
        assert out.column_names == [*names, "n"]
        assert [c.to_pylist() for c in out.columns[:-1]] == columns
    for out in (wr.sql(query, t=frame), wr.select(frame, "*", wr.count().over().alias("n"))):
        assert list(out.columns) == [*names, "n"]
        assert out.iloc[0].tolist() == [*itertools.chain(*columns), 1]


def test_an_empty_name_is_a_name():
    data = {"": [1, 2, 3], "column_0": [4, 5, 6], "x": [1, 1, 2]}
    for frame in (pl.DataFrame(data), pl.DataFrame(data).lazy(), pa.table(data), pd.DataFrame(data)):
        for call in (wr.sum(""), wr.sum(wr.expr("`` + 0")), wr.sum(pl.col("")), wr.sum(wr.expr("`column_0` - 3"))):
            out = wr.with_columns(frame, s=call.over(wr.window("x")))
            out = out.collect() if isinstance(out, pl.LazyFrame) else out
            assert list(out.columns if not isinstance(out, pa.Table) else out.column_names) == [
                "",
                "column_0",
                "x",
                "s",
            ]
            assert list(pa.table(out)["s"].to_pylist() if not isinstance(out, pd.DataFrame) else out["s"]) == [3, 3, 3]
    with pytest.raises(wr.SpecError, match=r"two outputs are called 'x'|two columns of the result are called 'x'"):
        wr.select(pl.DataFrame(data), "x", wr.sum("x").over().alias("x"))


@pytest.mark.parametrize("dtype", [pl.Int128, pl.List(pl.Int128), pl.Struct({"f": pl.Int128})])
def test_integers_of_128_bits_are_refused_alike_wherever_they_are_read(dtype):
    frame = pl.DataFrame({"k": [1, 2]}).with_columns(i=pl.lit(None, dtype=dtype))
    calls = [
        "max(i) OVER ()",
        "lag(i) OVER (ORDER BY k)",
        "count(*) OVER (PARTITION BY i)",
        "max(i IS NULL) OVER ()",
        wr.max(pl.col("i")).over(),
        wr.max(pl.col("k").cast(pl.Int128)).over(),
    ]
    for call in calls:
        for given in (frame, frame.lazy()):
            with pytest.raises(wr.UnsupportedError, match=r"Arrow has no Int128; cast it to Int64 or Decimal\(38, 0\)"):
                wr.with_columns(given, s=call)
    for run in (lambda: wr.explain(frame, s="max(i) OVER ()"), lambda: wr.operator("max(i) OVER ()", frame)):
        with pytest.raises(wr.UnsupportedError, match="Arrow has no Int128"):
            run()
    assert wr.with_columns(frame, s="count(*) OVER ()")["s"].to_list() == [2, 2]


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("function", ["collect_list(e)", "array_agg(e)", "max_by(e, k, 2)"])
def test_lists_of_ordered_categories_keep_the_order(seed, function):
    rng = random.Random(seed)
    levels = ["waiting", "on the way", "delivered"]
    values = [rng.choice([*levels, None]) for _ in range(20)]
    text = f"{function} OVER (ORDER BY k ROWS 3 PRECEDING)"
    expected = wr.with_columns(pa.table({"k": range(20), "e": values}), s=text)["s"].to_pylist()
    made = wr.with_columns(pl.DataFrame({"k": range(20), "e": pl.Series(values, dtype=pl.Enum(levels))}), s=text)["s"]
    assert (made.dtype, made.to_list()) == (pl.List(pl.Enum(levels)), expected)
    codes = pa.array([None if v is None else levels.index(v) for v in values], pa.int8())
    for ordered in (True, False):
        column = pa.DictionaryArray.from_arrays(codes, pa.array(levels), ordered=ordered)
        made = wr.with_columns(pa.table({"k": range(20), "e": column}), s=text)["s"]
        made.validate(full=True)
        assert (made.type.value_type.ordered, made.to_pylist()) == (ordered, expected)


def test_intervals_of_months_are_no_values_outside_spark():
    for frame in (pa.table({"v": [1, 2]}), pl.DataFrame({"v": [1, 2]}), pl.DataFrame({"v": [1, 2]}).lazy()):
        for text in (
            "INTERVAL '1' MONTH",
            "INTERVAL '1-2' YEAR TO MONTH",
            "coalesce(INTERVAL '1' MONTH, INTERVAL '1' DAY)",
            "CASE WHEN v > 1 THEN INTERVAL '2' MONTH END",
            "max(INTERVAL '1' MONTH) OVER ()",
        ):
            with pytest.raises(wr.UnsupportedError, match="interval of months"):
                wr.sql(f"SELECT {text} AS d FROM t", t=frame)
    made = wr.sql(
        "SELECT DATE '2024-01-31' + INTERVAL '1' MONTH AS d, INTERVAL '1' DAY AS e FROM t", t=pa.table({"v": [1]})
    )
    assert made.to_pylist() == [{"d": dt.date(2024, 2, 29), "e": dt.timedelta(days=1)}]


def test_columns_for_calls_are_not_suggested():
    with pytest.raises(wr.SpecError) as raised:
        wr.sql("SELECT sum(v) OVER () + nosuch AS q FROM t", t=pa.table({"v": [1, 2]}))
    assert "__windrow" not in str(raised.value)


def failing(given):
    """Fail over rows."""
    if isinstance(given, pl.Series) and given.is_empty():
        return given
    raise RuntimeError("no")


FAILING_OVER_ROWS = {
    "cast": lambda: pl.col("s").cast(pl.Int64),
    "date": lambda: pl.col("s").str.to_date("%Y", strict=True).dt.year(),
    "function": lambda: pl.col("x").map_elements(failing, return_dtype=pl.Int64),
    "batches": lambda: pl.col("x").map_batches(failing, return_dtype=pl.Int64, is_elementwise=True),
}
WRONG = {
    "types": lambda: pl.col("l").str.len_chars(),
    "text": lambda: pl.col("s").dt.year(),
    "field": lambda: pl.col("x").struct.field("a"),
    "list": lambda: pl.col("s").list.len(),
}


@pytest.mark.parametrize("name", [*FAILING_OVER_ROWS, *WRONG])
def test_expressions_that_fail_over_rows_are_no_wrong_question(name):
    """A SpecError is for what is wrong whatever the rows are, a DataError for what these rows are not fit for."""
    table = pa.table({"x": [1, 2, 0], "s": ["1", "a", None], "l": [[1], [2], None]})
    expression = (FAILING_OVER_ROWS | WRONG)[name]()
    call = wr.sum(expression).over()
    over_rows = name in FAILING_OVER_ROWS
    frame = pl.from_arrow(table)

    def lazily():
        made = wr.with_columns(frame.lazy(), r=call)
        return lambda: made.collect()

    def of_operator():
        operator = wr.operator({"r": call}, table.schema, sort=True)
        return lambda: list(operator(table.to_batches()))

    ways = {
        "table": lambda: lambda: wr.with_columns(table, r=call),
        "polars": lambda: lambda: wr.with_columns(frame, r=call),
        "pandas": lambda: lambda: wr.with_columns(table.to_pandas(types_mapper=pd.ArrowDtype), r=call),
        "lazy": lazily,
        "operator": of_operator,
    }
    for way, made in ways.items():
        with pytest.raises((wr.DataError, pl.exceptions.ComputeError) if over_rows else wr.SpecError) as refused:
            made()()
        if way != "lazy" or not over_rows:  # Polars gives an error of its own for one that a function raises
            assert "Polars cannot evaluate" in str(refused.value)
        if over_rows:
            assert not isinstance(refused.value, wr.SpecError)
            made_of_none = {"table": table[:0], "polars": frame[:0]}.get(way)
            if made_of_none is not None:
                assert len(wr.with_columns(made_of_none, r=call)) == 0


def test_what_duckdb_raises_is_a_data_error():
    """Over rows that it cannot compute, and over a relation whose connection is gone."""
    duckdb = pytest.importorskip("duckdb")
    connection = duckdb.connect()
    calls = {"r": "sum(x) OVER ()"}
    for text in ("CAST('a' || i AS INTEGER)", "if(i > 2, error('no'), i)", "CAST(2147483647 + i AS INTEGER)"):
        relation = connection.sql(f"SELECT {text} AS x, i AS k FROM range(4) t(i)")
        with pytest.raises(wr.DataError, match="DuckDB"):
            wr.with_columns(relation, calls)
        with pytest.raises(wr.DataError, match="DuckDB"):
            wr.sql("SELECT x FROM r", r=relation)
    relation = connection.sql("SELECT i AS x FROM range(4) t(i)")
    connection.close()
    for way in (
        lambda: wr.with_columns(relation, calls),
        lambda: wr.explain(relation, calls),
        lambda: wr.sql("SELECT x FROM r", r=relation),
        lambda: wr.operator(calls, relation),
    ):
        with pytest.raises(wr.DataError, match="DuckDB"):
            way()


class Broken:
    """A frame of another library that cannot give its rows."""

    def __init__(self, error):
        self.error = error

    def __arrow_c_stream__(self, requested_schema=None):
        raise self.error


@pytest.mark.parametrize("error", [RuntimeError("gone"), KeyError("x"), OSError("disk"), AttributeError("a")])
def test_what_another_library_raises_is_a_data_error(error):
    with pytest.raises(wr.DataError, match="Broken cannot be read as an Arrow table"):
        wr.with_columns(Broken(error), r="count(*) OVER ()")
