"""Binds the items of a query to columns and plans its steps; scalar expressions become hidden columns.

Nothing here depends on the kind of frame. A host looks up columns with its own :class:`Resolver`.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from .._model.calls import Call, Derived
from .._model.catalog import function_of
from .._model.expressions import (
    MAX_DIGITS,
    Column,
    Columns,
    Expr,
    HostExpression,
    Item,
    Literal,
    Scalar,
    Sql,
    smallest_decimal,
)
from .._model.frames import Bound
from .._model.intervals import Interval
from .._model.names import Names, Role, ambiguous, quoted, unique_names, unknown_column, unused_name
from .._model.outputs import Output
from .._model.result_columns import result_column
from .._model.synonyms import instead_of_function
from .._model.windows import Order
from .._parse.sql_text import column_in_parentheses, columns_of
from ..exceptions import SpecError, UnsupportedError
from .bound import Argument, BoundCall, BoundFrame, ColumnArgument, FrameBound, LiteralArgument, SortKey
from .layout import result_projection
from .levels import inputs_of, levels
from .steps import Compute, Evaluate, NamedScalar, Project, StepPlan

__all__ = ["Resolver", "plan_steps"]


class Resolver:
    """Looks up the columns that names and expressions in calls refer to. The defaults suit frames in memory."""

    #: The library whose expressions the host evaluates, beside SQL.
    evaluator = "polars"
    #: Whether names are found regardless of case.
    case_insensitive = False
    #: Characters that the unique names of columns must not have.
    forbidden = ""

    def column_of(self, expression: HostExpression) -> int | None:
        """Return the position of the frame's column if an expression is just that column, else None."""
        return None

    def unknown_name(self, name: str) -> Scalar | None:
        """Return an expression for a name that is no column's, such as ``struct.field`` on Spark, else None."""
        return None


def plan_steps(
    outputs: Sequence[Output],
    columns: Sequence[str],
    resolver: Resolver | None = None,
    *,
    selecting: bool = False,
    calls: Sequence[Mapping[str, Call]] | None = None,
    inputs: Mapping[str, Scalar] | None = None,
) -> StepPlan:
    """Plan the steps that give outputs.

    Parameters
    ----------
    outputs
        What was asked for.
    columns
        The frame's columns in order; duplicates are allowed as long as no call names them.
    resolver
        How columns are found.
    selecting
        For ``select`` only the outputs; otherwise all columns, one of the same name replaced in its place.
    calls
        The calls by result column, level by level; None: those of the outputs.
    inputs
        Scalars to evaluate on the input frame, by the names under which other expressions read them; None: each is
        evaluated with the expression that reads it.

    Returns
    -------
    StepPlan
        The plan.

    Raises
    ------
    SpecError
        For an unknown or ambiguous column, a call without a window, an expression of another host.
    """
    resolver = resolver or Resolver()
    items = [o.item for o in outputs if o.item is not None]
    planner = _Planner(columns, resolver)
    planner.evaluates_inputs = inputs is None
    for expression in inputs_of(items).values() if inputs is None else inputs.values():
        if isinstance(expression, HostExpression):
            _check_evaluator(expression, resolver, Output.shown(outputs))
    if inputs:
        planner.evaluate([NamedScalar(name, e, str(e)) for name, e in inputs.items()])
    for level in levels(items) if calls is None else calls:
        planner.compute(level)
    new = planner.results(items)
    project = result_projection(columns, outputs, new, selecting=selecting, case_insensitive=resolver.case_insensitive)
    return planner.plan(outputs, project)


