"""The plan of steps: what each step reads, and what later ones do, so that no host carries a column for nothing."""

import pickle
import random

import pyarrow as pa
import pytest

import windrow as wr
from windrow._execute.stream import stream_operator
from windrow._model.result_columns import result_column
from windrow._parse.items import read_items
from windrow._plan.bind import plan_steps
from windrow._plan.steps import Compute, Evaluate
from windrow.settings import current

COLUMNS = ["k", "x", "y", "z"]
ITEMS = [
    "sum(x) OVER (PARTITION BY k ORDER BY y) AS i0",
    "x - lag(x) OVER (PARTITION BY k ORDER BY y) AS i1",
    "max(x + y) OVER (PARTITION BY k) AS i2",
    "sum(row_number() OVER (PARTITION BY k ORDER BY y, z)) OVER (ORDER BY y, z ROWS 2 PRECEDING) AS i3",
    "avg(x - lag(x + z) OVER (PARTITION BY k ORDER BY y)) OVER (PARTITION BY k ORDER BY y ROWS 1 PRECEDING) AS i4",
    "count(*) FILTER (WHERE x > 1) OVER (ORDER BY y, z) AS i5",
]


def plan_of(items, *, selecting):
    return plan_steps(read_items(items, {}, COLUMNS, selecting=selecting), COLUMNS, selecting=selecting)


def names_of(plan, step):
    """Name the columns that a step adds."""
    return [s.name for s in step.scalars] if isinstance(step, Evaluate) else [c.name for c in step.calls]


def test_each_column_is_there_when_it_is_read_and_no_longer():
    rng, checked = random.Random(1), 0
    for _ in range(60):
        chosen = rng.sample(ITEMS, rng.randrange(1, 5))
        selecting = rng.random() < 0.5
        plan = plan_of([*rng.sample(COLUMNS, 1), *chosen] if selecting else chosen, selecting=selecting)
        there = set(range(plan.width))
        for position, step in enumerate(plan.steps[:-1]):
            assert set(step.reads) <= there
            added = names_of(plan, step)
            first = len(step.names)
            assert list(plan.names[first : first + len(added)]) == added
            there |= set(range(first, first + len(added)))
            assert set(step.keeps) <= there
            there = set(step.keeps)
            later = plan.steps[position + 1 : -1]
            read = {i for s in later for i in s.reads} | {i for _, i in plan.project.columns}
            assert there == {i for i in read if i < first + len(added)}
            checked += len(there)
            if isinstance(step, Compute):
                used = {n for c in step.calls for n in c.columns_read()}
                assert used == {plan.names[i] for i in step.reads}
        assert {i for _, i in plan.project.columns} <= there
        assert len(set(plan.names)) == len(plan.names)
        assert pickle.loads(pickle.dumps(plan)) == plan
    assert checked > 300


def test_the_columns_that_a_frame_must_bring():
    assert plan_of(["count(*) OVER () AS n"], selecting=True).frame_columns() == []
    assert plan_of(["k", "count(*) OVER () AS n"], selecting=True).frame_columns() == [0]
    assert plan_of(["sum(x + z) OVER (PARTITION BY k) AS n"], selecting=True).frame_columns() == [0, 1, 3]
    assert plan_of(["count(*) OVER () AS n"], selecting=False).frame_columns() == [0, 1, 2, 3]
    nested = plan_of([ITEMS[4]], selecting=True)
    assert nested.frame_columns() == [0, 1, 2, 3]
    # what an expression in a call reads gives the result no type
    assert nested.columns_read() == {"i4": [0, 2]}


def test_a_frame_with_a_column_called_as_a_hidden_one():
    call = wr.lag("x").over(wr.window(order_by="y"))
    table = pa.table({"x": [1, 2, 3], "y": [3, 2, 1], result_column(call): [9, 9, 9], "__windrow_0": [7, 7, 7]})
    assert wr.select(table, a=call)["a"].to_pylist() == [2, 3, None]
    assert wr.select(table, a=wr.sum(wr.expr("x + y")).over(wr.window()))["a"].to_pylist() == [12] * 3
    for read in ("x - lag(x) OVER (ORDER BY y)", "sum(lag(x) OVER (ORDER BY y)) OVER ()"):
        with pytest.raises(wr.SpecError, match="ambiguous, 2 columns"):
            wr.select(table, a=read)


