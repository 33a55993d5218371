"""Random expressions of operators, over columns and calls, held against Polars' own, and against their SQL."""

import datetime as dt
import math
import random
from collections import Counter
from decimal import Decimal

import polars as pl
import pyarrow as pa
import pytest

import windrow as wr
from support.random_calls import SEED

KEYS = {
    "number": ["i", "j", "f"],
    "text": ["s"],
    "date": ["d"],
    "time": ["ts"],
    "boolean": ["b", "c"],
    "decimal": ["m"],
}
WINDOW = wr.window("k", "t")
OVER = {"partition_by": "k", "order_by": "t"}


def frame(rng, rows=40):
    def column(make, dtype, nulls=0.2):
        return pl.Series([None if rng.random() < nulls else make() for _ in range(rows)], dtype=dtype)

    return pl.DataFrame({
        "k": column(lambda: rng.choice("xyz"), pl.String, 0),
        "t": pl.Series(range(rows), dtype=pl.Int64),
        "i": column(lambda: rng.randint(-9, 9), pl.Int64),
        "j": column(lambda: rng.randint(-9, 9), pl.Int32),
        "f": column(lambda: rng.choice([-0.0, 0.5, 1.5, -2.25, math.nan, math.inf, 4.0]), pl.Float64),
        "s": column(lambda: rng.choice(["", "a", "ab", "é"]), pl.String),
        "d": column(lambda: dt.date(2024, 1, 1) + dt.timedelta(days=rng.randrange(90)), pl.Date),
        "ts": column(lambda: dt.datetime(2024, 1, 1) + dt.timedelta(hours=rng.randrange(90)), pl.Datetime("us")),
        "b": column(lambda: rng.random() < 0.5, pl.Boolean),
        "c": column(lambda: rng.random() < 0.5, pl.Boolean),
        "m": column(lambda: Decimal(rng.randint(-400, 400)).scaleb(-2), pl.Decimal(9, 2)),
    })  # fmt: skip


def literal(rng, kind):
    return {
        "number": lambda: rng.choice([0, 3, -2, 0.5, -1.5, math.nan, 2**33]),
        "text": lambda: rng.choice(["", "a", "it's", "é", "\\"]),
        "date": lambda: dt.date(2024, 2, rng.randint(1, 28)),
        "time": lambda: dt.datetime(2024, 1, 2, rng.randrange(24)),
        "boolean": lambda: rng.random() < 0.5,
        "decimal": lambda: Decimal(rng.choice(["0.5", "-1.25", "3"])),
    }[kind]()


def leaf(rng, kind, seen):
    name = rng.choice(KEYS[kind])
    way = rng.choice(["column", "column", "lag", "first", "total"])
    seen[way] += 1
    if way == "lag":
        return wr.lag(name).over(WINDOW), pl.col(name).shift(1).over(**OVER)
    if way == "first":
        return wr.first_value(name).over(WINDOW), pl.col(name).first().over(**OVER)
    if way == "total" and name == "i":
        return wr.max(name).over(wr.window("k")), pl.col(name).max().over("k")
    return wr.col(name), pl.col(name)


def value(rng, kind, depth, seen):
    """Give an expression of windrow's with the same of Polars'."""
    if depth == 0:
        return leaf(rng, kind, seen)
    ours, theirs = value(rng, kind, depth - 1, seen)
    operation = rng.choice(
        ["fill", "when", *(["+", "-", "*", "abs", "neg", "/", "cast", "reflected"] if kind == "number" else [])]
    )
    seen[operation] += 1
    if operation == "fill":
        if kind == "decimal":
            return ours, theirs  # where Polars keeps the column's scale
        given = literal(rng, kind)
        return ours.fill_null(given), pl.coalesce(theirs, pl.lit(given))
    if operation == "when":
        test, their_test = condition(rng, 0, seen)
        other, their_other = value(rng, kind, 0, seen)
        return wr.when(test).then(ours).otherwise(other), pl.when(their_test).then(theirs).otherwise(their_other)
    if operation == "abs":
        return abs(ours), theirs.abs()
    if operation == "neg":
        return -ours, -theirs.cast(pl.Float64) if False else 0 - theirs
    if operation == "cast":
        return ours.cast("double"), theirs.cast(pl.Float64)
    if operation == "reflected":
        number = rng.choice([7, 0.25])
        return number - ours, number - theirs
    if operation == "/":
        number = rng.choice([4, -0.5])
        return ours / number, theirs / number
    other, their_other = value(rng, kind, 0, seen)
    # 64 bits: Polars' narrower integers would wrap where Spark's widen or fail
    if operation == "+":
        return ours + other, theirs + their_other
    if operation == "-":
        return ours - other, theirs - their_other
    return ours * other, theirs * their_other


