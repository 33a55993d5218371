"""Calls bound to the columns of a frame, as immutable values that can be pickled.

Only ``windrow._execute.native`` converts them to arguments of the native module.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from .._model.calls import UserFunction

__all__ = [
    "Argument",
    "BoundCall",
    "BoundFrame",
    "ColumnArgument",
    "FrameBound",
    "LiteralArgument",
    "SortKey",
    "comparison_only_columns",
]


@dataclass(frozen=True, slots=True)
class ColumnArgument:
    """An argument with one value per row: the name of its column."""

    column: str


@dataclass(frozen=True, slots=True)
class LiteralArgument:
    """An argument with one value for all rows."""

    value: Any


Argument = ColumnArgument | LiteralArgument


@dataclass(frozen=True, slots=True)
class SortKey:
    """A column to sort by, and how."""

    column: str
    descending: bool = False
    nulls_first: bool = True


@dataclass(frozen=True, slots=True)
class FrameBound:
    """A bound of a frame: ``unbounded_preceding``, ``preceding`` and the like, with or without an offset."""

    kind: str
    offset: Argument | None = None


@dataclass(frozen=True, slots=True)
class BoundFrame:
    """A frame: ``rows``, ``range`` or ``groups``, from a bound to a bound, without the rows excluded."""

    units: str
    start: FrameBound
    end: FrameBound
    exclude: str
    #: Whether the start and the end are open.
    open: tuple[bool, bool] = (False, False)
    #: Whether intervals of time are elapsed, as those of timedeltas are.
    elapsed: bool = False


@dataclass(frozen=True, slots=True)
class BoundCall:
    """A call whose arguments, keys and filter are columns and literals.

    Parameters
    ----------
    function
        The SQL function's name in lower case.
    args
        Its arguments.
    partition_by, order_by, frame, min_rows
        The window; without a frame the function's own is meant.
    filter
        The column of which rows must be true.
    distinct, ignore_nulls, argument_order
        The modifiers.
    user
        The user's own function, where it is none of windrow's.
    name
        The name of the column that the results go into.
    display
        The call as it was written.
    """

    function: str
    args: tuple[Argument, ...]
    partition_by: tuple[str, ...]
    order_by: tuple[SortKey, ...]
    frame: BoundFrame | None
    filter: str | None
    distinct: bool
    ignore_nulls: bool | None
    argument_order: tuple[SortKey, ...]
    min_rows: int | None
    user: UserFunction | None
    name: str
    display: str

    def argument_column(self, position: int = 0) -> str | None:
        """Return the column name of an argument; None if it is a literal or missing."""
        if position >= len(self.args):
            return None
        argument = self.args[position]
        return argument.column if isinstance(argument, ColumnArgument) else None

    def argument_columns(self) -> list[str]:
        """List the columns among the arguments."""
        return [a.column for a in self.args if isinstance(a, ColumnArgument)]

    def literal(self, position: int) -> Any:
        """Return the value of a literal argument; None if it is a column or missing."""
        argument = self.args[position] if position < len(self.args) else None
        return argument.value if isinstance(argument, LiteralArgument) else None

    def keys(self) -> list[str]:
        """List the key columns, whose values are only compared."""
        return [*self.partition_by, *(k.column for k in self.order_by)]

    def values(self) -> list[str]:
        """List the columns that the call reads, without the keys of its window."""
        found = self.argument_columns()
        if self.frame is not None:
            offsets = (self.frame.start.offset, self.frame.end.offset)
            found += [o.column for o in offsets if isinstance(o, ColumnArgument)]
        found += [k.column for k in self.argument_order]
        return found if self.filter is None else [*found, self.filter]

    def columns_read(self) -> list[str]:
        """List the columns that the call reads, possibly with repetitions."""
        return [*self.keys(), *self.values()]

    def sort_keys(self) -> list[SortKey]:
        """List the keys by which the rows of the call must be sorted, partition keys first."""
        return [*(SortKey(k) for k in dict.fromkeys(self.partition_by)), *self.order_by]


def comparison_only_columns(calls: Iterable[BoundCall]) -> frozenset[str]:
    """Return the columns that calls only compare, for order or equality, so that text may be compared as raw bytes."""
    keys: set[str] = set()
    read: set[str] = set()
    for call in calls:
        keys.update(call.keys())
        read.update(call.values())
        if call.frame is not None and call.frame.units == "range":  # an offset is added to the key of such a frame
            read.update(k.column for k in call.order_by)
    return frozenset(keys - read)
