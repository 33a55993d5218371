"""What is known of window calls on a PySpark DataFrame before anything is put into Spark's plan."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any

from ..._model.calls import Call, Derived
from ..._model.expressions import Column, Expr, HostExpression, Literal, Scalar
from ..._model.outputs import Output
from ..._model.replace import replace
from ..._parse.items import read_items
from ..._plan.bind import Resolver, plan_steps
from ..._plan.levels import inputs_of, levels, map_expressions
from ..._plan.steps import Compute, Evaluate, StepPlan
from ...exceptions import SpecError, UnsupportedError
from .below_windows import EVALUATED_FIRST
from .columns.reader import generator_in, is_literal, locator
from .columns.tree import HOST
from .fallback import with_spark_fallback
from .jvm import is_classic, is_generated
from .scalars import functions_of, spark_column
from .session import caller_stack_level, is_on

__all__ = ["case_insensitive", "constants", "is_of_inputs", "make_plan", "with_scalars"]

# What is said of a function that makes several rows of one, in a call.
_GENERATOR_INSIDE = (
    "{generator} makes several rows of one, which cannot stand inside a window call; add it to the frame first, with "
    "frame.select('*', ...)"
)

# How the inputs of a plan are called: scalars that Spark evaluates on the frame as it comes.
_INPUT = "__windrow_in_"


class SparkResolver(Resolver):
    """How names and Columns find the columns of a DataFrame."""

    evaluator = HOST
    # PySpark's mapInArrow looks columns up by unquoted names, where a dot means a field.
    forbidden = ".`"

    def __init__(self, frame: Any) -> None:
        self.case_insensitive = case_insensitive(frame)
        self._columns = list(frame.columns)
        self._functions = functions_of(frame)
        self._locate = locator(frame, case_insensitive=self.case_insensitive)
        self._names = [c.lower() if self.case_insensitive else c for c in self._columns]

    def locate(self, column: Any) -> int | None:
        """Give the position of the frame's column that a Column is, if it is one and nothing more."""
        return self._locate(column)

    def column_of(self, expression: HostExpression) -> int | None:
        """Give the position of the frame's column that an expression is, if it is one and nothing more."""
        return self._locate(expression.value)

    def unknown_name(self, name: str) -> Scalar | None:
        """Have Spark read a name as a field's, where it may be one."""
        return HostExpression(self._functions.col(name), HOST) if "." in name or "`" in name else None

    def frame_column(self, column: Any) -> str | None:
        """Give the name of the frame's column that a Column is, if it is one and no other has that name."""
        index = self._locate(column)
        return None if index is None or self._names.count(self._names[index]) > 1 else str(self._columns[index])


def case_insensitive(frame: Any) -> bool:
    """Whether a frame's columns are found regardless of case: what the session says."""
    return not is_on(frame.sparkSession, "spark.sql.caseSensitive")


def is_of_inputs(step: Evaluate) -> bool:
    """Whether a step evaluates a plan's inputs."""
    return any(s.name.startswith((_INPUT, EVALUATED_FIRST)) for s in step.scalars)


def make_plan(frame: Any, items: Sequence[Any], named: Mapping[str, Any], *, selecting: bool) -> StepPlan:
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
    StepPlan
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
    resolver = SparkResolver(frame)
    outputs = read_items(
        items,
        named,
        frame.columns,
        selecting=selecting,
        case_insensitive=resolver.case_insensitive,
        frame_column=resolver.frame_column,
    )
    outputs = [with_spark_fallback(o, frame, caller_stack_level() + 1) for o in outputs]
    outputs = _with_inputs_named(outputs, frame)
    asked = [o.item for o in outputs if o.item is not None]
    calls, inputs = _hoist_bound_columns(levels(asked), resolver.locate)
    plan = plan_steps(
        outputs, frame.columns, resolver, selecting=selecting, calls=calls, inputs=inputs | inputs_of(asked)
    )
    _refuse_generators(plan, frame)
    return plan


