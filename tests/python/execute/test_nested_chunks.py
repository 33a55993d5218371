"""Columns of nested types whose chunks end elsewhere than those of the columns beside them."""

import random

import pyarrow as pa
import pytest

import windrow as wr

ROWS = 12


def drawn(rng, depth):
    """Draw a type, and a function that draws a value of it."""
    if depth == 0 or rng.random() < 0.15:
        return rng.choice([(pa.int64(), lambda: rng.randrange(3)), (pa.string(), lambda: rng.choice("ab"))])
    kind, value = drawn(rng, depth - 1)
    way = rng.choice(["struct", "struct", "struct", "list", "fixed", "map"])
    if way == "struct":
        return pa.struct([("f", kind), ("g", pa.int32())]), lambda: some(rng, lambda: {"f": value(), "g": 1})
    if way == "list":
        return pa.list_(kind), lambda: some(rng, lambda: [value() for _ in range(rng.randrange(3))])
    if way == "fixed":
        return pa.list_(kind, 2), lambda: some(rng, lambda: [value(), value()])
    return pa.map_(pa.string(), kind), lambda: some(rng, lambda: [("k", value())])


def some(rng, value):
    return None if rng.random() < 0.2 else value()


def chunked(rng, column):
    """Cut a column somewhere, some pieces being slices of what has more rows."""
    ends = sorted(rng.sample(range(1, ROWS), rng.randrange(4)))
    pieces = [column.slice(a, b - a) for a, b in zip([0, *ends], [*ends, ROWS], strict=True)]
    copies = [pa.array(p.to_pylist(), p.type) if rng.random() < 0.5 else p for p in pieces]
    return pa.chunked_array(copies, column.type)


@pytest.mark.parametrize("seed", range(3))
def test_nested_columns_of_other_chunks(seed):
    rng, structs, keys = random.Random(seed), 0, 0
    for number in range(60):
        kind, value = drawn(rng, rng.randrange(1, 5))
        values = [value() for _ in range(ROWS)]
        column = pa.array([*values, *values], kind).slice(rng.randrange(2) * ROWS, ROWS)
        table = pa.table({"k": chunked(rng, pa.array(range(ROWS))), "s": chunked(rng, column)})
        assert table["s"].to_pylist() == column.to_pylist()
        expected = column.to_pylist()
        in_order = rng.random() < 0.5
        out = wr.with_columns(
            table,
            last="lag(s, 1) OVER (ORDER BY k)",
            lists="collect_list(s) RESPECT NULLS OVER (ORDER BY k ROWS BETWEEN 1 PRECEDING AND CURRENT ROW)",
            sort=False if in_order else None,
        )
        assert out["last"].to_pylist() == [None, *expected[:-1]], (seed, number, kind)
        assert out["lists"].to_pylist() == [expected[max(i - 1, 0) : i + 1] for i in range(ROWS)], (seed, number, kind)
        structs += "struct" in str(kind)
        if pa.types.is_struct(kind) and not in_order:
            try:
                counted = wr.select(table, n="count(*) OVER (PARTITION BY s)")["n"].to_pylist()
            except wr.SpecError:
                continue  # a map is no key
            assert counted == [expected.count(v) for v in expected], (seed, number, kind)
            keys += 1
    assert structs > 30
    assert keys > 3
