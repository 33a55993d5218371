"""Which calls of one level run together: as few exchanges as possible, on keys that serve as many calls as possible.

    calls' keys      {a, b}  {b, c}  {c, a}  {c}          rows that agree on c agree on every set that c is in,
    hit by           {b}, {c}: two exchanges              so one exchange on c serves each call with c among its keys
    stages           on a, b: {a, b}     on c: the rest

Calls can share an exchange if their partition keys have a column in common. So the fewest exchanges are the fewest
columns of which every call has one: a minimum hitting set. It is found exactly; calls are few, and most sets are
contained in others.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import count, islice

from ..._model.replace import replace

__all__ = ["Stage", "cover", "stages"]

# Compare at most this many minimum hitting sets.
_MAX_HITTING_SETS = 64


@dataclass(frozen=True, slots=True)
class Stage:
    """Calls that run together.

    Parameters
    ----------
    keys
        The columns of the exchange, all of which are partition keys of every call; none: all rows in one task.
    calls
        Which calls of the level, by position.
    is_colocated
        Whether rows of equal keys are in one task already, so that no exchange is needed.
    """

    keys: tuple[str, ...]
    calls: tuple[int, ...]
    is_colocated: bool = False


def stages(
    sets: Sequence[frozenset[str]],
    later: Sequence[frozenset[str]],
    surviving_columns: Collection[str],
    clustered: Sequence[str] | None,
) -> list[Stage]:
    """Group the calls of a level.

    Parameters
    ----------
    sets
        The partition keys of each of the level's calls.
    later
        Those of the next level, which need no exchange if the last one of this level satisfies them.
    surviving_columns
        The columns that both levels have.
    clustered
        The columns by which the input rows are clustered: rows equal in them are in one task.

    Returns
    -------
    list of Stage
        In the order in which they run: first those that need no exchange.
    """
    satisfied_stages: list[Stage] = []
    satisfied = [i for i, keys in enumerate(sets) if _satisfies(clustered, keys)]
    if satisfied and clustered is not None:
        satisfied_stages.append(Stage(tuple(clustered), tuple(satisfied), is_colocated=True))
    rest = [i for i in range(len(sets)) if i not in satisfied]
    new_stages = [
        Stage(tuple(sorted(shared)), tuple(rest[i] for i in members))
        for shared, members in cover([sets[i] for i in rest])
    ]
    return satisfied_stages + _choose_last(later, new_stages, frozenset(surviving_columns))


def cover(sets: Sequence[frozenset[str]]) -> list[tuple[frozenset[str], list[int]]]:
    """Assign sets of keys to as few groups as possible, so that the sets of a group have columns in common.

    Parameters
    ----------
    sets
        The partition keys of each call. Empty ones make a group of their own.

    Returns
    -------
    list of (keys, positions)
        What the sets of each group have in common, and which they are. Of all smallest answers the one whose shortest
        common keys are longest: rows spread the better, the more columns they are spread by.
    """
    keyed = [i for i, keys in enumerate(sets) if keys]
    smallest = sorted({sets[i] for i in keyed}, key=lambda s: (len(s), sorted(s)))
    smallest = [s for s in smallest if not any(other < s for other in smallest)]
    chosen: list[tuple[str, ...]] = []
    for size in count():
        chosen = list(islice(_hitting(smallest, (), size), _MAX_HITTING_SETS))
        if chosen:
            break
    groups = max((_assign_sets(sets, keyed, columns) for columns in chosen), key=_key_counts)
    unkeyed = [i for i, keys in enumerate(sets) if not keys]
    if unkeyed:
        groups.append((frozenset(), unkeyed))
    return sorted(groups, key=lambda g: g[1])


def _satisfies(clustered: Sequence[str] | None, keys: frozenset[str]) -> bool:
    """Whether rows of equal keys are in one task. One task with all rows counts only for calls without keys."""
    return clustered is not None and (not keys if not clustered else keys.issuperset(clustered))


def _hitting(sets: Sequence[frozenset[str]], chosen: tuple[str, ...], size: int) -> Iterator[tuple[str, ...]]:
    """Give sets of columns, of a size at most, of which every set has one."""
    not_hit = [s for s in sets if s.isdisjoint(chosen)]
    if not not_hit:
        yield chosen
        return
    disjoint: list[frozenset[str]] = []  # each of these needs a column of its own
    for one in not_hit:
        if all(one.isdisjoint(other) for other in disjoint):
            disjoint.append(one)
    if len(disjoint) > size:
        return
    for column in sorted(not_hit[0]):
        yield from _hitting(not_hit, (*chosen, column), size - 1)


def _assign_sets(
    sets: Sequence[frozenset[str]], members: Sequence[int], columns: Sequence[str]
) -> list[tuple[frozenset[str], list[int]]]:
    """Give each set to one of the columns in it, so that what the sets of a column have in common stays long."""
    shared: dict[str, frozenset[str]] = {}
    groups: dict[str, list[int]] = {}
    for index in sorted(members, key=lambda i: (len(sets[i].intersection(columns)), i)):
        keys = sets[index]
        column = max((c for c in columns if c in keys), key=lambda c: len(shared.get(c, keys) & keys))
        shared[column] = shared.get(column, keys) & keys
        groups.setdefault(column, []).append(index)
    return [(shared[c], sorted(groups[c])) for c in groups]


def _key_counts(groups: Sequence[tuple[frozenset[str], list[int]]]) -> list[int]:
    return sorted(len(shared) for shared, _ in groups)


def _choose_last(
    later: Sequence[frozenset[str]], stages_so_far: list[Stage], surviving_columns: frozenset[str]
) -> list[Stage]:
    """Move that stage last, with those keys, whose exchange saves the next level most exchanges."""
    if not later or not stages_so_far:
        return stages_so_far

    def remaining_exchanges(keys: frozenset[str]) -> int:
        if not keys <= surviving_columns:
            return len(later) + 1
        return len(cover([k for k in later if not _satisfies(tuple(keys), k)]))

    options = []
    for position, stage in enumerate(stages_so_far):
        full = frozenset(stage.keys)
        for keys in dict.fromkeys([full, *(full & k for k in later if full & k)]):
            options.append((remaining_exchanges(keys), -len(keys), position, keys))
    _, _, position, keys = min(options, key=lambda o: o[:3])
    last = replace(stages_so_far[position], keys=tuple(k for k in stages_so_far[position].keys if k in keys))
    return [*stages_so_far[:position], *stages_so_far[position + 1 :], last]