def _with_inputs_named(outputs: Sequence[Output], frame: Any) -> list[Output]:
    """Give each expression that Spark evaluates below the windows a column of its own, which is an input of these."""
    made = []
    generators = []
    for number, output in enumerate(outputs):
        item = output.item
        if isinstance(item, Derived) and EVALUATED_FIRST in item.inputs:
            if (generator := generator_in(item.inputs[EVALUATED_FIRST])) is not None:
                generators.append(output.name)
                _check_generator(item, generator, frame)
            name = f"{EVALUATED_FIRST}_{number}"
            output = replace(
                output, item=replace(item, expression=Column(name), inputs={name: item.inputs[EVALUATED_FIRST]})
            )
        made.append(output)
    if len(generators) > 1:
        raise UnsupportedError(
            f"{' and '.join(generators)} make several rows of one, and one select may have one such item; add the "
            "others to the frame before"
        )
    return made


def _check_generator(item: Derived, generator: str, frame: Any) -> None:
    """Refuse what gives several columns, and what Spark refuses."""
    from pyspark.errors import PySparkException

    column = item.inputs[EVALUATED_FIRST]
    assert isinstance(column, HostExpression)
    try:
        columns = frame.select(column.value).columns
    except PySparkException as error:
        said = str(error).strip().partition("\n")[0].partition(" SQLSTATE")[0]
        raise SpecError(f"{item.text}: Spark refuses it: {said}") from None
    if len(columns) != 1:
        raise UnsupportedError(
            f"{item.text}: {generator} makes the columns {', '.join(columns)}, and an item of a select is one; add "
            f"them to the frame first: wr.select(frame.select('*', {item.text}), ...)"
        )


def _refuse_generators(plan: StepPlan, frame: Any) -> None:
    """Refuse what makes several rows of one inside a call, as Spark does. Of Spark Classic the plan will tell."""
    if is_classic(frame):
        return
    for before, after in pairwise(plan.steps):
        if isinstance(before, Evaluate) and isinstance(after, Compute) and not is_of_inputs(before):
            for scalar in before.scalars:
                if generator_in(scalar.expression) is not None:
                    raise SpecError(_GENERATOR_INSIDE.format(generator=scalar.text))


def _hoist_bound_columns(
    laid: Sequence[Mapping[str, Call]], locate: Callable[[Any], int | None]
) -> tuple[list[dict[str, Call]], dict[str, Scalar]]:
    """Have Columns that calls of higher levels read evaluated first, on the frame that they may be bound to."""
    inputs: dict[str, Scalar] = {}

    def hoist(expression: Expr) -> Expr:
        if not isinstance(expression, HostExpression) or expression.host != HOST:
            return expression
        if locate(expression.value) is not None:
            return expression
        name = f"{_INPUT}{len(inputs)}"
        inputs[name] = expression
        return Derived(Column(name), {}, str(expression))

    return [
        {at: map_expressions(call, hoist) if level else call for at, call in calls.items()}
        for level, calls in enumerate(laid)
    ], inputs


def with_scalars(frame: Any, plan: StepPlan, step: Evaluate) -> Any:
    """Add the scalars of a step to a frame whose columns are called as the user knows them.

    Parameters
    ----------
    frame
        A PySpark DataFrame.
    plan, step
        The plan, and its step.

    Returns
    -------
    pyspark.sql.DataFrame
        The frame with a column for each scalar.

    Raises
    ------
    SpecError
        If one that a call reads makes several rows of one.
    """
    functions = functions_of(frame)
    frame = frame.select("*", *[spark_column(s, functions).alias(s.name) for s in step.scalars])
    read = {n for compute in plan.computes() for c in compute.calls for n in c.columns_read()}
    read_by_calls = [s for s in step.scalars if s.name in read]
    if read_by_calls and not is_of_inputs(step) and is_classic(frame) and is_generated(frame):
        raise SpecError(_GENERATOR_INSIDE.format(generator=" or ".join(s.text for s in read_by_calls)))
    return frame


def constants(step: Evaluate) -> set[str]:
    """Name the columns of a step that hold one value for all rows."""
    return {s.name for s in step.scalars if _is_constant(s.expression)}


def _is_constant(expression: Scalar) -> bool:
    return isinstance(expression, Literal) or (isinstance(expression, HostExpression) and is_literal(expression.value))
