"""When two answers are the same: one rule, what it lets pass, and the count of what was compared."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar

import pyarrow as pa

import windrow as wr
from support.random_calls import SUMS, VARIANCES, Ask


def equal(
    a: Any, b: Any, *, signed_zeros: bool = True, types: bool = True, rel: float = 0.0, absolute: float = 0.0
) -> bool:
    """Whether two values are the same. NaN is NaN; lists, structs and maps are compared by their parts.

    Without ``signed_zeros`` zeros of either sign are the same, and without ``types`` equal numbers of two types.
    Floats may differ by ``rel`` times the greater, or by ``absolute``.
    """
    if a is None or b is None:
        return a is b
    if type(a) is not type(b):
        if types:
            return False
        if isinstance(a, float) or isinstance(b, float):
            a, b = float(a), float(b)
    if isinstance(a, float):
        if math.isnan(a) or math.isnan(b):
            return math.isnan(a) and math.isnan(b)
        if signed_zeros and a == b == 0:
            return math.copysign(1, a) == math.copysign(1, b)
        return math.isclose(a, b, rel_tol=rel, abs_tol=absolute)
    parts = partial(equal, signed_zeros=signed_zeros, types=types, rel=rel, absolute=absolute)
    if isinstance(a, (list, tuple)) and isinstance(b, (list, tuple)):
        return len(a) == len(b) and all(map(parts, a, b))
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(parts(a[k], b[k]) for k in a)
    return a == b


#: The same but for a float's last bits, and whatever type a number has.
equal_loosely = partial(equal, signed_zeros=False, types=False, rel=1e-9, absolute=1e-12)
#: The very same, but for the sign of zeros, which does not show in an order.
equal_unsigned = partial(equal, signed_zeros=False)


def within_error_bound(a: Any, b: Any, function: str, scale: tuple[int, float]) -> bool:
    """Whether two floats agree as far as the frame's own values, ``scale``, allow."""
    if not (isinstance(a, float) and isinstance(b, float)):
        return False
    rows, greatest = scale
    if not (math.isfinite(a) and math.isfinite(b) and math.isfinite(greatest)):
        return equal(a, b)
    ulp = 2.0**-51 * max(rows, 1)
    if function in SUMS:
        return abs(a - b) <= ulp * rows * greatest
    if "std" in function:
        a, b = a * a, b * b
    return abs(a - b) <= 4 * ulp * rows * greatest * greatest


def magnitudes(values: pa.ChunkedArray) -> list[float | None]:
    """Give how far from zero the numbers are that are added up; those of times in seconds."""
    if pa.types.is_timestamp(values.type):
        return [None if v is None else abs(v / 1e6) for v in values.cast(pa.int64()).to_pylist()]
    return [None if v is None else abs(float(v)) for v in values.to_pylist()]


#: For each row, by ``id``: how many values its frame has at most, and how great they are at most.
Scale = dict[int, tuple[int, float]]
#: Gives that for each of some calls over a table, without windrow.
Scales = Callable[[list["Ask"], pa.Table], list[Scale]]


def scales_by(run: Callable[[pa.Table, list[str]], pa.Table]) -> Scales:
    """Have the other engine say what the frames hold: ``run`` answers SQL items over a table, by their names."""

    def scales(asks: list[Ask], data: pa.Table) -> list[Scale]:
        items = []
        for i, ask in enumerate(asks):
            data = data.append_column(f"magnitude{i}", pa.array(magnitudes(data[ask.argument]), pa.float64()))
            where = f" FILTER (WHERE {ask.filtered})" if ask.filtered else ""
            items += [f"{f}(magnitude{i}){where} {ask.window} AS {f}{i}" for f in ("count", "max")]
        out = run(data, ["id", *items]).to_pydict()
        return [
            {row: (n, m or 0.0) for row, n, m in zip(out["id"], out[f"count{i}"], out[f"max{i}"], strict=True)}
            for i in range(len(asks))
        ]

    return scales


def partition_scales(asks: list[Ask], data: pa.Table) -> list[Scale]:
    """Say what each row's whole partition holds, where no other engine is at hand."""
    made = []
    for ask in asks:
        found = re.search(r"PARTITION BY (.+?)(?= ORDER BY | ROWS | RANGE | GROUPS |\)\Z)", ask.window)
        columns = [data[name].to_pylist() for name in found[1].split(", ")] if found else []
        # zeros of either sign are one key, and so are NaNs
        keys = [repr([v + 0.0 if isinstance(v, float) else v for v in key]) for key in zip(*columns, strict=True)]
        keys = keys or [""] * data.num_rows
        sizes = dict.fromkeys(keys, (0, 0.0))
        for key, magnitude in zip(keys, magnitudes(data[ask.argument]), strict=True):
            if magnitude is not None and math.isfinite(magnitude):
                rows, greatest = sizes[key]
                sizes[key] = rows + 1, max(greatest, magnitude)
        made.append(dict(zip(data["id"].to_pylist(), map(sizes.__getitem__, keys), strict=True)))
    return made


def close_to(a: Any, b: Any, *, share: float = 1e-7) -> bool:
    """Whether two floats agree as far as sums of differences of tame numbers let them."""
    if not (isinstance(a, float) and isinstance(b, float)) or not (math.isfinite(a) and math.isfinite(b)):
        return equal_unsigned(a, b)
    return abs(a - b) <= share * max(1.0, abs(a), abs(b))


def _as_double(value: Any) -> float:
    return float(value[0] if isinstance(value, tuple) else value)


