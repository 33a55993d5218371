"""The window of a call: partition keys, order keys and the frame, as immutable values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from operator import index
from typing import Any, ClassVar, Literal as OneOf, TypeAlias

from ..exceptions import SpecError, short_traceback, shown
from .checks import flag, is_tuple_of, refuse_field
from .code_text import code_of, constructor_code
from .expressions import (
    EXPRESSIONS,
    Column,
    Expr,
    HostExpression,
    IntoCondition,
    IntoExpr,
    Literal,
    Sql,
    as_condition,
    as_expr,
    reader_of,
)
from .frames import (
    UNBOUNDED,
    Bound,
    Closed,
    Exclude,
    Frame,
    IntoBound,
    Units,
    frame_of,
    frame_settings,
    made_or_none,
    offset_code,
    with_elapsed_time,
)
from .lengths import as_length
from .offsets import name_of_frame
from .replace import replace
from .structure import Structural

__all__ = ["IntoOrder", "Nulls", "Order", "Window", "Windows", "as_order", "as_sequence", "asc", "desc", "window"]

Nulls: TypeAlias = OneOf["first", "last"]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Order(Structural):
    """One order key: what to order by, which way, and where the nulls go. Made by :func:`asc` and :func:`desc`."""

    key: Expr
    descending: bool = False
    nulls_first: bool = True

    def __post_init__(self) -> None:
        """Refuse what is no key, and flags that are none."""
        if not isinstance(self.key, EXPRESSIONS):
            refuse_field(self, "key", "an expression", "wr.asc(key) or wr.desc(key)")
        for name in ("descending", "nulls_first"):
            if not isinstance(getattr(self, name), bool):
                refuse_field(self, name, "True or False", "wr.asc(key) or wr.desc(key, nulls='first')")

    def __str__(self) -> str:
        """The key as SQL writes it, with only what differs from SQL's defaults."""
        text = f"{self.key} DESC" if self.descending else str(self.key)
        if self.nulls_first == self.descending:  # Spark's defaults: ASC NULLS FIRST, DESC NULLS LAST
            text += " NULLS FIRST" if self.nulls_first else " NULLS LAST"
        return text

    def __repr__(self) -> str:
        """The key as code."""
        nulls: Nulls = "first" if self.nulls_first else "last"
        made = desc(self.key, nulls=nulls) if self.descending else asc(self.key, nulls=nulls)
        if made != self:
            return constructor_code(self, "wr.typing.Order")
        placed = "" if self.nulls_first != self.descending else f", nulls={nulls!r}"
        return f"wr.{'desc' if self.descending else 'asc'}({_key_code(self.key)}{placed})"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Window(Structural):
    """Partition keys, order keys and a frame. Made by :func:`window`."""

    #: Many calls have one window.
    text_is_kept: ClassVar = True

    partition_by: tuple[Expr, ...] = ()
    order_by: tuple[Order, ...] = ()
    frame: Frame | None = None
    min_rows: int | None = None
    min_span: Literal | None = None

    def __post_init__(self) -> None:
        """Refuse keys, frames, numbers of rows and distances that are none."""
        if not is_tuple_of(self.partition_by, EXPRESSIONS):
            refuse_field(self, "partition_by", "a tuple of expressions", "wr.window(partition_by=...)")
        if not is_tuple_of(self.order_by, Order):
            refuse_field(self, "order_by", "a tuple of order keys", "wr.window(order_by=...)")
        if not (self.frame is None or isinstance(self.frame, Frame)):
            refuse_field(self, "frame", "a frame", "wr.window(..., rows=(-1, 0))")
        if self.min_rows is not None:
            _min_rows(self.min_rows)
        if self.min_span is not None:
            if not isinstance(self.min_span, Literal):
                refuse_field(self, "min_span", "a literal", "wr.window(..., min_span='30 days')")
            as_length(self.min_span, "min_span")
            if len(self.order_by) != 1:
                keys = f"{len(self.order_by)} order keys" if self.order_by else "no order"
                raise SpecError(
                    f"min_span={self.min_span} is a distance of the one order key, and the window has {keys}; write "
                    "wr.window(..., order_by='t', min_span=...)"
                )

    @short_traceback
    def rows(self, frame: Any, *, centered: bool = False) -> Any:
        """Give the window with a frame counted in rows, or one window for each of several frames.

        Parameters
        ----------
        frame
            As ``rows`` of :func:`windrow.window`; a list is several frames, each a number of rows or a tuple.
        centered
            As for :func:`windrow.window`.

        Returns
        -------
        Window or Windows
            With its keys, ``exclude``, ``min_rows`` and ``min_span``. A call over several windows is several items,
            named by the frames behind their names.

        Examples
        --------
        >>> import pyarrow as pa
        >>> import windrow as wr
        >>> table = pa.table({"t": [1, 2, 3, 4], "v": [1, 2, 3, 4]})
        >>> w = wr.window(order_by="t")
        >>> wr.select(table, wr.sum("v").over(w.rows([2, 3])).alias("sum")).to_pydict()
        {'sum_2': [1, 3, 5, 7], 'sum_3': [1, 3, 6, 9]}
        """
        return self._framed("rows", frame, centered=None if centered is False else centered)

    @short_traceback
    def range(self, frame: Any, *, closed: Closed | None = None, centered: bool = False) -> Any:
        """Give the window with a frame by distance in the order key, or one window for each of several frames.

        Parameters
        ----------
        frame
            As ``range`` of :func:`windrow.window`; a list is several frames, each a length or a tuple.
        closed, centered
            As for :func:`windrow.window`.

        Returns
        -------
        Window or Windows
            As for :meth:`rows`.

        Examples
        --------
        >>> import windrow as wr
        >>> wr.sum("v").over(wr.window("k", "day").range(["7d", "30d"], closed="both")).alias("sum")
        [sum(v) OVER (PARTITION BY k ORDER BY day RANGE BETWEEN INTERVAL '7' DAY PRECEDING AND CURRENT ROW) AS sum_7d,
         sum(v) OVER (PARTITION BY k ORDER BY day RANGE BETWEEN INTERVAL '30' DAY PRECEDING AND CURRENT ROW) AS sum_30d]
        """
        return self._framed("range", frame, closed=closed, centered=None if centered is False else centered)

    def within_min_span(self) -> Window:
        """Give the window of the rows that are at least ``min_span`` before the current one."""
        assert self.min_span is not None
        frame = Frame("range", Bound("unbounded_preceding"), Bound("preceding", self.min_span))
        return Window(self.partition_by, self.order_by, with_elapsed_time(frame))

    @short_traceback
    def reset(self, condition: IntoCondition) -> Window:
        """Give the window in which each row where a condition is true begins a partition.

        Parameters
        ----------
        condition
            A boolean column's name, or an expression; null counts as false. ``wr.col("x").is_null()`` resets at nulls.

        Returns
        -------
        Window
            With one more partition key: the count of such rows so far, along the window's order. Its frame looks at no
            row before the last reset.

        Raises
        ------
        SpecError
            If the window has no order.

        Examples
        --------
        >>> import pyarrow as pa
        >>> import windrow as wr
        >>> table = pa.table({"t": [1, 2, 3, 4], "x": [1, 2, 3, 4], "paid": [False, False, True, False]})
        >>> w = wr.window(order_by="t").reset("paid")
        >>> wr.with_columns(table, due=wr.sum("x").over(w))["due"].to_pylist()
        [1, 3, 3, 7]
        """
        given = as_condition(condition, "reset()")
        if not self.order_by:
            raise SpecError(
                "reset() counts along an order, and the window has none; write wr.window(..., order_by=...)"
            )
        frame = Frame("rows", Bound("unbounded_preceding"), Bound("current_row"))
        count = _count_true(given, Window(self.partition_by, self.order_by, frame))
        return replace(self, partition_by=(*self.partition_by, count))

    def _framed(self, units: str, frame: Any, **settings: Any) -> Any:
        exclude = None if self.frame is None or self.frame.exclude == "no_others" else self.frame.exclude
        kept = {"exclude": exclude, "min_rows": self.min_rows, "min_span": self.min_span}
        rest = {**kept, **{n: v for n, v in settings.items() if v is not None}}
        frames = frame if isinstance(frame, list) else [frame]
        made = [window(self.partition_by, self.order_by, **{units: one}, **rest) for one in frames]
        if not isinstance(frame, list):
            return made[0]
        if not frames:
            raise SpecError(f"{units}([]): a list of frames names at least one")
        return Windows(tuple(made), tuple(map(name_of_frame, frames)))

    def is_sql(self) -> bool:
        """Whether SQL can say all of it: no ``min_rows``, ``min_span``, open bounds or days of elapsed time."""
        frame = self.frame
        if self.min_rows is not None or self.min_span is not None:
            return False
        return frame is None or not (frame.open_start or frame.open_end or frame.elapsed)

    def __str__(self) -> str:
        """The inside of SQL's ``OVER (...)``."""
        parts = []
        if self.partition_by:
            parts.append("PARTITION BY " + ", ".join(map(str, self.partition_by)))
        if self.order_by:
            parts.append("ORDER BY " + ", ".join(map(str, self.order_by)))
        if self.frame:
            parts.append(str(self.frame))
        return " ".join(parts)

    def __repr__(self) -> str:
        """The window as code."""
        frame = self.frame
        rest: dict[str, Any] = {} if frame is None else frame_settings(frame)
        if self.min_rows is not None:
            rest["min_rows"] = self.min_rows
        if self.min_span is not None:
            rest["min_span"] = self.min_span
        parts = []
        if self.partition_by:
            parts.append(_keys_code([_key_code(k) for k in self.partition_by]))
        if self.order_by:
            orders = [_key_code(o.key) if o == made_or_none(as_order, o.key) else repr(o) for o in self.order_by]
            parts.append(("" if parts else "order_by=") + _keys_code(orders))
        for name, value in rest.items():
            bounds = [offset_code(b) for b in value] if isinstance(value, tuple) else None
            parts.append(f"{name}={offset_code(value) if bounds is None else f'({bounds[0]}, {bounds[1]})'}")
        if made_or_none(window, self.partition_by, self.order_by, **rest) != self:
            return constructor_code(self, "wr.Window")  # SQL has frames that window() refuses
        return f"wr.window({', '.join(parts)})"