def test_batches_between_levels_have_what_is_read():
    rows = 200
    table = pa.table({n: [(i * 7 + j) % 11 for i in range(rows)] for j, n in enumerate(COLUMNS)})
    plan = plan_of([ITEMS[3]], selecting=True)
    operator = wr.operator("1 + (" + ITEMS[3].removesuffix(" AS i3") + ") AS n", table.schema, sort=True)
    first, _ = operator.levels
    assert len(first.schema) == len(COLUMNS) + 2  # with the rows' numbers
    reader = wr.select(table.to_reader(), ITEMS[3], sort=True)
    assert reader.read_all().equals(wr.select(table, ITEMS[3]))
    assert plan.steps[0].keeps == (2, 3, 4)


@pytest.mark.parametrize("sort", [True, False])
def test_a_reader_carries_what_is_read(sort):
    rows = 3000
    table = pa.table({"k": range(rows), "x": [i % 7 for i in range(rows)], "wide": ["w" * 500] * rows})
    items = ["x", "sum(x) OVER (ORDER BY k ROWS 5 PRECEDING) AS s", "x - lag(x) OVER (ORDER BY k) AS d"]
    expected = wr.select(table, items)
    assert wr.select(table.to_reader(100), items, sort=sort).read_all().equals(expected)
    with wr.config(memory_limit=1 << 20):  # all in files
        assert wr.select(table.to_reader(100), items, sort=sort).read_all().equals(expected)
    plan = plan_steps(read_items(items, {}, table.column_names, selecting=True), table.column_names, selecting=True)
    [level] = stream_operator(plan, table.schema, current(), sort).levels
    [batch] = level.checked(table.slice(0, 9).to_batches())
    assert batch.nbytes < 200
    assert batch.schema.names == table.column_names


def test_lazy_frames_scan_what_is_read(tmp_path):
    pl = pytest.importorskip("polars")
    rng = random.Random(2)
    frame = pl.DataFrame({n: [rng.randrange(5) for _ in range(50)] for n in COLUMNS})
    frame.write_parquet(tmp_path / "t.parquet")
    scanned = pl.scan_parquet(tmp_path / "t.parquet")
    cases = [
        (["z", wr.sum(pl.col("x") * 2).over(wr.window("k")).alias("s")], 3),
        ([wr.count().over(wr.window()).alias("n")], 1),
        ([wr.max("x").over(wr.window("k")).alias("n"), "x - lag(x) OVER (ORDER BY z) AS d"], 3),
    ]
    for items, columns in cases:
        made = wr.select(scanned, items)
        assert f"PROJECT {columns}/4 COLUMNS" in made.explain()
        assert made.collect().equals(wr.select(frame, items))
    assert "PROJECT */4" in wr.with_columns(scanned, n="count(*) OVER ()").explain()


def test_relations_give_what_is_read():
    duckdb = pytest.importorskip("duckdb")
    connection = duckdb.connect()
    computed = []

    def seen(x: int) -> int:
        computed.append(x)
        return x

    connection.create_function("seen", seen, side_effects=True)
    relation = connection.sql("""SELECT i AS k, seen(i) AS "x y", -i AS "q""r" FROM range(4) t(i)""")
    made = wr.select(relation, "k", n='row_number() OVER (ORDER BY `q"r`)')
    assert made.fetchall() == [(0, 4), (1, 3), (2, 2), (3, 1)]
    assert wr.select(relation, n="count(*) OVER ()").fetchall() == [(4,)] * 4
    assert wr.operator({"n": "count(*) OVER ()"}, relation).schema.names == ["k", "x y", 'q"r', "n"]
    assert computed == []
    assert wr.with_columns(relation, n="sum(`x y`) OVER ()").project("n").fetchall() == [(6,)] * 4
    assert sorted(computed) == [0, 1, 2, 3]
