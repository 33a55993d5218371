"""Scalar expressions over window calls, and the levels in which calls inside calls are computed.

    v - lag(v) OVER w                    one call; then the host subtracts
    sum(row_number() OVER w) OVER w      row_number at level 0, sum at level 1

Each call has a place: the name of the column that will hold its result. Calls of one level read input columns and
places of lower levels; between two levels, and after the last one, the host evaluates the scalar expressions that read
places. A place is made of what its call is made of, so equal calls have one place and are computed once.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from functools import cache
from itertools import chain
from types import NoneType
from typing import Any

from .call import Call
from .exceptions import InternalError, SpecError
from .expr import SCALARS, Expr, Host, Item, Scalar, identifier
from .spec import Bound, Order
from .values import parts_of, replace

__all__ = ["Derived", "calls_in", "expressions_of", "inputs_of", "levels", "place", "rewritten", "without_places"]

_PLACE = "__windrow_w"

# Of these types repr tells which one it is.
_TOLD = frozenset((NoneType, bool, int, float, str))


@dataclass(frozen=True, slots=True, repr=False)
class Derived(Item):
    """A scalar expression over the results of window calls. Made of SQL text, or of a PySpark Column.

    Every method gives a new value and leaves this one as it is.

    Parameters
    ----------
    expression
        What the host evaluates once the calls are columns; it names them by their places.
    calls
        The calls by their places, which :func:`place` gives.
    text
        The expression as it was written, calls and all.
    name
        What ``.alias(...)`` was given.
    inputs
        Expressions over input columns alone, by the names that ``expression`` has for them. The host evaluates them on
        the frame as it came, which is where a Column bound to a DataFrame (``df.v``) has its meaning.
    """

    expression: Scalar
    calls: Mapping[str, Call]
    text: str
    name: str | None = None
    inputs: Mapping[str, Scalar] = field(default_factory=dict)

    def alias(self, name: str) -> Derived:
        """Name the column that the expression gives; without a name it is called by its SQL text.

        Parameters
        ----------
        name
            The column's name.

        Returns
        -------
        Derived
            The expression with the name.

        Examples
        --------
        >>> import windrow as wr
        >>> wr.expr("x - lag(x) OVER (ORDER BY t)").alias("step")
        x - lag(x) OVER (ORDER BY t) AS step
        """
        if not isinstance(name, str) or not name:
            raise SpecError(f"alias() takes a column's name, not {name!r}")
        return replace(self, name=name)

    @property
    def sql(self) -> str:
        """The expression as SQL text, without its name."""
        return self.text

    def __str__(self) -> str:
        """The expression as SQL text, without its name."""
        return self.text

    def __repr__(self) -> str:
        """The expression as SQL text."""
        return self.text if self.name is None else f"{self.text} AS {identifier(self.name)}"

    def __hash__(self) -> int:
        """Hash what equality compares and can be hashed."""
        return hash((self.text, self.name, frozenset(self.calls)))

    def __bool__(self) -> bool:
        """Refuse to be a condition, which an expression would silently always fulfil."""
        raise SpecError(f"{self!r} has no truth of its own; compute it with with_columns first")


def place(call: Call) -> str:
    """Name the column that will hold a call's result: the same name for equal calls, and for no others.

    Parameters
    ----------
    call
        The call; its alias does not matter.

    Returns
    -------
    str
        The name.
    """
    if call.place is None:
        at = _PLACE + hashlib.blake2b(_structure(call).encode(), digest_size=8).hexdigest()
        object.__setattr__(call, "place", at)
        return at
    return call.place


def without_places(message: str) -> str:
    """Give a host's message about an expression without the names of hidden columns, which no user has written."""
    return re.sub(f"{_PLACE}[0-9a-f]{{16}}", "a window call", message)


def _structure(call: Call) -> str:
    """Write a call down with the types of its literals: 1, 1.0 and True are equal in Python."""
    written: list[str] = []
    _writer(Call)(call, written.append)
    return "".join(written)


