"""Operators build what parsing their SQL gives, and refuse what has no meaning."""

import copy
import datetime as dt
import functools
import math
import operator
import pickle
import random
from collections import Counter
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import windrow as wr
from support.random_calls import SEED
from windrow._parse.sql_text import parse_expression

NAMES = {"wr": wr, "datetime": dt, "Decimal": Decimal}
W = wr.window("k", "t")
VALUES = [
    True, False, 0, 7, -3, 2**40, -(2**63), 2**70, 0.5, -1.5, 1e300, -1e-9, -0.0, math.inf, -math.inf, math.nan, "",
    "it's", "back\\slash", b"\x00z", Decimal("1.50"), Decimal("-2.5"), Decimal(3), Decimal("1E+3"), "a",
    dt.date(2024, 2, 29),
    dt.datetime(2024, 2, 29, 1, 2, 3, 4), dt.datetime(2024, 1, 1, tzinfo=dt.timezone.utc), dt.time(1, 2), None,
    dt.timedelta(days=1, seconds=1), wr.interval(days=2), wr.interval(hours=-3), np.float64(2.5), np.int8(3),
    pd.Timestamp("2024-01-02 03:04:05"), np.datetime64("2024-01-02"),
]  # fmt: skip
BINARY = [
    operator.add, operator.sub, operator.mul, operator.truediv, operator.mod, operator.pow, operator.and_, operator.or_,
    operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge,
]  # fmt: skip


def expression(rng, depth):
    if depth == 0:
        return rng.choice([
            lambda: wr.col(rng.choice(["x", "a b", "tick`s", "select", "Straße"])), lambda: wr.sum("x").over(W),
            lambda: wr.lag("x", 2).over("k", order_by="t"), lambda: wr.expr("a +  b"), lambda: wr.expr("NOT a or b"),
            lambda: wr.expr("x - sum(x) OVER ()"), lambda: wr.expr("a DIV b"), lambda: wr.expr("-x"),
        ])()  # fmt: skip
    one = expression(rng, depth - 1)
    other = expression(rng, rng.randrange(depth)) if rng.random() < 0.5 else rng.choice(VALUES)
    apply = rng.choice(BINARY)
    if isinstance(other, (str, bytes)) and apply is operator.mod:  # which formats a text
        apply = operator.add
    if other is None and apply in (operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge):
        other = wr.lit(None)
    return rng.choice([
        lambda: apply(one, other), lambda: apply(other, one), lambda: apply(one, other), lambda: -one, lambda: ~one,
        lambda: abs(one), one.is_null, one.is_not_null, lambda: one.fill_null(other), lambda: one.between(other, 3),
        lambda: one.is_in([other, 1]), lambda: one.cast(rng.choice(["double", "decimal(10, 2)", pa.int8(), pl.Date])),
        lambda: wr.when(one > 1).then(other if not isinstance(other, str) else wr.lit(other)).otherwise(one),
    ])()  # fmt: skip


def test_each_is_what_its_text_gives():
    rng, seen = random.Random(f"operators {SEED}"), Counter()
    for _ in range(600):
        try:
            made = expression(rng, rng.randint(1, 4))
        except wr.SpecError as error:  # folding of literals overflows
            seen["bit integer" in str(error)] += 1
            continue
        text = str(made)
        assert parse_expression(text).equals(made), text
        again = eval(repr(made), NAMES) if repr(made).startswith("wr.") else wr.expr(repr(made))
        assert again.equals(made), repr(made)
        named = made.alias("a b")
        assert named.output_name == "a b"
        assert str(named) == text
        call = wr.max(made).over("k")
        assert call.equals(parse_expression(str(call))) or not call.reads_back(exactly=True), str(call)
        assert eval(call.code(), NAMES).equals(call), call.code()
        for copied in (pickle.loads(pickle.dumps(made)), copy.deepcopy(made)):
            assert copied.equals(made)
            assert (copied + 1).equals(made + 1)
        seen[type(made).__name__] += 1
    assert not seen[False]
    assert seen["Derived"] > 200, seen
    assert seen["Sql"] > 100, seen


