"""Calls of windrow's in a plan of Spark's, where they stand as aggregates (java/WindowCall.java).

    sum(x + 1) OVER (PARTITION BY k ...)     ->     WindowCall(x + 1) OVER (PARTITION BY k ...)

Spark sees what is read, and by which keys; a text that Python wrote says which call it is. Spark may change the
expressions below a call and those of its keys, so the call is bound anew where a plan is read.
"""

from __future__ import annotations

import base64
import pickle
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from ..._model.replace import replace
from ..._plan.bound import Argument, BoundCall, ColumnArgument, FrameBound
from ...settings import Options
from .catalyst_node import CatalystNode

__all__ = ["WindowCalls", "as_written", "bound_call"]


@dataclass(frozen=True, slots=True)
class WindowCalls:
    """What a plan carries as text.

    Parameters
    ----------
    calls
        The calls, with the names that the columns had.
    options
        The settings that were in force, with the session's.
    splits
        Why the partitions of each call are split across tasks; empty: where all rows are one partition, and many; None:
        never.
    strings
        The calls with a string that is a column's name.
    """

    calls: tuple[BoundCall, ...]
    options: Options
    splits: tuple[str | None, ...] = ()
    strings: tuple[tuple[str, str], ...] = ()

    def text(self) -> str:
        """Write them; functions of the user's may be closures."""
        from pyspark import cloudpickle

        return base64.b64encode(cloudpickle.dumps(self)).decode()  # type: ignore[no-untyped-call]


def as_written(expression: CatalystNode, texts: Sequence[str]) -> tuple[WindowCalls, int] | None:
    """Find the call that a window of a plan stands for.

    Parameters
    ----------
    expression
        A Catalyst ``WindowExpression``, or what Spark's optimizer made of one.
    texts
        The texts that the plan carries.

    Returns
    -------
    tuple of WindowCalls and int, or None
        The call's text and its place in it; None for a window of Spark's.
    """
    if expression.kind != "WindowExpression":
        return None
    function = expression["windowFunction"]
    if function.kind != "AggregateExpression" or function["aggregateFunction"].kind != "WindowCall":
        return None
    function = function["aggregateFunction"]
    return _loaded(texts[function["calls"]]), function["place"]


@lru_cache(maxsize=200)
def _loaded(text: str) -> WindowCalls:
    loaded: WindowCalls = pickle.loads(base64.b64decode(text))
    return loaded


def bound_call(call: BoundCall, expression: CatalystNode, name: Callable[[CatalystNode], str]) -> BoundCall:
    """Bind a call to the columns of the plan in which it is found.

    Parameters
    ----------
    call
        The call as it was written.
    expression
        The window that stands for it.
    name
        Gives the name of the column that holds an expression.

    Returns
    -------
    BoundCall
        The call, with those names.
    """
    function, spec = expression["windowFunction"]["aggregateFunction"], expression["windowSpec"]
    names = dict(zip(dict.fromkeys(call.values()), map(name, function["values"]), strict=True))

    def argument(written: Argument) -> Argument:
        return ColumnArgument(names[written.column]) if isinstance(written, ColumnArgument) else written

    def bound(written: FrameBound) -> FrameBound:
        return written if written.offset is None else replace(written, offset=argument(written.offset))

    frame = call.frame
    return replace(
        call,
        args=tuple(map(argument, call.args)),
        # a key of one value for all rows parts nothing
        partition_by=tuple(name(k) for k in spec["partitionSpec"] if k.constant is None),
        order_by=tuple(
            replace(written, column=name(found["child"]))
            for written, found in zip(call.order_by, spec["orderSpec"], strict=True)
        ),
        frame=None if frame is None else replace(frame, start=bound(frame.start), end=bound(frame.end)),
        filter=None if call.filter is None else names[call.filter],
        argument_order=tuple(replace(k, column=names[k.column]) for k in call.argument_order),
    )
