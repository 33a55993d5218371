"""The builder: functions, modifiers, what a call prints and what it refuses."""

import datetime as dt
import pickle

import pyarrow as pa
import pytest

import windrow as wr
from windrow._model.expressions import Column, Literal


def test_prints_its_sql():
    w = wr.window("device", "id", range=(-1, 0))
    call = wr.sum("level").over(w).alias("total")
    sql = "sum(level) OVER (PARTITION BY device ORDER BY id RANGE BETWEEN 1 PRECEDING AND CURRENT ROW)"
    assert repr(call) == f"{sql} AS total"
    assert call.output_name == "total"
    assert wr.sum("level").over(w).output_name == sql


def test_calls_are_values():
    base = wr.sum("x")
    first, second = base.over(wr.window("a")), base.over(wr.window("b"))
    assert base.window is None
    assert not first.equals(second)
    assert first.equals(wr.sum("x").over(wr.window("a")))
    assert pickle.loads(pickle.dumps(first)).equals(first)
    with pytest.raises(AttributeError):
        base.name = "x"  # type: ignore[misc]


@pytest.mark.parametrize(
    ("call", "sql"),
    [
        (wr.count(), "count(*)"),
        (wr.count("*"), "count(*)"),
        (wr.count("a", "b"), "count(a, b)"),
        (wr.mean("a"), "mean(a)"),
        (wr.nth_value("a", 2).ignore_nulls(), "nth_value(a, 2) IGNORE NULLS"),
        (wr.lag("a"), "lag(a)"),
        (wr.lag("a", 2), "lag(a, 2)"),
        (wr.lag("a", 1, wr.lit("none")), "lag(a, 1, 'none')"),
        (wr.lead("a", default="b"), "lead(a, 1, b)"),
        (wr.sum("a").distinct().filter(wr.expr("b > 1")), "sum(DISTINCT a) FILTER (WHERE b > 1)"),
        (wr.rank().order_by(wr.desc("x")), "rank(ORDER BY x DESC)"),
        (wr.sum(wr.expr("a * b")), "sum(a * b)"),
        (wr.sum(1), "sum(1)"),
        (wr.max(wr.lit("it's")), r"max('it\'s')"),
    ],
)
def test_every_modifier_prints(call, sql):
    assert repr(call) == sql


def test_a_string_is_a_column():
    for call, expected in ((wr.sum("x"), [Column("x")]), (wr.lag("x", 1, "y"), [Column("x"), Literal(1), Column("y")])):
        assert [a.equals(b) for a, b in zip(call.args, expected, strict=True)] == [True] * len(expected)


def test_every_function_is_public():
    from windrow import functions

    assert set(functions.__all__) <= set(wr.__all__)
    for name in functions.__all__:
        assert getattr(wr, name) is getattr(functions, name)


def test_a_comparison_is_no_filter():
    with pytest.raises(wr.SpecError, match="Python compared"):
        wr.sum("x").filter("a" == 1)


def test_one_filter():
    with pytest.raises(wr.SpecError, match="AND"):
        wr.sum("x").filter("a").filter("b")


def test_a_call_is_no_condition():
    with pytest.raises(wr.SpecError, match="no truth"):
        bool(wr.sum("x"))


def test_calls_in_calls():
    inner = wr.rank().over(wr.window(order_by="x")).alias("r")
    outer = wr.sum(inner).over(wr.window(wr.expr("count(*) OVER (PARTITION BY k) + 1")))
    assert repr(outer) == "sum(rank() OVER (ORDER BY x)) OVER (PARTITION BY count(*) OVER (PARTITION BY k) + 1)"
    with pytest.raises(wr.SpecError, match=r"sum\(x\) has no window"):
        wr.with_columns(pa.table({"x": [1]}), wr.sum(wr.sum("x")).over())