class _Planner:
    """Collects steps, and the columns that exist after them."""

    def __init__(self, columns: Sequence[str], resolver: Resolver) -> None:
        self.resolver = resolver
        self.width = len(columns)
        self.columns = Names(columns, case_insensitive=resolver.case_insensitive)
        self.names = unique_names(columns, case_insensitive=resolver.case_insensitive, without=resolver.forbidden)
        #: Per step: the number of columns before it, its scalars, its calls, and the columns that these read.
        self.steps: list[tuple[int, tuple[NamedScalar, ...], tuple[BoundCall, ...], Collection[int]]] = []
        self.result_index: dict[str, int] = {}
        self.scalar_count = 0
        #: Whether each scalar brings what it reads of the host's expressions.
        self.evaluates_inputs = False
        self.names_in_use: set[str] | None = None
        #: Hidden names, in lower case, that also occur in the frame.
        self.shadowed: set[str] = set()

    def evaluate(self, scalars: Sequence[NamedScalar]) -> None:
        """Add a step that evaluates scalars."""
        self.steps.append((len(self.names), tuple(scalars), (), ()))
        for scalar in scalars:
            self._add(scalar.name)

    def compute(self, calls: Mapping[str, Call]) -> None:
        """Add a step that computes calls, and before it one that evaluates what they read."""
        inputs = _Inputs()
        result_names = [self._unused_name(column) for column in calls]
        bound = [_bind(call, name, self, inputs) for name, call in zip(result_names, calls.values(), strict=True)]
        if inputs.scalars:
            inputs.columns.update(range(len(self.names), len(self.names) + len(inputs.scalars)))
            self.evaluate(inputs.scalars)
        self.steps.append((len(self.names), (), tuple(bound), inputs.columns))
        for column in calls:
            self.result_index[column] = len(self.names)
            self._add(column)

    def results(self, items: Sequence[Call | Derived]) -> list[int]:
        """Return the working column of each item, after adding a step for expressions over calls."""
        scalars: list[NamedScalar] = []
        indices = []
        for item in items:
            if isinstance(item, Call):
                indices.append(self.result_index[result_column(item)])
                continue
            if isinstance(item.expression, HostExpression):
                _check_evaluator(item.expression, self.resolver, item.text)
            indices.append(len(self.names) + len(scalars))
            scalars.append(self.scalar(self.hidden_name(), item.expression, item.text, item))
        if scalars:
            self.evaluate(scalars)
        return indices

    def scalar(self, name: str, expression: Scalar, text: str, item: Expr) -> NamedScalar:
        """Return a scalar with the host's expressions in it."""
        inputs = item.inputs if self.evaluates_inputs and isinstance(item, Derived) else {}
        return NamedScalar(name, expression, text, inputs)

    def plan(self, outputs: Sequence[Output], project: Project) -> StepPlan:
        """Return the plan; each step has the columns that it reads and those that later steps read."""
        steps: list[Evaluate | Compute | Project] = [project]
        keeps = {i for _, i in project.columns}
        names = tuple(self.names)
        for columns_before, scalars, calls, columns_read in reversed(self.steps):
            kept = tuple(sorted(keeps))
            keeps.difference_update(range(columns_before, columns_before + len(scalars) + len(calls)))
            if calls:
                steps.append(Compute(calls, names[:columns_before], tuple(sorted(columns_read)), kept))
            else:
                columns_read = self._columns_read_by(scalars, columns_before)
                steps.append(Evaluate(scalars, names[:columns_before], tuple(sorted(columns_read)), kept))
            keeps.update(columns_read)
        steps.reverse()
        return StepPlan(self.width, tuple(self.columns.columns), names, tuple(outputs), tuple(steps))

    def _columns_read_by(self, scalars: Sequence[NamedScalar], columns_before: int) -> set[int]:
        """Return which of the first columns scalars may read, with names compared regardless of case."""
        names_read: set[str] = set()
        found: set[int] = set()
        for expression, text in ((e, s.text) for s in scalars for e in (s.expression, *s.inputs.values())):
            names = columns_of(expression)
            if names is None:
                return set(range(columns_before))
            names_read |= names
            for name in self.shadowed.intersection(names):
                ambiguous(name, self.columns.named(name), text)
            if isinstance(expression, HostExpression):  # it lists columns of the frame only
                found.update(range(self.width, columns_before))
        return found.union(i for i in range(columns_before) if self.columns.columns[i].lower() in names_read)

    def _add(self, name: str) -> None:
        if self.columns.named(name):
            self.shadowed.add(name.lower())
        self.names.append(self._unused_name(name))
        self.columns.add(name)

    def _unused_name(self, name: str) -> str:
        # a frame may have a column that is called so
        return unused_name(name, set(self.names)) if self.columns.named(name) else name

    def hidden_name(self) -> str:
        """Return the name of another hidden column for a scalar."""
        if self.names_in_use is None:
            self.names_in_use = {c.lower() for c in self.columns.columns}
        name = unused_name(f"__windrow_{self.scalar_count}", self.names_in_use)
        self.scalar_count += 1
        return name


