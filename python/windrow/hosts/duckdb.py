"""DuckDB relations: read as Arrow, answered as a pyarrow Table."""

from __future__ import annotations

from typing import Any

from .._model.expressions import is_instance
from .base import ReadAsTable

__all__ = ["DuckDBHost"]


class DuckDBHost(ReadAsTable):
    """DuckDB's relations."""

    name = "duckdb"

    def accepts(self, value: Any) -> bool:
        """Whether a value is a relation."""
        return any(is_instance(value, package, "DuckDBPyRelation") for package in ("_duckdb", "duckdb"))
