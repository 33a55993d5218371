"""The tables: shapes by number of rows and of partitions, shuffled or sorted, from a fixed seed."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .cases import Case

__all__ = ["SHAPES", "Shape", "large", "short", "table"]

SEED = 20_261_121
#: The part of the values of ``v`` that is null.
NULLS = 0.1


def short(number: int) -> str:
    """Write a number of rows as people do: 200K, 10M."""
    for unit, size in (("M", 1_000_000), ("K", 1_000)):
        if number >= size and number % size == 0:
            return f"{number // size}{unit}"
    return str(number)


@dataclass(frozen=True)
class Shape:
    """So many rows in so many partitions, shuffled or sorted by partition and order already."""

    rows: int
    keys: int
    ordered: bool = False

    @property
    def name(self) -> str:
        """What the command line calls it, as 1M-200K-sorted."""
        return f"{short(self.rows)}-{short(self.keys)}{'-sorted' if self.ordered else ''}"

    @property
    def title(self) -> str:
        """The shape in words."""
        partitions = "one partition" if self.keys == 1 else f"{short(self.keys)} partitions"
        return f"{short(self.rows)} rows in {partitions}, {'sorted' if self.ordered else 'shuffled'}"

    def at_most(self, rows: int) -> Shape:
        """Give the shape with no more than so many rows, in partitions of the same size."""
        if self.rows <= rows:
            return self
        return replace(self, rows=rows, keys=max(1, self.keys * rows // self.rows))


_SIZES = [(1_000_000, 100), (1_000_000, 200_000), (1_000_000, 1), (10_000_000, 100_000)]
SHAPES = [Shape(rows, keys, ordered) for rows, keys in _SIZES for ordered in (False, True)]


def table(case: Case, shape: Shape) -> pa.Table:
    """Make the columns that a case needs, and no others.

    ``k`` int32, ``ts`` int64 (a permutation), ``v`` int64 with nulls, ``d`` float64, ``c`` int64 of 1000 values with
    nulls, ``m`` decimal(18, 2) with nulls; ``s`` is ``k`` as text, ``a`` and ``b`` are ``k`` as two int32, and ``t`` is
    ``ts`` as a timestamp.
    """
    rng = np.random.default_rng(SEED)
    rows = shape.rows
    k = rng.integers(0, shape.keys, rows, dtype=np.int32)
    ts = rng.permutation(rows)
    v = rng.integers(-1_000_000, 1_000_000, rows)
    null = rng.random(rows) < NULLS
    d = rng.uniform(-1000.0, 1000.0, rows)
    if shape.ordered:
        order = np.lexsort((ts, k))
        k, ts, v, null, d = k[order], ts[order], v[order], null[order], d[order]

    def column(name: str) -> pa.Array:
        wide = 1 + int(shape.keys**0.5)
        match name:
            case "k":
                return pa.array(k)
            case "ts":
                return pa.array(ts)
            case "v":
                return pa.array(v, mask=null)
            case "d":
                return pa.array(d)
            case "c":
                return pa.array(v % 1000, mask=null)
            case "m":
                return _decimals(v, null)
            case "s":
                names = pa.array([f"device_{key:06}" for key in range(shape.keys)])
                return names.take(pa.array(k))
            case "a":
                return pa.array(k // wide)
            case "b":
                return pa.array(k % wide)
            case "t":
                return pa.array(1_700_000_000_000_000 + ts * 1_000_000).cast(pa.timestamp("us"))
            case _:
                raise ValueError(f"no column {name!r}")

    return pa.table({name: column(name) for name in dict.fromkeys([*case.keys, case.order, *case.reads])})


def _decimals(cents: NDArray[np.int64], null: NDArray[np.bool_]) -> pa.Array:
    """Hundredths as decimal(18, 2): 128 bits, little end first."""
    words = np.empty((len(cents), 2), dtype=np.int64)
    words[:, 0] = cents
    words[:, 1] = cents >> 63
    valid = np.packbits(~null, bitorder="little")
    return pa.Array.from_buffers(
        pa.decimal128(18, 2), len(cents), [pa.py_buffer(valid), pa.py_buffer(words)], null_count=int(null.sum())
    )


def large(rows: int) -> pa.Table:
    """Make the table ``large`` of the h2o join data as db-benchmark's generator does.

    ``id1`` has rows / 1e6, ``id2`` rows / 1e3 and ``id3`` as many different values as rows, each drawn from numbers up
    to 1.1 times as many. ``v2`` is uniform to 100 with 6 decimals. The generator's text columns are left out, since no
    query of the window group reads them.
    """
    rng = np.random.default_rng(SEED)

    def keys(values: int) -> NDArray[np.int32]:
        values = max(values, 10)
        drawn: NDArray[np.int32] = rng.permutation(values + values // 10)[:values].astype(np.int32) + np.int32(1)
        if values == rows:
            return drawn
        every = np.concatenate([drawn, rng.choice(drawn, rows - values)])
        shuffled: NDArray[np.int32] = rng.permutation(every)
        return shuffled

    return pa.table(
        {
            "id1": keys(rows // 1_000_000),
            "id2": keys(rows // 1_000),
            "id3": keys(rows),
            "v2": np.round(rng.uniform(0.0, 100.0, rows), 6),
        }
    )
