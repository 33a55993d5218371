"""Binds the items of a query to columns and plans its steps; scalar expressions become hidden columns.

Nothing here depends on the kind of frame. A host looks columns up by a :class:`Resolver` of its own.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from decimal import Decimal
from typing import Any

from .._model.calls import Call, Derived
from .._model.catalog import function_of
from .._model.expressions import MAX_DIGITS, Column, Expr, HostExpression, Item, Literal, Scalar, Sql, smallest_decimal
from .._model.intervals import Interval
from .._model.names import Names, Role, ambiguous, quoted, unique_names, unknown_column, unused_name
from .._model.outputs import Output
from .._model.result_columns import result_column
from .._model.synonyms import instead_of_function
from .._model.windows import Bound, Order
from .._parse.sql_text import column_in_parentheses, columns_of
from ..exceptions import SpecError, UnsupportedError
from .bound import Argument, BoundCall, BoundFrame, ColumnArgument, FrameBound, LiteralArgument, SortKey
from .layout import result_projection
from .levels import levels
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
        Scalars to evaluate on the input frame, by the names under which other expressions read them.

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
        self.columns_read: set[int] = set()
        self.display = ""
        self.partitioned = False
        self.pending_scalars: list[NamedScalar] = []
        self.hidden_names: dict[Any, str] = {}
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
        self.columns_read, self.pending_scalars, self.hidden_names = set(), [], {}
        result_names = [self._unused_name(column) for column in calls]
        bound = [self._bind(name, call) for name, call in zip(result_names, calls.values(), strict=True)]
        if self.pending_scalars:
            self.columns_read.update(range(len(self.names), len(self.names) + len(self.pending_scalars)))
            self.evaluate(self.pending_scalars)
        self.steps.append((len(self.names), (), tuple(bound), self.columns_read))
        for column in calls:
            self.result_index[column] = len(self.names)
            self._add(column)

    def results(self, items: Sequence[Call | Derived]) -> list[int]:
        """Return the working column of each item, after adding a step for expressions over calls."""
        self.pending_scalars, self.hidden_names = [], {}
        first = len(self.names)
        indices = []
        for item in items:
            if isinstance(item, Call):
                indices.append(self.result_index[result_column(item)])
                continue
            self.display = item.text
            if isinstance(item.expression, HostExpression):
                self._check_evaluator(item.expression)
            indices.append(first + len(self.pending_scalars))
            self._add_hidden(item.expression, item.text)
        if self.pending_scalars:
            self.evaluate(self.pending_scalars)
        return indices

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
        for scalar in scalars:
            names = columns_of(scalar.expression)
            if names is None:
                return set(range(columns_before))
            names_read |= names
            for name in self.shadowed.intersection(names):
                ambiguous(name, self.columns.named(name), scalar.text)
            if isinstance(scalar.expression, HostExpression):  # it lists columns of the frame only
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

    def _bind(self, name: str, call: Call) -> BoundCall:
        self.display = call.sql
        window = call.window
        self.partitioned = window is not None and bool(window.partition_by)
        if window is None:
            raise SpecError(f"{call.sql} has no window; write {call.sql}.over(wr.window(...)), or .over() for all rows")
        condition = call.condition
        if isinstance(condition, Literal) and isinstance(condition.value, str):
            raise SpecError(
                f"{self.display}: the condition of FILTER is a text, and a condition must be boolean; write a column's "
                f"name in backticks: {quoted(condition.value)}"
            )
        frame = window.frame
        function = function_of(call.function) if call.user is None else None
        if function is None and call.user is None:
            hint = instead_of_function(call.function)
            raise SpecError(f'{self.display}: there is no window function "{call.function}"{hint}')
        first = function is not None and not function.is_setting(0)
        defaults = () if function is None else function.positions("default")
        return BoundCall(
            function=call.function,
            args=tuple(
                [
                    self._argument(a, value=first and not i, role="default" if i in defaults else "value")
                    for i, a in enumerate(call.args)
                ]
            ),
            partition_by=tuple([self._column(k, "key") for k in window.partition_by]),
            order_by=tuple([self._order(o) for o in window.order_by]),
            frame=None
            if frame is None
            else BoundFrame(frame.units, self._bound(frame.start), self._bound(frame.end), frame.exclude),
            filter=None if condition is None else self._column(condition),
            distinct=call.is_distinct,
            ignore_nulls=call.nulls_ignored,
            argument_order=tuple([self._order(o) for o in call.argument_order]),
            min_rows=window.min_rows,
            user=call.user,
            name=name,
            display=self.display,
        )

    def _argument(self, expression: Expr, *, value: bool = False, role: Role = "value") -> Argument:
        """Bind an argument; a decimal literal as the ``value`` of a call becomes a column of its type, as in Spark."""
        if isinstance(expression, Literal):
            literal = self._literal(expression.value)
            if value and isinstance(literal, Interval) and literal.months and self.resolver.evaluator != "spark":
                raise UnsupportedError(f"{self.display}: an interval of months is a value on Spark alone")
            if not value or not (isinstance(literal, Decimal) or expression.text):
                return LiteralArgument(literal)
        return ColumnArgument(self._column(expression, role))

    def _literal(self, value: Any) -> Any:
        """Return a literal's value; integers of more than 64 bits become decimals."""
        if isinstance(value, int) and not -(2**63) <= value < 2**63:
            if abs(value) >= 10**MAX_DIGITS:
                raise SpecError(f"{self.display}: {value} has more than {MAX_DIGITS} digits, which no type holds")
            return Decimal(value)
        if isinstance(value, Decimal) and (not value.is_finite() or not _fits_decimal(value)):
            raise SpecError(f"{self.display}: {value} is no decimal of up to {MAX_DIGITS} digits")
        return value

    def _order(self, order: Order) -> SortKey:
        return SortKey(self._column(order.key, "order"), order.descending, order.nulls_first)

    def _bound(self, bound: Bound) -> FrameBound:
        return FrameBound(bound.kind, None if bound.offset is None else self._argument(bound.offset))

    def _column(self, expression: Expr, role: Role = "value") -> str:
        """Return the name of the column that holds an expression; adds a hidden column if there is none."""
        scalar: Scalar
        if isinstance(expression, Call):
            scalar = Column(result_column(expression))
        elif isinstance(expression, Derived):
            scalar = expression.expression
        else:
            assert not isinstance(expression, Item)
            scalar = expression
            if isinstance(scalar, Sql) and (name := column_in_parentheses(scalar.text)) is not None:
                scalar = Column(name)
            elif isinstance(scalar, Literal):
                scalar = Literal(self._literal(scalar.value), scalar.text)
        index = None
        if isinstance(scalar, HostExpression):
            self._check_evaluator(scalar)
            cross_row = [f for f in scalar.other_rows if f != "Over"]
            if cross_row and self.partitioned and role != "key":
                raise UnsupportedError(
                    f"{self.display}: {scalar} reads other rows than its own ({', '.join(cross_row)}), those of other "
                    "partitions among them; write .over(keys) in it, or a window call in place of it"
                )
            index = self.resolver.column_of(scalar)
        elif isinstance(scalar, Column):
            index = self._find(scalar.name)
            if index is None:
                other = self.resolver.unknown_name(scalar.name)
                if other is None:
                    raise unknown_column(scalar.name, self.columns.columns[: self.width], self.display, role)
                scalar = other
        if index is None:
            return self._hidden_name(scalar, str(expression))
        self.columns_read.add(index)
        return self.names[index]

    def _find(self, name: str) -> int | None:
        found = self.columns.named(name)
        if len(found) > 1:
            ambiguous(name, found, self.display)
        return found[0] if found else None

    def _hidden_name(self, expression: Scalar, text: str) -> str:
        """Return the name of the hidden column of a scalar; equal scalars of one level share it."""
        key = _expression_key(expression)
        if key not in self.hidden_names:
            self.hidden_names[key] = self._add_hidden(expression, text)
        return self.hidden_names[key]

    def _add_hidden(self, expression: Scalar, text: str) -> str:
        if self.names_in_use is None:
            self.names_in_use = {c.lower() for c in self.columns.columns}
        name = unused_name(f"__windrow_{self.scalar_count}", self.names_in_use)
        self.scalar_count += 1
        self.pending_scalars.append(NamedScalar(name, expression, text))
        return name

    def _check_evaluator(self, expression: HostExpression) -> None:
        if expression.host == self.resolver.evaluator:
            return
        if self.resolver.evaluator == "spark":
            raise SpecError(
                f"{self.display}: {expression} is a Polars expression, which Spark cannot evaluate; "
                "write wr.expr('SQL') or a PySpark Column"
            )
        raise SpecError(
            f"{self.display}: {expression} is a PySpark Column, and the frame is not Spark's; "
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
