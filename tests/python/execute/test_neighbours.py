"""Answers depend on nothing but their call and the rows: not on calls beside it, memory, threads or batches."""

from __future__ import annotations

import math
import random
from decimal import Decimal

import pyarrow as pa
import pytest

import windrow as wr
from support.random_calls import rounds

ROWS = 400
ORDERS = ["", "ORDER BY t", "ORDER BY t, id", "ORDER BY u", "ORDER BY t DESC", "ORDER BY t, u", "ORDER BY u, t, id"]
UNITS = ["ROWS", "RANGE", "GROUPS"]
SUMS = ("sum", "avg")
ROUNDED = ("var_samp", "stddev_pop", "skewness", "kurtosis", "corr", "regr_slope", "entropy", "ewm_mean", "product")


def rows(rng):
    """Make rows in no order, with many ties by k, t and u."""

    def some(values):
        return [None if rng.random() < 0.1 else value for value in values]

    every = range(ROWS)
    return pa.table(
        {
            "id": pa.array(rng.sample(every, ROWS), pa.int64()),
            "k": pa.array(some(rng.choices([1, 2, 3, 4], k=ROWS)), pa.int32()),
            "t": pa.array(some(rng.choices(range(9), k=ROWS)), pa.int32()),
            "u": pa.array(rng.choices(range(20), k=ROWS), pa.int64()),
            "v": pa.array(some([rng.randint(-(10**9), 10**9) for _ in every]), pa.int64()),
            "d": pa.array(some([Decimal(rng.randint(-999, 999)).scaleb(-2) for _ in every]), pa.decimal128(6, 2)),
            "x": pa.array(some([rng.uniform(-5, 5) for _ in every]), pa.float64()),
            "z": pa.array(some(rng.choices([0.0, -0.0, 1.0], k=ROWS)), pa.float64()),
            "y": pa.array([rng.uniform(0.5, 1.5) for _ in every], pa.float64()),
            "s": pa.array(some([rng.choice("abcdef") * rng.randrange(5) for _ in every]), pa.string()),
            "b": pa.array(some([rng.random() < 0.5 for _ in every]), pa.bool_()),
        }
    )


def frame(rng, order):
    if not order or rng.random() < 0.25:
        return ""
    units = rng.choice(UNITS)
    if units == "RANGE" and "," in order:
        start, end = (
            rng.choice(["UNBOUNDED PRECEDING", "CURRENT ROW"]),
            rng.choice(["CURRENT ROW", "UNBOUNDED FOLLOWING"]),
        )
    else:
        start = rng.choice(["UNBOUNDED PRECEDING", "4 PRECEDING", "1 PRECEDING", "CURRENT ROW"])
        end = rng.choice(["CURRENT ROW", "1 FOLLOWING", "3 FOLLOWING", "UNBOUNDED FOLLOWING"])
    exclude = rng.choice(["", "", "", " EXCLUDE CURRENT ROW", " EXCLUDE GROUP", " EXCLUDE TIES"])
    return f" {units} BETWEEN {start} AND {end}{exclude}"


def call(rng, depth=0):
    """Draw a call: its function and its text."""
    order = rng.choice(ORDERS)
    partition = rng.choice(["PARTITION BY k", "PARTITION BY k", ""])
    over = f"{partition} {order}".strip()
    whole = rng.choice(["v", "v", "d", "id"])
    if depth < 1 and rng.random() < 0.35:
        whole = call_of(rng, ["row_number", "rank", "count"], depth)
    if order and rng.random() < 0.4:
        function = rng.choice(["row_number", "rank", "dense_rank", "percent_rank", "cume_dist", "ntile", "lag", "lead"])
        arguments = {"ntile": "3", "lag": "s, 2", "lead": whole}.get(function, "")
        return function, f"{function}({arguments}) OVER ({over})"
    functions = {
        "sum": rng.choice([whole, "x"]), "avg": rng.choice([whole, "x"]), "count": rng.choice(["*", "s", "DISTINCT v"]),
        "min": rng.choice([whole, "s", "z"]), "max": rng.choice([whole, "x", "z"]), "first_value": whole,
        "last_value": "s", "collect_list": rng.choice([whole, "s"]), "collect_set": "s", "mode": "s", "median": "v",
        "bool_and": "b", "bit_xor": "v", "min_by": "s, v", "listagg": "s", "histogram_numeric": "x, 3", "var_samp": "x",
        "stddev_pop": "x", "skewness": "x", "kurtosis": "x", "corr": "x, y", "regr_slope": "x, y", "entropy": "s",
        "ewm_mean": "x, 0.3", "product": "y",
    }  # fmt: skip
    function = rng.choice([*functions, "row_number", "histogram_numeric", "sum", "count", "max"])
    if function == "row_number":
        return call(rng, depth)
    chosen = " FILTER (WHERE b)" if rng.random() < 0.15 else ""
    return function, f"{function}({functions[function]}){chosen} OVER ({over}{frame(rng, order)})"