@dataclass(frozen=True, slots=True)
class Windows:
    """Several windows that differ in their frames. Made by :meth:`Window.rows` and :meth:`Window.range` of a list."""

    windows: tuple[Window, ...]
    #: What follows the name of a call over each.
    suffixes: tuple[str, ...]


#: What may stand where an order key is asked for.
IntoOrder: TypeAlias = Order | IntoExpr


@short_traceback
def window(
    partition_by: IntoExpr | Sequence[IntoExpr] = None,
    order_by: IntoOrder | Sequence[IntoOrder] = None,
    *,
    rows: int | tuple[IntoBound, IntoBound] | None = None,
    range: IntoExpr | tuple[IntoBound, IntoBound] = None,
    groups: tuple[IntoBound, IntoBound] | None = None,
    exclude: Exclude | None = None,
    min_rows: int | None = None,
    min_span: IntoExpr = None,
    closed: Closed | None = None,
    centered: bool = False,
) -> Window:
    """Describe a window: which rows belong together, in which order, and which of them a call looks at.

    Without a frame the window is what SQL and Spark give: **with** an order the rows from the partition's start up to
    the current row *and all its ties* (``RANGE UNBOUNDED PRECEDING .. CURRENT ROW``: a running total), **without** one
    the whole partition. So adding ``order_by`` alone turns a total into a running total, and ``last_value`` over an
    ordered window answers the current row's last tie and not the partition's last row. To look at the whole partition
    in order, say ``rows=(None, None)``.

    Parameters
    ----------
    partition_by
        A column's name, an expression (``wr.expr("SQL")`` or one of the host), or a sequence of these. Nulls form
        one partition, and so do NaNs; -0.0 and 0.0 are the same. None: all rows are one partition.
    order_by
        A column's name, ``wr.asc(x)``, ``wr.desc(x)``, an expression, or a sequence of these. Ascending with nulls
        first unless said otherwise, descending with nulls last: Spark's defaults.
    rows
        A frame counted in rows: ``7`` for the last seven, or ``(start, end)``. A bound is an int relative to the row as
        in PySpark (negative: before it, 0: the row itself, positive: after it), None for unbounded, ``wr.col("n")`` for
        a bound per row, or ``wr.preceding(x)`` and ``wr.following(x)``.
    range
        A frame by distance in the order key, of which there must be one: a length such as ``"7d"`` for what lies less
        than that before the row, or ``(start, end)``. Bounds are ints, floats, Decimals, timedeltas, durations such as
        ``"-7 days"``, ``"-1mo"`` or ``wr.interval(months=-3)``; 0 is the current row *and its ties*. Timedeltas and
        hours are elapsed time, days and months are the calendar's in the key's time zone.
    groups
        A frame counted in groups of ties.
    exclude
        ``"current_row"``, ``"group"`` (the row and its ties), ``"ties"`` (its ties but not the row) or ``"no_others"``.
    min_rows
        The least number of rows that must count in a frame; with fewer the result is null.
    min_span
        The least distance from the first key of the row's partition, along the one order key: a length as in ``range``,
        or 0. The result is null in rows that are nearer, and where the key is null; the first key is the first that is
        not null.
    closed
        Which ends of a ``range`` given as a length belong to the frame, as in Polars: ``"right"`` (the default),
        ``"left"``, ``"both"`` or ``"none"``. Unless the frame is centered, its right end is the current row: with
        ``"right"`` and ``"both"`` the row and its ties belong to the frame, with ``"left"`` and ``"none"`` they do not.
    centered
        Whether a frame given as a length reaches as far behind the row as before it. Of an even number of rows one
        more lies before it, as in Polars and pandas.

    Returns
    -------
    Window
        An immutable value, to be given to ``.over(...)``.

    Raises
    ------
    SpecError
        If more than one of ``rows``, ``range`` and ``groups`` is given, the bounds cannot make a frame, or ``closed``
        or ``centered`` stands beside bounds.

    Examples
    --------
    >>> import pyarrow as pa
    >>> import windrow as wr
    >>> table = pa.table({"device": [5, 5, 5, 0], "id": [2, 5, 6, 0], "level": [2, 3, 0, 1]})
    >>> near = wr.window("device", "id", range=(-1, 0))
    >>> wr.with_columns(table, s=wr.sum("level").over(near))["s"].to_pylist()
    [2, 3, 3, 1]
    >>> running = wr.window("device", "id")
    >>> wr.with_columns(table, s=wr.sum("level").over(running))["s"].to_pylist()
    [2, 5, 5, 1]
    >>> total = wr.window("device")
    >>> wr.with_columns(table, s=wr.sum("level").over(total))["s"].to_pylist()
    [5, 5, 5, 1]
    """
    orders = tuple(as_order(o) for o in as_sequence(order_by))
    given: dict[Units, Any] = {"rows": rows, "range": range, "groups": groups}
    frame = frame_of(given, exclude, closed, centered=flag(centered, "centered"), is_ordered=bool(orders))
    return Window(
        tuple(as_expr(k, "partition_by") for k in as_sequence(partition_by)),
        orders,
        frame,
        _min_rows(min_rows),
        None if min_span is None else as_length(min_span, "min_span"),
    )