@cache
def _writer(kind: type) -> Callable[[Any, Callable[[str], Any]], Any]:
    """Say how values of a type are written down, which every call of every frame asks."""
    name = kind.__name__
    if kind is NoneType or issubclass(kind, SCALARS):
        return lambda value, write: write(f"{name} {value!r}")
    if issubclass(kind, tuple):
        return lambda values, write: _write(values, "", write)
    if issubclass(kind, Host):
        return lambda value, write: write(f"host {id(value.value)}")
    if is_dataclass(kind):
        # a call's alias does not matter
        parts = parts_of(tuple(f.name for f in fields(kind) if f.compare and not (kind is Call and f.name == "name")))
        return lambda value, write: _write(parts(value), name, write)
    if issubclass(kind, Mapping):
        return lambda value, write: _write(chain.from_iterable(value.items()), name, write)
    return lambda value, write: write(f"object {id(value)}")  # a user's function: it is itself, and no other


def _write(values: Iterable[Any], name: str, write: Callable[[str], Any]) -> None:
    write(f"{name}(")
    for value in values:
        kind: type = type(value)
        if kind in _TOLD:
            write(repr(value))
        else:
            _writer(kind)(value, write)
        write(",")
    write(")")


def expressions_of(call: Call) -> Iterator[Expr]:
    """Give all that a call reads: arguments, keys, argument order, filter and the frame's offsets.

    Parameters
    ----------
    call
        The call.

    Yields
    ------
    Expr
        Each expression, calls inside the call among them.
    """
    yield from call.args
    yield from (o.key for o in call.argument_order)
    if call.condition is not None:
        yield call.condition
    window = call.window
    if window is not None:
        yield from window.partition_by
        yield from (o.key for o in window.order_by)
        if window.frame is not None:
            yield from (b.offset for b in (window.frame.start, window.frame.end) if b.offset is not None)


def rewritten(call: Call, change: Callable[[Expr], Expr]) -> Call:
    """Give a call with other expressions in the place of all that it reads.

    Parameters
    ----------
    call
        The call.
    change
        Gives the other expression.

    Returns
    -------
    Call
        The new call.
    """

    def ordered(orders: Iterable[Order]) -> tuple[Order, ...]:
        return tuple(replace(o, key=change(o.key)) for o in orders)

    def bound(one: Bound) -> Bound:
        return one if one.offset is None else replace(one, offset=change(one.offset))

    window = call.window
    if window is not None:
        frame = window.frame
        window = replace(
            window,
            partition_by=tuple(map(change, window.partition_by)),
            order_by=ordered(window.order_by),
            frame=None if frame is None else replace(frame, start=bound(frame.start), end=bound(frame.end)),
        )
    return replace(
        call,
        args=tuple(map(change, call.args)),
        window=window,
        condition=None if call.condition is None else change(call.condition),
        argument_order=ordered(call.argument_order),
    )


def calls_in(item: Call | Derived | Expr) -> dict[str, Call]:
    """Give the calls whose results an item reads itself, by their places.

    Parameters
    ----------
    item
        A call (which is its own result), an expression over calls, or one that reads none.

    Returns
    -------
    dict
        Place to call.
    """
    if isinstance(item, Call):
        return {place(item): item}
    return dict(item.calls) if isinstance(item, Derived) else {}


def inputs_of(items: Iterable[Call | Derived | Expr]) -> dict[str, Scalar]:
    """Collect the expressions over input columns that items read by names of their own, however deep they stand."""
    found: dict[str, Scalar] = {}
    for item in items:
        if isinstance(item, Derived):
            found |= item.inputs
            found |= inputs_of(item.calls.values())
        elif isinstance(item, Call):
            found |= inputs_of(expressions_of(item))
    return found


def levels(items: Iterable[Call | Derived | Expr]) -> list[dict[str, Call]]:
    """Lay the calls of all items out in levels.

    Parameters
    ----------
    items
        What was asked for.

    Returns
    -------
    list of dict
        Place to call, for each level; a call reads input columns and places of lower levels.
    """
    found: list[dict[str, Call]] = []
    heights: dict[str, int] = {}
    for item in items:
        for at, call in calls_in(item).items():
            _lay(at, call, found, heights)
    return found


def _lay(at: str, call: Call, found: list[dict[str, Call]], heights: dict[str, int]) -> int:
    """Put a call, and first those inside it, into its level; give its height."""
    height = heights.get(at)
    if height is None:
        inner = [e for e in expressions_of(call) if isinstance(e, (Call, Derived))]
        below = [_lay(*pair, found, heights) for e in inner for pair in calls_in(e).items()]
        height = heights[at] = max(below, default=-1) + 1
        while len(found) <= height:
            found.append({})
        found[height][at] = call
    elif place(found[height][at]) != place(call):
        raise InternalError(f"{call.sql} and {found[height][at].sql} have one place, {at}")
    return height
