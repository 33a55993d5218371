"""How calls on a PySpark DataFrame are to be computed: ``sort``, ``engine`` and ``spread``."""

from __future__ import annotations

from dataclasses import dataclass

from ...exceptions import SpecError, shown
from ...settings import ENGINES, SPREADS, current

__all__ = ["ComputeOptions"]


@dataclass(frozen=True, slots=True)
class ComputeOptions:
    """How calls are to be computed.

    Parameters
    ----------
    sort
        False: each Spark partition is grouped and ordered already, so there is no exchange and no sort. ``"spark"``:
        Spark sorts for windrow. Otherwise windrow sorts in the task.
    engine
        ``"auto"``, ``"windrow"`` or ``"spark"``; None: what the settings say.
    spread
        ``"auto"``, ``"always"`` or ``"never"``; None: what the settings say.

    Raises
    ------
    SpecError
        For another value, and where a sort is asked for and Spark is to compute all.
    """

    sort: bool | str | None = None
    engine: str | None = None
    spread: str | None = None

    def __post_init__(self) -> None:
        """Check the values."""
        # by type: 0 equals False, and an array has no truth
        is_text = isinstance(self.sort, str) and self.sort == "spark"
        if not (self.sort is None or isinstance(self.sort, bool) or is_text):
            raise SpecError(f"sort={shown(self.sort)} is neither True, False, 'spark' nor None")
        for name, value, known in (("engine", self.engine, ENGINES), ("spread", self.spread, SPREADS)):
            if value is not None and not (isinstance(value, str) and value in known):
                raise SpecError(
                    f"{name}={shown(value)} is none of {', '.join(map(repr, known))}; to call a column so, write "
                    f"{{{name!r}: ...}}"
                )
        if self.engine == "spark" and (self.in_order or self.sort == "spark"):
            raise SpecError(f"sort={self.sort!r} says how rows come to windrow, and engine='spark' asks it nothing")

    @property
    def in_order(self) -> bool:
        """Whether rows come grouped and ordered."""
        return self.sort is False

    def chosen(self) -> str:
        """Give the engine; rows that come in order are there for windrow.

        Raises
        ------
        SpecError
            Where a sort is asked for and Spark is to compute all, as the settings say.
        """
        engine = self.engine or current().engine or "auto"
        if engine == "spark" and self.sort == "spark":
            raise SpecError(
                "sort='spark' says how rows come to windrow, and the setting engine='spark' asks it nothing; write "
                "engine='auto' or 'windrow'"
            )
        return "windrow" if self.in_order else engine

    def spread_chosen(self) -> str:
        """Give who may share partitions out over tasks."""
        return self.spread or current().spread or "auto"

    def may_spread(self) -> bool:
        """Whether the rows of a partition may be shared out over tasks."""
        return self.spread_chosen() != "never" and not self.in_order and self.sort != "spark"