def test_over_takes_a_window_or_what_makes_one():
    w = wr.window(["a", "b"], wr.desc("t"), rows=(-1, 0), exclude="ties", min_rows=2)
    frame = {"rows": (-1, 0), "exclude": "ties", "min_rows": 2}
    for made in (
        wr.sum("x").over(w),
        wr.sum("x").over(window=w),
        wr.sum("x").over("a", "b", order_by=wr.desc("t"), **frame),
        wr.sum("x").over(["a", wr.col("b")], order_by=[wr.desc("t")], **frame),
    ):
        assert made.window == w
    assert wr.sum("x").over().window == wr.window() == wr.sum("x").over(None).window
    assert wr.sum("x").over(order_by="t").window == wr.window(order_by="t")
    for keys, named in ((("k",), {}), ((), {"order_by": "t"}), ((), {"rows": (-1, 0)}), ((), {"min_rows": 1})):
        with pytest.raises(wr.SpecError, match=r"not both; .* wr\.window"):
            wr.sum("x").over(w, *keys, **named)
    for written in ("-t", "t desc", "t DESC NULLS LAST"):
        with pytest.raises(wr.SpecError, match=r'write wr\.desc\("t"'):
            wr.with_columns(pa.table({"t": [1]}), wr.row_number().over(order_by=written))


def test_several_frames_give_an_item_each():
    table = pa.table({"t": [1, 2, 4, 8], "v": [1, 2, 3, 4]})
    w = wr.window(order_by="t", min_rows=1)
    last = wr.sum("v").over(w.rows([1, 3, (-1, 1), (None, 0)]))
    asked = {"_1": 1, "_3": 3, "_-1_1": (-1, 1), "_unbounded_0": (None, 0)}
    each = {f"s{n}": wr.sum("v").over(order_by="t", rows=f, min_rows=1) for n, f in asked.items()}
    expected = wr.select(table, each)
    for items, named in (((last.alias("s"),), {}), (([last.alias("s")],), {}), ((), {"s": last}), (({"s": last},), {})):
        assert wr.select(table, *items, **named) == expected
    assert wr.select(table, last).column_names == [f"sum(v){n}" for n in asked]
    assert [c.name for c in wr.sum("v").alias("a").over(w.rows([1]))] == ["a_1"]
    by_key = wr.count().over(w.range([2, 3], closed="both")).alias("n")
    assert wr.select(table, by_key).to_pydict() == {"n_2": [1, 2, 2, 1], "n_3": [1, 2, 3, 1]}
    assert w.rows(3) == wr.window(order_by="t", rows=3, min_rows=1)
    assert w.rows(3, centered=True) == wr.window(order_by="t", rows=(-1, 1), min_rows=1)
    assert wr.window("k", "t", exclude="ties").rows((-1, 1)) == wr.window("k", "t", rows=(-1, 1), exclude="ties")
    lengths = w.range(["7 d", "1mo", dt.timedelta(2), dt.timedelta(hours=1)])
    assert lengths.suffixes == ("7d", "1mo", "2d", "3600s")
    for wrong, message in ((lambda: w.rows([]), "at least one"), (lambda: wr.sum(last), "several windows")):
        with pytest.raises(wr.SpecError, match=message):
            wrong()


def test_arguments_of_no_kind():
    with pytest.raises(wr.SpecError, match="neither a column's name nor an expression"):
        wr.sum(object())


def test_a_call_is_made_of_expressions():
    for args in (3, ["x"], ("x",), (wr.asc("x"),)):
        with pytest.raises(
            wr.SpecError, match=r"Call\(\): args=.* is not a tuple of expressions; write wr\.sum\('x'\)"
        ):
            wr.Call("sum", args)
    for function in (None, [], 3, ""):
        with pytest.raises(wr.SpecError, match=r"Call\(\): function=.* is not the name of a function; write wr\.sum"):
            wr.Call(function)
    assert wr.Call("sum", (wr.col("x"),)).equals(wr.sum("x"))