def test_parentheses_stand_where_the_grammar_needs_them():
    a, b, c = map(wr.col, "abc")
    for made, text in (
        (a + b + c, "a + b + c"),
        (a - (b - c), "a - (b - c)"),
        ((a + b) * c, "(a + b) * c"),
        (a + b * c, "a + b * c"),
        (-(-a), "-(-a)"),  # noqa: B002
        (a - -1, "a - -1"),
        (-(a + 1), "-(a + 1)"),
        ((a > 1) & (b < 2) | ~(c == "x"), "a > 1 AND b < 2 OR NOT c = 'x'"),
        ((a | b) & c, "(a OR b) AND c"),
        ((a == b) == c, "(a = b) = c"),
        ((a == b).is_null(), "(a = b) IS NULL"),
        (~(a.is_null()), "NOT a IS NULL"),
        (wr.expr("a or b") & c, "(a OR b) AND c"),
        (2 ** (a + 1), "power(2, a + 1)"),
        (wr.lit(2) * 3 + a, "6 + a"),
        (wr.col("a b") % 2, "`a b` % 2"),
    ):
        assert str(made) == text


def test_long_chains():
    table = pa.table({"k": [1, 2, 3]})
    ored = functools.reduce(operator.or_, [wr.col("k") == i for i in range(2, 400)])
    assert wr.select(table, x=ored)["x"].to_pylist() == [False, True, True]
    with pytest.raises(wr.SpecError, match="operators"):
        wr.select(table, x=functools.reduce(operator.add, [wr.col("k")] * 300))


def test_equality_builds_and_equals_compares():
    call = wr.sum("x").over(W)
    assert str(call == 1) == f"{call.sql} = 1"
    assert call.equals(wr.sum("x").over("k", order_by="t"))
    assert not call.equals(call.alias("s"))
    assert not wr.lit(1).equals(wr.lit(1.0))
    assert not wr.lit(1).equals(1)
    assert wr.window(wr.col("x") + 1) == wr.window(wr.expr("x + 1"))
    assert wr.window("x") != wr.window("y")
    assert len({wr.window("x"), wr.window(wr.col("x")), wr.window("y")}) == 2
    assert wr.asc(wr.col("x") * 2) == wr.asc(wr.expr("x * 2"))


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (lambda x: bool(x > 1), r"\.between\(a, b\)"),
        (lambda x: 0 < x < 3, "no truth of its own"),
        (lambda x: x in [x + 1], r"\.is_in"),
        (lambda x: x == None, r"write \.is_null\(\)"),  # noqa: E711
        (lambda x: x // 2, "a div b"),
        (lambda x: 2 // x, "a div b"),
        (lambda x: x + object(), "neither a column's name nor an expression"),
        (lambda x: x + range(1), "neither a column's name nor an expression"),
        (lambda x: x - pd.Series([1]), "holds values of its own"),
        (lambda x: pd.Series([1]) - x, "holds values of its own"),
        (lambda x: np.arange(3) * x, "holds values of its own"),
        (lambda x: x + Decimal("NaN"), "no decimal"),
        (lambda x: x.cast("dubel"), "takes a type"),
        (lambda x: x.cast("double) + (1"), "takes a type"),
        (lambda x: x.is_in("ab"), "takes a list"),
        (lambda x: x.alias(""), "takes a column's name"),
        (lambda x: wr.when(x > 1).then("x"), r'wr\.lit\("x"\) for the text, and wr\.col\("x"\)'),
        (lambda x: wr.when(True).then(1), "Python compared"),
        (lambda x: wr.sum(wr.when(x > 1).then(1)), r"write \.otherwise\(value\)"),
        (lambda x: wr.typing.Sql("a AS b") + x, r"write \.alias\('b'\)"),
        (lambda x: wr.expr("a) + (b") * x, "cannot be read as SQL"),
        (lambda x: wr.expr("sum(a)") * x, "has no OVER"),
        (lambda x: x + wr.expr("a b c"), "cannot be read as SQL"),
    ],
)
def test_what_is_refused(wrong, message):
    for x in (wr.col("x"), wr.sum("x").over(), wr.col("x") - wr.sum("x").over(), wr.expr("x + 1"), wr.lit(3)):
        with pytest.raises(wr.SpecError, match=message):
            wrong(x)


