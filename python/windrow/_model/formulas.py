"""Functions that are written with calls, and so answer wherever these do."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from ..exceptions import short_traceback
from .calls import Derived
from .expressions import PLACE, Columns, Expr
from .names import identifier
from .operators import Operators, checked_name
from .placing import Placeable
from .replace import replace
from .structure import ALIAS
from .windows import Window

__all__ = ["Formula"]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Formula(Operators, Placeable[Derived]):
    """A function that is written with calls: an expression over these, once ``.over(...)`` says over which window.

    Every method gives a new value and leaves this one as it is.

    Parameters
    ----------
    function
        Its name.
    args
        Its arguments, as they are shown.
    make
        Makes its expression over a window.
    name
        What ``.alias(...)`` was given.
    """

    function: str
    args: tuple[Expr, ...]
    make: Callable[[Window], Any] = field(compare=False)
    name: str | None = field(default=None, metadata=ALIAS)

    @property
    def text(self) -> str:
        """The function with its arguments, as SQL would write it."""
        return f"{self.function}({', '.join(map(str, self.args))})"

    @property
    def label(self) -> str:
        """What the names of its results over several windows begin with."""
        return self._place(self.text) if self.name is None else self.name

    def placed(self, window: Window) -> Derived:
        """Give the expression over a window, named by the function."""
        made: Derived = self.make(window)
        name = self._place(f"{self.text} OVER ({window})") if self.name is None else self.name
        return replace(made, name=name)

    def _place(self, text: str) -> str:
        """Write the place of each column's name for several columns."""
        return next((text.replace(str(a), PLACE) for a in self.args if isinstance(a, Columns)), text)

    @short_traceback
    def alias(self, name: str) -> Formula:
        """Name the column that the function gives; without a name it is called by its text.

        Parameters
        ----------
        name
            The column's name.

        Returns
        -------
        Formula
            The function with the name.

        Examples
        --------
        >>> import windrow as wr
        >>> wr.diff("x").alias("step").over("k", order_by="t")
        x - lag(x) OVER (PARTITION BY k ORDER BY t) AS step
        """
        return replace(self, name=checked_name(name))

    def __str__(self) -> str:
        """The function with its arguments."""
        return self.text

    def __repr__(self) -> str:
        """The function with its arguments, and its name."""
        return self.text if self.name is None else f"{self.text} AS {identifier(self.name)}"
