"""The one loop over the steps of a plan. A host says what each kind of step does to its columns."""

from __future__ import annotations

import re
from typing import Final, Protocol, TypeVar

from .._model.names import quoted
from .._plan.steps import Compute, Evaluate, Project, StepPlan
from ..exceptions import DataError

__all__ = ["StepRunner", "run_steps"]

# a text of SQL that could be a name
_TEXT: Final = re.compile(r"'([^'\\]+)'")

W = TypeVar("W")
R_co = TypeVar("R_co", covariant=True)


class StepRunner(Protocol[W, R_co]):
    """What the steps of a plan do to a host's working columns, ``W``, of which the last makes a result, ``R_co``."""

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
        What the last step makes.
    """
    try:
        for step in plan.steps:
            if isinstance(step, Evaluate):
                working = runner.evaluate(working, step)
            elif isinstance(step, Compute):
                working = runner.compute(working, step)
    except DataError as error:
        error.args = (f"{error}{_hint_of_quotes(str(error), plan)}",)
        raise
    return runner.project(working, plan.project)


def _hint_of_quotes(message: str, plan: StepPlan) -> str:
    """Say how a column's name is quoted, if the message is about a text in a call that is a column's name."""
    for text in (c.display for step in plan.steps if isinstance(step, Compute) for c in step.calls):
        said = message.replace(text, "", 1)
        for name in _TEXT.findall(text) if text in message else ():
            if name in plan.columns[: plan.width] and re.search(rf"[\"']{re.escape(name)}[\"']", said):
                return f"; \"{name}\" is a text in SQL, as '{name}' is, and the column of that name is {quoted(name)}"
    return ""
