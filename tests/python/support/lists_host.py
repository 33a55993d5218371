"""A host of another package, whose frames are dicts of lists. An entry point of ``windrow.hosts`` would name it."""

from typing import Any

import pyarrow as pa

from windrow._execute.in_memory import ArrowRunner, WorkingColumns
from windrow._execute.run_metrics import measure
from windrow._execute.steps import run_steps
from windrow._plan.steps import Project, StepPlan
from windrow.hosts.base import ComputeArguments, FrameSchema
from windrow.hosts.query import QueryHost
from windrow.settings import current

Lists = dict[str, list[Any]]


class ListsHost(QueryHost):
    """Dicts of lists."""

    name = "lists"

    def accepts(self, value: Any) -> bool:
        """Whether a value is a dict of lists."""
        return type(value) is dict and all(isinstance(v, list) for v in value.values())

    def schema(self, value: Lists) -> FrameSchema:
        """Give the schema of a frame."""
        return FrameSchema(pa.schema([(name, pa.array(values).type) for name, values in value.items()]))

    def run(self, frame: Lists, plan: StepPlan, arguments: ComputeArguments) -> Lists:
        """Run the steps of a plan; only what they read becomes Arrow."""
        arrays = {i: pa.array(frame[plan.columns[i]]) for i in plan.frame_columns()}
        rows = len(next(iter(frame.values()), []))
        with measure(plan.shown, rows) as run:
            runner = _ListsRunner(run, current(), presorted=arguments.in_memory() is False)
            return run_steps(runner, WorkingColumns(arrays, plan.width, rows), plan)

    def keep_rows(self, frame: Lists, keep: str, text: str) -> Lists:
        """Keep the rows for which the column ``keep`` is true, and drop that column."""
        return _take_rows(frame, [i for i, is_kept in enumerate(frame[keep]) if is_kept], keep)

    def sort_rows(self, frame: Lists, number: str) -> Lists:
        """Sort the rows by the column ``number``, and drop that column."""
        return _take_rows(frame, sorted(range(len(frame[number])), key=frame[number].__getitem__), number)

    def slice_rows(self, frame: Lists, offset: int, limit: int | None) -> Lists:
        """Skip ``offset`` rows, then keep at most ``limit``."""
        end = None if limit is None else offset + limit
        return {name: values[offset:end] for name, values in frame.items()}


class _ListsRunner(ArrowRunner[Lists]):
    def project(self, working: WorkingColumns, step: Project) -> Lists:
        return {name: working[i].to_pylist() for name, i in step.columns}


def _take_rows(frame: Lists, rows: list[int], without: str) -> Lists:
    return {name: [values[i] for i in rows] for name, values in frame.items() if name != without}
