"""``wr.rank`` by each method against pandas, Polars and a loop, over whole partitions and within frames."""

import random

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import windrow as wr
from support.comparison import equal
from support.random_calls import SEED

METHODS = ["min", "max", "average", "dense", "ordinal"]
PANDAS = {"ordinal": "first"}


def table(rng, count=150):
    return pa.table(
        {
            "id": range(count),
            "k": [rng.randint(0, 3) for _ in range(count)],
            "x": [rng.choice([None, *range(8)]) for _ in range(count)],
        }
    )


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("pct", [False, True])
@pytest.mark.parametrize("descending", [False, True])
def test_as_pandas_and_polars_rank(method, pct, descending):
    rng = random.Random(SEED)
    compared = 0
    for _ in range(4):
        data = table(rng)
        groups = data.to_pandas().groupby("k")["x"]
        for nulls in ("first", "last"):
            order = (wr.desc if descending else wr.asc)("x", nulls=nulls)
            item = wr.rank(method, pct=pct, nulls="keep").over("k", order_by=order)
            want = groups.rank(method=PANDAS.get(method, method), pct=pct, ascending=not descending, na_option="keep")
            for strategy in (None, "naive"):
                with wr.config(strategy=strategy):
                    found = wr.select(data, r=item)["r"]
                assert found.type == (pa.float64() if pct or method == "average" else pa.int32())
                pd.testing.assert_series_equal(
                    found.to_pandas().astype(float), want, check_names=False, rtol=1e-15, atol=0
                )
            compared += len(found) - found.null_count
            chunked = pa.concat_tables([data.slice(0, 50), data.slice(50, 0), data.slice(50)])
            assert wr.select(chunked, r=item)["r"].to_pylist() == found.to_pylist()
            # SQL's order of nulls: they are ranked at the top or at the bottom
            item = wr.rank(method, pct=pct).over("k", order_by=order)
            want = groups.rank(
                method=PANDAS.get(method, method),
                pct=pct,
                ascending=not descending,
                na_option="top" if nulls == "first" else "bottom",
            )
            for strategy in (None, "naive"):
                with wr.config(strategy=strategy):
                    found = wr.select(data, r=item)["r"].to_pandas().astype(float)
                pd.testing.assert_series_equal(found, want, check_names=False, rtol=1e-15, atol=0)
        if not pct:
            frame = pl.from_arrow(data)
            want = frame.select(pl.col("x").rank(method, descending=descending).over("k"))["x"].to_list()
            order = (wr.desc if descending else wr.asc)("x")
            found = wr.select(frame, r=wr.rank(method, nulls="keep").over("k", order_by=order))["r"].to_list()
            assert all(equal(a, b, types=False) for a, b in zip(found, want, strict=True))
    assert compared > 900


def rank_of(values, own, method, *, pct, place):
    """Rank a value among a frame's values, of which ``place`` come before it as ties."""
    less, ties = sum(v < own for v in values), sum(v == own for v in values)
    least, most = less + 1, max(less + ties, less + 1)
    rank = {"min": least, "max": most, "average": (least + most) / 2, "ordinal": less + place + 1}[method]
    return rank / max(len(values), 1) if pct else rank


@pytest.mark.parametrize("method", ["min", "max", "average", "ordinal"])
@pytest.mark.parametrize("pct", [False, True])
def test_within_frames(method, pct):
    rng = random.Random(SEED)
    data = table(rng)
    values = data["x"].to_pylist()
    compared = 0
    for rows, span in (((-6, 2), (6, 2)), ((None, 0), (999, 0)), ((1, 4), (-1, 4))):
        item = wr.rank(method, pct=pct, nulls="keep").order_by("x").over(order_by="id", rows=rows)
        want = []
        for i, own in enumerate(values):
            frame = range(max(0, i - span[0]), min(len(values), i + span[1] + 1))
            near = [values[j] for j in frame if values[j] is not None]
            place = sum(values[j] == own for j in frame if j < i)
            want.append(None if own is None else rank_of(near, own, method, pct=pct, place=place))
        for strategy in (None, "naive"):
            with wr.config(strategy=strategy):
                found = wr.select(data, r=item)["r"].to_pylist()
            assert all(equal(a, b, types=False, rel=1e-15) for a, b in zip(found, want, strict=True)), (rows, strategy)
        compared += len(want)
    assert compared == 450


def test_plain_ranks_are_sqls():
    assert repr(wr.rank()) == "rank()"
    assert repr(wr.rank("dense")) == "dense_rank()"
    assert repr(wr.rank("ordinal")) == "row_number()"
    call = wr.rank("max", nulls="keep").over("k", order_by="x")
    assert repr(call) == "rank_with('max', false, true) OVER (PARTITION BY k ORDER BY x)"
    assert wr.expr(repr(call)).equals(call)
    data = table(random.Random(SEED))
    found = wr.sql("SELECT rank_with('average', true) OVER (PARTITION BY k ORDER BY x) AS r FROM d", d=data)
    assert found["r"].equals(wr.select(data, r=wr.rank("average", pct=True).over("k", order_by="x"))["r"])
    empty = wr.select(data.slice(0, 0), r=call)
    assert empty["r"].to_pylist() == []


def test_a_memory_limit():
    rng = random.Random(SEED)
    count = 30_000
    data = pa.table({"k": [rng.randint(0, 40) for _ in range(count)], "x": [rng.randint(0, 99) for _ in range(count)]})
    item = wr.rank("average", pct=True).over("k", order_by="x")
    want = wr.select(data, r=item)["r"]
    with wr.config(memory_limit="1 MiB"):
        assert wr.select(data, r=item)["r"].equals(want)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: wr.rank("first"), "method is one of 'min', 'max', 'average', 'dense', 'ordinal', not 'first'"),
        (lambda: wr.rank(nulls="first"), 'nulls is "keep", or None'),
        (lambda: wr.rank(pct="yes"), "rank.*pct='yes' is neither True nor False"),
        (lambda: wr.rank("max", nulls="keep").over(order_by=["x", "id"]), "there are 2 keys; order by one"),
        (lambda: wr.rank("dense", pct=True).order_by("x").over(order_by="id"), r"use dense_rank\(ORDER BY"),
        (lambda: wr.expr("rank_with('first') OVER (ORDER BY x)"), "the method of rank_with is one of 'min', 'max'"),
        (lambda: wr.rank("max").over("k"), "add an ORDER BY"),
    ],
)
def test_messages(call, message):
    with pytest.raises(wr.SpecError, match=message):
        wr.select(table(random.Random(SEED)), r=call())
