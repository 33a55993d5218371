"""Which calls one order of the rows serves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

__all__ = ["by_order"]


def by_order(calls: Sequence[dict[str, Any]], members: Sequence[int]) -> list[tuple[int, ...]]:
    """Part calls into those that rows in one order serve: equal keys, and orders that begin alike.

    Parameters
    ----------
    calls
        Native calls.
    members
        Which of them.

    Returns
    -------
    list of tuple of int
        The first call of each has the longest order.
    """

    def ordered(call: dict[str, Any]) -> list[tuple[str, bool, bool]]:
        return [(o["column"], o["descending"], o["nulls_first"]) for o in call["order_by"]]

    parts: list[list[int]] = []
    for index in sorted(members, key=lambda i: -len(calls[i]["order_by"])):
        for part in parts:
            first = calls[part[0]]
            same = set(first["partition_by"]) == set(calls[index]["partition_by"])
            if same and ordered(first)[: len(calls[index]["order_by"])] == ordered(calls[index]):
                part.append(index)
                break
        else:
            parts.append([index])
    return [tuple(part) for part in parts]
