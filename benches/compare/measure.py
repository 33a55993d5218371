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


def clock(runs: Mapping[str, Callable[[], Any]], repeat: int, budget: float = BUDGET) -> dict[str, list[float]]:
    """Time each engine's run, in turns, ``repeat`` times or until its budget of seconds is spent; at least once."""
    times: dict[str, list[float]] = {name: [] for name in runs}
    enabled = gc.isenabled()
    gc.disable()
    try:
        for _ in range(repeat):
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
