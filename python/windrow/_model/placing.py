"""What has a window once it is placed over one, or over several: calls, and functions that are written with calls."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar, overload

from ..exceptions import SpecError, short_traceback
from .expressions import IntoExpr, Item
from .frames import Closed, Exclude, IntoBound
from .operators import checked_name
from .protocols import SparkWindow
from .windows import IntoOrder, Window, Windows, as_sequence, foreign_window, window as make_window

__all__ = ["Calls", "Placeable"]

PlacedT = TypeVar("PlacedT", bound=Item)


class Placeable(Generic[PlacedT]):
    """What has ``.over(...)``."""

    __slots__ = ()

    @property
    def label(self) -> str:
        """What the names of its results over several windows begin with."""
        raise NotImplementedError

    def placed(self, window: Window) -> PlacedT:
        """Give what it is over a window."""
        raise NotImplementedError

    @overload
    def over(self, window: Windows) -> Calls: ...

    @overload
    def over(
        self,
        window: Window | SparkWindow | IntoExpr | Sequence[IntoExpr] = None,
        *keys: IntoExpr,
        order_by: IntoOrder | Sequence[IntoOrder] = None,
        rows: int | tuple[IntoBound, IntoBound] | None = None,
        range: IntoExpr | tuple[IntoBound, IntoBound] = None,
        groups: tuple[IntoBound, IntoBound] | None = None,
        exclude: Exclude | None = None,
        min_rows: int | None = None,
        min_span: IntoExpr = None,
        closed: Closed | None = None,
        centered: bool = False,
    ) -> PlacedT: ...

    @short_traceback
    def over(
        self,
        window: Window | Windows | SparkWindow | IntoExpr | Sequence[IntoExpr] = None,
        *keys: IntoExpr,
        order_by: IntoOrder | Sequence[IntoOrder] = None,
        rows: int | tuple[IntoBound, IntoBound] | None = None,
        range: IntoExpr | tuple[IntoBound, IntoBound] = None,
        groups: tuple[IntoBound, IntoBound] | None = None,
        exclude: Exclude | None = None,
        min_rows: int | None = None,
        min_span: IntoExpr = None,
        closed: Closed | None = None,
        centered: bool = False,
    ) -> PlacedT | Calls:
        """Say over which window the function is computed.

        Parameters
        ----------
        window
            What :func:`windrow.window` gave, several windows (:meth:`windrow.Window.rows`), a ``Window`` of PySpark's,
            or partition keys as for :func:`windrow.window`; None: all rows are one partition.
        *keys
            Further partition keys.
        order_by
            Order keys, as for :func:`windrow.window`.
        rows, range, groups, exclude, min_rows, min_span, closed, centered
            The frame, as for :func:`windrow.window`.

        Returns
        -------
        Call or Calls
            The call, ready for ``with_columns`` and ``select``; over several windows a call for each.

        Raises
        ------
        SpecError
            As :func:`windrow.window`; also for a window beside keys, an order or a frame.

        Examples
        --------
        >>> import windrow as wr
        >>> wr.rank().over(wr.window("k", wr.desc("x")))
        rank() OVER (PARTITION BY k ORDER BY x DESC)
        >>> wr.sum("x").over("k", order_by="t", rows=(-1, 0))
        sum(x) OVER (PARTITION BY k ORDER BY t ROWS BETWEEN 1 PRECEDING AND CURRENT ROW)
        """
        frame = {
            "rows": rows,
            "range": range,
            "groups": groups,
            "exclude": exclude,
            "min_rows": min_rows,
            "min_span": min_span,
            "closed": closed,
            "centered": None if centered is False else centered,
        }
        several = window if isinstance(window, Windows) else None
        if several is not None:
            made: Window | None = several.windows[0]
        else:
            made = window if isinstance(window, Window) else foreign_window(window)
        if made is None:
            partition_by = (*as_sequence(window), *(k for key in keys for k in as_sequence(key)))
            made = make_window(partition_by, order_by, **{n: v for n, v in frame.items() if v is not None})  # type: ignore[arg-type]
        elif keys or order_by is not None or any(v is not None for v in frame.values()):
            raise SpecError(
                "over() takes a window, or keys with an order and a frame, and not both; give the window all of it, as "
                "wr.window(partition_by=..., order_by=..., rows=...)"
            )
        if several is not None:
            return Calls(tuple(map(self.placed, several.windows)), several.suffixes).alias(self.label)
        return self.placed(made)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Calls:
    """One call over several windows: an item for each, of which each has the name and a suffix for its window."""

    calls: tuple[Item, ...]
    suffixes: tuple[str, ...]

    @short_traceback
    def alias(self, name: str) -> Calls:
        """Name the columns that the calls give: each has the name, ``_`` and its suffix.

        Parameters
        ----------
        name
            What the names begin with.

        Returns
        -------
        Calls
            The calls with the names.
        """
        start = checked_name(name)
        named = tuple(call.alias(f"{start}_{suffix}") for call, suffix in zip(self.calls, self.suffixes, strict=True))
        return Calls(named, self.suffixes)

    def __iter__(self) -> Iterator[Item]:
        """Iterate over the calls."""
        return iter(self.calls)

    def __len__(self) -> int:
        """Count the calls."""
        return len(self.calls)

    def __repr__(self) -> str:
        """The calls, one a line."""
        return "[" + ",\n ".join(map(repr, self.calls)) + "]"
