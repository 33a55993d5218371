"""Peak memory of one run beyond its input and its result, taken in a process of its own (Linux).

The process makes the table, runs the case on 1000 rows so that libraries are loaded, notes its resident size, has the
kernel forget the peak (``/proc/self/clear_refs``), runs once, and reads the peak.
"""

from __future__ import annotations

import ctypes
import gc
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa

from .engines import ENGINES, limit_threads

__all__ = ["available", "peak", "process_status"]

ROOT = Path(__file__).parents[2]


def available() -> bool:
    """Whether this system tells peaks and forgets them."""
    return os.access("/proc/self/clear_refs", os.W_OK)


def peak(suite: str, case: str, engine: str, shape: tuple[int, int, bool], threads: int) -> int | None:
    """Give the bytes that a run takes at its peak beyond input and result; None where the process failed."""
    asked = json.dumps({"suite": suite, "case": case, "engine": engine, "shape": shape, "threads": threads})
    done = subprocess.run(
        [sys.executable, "-m", "benches.compare.memory", asked], cwd=ROOT, capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        print(f"  no peak of {engine}: {done.stderr.strip().splitlines()[-1:]}", file=sys.stderr)
        return None
    return int(done.stdout)


def process_status(field: str) -> int:
    """Give the bytes of a field of this process's status."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(field + ":"):
            return int(line.split()[1]) * 1024
    raise KeyError(field)


def _buffers(table: pa.Table) -> dict[int, int]:
    """The bytes of each buffer by its address."""
    return {
        buffer.address: buffer.size
        for column in table.columns
        for chunk in column.chunks
        for buffer in chunk.buffers()
        if buffer is not None
    }


def _settle() -> None:
    """Give freed memory back, or the run would be served from it unseen."""
    gc.collect()
    pa.default_memory_pool().release_unused()
    try:
        ctypes.CDLL(None).malloc_trim(0)
    except AttributeError:  # not glibc
        return


def _measure(asked: dict[str, Any]) -> int:
    limit_threads(asked["threads"])
    from . import data
    from .suites import SUITES

    suite = SUITES[asked["suite"]]
    case = suite.case(asked["case"])
    engine = ENGINES[asked["engine"]](asked["threads"])
    shape = data.Shape(*asked["shape"])
    engine.run(engine.prepare(suite.table(case, shape.at_most(1000))), case)
    table = suite.table(case, shape)
    prepared = engine.prepare(table)
    _settle()
    before = process_status("VmRSS")
    Path("/proc/self/clear_refs").write_text("5")
    result = engine.run(prepared, case)
    highest = process_status("VmHWM")
    known = _buffers(table)
    made = sum(size for address, size in _buffers(result).items() if address not in known)
    return max(0, highest - before - made)


if __name__ == "__main__":
    print(_measure(json.loads(sys.argv[1])))
