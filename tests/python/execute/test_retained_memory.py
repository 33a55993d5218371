"""What is kept of memory for the next call gives way where the process may have no more."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

CALLS = """
import resource
import pyarrow as pa
import windrow as wr


def call(table):
    out = wr.select(table, wr.sum("v").over(wr.window(partition_by="k")).alias("s"))
    assert out["s"][0].as_py() == 2 * table.num_rows == out["s"][-1].as_py()


def space():
    line = next(line for line in open("/proc/self/status") if line.startswith("VmSize"))
    return int(line.split()[1]) * 1024


rows = 8_000_000
table = pa.table({"k": pa.nulls(rows, pa.int32()).fill_null(1), "v": pa.nulls(rows, pa.int64()).fill_null(2)})
before = space()
for million in (2, 3, 4, 5, 6, 7):
    call(table.slice(0, million * 1_000_000))
kept = space() - before
# A result of 64 MB does not fit what is left, but does with what is kept.
resource.setrlimit(resource.RLIMIT_AS, (space() + (32 << 20), resource.RLIM_INFINITY))
call(table)
for million in (7, 5, 2):
    call(table.slice(million, million * 1_000_000))
print(kept)
"""


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="tells its address space by /proc")
def test_what_is_kept_gives_way_to_a_limit_of_the_address_space():
    """Spark limits its Python workers so (``spark.executor.pyspark.memory``)."""
    done = subprocess.run([sys.executable, "-c", CALLS], capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 64_000_000
