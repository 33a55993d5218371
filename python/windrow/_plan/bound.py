"""Calls bound to the columns of a frame, as plain data that pickles."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from .._model.expressions import Scalar
from .._model.names import fresh

__all__ = ["BoundCalls", "Temporary", "names_compared", "names_read", "sort_keys"]


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
        there, taken = set(names), {n.lower() for n in names}
        return [{**c, "name": fresh(c["name"], taken) if c["name"] in there else c["name"]} for c in self.native]


def names_read(call: dict[str, Any]) -> list[str]:
    """List the columns that a native call reads."""
    return [*_keys(call), *_values(call)]


def names_compared(calls: Sequence[dict[str, Any]]) -> set[str]:
    """List the columns of which native calls ask only which values are equal, or less."""
    read = {name for call in calls for name in _values(call)}
    # an offset is added to the key of such a frame
    read |= {o["column"] for call in calls if (call["frame"] or {}).get("units") == "range" for o in call["order_by"]}
    return {name for call in calls for name in _keys(call)} - read


def _keys(call: dict[str, Any]) -> list[str]:
    return [*call["partition_by"], *(o["column"] for o in call["order_by"])]


def _values(call: dict[str, Any]) -> list[str]:
    frame = call["frame"]
    arguments = (
        [*call["args"], *(b[1] for b in (frame["start"], frame["end"]) if b[1] is not None)] if frame else call["args"]
    )
    found = [a["column"] for a in arguments if "column" in a]
    found += [o["column"] for o in call["argument_order"]]
    return found + ([call["filter"]] if call["filter"] else [])


def sort_keys(call: dict[str, Any]) -> list[dict[str, Any]]:
    """List the keys by which the rows of a call must be sorted, partition keys first."""
    keys = [{"column": k, "descending": False, "nulls_first": True} for k in dict.fromkeys(call["partition_by"])]
    return [*keys, *call["order_by"]]
