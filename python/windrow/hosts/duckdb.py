"""DuckDB relations: the columns that are read come as Arrow, and the answer is a relation over an Arrow table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any
from uuid import uuid4

import pyarrow as pa

from .._model.expressions import is_instance_by_name
from ..exceptions import DataError
from .base import FrameSchema, read_table
from .projected import ProjectedHost

__all__ = ["DuckDBHost"]


class DuckDBHost(ProjectedHost):
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

    def read(self, frame: Any, names: Sequence[str] | None) -> pa.Table:
        """Read columns of a relation, of which DuckDB computes no others."""
        with _convert_duckdb_errors():
            if names is not None:
                frame = frame.project(", ".join('"' + n.replace('"', '""') + '"' for n in names))
            return read_table(frame)

    def as_given(self, frame: Any, result: pa.Table) -> Any:
        """Give a result as a relation of the connection that the frame has."""
        with _convert_duckdb_errors():
            return _relation(frame, result)


def _relation(frame: Any, table: pa.Table) -> Any:
    """Make a relation of a table; DuckDB finds it as the value of a variable, unless there is a table of that name."""
    import duckdb

    name = f"windrow_{uuid4().hex}"
    globals()[name] = table
    try:
        return frame.query(f"{name}_frame", f"SELECT * FROM {name}")
    except duckdb.CatalogException as error:
        raise DataError(
            "DuckDB cannot read the result, as its setting python_enable_replacements is off; give windrow "
            "relation.to_arrow_table() in place of the relation"
        ) from error
    finally:
        del globals()[name]


@contextmanager
def _convert_duckdb_errors() -> Iterator[None]:
    """Have what DuckDB raises over a relation be windrow's own error."""
    import duckdb

    try:
        yield
    except duckdb.Error as error:
        raise DataError(f"DuckDB cannot give the relation: {str(error).strip()}") from error
