"""Bytes that come back otherwise than they were written: spill files and summaries of sections are refused by name."""

import os
import random
import sys

import pyarrow as pa
import pytest

import windrow as wr
from windrow._execute.native import make_plan
from windrow._model.replace import replace
from windrow.settings import current

ROWS = 3000
TABLE = pa.table(
    {
        "id": random.Random(1).sample(range(ROWS), ROWS),
        "v": range(ROWS),
        "w": range(0, 2 * ROWS, 2),
        "s": [f"row {i} " * 40 for i in range(ROWS)],
    }
)


def spill_files(directory):
    """Open the files without a name that this process has in a directory."""
    found = []
    for number in os.listdir("/proc/self/fd"):
        path = f"/proc/self/fd/{number}"
        try:
            if os.readlink(path).startswith(str(directory)):
                found.append(os.open(path, os.O_RDWR))
        except OSError:
            continue
    return found


def damage(rng, directory):
    """Change the longest spill file in one of the ways a file goes wrong; gives its size before, in bytes."""
    files = spill_files(directory)
    try:
        file = max(files, key=lambda f: os.fstat(f).st_size)
        size = os.fstat(file).st_size
        at, kind = rng.randrange(size), rng.choice(["bit", "bytes", "shorter", "swapped", "zeros"])
        if kind == "bit":
            os.pwrite(file, bytes([os.pread(file, 1, at)[0] ^ 1 << rng.randrange(8)]), at)
        elif kind == "bytes":
            old = os.pread(file, rng.randrange(1, 5000), at)
            os.pwrite(file, bytes(b ^ rng.randrange(1, 256) for b in old), at)
        elif kind == "zeros":
            old = os.pread(file, rng.randrange(1, 5000), at)
            os.pwrite(file, bytes(1 - bool(b) for b in old), at)
        elif kind == "shorter":
            os.ftruncate(file, at)
        else:
            block = 32 << 10
            first, second = os.pread(file, block, 0), os.pread(file, block, block)
            os.pwrite(file, second, 0)
            os.pwrite(file, first, len(second))
        return size
    finally:
        for file in files:
            os.close(file)


def answered(operator, batches):
    return sum(batch.num_rows for batch in operator(batches))


@pytest.mark.skipif(sys.platform != "linux", reason="finds files without names in /proc")
@pytest.mark.parametrize("seed", range(3))
def test_damaged_runs_are_refused(seed, tmp_path):
    rng = random.Random(seed)
    sizes = []

    def damaged():
        yield from TABLE.to_batches(500)
        sizes.append(damage(rng, tmp_path))

    with wr.config(memory_limit=1, spill_dir=tmp_path, threads=1):
        operator = wr.operator({"n": "row_number() OVER (ORDER BY id)"}, TABLE.schema, sort=True)
        assert answered(operator, TABLE.to_batches(500)) == ROWS
        for _ in range(6):
            with pytest.raises(wr.SpillError, match=r"not what was written|ends at byte") as caught:
                answered(operator, damaged())
            assert str(tmp_path) in str(caught.value)
    assert len(sizes) == 6
    assert min(sizes) > 500_000


@pytest.mark.skipif(sys.platform != "linux", reason="finds files without names in /proc")
def test_damaged_sections_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("windrow._execute.sectioned._MAX_ROWS", 400)
    monkeypatch.setattr("windrow._execute.sectioned._MIN_ROWS", 300)
    rng = random.Random(5)
    sizes = []

    def share(summaries):
        sizes.append(damage(rng, tmp_path))
        return list(summaries), 0

    with wr.config(memory_limit=1, spill_dir=tmp_path, threads=1):
        operator = wr.operator({"n": "sum(v) OVER ()"}, TABLE.schema, sort=True)
        assert answered(operator, TABLE.to_batches(500)) == ROWS
        operator.exchange = share
        for _ in range(6):
            with pytest.raises(wr.SpillError, match=r"not what was written|ends at byte") as caught:
                answered(operator, TABLE.to_batches(500))
            assert str(tmp_path) in str(caught.value)
    assert len(sizes) == 6
    assert min(sizes) > 100_000


CALLS = [
    "sum(v) OVER (ORDER BY id)",
    "sum(w) OVER (ORDER BY id)",
    "sum(v) OVER (ORDER BY w)",
    "sum(v) OVER (ORDER BY id DESC)",
    "sum(v) OVER (PARTITION BY w ORDER BY id)",
    "sum(v) FILTER (WHERE w > 3) OVER (ORDER BY id)",
    "avg(v) OVER (ORDER BY id)",
    "max(v) OVER (ORDER BY id)",
    "max(s) OVER (ORDER BY id)",
    "sum(v) OVER (ORDER BY id ROWS BETWEEN 3 PRECEDING AND CURRENT ROW)",
    "sum(v) OVER (ORDER BY id ROWS BETWEEN 4 PRECEDING AND CURRENT ROW)",
    "lag(v) OVER (ORDER BY id)",
    "lag(v, 2) OVER (ORDER BY id)",
]


def with_summaries(call, change):
    """Answer a call over rows whose summaries another has changed on their way."""
    with wr.config(memory_limit=1, threads=1):
        operator = wr.operator({"x": call}, TABLE.schema, sort=True)
    operator.exchange = lambda summaries: ([change(s) for s in summaries], 0)
    return answered(operator, TABLE.slice(0, 200).to_batches(50))


@pytest.mark.parametrize("call", CALLS)
def test_damaged_and_foreign_summaries_are_refused(call):
    rng = random.Random(call)
    written = []
    assert with_summaries(call, lambda s: written.append(s) or s) == 200
    tried = 0
    for _ in range(40):

        def change(summary):
            changed, at = bytearray(summary), rng.randrange(len(summary))
            kind = rng.choice(["bit", "bytes", "shorter", "longer"])
            if kind == "bit":
                changed[at] ^= 1 << rng.randrange(8)
            elif kind == "bytes":
                changed[at : at + 20] = bytes(b ^ rng.randrange(1, 256) for b in changed[at : at + 20])
            elif kind == "shorter":
                del changed[at : at + rng.choice([1, 8, len(changed)])]
            else:
                changed[at:at] = rng.randbytes(rng.randrange(1, 20))
            return bytes(changed)

        with pytest.raises(wr.DataError, match="summary of a section"):
            with_summaries(call, change)
        tried += 1
    for other in CALLS:
        if other != call:
            with pytest.raises(wr.DataError, match="other calls"):
                with_summaries(other, lambda _: written[0])
            tried += 1
    assert tried == 40 + len(CALLS) - 1


def test_what_is_not_read_does_not_part_plans():
    """Two-pass runs sum up the columns that are read alone, and answer with all of them."""
    calls = wr.operator({"x": "sum(v) OVER (ORDER BY id)"}, TABLE.schema).levels[0].step.calls
    renamed = [replace(calls[0], name="another")]
    narrow = TABLE.select(["id", "v"]).slice(0, 1).combine_chunks()
    few = make_plan(narrow.schema, calls, current()).sections()
    all_ = make_plan(TABLE.schema, renamed, current()).sections()
    assert len(all_.scan([few.summarise(narrow.to_batches()[0])])) == 1
