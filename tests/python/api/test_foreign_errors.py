"""Whatever a public call is given, what comes out is an answer or windrow's own error."""

from __future__ import annotations

import datetime as dt
import decimal
import random
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import windrow as wr

TABLE = pa.table({"x": [1, 2, 3], "y": [1.5, None, 2.0], "k": ["a", "b", None]})
FRAMES: list[Any] = [TABLE, TABLE.to_batches()[0], pl.from_arrow(TABLE), TABLE.to_pandas()]
ILL: list[Any] = [
    None, True, 0, -1, 2**63, 2**70, 10**50, 10**5000, 1.5, float("nan"), float("inf"), decimal.Decimal("sNaN"),
    decimal.Decimal("1e1000"), "", "x", "\u00b2", "9" * 5000, "\ud800", "a\0b", "*", "sum(x", "7 days", b"\xff", [],
    ["x", ["x"]],
    (2**63, 0), (1, 2, 3), {}, {1: 2}, {"x"}, object(), np.int64(3), np.array([1, 2]), np.datetime64("NaT", "D"), pd.NA,
    pd.Series([1]), pl.Series([1]), pl.col("x", "y"), pl.all(), pl.col("nope"), pa.array([1]), int, dt.timedelta.max,
    1j, range(3), ..., wr.expr("1e40BD"), wr.expr("cast(x as decimal(39, 2))"), wr.expr("1" * 5000),
    wr.expr("nonsense("),
    wr.window(), wr.sum("x"), wr.asc("x"), wr.preceding(1),
]  # fmt: skip
FUNCTIONS = [
    wr.sum,
    wr.max,
    wr.lag,
    wr.nth_value,
    wr.percentile_approx,
    wr.ewm_mean,
    wr.collect_list,
    wr.mode,
    wr.ntile,
]
SETTINGS = ("threads", "memory_limit", "spill_dir", "ansi", "timezone", "strategy", "engine", "spread", "progress")


@pytest.mark.parametrize("seed", range(4))
def test_ill_values_give_answers_or_our_errors(seed: int) -> None:
    draw = random.Random(seed)
    refused = 0
    for _ in range(250):
        function = draw.choice(FUNCTIONS)
        arguments = [draw.choice(ILL) if draw.random() < 0.6 else "x" for _ in range(1 if function is wr.ntile else 2)]
        keys = {
            name: draw.choice(ILL)
            for name in ("partition_by", "order_by", "rows", "range", "groups", "exclude", "min_rows")
            if draw.random() < 0.15
        }
        try:
            call = function(*arguments[: 1 if function in (wr.sum, wr.max, wr.collect_list) else 2])
            if draw.random() < 0.2:
                call = call.filter(draw.choice(ILL))
            wr.with_columns(draw.choice(FRAMES), y=call.over(wr.window(**keys)))
        except wr.WindrowError:
            refused += 1
        try:
            with wr.config(**{draw.choice(SETTINGS): draw.choice(ILL)}):  # type: ignore[misc]
                pass
        except wr.WindrowError:
            refused += 1
    assert refused > 150


def test_frames_that_are_none_say_what_to_write() -> None:
    for frame, words in (
        (pd.Series([1]), "to_frame" if hasattr(pd.Series, "__arrow_c_stream__") else "is not a frame"),
        (pa.array([1]), "one column"),
        (pd.DataFrame({"x": [2**70]}), "'x'"),
        (pd.DataFrame({"x": [1j]}), "'x'"),
        (pl.DataFrame({"x": pl.Series([1], dtype=pl.Int128)}), "Int128"),
    ):
        with pytest.raises(wr.WindrowError, match=words):
            wr.with_columns(frame, y=wr.sum("x").over())
    with pytest.raises(wr.SpecError, match="is 2 columns, of which each needs a name"):
        wr.with_columns(pl.from_arrow(TABLE), z=wr.max(pl.col("x", "y")).over())


def test_index_level_hint_in_queries() -> None:
    frame = pd.DataFrame({"v": [1, 2]}, index=pd.Index([1, 2], name="day"))
    for query in (
        "SELECT day FROM frame",
        "SELECT day + 1 FROM frame",
        "SELECT v FROM frame WHERE day > 1",
        "SELECT v FROM frame ORDER BY day",
    ):
        with pytest.raises(wr.SpecError, match=r"reset_index\(\)"):
            wr.sql(query, frame=frame)
    with pytest.raises(wr.SpecError, match="'nowhere' is unknown; there is"):
        wr.sql("SELECT nowhere FROM frame", frame=frame)


def test_a_level_of_the_index_may_have_any_name() -> None:
    draw = random.Random(11)
    for _ in range(20):
        name = "".join(draw.choices("ab;:' (,", k=draw.randint(1, 6)))
        frame = pd.DataFrame({"v": [1, 2]}, index=pd.Index([1, 2], name=name))
        assert wr.with_columns(frame, y=wr.sum(wr.col(name)).over())["y"].tolist() == [3, 3]
        with pytest.raises(wr.SpecError) as caught:
            wr.with_columns(frame, y=wr.sum(wr.expr("v + `nothing`")).over(wr.window(wr.col(name))))
        assert "nothing" in str(caught.value)
        with pytest.raises(wr.SpecError) as caught:
            wr.select(frame, wr.col(name))
        said = f"column {name!r} is unknown; {name!r} is a level of the index, which only calls can read: write "
        assert said in str(caught.value)


def test_calls_read_levels_of_the_index() -> None:
    index = pd.MultiIndex.from_tuples([(1, "b"), (2, "a"), (1, "a"), (2, "c")], names=["shop", "day"])
    frame = pd.DataFrame({"v": [1, 2, 4, 8], "w": [1, 1, 1, 1]}, index=index)
    calls = {
        "total": wr.sum("v").over(wr.window("shop", "day")),
        "best": "max(day) OVER (PARTITION BY shop)",
        "v": wr.count().filter(wr.expr("day = 'a'")).over(),
    }
    out = wr.with_columns(frame, calls)
    wanted = wr.with_columns(frame.reset_index(), calls).set_index(["shop", "day"])
    assert list(out.columns) == ["v", "w", "total", "best"]
    assert out["total"].tolist() == [5, 2, 4, 10]
    pd.testing.assert_frame_equal(out, wanted)
    selected = wr.select(frame, "w", {"total": calls["total"]})
    pd.testing.assert_frame_equal(selected, wanted[["w", "total"]])
    types = [row["type"] for row in wr.explain(frame, calls).rows]
    assert types == [row["type"] for row in wr.explain(frame.reset_index(), calls).rows]
    first = "row_number() OVER (PARTITION BY shop ORDER BY day) = 1"
    query = f"SELECT v, sum(v) OVER (PARTITION BY shop) AS s FROM f QUALIFY {first}"
    assert wr.sql(query, f=frame).values.tolist() == [[2, 10], [4, 5]]
    shadowed = frame.rename(columns={"w": "shop"})
    assert wr.select(shadowed, s=wr.sum("v").over(wr.window("shop")))["s"].tolist() == [15] * 4


def test_frames_whose_names_differ_in_case_alone() -> None:
    tables = {"TT": TABLE, "tt": TABLE, "u": TABLE}
    assert wr.sql("SELECT x FROM TT", **tables).equals(wr.sql("SELECT x FROM U", **tables))
    with pytest.raises(wr.SpecError, match="FROM tT: 'TT', 'tt' differ in case alone"):
        wr.sql("SELECT x FROM tT", **tables)
