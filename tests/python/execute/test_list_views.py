"""Lists as they leave: plain, and on Spark as views that share their values."""

import pyarrow as pa
import pytest

import windrow as wr
from windrow._execute.arrow_columns import drop_unreferenced_values

VIEWS = pa.ListViewArray.from_arrays(
    pa.array([0, 1, 0, 7, 5, 0], pa.int32()),
    pa.array([2, 2, 0, 1, 3, 0], pa.int32()),
    pa.array(range(8)),
    mask=pa.array([False, False, False, False, False, True]),
)


@pytest.mark.parametrize("begin", range(6))
@pytest.mark.parametrize("length", range(7))
def test_a_slice_of_views_loses_what_it_does_not_show(begin, length):
    part = VIEWS.slice(begin, length)
    made = drop_unreferenced_values(part)
    made.validate(full=True)
    assert made.type == part.type
    assert made.to_pylist() == part.to_pylist()
    places = {
        place
        for offset, size, valid in zip(
            *(a.to_pylist() for a in (part.offsets, part.sizes, part.is_valid())), strict=True
        )
        for place in (range(offset, offset + size) if valid else ())
    }
    shown = sum(len(v or []) for v in part.to_pylist())
    # from the first value shown to the last one there are no more than all lists have: sharing saves as much
    is_dense = (max(places) - min(places) + 1 if places else 0) <= shown
    assert (made is part) == (is_dense or not length)
    if made is not part:
        assert len(made.values) == shown


def test_values_that_lists_share_stay_shared():
    shared = pa.ListViewArray.from_arrays(
        pa.array([0, 0, 0], pa.int32()), pa.array([4, 4, 4], pa.int32()), pa.array(range(4))
    )
    assert drop_unreferenced_values(shared) is shared
    column = pa.array([1, 2])
    assert drop_unreferenced_values(column) is column


def test_lists_are_plain_where_views_are_little_known():
    table = pa.table({"id": [1, 2, 3]})
    call = "collect_list(id) OVER (ORDER BY id)"
    assert wr.select(table, {"c": call})["c"].type == pa.list_(pa.field("element", pa.int64(), False))
    op = wr.operator({"c": call}, table.schema, sort=True)
    assert [b.schema for b in op(table.to_batches())] == [op.schema]