@short_traceback
def asc(key: IntoExpr, *, nulls: Nulls = "first") -> Order:
    """Order by a key, smallest first.

    Parameters
    ----------
    key
        A column's name or an expression.
    nulls
        Where the nulls go: ``"first"`` (Spark's default for ascending) or ``"last"``.

    Returns
    -------
    Order
        The order key.

    Examples
    --------
    >>> import pyarrow as pa
    >>> import windrow as wr
    >>> table = pa.table({"x": [3, None, 1]})
    >>> w = wr.window(order_by=wr.asc("x", nulls="last"))
    >>> wr.with_columns(table, n=wr.row_number().over(w))["n"].to_pylist()
    [2, 3, 1]
    """
    return Order(as_expr(key, "asc()"), descending=False, nulls_first=_nulls_first(nulls))


@short_traceback
def desc(key: IntoExpr, *, nulls: Nulls = "last") -> Order:
    """Order by a key, greatest first.

    Parameters
    ----------
    key
        A column's name or an expression.
    nulls
        Where the nulls go: ``"last"`` (Spark's default for descending) or ``"first"``.

    Returns
    -------
    Order
        The order key.

    Examples
    --------
    >>> import pyarrow as pa
    >>> import windrow as wr
    >>> table = pa.table({"x": [3, None, 1]})
    >>> w = wr.window(order_by=wr.desc("x"))
    >>> wr.with_columns(table, n=wr.row_number().over(w))["n"].to_pylist()
    [1, 3, 2]
    """
    return Order(as_expr(key, "desc()"), descending=True, nulls_first=_nulls_first(nulls))


