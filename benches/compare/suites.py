"""Which cases are asked of which tables: those of our own, by shape, and h2o's."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import pyarrow as pa

from . import data
from .cases import CASES, Case
from .h2o import QUERIES

__all__ = ["SUITES", "Suite"]


@dataclass(frozen=True)
class Suite:
    """Cases, and how the table of a case is made."""

    name: str
    cases: Sequence[Case]
    table: Callable[[Case, data.Shape], pa.Table]

    def case(self, name: str) -> Case:
        """Give the case of that name."""
        return next(case for case in self.cases if case.name == name)


SUITES = {
    "cases": Suite("cases", CASES, data.table),
    "h2o": Suite("h2o", QUERIES, lambda _case, shape: data.large(shape.rows)),
}
