"""Settings of Spark's that change the answers of window functions in ways that windrow does not follow."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..._model.catalog import Function, function_of
from ..._plan.bound import BoundCall
from ...exceptions import UnsupportedError
from .spark_sql import spark_sql

__all__ = ["LegacySettings"]

# By setting, which functions it may be about.
_ABOUT: dict[str, Callable[[Function], bool]] = {
    # NaN in the place of NULL where a variance divides by zero
    "spark.sql.legacy.statisticalAggregate": lambda function: function.order_sensitivity == "rounding",
    "spark.sql.legacy.percentileDiscCalculation": lambda function: function.within_group == "key",
}


class LegacySettings:
    """Those of a session: calls that they may be about are Spark's, whoever is asked to compute.

    Parameters
    ----------
    session
        A SparkSession.
    """

    def __init__(self, session: Any) -> None:
        self._on = [name for name in _ABOUT if str(session.conf.get(name, "false")).lower() == "true"]

    def leave(self, call: BoundCall) -> bool:
        """Whether a call is Spark's.

        Raises
        ------
        UnsupportedError
            If it is, and Spark's SQL cannot say it.
        """
        function = function_of(call.function)
        setting = next((s for s in self._on if function is not None and _ABOUT[s](function)), None)
        if setting is None:
            return False
        try:
            spark_sql(call)
        except UnsupportedError as error:
            said = str(error).partition("; leave it")[0]
            raise UnsupportedError(f"{said}, and windrow does not follow the setting {setting}, which is on") from None
        return True
