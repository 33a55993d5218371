"""What reads the columns asked for: pyarrow's Datasets and Scanners, DataFusion's DataFrames, and Ibis' tables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import pyarrow as pa

from .._model.expressions import is_instance_by_name
from ..exceptions import DataError
from .base import FrameSchema
from .projected import ProjectedHost

__all__ = ["DataFusionHost", "DatasetHost", "IbisHost"]


class DatasetHost(ProjectedHost):
    """pyarrow's Datasets, and Scanners, whose filter and projection apply first."""

    name = "dataset"

    def accepts(self, value: Any) -> bool:
        """Whether a value is a Dataset or a Scanner."""
        return is_instance_by_name(value, "pyarrow", "Dataset") or _is_scanner(value)

    def schema(self, value: Any) -> FrameSchema:
        """Give the schema of the rows, of which none is read."""
        return FrameSchema(value.projected_schema if _is_scanner(value) else value.schema)

    def read(self, frame: Any, names: Sequence[str] | None) -> pa.Table:
        """Read columns of the files."""
        with _convert_errors("pyarrow", pa.ArrowException, OSError):
            if _is_scanner(frame):
                table = frame.to_table()
                return table if names is None else table.select(list(names))
            if names is None:
                return frame.to_table()
            from pyarrow.dataset import field

            return frame.to_table(columns={n: field(n) for n in names})  # a name may have dots


class DataFusionHost(ProjectedHost):
    """DataFusion's DataFrames."""

    name = "datafusion"

    def accepts(self, value: Any) -> bool:
        """Whether a value is a DataFrame of DataFusion's."""
        return is_instance_by_name(value, "datafusion", "DataFrame")

    def schema(self, value: Any) -> FrameSchema:
        """Give the schema of a frame, of which no row is computed."""
        return FrameSchema(value.schema())

    def read(self, frame: Any, names: Sequence[str] | None) -> pa.Table:
        """Read columns of a frame, of which DataFusion computes no others."""
        from datafusion import col

        with _convert_errors("DataFusion", Exception):  # it raises these and no class of its own
            if names is not None:
                frame = frame.select(*(col('"' + n.replace('"', '""') + '"') for n in names))
            return frame.to_arrow_table()


class IbisHost(ProjectedHost):
    """Ibis' tables, of any backend."""

    name = "ibis"

    def accepts(self, value: Any) -> bool:
        """Whether a value is a table of Ibis'."""
        return is_instance_by_name(value, "ibis", "Table")

    def schema(self, value: Any) -> FrameSchema:
        """Give the schema of a table, of which no row is computed."""
        with _convert_errors("Ibis", Exception):  # and those of its backends
            return FrameSchema(value.schema().to_pyarrow())

    def read(self, frame: Any, names: Sequence[str] | None) -> pa.Table:
        """Read columns of a table, of which the backend computes no others."""
        with _convert_errors("Ibis", Exception):
            return (frame if names is None else frame.select(*names)).to_pyarrow()

    def as_given(self, frame: Any, result: pa.Table) -> Any:
        """Give a result as a table in memory, which every backend of Ibis' can query."""
        import ibis

        return ibis.memtable(result)


def _is_scanner(value: Any) -> bool:
    return is_instance_by_name(value, "pyarrow", "Scanner")


@contextmanager
def _convert_errors(library: str, *kinds: type[Exception]) -> Iterator[None]:
    """Have what a library raises over its frame be windrow's own error."""
    try:
        yield
    except MemoryError:
        raise
    except kinds as error:
        raise DataError(f"{library} cannot give the frame: {str(error).strip()}") from error
