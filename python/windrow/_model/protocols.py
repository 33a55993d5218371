"""Protocols for objects of other libraries, so that these need not be installed to name their types.

Methods take any arguments here: a protocol only distinguishes one library's objects from another's.
"""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from typing import Any, Protocol, TypeAlias

from .intervals import Interval

__all__ = ["LiteralValue", "NumpyArray", "NumpyScalar", "PlainValue", "PolarsExpr", "SparkColumn"]


class PolarsExpr(Protocol):
    """A ``polars.Expr``."""

    @property
    def meta(self) -> Any:
        """Polars' metadata of the expression."""

    def map_batches(self, *args: Any, **kwargs: Any) -> Any:
        """Apply a Python function."""


class SparkColumn(Protocol):
    """A PySpark ``Column``, Classic or Connect."""

    def eqNullSafe(self, *args: Any, **kwargs: Any) -> Any:  # noqa: N802 - PySpark's name
        """Compare, with nulls equal."""

    def isNotNull(self, *args: Any, **kwargs: Any) -> Any:  # noqa: N802 - PySpark's name
        """Whether the value is not null."""


class SparkWindow(Protocol):
    """A PySpark ``WindowSpec``, Classic or Connect."""

    def rowsBetween(self, *args: Any, **kwargs: Any) -> Any:  # noqa: N802 - PySpark's name
        """Give it a frame counted in rows."""

    def partitionBy(self, *args: Any, **kwargs: Any) -> Any:  # noqa: N802 - PySpark's name
        """Give it partition keys."""


class NumpyScalar(Protocol):
    """A NumPy scalar: a number, a time or a string. Unlike an array it can be hashed."""

    def __hash__(self) -> int:
        """Hash the value."""

    @property
    def dtype(self) -> Any:
        """The value's type."""

    @property
    def ndim(self) -> int:
        """The number of dimensions, which is 0."""


class NumpyArray(Protocol):
    """A NumPy array, or an object that converts to one."""

    def __array__(self, *args: Any, **kwargs: Any) -> Any:
        """Give the array."""


#: The values of Python that stand for themselves as a literal; a string does so only in ``wr.lit``.
PlainValue: TypeAlias = (
    bool | int | float | Decimal | bytes | dt.date | dt.time | dt.timedelta | Interval | NumpyScalar | None
)
LiteralValue: TypeAlias = PlainValue | str
