"""From the items of a query to the plan of its steps: names become columns, scalars become hidden columns.

Nothing here depends on the kind of frame. A host says how it finds columns by a :class:`Resolver`.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from decimal import Decimal
from typing import Any

from .._model.calls import Call, Derived
from .._model.catalog import function_of
from .._model.expressions import DIGITS, Column, Expr, Host, Item, Literal, Scalar, Sql, smallest_decimal
from .._model.intervals import Interval
from .._model.names import Names, ambiguous, fresh, unique_names, unknown_column
from .._model.outputs import Output
from .._model.result_columns import place
from .._model.windows import Bound, Order
from .._parse.sql_text import column_in_parentheses, columns_of
from ..exceptions import SpecError, UnsupportedError
from .bound import Argument, BoundCall, BoundFrame, ColumnArgument, FrameBound, LiteralArgument, SortKey
from .layout import arrange
from .levels import levels
from .steps import Compute, Evaluate, NamedScalar, Project, StepPlan

__all__ = ["Resolver", "plan_steps"]


class Resolver:
    """How the names and the expressions in calls find columns. These are the ways of a frame in memory."""

    #: Whose expressions the host evaluates, beside SQL.
    evaluator = "polars"
    #: Whether names are found regardless of case.
    case_insensitive = False
    #: Characters that the names by which calls know columns must not have.
    forbidden = ""

    def column_of(self, expression: Host) -> int | None:
        """Give the position of the frame's column that an expression is, if it is one and nothing more."""
        return None

    def unknown_name(self, name: str) -> Scalar | None:
        """Give an expression for a name that no column has, where the host reads more into names: ``struct.field``."""
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
        The calls by their places, level by level, where they are not just those of the outputs.
    inputs
        Scalars to evaluate on the frame as it comes, by the names that other expressions have for them.

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
    project = arrange(columns, outputs, new, selecting=selecting, folded=resolver.case_insensitive)
    return planner.plan(outputs, project)


