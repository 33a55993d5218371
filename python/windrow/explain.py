"""``wr.explain``: what will be done for each call, as text and as HTML."""

from __future__ import annotations

import html
import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

from .binding import Output, read_items
from .call import Call
from .chain import Chain
from .config import current
from .derived import levels, place
from .table import kind_of, schema_of

__all__ = ["Explanation", "explain"]

_NAME_WIDTH = 32
_WIDTH = 100
_COLUMNS = ("column", "type", "shape", "strategy", "reads before", "reads after", "frame")


def explain(
    frame: Any,
    *exprs: Any,
    sort: bool | str | None = None,
    engine: str | None = None,
    spread: str | None = None,
    **named: Any,
) -> Explanation:
    """Say how window calls would be computed, without computing them.

    Parameters
    ----------
    frame
        A frame of any kind, or a schema (pyarrow, PySpark). Nothing is read.
    *exprs
        Calls as for :func:`windrow.with_columns`.
    sort, engine, spread
        On Spark frames, as for :func:`windrow.with_columns`.
    **named
        Further calls by the names of their columns.

    Returns
    -------
    Explanation
        Prints as text, shows as a table in a notebook; ``rows`` has one dict per call.

    Raises
    ------
    SpecError, UnsupportedError
        As :func:`windrow.with_columns` would.

    Examples
    --------
    >>> import pyarrow as pa
    >>> import windrow as wr
    >>> schema = pa.schema({"device": pa.int64(), "id": pa.int64(), "level": pa.float64()})
    >>> w = wr.window("device", "id", rows=(-1000, 1000))
    >>> plan = wr.explain(schema, wr.max("level").over(w).alias("peak"))
    >>> plan.rows[0]["strategy"]
    'two_stacks'
    """
    kind = None if _is_schema(frame) else kind_of(frame)
    if kind == "spark":
        from .spark.dataframe import Way, explain_spark

        return explain_spark(frame, exprs, named, Way(sort, engine, spread))
    arrow, _, _ = schema_of(frame)
    outputs = read_items(exprs, named, arrow.names)
    operator = Chain(outputs, [], arrow, current(), None)
    shown = shown_names(outputs)
    rows: list[dict[str, Any]] = []
    steps: list[str] = []
    for number, level in enumerate(operator.levels, 1):
        for row in level.explain_rows():
            sort = row.get("sort") if len(operator.levels) == 1 else f"level {number}, sort {row.get('sort')}"
            rows.append({**row, "name": shown[row["name"]] or row["call"], "sort": sort})
        steps += [f"Polars evaluates {text} into a column first" for text in level.expressions()]
    steps += [f"Polars evaluates {text} into {name} last" for name, text in operator.expressions_over_calls()]
    return Explanation(rows, steps)


def shown_names(outputs: Sequence[Output]) -> dict[str, str | None]:
    """Give the name by which to show each call: that of its column, None where it is only part of other items.

    Parameters
    ----------
    outputs
        What was asked for.

    Returns
    -------
    dict
        A name for each place.
    """
    names: dict[str, str | None] = {
        at: None for calls in levels(o.item for o in outputs if o.item is not None) for at in calls
    }
    return names | {place(o.item): o.name for o in outputs if isinstance(o.item, Call)}


def _is_schema(frame: Any) -> bool:
    return type(frame).__name__ in ("Schema", "StructType")


