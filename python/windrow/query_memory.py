"""Queries over frames in memory: what comes before and after the select, by the frame's own means.

Order and DISTINCT are window calls themselves, ``row_number() OVER (ORDER BY ...)``, so that nulls, NaN and -0.0 lie
where windrow has them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Protocol

import pyarrow as pa
import pyarrow.compute as pc

from .binding import Output
from .call import Call
from .derived import Derived, place
from .exceptions import SpecError
from .expr import Column, Item, Literal, Scalar, Sql
from .native import whole
from .query import Query
from .spec import Order, Window
from .table import select, with_columns

__all__ = ["answer", "columns_of"]

# hidden columns: which rows to keep, and each row's number in the order asked for
_HIDDEN = "__windrow_keep"
_ORDER = "__windrow_order"


def columns_of(frame: Any, kind: str) -> list[str]:
    """List the columns of a frame in memory.

    Parameters
    ----------
    frame
        The frame.
    kind
        What :func:`windrow.table.kind_of` says of it.

    Returns
    -------
    list of str
        Their names.
    """
    if kind == "pandas":
        from .pandas import names_of

        return names_of(frame)
    if kind in ("polars", "polars lazy"):
        return list(frame.collect_schema().names())
    return list((pa.table(frame) if kind == "stream" else frame).schema.names)


def answer(frame: Any, kind: str, query: Query) -> Any:
    """Answer a query over a frame in memory.

    Parameters
    ----------
    frame
        The frame.
    kind
        What :func:`windrow.table.kind_of` says of it.
    query
        The query.

    Returns
    -------
    same kind as ``frame``
        The result.
    """
    if kind == "reader":
        schema = _answer(frame.schema.empty_table(), _Arrow(), query).schema
        return pa.RecordBatchReader.from_batches(schema, _read(frame, query))
    if kind == "batch":
        result = _answer(pa.Table.from_batches([frame]), _Arrow(), query)
        return pa.RecordBatch.from_arrays([whole(c) for c in result.columns], schema=result.schema)
    if kind in ("polars", "polars lazy"):
        return _answer(frame, _Polars(), query)
    if kind == "pandas":
        return _answer(frame, _Pandas(), query)
    return _answer(frame if kind == "table" else pa.table(frame), _Arrow(), query)


def _read(reader: pa.RecordBatchReader, query: Query) -> Iterator[pa.RecordBatch]:
    yield from _answer(reader.read_all(), _Arrow(), query).to_batches()


def _answer(frame: Any, host: _Host, query: Query) -> Any:
    if query.where is not None:
        frame = host.where(frame, query.where)
    hidden = []
    if query.qualify is not None:
        condition = query.qualify
        if not isinstance(condition, (Call, Derived)):
            assert not isinstance(condition, Item)
            condition = Derived(condition, {}, str(condition))
        hidden.append(Output(_HIDDEN, condition))
    if query.order:
        hidden.append(Output(_ORDER, Call("row_number", window=Window(order_by=tuple(query.order)))))
    result = select(frame, *query.outputs, *hidden)
    if query.qualify is not None:
        result = host.kept(result, f"QUALIFY {query.qualify}")
    if query.distinct:
        keys = tuple(Column(o.name) for o in query.outputs)
        number = Call("row_number", window=Window(keys, (Order(Literal(1)),)))
        is_first = Derived(Sql(f"{place(number)} = 1"), {place(number): number}, "DISTINCT")
        result = host.kept(with_columns(result, Output(_HIDDEN, is_first)), "DISTINCT")
    if query.order:
        result = host.ordered(result)
    if query.offset or query.limit is not None:
        result = host.cut(result, query.offset, query.limit)
    return result


class _Host(Protocol):
    """What a query needs of a kind of frame beside the select."""

    def where(self, frame: Any, condition: Scalar) -> Any:
        """Keep the rows for which a condition over the frame's columns is true."""

    def kept(self, frame: Any, text: str) -> Any:
        """Keep the rows for which the hidden column is true, and drop it."""

    def ordered(self, frame: Any) -> Any:
        """Order the rows by their numbers, and drop these."""

    def cut(self, frame: Any, offset: int, limit: int | None) -> Any:
        """Pass over some rows, and keep some of the rest."""


def _not_boolean(text: str, dtype: Any) -> SpecError:
    return SpecError(f"{text} gives {dtype}, and a condition gives true or false")


class _Arrow:
    def where(self, frame: pa.Table, condition: Scalar) -> pa.Table:
        marked = with_columns(frame, Output(_HIDDEN, Derived(condition, {}, str(condition))))
        return self.kept(marked, f"WHERE {condition}")

    def kept(self, frame: pa.Table, text: str) -> pa.Table:
        keep = frame[_HIDDEN]
        if not (pa.types.is_boolean(keep.type) or pa.types.is_null(keep.type)):
            raise _not_boolean(text, keep.type)
        return _taken(frame.drop_columns([_HIDDEN]), pc.indices_nonzero(keep.cast(pa.bool_())))

    def ordered(self, frame: pa.Table) -> pa.Table:
        return _taken(frame.drop_columns([_ORDER]), pc.sort_indices(frame[_ORDER]))

    def cut(self, frame: pa.Table, offset: int, limit: int | None) -> pa.Table:
        return frame.slice(offset, limit)


# pyarrow cannot take rows of views
_TAKEN_AS = {pa.string_view(): pa.large_string(), pa.binary_view(): pa.large_binary()}


def _taken(table: pa.Table, rows: pa.Array) -> pa.Table:
    columns = [c.cast(_TAKEN_AS.get(c.type, c.type)).take(rows).cast(c.type) for c in table.columns]
    return pa.Table.from_arrays(columns, schema=table.schema)


class _Polars:
    """DataFrames and LazyFrames, whose methods have the same names."""

    def where(self, frame: Any, condition: Scalar) -> Any:
        from .polars import condition_of

        return frame.filter(condition_of(frame, condition))

    def kept(self, frame: Any, text: str) -> Any:
        import polars as pl

        dtype = frame.collect_schema()[_HIDDEN]
        if dtype not in (pl.Boolean, pl.Null):
            raise _not_boolean(text, dtype)
        return frame.filter(pl.col(_HIDDEN).cast(pl.Boolean)).drop(_HIDDEN)

    def ordered(self, frame: Any) -> Any:
        return frame.sort(_ORDER).drop(_ORDER)

    def cut(self, frame: Any, offset: int, limit: int | None) -> Any:
        return frame.slice(offset, limit)


class _Pandas:
    def where(self, frame: Any, condition: Scalar) -> Any:
        marked = with_columns(frame, Output(_HIDDEN, Derived(condition, {}, str(condition))))
        return self.kept(marked, f"WHERE {condition}")

    def kept(self, frame: Any, text: str) -> Any:
        keep = pa.Array.from_pandas(frame[_HIDDEN])
        if not (pa.types.is_boolean(keep.type) or pa.types.is_null(keep.type)):
            raise _not_boolean(text, keep.type)
        mask = keep.cast(pa.bool_()).fill_null(False).to_numpy(zero_copy_only=False)
        return frame.loc[mask].drop(columns=_HIDDEN)

    def ordered(self, frame: Any) -> Any:
        return frame.iloc[frame[_ORDER].to_numpy().argsort(kind="stable")].drop(columns=_ORDER)

    def cut(self, frame: Any, offset: int, limit: int | None) -> Any:
        return frame.iloc[offset : None if limit is None else offset + limit]
