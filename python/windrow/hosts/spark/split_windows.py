"""Windows of an optimized plan whose partitions are split across tasks: which these are, and by what ranges."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyspark.sql.types as T  # noqa: N812 - its usual name

from ..._execute.level import Level
from ..._execute.stream import Operator
from ..._model.catalog import function_of
from ..._model.names import unique_names
from ..._plan.bound import BoundCall, SortKey
from .exchanges import evenly_hashed
from .jvm import python_function
from .split_two_pass import HIDDEN, PACKED_SCHEMA, SUMMARY_SCHEMA, FirstPass, SecondPass, pack_summaries

__all__ = ["MAP_ARROW", "NO_KEYS", "Split", "is_worth_splitting", "ordering", "split_of", "split_refusal", "split_step"]

#: What mapInArrow's functions are called in Spark's protocol.
MAP_ARROW = 207
#: Why windows of all rows are split.
NO_KEYS = "as there is no PARTITION BY"

# Over fewer bytes a window of all rows is computed in one task: splitting it costs more.
_SPLIT_BYTES = 32 << 20
# Below these a node has few rows.
_LIMITS = frozenset(["GlobalLimit", "LocalLimit", "Offset", "Tail", "WindowGroupLimit"])


def is_worth_splitting(chain: Mapping[str, Any]) -> bool:
    """Whether windows of all rows, where a chain has them, are worth being split across tasks."""
    return chain["bytes"] > _SPLIT_BYTES and not _LIMITS & set(chain["kinds"])


def split_refusal(level: Level, *, is_repeatable: bool) -> str | None:
    """Say why the partitions of a call are not split across tasks.

    Parameters
    ----------
    level
        The call alone.
    is_repeatable
        Whether its rows can be read twice where they are, in one order.

    Returns
    -------
    str or None
        The reason; empty where nobody needs to hear it, None if they can be split.
    """
    [call] = level.step.calls
    if call.partition_by and not call.order_by:
        return ""  # one state a partition
    if not call.order_by and not is_repeatable and _depends_on_arrival(call):
        return "without ORDER BY its rows stay in the order in which they come"
    return level.section_refusal()


def _depends_on_arrival(call: BoundCall) -> bool:
    """Whether the results of a call without ORDER BY depend on the order in which rows come."""
    known, frame = function_of(call.function), call.frame
    if known is None or known.order_sensitivity == "rows":
        return True
    is_whole = frame is None or (frame.start.kind, frame.end.kind) == ("unbounded_preceding", "unbounded_following")
    return not is_whole and frame is not None and frame.units == "rows"  # all rows are peers


def ordering(keys: Sequence[SortKey], names: Sequence[str]) -> list[dict[str, Any]]:
    """Say to the JVM by which columns of a stage rows are sorted."""
    return [{"column": names.index(k.column), "descending": k.descending, "nulls_first": k.nulls_first} for k in keys]


@dataclass(frozen=True, slots=True)
class Split:
    """How partitions are split.

    Parameters
    ----------
    keys
        Rows of equal keys are in one task, and tasks come in the order of the keys; none: any rows.
    tasks
        Over how many; None: the rows stay where they are read.
    reason
        Why.
    """

    keys: tuple[SortKey, ...]
    tasks: int | None
    reason: str

    def __str__(self) -> str:
        """Say it as ``explain`` does."""
        columns = ", ".join(dict.fromkeys(k.column for k in self.keys))
        by = f"ranges of {columns}" if columns else "equal shares"
        where = "as the rows are read" if self.tasks is None else f"{by} over {self.tasks} tasks"
        return f"{where}, {self.reason}, read twice"


def split_of(calls: Sequence[BoundCall], tasks: int, reason: str, *, is_repeatable: bool) -> Split:
    """Say how the partitions of calls that one sort serves are split.

    Parameters
    ----------
    calls
        The calls.
    tasks
        Over how many tasks.
    reason
        Why they are split.
    is_repeatable
        Whether their rows can be read twice where they are.

    Returns
    -------
    Split
        The ranges.
    """
    # equal keys of the shortest order are peers of some call, and belong together
    shortest = min((c for c in calls if c.order_by), key=lambda c: len(c.order_by), default=None)
    keys = () if shortest is None else tuple(shortest.sort_keys())
    return Split(keys, None if is_repeatable and not keys else tasks, reason)


def split_step(
    split: Split,
    operator: Operator,
    make_reader: Callable[[Sequence[str]], Operator],
    calls: Sequence[BoundCall],
    schema: T.StructType,
    first_function: int,
) -> tuple[dict[str, Any], SecondPass, list[Any]]:
    """Say to the JVM how a stage is split.

    Parameters
    ----------
    split
        The ranges.
    operator
        The operator of the stage.
    make_reader
        Makes that of the same calls over some of its columns.
    calls
        The calls.
    schema
        The columns that come to the stage.
    first_function
        The number of the first function that is added.

    Returns
    -------
    tuple
        What is said; what the tasks run in the second reading, in the place of the operator; and the functions of the
        first reading.
    """
    names = schema.names
    read = {n for c in calls for n in c.columns_read()} or {names[0]}
    columns = [n for n in names if n in read]
    functions = {"windrow_summaries": SUMMARY_SCHEMA, "windrow_joined": PACKED_SCHEMA}
    step: dict[str, Any] = {
        "tasks": split.tasks,
        "order": ordering(split.keys, names),
        "hashed": [] if split.keys else [names.index(n) for n in evenly_hashed(schema)],
        "read": [names.index(n) for n in columns],
        "names": unique_names([*names, *HIDDEN], case_insensitive=True)[-len(HIDDEN) :],
        "functions": [
            {"name": name, "function": i, "type": given.json(), "eval_type": MAP_ARROW, "gathered": i > first_function}
            for i, (name, given) in enumerate(functions.items(), first_function)
        ],
    }
    first = python_function(FirstPass(make_reader(columns)), SUMMARY_SCHEMA)
    return step, SecondPass(operator), [first, python_function(pack_summaries, PACKED_SCHEMA)]
