"""How far float sums, means and deviations over small frames are from the exact ones, on data that provokes errors.

The exact result is made of fractions. A frame that holds an infinity or a NaN is not judged, nor one whose sum is
beyond the greatest float; the frames after it are.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Context, Decimal, localcontext
from fractions import Fraction
from itertools import accumulate

import numpy as np
import polars as pl
import pyarrow as pa

import windrow as wr

from .cases import Case
from .engines import Engine

__all__ = ["DATA", "FUNCTIONS", "LIMIT", "Errors", "exact", "judge", "measure"]

#: What windrow's sums and means may be off by, in units in the last place.
LIMIT = 4.0
FUNCTIONS = ("sum", "avg", "stddev_samp")
_POLARS = {"sum": ("rolling_sum", 1), "avg": ("rolling_mean", 1), "stddev_samp": ("rolling_std", 2)}
_GREATEST = Fraction(np.finfo(np.float64).max.item())


@dataclass(frozen=True)
class Errors:
    """The greatest errors of an engine's function on one set of data."""

    data: str
    function: str
    engine: str
    ulps: float
    absolute: float
    zeros: int
    of_zeros: int

    @property
    def failed(self) -> bool:
        """Whether windrow may not err like this."""
        return self.function != "stddev_samp" and (self.ulps > LIMIT or self.zeros > 0)

    def __str__(self) -> str:
        """Give the cell of the table."""
        zeros = f", zeros {self.zeros} of {self.of_zeros}" if self.zeros else ""
        return f"{_short(self.ulps)} / {self.absolute:.1e}{zeros}"


def _short(ulps: float) -> str:
    return f"{ulps:.1f}" if ulps < 1000 else f"{ulps:.0e}"


def _data() -> dict[str, tuple[list[float], int]]:
    """Values by name, each with how many rows the frame has."""
    rng = np.random.default_rng(7)
    small = (rng.random(400) * 1e-3).tolist()
    signs = rng.choice([-1.0, 1.0], 2000)
    mixed = (signs * 10.0 ** rng.uniform(-8, 12, 2000)).tolist()
    zeros = [0.0] * 6
    return {
        "1e16, 1, -1e16": ([1e16, 1.0, -1e16, 1.0, 1.0, 1.0, *zeros] * 20, 3),
        "after a block of 1e12": ([*(1e12 * rng.standard_normal(60)).tolist(), *small], 50),
        "after inf": ([1.0, math.inf, *small[:60]], 2),
        "after -inf and inf": ([1.0, -math.inf, math.inf, *small[:60]], 5),
        "after NaN": ([1.0, math.nan, *small[:60]], 2),
        "after 1.7e308 twice": ([1.7e308, 1.7e308, *small[:60]], 2),
        "zeros after tenths": ([*([0.1, 0.2, 0.3, 0.7] * 5), *zeros, *zeros] * 5, 5),
        "1e-8 to 1e12": (mixed, 100),
        "1e9 + N(0, 1)": ((1e9 + rng.standard_normal(1000)).tolist(), 10),
    }


DATA = _data()


def exact(function: str, values: Sequence[float], width: int) -> Iterator[Fraction | None]:
    """Give each frame's result, correct to 50 digits; None where there is none or where it is not judged."""
    finite = [Fraction(value) if math.isfinite(value) else Fraction(0) for value in values]
    sums = [Fraction(0), *accumulate(finite)]
    squares = [Fraction(0), *accumulate(value * value for value in finite)]
    strange = [0, *accumulate(not math.isfinite(value) for value in values)]
    for row in range(len(values)):
        start, end = max(0, row + 1 - width), row + 1
        total, count = sums[end] - sums[start], end - start
        if strange[end] > strange[start] or abs(total) > _GREATEST or (function == "stddev_samp" and count < 2):
            yield None
        elif function == "sum":
            yield total
        elif function == "avg":
            yield total / count
        else:
            yield _root((squares[end] - squares[start] - total * total / count) / (count - 1))


def _root(value: Fraction) -> Fraction:
    with localcontext(Context(prec=50)):
        return Fraction((Decimal(value.numerator) / Decimal(value.denominator)).sqrt())


def judge(data: str, function: str, engine: str, results: Sequence[float | None]) -> Errors:
    """Hold an engine's results, in the order of the rows, against the exact ones."""
    values, width = DATA[data]
    ulps, absolute, zeros, of_zeros = 0.0, 0.0, 0, 0
    for result, truth in zip(results, exact(function, values, width), strict=True):
        if truth is None:
            continue
        if result is None or not math.isfinite(result):
            if float(truth) < math.inf:
                ulps = absolute = math.inf
            continue
        error = abs(Fraction(result) - truth)
        absolute = max(absolute, float(error))
        if truth == 0:
            of_zeros += 1
            zeros += result != 0.0
        else:
            ulps = max(ulps, float(error / Fraction(math.ulp(float(truth)))))
    return Errors(data, function, engine, ulps, absolute, zeros, of_zeros)


def _case(function: str, width: int) -> Case:
    name, samples = _POLARS[function]
    return Case(
        function,
        function,
        [f"{function}(x) OVER (ORDER BY ts ROWS BETWEEN {width - 1} PRECEDING AND CURRENT ROW)"],
        lambda: [getattr(wr, function)("x").over(wr.window(None, "ts", rows=(1 - width, 0)))],
        lambda: [getattr(pl.col("x"), name)(width, min_samples=samples).over(order_by="ts")],
    )


def measure(engines: Sequence[Engine]) -> Iterator[Errors]:
    """Ask every engine everything, and judge."""
    for data, (values, width) in DATA.items():
        table = pa.table({"ts": pa.array(range(len(values)), pa.int64()), "x": pa.array(values, pa.float64())})
        prepared = {engine.name: engine.prepare(table) for engine in engines}
        for function in FUNCTIONS:
            case = _case(function, width)
            for engine in engines:
                result = engine.run(prepared[engine.name], case, ids=True).sort_by("ts")
                yield judge(data, function, engine.name, result["r0"].to_pylist())
