"""Operators over record batches: from an iterator of batches to an iterator of batches.

batches -> level of calls -> level of calls -> ... -> Polars evaluates scalars over calls, columns are chosen
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import pyarrow as pa

from .._model.names import HIDDEN_PREFIX, unused_name
from .._plan.steps import Compute, Evaluate, NamedScalar, Project, StepPlan
from ..exceptions import SpecError, shown
from ..settings import Options
from .arrow_columns import empty_table, whole
from .evaluate import evaluate
from .explained_call import ExplainedCall
from .external_sort import POSITION
from .level import Level
from .run_metrics import Report, Run, log_in_task, logs
from .sectioned import Share
from .steps import run_steps
from .user_functions import telling
from .worker import spark_task

__all__ = ["Last", "Operator", "stream_operator"]


class Last:
    """Scalars that Polars evaluates behind all calls, and the columns of the result.

    Parameters
    ----------
    scalars
        The scalars.
    project
        The columns of the batches that leave: of those that came, and then of the scalars.
    names
        A name for each of the columns that come.
    schema
        Their schema.
    options
        The settings in force.
    ordered
        The columns that hold ordered categories, though their types do not say so.
    """

    def __init__(
        self,
        scalars: Sequence[NamedScalar],
        project: Project,
        names: Sequence[str],
        schema: pa.Schema,
        options: Options,
        ordered: Mapping[str, str],
    ) -> None:
        self.scalars = tuple(scalars)
        self.project = project
        self.input_schema = schema
        self._names = list(names)
        self._options = options
        self._ordered = dict(ordered)
        made = self._evaluated(empty_table(schema))
        self.fields = [pa.field(s.name, c.type) for s, c in zip(self.scalars, made, strict=True)]

    @property
    def schema(self) -> pa.Schema:
        """The schema of the batches that leave."""
        return self._arranged([*self.input_schema, *self.fields])

    def answered(self, batches: Iterable[pa.RecordBatch], run: Run) -> Iterator[pa.RecordBatch]:
        """Give batches with the columns of the result."""
        schema = self.schema
        for batch in batches:
            with run.stage("evaluate"):
                made = [whole(c).cast(f.type) for c, f in zip(self._evaluated(batch), self.fields, strict=True)]
            all_columns = [*batch.columns, *made]
            columns = [all_columns[index] for _, index in self.project.columns]
            fields = [f.with_type(c.type) for f, c in zip(schema, columns, strict=True)]
            yield pa.RecordBatch.from_arrays(columns, schema=pa.schema(fields, metadata=schema.metadata))

    def _arranged(self, fields: Sequence[pa.Field]) -> pa.Schema:
        chosen = [fields[index].with_name(name) for name, index in self.project.columns]
        return pa.schema(chosen, metadata=self.input_schema.metadata)

    def _evaluated(self, data: pa.RecordBatch | pa.Table) -> list[Any]:
        columns = dict(zip(self._names, data.columns, strict=True))
        return evaluate(self.scalars, columns, data.num_rows, self._options, ordered=dict(self._ordered))


class Operator:
    """Window calls over record batches. Its state is plain data; the native plans are made where it is called.

    So it may be sent to another process by fork, spawn or pickle, and no thread of this process is needed there. With
    ``share`` others have further rows of the same partitions, all before or all after these. ``report`` hears the
    figures of each run; it travels to the processes where these are. ``host_schema`` is the schema of the batches that
    come as their host has it, where that was given.
    """

    report: Report | None = None
    share: Share | None = None

    def __init__(
        self,
        levels: Sequence[Level],
        last: Last | None,
        options: Options,
        host_schema: object = None,
        *,
        shown: str | None = None,
        new: Sequence[int] = (),
    ) -> None:
        """Join levels of calls and what comes last; ``new`` says which columns of the result are new."""
        self.__name__ = "windrow"  # what Spark shows in its plan
        self.levels = list(levels)
        self.last = last
        self.host_schema = host_schema
        self._options = options
        self._shown = shown
        self._new = list(new)
        self._logs = logs()

    @property
    def input_schema(self) -> pa.Schema:
        """The schema of the batches that come."""
        return self.levels[0].came if self.levels else self._end.input_schema

    @property
    def names_read(self) -> list[str]:
        """The names of the columns of the batches that come."""
        return list(self.input_schema.names)

    @property
    def schema(self) -> pa.Schema:
        """The schema of the batches that leave: the input's columns and the new ones."""
        return self._end.schema

    @property
    def new_fields(self) -> list[pa.Field]:
        """The fields of the new columns, in the order of the items."""
        schema = self.schema
        return [schema.field(i) for i in self._new]

    @property
    def _end(self) -> Level | Last:
        return self.levels[-1] if self.last is None else self.last

    def explain_rows(self, *, streamed: bool = True) -> list[ExplainedCall]:
        """Say how each call is computed, by a stream or at once, in their order."""
        return [row for level in self.levels for row in level.explain_rows(streamed=streamed)]

    def __repr__(self) -> str:
        """Show the calls."""
        return f"<windrow.Operator {self._calls()}>"

    def _calls(self) -> str:
        if self._shown is not None:
            return self._shown
        step, project = self.levels[-1].step, self.levels[-1].project
        names = {i: name for name, i in project.columns}
        shown = [(c.display, names.get(i, HIDDEN_PREFIX)) for i, c in enumerate(step.calls, len(step.names))]
        return ", ".join(call if name.startswith(HIDDEN_PREFIX) else f"{call} AS {name}" for call, name in shown)

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Compute over batches.

        Parameters
        ----------
        batches
            Record batches of the operator's input schema, or a Table.

        Yields
        ------
        pyarrow.RecordBatch
            Batches with the new columns.

        Raises
        ------
        SpecError
            For what is no iterable of record batches.
        """
        batches = _record_batches(batches)
        task = spark_task()
        if task is not None:
            log_in_task(self._logs)
        run = Run(
            self._calls,
            self.report,
            progress=bool(self._options.progress) and task is None,
            partition=None if task is None else task.partitionId(),
        )
        answered = run.output(self._answered(run.input(batches), run))
        return answered if task is None else telling(answered)

    def summarised(self, batches: Iterable[pa.RecordBatch]) -> tuple[int, list[bytes]]:
        """Say what others must know of rows, to answer further ones of the same partitions.

        Parameters
        ----------
        batches
            Record batches of the operator's input schema.

        Returns
        -------
        tuple
            How many rows there are, and the summaries of their sections, in order.
        """
        run = Run(self._calls)
        [level] = self.levels
        summaries = level.summarised(run.input(batches), run)
        return run.metrics.rows, summaries

    def _answered(self, batches: Iterable[pa.RecordBatch], run: Run) -> Iterator[pa.RecordBatch]:
        for level in self.levels:
            batches = level.answered(batches, run, self.share)
        return iter(batches) if self.last is None else self.last.answered(batches, run)


def _record_batches(given: Any) -> Iterable[pa.RecordBatch]:
    """Give record batches as such; what else comes among them is refused when it comes, of a list at once."""
    if isinstance(given, pa.Table):
        return list(given.to_batches())
    if isinstance(given, pa.RecordBatch):
        return [given]
    if isinstance(given, (list, tuple)):
        return [_check_batch(batch) for batch in given]
    if not isinstance(given, Iterable) or isinstance(given, (str, bytes)):
        raise _not_batches(given)
    return map(_check_batch, given)


def _check_batch(batch: Any) -> pa.RecordBatch:
    if not isinstance(batch, pa.RecordBatch):
        raise _not_batches(batch)
    return batch


def _not_batches(value: Any) -> SpecError:
    kind = f"{type(value).__module__}.{type(value).__qualname__}"
    return SpecError(f"an operator takes an iterable of pyarrow record batches, or a Table, not {kind}")


class _Stream:
    """The levels so far, and the batches that leave the last of them."""

    def __init__(self, schema: pa.Schema, position: str | None, read: Sequence[int]) -> None:
        self.levels: list[Level] = []
        self.unread = frozenset(range(len(schema))).difference(read)
        self.schema = schema if position is None else schema.append(pa.field(position, pa.int64(), nullable=False))
        self.position = position
        #: Which working columns the batches have, in order.
        self.present = [*range(len(schema)), *([] if position is None else [-1])]
        self.trusted = frozenset[str]()
        self.ordered: dict[str, str] = {}
        self.pending: Evaluate | None = None


class _StreamRunner:
    """Makes an operator of the steps of a plan: a level of each step of calls."""

    def __init__(
        self, plan: StepPlan, options: Options, sort: bool | None, host_schema: object, kind: type[Operator]
    ) -> None:
        self._plan = plan
        self._options = options
        self._sort = sort
        self._host_schema = host_schema
        self._kind = kind

    def evaluate(self, working: _Stream, step: Evaluate) -> _Stream:
        """Leave the scalars to what comes next, which sees the batches."""
        assert working.pending is None, "a step of scalars is followed by one that computes or chooses"
        working.pending = step
        return working

    def compute(self, working: _Stream, step: Compute) -> _Stream:
        """Add a level, whose batches have what later steps read."""
        after = self._plan.steps[self._plan.steps.index(step) + 1]
        keeps = set(step.keeps)
        kept = [i for i in working.present if i < 0 or i in keeps]
        results = range(len(step.names), len(step.names) + len(step.calls))
        if isinstance(after, Project):
            chosen = after.columns
        else:
            all_names = [*self._plan.names, working.position or ""]
            chosen = tuple((all_names[i], i) for i in [*kept, *(i for i in results if i in keeps)])
        scalars = working.pending.scalars if working.pending is not None else ()
        first = len(step.names) - len(scalars)
        there = [*working.present, *range(first, len(step.names)), *results]
        local = {position: index for index, position in enumerate(there)}
        names = tuple(working.position or "" if i < 0 else step.names[i] for i in there[: -len(results)])
        level = Level(
            Compute(step.calls, names, tuple(sorted(local[i] for i in step.reads))),
            scalars,
            Project(tuple((name, local[i]) for name, i in chosen)),
            working.schema,
            self._options,
            self._sort,
            leaves=isinstance(after, Project),
            trusted=working.trusted,
            position=working.position,
            numbers=working.position is not None and not working.levels,
            ordered=working.ordered,
            unread=frozenset() if working.levels else working.unread,
        )
        working.trusted |= {step.names[i] for i in step.reads} | {c.name for c in step.calls}
        working.levels.append(level)
        working.schema, working.ordered = level.schema, level.ordered
        working.present, working.pending = [i for _, i in chosen], None
        return working

    def project(self, working: _Stream, step: Project) -> Operator:
        """Make the operator."""
        plan = self._plan
        last = None
        if working.pending is not None or not working.levels:
            scalars = working.pending.scalars if working.pending is not None else ()
            first = len(working.pending.names) if working.pending is not None else plan.width
            there = [*working.present, *range(first, first + len(scalars))]
            local = {position: index for index, position in enumerate(there)}
            names = [working.position or "" if i < 0 else plan.names[i] for i in working.present]
            project = Project(tuple((name, local[i]) for name, i in step.columns))
            last = Last(scalars, project, names, working.schema, self._options, working.ordered)
        places = {name: index for index, (name, i) in enumerate(step.columns) if i >= plan.width}
        new = [places[o.name] for o in plan.outputs if o.item is not None]
        shown = None if last is None and len(working.levels) == 1 else plan.shown()
        return self._kind(working.levels, last, self._options, self._host_schema, shown=shown, new=new)


def stream_operator(
    plan: StepPlan,
    schema: pa.Schema,
    options: Options,
    sort: bool | None,
    host_schema: object = None,
    *,
    kind: type[Operator] = Operator,
) -> Operator:
    """Make the operator that runs the steps of a plan over record batches.

    Parameters
    ----------
    plan
        The plan.
    schema
        The schema of the batches that will come.
    options
        The settings in force.
    sort
        As for :func:`windrow.operator`.
    host_schema
        The batches' schema as their host has it, where it is known.
    kind
        The class to make it of.

    Returns
    -------
    Operator
        The operator.
    """
    if sort is not None and not isinstance(sort, bool):
        raise SpecError(f"sort={shown(sort)} is neither True, False nor None")
    position = None
    if (
        len(plan.computes()) > 1 and sort is not False
    ):  # ties keep the order in which rows came, whatever a level sorts by
        position = unused_name(POSITION, {n.lower() for n in schema.names})
    runner = _StreamRunner(plan, options, sort, host_schema, kind)
    return run_steps(runner, _Stream(schema, position, plan.frame_columns()), plan)
