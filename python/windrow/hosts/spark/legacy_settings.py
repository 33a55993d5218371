"""Settings of Spark's that change the answers of window functions in ways that windrow does not follow."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..._model.catalog import Function, function_of
from ..._plan.bound import BoundCall
from ...exceptions import UnsupportedError
from .session import spark_setting
from .spark_sql import spark_sql

__all__ = ["LegacySettings"]

# By setting: the value that changes an answer of Spark's, and which functions it may be about.
_ABOUT: dict[str, tuple[str, Callable[[Function], bool]]] = {
    # NaN in the place of NULL where a variance divides by zero
    "spark.sql.legacy.statisticalAggregate": ("true", lambda function: function.order_sensitivity == "rounding"),
    "spark.sql.legacy.percentileDiscCalculation": ("true", lambda function: function.within_group == "key"),
    # centres of bins in double, whatever the type of the values
    "spark.sql.legacy.histogramNumericPropagateInputType": ("false", lambda f: f.name == "histogram_numeric"),
}


class LegacySettings:
    """Those of a session: calls that they may be about are Spark's, whoever is asked to compute.

    Parameters
    ----------
    session
        A SparkSession.
    """

    def __init__(self, session: Any) -> None:
        self._in_force = [
            name
            for name, (changing, _) in _ABOUT.items()
            if (spark_setting(session, name) or "").strip().lower() == changing
        ]

    def apply_to(self, call: BoundCall) -> bool:
        """Whether a call is Spark's.

        Raises
        ------
        UnsupportedError
            If it is, and Spark's SQL cannot say it.
        """
        function = function_of(call.function)
        name = next((s for s in self._in_force if function is not None and _ABOUT[s][1](function)), None)
        if name is None:
            return False
        try:
            spark_sql(call)
        except UnsupportedError as error:
            said = str(error).partition("; leave it")[0]
            raise UnsupportedError(
                f"{said}, and windrow does not follow the setting {name}, which is {_ABOUT[name][0]}"
            ) from None
        return True
