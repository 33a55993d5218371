"""Do all engines give the same answers? Rows are matched by the order column, whose values are unique.

Whole numbers, decimals and counts must be equal; floats within 1e-9 of the greatest of the result and the inputs, since
engines that subtract carry the rounding of what has left the frame.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .cases import Case

__all__ = ["KNOWN", "Difference", "Fault", "compare", "fault_of", "magnitude"]

TOLERANCE = 1e-9


@dataclass(frozen=True)
class Fault:
    """What a rival is known to answer differently.

    Attributes
    ----------
    engine, cases
        Where it does so.
    reason
        Why, for the reader of the table.
    zero_for_null
        Excused is only a 0 where the answer is null; else any difference.
    """

    engine: str
    cases: Sequence[str]
    reason: str
    zero_for_null: bool = False


#: Every known fault of a rival. One that stands here is marked in the table, and its time is shown all the same.
KNOWN = [
    Fault("polars", ["total", "range_sum", "decimal_sum"], "a sum of no values is 0, not null", zero_for_null=True),
]


@dataclass(frozen=True)
class Difference:
    """Rows in which an engine and windrow do not agree; the first of them in full."""

    case: str
    shape: str
    engine: str
    rows: int
    column: str
    row: Any
    ours: Any
    theirs: Any
    only_zero_for_null: bool = False

    def __str__(self) -> str:
        """Give the difference in one line."""
        return (
            f"{self.case}, {self.shape}: {self.engine} differs from windrow in {self.rows} rows of {self.column}; "
            f"at row {self.row}: {self.theirs!r}, windrow {self.ours!r}"
        )


def fault_of(difference: Difference) -> Fault | None:
    """Give the known fault that a difference comes from, if there is one."""
    for fault in KNOWN:
        if difference.engine == fault.engine and difference.case in fault.cases:
            return fault if difference.only_zero_for_null or not fault.zero_for_null else None
    return None


def magnitude(table: pa.Table, case: Case) -> float:
    """Give the greatest absolute value of the numbers that a case reads."""
    greatest = 0.0
    for name in case.reads:
        ends = pc.min_max(table[name]).as_py()
        greatest = max(greatest, *(abs(float(end)) for end in ends.values() if end is not None))
    return greatest


def compare(
    case: Case, shape: str, engine: str, ours: pa.Table, theirs: pa.Table, largest_input: float
) -> list[Difference]:
    """Compare the answers of an engine with windrow's; both hold the order column and the results."""
    our_ids, our_order = _ids(ours, case)
    their_ids, their_order = _ids(theirs, case)
    if not np.array_equal(our_ids, their_ids):
        return [Difference(case.name, shape, engine, len(their_ids), case.order, "-", len(our_ids), len(their_ids))]
    found = []
    for name in case.results:
        left = ours[name].take(our_order).combine_chunks()
        try:
            right = _alike(theirs[name].take(their_order), left.type)
        except pa.ArrowInvalid as error:
            found.append(Difference(case.name, shape, engine, len(left), name, "-", str(left.type), str(error)))
            continue
        wrong = _wrong(left, right, largest_input)
        if wrong.any():
            first = int(np.argmax(wrong))
            excused = pc.and_(pc.is_null(left), pc.equal(right, pa.scalar(0).cast(right.type)))
            zero = np.asarray(pc.fill_null(excused, False).to_numpy(zero_copy_only=False), dtype=bool)
            found.append(
                Difference(
                    case.name,
                    shape,
                    engine,
                    int(wrong.sum()),
                    name,
                    int(our_ids[first]),
                    left[first].as_py(),
                    right[first].as_py(),
                    bool(zero[wrong].all()),
                )
            )
    return found


def _ids(result: pa.Table, case: Case) -> tuple[NDArray[np.int64], pa.Array]:
    """The rows' numbers in ascending order, and where each stands."""
    column = result[case.order].combine_chunks()
    if pa.types.is_timestamp(column.type):
        column = column.cast(pa.timestamp("us"))
    ids = column.cast(pa.int64()).to_numpy()
    order = np.argsort(ids, kind="stable")
    return ids[order], pa.array(order)


def _alike(theirs: pa.ChunkedArray, kind: pa.DataType) -> pa.Array:
    """Their answers in the type of ours: DuckDB adds int64 up to 128 bits, ranks come in many widths."""
    theirs = theirs.combine_chunks() if isinstance(theirs, pa.ChunkedArray) else theirs
    return theirs.cast(kind)


def _wrong(ours: pa.Array, theirs: pa.Array, largest_input: float) -> NDArray[np.bool_]:
    """Which rows differ."""
    null = np.asarray(ours.is_null()), np.asarray(theirs.is_null())
    if pa.types.is_floating(ours.type):
        left, right = (np.asarray(side.fill_null(0.0)) for side in (ours, theirs))
        with np.errstate(invalid="ignore"):
            near = np.abs(left - right) <= TOLERANCE * np.maximum(np.abs(left), largest_input)
        equal = near | (left == right) | (np.isnan(left) & np.isnan(right))
    else:
        equal = np.asarray(pc.fill_null(pc.equal(ours, theirs), True))
    wrong: NDArray[np.bool_] = (null[0] != null[1]) | ~(equal | null[0])
    return wrong