class Explanation:
    """What :func:`explain` gives.

    Parameters
    ----------
    rows
        One dict per call: ``name``, ``call``, ``partition_by``, ``order_by``, ``frame``, ``shape``, ``strategy``,
        ``reason``, ``reach_before``, ``reach_after``, ``sort`` and ``type``.
    steps
        What the host does around the calls.
    """

    def __init__(self, rows: Sequence[Mapping[str, Any]], steps: Sequence[str] = ()) -> None:
        self.rows = [dict(r) for r in rows]
        self.steps = list(steps)

    def __repr__(self) -> str:
        """Give the plan as text."""
        return str(self)

    def __str__(self) -> str:
        """Give the plan as text: one block per shared order, one line per call, and why."""
        lines: list[str] = []
        for order, rows in self._by_order():
            lines.append(order)
            cells = [self._cells(r) for r in rows]
            widths = [max(len(c[i]) for c in [_COLUMNS, *cells]) for i in range(len(_COLUMNS) - 1)]
            lines.append("  " + _line(_COLUMNS[:-1], widths))
            lines.append("  " + _line(["-" * w for w in widths], widths))
            lines += ["  " + _line(c[:-1], widths) for c in cells]
            lines.append("")
            for row in rows:
                call = _text(row["call"])
                lines += _folded(call if row["name"] == row["call"] else f"{row['name']}: {call}", 2)
                # A frame that was written stands in the call; one that was not is worth saying.
                if row["frame"] and not _says_frame(call):
                    lines.append(f"    frame: {row['frame']}, as none was given")
                lines.append(f"    {row['strategy']}: {row['reason']}")
            lines.append("")
        lines += self.steps
        return "\n".join(lines).rstrip()

    def _repr_html_(self) -> str:
        """Give the plan as HTML tables, for notebooks."""
        parts = ["<div class='windrow-plan'>"]
        heads = "".join(f"<th style='text-align:left'>{h}</th>" for h in (*_COLUMNS[:-1], "why"))
        for order, rows in self._by_order():
            parts.append(f"<p><b>{html.escape(order)}</b></p><table><thead><tr>{heads}</tr></thead><tbody>")
            for row in rows:
                cells = [*self._cells(row)[:-1], str(row["reason"])]
                tip = html.escape(str(row["call"]), quote=True)
                parts.append(
                    f"<tr title='{tip}'>"
                    + "".join(f"<td style='text-align:left'>{html.escape(c)}</td>" for c in cells)
                    + "</tr>"
                )
            parts.append("</tbody></table>")
        parts += [f"<p>{html.escape(s)}</p>" for s in self.steps]
        return "".join(parts) + "</div>"

    def _by_order(self) -> list[tuple[str, list[dict[str, Any]]]]:
        groups: dict[Any, list[dict[str, Any]]] = {}
        for row in self.rows:
            groups.setdefault((row.get("sort"), _text(row["partition_by"]), _text(row["order_by"])), []).append(row)
        titled = []
        for (sort, partition, order), rows in groups.items():
            title = f"PARTITION BY {partition}" if partition else "all rows are one partition"
            title += f" ORDER BY {order}" if order else ", no order"
            where = "" if sort is None else sort if isinstance(sort, str) else f"sort {sort}"
            titled.append((f"{where}: {title}" if where else title, rows))
        return titled

    def _cells(self, row: Mapping[str, Any]) -> list[str]:
        return [
            _short(_text(row["name"])),
            _text(row["type"]),
            _text(row["shape"]) or "-",
            _text(row["strategy"]),
            _text(row["reach_before"]) or "nothing",
            _text(row["reach_after"]) or "nothing",
            _text(row["frame"]) or "its own",
        ]


def _short(name: str) -> str:
    """Cut a name that would widen the whole table; the line below it has it in full."""
    return name if len(name) <= _NAME_WIDTH else name[: _NAME_WIDTH - 3] + "..."


def _folded(text: str, indent: int) -> list[str]:
    """Fold a long line; what follows the first line stands further in."""
    return textwrap.wrap(
        text,
        _WIDTH,
        initial_indent=" " * indent,
        subsequent_indent=" " * (indent + 4),
        break_long_words=False,
        break_on_hyphens=False,
    )


def _says_frame(call: str) -> bool:
    return any(f" {units} " in call for units in ("ROWS", "RANGE", "GROUPS"))


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    return "  ".join(c.ljust(w) for c, w in zip(cells, widths, strict=True)).rstrip()


def _text(value: Any) -> str:
    if value is None:
        return ""
    return ", ".join(map(_text, value)) if isinstance(value, (list, tuple)) else str(value)
