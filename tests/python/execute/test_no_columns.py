"""Windows that read no column, also of batches that have none: as many rows leave as come, with their values."""

import random

import pyarrow as pa
import pytest

import windrow as wr
from support.random_calls import rounds

pl = pytest.importorskip("polars")

NOTHING_READ = [
    "count(*) OVER ()", "row_number() OVER (ORDER BY 1)", "sum(2) OVER ()", "median(1) OVER ()",
    "ntile(3) OVER (ORDER BY 1)", "lag(7) OVER (ORDER BY 1)",
    "first_value('a') OVER (ORDER BY 1 ROWS 1 PRECEDING)",
    "max(count(*) OVER ()) OVER ()", "collect_list(0) OVER (ORDER BY 1 ROWS 2 PRECEDING)",
    "sum(row_number() OVER (ORDER BY 1)) OVER (ORDER BY 1 ROWS UNBOUNDED PRECEDING)",
    "mode(3) OVER ()", "count(*) OVER () + 1",
    "count(*) FILTER (WHERE row_number() OVER (ORDER BY 1) < 3) OVER (ORDER BY 1 ROWS 1 PRECEDING)",
]  # fmt: skip


def numbers(rows):
    """Give a batch of one column."""
    return pa.record_batch({"x": pa.array(range(rows), pa.int64())})


def bare(rows):
    """Give a batch of no columns."""
    return numbers(rows).select([])


def ways(sizes, calls, sort):
    """Answer calls over batches of no columns, and over one column that they do not read."""
    batches = [bare(n) for n in sizes]
    table = pa.Table.from_batches(batches)
    wide = pa.Table.from_batches(map(numbers, sizes))
    yield "operator", pa.Table.from_batches(wr.operator(calls, pa.schema([]), sort=sort)(batches))
    yield (
        "reader",
        wr.with_columns(pa.RecordBatchReader.from_batches(pa.schema([]), batches), calls, sort=sort).read_all(),
    )
    yield "select of a reader", wr.select(wide.to_reader(), calls, sort=sort).read_all()
    yield "table", wr.with_columns(table, calls)
    yield "batch", pa.Table.from_batches([wr.with_columns(bare(sum(sizes)), calls)])
    yield "select", wr.select(wide, calls)
    yield "polars", wr.select(pl.DataFrame(wide), calls).to_arrow()
    query = f"SELECT {', '.join(f'{c} AS {n}' for n, c in calls.items())} FROM t"
    yield "sql", wr.sql(f"{query} WHERE 1 = 1", t=table)
    yield "sql of a reader", wr.sql(query, t=pa.RecordBatchReader.from_batches(pa.schema([]), batches)).read_all()


@pytest.mark.parametrize("number", rounds(24, quick=6))
def test_rows_out_are_rows_in(number):
    rng = random.Random(number)
    sizes = [rng.choice([0, 1, 2, 5, 40]) for _ in range(rng.randint(1, 5))] + [3]
    calls = {f"c{i}": c for i, c in enumerate(rng.sample(NOTHING_READ, rng.randint(1, 4)))}
    expected = wr.with_columns(pa.table({"x": range(sum(sizes))}), calls).drop_columns(["x"]).to_pydict()
    compared = 0
    for sort in (False, True):
        for limit in (None, 1):
            with wr.config(memory_limit=limit, threads=rng.choice([1, 2])):
                for way, answer in ways(sizes, calls, sort):
                    assert answer.num_rows == sum(sizes), (way, calls)
                    assert answer.to_pydict() == expected, (way, calls)
                    compared += answer.num_rows
    assert compared >= 36 * 3


def test_a_frame_of_no_columns_keeps_its_rows():
    table = pa.Table.from_batches([bare(3)])
    assert wr.with_columns(table).num_rows == wr.select(pa.table({"x": [1, 2, 3]})).num_rows == 3
    assert wr.with_columns(bare(3)).num_rows == 3
    reader = pa.RecordBatchReader.from_batches(pa.schema([]), [bare(3), bare(2)])
    assert wr.with_columns(reader).read_all().num_rows == 5


@pytest.mark.parametrize("sort", [False, True])
def test_lost_rows_are_an_error(sort, monkeypatch):
    batches = [pa.record_batch({"x": [1, 2, 3]}), pa.record_batch({"x": [4, 5]})]
    op = wr.operator("count(*) OVER (ORDER BY x) AS n", batches[0].schema, sort=sort)
    answered = type(op)._compute_batches
    monkeypatch.setattr(type(op), "_compute_batches", lambda self, *args: (b.slice(1) for b in answered(self, *args)))
    with pytest.raises(wr.InternalError, match=r"count\(\*\) OVER \(ORDER BY x\) AS n: 5 rows came and [123] left"):
        list(op(batches))
    assert next(iter(op(batches))).num_rows < 5  # who stops early hears nothing
