"""Scalar expressions and names as PySpark's Columns."""

from __future__ import annotations

import importlib
from decimal import Decimal
from typing import Any

from ..._model.expressions import Column, HostExpression, Literal
from ..._model.names import quoted
from ..._plan.steps import NamedScalar

__all__ = ["functions_of", "quoted", "spark_column"]


def functions_of(frame: Any) -> Any:
    """Give the module of functions that makes Columns for a DataFrame, Classic or Connect."""
    connect = type(frame).__module__.startswith("pyspark.sql.connect")
    return importlib.import_module("pyspark.sql.connect.functions" if connect else "pyspark.sql.functions")


def spark_column(scalar: NamedScalar, functions: Any) -> Any:
    """Turn an expression into a Column."""
    expression = scalar.expression
    if isinstance(expression, HostExpression):
        return expression.value
    if isinstance(expression, Literal):
        if isinstance(expression.value, Decimal):  # of which Connect's lit() makes decimal(10, scale)
            return functions.expr(f"{expression.value:f}BD")
        return functions.lit(expression.value)
    if isinstance(expression, Column):
        return functions.col(quoted(expression.name))
    return functions.expr(expression.text)