def _as_set(values: Any) -> Any:
    return sorted(values, key=repr) if isinstance(values, list) else values


#: How two answers are compared where "the very same" is not the rule.
RULES: dict[str, Callable[[Any, Any], bool]] = {
    "near": close_to,
    "deep": equal_unsigned,
    # sets have no order that engines share
    "set": lambda a, b: equal_unsigned(_as_set(a), _as_set(b)),
    # a sketch may be wrong where we count
    "sketch": lambda a, b: a is b if a is None or b is None else abs(a - b) <= max(2, 0.15 * a),
    # a sketch that passes its values through doubles
    "double": lambda a, b: equal_unsigned(a, b) or (None not in (a, b) and _as_double(a) == _as_double(b)),
    # a NaN where there is no answer
    "nan": lambda a, b: close_to(*(None if isinstance(v, float) and math.isnan(v) else v for v in (a, b))),
    # the other engine has no list where ours is empty
    "list": lambda a, b: equal_unsigned(a, [] if b is None else b),
}


def listed(column: pa.ChunkedArray) -> list[Any]:
    """Give a column, once all that Arrow promises of it is found true, as Python values; times as stored integers."""
    column.validate(full=True)
    if pa.types.is_nested(column.type):
        return column.to_pylist()
    if pa.types.is_temporal(column.type):
        whole = pa.int32() if column.type.bit_width == 32 else pa.int64()
        return [None if v is None else (v,) for v in column.cast(whole).to_pylist()]
    return column.to_pylist()


class Answers:
    """The comparison of two engines' columns; remembers what it compared and collects what differs."""

    #: Calls compared and found different, by engine, over the whole run.
    totals: ClassVar[dict[str, list[int]]] = {}

    def __init__(self, engine: str, scales: Scales = partition_scales) -> None:
        self.engine = engine
        self.scales = scales
        self.compared = 0
        self.answered = 0
        self.values = 0
        self.faults: list[str] = []
        #: Sums that are not the very same, and the rows in question: what their frames hold is asked once, at the end.
        self.pending: list[tuple[Ask, list[Any], list[Any], pa.Table, list[int], list[int]]] = []

    def fault(self, ask: Ask, what: str) -> None:
        self.faults.append(f"{ask.text}\n    {what}")

    def check(self, ask: Ask, ours: list[Any], theirs: list[Any], data: pa.Table, ids: list[int]) -> None:
        """Compare two columns, given in the order of ``ids``."""
        self.compared += 1
        self.answered += 1
        self.values += len(ours)
        agree = RULES.get(ask.rule) or partial(equal, signed_zeros=ask.total)
        wrong = [i for i, (a, b) in enumerate(zip(ours, theirs, strict=True)) if not agree(a, b)]
        floats = all(isinstance(v, float) for i in wrong for v in (ours[i], theirs[i]))
        if wrong and floats and ask.function in (*SUMS, *VARIANCES):
            self.pending.append((ask, ours, theirs, data, ids, wrong))
        elif wrong:
            self._add_difference(ask, ours, theirs, ids, wrong)

    def _add_difference(self, ask: Ask, ours: list[Any], theirs: list[Any], ids: list[int], wrong: list[int]) -> None:
        shown = [f"id {ids[i]}: ours {ours[i]!r}, theirs {theirs[i]!r}" for i in wrong[:3]]
        self.fault(ask, f"{len(wrong)} of {len(ours)} rows differ; " + "; ".join(shown))

    def conclude(self) -> list[str]:
        """Give what differs, once sums have been looked at that are not the very same."""
        pending, self.pending = self.pending, []
        for data in {id(data): data for _, _, _, data, _, _ in pending}.values():
            of_data = [each for each in pending if each[3] is data]
            scales = self.scales([ask for ask, *_ in of_data], data)
            for (ask, ours, theirs, _, ids, wrong), scale in zip(of_data, scales, strict=True):
                left = [i for i in wrong if not within_error_bound(ours[i], theirs[i], ask.function, scale[ids[i]])]
                if left:
                    self._add_difference(ask, ours, theirs, ids, left)
        return self.faults

    @classmethod
    def add(cls, engine: str, compared: int, different: int) -> None:
        """Add to the counts of the whole run."""
        total = cls.totals.setdefault(engine, [0, 0])
        total[0] += compared
        total[1] += different

    def settle(self, least: int) -> None:
        """Add up what was compared; fail where anything differs, or both answer fewer than ``least`` calls."""
        self.add(self.engine, self.compared, len(self.conclude()))
        assert not self.faults, self.report()
        assert self.answered >= least, f"{self.answered} of {self.compared} calls were answered by both"

    def report(self) -> str:
        return f"{len(self.faults)} of {self.compared} calls differ:\n" + "\n".join(self.faults[:40])


def compare_with_memory(answers, table, asks, out, how):
    """Compare answers with those in memory; ``how`` says how they came about."""
    ids = sorted(table["id"].to_pylist())
    expected = wr.select(table, "id", {f"c{i}": ask.text for i, ask in enumerate(asks)}).sort_by("id")
    out = out.sort_by("id")
    assert out["id"].to_pylist() == ids, how
    for i, ask in enumerate(asks):
        ask = replace(ask, text=f"{ask.text} with {how}")
        ours, theirs = out[f"c{i}"].cast(expected[f"c{i}"].type), expected[f"c{i}"]
        answers.check(ask, listed(ours), listed(theirs), table, ids)
