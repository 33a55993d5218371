"""From calls to bound calls: names become columns of the frame, expressions become columns that the host evaluates.

Nothing here depends on the kind of frame. A host gives the names of its columns, and gets back which of them are read,
and which expressions it must evaluate into temporary columns first.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from .._model.calls import Call, Derived
from .._model.expressions import DIGITS, Column, Expr, Host, Item, Literal, Scalar, Sql, smallest_decimal
from .._model.intervals import Interval
from .._model.names import Names, ambiguous, fresh, unique_names, unknown
from .._model.outputs import Output
from .._model.result_columns import place
from .._model.windows import Bound, Order
from ..exceptions import SpecError, UnsupportedError
from .bound import (
    Argument,
    BoundCall,
    BoundCalls,
    BoundFrame,
    ColumnArgument,
    FrameBound,
    LiteralArgument,
    SortKey,
    Temporary,
)

__all__ = ["bind", "scalars"]


def bind(
    outputs: Sequence[Output],
    columns: Sequence[str],
    *,
    host: str = "polars",
    folded: bool = False,
    without: str = "",
    fallback: Callable[[str], Scalar | None] | None = None,
    locate: Callable[[Any], int | None] | None = None,
) -> BoundCalls:
    """Bind calls to the columns of a frame.

    Parameters
    ----------
    outputs
        Calls; what stands in them of other calls is read by their places. All else among them is left out.
    columns
        The frame's columns in order; duplicates are allowed as long as no call names them.
    host
        Whose expressions the host of the frame evaluates, beside SQL.
    folded
        Whether names are found regardless of case, as in Spark by default.
    without
        Characters that the names by which calls know columns must not have.
    fallback
        Asked for an expression when a name is unknown, for hosts that read more into names (``struct.field``).
    locate
        Asked for the position of the frame's column that a host expression is, if it is one and nothing more.

    Returns
    -------
    BoundCalls
        Names, columns read, expressions to evaluate, and the bound calls.

    Raises
    ------
    SpecError
        For an unknown or ambiguous column, a call without a window, an expression of another host.
    """
    names = unique_names(columns, folded=folded, without=without)
    binder = _Binder(Names(columns, folded=folded), names, host, fallback, locate)
    native = [binder.lower(o.name, o.item) for o in outputs if isinstance(o.item, Call)]
    return BoundCalls(binder.names, sorted(binder.read), binder.temporaries, native)


@dataclass(slots=True)
class _Binder:
    columns: Names
    names: list[str]
    host: str
    fallback: Callable[[str], Scalar | None] | None
    locate: Callable[[Any], int | None] | None
    temporaries: list[Temporary] = field(default_factory=list)
    read: set[int] = field(default_factory=set)
    display: str = ""
    partitioned: bool = False
    made: dict[Any, str] = field(default_factory=dict)
    taken: set[str] | None = None

    def lower(self, name: str, call: Call) -> BoundCall:
        self.display = call.sql
        window = call.window
        self.partitioned = window is not None and bool(window.partition_by)
        if window is None:
            raise SpecError(f"{call.sql} has no window; write {call.sql}.over(wr.window(...)), or .over() for all rows")
        frame = window.frame
        return BoundCall(
            function=call.function,
            args=tuple(
                self._argument(a, value=not i and call.user is None and call.function != "ntile")
                for i, a in enumerate(call.args)
            ),
            partition_by=tuple(self._column(k, key=True) for k in window.partition_by),
            order_by=tuple(map(self._order, window.order_by)),
            frame=None
            if frame is None
            else BoundFrame(frame.units, self._bound(frame.start), self._bound(frame.end), frame.exclude),
            filter=None if call.condition is None else self._column(call.condition),
            distinct=call.is_distinct,
            ignore_nulls=call.nulls_ignored,
            argument_order=tuple(map(self._order, call.argument_order)),
            min_rows=window.min_rows,
            user=call.user,
            name=name,
            display=self.display,
        )

    def _argument(self, expression: Expr, *, value: bool = False) -> Argument:
        """Bind an argument; a decimal that is the ``value`` of a call is a column of its own type, as in Spark."""
        if isinstance(expression, Literal):
            literal = self._literal(expression.value)
            if value and isinstance(literal, Interval) and literal.months and self.host != "spark":
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
        """Give the name of the column that holds an expression, making a temporary one where there is none."""
        scalar: Scalar
        if isinstance(expression, Call):
            scalar = Column(place(expression))
        elif isinstance(expression, Derived):
            scalar = expression.expression
        else:
            assert not isinstance(expression, Item)
            scalar = expression
            if isinstance(scalar, Literal):
                scalar = Literal(self._literal(scalar.value), scalar.text)
        index = None
        if isinstance(scalar, Host):
            self.check_host(scalar)
            across = [f for f in scalar.other_rows if f != "Over"]
            if across and self.partitioned and not key:
                raise UnsupportedError(
                    f"{self.display}: {scalar} reads other rows than its own ({', '.join(across)}), those of other "
                    "partitions among them; write .over(keys) in it, or a window call in place of it"
                )
            index = self.locate(scalar.value) if self.locate is not None else None
        elif isinstance(scalar, Column):
            index = self._find(scalar.name)
            if index is None:
                other = self.fallback(scalar.name) if self.fallback is not None else None
                if other is None:
                    unknown(scalar.name, self.columns.columns, self.display)
                else:
                    scalar = other
        if index is None:
            return self._temporary(scalar, str(expression))
        self.read.add(index)
        return self.names[index]

    def _find(self, name: str) -> int | None:
        found = self.columns.named(name)
        if len(found) > 1:
            ambiguous(name, found, self.display)
        return found[0] if found else None

    def _temporary(self, expression: Scalar, text: str) -> str:
        key = _key(expression)
        if key in self.made:
            return self.made[key]
        if self.taken is None:
            self.taken = {c.lower() for c in self.columns.columns}
        name = self.made[key] = fresh(f"__windrow_{len(self.temporaries)}", self.taken)
        self.temporaries.append(Temporary(name, expression, text))
        return name

    def check_host(self, expression: Host) -> None:
        if expression.host == self.host:
            return
        if self.host == "spark":
            raise SpecError(
                f"{self.display}: {expression} is a Polars expression, which Spark cannot evaluate; "
                "write wr.expr('SQL') or a PySpark Column"
            )
        raise SpecError(
            f"{self.display}: {expression} is a PySpark Column, and the frame is not Spark's; "
            "write wr.expr('SQL') or a Polars expression"
        )


def scalars(outputs: Sequence[Output], columns: Sequence[str], *, host: str = "polars") -> list[Temporary]:
    """Give the expressions over calls that the host must evaluate last.

    Parameters
    ----------
    outputs
        What the user asked for.
    columns
        The working frame's columns: the input's, and the calls' places.
    host
        Whose expressions the host of the frame evaluates, beside SQL.

    Returns
    -------
    list of Temporary
        One for each output that is an expression over calls, by the output's name.

    Raises
    ------
    SpecError
        For an expression of another host.
    """
    binder = _Binder(Names(columns, folded=False), list(columns), host, None, None)
    made = []
    for output in outputs:
        if isinstance(output.item, Derived):
            binder.display = output.item.text
            if isinstance(output.item.expression, Host):
                binder.check_host(output.item.expression)
            made.append(Temporary(output.name, output.item.expression, output.item.text))
    return made


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