def condition(rng, depth, seen):
    if depth == 0:
        kind = rng.choice(list(KEYS))
        (ours, theirs), (other, their_other) = leaf(rng, kind, seen), leaf(rng, kind, seen)
        if rng.random() < 0.5:
            given = literal(rng, kind)
            other, their_other = given, pl.lit(given)
        operation = rng.choice(["==", "!=", "<", "<=", ">", ">=", "null", "not null", "between", "in"])
        seen[operation] += 1
        if operation == "null":
            return ours.is_null(), theirs.is_null()
        if operation == "not null":
            return ours.is_not_null(), theirs.is_not_null()
        if operation == "between":
            low, high = literal(rng, kind), literal(rng, kind)
            return ours.between(low, high), (theirs >= pl.lit(low)) & (theirs <= pl.lit(high))
        if operation == "in":
            given = [literal(rng, kind) for _ in range(rng.randint(1, 3))]
            equal = pl.lit(value=False)
            for one in given:
                equal = equal | (theirs == pl.lit(one))
            return ours.is_in(given), equal
        return (
            {"==": ours == other, "!=": ours != other, "<": ours < other, "<=": ours <= other, ">": ours > other,
             ">=": ours >= other}[operation],
            {"==": theirs == their_other, "!=": theirs != their_other, "<": theirs < their_other,
             "<=": theirs <= their_other, ">": theirs > their_other, ">=": theirs >= their_other}[operation],
        )  # fmt: skip
    (ours, theirs), (other, their_other) = condition(rng, depth - 1, seen), condition(rng, 0, seen)
    operation = rng.choice("&|~")
    seen[operation] += 1
    if operation == "~":
        return ~ours, ~theirs
    return (ours & other, theirs & their_other) if operation == "&" else (ours | other, theirs | their_other)


def same(one, other):
    if isinstance(one, float) and isinstance(other, (int, float)):
        return (math.isnan(one) and math.isnan(other)) or one == other
    return one == other


@pytest.mark.parametrize("part", range(4))
def test_operators_give_what_polars_gives(part):
    rng, seen = random.Random(f"operators {SEED} {part}"), Counter()
    table = frame(rng).cast({"j": pl.Int32})
    rows = 0
    for number in range(60):
        kind = rng.choice(["number", "number", *KEYS])
        depth = rng.randrange(4)
        ours, theirs = condition(rng, depth, seen) if rng.random() < 0.5 else value(rng, kind, depth, seen)
        expected = table.with_columns(pl.col("j").cast(pl.Int64)).select(r=theirs)["r"].to_list()
        for given in (table, table.to_arrow()):
            answer = wr.select(given, r=ours)["r"]
            found = answer.to_list() if isinstance(given, pl.DataFrame) else answer.to_pylist()
            assert all(map(same, found, expected)), (number, str(ours), list(zip(found, expected, strict=True)))
            rows += len(found)
        # the same by its text, and as a part of a call
        again = wr.select(table, r=wr.expr(str(ours)))["r"]
        assert again.equals(wr.select(table, r=ours)["r"]), str(ours)
        counted = wr.select(table, r=wr.count(ours).over(wr.window()))["r"][0]
        assert counted == len(expected) - expected.count(None), str(ours)
    assert rows == 60 * 2 * 40
    assert len(seen) >= 20, seen


def test_expressions_are_items_arguments_keys_filters_and_bounds():
    table = pa.table({"k": [1, 2, 3, 4], "v": [5, 1, None, 2]})
    odd = wr.col("k") % 2
    items = {
        "item": wr.col("v") + 1,
        "argument": wr.sum(wr.col("v") * 10).over(),
        "key": wr.count().over(wr.window(odd)),
        "order": wr.row_number().over(wr.window(order_by=wr.desc(-wr.col("k")))),
        "filter": wr.sum("v").filter((wr.col("v") > 1) & (odd == 0)).over(),
        "bound": wr.count().over(wr.window(order_by="k", rows=(wr.preceding(wr.col("k") - 1), 0))),
        "inside": wr.max(wr.col("k") - wr.lag("k").over(wr.window(order_by="k"))).over(),
    }
    assert wr.select(table, items).to_pydict() == {
        "item": [6, 2, None, 3],
        "argument": [80] * 4,
        "key": [2] * 4,
        "order": [1, 2, 3, 4],
        "filter": [2] * 4,
        "bound": [1, 2, 3, 4],
        "inside": [1] * 4,
    }
