"""Where lists begin among their values."""

import pyarrow as pa


def check_list_offsets(batch):
    """Assert that lists and maps begin at their first value, as pyarrow before 21 needs; return how many there are."""
    found = [array for column in batch.columns for array in lists(column)]
    for array in found:
        assert array.offset or not len(array) or array.offsets[0].as_py() == 0, array.type
    return len(found)


def lists(array):
    """Give the lists and maps of an array, and of those within others."""
    dtype = array.type
    if pa.types.is_list(dtype) or pa.types.is_large_list(dtype) or pa.types.is_map(dtype):
        yield array
    if pa.types.is_struct(dtype) or pa.types.is_union(dtype):
        children = [array.field(i) for i in range(dtype.num_fields)]
    elif pa.types.is_map(dtype):
        children = [array.keys, array.items]
    elif pa.types.is_run_end_encoded(dtype) or pa.types.is_nested(dtype):
        children = [array.values]
    else:
        children = []
    for child in children:
        yield from lists(child)
