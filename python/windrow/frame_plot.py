"""A drawing of one frame: the rows of a small data frame in the window's order, and those that a call looks at."""

from __future__ import annotations

import os
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from operator import index
from pathlib import Path
from typing import Any

import pyarrow as pa

from ._display import ACCENT, CHARACTER, CONTRAST, printable, rectangle, svg, svg_text, text_width
from ._model.frames import default_frame
from ._model.replace import replace
from ._model.windows import Window, asc, foreign_window, window as make_window
from .exceptions import SpecError, short_traceback, shown
from .functions import collect_list, count, dense_rank, first_value, min, row_number
from .hosts.base import ComputeArguments, opened
from .typing import MemoryFrameT, StreamLike

__all__ = ["FramePlot", "plot_frame"]

#: More rows fit neither a page nor a screen.
_MOST_ROWS = 60
_MOST_CHARACTERS = 28

_LINE = 22  # the height of a row
_GAP = 18  # between columns
_BAR = 76  # the width of a bar
_MARGIN = 8


@dataclass(frozen=True, slots=True)
class _Row:
    """A row as it is drawn."""

    position: int
    keys: tuple[str, ...]
    begins_partition: bool
    begins_peers: bool


@short_traceback
def plot_frame(window: Window, frame: MemoryFrameT | StreamLike, *, row: int) -> FramePlot:
    """Draw which rows of a data frame a window's frame holds, seen from one of them.

    The rows are drawn in the window's order, partition by partition, with their keys. A bar marks each row of the
    frame; the current row and the rows that EXCLUDE leaves out are marked as well. Peers have no line between them.
    windrow itself computes which rows these are, so the drawing shows what every call over this window reads.

    Parameters
    ----------
    window
        The window, of which all parts are drawn: keys, bounds, EXCLUDE.
    frame
        A frame in memory of up to 60 rows: polars, pandas, pyarrow, DuckDB, or an object with ``__arrow_c_stream__``.
    row
        The current row, by its position in ``frame`` from 0; a negative number counts from the end.

    Returns
    -------
    FramePlot
        Shows as a picture in notebooks and prints as text; ``svg`` is the picture's text, and ``save(path)`` writes it.

    Raises
    ------
    SpecError
        For more than 60 rows, a frame that is not in memory, a ``row`` that there is not, and for what
        :func:`windrow.with_columns` refuses of the window.

    Examples
    --------
    >>> import pyarrow as pa
    >>> import windrow as wr
    >>> table = pa.table({"device": [5, 0, 5, 5], "id": [2, 0, 5, 6]})
    >>> plot = wr.plot_frame(wr.window("device", "id", rows=(-1, 0)), table, row=2)
    >>> print(plot)
    PARTITION BY device
    ORDER BY id
    ROWS BETWEEN 1 PRECEDING AND CURRENT ROW
    <BLANKLINE>
    row  device  id
      0       5   2  |███|
      2       5   5  |███| <- current row
      3       5   6  |   |
    <BLANKLINE>
      1       0   0  |   |
    >>> plot.rows
    [0, 2]
    """
    window = foreign_window(window) or window
    if not isinstance(window, Window):
        raise SpecError(f"plot_frame() draws a window, and {shown(window)} is none; write wr.window(...) first")
    host, opened_frame = opened(frame)
    try:
        number_of_rows = len(opened_frame)
    except Exception:  # Ibis' tables raise an error of Ibis'
        raise SpecError(
            f"plot_frame() draws the rows of a frame in memory, and {type(frame).__name__} is none; write "
            "frame.head(20).collect(), reader.read_all() or the like first"
        ) from None
    if number_of_rows > _MOST_ROWS:
        raise SpecError(
            f"plot_frame() draws up to {_MOST_ROWS} rows, and the frame has {number_of_rows:,}; give some of its rows"
        )
    current = _position(row, number_of_rows)
    keys = [*window.partition_by, *(o.key for o in window.order_by)]
    all_rows = replace(window, min_rows=None, min_span=None)
    number = count().over(make_window(rows=(None, 0)))
    items: dict[str, Any] = {
        "partition": min(number).over(Window(window.partition_by)),
        "place": row_number().over(Window(window.partition_by, (*window.order_by, asc(number)))),
        "inside": collect_list(number).over(all_rows),
    }
    if window.order_by:
        items["peers"] = dense_rank().over(Window(window.partition_by, window.order_by))
    if window.frame is not None and window.frame.exclude != "no_others":
        bounds = replace(window.frame, exclude="no_others")
        items["between_bounds"] = collect_list(number).over(replace(all_rows, frame=bounds))
    if window.min_rows is not None:
        items["counted"] = collect_list(number).over(replace(window, min_span=None))
    for i, key in enumerate(keys):
        items[f"key {i}"] = first_value(key).over(make_window(rows=(0, 0)))
    answer = host.run(opened_frame, host.plan(opened_frame, [items], {}, selecting=True), ComputeArguments())
    columns: dict[str, list[Any]] = pa.table(answer).to_pydict()
    inside = [n - 1 for n in columns["inside"][current]]
    bounded = [n - 1 for n in columns["between_bounds"][current]] if "between_bounds" in columns else inside
    return FramePlot(
        window,
        [str(key) for key in keys],
        list(_rows(columns, len(keys))),
        current,
        inside,
        [i for i in bounded if i not in inside],
        too_few="counted" in columns and columns["counted"][current] is None,
    )


