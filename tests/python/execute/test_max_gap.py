"""Fills with a longest gap against a loop over the rows and pandas: linear, forward and backward."""

import datetime as dt
import random

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import windrow as wr
from support.comparison import equal
from support.random_calls import SEED

NOON = dt.datetime(2024, 3, 30, 12)
FILLS = {"fill": wr.fill, "fill_forward": wr.fill_forward, "fill_backward": wr.fill_backward}


def filled(rows, how, longest):
    """Fill sorted (key, value) pairs, by definition; nulls among the keys stand at an end."""
    known = [i for i, (key, value) in enumerate(rows) if key is not None and value is not None]
    placed = [i for i, (key, _) in enumerate(rows) if key is not None]
    out = []
    for i, (key, value) in enumerate(rows):
        before = [j for j in known if j < i]
        after = [j for j in known if j > i]
        if value is not None or key is None or not known:
            out.append(value)
            continue
        low, high = before[-1] if before else placed[0], after[0] if after else placed[-1]
        if rows[high][0] - rows[low][0] > longest:
            out.append(None)
        elif how == "fill_forward":
            out.append(rows[low][1] if before else None)
        elif how == "fill_backward":
            out.append(rows[high][1] if after else None)
        elif len(known) == 1:
            out.append(rows[known[0]][1])
        else:
            if not before:
                low, high = known[:2]
            elif not after:
                low, high = known[-2:]
            whole = rows[high][0] - rows[low][0]
            share = (key - rows[low][0]) / whole if whole else 0.0
            out.append(rows[low][1] * (1 - share) + rows[high][1] * share)
    return out


def table(rng, count, nulls_first):
    keys = sorted(rng.randint(0, 4 * count) for _ in range(count))
    keys = [NOON + dt.timedelta(minutes=k) for k in keys]
    missing = rng.randint(0, 4)
    keys = [None] * missing + keys[missing:] if nulls_first else keys[missing:] + [None] * missing
    return pa.table(
        {
            "k": [i % 3 for i in range(count)],
            "t": pa.array(keys, pa.timestamp("ns")),
            "x": [None if rng.random() < 0.7 else float(rng.randint(0, 9)) for _ in range(count)],
            "s": [None if rng.random() < 0.7 else rng.choice("abc") for _ in range(count)],
        }
    )


@pytest.mark.parametrize("how", FILLS)
@pytest.mark.parametrize("nulls", ["first", "last"])
def test_against_a_loop(how, nulls):
    rng = random.Random(SEED)
    longest, changed, compared = dt.timedelta(minutes=25), 0, 0
    for _ in range(6):
        data = table(rng, 90, nulls == "first")
        rows = data.set_column(1, "t", data["t"].cast(pa.timestamp("us"))).to_pylist()
        for column in "x" if how == "fill" else "xs":
            item = FILLS[how](column, longest).over("k", order_by=wr.asc("t", nulls=nulls))
            want = [None] * len(rows)
            for k in range(3):
                places = [i for i, row in enumerate(rows) if row["k"] == k]
                answers = filled([(rows[i]["t"], rows[i][column]) for i in places], how, longest)
                for i, value in zip(places, answers, strict=True):
                    want[i] = value
            for strategy in (None, "naive"):
                with wr.config(strategy=strategy):
                    found = wr.select(data, c=item)["c"].to_pylist()
                assert all(equal(a, b, rel=1e-12) for a, b in zip(found, want, strict=True)), (item, strategy)
            chunked = pa.concat_tables([data.slice(0, 31), data.slice(31, 0), data.slice(31)])
            assert wr.select(chunked, c=item)["c"].to_pylist() == found
            everything = wr.select(data, c=FILLS[how](column).over("k", order_by="t"))["c"].to_pylist()
            changed += sum(a != b for a, b in zip(found, everything, strict=True))
            compared += len(want)
    assert changed > 50
    assert compared >= 540


def test_evenly_spaced_gaps_are_pandas():
    """Of evenly spaced rows, a gap of n nulls is n + 1 steps: what pandas fills whole where its runs are no longer."""
    rng = random.Random(SEED)
    values = pd.Series([np.nan if rng.random() < 0.6 else float(rng.randint(0, 9)) for _ in range(200)])
    values.iloc[[0, -1]] = 1.0
    runs = values.isna().groupby(values.notna().cumsum()).transform("sum")
    data = pa.table({"t": range(200), "x": pa.array(values, from_pandas=True)})
    for steps in (1, 2, 3, 5):
        hide = values.isna() & (runs + 1 > steps)
        for how, want in (
            ("fill", values.interpolate()),
            ("fill_forward", values.ffill()),
            ("fill_backward", values.bfill()),
        ):
            found = wr.select(data, c=FILLS[how]("x", max_gap=steps).over(order_by="t"))["c"].to_pandas()
            pd.testing.assert_series_equal(found, want.where(~hide), check_names=False)


def test_ends_descending_and_empty():
    data = pa.table({"t": [0, 4, 6, 7, 9], "x": [None, None, 5, None, None]})
    w = wr.window(order_by="t")
    assert wr.select(data, c=wr.fill_forward("x", 3).over(w))["c"].to_pylist() == [None, None, 5, 5, 5]
    assert wr.select(data, c=wr.fill_forward("x", 2).over(w))["c"].to_pylist() == [None, None, 5, None, None]
    assert wr.select(data, c=wr.fill_backward("x", 6).over(w))["c"].to_pylist() == [5, 5, 5, None, None]
    assert wr.select(data, c=wr.fill_backward("x", 5).over(w))["c"].to_pylist() == [None, None, 5, None, None]
    down = wr.window(order_by=wr.desc("t"))
    assert wr.select(data, c=wr.fill_forward("x", 6).over(down))["c"].to_pylist() == [5, 5, 5, None, None]
    assert wr.select(data.slice(0, 0), c=wr.fill("x", 2).over(w))["c"].to_pylist() == []
    assert wr.select(data.slice(0, 2), c=wr.fill_forward("x", 9).over(w))["c"].to_pylist() == [None, None]


def test_sql_streams_and_messages():
    rng = random.Random(SEED)
    count = 30_000
    data = pa.table(
        {
            "k": [i // 2_000 for i in range(count)],
            "t": range(count),
            "x": [None if rng.random() < 0.6 else rng.randint(0, 99) for _ in range(count)],
        }
    )
    sql = "SELECT fill_forward(x, 3) OVER (PARTITION BY k ORDER BY t) AS f FROM d"
    found = wr.sql(sql, d=data)["f"]
    item = wr.fill_forward("x", max_gap=3).over("k", order_by="t")
    assert found.equals(wr.select(data, f=item)["f"])
    assert data["x"].null_count > found.null_count > 1000
    with wr.config(memory_limit="1 MiB"):
        assert wr.select(data, f=item)["f"].equals(found)
    assert wr.expr(repr(item)).equals(item)
    with pytest.raises(wr.SpecError, match="max_gap is a distance of at least 0, not -1"):
        wr.fill("x", max_gap=-1)
    with pytest.raises(wr.SpecError, match='the max_gap INTERVAL 1 HOUR does not suit order key "t" of type Int64'):
        wr.select(data, f=wr.fill("x", max_gap="1h").over("k", order_by="t"))
    with pytest.raises(wr.SpecError, match="a max_gap that is a distance needs exactly one ORDER BY key"):
        wr.select(data, f=wr.fill_forward("x", max_gap=1).over(order_by=["k", "t"]))
