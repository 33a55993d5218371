"""The builder: functions, modifiers, what a call prints and what it refuses."""

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
