"""A host of another package, whose frames are dicts of lists. An entry point of ``windrow.hosts`` would name it."""

from typing import Any

import pyarrow as pa

from windrow._execute.in_memory import ArrowRunner, WorkingColumns
from windrow._execute.run_metrics import in_memory
from windrow._execute.steps import run_steps
from windrow._plan.steps import Project, StepPlan
from windrow.hosts.base import ComputeArguments, FrameSchema, MemoryHost
from windrow.hosts.query import KEEP, NUMBER, answer, marked
from windrow.settings import current

Lists = dict[str, list[Any]]


class ListsHost(MemoryHost):
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
        with in_memory(plan.shown, rows) as run:
            runner = _ListsRunner(run, current(), presorted=arguments.in_memory() is False)
            return run_steps(runner, WorkingColumns(arrays, plan.width, rows), plan)

    def answer(self, frame: Lists, query: Any) -> Lists:
        """Answer a query, by the four methods below."""
        made: Lists = answer(self, frame, query)
        return made

    def where(self, frame: Lists, condition: Any) -> Lists:
        """Keep the rows for which a condition is true."""
        return self.kept(marked(self, frame, condition), f"WHERE {condition}")

    def kept(self, frame: Lists, text: str) -> Lists:
        """Keep the rows that are marked."""
        return _taken(frame, [i for i, keep in enumerate(frame[KEEP]) if keep], KEEP)

    def ordered(self, frame: Lists) -> Lists:
        """Order rows by their numbers."""
        return _taken(frame, sorted(range(len(frame[NUMBER])), key=frame[NUMBER].__getitem__), NUMBER)

    def cut(self, frame: Lists, offset: int, limit: int | None) -> Lists:
        """Pass over some rows, and keep some of the rest."""
        end = None if limit is None else offset + limit
        return {name: values[offset:end] for name, values in frame.items()}


class _ListsRunner(ArrowRunner[Lists]):
    def project(self, working: WorkingColumns, step: Project) -> Lists:
        return {name: working[i].to_pylist() for name, i in step.columns}


def _taken(frame: Lists, rows: list[int], without: str) -> Lists:
    return {name: [values[i] for i in rows] for name, values in frame.items() if name != without}
