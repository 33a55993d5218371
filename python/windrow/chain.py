"""An operator over record batches for calls inside calls, and for expressions over calls.

batches -> operator of level 0 -> operator of level 1 -> ... -> Polars evaluates expressions, hidden columns go
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from .binding import Output, Slot, bind, scalars
from .call import Call
from .config import Options
from .derived import levels, place
from .metrics import Run, logs
from .names import unique_names
from .native import whole
from .operator import Operator

if TYPE_CHECKING:
    from pyspark.sql.types import StructType

__all__ = ["make_operator"]


def make_operator(
    outputs: Sequence[Output],
    slots: Sequence[Slot],
    schema: pa.Schema,
    options: Options,
    sort: bool | None,
    spark: StructType | None = None,
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
    spark
        The batches' Spark schema, where it is known.

    Returns
    -------
    Operator
        The operator.
    """
    calls = [o.item for o in outputs if isinstance(o.item, Call)]
    height = len(levels(calls))
    if height == 1 and len({place(c) for c in calls}) == sum(o.item is not None for o in outputs):
        return Operator(bind(outputs, schema.names), slots, schema, options, sort, spark)
    return Chain(outputs, slots, schema, options, sort, spark)


class Chain(Operator):
    """Operators one after another, and the scalar expressions after them. Plain data, as each operator is."""

    def __init__(
        self,
        outputs: Sequence[Output],
        slots: Sequence[Slot],
        schema: pa.Schema,
        options: Options,
        sort: bool | None,
        spark: StructType | None = None,
    ) -> None:
        self.__name__ = "windrow"  # what Spark shows in its plan
        self._slots = list(slots)
        self._options = options
        self._logs = logs()
        self.levels: list[Operator] = []
        self._shown = Output.shown(outputs)
        working = schema
        for calls in levels(o.item for o in outputs if o.item is not None):
            kept = [Slot(n, False, i) for i, n in enumerate(working.names)]
            added = [Slot(at, True, i) for i, at in enumerate(calls)]
            bound = bind([Output(at, call) for at, call in calls.items()], working.names)
            level = Operator(bound, kept + added, working, options, sort, spark, leaves=False)
            spark = None if spark is None else level.spark_schema
            working = level.schema
            self.levels.append(level)
        self._scalars = scalars(outputs, working.names)
        self._names = unique_names(working.names)
        made = {t.name: i for i, t in enumerate(self._scalars)}
        # for each new column: its place among the calls' results, or among the expressions'
        items = [o for o in outputs if o.item is not None]
        self._sources = [
            (False, working.names.index(place(o.item))) if isinstance(o.item, Call) else (True, made[o.name])
            for o in items
        ]
        self._new_names = [o.name for o in items]
        self._input = working
        self._fields = [
            pa.field(t.name, c.type) for t, c in zip(self._scalars, self._evaluated(working.empty_table()), strict=True)
        ]

    @property
    def schema(self) -> pa.Schema:
        """The schema of the batches that leave: the input's columns and the new ones."""
        new = self.new_fields
        fields = [(new if s.new else self._input)[s.index].with_name(s.name) for s in self._slots]
        return pa.schema(fields, metadata=self._input.metadata)

    @property
    def spark_schema(self) -> StructType:
        """The schema of the batches that leave as PySpark's ``mapInArrow`` wants it.

        Returns
        -------
        pyspark.sql.types.StructType
            Input columns as they came, results of calls with their type and nullability, expressions as Polars types
            them.
        """
        import pyspark.sql.types as T  # noqa: N812 - its usual name

        from .spark.schema import from_arrow

        working = self.levels[-1].spark_schema.fields

        def field(slot: Slot) -> T.StructField:
            is_scalar, index = self._sources[slot.index] if slot.new else (False, slot.index)
            if is_scalar:
                return T.StructField(slot.name, from_arrow(self._fields[index].type, slot.name), True)
            old = working[index]
            return T.StructField(slot.name, old.dataType, old.nullable, old.metadata)

        return T.StructType([field(s) for s in self._slots])

    @property
    def new_fields(self) -> list[pa.Field]:
        """The fields of the new columns, in the order of the items."""
        return [
            (self._fields if is_scalar else self._input)[index].with_name(name)
            for (is_scalar, index), name in zip(self._sources, self._new_names, strict=True)
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
                made = [whole(c).cast(f.type) for c, f in zip(self._evaluated(batch), self._fields, strict=True)]
            columns = []
            for slot in self._slots:
                is_scalar, index = self._sources[slot.index] if slot.new else (False, slot.index)
                columns.append(made[index] if is_scalar else batch.column(index))
            fields = [f.with_type(c.type) for f, c in zip(schema, columns, strict=True)]
            yield pa.RecordBatch.from_arrays(columns, schema=pa.schema(fields, metadata=schema.metadata))

    def _evaluated(self, data: pa.RecordBatch | pa.Table) -> list[Any]:
        if not self._scalars:
            return []
        from .polars import evaluate

        return evaluate(self._scalars, dict(zip(self._names, data.columns, strict=True)), data.num_rows)
