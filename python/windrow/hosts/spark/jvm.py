"""The JVM's objects behind Spark Classic: how they are reached, made and read.

All of PySpark's ``_j...`` attributes are used here, and nowhere else. Other modules walk the plans and expressions that
they are given from here.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Sequence
from typing import Any

from ..._model.intervals import Interval
from ...exceptions import UnsupportedError

__all__ = [
    "alias",
    "analyzed_plan",
    "attribute_named",
    "barrier_slots",
    "class_of",
    "column_of",
    "dataframe_of",
    "executed_plan",
    "expression_id",
    "expression_of",
    "inline_ctes",
    "is_classic",
    "is_classic_session",
    "is_descending",
    "items",
    "optimized_plan",
    "parsed_expression",
    "plan_bytes",
    "plan_with_cache",
    "project",
    "selected",
    "shuffle_partitions",
    "to_option",
    "to_seq",
    "value_of",
]

# what py4j gives as Python's own
_PYTHON_VALUES = ("BooleanType", "ByteType", "DoubleType", "FloatType", "IntegerType", "LongType", "ShortType")


# -------------------------------------------------------------------------------------------- frames, columns and plans
def is_classic(frame: Any) -> bool:
    """Whether a DataFrame is Spark Classic's: Connect's plans are the server's."""
    return hasattr(frame, "_jdf")


def is_classic_session(session: Any) -> bool:
    """Whether a session is Spark Classic's."""
    return hasattr(session, "_jsparkSession")


def analyzed_plan(frame: Any) -> Any:
    """Give a DataFrame's analysed logical plan."""
    return frame._jdf.queryExecution().analyzed()


def plan_with_cache(frame: Any) -> Any:
    """Give the same plan with what is cached in the place of what it was computed from."""
    return frame._jdf.queryExecution().withCachedData()


def optimized_plan(frame: Any) -> Any:
    """Give a DataFrame's optimised logical plan."""
    return frame._jdf.queryExecution().optimizedPlan()


def executed_plan(frame: Any) -> Any:
    """Give a DataFrame's physical plan."""
    return frame._jdf.queryExecution().executedPlan()


def plan_bytes(plan: Any) -> int:
    """Give the bytes that Spark expects an optimised plan's rows to have."""
    return int(str(plan.stats().sizeInBytes()))


def shuffle_partitions(frame: Any) -> int:
    """Give the number of tasks behind an exchange that says none, as Spark plans it."""
    return int(frame._jdf.sparkSession().sessionState().conf().numShufflePartitions())


def barrier_slots(context: Any) -> int:
    """Give the number of tasks that can run at once."""
    scala = context._jsc.sc()
    return int(scala.maxNumConcurrentTasks(scala.resourceProfileManager().defaultResourceProfile()))


def dataframe_of(plan: Any, session: Any) -> Any:
    """Make a DataFrame of a logical plan."""
    from pyspark.sql.classic.dataframe import DataFrame

    dataset = _jvm().org.apache.spark.sql.classic.Dataset
    return DataFrame(dataset.ofRows(session._jsparkSession, plan), session)


def selected(frame: Any, expressions: Sequence[Any], names: Sequence[str]) -> Any:
    """Give the analysed plan of a DataFrame's expressions under names."""
    makers = _jvm().org.apache.spark.sql.classic.ExpressionUtils
    columns = [makers.column(e).alias(n) for e, n in zip(expressions, names, strict=True)]
    return frame._jdf.select(to_seq(columns)).queryExecution().analyzed()


def expression_of(column: Any) -> Any:
    """Give the node that a Column is, as it was written."""
    return column._jc.node()


def column_of(expression: Any) -> Any:
    """Make a Column of a Catalyst expression."""
    from pyspark.sql.classic.column import Column

    return Column(_jvm().org.apache.spark.sql.classic.ExpressionUtils.column(expression))


# ------------------------------------------------------------------------------------------------------- what is made
def to_seq(values: Iterable[Any]) -> Any:
    """Make a Scala Seq."""
    return _jvm().PythonUtils.toSeq(list(values))


