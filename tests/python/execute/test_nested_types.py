"""Unions and run ends within other types, in memory, as a stream and by way of the disk, whether a call reads them."""

import random

import pyarrow as pa
import pyarrow.compute as pc
import pytest

import windrow as wr
from support.list_offsets import check_list_offsets

DEPTH = 3
AROUND = ["struct", "list", "large_list", "fixed", "sparse", "dense", "run_ends", "run_ends"]


def leaf(rng, rows, kinds=("int", "text", "view")):
    values = [None if rng.random() < 0.2 else rng.randrange(6) for _ in range(rows)]
    kind = rng.choice(kinds)
    if kind == "int":
        return pa.array(values, pa.int64())
    return pa.array(
        [None if v is None else f"text {v} " * v for v in values], pa.string() if kind == "text" else pa.string_view()
    )


def draw(rng, rows, depth=DEPTH, *, in_runs=False):
    """Draw a column of a random type; Arrow has no runs of runs."""
    kind = rng.choice([k for k in AROUND if not (in_runs and k == "run_ends")]) if depth else "leaf"
    if kind == "leaf":
        return leaf(rng, rows)
    if kind == "struct":
        children = [draw(rng, rows, depth - 1), leaf(rng, rows)]
        mask = pa.array([rng.random() < 0.1 for _ in range(rows)])
        return pa.StructArray.from_arrays(children, ["a", "b"], mask=mask)
    if kind in ("list", "large_list"):
        offsets = [0]
        for _ in range(rows):
            offsets.append(offsets[-1] + rng.randrange(4))
        offsets = pa.array(offsets, pa.int32() if kind == "list" else pa.int64())
        values = draw(rng, offsets[-1].as_py(), depth - 1)
        return (pa.ListArray if kind == "list" else pa.LargeListArray).from_arrays(offsets, values)
    if kind == "fixed":
        return pa.FixedSizeListArray.from_arrays(draw(rng, 2 * rows, depth - 1), 2)
    if kind == "sparse":
        codes = pa.array([rng.randrange(2) for _ in range(rows)], pa.int8())
        return pa.UnionArray.from_sparse(codes, [draw(rng, rows, depth - 1), leaf(rng, rows)])
    if kind == "dense":
        codes = [rng.randrange(2) for _ in range(rows)]
        offsets = [codes[:i].count(c) for i, c in enumerate(codes)]
        counts = [codes.count(0), codes.count(1)]
        children = [draw(rng, counts[0], depth - 1), leaf(rng, counts[1])]
        return pa.UnionArray.from_dense(pa.array(codes, pa.int8()), pa.array(offsets, pa.int32()), children)
    if depth == 1:
        return pc.run_end_encode(leaf(rng, rows, ("int", "text")))
    # runs of what Arrow cannot compare
    ends = [*sorted(rng.sample(range(1, rows), min(rows - 1, rows // 3))), rows] if rows else []
    return pa.RunEndEncodedArray.from_arrays(pa.array(ends, pa.int32()), draw(rng, len(ends), depth - 1, in_runs=True))


HOWS = {
    "memory": {"sort": True},
    "disk": {"sort": True, "memory_limit": 1},
    "stream": {"sort": False},
}


@pytest.mark.parametrize("call", ["row_number() OVER (ORDER BY id)", "lag(x) OVER (ORDER BY id)"])
@pytest.mark.parametrize("seed", range(4))
def test_passthrough_columns_are_unchanged(seed, call):
    rng = random.Random(f"{seed} {call}")
    compared, list_count, refusals = 0, 0, []
    for _ in range(20):
        rows = rng.randrange(20, 120)
        x = draw(rng, rows + 7).slice(rng.randrange(7), rows)
        for how, settings in HOWS.items():
            ids = list(range(rows)) if how == "stream" else rng.sample(range(rows), rows)
            table = pa.table({"id": ids, "x": x})
            values = dict(zip(ids, x.to_pylist(), strict=True))
            with wr.config(memory_limit=settings.get("memory_limit"), threads=1):
                try:
                    operator = wr.operator({"y": call}, table.schema, sort=settings["sort"])
                    out = list(operator(table.to_batches(rng.randrange(5, 40))))
                except (wr.UnsupportedError, wr.SpecError) as error:
                    refusals.append((call, str(error)))
                    continue
            for batch in out:
                batch.validate(full=True)
                assert batch.schema.field("x").type == x.type
                list_count += check_list_offsets(batch)
            found = {i: v for b in out for i, v in zip(b["id"].to_pylist(), b["x"].to_pylist(), strict=True)}
            assert found == values, (how, x.type)
            if "lag" in call:
                found = {i: v for b in out for i, v in zip(b["id"].to_pylist(), b["y"].to_pylist(), strict=True)}
                assert found == {i: values.get(i - 1) for i in range(rows)}, (how, x.type)
            compared += 1
    assert all("'x'" in said or ("lag" in asked and "lag(x)" in said) for asked, said in refusals), refusals
    assert compared + len(refusals) == 20 * len(HOWS)
    assert compared >= 12
    assert list_count >= 5
