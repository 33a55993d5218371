"""Frames of which columns can be asked for: those that a plan reads are read as a pyarrow Table, which answers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from .._parse.query import Query
from .._plan.pruning import columns_read
from .._plan.steps import StepPlan
from .base import ComputeArguments, MemoryHost, host_of

__all__ = ["ProjectedHost"]


class ProjectedHost(MemoryHost):
    """A host whose frames are read column by column; the answer is a pyarrow Table."""

    def read(self, frame: Any, names: Sequence[str] | None) -> pa.Table:
        """Read columns of a frame by name, in that order; None: all of them."""
        raise NotImplementedError

    def run(self, frame: Any, plan: StepPlan, arguments: ComputeArguments) -> pa.Table:
        """Run the steps of a plan over the columns of a frame that they read."""
        arguments.in_memory()
        table = self._read(frame, plan)
        return host_of(table).run(table, plan, arguments)

    def answer(self, frame: Any, query: Query) -> pa.Table:
        """Answer a query over the columns of a frame that it reads."""
        table = self.read_columns(frame, columns_read(query, self.columns(frame)))
        return host_of(table).answer(table, query)

    def _read(self, frame: Any, plan: StepPlan) -> pa.Table:
        return self.read_columns(frame, plan.frame_columns())

    def read_columns(self, frame: Any, read: Sequence[int]) -> pa.Table:
        """Read columns of a frame by position; the others are NULL, so that each keeps its own."""
        names = self.columns(frame)
        read = list(read) or [0]  # one column brings the rows
        if len(read) >= len(names) or len(set(names)) < len(names):
            return self.read(frame, None)
        table = self.read(frame, [names[i] for i in read])
        columns = dict(zip(read, table.columns, strict=True))
        rows = pa.nulls(table.num_rows)
        schema = table.schema
        fields = [schema.field(read.index(i)) if i in columns else pa.field(n, pa.null()) for i, n in enumerate(names)]
        arrays = [columns.get(i, rows) for i in range(len(names))]
        return pa.table(arrays, schema=pa.schema(fields, metadata=schema.metadata))
