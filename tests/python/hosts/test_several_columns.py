"""One call over several columns is a call of each of them, on every host."""

import pickle

import pyarrow as pa
import pytest

import windrow as wr

pytest.importorskip("polars")
import polars as pl
import polars.selectors as cs

TABLE = pa.table(
    {
        "k": ["a", "a", "b", "b", "b"],
        "t": [1, 2, 3, 4, 5],
        "v": [10, None, 30, 25, 31],
        "my col": [1.5, 2.5, None, 4.0, 0.5],
        "s": ["x", "y", "y", None, "z"],
    }
)
W = wr.window("k", "t")
BOTH = ["v", "my col"]

#: What is written once, and what it stands for.
CASES = {
    "names": (lambda x: wr.sum(x).over(W).alias("{name}_total"), "{}_total"),
    "settings": (lambda x: wr.percentile(x, 0.5).over("k").alias("p50 of {name}"), "p50 of {}"),
    "several arguments": (lambda x: wr.lag(x, 1, 0).over(W).alias("before {name}"), "before {}"),
    "two columns": (lambda x: wr.corr(x, "t").over("k").alias("{name}_{name}"), "{0}_{0}"),
    "modifiers": (
        lambda x: wr.count(x).distinct().filter(wr.col("t") > 1).over(W.rows((-1, None))).alias("n_{name}"),
        "n_{}",
    ),
    "operators": (lambda x: ((wr.max(x).over("k") - wr.min(x).over("k")) / 2).alias("{name}_half"), "{}_half"),
    "nested": (lambda x: wr.sum(wr.lag(x).over(W)).over("k").alias("{name}_before"), "{}_before"),
    "in a key": (lambda x: wr.count().over(wr.window(wr.max(x).over("k"))).alias("{name}_n"), "{}_n"),
    "in a filter": (
        lambda x: wr.sum("t").filter(wr.lag(x).over(W).is_null()).over("k").alias("{name}_f"),
        "{}_f",
    ),
    "when": (
        lambda x: wr.when(wr.lag(x).over(W) > 5).then(wr.lit("high")).otherwise(None).alias("{name}_w"),
        "{}_w",
    ),
    "without names": (lambda x: wr.avg(x).over(W), None),
    "operators without names": (lambda x: -wr.avg(x).over(W) + 1, None),
    "with names in lists": (lambda x: [wr.any_value(x).over("k"), wr.first_value(x).over("k")], None),
}


def alone(make, name):
    """Give the items of one column, with their own names."""
    items = make(wr.col(name))
    return items if isinstance(items, list) else [items]


def columns(frame):
    if isinstance(frame, pl.LazyFrame):
        frame = frame.collect()
    if isinstance(frame, pl.DataFrame):
        return frame.to_dict(as_series=False)
    if not isinstance(frame, pa.Table):
        frame = pa.table(frame)
    return frame.to_pydict()


@pytest.mark.parametrize("case", CASES)
def test_an_item_each(case):
    make, template = CASES[case]
    named = template is not None
    expected = {}
    for items in zip(*(alone(make, name) for name in BOTH), strict=True):
        for name, item in zip(BOTH, items, strict=True):
            one = item.alias(template.format(name)) if named else item
            expected |= wr.select(TABLE, one).to_pydict()
    assert len(expected) == (4 if case == "with names in lists" else 2)
    for several in (BOTH, tuple(BOTH), [wr.col("v"), "my col"], pl.col(*BOTH), cs.by_name(*BOTH)):
        assert wr.select(TABLE, make(several)).to_pydict() == expected
    made = make(BOTH)
    added = wr.with_columns(TABLE, made)
    assert added.select(TABLE.column_names) == TABLE.select(TABLE.column_names)
    assert {n: added[n].to_pylist() for n in expected} == expected
    assert wr.select(TABLE, pickle.loads(pickle.dumps(made))).to_pydict() == expected
    assert wr.select(TABLE.to_pandas(), make(BOTH)).columns.tolist() == list(expected)


def test_every_host():
    duckdb = pytest.importorskip("duckdb")
    item = CASES["operators"][0](BOTH)
    expected = wr.select(TABLE, item).to_pydict()
    frame = pl.DataFrame(TABLE)
    frames = [
        TABLE.to_batches()[0],
        TABLE.to_reader(),
        frame,
        frame.lazy(),
        duckdb.from_arrow(TABLE),
        TABLE.to_pandas(),
    ]
    checked = 0
    for one in frames:
        made = wr.select(one, item, sort=True) if isinstance(one, pa.RecordBatchReader) else wr.select(one, item)
        found = pa.Table.from_pandas(made).to_pydict() if hasattr(made, "iloc") else columns(made)
        assert found == expected
        checked += 1
    operator = wr.operator([wr.sum(BOTH).over(W).alias("{name}_sum")], TABLE.schema)
    assert operator.schema.names == [*TABLE.column_names, "v_sum", "my col_sum"]
    out = pa.Table.from_batches(list(operator(TABLE.to_batches())))
    assert out["v_sum"].to_pylist() == [10, 10, 30, 55, 86]
    assert [row["call"] for row in wr.explain(TABLE, wr.sum(BOTH).over(W)).rows] == [
        wr.sum(name).over(W).sql for name in BOTH
    ]
    assert checked == 6


