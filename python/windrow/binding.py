"""From what a user wrote to what the native module takes: items become outputs, calls become plain dicts.

Nothing here depends on the kind of frame. A host gives the names of its columns, and gets back which of them are read,
which expressions it must evaluate into temporary columns first, and where each output column goes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from ._model.calls import Call, Derived
from ._model.expressions import Column, Expr, Host, Item, Literal, Scalar, Sql
from ._model.names import ambiguous, columns_named, fresh, unique_names, unknown
from ._model.outputs import Output
from ._model.result_columns import place
from ._model.windows import Bound, Order
from .exceptions import SpecError

__all__ = ["BoundCalls", "Slot", "Temporary", "arrange", "bind", "scalars"]


@dataclass(frozen=True, slots=True)
class Slot:
    """Where one column of the result comes from: input column ``index``, or new column ``index``."""

    name: str
    new: bool
    index: int


@dataclass(frozen=True, slots=True)
class Temporary:
    """An expression that the host evaluates into a column.

    Parameters
    ----------
    name
        The column's name.
    expression
        What the host is given.
    text
        The expression as it was written.
    """

    name: str
    expression: Scalar
    text: str


def arrange(columns: Sequence[str], outputs: Sequence[Output], *, selecting: bool, folded: bool = False) -> list[Slot]:
    """Lay out the result's columns.

    Parameters
    ----------
    columns
        The frame's columns.
    outputs
        What was asked for.
    selecting
        For ``select`` only the outputs; otherwise all columns, one of the same name replaced in its place.
    folded
        Whether names differ regardless of case, as in Spark by default.

    Returns
    -------
    list of Slot
        The result's columns in order.
    """
    fold: Callable[[str], str] = str.lower if folded else str
    new = [o for o in outputs if o.item is not None]
    if selecting:
        slots: list[Slot] = []
        for output in outputs:
            if output.item is not None:
                slots.append(Slot(output.name, True, new.index(output)))
            else:
                source = output.name if output.column is None else output.column
                slots.extend(Slot(output.name, False, i) for i, c in enumerate(columns) if c == source)
        return slots
    by_name = {fold(o.name): i for i, o in enumerate(new)}
    replaced = {fold(c) for c in columns}
    slots = [
        Slot(new[by_name[fold(c)]].name, True, by_name[fold(c)]) if fold(c) in by_name else Slot(c, False, i)
        for i, c in enumerate(columns)
    ]
    return slots + [Slot(o.name, True, i) for i, o in enumerate(new) if fold(o.name) not in replaced]


@dataclass(frozen=True, slots=True)
class BoundCalls:
    """The calls of one plan, bound to the columns of one frame: plain data that pickles.

    Parameters
    ----------
    names
        A name for each of the frame's columns, unlike all others.
    read
        Which columns the calls read, by position.
    temporaries
        The expressions that the host must evaluate first.
    native
        The calls as the native module takes them.
    """

    names: list[str]
    read: list[int]
    temporaries: list[Temporary]
    native: list[dict[str, Any]]

    def beside(self, names: Sequence[str]) -> list[dict[str, Any]]:
        """Give the native calls with output names that differ from those of columns that stand beside them."""
        taken = {n.lower() for n in names}
        return [{**c, "name": fresh(c["name"], taken) if c["name"] in names else c["name"]} for c in self.native]


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
        Names, columns read, expressions to evaluate, and the calls in the native module's form.

    Raises
    ------
    SpecError
        For an unknown or ambiguous column, a call without a window, an expression of another host.
    """
    names = unique_names(columns, folded=folded, without=without)
    binder = _Binder(columns, names, host, folded, fallback, locate)
    native = [binder.lower(o.name, o.item) for o in outputs if isinstance(o.item, Call)]
    return BoundCalls(binder.names, sorted(binder.read), binder.temporaries, native)


@dataclass(slots=True)
class _Binder:
    columns: Sequence[str]
    names: list[str]
    host: str
    folded: bool
    fallback: Callable[[str], Scalar | None] | None
    locate: Callable[[Any], int | None] | None
    temporaries: list[Temporary] = field(default_factory=list)
    read: set[int] = field(default_factory=set)
    display: str = ""

    def lower(self, name: str, call: Call) -> dict[str, Any]:
        self.display = call.sql
        window = call.window
        if window is None:
            raise SpecError(f"{call.sql} has no window; write {call.sql}.over(wr.window(...)), or .over() for all rows")
        frame = window.frame
        return {
            "function": call.function,
            "user": call.user,
            "args": [self._argument(a) for a in call.args],
            "partition_by": [self._column(k) for k in window.partition_by],
            "order_by": [self._order(o) for o in window.order_by],
            "frame": frame
            and {
                "units": frame.units,
                "start": self._bound(frame.start),
                "end": self._bound(frame.end),
                "exclude": frame.exclude,
            },
            "filter": None if call.condition is None else self._column(call.condition),
            "distinct": call.is_distinct,
            "ignore_nulls": call.nulls_ignored,
            "argument_order": [self._order(o) for o in call.argument_order],
            "min_rows": window.min_rows,
            "name": name,
            "display": self.display,
        }

    def _argument(self, expression: Expr) -> dict[str, Any]:
        if isinstance(expression, Literal):
            return {"literal": expression.value}
        return {"column": self._column(expression)}

    def _order(self, order: Order) -> dict[str, Any]:
        return {"column": self._column(order.key), "descending": order.descending, "nulls_first": order.nulls_first}

    def _bound(self, bound: Bound) -> tuple[str, dict[str, Any] | None]:
        return bound.kind, None if bound.offset is None else self._argument(bound.offset)

    def _column(self, expression: Expr) -> str:
        """Give the name of the column that holds an expression, making a temporary one where there is none."""
        scalar: Scalar
        if isinstance(expression, Call):
            scalar = Column(place(expression))
        elif isinstance(expression, Derived):
            scalar = expression.expression
        else:
            assert not isinstance(expression, Item)
            scalar = expression
        index = None
        if isinstance(scalar, Host):
            self.check_host(scalar)
            index = self.locate(scalar.value) if self.locate is not None else None
        elif isinstance(scalar, Column):
            index = self._find(scalar.name)
            if index is None:
                other = self.fallback(scalar.name) if self.fallback is not None else None
                if other is None:
                    unknown(scalar.name, self.columns, self.display)
                else:
                    scalar = other
        if index is None:
            return self._temporary(scalar, str(expression))
        self.read.add(index)
        return self.names[index]

    def _find(self, name: str) -> int | None:
        found = columns_named(name, self.columns, folded=self.folded)
        if len(found) > 1:
            ambiguous(name, found, self.display)
        return found[0] if found else None

    def _temporary(self, expression: Scalar, text: str) -> str:
        for temporary in self.temporaries:
            if _same(temporary.expression, expression):
                return temporary.name
        name = fresh(f"__windrow_{len(self.temporaries)}", {c.lower() for c in self.columns})
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
    binder = _Binder(columns, list(columns), host, False, None, None)
    made = []
    for output in outputs:
        if isinstance(output.item, Derived):
            binder.display = output.item.text
            if isinstance(output.item.expression, Host):
                binder.check_host(output.item.expression)
            made.append(Temporary(output.name, output.item.expression, output.item.text))
    return made


def _same(one: Scalar, other: Scalar) -> bool:
    if isinstance(one, Host) and isinstance(other, Host):
        return one.value is other.value
    if isinstance(one, Sql) and isinstance(other, Sql):
        return one.text == other.text
    # literals are compared with their types: 1, 1.0 and True are equal in Python
    return type(one) is type(other) and repr(one) == repr(other)
