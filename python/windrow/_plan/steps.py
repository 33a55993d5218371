"""The plan of steps that every host runs: scalars are evaluated, calls are computed, columns are chosen.

    v - lag(v) OVER w AS d       Compute lag(v) -> Evaluate v - that -> Project v, d

Working columns are numbered once: the frame's come first, then those that each step adds. Whatever a host leaves out on
its way, a number keeps its meaning.
"""

from __future__ import annotations

from dataclasses import dataclass

from .._model.calls import Call, Derived, expressions_of
from .._model.expressions import Expr, Scalar
from .._model.outputs import Output
from .._model.result_columns import place
from .bound import BoundCall
from .levels import calls_in

__all__ = ["Compute", "Evaluate", "NamedScalar", "Project", "StepPlan"]


@dataclass(frozen=True, slots=True)
class NamedScalar:
    """A scalar that the host evaluates into a hidden column.

    Parameters
    ----------
    name
        The column's name.
    expression
        What the host is given.
    text
        The expression as it was written.
    """

    name: str
    expression: Scalar
    text: str


@dataclass(frozen=True, slots=True)
class Evaluate:
    """The host evaluates scalars, which become further columns.

    Parameters
    ----------
    scalars
        The scalars.
    names
        A name for each column before them, unlike all others.
    reads
        Which columns they may read, by position.
    keeps
        Which columns later steps read, those that this one adds among them.
    """

    scalars: tuple[NamedScalar, ...]
    names: tuple[str, ...]
    reads: tuple[int, ...]
    keeps: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Compute:
    """Calls that do not read each other are computed, whose results become further columns.

    Parameters
    ----------
    calls
        The calls, which know columns by ``names``.
    names
        A name for each column before them, unlike all others.
    reads
        Which columns they read, by position.
    keeps
        Which columns later steps read, those that this one adds among them.
    """

    calls: tuple[BoundCall, ...]
    names: tuple[str, ...]
    reads: tuple[int, ...]
    keeps: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Project:
    """The columns of the result, each with its name and the working column that it is."""

    columns: tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True)
class StepPlan:
    """What to do for the items of one query over a frame, in order; the last step is the only ``Project``.

    Parameters
    ----------
    width
        How many of the working columns are the frame's.
    columns
        All working columns by the names that the user knows, where these have such; names may stand twice.
    names
        And by names unlike all others.
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

    def computes(self) -> list[Compute]:
        """List the steps that compute calls."""
        return [s for s in self.steps if isinstance(s, Compute)]

    def frame_columns(self) -> list[int]:
        """List the frame's columns that any step reads, by position."""
        first = self.steps[0]
        read = {i for _, i in first.columns} if isinstance(first, Project) else {*first.reads, *first.keeps}
        return sorted(i for i in read if i < self.width)

    def columns_read(self) -> dict[str, list[int]]:
        """List the frame's columns that the calls of each item read, however deep they stand, by the item's name."""
        calls = self._calls()
        positions = {n: i for i, n in enumerate(self.names[: self.width])}
        found = {}
        for output in self.outputs:
            if output.item is not None:
                names = {n for at in _places(output.item, set()) for n in calls[at].columns_read()}
                found[output.name] = sorted(positions[n] for n in names if n in positions)
        return found

    def display_names(self) -> dict[str, str | None]:
        """Give the name by which to show each call: that of its column, None where it is only part of other items."""
        own = {place(o.item): o.name for o in self.outputs if isinstance(o.item, Call)}
        return {call.name: own.get(at) for at, call in self._calls().items()}

    def _calls(self) -> dict[str, BoundCall]:
        """Give all calls by their places."""
        return {self.columns[len(s.names) + i]: c for s in self.computes() for i, c in enumerate(s.calls)}

    def shown(self) -> str:
        """Write what is computed as SQL."""
        return Output.shown(self.outputs)


def _places(item: Call | Derived | Expr, found: set[str]) -> set[str]:
    """Collect the places of all calls in an item."""
    for at, call in calls_in(item).items():
        if at not in found:
            found.add(at)
            for expression in expressions_of(call):
                _places(expression, found)
    return found