def test_on_spark(oracle_spark):
    from support.spark_sessions import frame_of

    frame = frame_of(oracle_spark, TABLE)
    for case in ("names", "operators", "nested"):
        item = CASES[case][0](BOTH)
        expected = wr.select(TABLE, "t", item).sort_by("t").to_pydict()
        found = wr.select(frame, "t", item).orderBy("t").toPandas()
        assert {n: [None if v != v else v for v in found[n]] for n in expected} == expected
    with pytest.raises(
        wr.SpecError, match=r"cs.numeric\(\) chooses columns by Polars' types, .* a list of columns' names"
    ):
        wr.select(frame, wr.sum(cs.numeric()).over(W))


def test_selectors_read_the_types_of_the_frame():
    item = wr.max(cs.numeric() - cs.by_name("t")).over("k").alias("{name}_max")
    assert repr(item).startswith("max(COLUMNS(")
    frame = pl.DataFrame(TABLE)
    for one in (TABLE, frame, frame.lazy(), TABLE.to_pandas()):
        assert list(columns(wr.select(one, item))) == ["v_max", "my col_max"]
    # the same names and other types: no plan is kept for the others
    other = frame.with_columns(pl.col("v").cast(pl.String), pl.col("s").str.len_chars())
    assert wr.select(other, item).columns == ["my col_max", "s_max"]
    assert wr.select(frame, item).columns == ["v_max", "my col_max"]
    assert wr.select(frame, wr.count(pl.col(pl.String)).over().alias("{name}")).columns == ["k", "s"]
    assert wr.select(frame, wr.count(pl.all()).over().alias("{name}")).columns == frame.columns
    assert wr.select(frame, wr.count(pl.exclude("k", "t")).over().alias("{name}")).columns == frame.columns[2:]
    assert wr.with_columns(frame, wr.sum(cs.temporal()).over()).columns == frame.columns
    with pytest.raises(wr.SpecError, match='"gone" not found'):
        wr.select(frame, wr.sum(pl.col("v", "gone")).over())


def test_several_frames():
    items = wr.sum(BOTH).over(W.rows([1, 2]))
    assert wr.select(TABLE, items).column_names == ["sum(v)_1", "sum(my col)_1", "sum(v)_2", "sum(my col)_2"]
    named = wr.select(TABLE, items.alias("{name}_sum"))
    assert named.column_names == ["v_sum_1", "my col_sum_1", "v_sum_2", "my col_sum_2"]
    for name in BOTH:
        for rows in (1, 2):
            assert named[f"{name}_sum_{rows}"].equals(wr.select(TABLE, y=wr.sum(name).over(W.rows(rows)))["y"])


def test_names_of_dicts_and_keywords():
    one = wr.sum(BOTH).over(W)
    assert wr.select(TABLE, {"{name} so far": one}).column_names == ["v so far", "my col so far"]
    assert wr.select(TABLE, total=wr.sum(["v"]).over(W)).column_names == ["total"]
    for items, named in (([one.alias("total")], {}), ([], {"total": one}), ([{"total": [one]}], {})):
        with pytest.raises(wr.SpecError, match=r"is 2 columns, .* write \{name\} .*, as in '\{name\}_total'"):
            wr.select(TABLE, *items, **named)
    # the name of a single column is what it says
    assert wr.select(TABLE, wr.sum("v").over(W).alias("{name}")).column_names == ["{name}"]


def test_what_is_no_list_of_columns():
    for values in ([], [1], [wr.col("v") + 1], [["v"]], (None,)):
        with pytest.raises(wr.SpecError, match="is no list of columns' names"):
            wr.sum(values)
    with pytest.raises(wr.SpecError, match=r"one list of columns, and not both \['v'\] and \['t'\]"):
        wr.sum(["v"]).over(wr.window(wr.max(["t"]).over()))
    with pytest.raises(wr.SpecError, match=r"column 'vv' is unknown; did you mean 'v'"):
        wr.select(TABLE, wr.sum(["t", "vv"]).over())
    with pytest.raises(wr.SpecError, match="neither a column's name nor an expression"):
        wr.corr("v", ["t"])
    with pytest.raises(wr.SpecError, match="one expression is one column"):
        wr.sum("v").over(pl.col("k", "t"))
    with pytest.raises(wr.SpecError, match="is 2 columns, and one expression is one column"):
        wr.sum(BOTH).over().to_polars(TABLE.schema)
    import windrow.polars  # noqa: F401

    with pytest.raises(wr.SpecError, match=r"filter\(\) takes one condition"):
        pl.DataFrame(TABLE).wr.filter(wr.sum(BOTH).over() > 1)
    assert wr.sum(["v"]).over().to_polars(TABLE.schema).meta.output_name() == "sum(v) OVER ()"
    assert repr(wr.sum(BOTH)) == "sum(COLUMNS(v, `my col`))"
    assert wr.sum(BOTH).equals(wr.sum(BOTH))
    assert not wr.sum(BOTH).equals(wr.sum(["my col", "v"]))
