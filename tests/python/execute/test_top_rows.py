"""The rows that a limit on a rank keeps, found without a sort: all of them, and few others."""

import random
import re

import pyarrow as pa
import pytest

import windrow as wr
from windrow._execute.in_memory import WorkingColumns
from windrow._execute.top_rows import top_rows
from windrow._parse.items import read_items
from windrow._plan.bind import plan_steps
from windrow.settings import current

COUNTED = {"row_number": "rows", "rank": "peers", "dense_rank": "values"}
KEYS = {  # and how many rows beyond the limit may be kept, as a share of all
    "few": 0.0,
    "many DESC": 0.0,
    "few DESC NULLS FIRST, odd": 0.0,
    "odd, many, few": 0.0,  # a word of 128 bits
    "long, many": 0.4,  # a word that holds the beginning of the text
}


def make_table(rows):
    rng = random.Random(rows)
    nan = float("nan")
    return pa.table(
        {
            "k": pa.array([rng.choice([0, 1, 2, 3, 4, None]) for _ in range(rows)], pa.int32()),
            "few": pa.array([rng.choice([*range(1, 9), None]) for _ in range(rows)], pa.int64()),
            "odd": pa.array([rng.choice([nan, -0.0, 0.0, float("inf"), -1.5]) for _ in range(rows)], pa.float64()),
            "many": pa.array([rng.randrange(2**40) for _ in range(rows)], pa.int64()),
            "long": pa.array(["xyz"[rng.randrange(3)] * 30 + str(rng.randrange(30)) for _ in range(rows)]),
        }
    )


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("partition", ["PARTITION BY k ", ""])
def test_no_row_is_missing(partition, threads):
    compared = 0
    for rows in (10_000, 150_000):
        table = make_table(rows)
        for keys, share in KEYS.items():
            for function, counted in COUNTED.items():
                for most in (1, 4):
                    call = f"{function}() OVER ({partition}ORDER BY {keys}) AS r"
                    names = table.column_names
                    plan = plan_steps(read_items([call], {}, names, selecting=True), names, selecting=True)
                    with wr.config(threads=threads):
                        working = WorkingColumns(table.columns, len(names), rows, table.schema)
                        found = top_rows(working, plan, most, counted, current())
                        ranks = wr.select(table, call)["r"].to_pylist()
                    expected = [row for row, rank in enumerate(ranks) if rank <= most]
                    if found is None:
                        assert len(expected) > rows / 4 or share, (keys, function, most)
                        continue
                    kept = found.to_pylist()
                    assert kept == sorted(kept)
                    assert not set(expected).difference(kept), (keys, function, most)
                    assert len(kept) <= len(expected) + max(share * rows, threads * most * 6), (keys, function, most)
                    compared += 1
    assert compared >= 40


def test_where_sorting_costs_no_more():
    table = make_table(10_000)
    names = table.column_names
    for keys, most in (("PARTITION BY many ORDER BY few", 1), ("ORDER BY few", 2501), ("ORDER BY few", 2000)):
        call = f"row_number() OVER ({keys}) AS r"
        plan = plan_steps(read_items([call], {}, names, selecting=True), names, selecting=True)
        assert (
            top_rows(WorkingColumns(table.columns, len(names), 10_000, table.schema), plan, most, "rows", current())
            is None
        )


@pytest.mark.parametrize("engine", ["in-memory", "streaming"])
def test_lazy_frames_keep_the_rows_of_frames_in_memory(engine):
    pl = pytest.importorskip("polars")
    from polars.testing import assert_frame_equal

    frame = pl.DataFrame(make_table(30_000)).with_row_index("id")
    compared = 0
    for keys in KEYS:
        for function in COUNTED:
            for partition in ("PARTITION BY k ", ""):
                for where in ("", "WHERE id % 3 > 0 "):
                    rank = f"{function}() OVER ({partition}ORDER BY {keys}) AS r"
                    query = f"SELECT id, odd, {rank} FROM frame {where}QUALIFY r <= 3 ORDER BY id"
                    lazy = wr.sql(query, frame=frame.lazy())
                    assert re.search(r"FILTER col\(.*python_udf", lazy.explain()), (
                        "rows are left out before the windows"
                    )
                    expected = wr.sql(query, frame=frame)
                    assert_frame_equal(lazy.collect(engine=engine), expected)
                    compared += expected.height
    assert compared > 1_000
    with wr.config(memory_limit="1GB"):  # in batches, of which no expression sees all rows
        lazy = wr.sql("SELECT id FROM frame QUALIFY rank() OVER (PARTITION BY k ORDER BY many) = 1", frame=frame.lazy())
    assert lazy.collect().height >= frame["k"].n_unique()