def to_option(value: Any) -> Any:
    """Make a Scala Option."""
    return _jvm().scala.Option.apply(value)


def project(expressions: Sequence[Any], plan: Any) -> Any:
    """Make a Project upon a plan."""
    return _jvm().org.apache.spark.sql.catalyst.plans.logical.Project(to_seq(expressions), plan)


def alias(source: Any, attribute: Any) -> Any:
    """Give an expression the name and the id of an attribute."""
    return _jvm().org.apache.spark.sql.catalyst.expressions.Alias(
        source,
        attribute.name(),
        attribute.exprId(),
        attribute.qualifier(),
        to_option(attribute.metadata()),
        to_seq([]),
    )


def attribute_named(name: str) -> Any:
    """Make the expression that is a column by its name, not yet analysed."""
    return _jvm().org.apache.spark.sql.catalyst.analysis.UnresolvedAttribute(to_seq([name]))


def parsed_expression(text: str) -> Any:
    """Read SQL text as Spark does, into an expression that is not yet analysed."""
    session = _jvm().org.apache.spark.sql.classic.SparkSession.active()
    return session.sessionState().sqlParser().parseExpression(text)


def inline_ctes(plan: Any) -> Any:
    """Put common table expressions where they are referred to, as Spark's optimizer does first of all.

    A piece of the plan is then whole in itself. Those that must be computed once stay as they are.
    """
    loader = plan.getClass().getClassLoader()
    maker = loader.loadClass("org.apache.spark.sql.catalyst.optimizer.InlineCTE").getConstructors()[0]
    # its flags, of which each release has more, are all off unless said otherwise
    gateway: Any = _context()._gateway
    flags = gateway.new_array(_jvm().java.lang.Object, maker.getParameterCount())
    for i in range(len(flags)):
        flags[i] = False
    return maker.newInstance(flags).apply(plan)


def _context() -> Any:
    from pyspark import SparkContext  # which the client for Spark Connect alone lacks

    return SparkContext._active_spark_context


def _jvm() -> Any:
    return _context()._jvm


# ------------------------------------------------------------------------------------------------------- what is read
def class_of(node: Any) -> str:
    """Give the plain name of a JVM object's class; that of a Scala ``object`` without its dollar sign."""
    return str(node.getClass().getSimpleName()).rstrip("$")


def items(seq: Any) -> list[Any]:
    """List a Scala Seq."""
    return [seq.apply(i) for i in range(seq.size())]


def is_descending(order: Any) -> bool:
    """Whether a SortOrder is descending."""
    return class_of(order.direction()) == "Descending"


def expression_id(attribute: Any) -> int:
    """Give the id by which Spark knows a column."""
    return int(attribute.exprId().id())


def value_of(expression: Any, role: str) -> Any:
    """Evaluate an expression that is one value for all rows.

    Parameters
    ----------
    expression
        A Catalyst expression.
    role
        What it is for, for the message.

    Returns
    -------
    object
        A plain Python value.

    Raises
    ------
    UnsupportedError
        If it is no constant, or of a type that has no plain value in Python.
    """
    if not (expression.resolved() and expression.foldable()):
        raise UnsupportedError(f"{role} is {expression.sql()}, which is not one value for all rows")
    value = expression.eval(None)
    name = class_of(expression.dataType())
    if value is None or name in _PYTHON_VALUES:
        return value
    if name == "DecimalType":
        return value.toJavaBigDecimal()
    if name == "StringType":
        return str(value.toString())
    if name == "BinaryType":
        return bytes(value)
    if name == "DayTimeIntervalType":
        return dt.timedelta(microseconds=value)
    if name == "YearMonthIntervalType":
        return Interval(months=value)
    if name == "ArrayType" and class_of(expression.dataType().elementType()) == "DoubleType":
        return list(value.toDoubleArray())
    raise UnsupportedError(f"{role} is {expression.sql()}, of type {expression.dataType().simpleString()}")
