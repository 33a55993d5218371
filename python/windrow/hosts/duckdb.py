"""DuckDB relations: the columns that are read come as Arrow, and the answer is a pyarrow Table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

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


@contextmanager
def _convert_duckdb_errors() -> Iterator[None]:
    """Have what DuckDB raises over a relation be windrow's own error."""
    import duckdb

    try:
        yield
    except duckdb.Error as error:
        raise DataError(f"DuckDB cannot give the relation: {str(error).strip()}") from error