def call_of(rng, functions, depth):
    while True:
        function, text = call(rng, depth + 1)
        if function in functions:
            return text


def bound(function, expected):
    """How far two answers of a call may lie apart: these fold the same rows in shares that are not always the same.

    Sums and averages of doubles are compensated: 4 ulp. Moments, entropy, weighted means and products of values as they
    are here, which neither cancel each other out nor overflow, agree to 1e-10 of the greater of 1 and the answer.
    """
    if function in SUMS:
        return 4 * math.ulp(expected)
    return 1e-10 * max(1.0, abs(expected)) if function in ROUNDED else 0.0


def agree(function, one, other):
    if isinstance(one, float) and isinstance(other, float):
        near = bound(function, one)
        if not near:
            return repr(one) == repr(other)  # which tells zeros apart
        return one == other or (math.isnan(one) and math.isnan(other)) or abs(one - other) <= near
    return one == other


def cut(rng, table):
    """Cut the rows into batches."""
    at, batches = 0, []
    whole = table.combine_chunks().to_batches()[0]
    while at < table.num_rows:
        length = rng.choice([1, 7, 60, 150])
        batches.append(whole.slice(at, length))
        at += length
    return batches


def compared(rng, ways):
    """Compare some calls with each call alone, in memory, on one thread; give how many values, and what differs."""
    table = rows(rng)
    calls = {f"c{i}": call(rng) for i in range(6)}
    expected = {}
    for name, (_, text) in calls.items():
        with wr.config(threads=1):
            answers = wr.select(table, "id", {name: text}).to_pydict()
        expected[name] = dict(zip(answers["id"], answers[name], strict=True))
    different, count = [], 0
    for way in ways:
        threads, some = rng.choice([1, 2, 4]), dict(rng.sample(sorted(calls.items()), rng.randint(2, 6)))
        texts = {name: text for name, (_, text) in some.items()}
        with wr.config(threads=threads, memory_limit=None if way == "table" else rng.choice([1, 10**9])):
            if way == "table":
                found = wr.with_columns(table, texts)
            else:
                operator = wr.operator(texts, table.schema, sort=True)
                found = pa.Table.from_batches(operator(cut(rng, table)), operator.schema)
        found.validate(full=True)
        ids = found["id"].to_pylist()
        assert sorted(ids) == sorted(expected["c0"])
        for name, (function, text) in some.items():
            wrong = [
                (i, expected[name][i], answer)
                for i, answer in zip(ids, found[name].to_pylist(), strict=True)
                if not agree(function, expected[name][i], answer)
            ]
            count += len(ids)
            if wrong:
                different.append(f"{way}, {threads} threads, beside {texts}\n  {text}: {len(wrong)} rows, {wrong[:3]}")
    return count, different


@pytest.mark.parametrize("number", rounds(40, 6))
def test_each_column_is_that_of_the_call_alone(number):
    rng = random.Random(number)
    count, different = compared(rng, ["table", "operator", "operator"])
    assert count >= 6 * ROWS
    assert not different, "\n".join(different)


@pytest.mark.parametrize("beside", [{}, {"longer": "sum(v) OVER (PARTITION BY k ORDER BY t, id)"}])
@pytest.mark.parametrize(
    "text",
    [
        "row_number() OVER (PARTITION BY k ORDER BY t)",
        "lag(id) OVER (PARTITION BY k ORDER BY t)",
        "sum(v) OVER (PARTITION BY k ORDER BY t ROWS 2 PRECEDING)",
        "first_value(id) OVER (PARTITION BY k ORDER BY t)",
        "row_number() OVER (ORDER BY u)",
        "lag(row_number() OVER (ORDER BY u, id)) OVER (PARTITION BY k ORDER BY t)",
    ],
)
def test_ties_keep_the_order_in_which_rows_come(text, beside):
    table = rows(random.Random(1))
    expected = dict(zip(table["id"].to_pylist(), wr.select(table, n=text)["n"].to_pylist(), strict=True))
    with wr.config(memory_limit=1):
        operator = wr.operator({"n": text, **beside}, table.schema, sort=True)
        found = pa.Table.from_batches(operator(table.to_batches(50)), operator.schema)
    assert found["id"].to_pylist() == table["id"].to_pylist()
    assert dict(zip(found["id"].to_pylist(), found["n"].to_pylist(), strict=True)) == expected