class _Planner:
    """The steps so far, and the columns that there are behind them."""

    def __init__(self, columns: Sequence[str], resolver: Resolver) -> None:
        self.resolver = resolver
        self.width = len(columns)
        self.columns = Names(columns, folded=resolver.case_insensitive)
        self.names = unique_names(columns, folded=resolver.case_insensitive, without=resolver.forbidden)
        #: The steps but for what later ones read: how many columns are before each, what it adds, what it reads.
        self.steps: list[tuple[int, tuple[NamedScalar, ...], tuple[BoundCall, ...], Collection[int]]] = []
        self.places: dict[str, int] = {}
        self.scalars = 0
        self.read: set[int] = set()
        self.display = ""
        self.partitioned = False
        self.pending: list[NamedScalar] = []
        self.made: dict[Any, str] = {}
        self.taken: set[str] | None = None
        #: Hidden columns of whose names the frame has a column, too.
        self.twice: set[str] = set()

    def evaluate(self, scalars: Sequence[NamedScalar]) -> None:
        """Add a step that evaluates scalars."""
        self.steps.append((len(self.names), tuple(scalars), (), ()))
        for scalar in scalars:
            self._add(scalar.name)

    def compute(self, calls: Mapping[str, Call]) -> None:
        """Add a step that computes calls, and before it one that evaluates what they read."""
        self.read, self.pending, self.made = set(), [], {}
        taken = [self._own_name(at) for at in calls]
        bound = [self._bind(name, call) for name, call in zip(taken, calls.values(), strict=True)]
        if self.pending:
            self.read.update(range(len(self.names), len(self.names) + len(self.pending)))
            self.evaluate(self.pending)
        self.steps.append((len(self.names), (), tuple(bound), self.read))
        for at in calls:
            self.places[at] = len(self.names)
            self._add(at)

    def results(self, items: Sequence[Call | Derived]) -> list[int]:
        """Give the working column of each item; a last step evaluates what is not just a call."""
        self.pending, self.made = [], {}
        first = len(self.names)
        found = []
        for item in items:
            if isinstance(item, Call):
                found.append(self.places[place(item)])
                continue
            self.display = item.text
            if isinstance(item.expression, Host):
                self._check_evaluator(item.expression)
            found.append(first + len(self.pending))
            self._hide(item.expression, item.text)
        if self.pending:
            self.evaluate(self.pending)
        return found

    def plan(self, outputs: Sequence[Output], project: Project) -> StepPlan:
        """Give the plan, in which each step knows what it reads and what later ones read."""
        steps: list[Evaluate | Compute | Project] = [project]
        keeps = {i for _, i in project.columns}
        names = tuple(self.names)
        for there, scalars, calls, read in reversed(self.steps):
            kept = tuple(sorted(keeps))
            keeps.difference_update(range(there, there + len(scalars) + len(calls)))
            if calls:
                steps.append(Compute(calls, names[:there], tuple(sorted(read)), kept))
            else:
                read = self._read_by(scalars, there)
                steps.append(Evaluate(scalars, names[:there], tuple(sorted(read)), kept))
            keeps.update(read)
        steps.reverse()
        return StepPlan(self.width, tuple(self.columns.columns), names, tuple(outputs), tuple(steps))

    def _read_by(self, scalars: Sequence[NamedScalar], there: int) -> set[int]:
        """List which of the first columns scalars may read; a name may be found regardless of case."""
        read: set[str] = set()
        found: set[int] = set()
        for scalar in scalars:
            names = columns_of(scalar.expression)
            if names is None:
                return set(range(there))
            read |= names
            for at in self.twice.intersection(names):
                ambiguous(at, self.columns.named(at), scalar.text)
            if isinstance(scalar.expression, Host):  # which says of the frame's columns alone which it reads
                found.update(range(self.width, there))
        return found.union(i for i in range(there) if self.columns.columns[i].lower() in read)

    def _add(self, name: str) -> None:
        if self.columns.named(name):
            self.twice.add(name.lower())
        self.names.append(self._own_name(name))
        self.columns.add(name)

    def _own_name(self, name: str) -> str:
        # a frame may have a column that is called so
        return fresh(name, set(self.names)) if self.columns.named(name) else name

    def _bind(self, name: str, call: Call) -> BoundCall:
        self.display = call.sql
        window = call.window
        self.partitioned = window is not None and bool(window.partition_by)
        if window is None:
            raise SpecError(f"{call.sql} has no window; write {call.sql}.over(wr.window(...)), or .over() for all rows")
        frame = window.frame
        known = function_of(call.function) if call.user is None else None
        first = known is not None and not known.is_setting(0)
        return BoundCall(
            function=call.function,
            args=tuple([self._argument(a, value=first and not i) for i, a in enumerate(call.args)]),
            partition_by=tuple([self._column(k, key=True) for k in window.partition_by]),
            order_by=tuple([self._order(o) for o in window.order_by]),
            frame=None
            if frame is None
            else BoundFrame(frame.units, self._bound(frame.start), self._bound(frame.end), frame.exclude),
            filter=None if call.condition is None else self._column(call.condition),
            distinct=call.is_distinct,
            ignore_nulls=call.nulls_ignored,
            argument_order=tuple([self._order(o) for o in call.argument_order]),
            min_rows=window.min_rows,
            user=call.user,
            name=name,
            display=self.display,
        )

    def _argument(self, expression: Expr, *, value: bool = False) -> Argument:
        """Bind an argument; a decimal that is the ``value`` of a call is a column of its own type, as in Spark."""
        if isinstance(expression, Literal):
            literal = self._literal(expression.value)
            if value and isinstance(literal, Interval) and literal.months and self.resolver.evaluator != "spark":
                raise UnsupportedError(f"{self.display}: an interval of months is a value on Spark alone")
            if not value or not (isinstance(literal, Decimal) or expression.text):
                return LiteralArgument(literal)
        return ColumnArgument(self._column(expression))

    def _literal(self, value: Any) -> Any:
        """Give a literal's value, an integer of more than 64 bits as the decimal that it is."""
        if isinstance(value, int) and not -(2**63) <= value < 2**63:
            if abs(value) >= 10**DIGITS:
                raise SpecError(f"{self.display}: {value} has more than {DIGITS} digits, which no type holds")
            return Decimal(value)
        if isinstance(value, Decimal) and (not value.is_finite() or not _is_decimal(value)):
            raise SpecError(f"{self.display}: {value} is no decimal of up to {DIGITS} digits")
        return value

    def _order(self, order: Order) -> SortKey:
        return SortKey(self._column(order.key), order.descending, order.nulls_first)

    def _bound(self, bound: Bound) -> FrameBound:
        return FrameBound(bound.kind, None if bound.offset is None else self._argument(bound.offset))

    def _column(self, expression: Expr, *, key: bool = False) -> str:
        """Give the name of the column that holds an expression, a hidden one where there is none."""
        scalar: Scalar
        if isinstance(expression, Call):
            scalar = Column(place(expression))
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
        if isinstance(scalar, Host):
            self._check_evaluator(scalar)
            across = [f for f in scalar.other_rows if f != "Over"]
            if across and self.partitioned and not key:
                raise UnsupportedError(
                    f"{self.display}: {scalar} reads other rows than its own ({', '.join(across)}), those of other "
                    "partitions among them; write .over(keys) in it, or a window call in place of it"
                )
            index = self.resolver.column_of(scalar)
        elif isinstance(scalar, Column):
            index = self._find(scalar.name)
            if index is None:
                other = self.resolver.unknown_name(scalar.name)
                if other is None:
                    raise unknown_column(scalar.name, self.columns.columns[: self.width], self.display)
                scalar = other
        if index is None:
            return self._hidden(scalar, str(expression))
        self.read.add(index)
        return self.names[index]

    def _find(self, name: str) -> int | None:
        found = self.columns.named(name)
        if len(found) > 1:
            ambiguous(name, found, self.display)
        return found[0] if found else None

    def _hidden(self, expression: Scalar, text: str) -> str:
        """Name the hidden column of a scalar that the calls of a level read."""
        key = _key(expression)
        if key not in self.made:
            self.made[key] = self._hide(expression, text)
        return self.made[key]

    def _hide(self, expression: Scalar, text: str) -> str:
        if self.taken is None:
            self.taken = {c.lower() for c in self.columns.columns}
        name = fresh(f"__windrow_{self.scalars}", self.taken)
        self.scalars += 1
        self.pending.append(NamedScalar(name, expression, text))
        return name

    def _check_evaluator(self, expression: Host) -> None:
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


def _is_decimal(value: Decimal) -> bool:
    return abs(value.adjusted()) <= DIGITS and smallest_decimal(value)[0] <= DIGITS


def _key(expression: Scalar) -> tuple[str, Any]:
    """Give a key that equal expressions share."""
    if isinstance(expression, Host):
        return "host", id(expression.value)
    if isinstance(expression, Sql):
        return "sql", expression.text
    # literals are compared with their types: 1, 1.0 and True are equal in Python
    return type(expression).__name__, repr(expression)
