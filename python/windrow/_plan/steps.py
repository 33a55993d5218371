"""The steps of a plan, which every host runs: evaluate scalars, compute calls, choose columns.

    v - lag(v) OVER w AS d       Compute lag(v) -> Evaluate v - that -> Project v, d

Working columns are numbered once: first the frame's, then those that each step adds. A column keeps its number when a
host drops others.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from .._model.calls import Call, Derived, expressions_of
from .._model.expressions import Expr, Scalar
from .._model.outputs import Output
from .._model.result_columns import result_column
from .._model.structure import Structural
from .bound import BoundCall
from .levels import calls_in

__all__ = ["Compute", "Evaluate", "NamedScalar", "Project", "StepPlan"]


@dataclass(frozen=True, slots=True, eq=False)
class NamedScalar(Structural):
    """A scalar that the host evaluates into a hidden column.

    Parameters
    ----------
    name
        The column's name.
    expression
        The expression that the host evaluates.
    text
        The expression as it was written.
    inputs
        Expressions of the host, by the names that ``expression`` has for them.
    """

    name: str
    expression: Scalar
    text: str
    inputs: Mapping[str, Scalar] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Evaluate:
    """The host evaluates scalars, which become further columns.

    Parameters
    ----------
    scalars
        The scalars.
    names
        A unique name for each column before this step.
    reads
        Which columns they may read, by position.
    keeps
        Columns (including new ones) that later steps read, by position.
    """

    scalars: tuple[NamedScalar, ...]
    names: tuple[str, ...]
    reads: tuple[int, ...]
    keeps: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Compute:
    """Calls that do not read each other are computed; their results become further columns.

    Parameters
    ----------
    calls
        The calls, which refer to columns by ``names``.
    names
        A unique name for each column before this step.
    reads
        Which columns they read, by position.
    keeps
        Columns (including new ones) that later steps read, by position.
    """

    calls: tuple[BoundCall, ...]
    names: tuple[str, ...]
    reads: tuple[int, ...]
    keeps: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Project:
    """The columns of the result, each as its name and the index of its working column."""

    columns: tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True)
class StepPlan:
    """The steps for the items of one query over a frame, in order; the last step is the only ``Project``.

    Parameters
    ----------
    width
        How many of the working columns are the frame's.
    columns
        The names of all working columns, the frame's as the user knows them; names may repeat.
    names
        Unique names of all working columns.
    outputs
        The items.
    steps
        The steps.
    """

    width: int
    columns: tuple[str, ...]
    names: tuple[str, ...]
    outputs: tuple[Output, ...]
    steps: tuple[Evaluate | Compute | Project, ...]

    @property
    def project(self) -> Project:
        """The last step."""
        last = self.steps[-1]
        assert isinstance(last, Project)
        return last

    def steps_after(self, step: Evaluate | Compute) -> tuple[Evaluate | Compute | Project, ...]:
        """Return the steps that follow a step, which is found by identity: literals in it may not equal themselves."""
        [index] = [i for i, other in enumerate(self.steps) if other is step]
        return self.steps[index + 1 :]

    def computes(self) -> list[Compute]:
        """List the steps that compute calls."""
        return [s for s in self.steps if isinstance(s, Compute)]

    def shared_keys(self, known: Callable[[str], Any] = str) -> set[Any]:
        """Return the keys by which all calls partition; ``known`` says what a key's name stands for, if not itself."""
        keys = [set(map(known, call.partition_by)) for step in self.computes() for call in step.calls]
        return set.intersection(*keys) if keys else set()

    def frame_columns(self) -> list[int]:
        """List the frame's columns that any step reads, by position."""
        first = self.steps[0]
        read = {i for _, i in first.columns} if isinstance(first, Project) else {*first.reads, *first.keeps}
        return sorted(i for i in read if i < self.width)

    def columns_computed_from(self) -> list[int]:
        """List the frame's columns that expressions and calls read, by position."""
        read = {i for s in self.steps if not isinstance(s, Project) for i in s.reads}
        return sorted(i for i in read if i < self.width)

    def only(self, names: Collection[str]) -> tuple[StepPlan, list[int]]:
        """Return the plan of some columns of the result, and which of the frame's columns it is over, by position.

        Calls, scalars and columns that they do not need are left out, but for one column, which brings the rows; the
        other columns are numbered anew.
        """
        columns = [(name, i) for name, i in self.project.columns if name in names]
        alive = {i for _, i in columns}
        before_last = [s for s in reversed(self.steps) if not isinstance(s, Project)]
        for step in before_last:
            if alive.isdisjoint(_made(step)):
                continue
            if isinstance(step, Evaluate):
                alive.update(step.reads)
            else:
                positions = {name: i for i, name in enumerate(step.names)}
                calls = [c for i, c in zip(_made(step), step.calls, strict=True) if i in alive]
                alive.update(positions[name] for call in calls for name in call.columns_read())
        if alive.isdisjoint(range(self.width)) and self.width:
            alive.add(0)  # one column brings the rows
        number = {i: n for n, i in enumerate(sorted(alive))}
        steps: list[Evaluate | Compute | Project] = [Project(tuple((name, number[i]) for name, i in columns))]
        keeps = {i for _, i in columns}
        for step in before_last:
            made = [i for i in _made(step) if i in alive]
            if not made:
                continue
            kept = tuple(sorted(number[i] for i in keeps))
            keeps.difference_update(made)
            before = tuple(name for i, name in enumerate(step.names) if i in alive)
            first = len(step.names)
            if isinstance(step, Evaluate):
                reads = alive.intersection(step.reads)
                read = tuple(sorted(number[i] for i in reads))
                steps.append(Evaluate(tuple(step.scalars[i - first] for i in made), before, read, kept))
            else:
                calls = [step.calls[i - first] for i in made]
                own = {name for call in calls for name in call.columns_read()}
                reads = {i for i, name in enumerate(step.names) if name in own}
                read = tuple(sorted(number[i] for i in reads))
                steps.append(Compute(tuple(calls), before, read, kept))
            keeps.update(reads)
        steps.reverse()
        of_frame = [i for i in sorted(alive) if i < self.width]
        outputs = tuple(o for o in self.outputs if o.name in names)
        chosen = [[name for i, name in enumerate(all_names) if i in alive] for all_names in (self.columns, self.names)]
        return StepPlan(len(of_frame), tuple(chosen[0]), tuple(chosen[1]), outputs, tuple(steps)), of_frame

    def columns_read(self) -> dict[str, list[int]]:
        """Map each item's name to the frame's columns that its calls read, at any depth."""
        calls = self._calls()
        positions = {n: i for i, n in enumerate(self.names[: self.width])}
        found = {}
        for output in self.outputs:
            if output.item is not None:
                names = {n for column in _result_columns(output.item, set()) for n in calls[column].columns_read()}
                found[output.name] = sorted(positions[n] for n in names if n in positions)
        return found

    def display_names(self) -> dict[str, str | None]:
        """Map each call to the name of its output column; None if it is only part of other items."""
        output_names = {result_column(o.item): o.name for o in self.outputs if isinstance(o.item, Call)}
        return {call.name: output_names.get(column) for column, call in self._calls().items()}

    def _calls(self) -> dict[str, BoundCall]:
        """Return all calls by result column."""
        return {self.columns[len(s.names) + i]: c for s in self.computes() for i, c in enumerate(s.calls)}

    def shown(self) -> str:
        """Return the SQL of the outputs."""
        return Output.shown(self.outputs)


def _made(step: Evaluate | Compute) -> range:
    """Return the numbers of the columns that a step adds."""
    first = len(step.names)
    return range(first, first + len(step.scalars if isinstance(step, Evaluate) else step.calls))


def _result_columns(item: Call | Derived | Expr, found: set[str]) -> set[str]:
    """Collect the result columns of all calls in an item."""
    for column, call in calls_in(item).items():
        if column not in found:
            found.add(column)
            for expression in expressions_of(call):
                _result_columns(expression, found)
    return found
