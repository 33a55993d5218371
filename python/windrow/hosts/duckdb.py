"""DuckDB relations: the columns that are read come as Arrow, and the answer is a pyarrow Table."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pyarrow as pa

from .._model.expressions import is_instance_by_name
from .._parse.query import Query
from .._plan.steps import StepPlan
from ..exceptions import DataError
from .base import ComputeArguments, FrameSchema, MemoryHost, host_of, read_table

__all__ = ["DuckDBHost"]


class DuckDBHost(MemoryHost):
    """DuckDB's relations."""

    name = "duckdb"

    def accepts(self, value: Any) -> bool:
        """Whether a value is a relation."""
        return any(is_instance_by_name(value, package, "DuckDBPyRelation") for package in ("_duckdb", "duckdb"))

    def schema(self, value: Any) -> FrameSchema:
        """Give the schema of a relation, of which no row is computed."""
        with _convert_duckdb_errors():
            return FrameSchema(read_table(value.limit(0)).schema)

    def columns(self, frame: Any) -> list[str]:
        """List the names of a relation's columns."""
        with _convert_duckdb_errors():
            return list(frame.columns)

    def run(self, frame: Any, plan: StepPlan, arguments: ComputeArguments) -> pa.Table:
        """Run the steps of a plan over the columns of a relation that they read."""
        arguments.in_memory()
        with _convert_duckdb_errors():
            table = _read(frame, plan)
        return host_of(table).run(table, plan, arguments)

    def answer(self, frame: Any, query: Query) -> pa.Table:
        """Answer a query over a relation."""
        table = read_table(frame)
        return host_of(table).answer(table, query)


@contextmanager
def _convert_duckdb_errors() -> Iterator[None]:
    """Have what DuckDB raises over a relation be windrow's own error."""
    import duckdb

    try:
        yield
    except duckdb.Error as error:
        raise DataError(f"DuckDB cannot give the relation: {str(error).strip()}") from error


def _read(relation: Any, plan: StepPlan) -> pa.Table:
    """Read the columns that a plan reads; the others are NULL, so that each column keeps its position."""
    names = list(relation.columns)
    read = plan.frame_columns() or [0]  # one column brings the rows
    if len(read) == len(names) or len(set(names)) < len(names):
        return read_table(relation)
    table = read_table(relation.project(", ".join('"' + names[i].replace('"', '""') + '"' for i in read)))
    columns = dict(zip(read, table.columns, strict=True))
    rows = pa.nulls(table.num_rows)
    return pa.table([columns.get(i, rows) for i in range(len(names))], names=names)