@dataclass(slots=True)
class _Inputs:
    """What the calls of one level read."""

    #: The positions of columns that exist.
    columns: set[int] = field(default_factory=set)
    #: The scalars to evaluate before the calls.
    scalars: list[NamedScalar] = field(default_factory=list)
    #: The hidden column of each scalar, by the scalar's key: equal ones share a column.
    hidden_names: dict[Any, str] = field(default_factory=dict)


def _bind(call: Call, name: str, planner: _Planner, inputs: _Inputs) -> BoundCall:
    """Bind a call to columns, and add what it reads to the inputs of its level."""
    window = call.window
    if window is None:
        raise SpecError(f"{call.sql} has no window; write {call.sql}.over(wr.window(...)), or .over() for all rows")
    binder = _CallBinder(planner, inputs, call.sql, partitioned=bool(window.partition_by))
    frame = window.frame
    function = function_of(call.function) if call.user is None else None
    if function is None and call.user is None:
        raise SpecError(
            f'{call.sql}: there is no window function "{call.function}"{instead_of_function(call.function)}'
        )
    condition = call.condition
    if isinstance(condition, Literal) and isinstance(condition.value, str):
        raise SpecError(
            f"{call.sql}: the condition of FILTER is a text, and a condition must be boolean; write a column's name in "
            f"backticks: {quoted(condition.value)}"
        )
    defaults = () if function is None else function.positions("default")
    first = function is not None and not function.is_setting(0)
    return BoundCall(
        function=call.function,
        args=tuple(
            [
                binder.argument(a, value=first and not i, role="default" if i in defaults else "value")
                for i, a in enumerate(call.args)
            ]
        ),
        partition_by=tuple([binder.column(k, "key") for k in window.partition_by]),
        order_by=tuple([binder.order(o) for o in window.order_by]),
        frame=None
        if frame is None
        else BoundFrame(
            frame.units,
            binder.frame_bound(frame.start),
            binder.frame_bound(frame.end),
            frame.exclude,
            (frame.open_start, frame.open_end),
            frame.elapsed,
        ),
        filter=None if condition is None else binder.column(condition),
        distinct=call.is_distinct,
        ignore_nulls=call.nulls_ignored,
        argument_order=tuple([binder.order(o) for o in call.argument_order]),
        min_rows=window.min_rows,
        user=call.user,
        name=name,
        display=binder.display,
    )


