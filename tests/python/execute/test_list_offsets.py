"""Lists and maps that leave begin at their first value: pyarrow before 21 writes those that begin later wrongly."""

import random

import pyarrow as pa
import pytest

import windrow as wr
from support.list_offsets import check_list_offsets

ROWS = 3000
TYPES = {
    "list": pa.list_(pa.int64()),
    "large": pa.large_list(pa.string()),
    "nested": pa.list_(pa.list_(pa.int32())),
    "map": pa.map_(pa.string(), pa.int64()),
    "struct": pa.struct([("x", pa.list_(pa.int64())), ("y", pa.float64())]),
    "fixed": pa.list_(pa.list_(pa.int8()), 2),
}


def value(rng, dtype, *, is_key=False):
    if not is_key and rng.random() < 0.2:
        return None
    if pa.types.is_map(dtype):
        keys = rng.sample("abcd", rng.randrange(4))
        return [(key, value(rng, dtype.item_type)) for key in keys]
    if pa.types.is_fixed_size_list(dtype):
        return [value(rng, dtype.value_type) for _ in range(dtype.list_size)]
    if pa.types.is_nested(dtype) and not pa.types.is_struct(dtype):
        return [value(rng, dtype.value_type) for _ in range(rng.randrange(4))]
    if pa.types.is_struct(dtype):
        return {field.name: value(rng, field.type) for field in dtype}
    return str(rng.randrange(9)) if pa.types.is_string(dtype) else rng.randrange(9)


CALLS = {
    **{f"lag_{name}": f"lag({name}) OVER (PARTITION BY k ORDER BY id)" for name in TYPES},
    "first": "first_value(map) OVER (PARTITION BY k ORDER BY id ROWS 3 PRECEDING)",
    "lists": "collect_list(id) OVER (PARTITION BY k ORDER BY id ROWS 3 PRECEDING)",
    "lists_of": "collect_list(nested) OVER (PARTITION BY k ORDER BY id ROWS 2 PRECEDING)",
}


@pytest.mark.parametrize("limit", [None, "1MB"])
@pytest.mark.parametrize("rows", [7, 400])
@pytest.mark.parametrize("sort", [True, False])
def test_lists_begin_at_their_first_value(sort, rows, limit):
    rng = random.Random(f"{sort} {rows}")
    ids = range(ROWS) if sort else sorted(range(ROWS), key=lambda i: i % 5)
    columns = {name: pa.array([value(rng, dtype) for _ in ids], dtype) for name, dtype in TYPES.items()}
    table = pa.table({"id": pa.array(ids), "k": pa.array([i % 5 for i in ids], pa.int32()), **columns})
    with wr.config(memory_limit=limit):
        operator = wr.operator(CALLS, schema=table.schema, sort=sort)
        made = list(operator(table.to_batches(max_chunksize=rows)))
    assert sum(map(check_list_offsets, made)) >= 10
    answered = pa.Table.from_batches(made).sort_by("id")
    expected = wr.with_columns(table.sort_by("id"), CALLS)
    assert answered.to_pylist() == expected.to_pylist()
