"""Tables that several test modules ask over."""

import pyarrow as pa
import pyarrow.compute as pc


def big(rows=2_000_000):
    ids = pa.array(range(rows), pa.int64())
    scattered = pc.bit_wise_and(pc.multiply(ids, 2_654_435_761), 2**31 - 1)
    return pa.table({"id": ids, "k": scattered, "x": pc.divide(scattered, 7)})
