"""The window functions: one Python function per SQL function, each giving an immutable :class:`windrow.Call`.

An argument that is a string is a column's name. Other values go through ``wr.lit(value)``, SQL text through
``wr.expr("a * b")``, and an expression object of the host (a ``polars.Expr``, a PySpark ``Column``) stands for itself.
Arguments are checked against their types when the plan is made, before any row is read.
"""

from __future__ import annotations

from . import (
    aggregates,
    extrema,
    frequencies,
    lists,
    logic,
    quantiles,
    ranking,
    regression,
    running,
    statistics,
    values,
    weighted,
)
from .aggregates import *  # noqa: F403
from .extrema import *  # noqa: F403
from .frequencies import *  # noqa: F403
from .lists import *  # noqa: F403
from .logic import *  # noqa: F403
from .quantiles import *  # noqa: F403
from .ranking import *  # noqa: F403
from .regression import *  # noqa: F403
from .running import *  # noqa: F403
from .statistics import *  # noqa: F403
from .values import *  # noqa: F403
from .weighted import *  # noqa: F403

# the list of names is each module's own
__all__: list[str] = []
__all__ += aggregates.__all__
__all__ += extrema.__all__
__all__ += frequencies.__all__
__all__ += lists.__all__
__all__ += logic.__all__
__all__ += quantiles.__all__
__all__ += ranking.__all__
__all__ += regression.__all__
__all__ += running.__all__
__all__ += statistics.__all__
__all__ += values.__all__
__all__ += weighted.__all__