class FramePlot:
    """What :func:`plot_frame` gives: a picture in notebooks, text where it is printed.

    Attributes
    ----------
    svg
        The picture, as the text of an SVG file. It takes the colour of the text around it, so that it can be read on
        light and on dark pages.
    row
        The position of the current row in the data frame.
    rows
        The positions of the rows in its frame, in the window's order.
    excluded
        The positions of the rows between its bounds that EXCLUDE leaves out.
    """

    def __init__(
        self,
        window: Window,
        heads: Sequence[str],
        lines: Sequence[_Row],
        row: int,
        rows: Sequence[int],
        excluded: Sequence[int],
        *,
        too_few: bool = False,
    ) -> None:
        self.row = row
        self.rows: list[int] = list(rows)
        self.excluded: list[int] = list(excluded)
        self._caption = _caption(window, too_few)
        self._heads = ["row", *map(_shortened, heads)]
        self._lines = list(lines)

    @property
    def svg(self) -> str:
        """The picture, as the text of an SVG file."""
        return _svg(self)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the picture to a file.

        Parameters
        ----------
        path
            Its path; by custom it ends with ``.svg``.

        Examples
        --------
        >>> import pathlib, tempfile
        >>> import pyarrow as pa
        >>> import windrow as wr
        >>> plot = wr.plot_frame(wr.window(order_by="id", rows=(-1, 0)), pa.table({"id": [1, 2, 3]}), row=1)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = pathlib.Path(folder, "frame.svg")
        ...     plot.save(path)
        ...     path.read_text(encoding="utf-8").startswith("<svg")
        True
        """
        Path(path).write_text(self.svg, encoding="utf-8")

    def _repr_svg_(self) -> str:
        """Give the picture, for notebooks."""
        return self.svg

    def __repr__(self) -> str:
        """Give the drawing as text."""
        return str(self)

    def __str__(self) -> str:
        """Give the drawing as text."""
        cells = [[str(line.position), *line.keys] for line in self._lines]
        widths = [max(map(text_width, column)) for column in zip(self._heads, *cells, strict=True)]
        drawn = [*self._caption, "", _text_line(self._heads, widths)]
        for line, texts in zip(self._lines, cells, strict=True):
            if line.begins_partition and line is not self._lines[0]:
                drawn.append("")
            mark = "███" if line.position in self.rows else "xxx" if line.position in self.excluded else "   "
            note = " excluded" if line.position in self.excluded else ""
            note = f" <- current row{',' if note else ''}{note}" if line.position == self.row else note
            drawn.append(f"{_text_line(texts, widths)}  |{mark}|{note}")
        return "\n".join(drawn)


def _rows(columns: dict[str, list[Any]], keys: int) -> Iterator[_Row]:
    """Give the rows in the window's order."""
    partition, place = columns["partition"], columns["place"]
    peers = columns.get("peers", [1] * len(partition))
    before: tuple[Any, Any] = (None, None)
    for i in sorted(range(len(partition)), key=lambda i: (partition[i], place[i])):
        texts = tuple(_value_text(columns[f"key {k}"][i]) for k in range(keys))
        here = (partition[i], peers[i])
        yield _Row(i, texts, before[0] != here[0], before != here)
        before = here


