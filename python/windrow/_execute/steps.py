"""The one loop over the steps of a plan. A host says what each kind of step does to its columns."""

from __future__ import annotations

from typing import Protocol, TypeVar

from .._plan.steps import Compute, Evaluate, Project, StepPlan

__all__ = ["StepRunner", "run_steps"]

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
    for step in plan.steps:
        if isinstance(step, Evaluate):
            working = runner.evaluate(working, step)
        elif isinstance(step, Compute):
            working = runner.compute(working, step)
    return runner.project(working, plan.project)
