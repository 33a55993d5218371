"""Parses the items of ``with_columns`` and ``select`` into outputs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, NoReturn

from .._model.calls import Call, Derived
from .._model.expansion import expanded
from .._model.expressions import Column, HostExpression, Literal, Sql, reader_of
from .._model.formulas import Formula
from .._model.min_spans import without_min_span
from .._model.names import Names, check_text, is_expression, no_window_call, unknown_column
from .._model.outputs import Output
from .._model.placing import Calls
from .._model.replace import replace
from ..exceptions import SpecError, shown
from . import operators as operators  # registers what makes expressions of operands
from .sql_text import parse_item

__all__ = ["read_item", "read_items"]


def read_items(
    items: Iterable[Any],
    named: Mapping[str, Any],
    columns: Sequence[str],
    *,
    selecting: bool = False,
    case_insensitive: bool = False,
    frame_column: Callable[[Any], str | None] | None = None,
    select: Callable[[HostExpression], Sequence[str]] | None = None,
) -> list[Output]:
    """Parse the items of ``with_columns``, ``select``, ``explain`` or ``operator``.

    Parameters
    ----------
    items
        Builder calls, also over several windows, expressions over calls, SQL strings, PySpark Columns, dicts of name to
        any of these, or lists of them; for ``select`` also names of columns and ``"*"``.
    named
        The keyword arguments.
    columns
        The frame's columns.
    selecting
        Whether names of columns are allowed.
    case_insensitive
        Whether column names are matched case-insensitively, as in Spark by default.
    frame_column
        Returns the column name for a host's expression that is a single column with a unique name.
    select
        Names the frame's columns that a selector of a host chooses; None: the frame has none of its types.

    Returns
    -------
    list of Output
        In the order written.
    """
    outputs: list[Output] = []
    names = Names(columns, case_insensitive=case_insensitive) if selecting else None
    given = chain(((i, None) for i in items), ((i, n) for n, i in named.items()))
    for item, name in chain.from_iterable(_flat(i, n, select or _no_selectors) for i, n in given):
        if isinstance(item, Output):  # read already
            outputs.append(item if item.item is None else replace(item, item=without_min_span(item.item)))
        elif selecting and name is None and isinstance(item, str) and item == "*":
            outputs.extend(Output(c, None, position=i) for i, c in enumerate(columns))
        elif names is not None and (renamed := _renamed(item, name)) is not None:
            outputs.append(Output(renamed[0], None, columns[names.find(renamed[1])]))
        elif names is not None and (plain := _plain_name(item, names)) is not None:
            found = names.named(plain)
            if not found:
                raise no_window_call(plain) if is_expression(plain, columns) else unknown_column(plain, columns)
            if name is not None and name != plain:
                raise SpecError(f"select() cannot rename {plain!r} to {name!r}; rename it with the frame's own methods")
            outputs.extend(Output(c, None) for c in dict.fromkeys(columns[i] for i in found))
        else:
            made = read_item(item, plain=selecting, frame_column=frame_column)
            output_name = made.output_name if name is None else check_text(name, "the output's name")
            outputs.append(Output(output_name, without_min_span(made)))
    item_names: set[str] = set()
    for output in outputs:
        if output.item is not None and output.name in item_names:
            raise SpecError(f"two outputs are called {output.name!r}; give one of them another name with .alias(...)")
        item_names.add(output.name)
    return outputs


def _no_selectors(selector: HostExpression) -> NoReturn:
    raise SpecError(
        f"{selector} chooses columns by Polars' types, which the frame does not have; write a list of columns' names"
    )


def _flat(
    item: Any, name: str | None, select: Callable[[HostExpression], Sequence[str]]
) -> Iterator[tuple[Any, str | None]]:
    """Flatten dicts, lists and items of several columns; yield each item with its name, if it has one."""
    if isinstance(item, Mapping):
        for key, value in item.items():
            if not isinstance(key, str):
                raise SpecError(f"a dict of items maps names to calls; {shown(key)} is no name")
            yield from _flat(value, key, select)
    elif isinstance(item, Calls):
        for part in item if name is None else item.alias(name):
            yield from _flat(part, None, select)
    elif isinstance(item, (Call, Derived)) and item.several is not None:
        yield from expanded(item, name, select)
    elif isinstance(item, (list, tuple)):
        for part in item:
            yield from _flat(part, name, select)
    else:
        yield item, name


def _renamed(item: Any, name: str | None) -> tuple[str, str] | None:
    """Give the new and the old name of a column that gets another: its type stays, and no host evaluates it."""
    if isinstance(item, Derived) and isinstance(item.expression, Column) and not item.inputs:
        return name or item.output_name, item.expression.name
    return (check_text(name, "the output's name"), item.name) if isinstance(item, Column) and name is not None else None


def _plain_name(item: Any, names: Names) -> str | None:
    if isinstance(item, Column):
        return item.name
    if isinstance(item, str) and ("(" not in item or names.has(item)):
        return item
    return None


def read_item(
    item: Any, *, plain: bool = False, frame_column: Callable[[Any], str | None] | None = None
) -> Call | Derived:
    """Parse one select item that contains a window call.

    Parameters
    ----------
    item
        A builder call, an expression over calls, a SQL string or a PySpark Column.
    plain
        Whether a PySpark Column without a window call is allowed.
    frame_column
        As for :func:`read_items`.

    Returns
    -------
    Call or Derived
        A Call if the whole item is one call.

    Raises
    ------
    SpecError
        If the item contains no window call.
    """
    if isinstance(item, (Call, Derived)):
        return item
    if isinstance(item, str):
        return parse_item(item)
    if (reader := reader_of(item)) is not None:
        found = reader.item(item, plain=plain, frame_column=frame_column)
        assert isinstance(found, (Call, Derived))
        return found
    if isinstance(item, (Column, Literal, Sql)):
        return Derived(item, {}, str(item))
    if isinstance(item, Formula):
        raise SpecError(f"{item!r} has no window; write {item!r}.over(wr.window(...))")
    raise SpecError(
        f"{shown(item)} is not a window call; write wr.sum('x').over(wr.window(...)), a SQL string, or a dict of these"
    )