def _position(row: Any, number_of_rows: int) -> int:
    try:
        position = None if isinstance(row, bool) else index(row)
    except TypeError:
        position = None
    if position is None:
        raise SpecError(f"row={shown(row)} is no position of a row; write a whole number, from 0")
    if not -number_of_rows <= position < number_of_rows:
        there = f"rows 0 to {number_of_rows - 1}" if number_of_rows else "no rows"
        raise SpecError(f"row={position}: the frame has {there}")
    return position % number_of_rows


def _caption(window: Window, too_few: bool) -> list[str]:
    """Say what the window is, a clause a line."""
    lines = []
    if window.partition_by:
        lines.append("PARTITION BY " + ", ".join(map(str, window.partition_by)))
    if window.order_by:
        lines.append("ORDER BY " + ", ".join(map(str, window.order_by)))
    given = window.frame or default_frame(bool(window.order_by))
    lines.append(str(given) + ("" if window.frame else " (the default)"))
    if too_few:
        lines.append(f"min_rows={window.min_rows}: the frame has fewer rows, so the result is NULL")
    if window.min_span is not None:
        lines.append(f"min_span={window.min_span}: the result is NULL where the partition's first key is nearer")
    return [part for line in lines for part in textwrap.wrap(line, 72, subsequent_indent="    ")]


def _value_text(value: Any) -> str:
    return "NULL" if value is None else _shortened(str(value))


def _shortened(text: str) -> str:
    """Cut a text that is too long, and replace what is not printed, which XML may not hold either."""
    text = printable(text)
    return text if len(text) <= _MOST_CHARACTERS else text[: _MOST_CHARACTERS - 1] + "…"


def _text_line(texts: Sequence[str], widths: Sequence[int]) -> str:
    return "  ".join(" " * (width - text_width(text)) + text for text, width in zip(texts, widths, strict=True))


def _svg(plot: FramePlot) -> str:
    columns = list(zip(plot._heads, *([str(r.position), *r.keys] for r in plot._lines), strict=True))
    widths = [max(map(text_width, column)) * CHARACTER for column in columns]
    rights = [_MARGIN + sum(widths[: i + 1]) + _GAP * i for i in range(len(widths))]
    bar = rights[-1] + _GAP
    note = bar + _BAR + _GAP / 2
    parts: list[str] = []

    def text(x: float, y: float, given: str, *, end: bool = False, faint: bool = False, bold: bool = False) -> None:
        if given:
            parts.append(svg_text(x, y + _LINE - 7, given, end=end, faint=faint, bold=bold))

    y = _MARGIN
    for clause in plot._caption:
        text(_MARGIN, y, clause)
        y += _LINE - 4
    y += 6
    for right, head in zip(rights, plot._heads, strict=True):
        text(right, y, head, end=True, faint=True)
    text(bar, y, "frame", faint=True)
    y += _LINE
    end = note + len("◀ current row, excluded") * CHARACTER
    for line in plot._lines:
        if line.begins_partition and line is not plot._lines[0]:
            y += 10
        if line.begins_peers and not line.begins_partition:
            path = f'd="M{_MARGIN} {y}H{bar + _BAR:.0f}"'
            parts.append(f'<path {path} stroke="currentColor" stroke-opacity="0.25"/>')
        is_current, is_excluded = line.position == plot.row, line.position in plot.excluded
        if is_current:
            parts.append(rectangle(2, y, end, _LINE, 'fill="currentColor" fill-opacity="0.09" rx="3"'))
        for i, (right, value) in enumerate(zip(rights, [str(line.position), *line.keys], strict=True)):
            text(right, y, value, end=True, faint=not i or value == "NULL", bold=is_current)
        if line.position in plot.rows:
            parts.append(rectangle(bar, y + 1.5, _BAR, _LINE - 3, f'fill="{ACCENT}" rx="2"'))
        elif is_excluded:
            dashed = f'fill="none" stroke="{CONTRAST}" stroke-width="1.5" stroke-dasharray="4 3" rx="2"'
            parts.append(rectangle(bar + 1, y + 2.5, _BAR - 2, _LINE - 5, dashed))
        notes = ["◀ current row"] * is_current + ["excluded"] * is_excluded
        text(note, y, ", ".join(notes), bold=is_current)
        y += _LINE
    caption_end = _MARGIN + max(map(text_width, plot._caption)) * CHARACTER
    width, height = round(max(end, caption_end) + _MARGIN), round(y + _MARGIN)
    return svg(width, height, f"The frame of row {plot.row}: {' '.join(plot._caption)}", parts)
