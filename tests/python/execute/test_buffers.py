"""No copies: what passes through windrow keeps the buffers that it came in."""

import pyarrow as pa
import pytest

import windrow as wr


def addresses(array):
    """Give the addresses of all buffers of an array, those of its children too."""
    return [None if b is None else b.address for b in array.buffers()]


ROWS = 1000
WIDE = pa.table(
    {
        "id": pa.array(range(ROWS), pa.int64()),
        "text": pa.array([None if i % 7 == 0 else f"text {i}" for i in range(ROWS)]),
        "large": pa.array([f"text {i}" for i in range(ROWS)], pa.large_string()),
        "view": pa.array([f"a text that is not short {i}" for i in range(ROWS)], pa.string_view()),
        "flag": pa.array([i % 3 == 0 for i in range(ROWS)]),
        "list": pa.array([list(range(i % 4)) for i in range(ROWS)], pa.list_(pa.int32())),
        "struct": pa.array([{"a": i, "b": str(i)} for i in range(ROWS)]),
        "map": pa.array([[("k", i)] for i in range(ROWS)], pa.map_(pa.string(), pa.int64())),
        "code": pa.array([f"c{i % 5}" for i in range(ROWS)]).dictionary_encode(),
        "decimal": pa.array(range(ROWS), pa.decimal128(20, 2)),
        "zoned": pa.array(range(ROWS), pa.timestamp("us", "Europe/Paris")),
        "fixed": pa.array([b"abcd"] * ROWS, pa.binary(4)),
        "nothing": pa.nulls(ROWS),
    }
)
RUNNING = wr.sum("id").over(wr.window(order_by="id")).alias("s")


def test_a_tables_columns_keep_their_buffers():
    out = wr.with_columns(WIDE, RUNNING)
    for name in WIDE.column_names:
        assert out[name].num_chunks == WIDE[name].num_chunks
        for ours, theirs in zip(out[name].chunks, WIDE[name].chunks, strict=True):
            assert addresses(ours) == addresses(theirs), name


def test_a_shuffled_tables_columns_keep_their_buffers():
    calls = [wr.sum("id").over(wr.window(order_by=wr.desc("id"))), wr.rank().over(wr.window("code", "text"))]
    out = wr.with_columns(WIDE, calls)
    assert all(addresses(out[n].chunk(0)) == addresses(WIDE[n].chunk(0)) for n in WIDE.column_names)


def test_batches_keep_their_buffers():
    (batch,) = WIDE.to_batches()
    out = wr.with_columns(batch, RUNNING)
    assert all(addresses(out[n]) == addresses(batch[n]) for n in WIDE.column_names)


@pytest.mark.parametrize("sort", [False, True])
@pytest.mark.parametrize("size", [1000, 130, 64, 7])
def test_an_operators_batches_are_slices_of_what_came_in(size, sort):
    (whole,) = WIDE.to_batches()
    batches = [whole.slice(at, size) for at in range(0, ROWS, size)]
    calls = [RUNNING, wr.lead("id", 3).over(wr.window(order_by="id")).alias("later")]
    rows = 0
    for out in wr.operator(calls, WIDE.schema, sort=sort)(batches):
        for name in WIDE.column_names:
            ours, theirs = out[name], whole[name]
            assert ours.equals(theirs.slice(rows, out.num_rows)), name
            if pa.types.is_struct(ours.type) or pa.types.is_null(ours.type):
                continue  # the offset of a slice moves into its fields
            ends = [(b.address, b.address + b.size) for b in theirs.buffers() if b is not None]
            for buffer in ours.buffers():
                inside = buffer is None or any(low <= buffer.address <= high for low, high in ends)
                # made anew are bitmaps that are cut at a bit, and offsets of lists and maps, which begin at 0
                size = out.num_rows * 4 if name in ("list", "map") else out.num_rows // 8
                assert inside or buffer.size <= size + 64, name
        rows += out.num_rows
    assert rows == ROWS


def test_polars_columns_keep_their_buffers():
    pl = pytest.importorskip("polars")
    frame = pl.DataFrame(
        {"id": range(ROWS), "x": [i / 2 for i in range(ROWS)], "s": [f"text {i}" for i in range(ROWS)]}
    )
    out = wr.with_columns(frame, RUNNING)
    for name in ("id", "x"):
        assert addresses(out[name].to_arrow())[1] == addresses(frame[name].to_arrow())[1], name
