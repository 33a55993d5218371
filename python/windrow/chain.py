"""An operator over record batches for calls inside calls, and for expressions over calls.

batches -> operator of level 0 -> operator of level 1 -> ... -> Polars evaluates expressions, hidden columns go
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import pyarrow as pa

from ._model.calls import Call
from ._model.names import unique_names
from ._model.outputs import Output
from ._model.result_columns import place
from ._plan.bind import bind, scalars
from ._plan.layout import Slot
from ._plan.levels import levels
from .metrics import Run, logs
from .native import whole
from .operator import Operator
from .settings import Options

__all__ = ["Chain", "make_operator"]


class Chain(Operator):
    """Operators one after another, and the scalar expressions after them. Plain data, as each operator is."""

    def __init__(
        self,
        outputs: Sequence[Output],
        slots: Sequence[Slot],
        schema: pa.Schema,
        options: Options,
        sort: bool | None,
        host_schema: object = None,
    ) -> None:
        self.__name__ = "windrow"  # what Spark shows in its plan
        self.slots = list(slots)
        self._options = options
        self._logs = logs()
        self.host_schema = host_schema
        self.levels: list[Operator] = []
        self._shown = Output.shown(outputs)
        working = schema
        for calls in levels(o.item for o in outputs if o.item is not None):
            kept = [Slot(n, False, i) for i, n in enumerate(working.names)]
            added = [Slot(at, True, i) for i, at in enumerate(calls)]
            bound = bind([Output(at, call) for at, call in calls.items()], working.names)
            level = Operator(bound, kept + added, working, options, sort, leaves=False)
            working = level.schema
            self.levels.append(level)
        self._scalars = scalars(outputs, working.names)
        self._names = unique_names(working.names)
        made = {t.name: i for i, t in enumerate(self._scalars)}
        # for each new column: whether it is an expression over calls, and its place among these or the calls' results
        items = [o for o in outputs if o.item is not None]
        self.sources = [
            (False, working.names.index(place(o.item))) if isinstance(o.item, Call) else (True, made[o.name])
            for o in items
        ]
        self._new_names = [o.name for o in items]
        self.input_schema = working
        self.scalar_fields = [
            pa.field(t.name, c.type) for t, c in zip(self._scalars, self._evaluated(working.empty_table()), strict=True)
        ]

    @property
    def schema(self) -> pa.Schema:
        """The schema of the batches that leave: the input's columns and the new ones."""
        new = self.new_fields
        fields = [(new if s.new else self.input_schema)[s.index].with_name(s.name) for s in self.slots]
        return pa.schema(fields, metadata=self.input_schema.metadata)

    @property
    def new_fields(self) -> list[pa.Field]:
        """The fields of the new columns, in the order of the items."""
        return [
            (self.scalar_fields if is_scalar else self.input_schema)[index].with_name(name)
            for (is_scalar, index), name in zip(self.sources, self._new_names, strict=True)
        ]

    def expressions_over_calls(self) -> list[tuple[str, str]]:
        """List the expressions that are evaluated last, each with its column's name."""
        return [(t.name, t.text) for t in self._scalars]

    def _calls(self) -> str:
        return self._shown

    def _answered(self, batches: Iterable[pa.RecordBatch], run: Run) -> Iterator[pa.RecordBatch]:
        for level in self.levels:
            batches = level._answered(batches, run)
        schema = self.schema
        for batch in batches:
            with run.stage("evaluate"):
                made = [whole(c).cast(f.type) for c, f in zip(self._evaluated(batch), self.scalar_fields, strict=True)]
            columns = []
            for slot in self.slots:
                is_scalar, index = self.sources[slot.index] if slot.new else (False, slot.index)
                columns.append(made[index] if is_scalar else batch.column(index))
            fields = [f.with_type(c.type) for f, c in zip(schema, columns, strict=True)]
            yield pa.RecordBatch.from_arrays(columns, schema=pa.schema(fields, metadata=schema.metadata))

    def _evaluated(self, data: pa.RecordBatch | pa.Table) -> list[Any]:
        if not self._scalars:
            return []
        from .polars import evaluate

        return evaluate(self._scalars, dict(zip(self._names, data.columns, strict=True)), data.num_rows)


def make_operator(
    outputs: Sequence[Output],
    slots: Sequence[Slot],
    schema: pa.Schema,
    options: Options,
    sort: bool | None,
    host_schema: object = None,
    *,
    kinds: tuple[type[Operator], type[Chain]] = (Operator, Chain),
) -> Operator:
    """Make the operator for outputs of any shape: one where one level of calls is all there is, else a chain.

    Parameters
    ----------
    outputs
        What was asked for.
    slots
        The result's columns.
    schema
        The schema of the batches that will come.
    options
        The settings in force.
    sort
        As for :func:`windrow.operator`.
    host_schema
        The batches' schema as their host has it, where it is known.
    kinds
        The classes to make it of: for one level of calls, and for more.

    Returns
    -------
    Operator
        The operator.
    """
    calls = [o.item for o in outputs if isinstance(o.item, Call)]
    height = len(levels(calls))
    if height == 1 and len({place(c) for c in calls}) == sum(o.item is not None for o in outputs):
        return kinds[0](bind(outputs, schema.names), slots, schema, options, sort, host_schema)
    return kinds[1](outputs, slots, schema, options, sort, host_schema)
