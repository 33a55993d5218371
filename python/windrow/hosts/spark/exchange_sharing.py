"""Which calls of one level run together: as few exchanges as possible, on keys that serve as many calls as possible.

    calls' keys      {a, b}  {b, c}  {c, a}  {c}          rows that agree on c agree on every set that c is in,
    hit by           {b}, {c}: two exchanges              so one exchange on c serves each call with c among its keys
    stages           on a, b: {a, b}     on c: the rest

Calls can share an exchange if their partition keys have a column in common. So the fewest exchanges are the fewest
columns of which every call has one: a minimum hitting set. It is found exactly; calls are few, and most sets are
contained in others.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import count, islice

from ..._model.replace import replace
from ..._plan.bound import BoundCall

__all__ = ["Stage", "cover", "stages"]

# Of so many smallest answers the one with the longest keys is taken: enough for any question that people write.
_LOOKED_AT = 64


@dataclass(frozen=True, slots=True)
class Stage:
    """Calls that run together.

    Parameters
    ----------
    keys
        The columns of the exchange, all of which are partition keys of every call; none: all rows in one task.
    calls
        Which calls of the level, by position.
    arrived
        Whether the rows are where they must be already, so that no exchange is needed.
    """

    keys: tuple[str, ...]
    calls: tuple[int, ...]
    arrived: bool = False


def stages(
    calls: Sequence[BoundCall],
    later: Sequence[BoundCall],
    lasting: Sequence[str],
    clustered: Sequence[str] | None,
) -> list[Stage]:
    """Group the calls of a level.

    Parameters
    ----------
    calls
        The level's calls.
    later
        Those of the next level, which can go without an exchange where the last one of this level serves them.
    lasting
        The columns that both levels have.
    clustered
        By which columns the rows are clustered as they come, so that rows that agree on them are in one task.

    Returns
    -------
    list of Stage
        In the order in which they run: first those that need no exchange.
    """
    sets = [frozenset(c.partition_by) for c in calls]
    made: list[Stage] = []
    served = [i for i, keys in enumerate(sets) if _serves(clustered, keys)]
    if served and clustered is not None:
        made.append(Stage(tuple(clustered), tuple(served), arrived=True))
    rest = [i for i in range(len(sets)) if i not in served]
    order = {k: i for i, k in enumerate(dict.fromkeys(k for c in calls for k in c.partition_by))}
    fresh = [
        Stage(tuple(sorted(shared, key=order.__getitem__)), tuple(rest[i] for i in members))
        for shared, members in cover([sets[i] for i in rest])
    ]
    return made + _last_for([frozenset(c.partition_by) for c in later], fresh, frozenset(lasting))


def cover(sets: Sequence[frozenset[str]]) -> list[tuple[frozenset[str], list[int]]]:
    """Share sets of keys out among as few groups as possible, the sets of each having columns in common.

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
        chosen = list(islice(_hitting(smallest, (), size), _LOOKED_AT))
        if chosen:
            break
    groups = max((_shared_out(sets, keyed, columns) for columns in chosen), key=_spread)
    alone = [i for i, keys in enumerate(sets) if not keys]
    if alone:
        groups.append((frozenset(), alone))
    return sorted(groups, key=lambda g: g[1])


def _serves(clustered: Sequence[str] | None, keys: frozenset[str]) -> bool:
    """Whether rows that agree on all keys are in one task. One task of all rows serves only calls that need just it."""
    return clustered is not None and (not keys if not clustered else keys.issuperset(clustered))


def _hitting(sets: Sequence[frozenset[str]], chosen: tuple[str, ...], size: int) -> Iterator[tuple[str, ...]]:
    """Give sets of columns, of a size at most, of which every set has one."""
    missed = [s for s in sets if s.isdisjoint(chosen)]
    if not missed:
        yield chosen
        return
    apart: list[frozenset[str]] = []  # each of these needs a column of its own
    for one in missed:
        if all(one.isdisjoint(other) for other in apart):
            apart.append(one)
    if len(apart) > size:
        return
    for column in sorted(missed[0]):
        yield from _hitting(missed, (*chosen, column), size - 1)


def _shared_out(
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


def _spread(groups: Sequence[tuple[frozenset[str], list[int]]]) -> list[int]:
    return sorted(len(shared) for shared, _ in groups)


def _last_for(later: Sequence[frozenset[str]], made: list[Stage], lasting: frozenset[str]) -> list[Stage]:
    """Let that stage come last, on those keys, whose exchange spares the next level most."""
    if not later or not made:
        return made

    def left(keys: frozenset[str]) -> int:
        if not keys <= lasting:
            return len(later) + 1
        return len(cover([k for k in later if not _serves(tuple(keys), k)]))

    options = []
    for position, stage in enumerate(made):
        full = frozenset(stage.keys)
        for keys in dict.fromkeys([full, *(full & k for k in later if full & k)]):
            options.append((left(keys), -len(keys), position, keys))
    _, _, position, keys = min(options, key=lambda o: o[:3])
    last = replace(made[position], keys=tuple(k for k in made[position].keys if k in keys))
    return [*made[:position], *made[position + 1 :], last]
