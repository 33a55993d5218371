"""The loop over the steps of a plan. A host defines what each kind of step does with its columns."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final, Protocol, TypeVar

from .._model.names import quoted
from .._plan.steps import Compute, Evaluate, Project, StepPlan
from ..exceptions import DataError

__all__ = ["StepRunner", "hint_at_backticks", "run_steps", "strings_named_as_columns"]

# a string literal of SQL that can be a name
_STRING: Final = re.compile(r"'([^'\\]+)'")

W = TypeVar("W")
R_co = TypeVar("R_co", covariant=True)


class StepRunner(Protocol[W, R_co]):
    """How a host runs steps: each changes its working columns, ``W``; the last one makes the result, ``R_co``."""

    def evaluate(self, working: W, step: Evaluate, /) -> W:
        """Add columns of scalars."""

    def compute(self, working: W, step: Compute, /) -> W:
        """Add columns of calls."""

    def project(self, working: W, step: Project, /) -> R_co:
        """Choose the columns of the result, and name them."""


def run_steps(runner: StepRunner[W, R_co], working: W, plan: StepPlan) -> R_co:
    """Run the steps of a plan.

    Parameters
    ----------
    runner
        The host's.
    working
        The frame's columns.
    plan
        The plan.

    Returns
    -------
    R_co
        The result of the last step.
    """
    try:
        for step in plan.steps:
            if isinstance(step, Evaluate):
                working = runner.evaluate(working, step)
            elif isinstance(step, Compute):
                working = runner.compute(working, step)
    except DataError as error:
        hint_at_backticks(error, strings_named_as_columns(plan))
        raise
    return runner.project(working, plan.project)


def strings_named_as_columns(plan: StepPlan) -> list[tuple[str, str]]:
    """List the string literals in a plan's calls that are also names of columns, as pairs of call and name."""
    columns = set(plan.columns[: plan.width])
    calls = [c.display for step in plan.steps if isinstance(step, Compute) for c in step.calls]
    return [(call, name) for call in calls for name in _STRING.findall(call) if name in columns]


def hint_at_backticks(error: DataError, strings: Iterable[tuple[str, str]]) -> None:
    """Extend an error about a string that was meant as a column, ``sum("my col")``, by how the column is written.

    Parameters
    ----------
    error
        The error.
    strings
        What :func:`strings_named_as_columns` gives for the plan.
    """
    message = str(error)
    for call, name in strings:
        if call in message and re.search(rf"[\"']{re.escape(name)}[\"']", message.replace(call, "", 1)):
            hint = f"\"{name}\" is a text in SQL, as '{name}' is, and the column of that name is {quoted(name)}"
            error.args = (f"{message}; {hint}",)
            break
