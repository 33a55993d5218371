"""What is known of window calls on a PySpark DataFrame before anything is put into Spark's plan."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..._model.calls import Call, Derived
from ..._model.expressions import Column, Expr, Host, Literal, Scalar
from ..._model.names import unique_names
from ..._model.outputs import Output
from ..._model.replace import replace
from ..._parse.items import read_items
from ..._parse.sql_text import columns_of
from ..._plan.bind import bind, scalars
from ..._plan.bound import BoundCalls, Temporary
from ..._plan.layout import Slot, arrange
from ..._plan.levels import inputs_of, levels, rewritten
from ...exceptions import SpecError, UnsupportedError
from ...settings import Options
from .below_windows import BELOW
from .columns.reader import generator_in, is_literal, locator
from .columns.tree import HOST
from .fallback import left_to_spark
from .jvm import is_classic
from .scalars import functions_of
from .session import session_options, users_line

__all__ = ["GENERATOR_INSIDE", "Level", "Plan", "make_plan"]

#: What is said of a function that makes several rows of one, in a call.
GENERATOR_INSIDE = (
    "{generator} makes several rows of one, which cannot stand inside a window call; add it to the frame first, with "
    "frame.select('*', ...)"
)

# PySpark's mapInArrow looks columns up by unquoted names, where a dot means a field.
_FORBIDDEN = ".`"


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
    outputs = _with_inputs_named(outputs, frame)
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
        _refuse_generators(bound, frame)
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
        session_options(session),
    )


def _with_inputs_named(outputs: Sequence[Output], frame: Any) -> list[Output]:
    """Give each expression that Spark evaluates below the windows a column of its own, which is an input of these."""
    made = []
    generators = []
    for number, output in enumerate(outputs):
        item = output.item
        if isinstance(item, Derived) and BELOW in item.inputs:
            if (generator := generator_in(item.inputs[BELOW])) is not None:
                generators.append(output.name)
                _check_generator(item, generator, frame)
            name = f"{BELOW}_{number}"
            output = replace(output, item=replace(item, expression=Column(name), inputs={name: item.inputs[BELOW]}))
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

    column = item.inputs[BELOW]
    assert isinstance(column, Host)
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


def _refuse_generators(bound: BoundCalls, frame: Any) -> None:
    """Refuse what makes several rows of one inside a call, as Spark does. Of Spark Classic the plan will tell."""
    for temporary in bound.temporaries:
        generator = None if is_classic(frame) else generator_in(temporary.expression)
        if generator is not None:
            raise SpecError(GENERATOR_INSIDE.format(generator=temporary.text))


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