class _CallBinder:
    """Binds the expressions of one call."""

    def __init__(self, planner: _Planner, inputs: _Inputs, display: str, *, partitioned: bool) -> None:
        self._planner = planner
        self._resolver = planner.resolver
        self._inputs = inputs
        self.display = display
        self._partitioned = partitioned

    def argument(self, expression: Expr, *, value: bool = False, role: Role = "value") -> Argument:
        """Bind an argument; a decimal literal as the ``value`` of a call becomes a column of its type, as in Spark."""
        if isinstance(expression, Literal):
            literal = self._literal(expression.value)
            if value and isinstance(literal, Interval) and literal.months and self._resolver.evaluator != "spark":
                raise UnsupportedError(f"{self.display}: an interval of months is a value on Spark alone")
            if not value or not (isinstance(literal, Decimal) or expression.text):
                return LiteralArgument(literal)
        return ColumnArgument(self.column(expression, role))

    def order(self, order: Order) -> SortKey:
        """Bind an order key."""
        return SortKey(self.column(order.key, "order"), order.descending, order.nulls_first)

    def frame_bound(self, bound: Bound) -> FrameBound:
        """Bind a bound of the frame."""
        return FrameBound(bound.kind, None if bound.offset is None else self.argument(bound.offset))

    def column(self, expression: Expr, role: Role = "value") -> str:
        """Return the name of the column that holds an expression; adds a hidden column if there is none."""
        scalar = self._scalar(expression)
        index = None
        for part in (scalar, *(expression.inputs.values() if isinstance(expression, Derived) else ())):
            if isinstance(part, HostExpression) and role != "key":
                self._check_rows_read(part)
        if isinstance(scalar, HostExpression):
            _check_evaluator(scalar, self._resolver, self.display)
            index = self._resolver.column_of(scalar)
        elif isinstance(scalar, Column):
            index = self._find(scalar.name)
            if index is None:
                other = self._resolver.unknown_name(scalar.name)
                if other is None:
                    columns = self._planner.columns.columns[: self._planner.width]
                    raise unknown_column(scalar.name, columns, self.display, role)
                scalar = other
        if index is None:
            return self._hidden_name(scalar, expression)
        self._inputs.columns.add(index)
        return self._planner.names[index]

    def _check_rows_read(self, expression: HostExpression) -> None:
        """Refuse an expression that reads rows of other partitions."""
        cross_row = [f for f in expression.other_rows if f != "Over"]
        if cross_row and self._partitioned:
            raise UnsupportedError(
                f"{self.display}: {expression} reads other rows than its own ({', '.join(cross_row)}), those of other "
                "partitions among them; write .over(keys) in it, or a window call in place of it"
            )

    def _scalar(self, expression: Expr) -> Scalar:
        """Return the scalar that reads an expression: the result column of a call, the column in parentheses."""
        if isinstance(expression, Call):
            return Column(result_column(expression))
        if isinstance(expression, Derived):
            return expression.expression
        assert not isinstance(expression, (Item, Columns))
        if isinstance(expression, Sql) and (name := column_in_parentheses(expression.text)) is not None:
            return Column(name)
        if isinstance(expression, Literal):
            return Literal(self._literal(expression.value), expression.text)
        return expression

    def _literal(self, value: Any) -> Any:
        """Return a literal's value; integers of more than 64 bits become decimals."""
        if isinstance(value, int) and not -(2**63) <= value < 2**63:
            if abs(value) >= 10**MAX_DIGITS:
                raise SpecError(f"{self.display}: {value} has more than {MAX_DIGITS} digits, which no type holds")
            return Decimal(value)
        if isinstance(value, Decimal) and (not value.is_finite() or not _fits_decimal(value)):
            raise SpecError(f"{self.display}: {value} is no decimal of up to {MAX_DIGITS} digits")
        return value

    def _find(self, name: str) -> int | None:
        found = self._planner.columns.named(name)
        if len(found) > 1:
            ambiguous(name, found, self.display)
        return found[0] if found else None

    def _hidden_name(self, expression: Scalar, item: Expr) -> str:
        """Return the name of the hidden column of a scalar; equal scalars of one level share it."""
        key = _expression_key(expression)
        names = self._inputs.hidden_names
        if key not in names:
            names[key] = self._planner.hidden_name()
            self._inputs.scalars.append(self._planner.scalar(names[key], expression, str(item), item))
        return names[key]


def _check_evaluator(expression: HostExpression, resolver: Resolver, display: str) -> None:
    if expression.host == resolver.evaluator:
        return
    if resolver.evaluator == "spark":
        raise SpecError(
            f"{display}: {expression} is a Polars expression, which Spark cannot evaluate; "
            "write wr.expr('SQL') or a PySpark Column"
        )
    raise SpecError(
        f"{display}: {expression} is a PySpark Column, and the frame is not Spark's; "
        "write wr.expr('SQL') or a Polars expression"
    )


def _fits_decimal(value: Decimal) -> bool:
    return abs(value.adjusted()) <= MAX_DIGITS and smallest_decimal(value)[0] <= MAX_DIGITS


def _expression_key(expression: Scalar) -> tuple[str, Any]:
    """Return a key that is the same for equal expressions."""
    if isinstance(expression, HostExpression):
        return "host", id(expression.value)
    if isinstance(expression, Sql):
        return "sql", expression.text
    # literals are compared with their types: 1, 1.0 and True are equal in Python
    return type(expression).__name__, repr(expression)