def test_no_hash():
    for x in (wr.col("x"), wr.lit(1), wr.sum("x"), wr.col("x") + 1, wr.sum("x").over() + 1):
        with pytest.raises(TypeError, match=r"\.equals\(other\)"):
            hash(x)


def test_host_expressions_on_the_right():
    table = pa.table({"k": [1, 1, 2], "t": [1, 2, 3], "v": [1.0, 4.0, 5.0]})
    lag = wr.lag("v").over("k", order_by="t")
    items = {
        "difference": lag - pl.col("v"),
        "without a call": wr.col("t") * pl.col("v"),
        "argument": wr.sum(wr.col("t") + pl.col("v")).over("k"),
        "nested": wr.sum(wr.lag("t").over("k", order_by="t") + pl.col("t")).over("k", order_by="t") - pl.col("v"),
        "twice": (lag + pl.col("v")) * pl.col("v") + pl.col("t").cast(pl.String).str.len_chars(),
        "constant": wr.col("t") - pl.lit(2),
    }
    expected = {
        "difference": [None, -3.0, None],
        "without a call": [1.0, 8.0, 15.0],
        "argument": [8.0, 8.0, 8.0],
        "nested": [None, -1.0, None],
        "twice": [None, 21.0, None],
        "constant": [-1, 0, 1],
    }
    assert wr.select(table, items).to_pydict() == expected
    assert wr.select(pl.from_arrow(table), items).to_dict(as_series=False) == expected
    assert wr.select(pl.from_arrow(table).lazy(), items).collect().to_dict(as_series=False) == expected
    for sort in (True, False):
        assert wr.select(table.to_reader(1), items, sort=sort).read_all().to_pydict() == expected
    with wr.config(memory_limit="1B"):
        assert wr.select(table, items).to_pydict() == expected
    with pytest.raises(wr.UnsupportedError, match="reads other rows than its own"):
        wr.select(table, wr.sum(wr.col("t") * pl.col("v").mean()).over("k"))
    with pytest.raises(wr.UnsupportedError, match="one batch of the stream"):
        wr.select(table.to_reader(1), lag - pl.col("v").mean(), sort=True)
    with pytest.raises(wr.SpecError, match="'w' is unknown"):
        wr.select(table, lag - pl.col("w"))


def test_items_without_a_call():
    table = pa.table({"k": pa.array(["a", "b"]).dictionary_encode(), "v": [1, 2]})
    made = wr.select(table, wr.col("k").alias("x"), wr.col("v") + 1, y=wr.col("v"), one=wr.lit(1))
    assert made.to_pydict() == {"x": ["a", "b"], "v + 1": [2, 3], "y": [1, 2], "one": [1, 1]}
    assert made["x"].type == table["k"].type
    assert wr.with_columns(table, v=wr.col("v") * 2)["v"].to_pylist() == [2, 4]


def test_an_alias_in_the_text_names_the_column():
    table = pa.table({"k": [1, 1, 2], "v": [3, None, 5]})
    made = wr.with_columns(
        table, wr.expr("v * 2 AS twice"), wr.expr("v - lag(v) OVER (PARTITION BY k ORDER BY v) as `a step`")
    )
    assert made.column_names[-2:] == ["twice", "a step"]
    assert made["twice"].to_pylist() == [None if v is None else 2 * v for v in table["v"].to_pylist()]
    # the last AS is the type's
    assert wr.with_columns(table, x=wr.max(wr.expr("cast(v AS double)")).over("k"))["x"].type == "double"
