"""What scans files: pyarrow's Datasets and Scanners, and DataFusion's DataFrames, which read the columns asked for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import pyarrow as pa

from .._model.expressions import is_instance_by_name
from ..exceptions import DataError
from .base import FrameSchema
from .projected import ProjectedHost

__all__ = ["DataFusionHost", "DatasetHost"]


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