_FOREIGN_WINDOWS: list[Callable[[Any], Window | None]] = []


def register_windows(read: Callable[[Any], Window | None]) -> None:
    """Register what reads the windows of another library: it gives None for all other values."""
    _FOREIGN_WINDOWS.append(read)


_count_true: Callable[[Expr, Window], Expr]


def register_count(count_true: Callable[[Expr, Window], Expr]) -> None:
    """Register what makes the count of a window's rows for which a condition is true, a call."""
    global _count_true
    _count_true = count_true


def foreign_window(value: Any) -> Window | None:
    """Give another library's window as one of windrow's, None where a value is none."""
    return next((made for read in _FOREIGN_WINDOWS if (made := read(value)) is not None), None)


def as_sequence(value: Any) -> tuple[Any, ...]:
    """Give what may be one key or a sequence of them as a tuple."""
    if value is None:
        return ()
    if isinstance(value, (str, Column, Literal, Sql, HostExpression, Order)) or not isinstance(
        value, (Sequence, set, frozenset)
    ):
        return (value,)
    if isinstance(value, (set, frozenset)):
        raise SpecError("keys come in a sequence, a list or a tuple; a set has no order")
    return tuple(value)


def as_order(value: Any) -> Order:
    """Turn what a user may write into an order key."""
    if isinstance(value, Order):
        return value
    if not isinstance(value, str) and (reader := reader_of(value)) is not None:
        return Order(*reader.order(value))
    return Order(as_expr(value, "order_by"))


def _nulls_first(nulls: str) -> bool:
    if not isinstance(nulls, str) or nulls not in ("first", "last"):
        raise SpecError(f"nulls={shown(nulls)} is unknown; write 'first' or 'last'")
    return nulls == "first"


def _key_code(key: Expr) -> str:
    """Write an expression as code where a string is a column's name."""
    return repr(key.name) if isinstance(key, Column) else code_of(key)


def _keys_code(keys: Sequence[str]) -> str:
    return keys[0] if len(keys) == 1 else f"[{', '.join(keys)}]"


def _min_rows(value: int | None) -> int | None:
    if value is None:
        return None
    try:
        number = -1 if isinstance(value, bool) else index(value)  # numpy's integers count as well
    except TypeError:
        number = -1
    if not 0 <= number <= UNBOUNDED:
        raise SpecError(f"min_rows={shown(value)} is not a number of rows")
    return number
