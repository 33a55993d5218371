"""The clock: engines alternate run after run in one process, so that a change of the machine's mood meets them all."""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable, Mapping
from typing import Any

__all__ = ["BUDGET", "clock", "median"]

#: Seconds after which an engine gets no further run of a case.
BUDGET = 6.0

#: A case whose runs have not taken so many seconds in all is run further, up to so many times as often: three runs of a
#: few milliseconds say little (the first meets memory nobody has touched, another a thread that came late).
ENOUGH = 4.0
FURTHER = 5


def clock(
    runs: Mapping[str, Callable[[], Any]], repeat: int, budget: float = BUDGET, enough: float = ENOUGH
) -> dict[str, list[float]]:
    """Time each engine's run, in turns, ``repeat`` times or until its ``budget`` of seconds is spent; at least once.

    Short runs go on, up to five times ``repeat``, until they have taken ``enough`` seconds in all.
    """
    times: dict[str, list[float]] = {name: [] for name in runs}
    enabled = gc.isenabled()
    gc.disable()
    try:
        for turn in range(FURTHER * repeat):
            if turn >= repeat and sum(map(sum, times.values())) >= enough:
                break
            for name, run in runs.items():
                spent = times[name]
                if spent and sum(spent) + min(spent) > budget:
                    continue
                start = time.perf_counter()
                result = run()
                spent.append(time.perf_counter() - start)
                del result
    finally:
        if enabled:
            gc.enable()
            gc.collect()
    return times


def median(times: list[float]) -> float:
    """Give the median in seconds."""
    return statistics.median(times)
