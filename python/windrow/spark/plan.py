"""What is known of window calls on a PySpark DataFrame before anything is put into Spark's plan."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .._model.calls import Call, Derived
from .._model.expressions import Column, Expr, Host, Literal, Scalar
from .._model.names import unique_names
from .._model.outputs import Output
from .._model.replace import replace
from .._parse.items import read_items
from .._parse.sql_text import columns_of
from .._plan.bind import bind, scalars
from .._plan.bound import BoundCalls, Temporary
from .._plan.layout import Slot, arrange
from .._plan.levels import inputs_of, levels, rewritten
from ..exceptions import UnsupportedError
from ..settings import Options, current
from .columns import HOST, is_literal, locator
from .jvm import is_classic_session
from .left import left_to_spark
from .schema import session_timezone

__all__ = ["Level", "Plan", "context_of", "functions_of", "make_plan", "quoted", "spark_column", "users_line"]

# PySpark's mapInArrow looks columns up by unquoted names, where a dot means a field.
_FORBIDDEN = ".`"


def context_of(session: Any) -> Any:
    """Give a session's SparkContext; None on Spark Connect, where the client has none.

    Parameters
    ----------
    session
        The Spark session.

    Returns
    -------
    pyspark.SparkContext or None
        The context.
    """
    return session.sparkContext if is_classic_session(session) else None


@dataclass(frozen=True, slots=True)
class Level:
    """Calls that read nothing but columns and the results of lower levels."""

    places: list[str]
    bound: BoundCalls

    def constants(self) -> set[str]:
        """Name the temporary columns that hold one value for all rows."""
        return {t.name for t in self.bound.temporaries if _is_constant(t.expression)}


@dataclass(frozen=True, slots=True)
class Plan:
    """All that is known before anything is put into Spark's plan.

    Columns have two names: the one by which the user knows them (``columns``), which may be written in a way that
    ``mapInArrow`` does not read, or stand twice; and one of their own (``names``). The first ``len(frame.columns)`` of
    both are the frame's, then come ``inputs``, then the places of the calls.
    """

    frame: Any
    outputs: list[Output]
    slots: list[Slot]
    inputs: list[Temporary]
    levels: list[Level]
    scalars: list[Temporary]
    columns: list[str]
    names: list[str]
    options: Options

    def needed(self, level: int) -> list[int]:
        """List the columns, of the frame and of ``inputs``, that a level or a later one or the result reads."""
        width = len(self.frame.columns)
        needed = {s.index for s in self.slots if not s.new}
        for one in self.levels[level:]:
            needed.update(one.bound.read)
        later = [*self.scalars, *(t for one in self.levels[level:] for t in one.bound.temporaries)]
        for temporary in later:
            read = columns_of(temporary.expression)
            needed.update(i for i in range(width) if read is None or self.columns[i].lower() in read)
        return [*sorted(i for i in needed if i < width), *range(width, width + len(self.inputs))]


def make_plan(frame: Any, items: Sequence[Any], named: Mapping[str, Any], *, selecting: bool) -> Plan:
    """Read what the user wrote about a DataFrame, and lay the calls out in levels.

    Parameters
    ----------
    frame
        A PySpark DataFrame, Classic or Connect.
    items, named
        What the user wrote.
    selecting
        Whether only the items are wanted.

    Returns
    -------
    Plan
        The plan; no job has run.

    Raises
    ------
    SpecError, UnsupportedError
        For every mistake that shows without the columns' types, and for a streaming frame.
    """
    if frame.isStreaming:
        raise UnsupportedError(
            "a window needs whole partitions, which a streaming DataFrame never has; use foreachBatch, and windrow on "
            "the DataFrame of each batch"
        )
    session = frame.sparkSession
    folded = str(session.conf.get("spark.sql.caseSensitive")).lower() != "true"
    functions = functions_of(frame)
    locate = locator(frame, folded=folded)
    names = [c.lower() if folded else c for c in frame.columns]

    def own(column: Any) -> str | None:
        index = locate(column)
        return None if index is None or names.count(names[index]) > 1 else str(frame.columns[index])

    outputs = read_items(items, named, frame.columns, selecting=selecting, folded=folded, own=own)
    outputs = [left_to_spark(o, frame, users_line() + 1) for o in outputs]
    slots = arrange(frame.columns, outputs, selecting=selecting, folded=folded)
    laid, inputs = _lifted(levels(o.item for o in outputs if o.item is not None), locate)
    inputs |= inputs_of(o.item for o in outputs if o.item is not None)
    columns = [*frame.columns, *inputs]
    bounds = []
    for calls in laid:
        bound = bind(
            [Output(at, call) for at, call in calls.items()],
            columns,
            host=HOST,
            folded=folded,
            without=_FORBIDDEN,
            fallback=lambda name: Host(functions.col(name), HOST) if "." in name or "`" in name else None,
            locate=locate,
        )
        bounds.append(Level(list(calls), bound))
        columns += calls
    return Plan(
        frame,
        outputs,
        slots,
        [Temporary(name, e, str(e)) for name, e in inputs.items()],
        bounds,
        scalars(outputs, columns, host=HOST),
        columns,
        unique_names(columns, folded=folded, without=_FORBIDDEN),
        _options(session),
    )


def _lifted(
    laid: Sequence[Mapping[str, Call]], locate: Callable[[Any], int | None]
) -> tuple[list[dict[str, Call]], dict[str, Scalar]]:
    """Have Columns that calls of higher levels read evaluated first, on the frame that they may be bound to."""
    inputs: dict[str, Scalar] = {}

    def lift(expression: Expr) -> Expr:
        if not isinstance(expression, Host) or expression.host != HOST:
            return expression
        if locate(expression.value) is not None:
            return expression
        name = f"__windrow_in_{len(inputs)}"
        inputs[name] = expression
        return Derived(Column(name), {}, str(expression))

    return [
        {at: rewritten(call, lift) if level else call for at, call in calls.items()} for level, calls in enumerate(laid)
    ], inputs


def _is_constant(expression: Scalar) -> bool:
    return isinstance(expression, Literal) or (isinstance(expression, Host) and is_literal(expression.value))


def _options(session: Any) -> Options:
    """Give the settings in force, with the session's where nothing else was asked for."""
    options = current()
    if options.ansi is None:
        options = replace(options, ansi=str(session.conf.get("spark.sql.ansi.enabled")).lower() == "true")
    return replace(options, timezone=session_timezone(session))


def functions_of(frame: Any) -> Any:
    """Give the module of functions that makes Columns for a DataFrame, Classic or Connect."""
    connect = type(frame).__module__.startswith("pyspark.sql.connect")
    return importlib.import_module("pyspark.sql.connect.functions" if connect else "pyspark.sql.functions")


def spark_column(temporary: Temporary, functions: Any) -> Any:
    """Turn an expression into a Column."""
    expression = temporary.expression
    if isinstance(expression, Host):
        return expression.value
    if isinstance(expression, Literal):
        return functions.lit(expression.value)
    if isinstance(expression, Column):
        return functions.col(quoted(expression.name))
    return functions.expr(expression.text)


def quoted(name: str) -> str:
    """Write a name so that Spark reads it as one name, whatever is in it."""
    return "`" + name.replace("`", "``") + "`"


def users_line() -> int:
    """Count the frames from who asks up to the first that is not windrow's, which a warning is about."""
    package = __name__.partition(".")[0]
    level, frame = 1, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] == package:
        level, frame = level + 1, frame.f_back
    return level
