"""Rows are taken of columns of any layout, by every clause of a query that picks or orders rows."""

import itertools
import random

import pyarrow as pa
import pytest

import windrow as wr
from windrow._execute import take_rows

KINDS = [
    "text", "view", "bytes view", "numbers", "list", "list view", "fixed list", "struct", "map", "runs",
    "dictionary", "sparse union", "dense union", "extension", "null",
]  # fmt: skip


def drawn(rng, rows, depth=0):
    """Draw an array of a random layout, nested where there is depth left."""
    kind = rng.choice(KINDS[:4] if depth > 2 else KINDS[:-1] if depth else KINDS)
    texts = [rng.choice([None, "", "p", "a text that no view holds itself"]) for _ in range(rows)]
    nulls = [rng.random() < 0.2 for _ in range(rows)]
    if kind in ("text", "view"):
        return pa.array(texts, pa.string() if kind == "text" else pa.string_view())
    if kind == "bytes view":
        return pa.array([None if t is None else t.encode() for t in texts], pa.binary_view())
    if kind == "numbers":
        return pa.array([None if n else rng.randrange(9) for n in nulls], pa.int16())
    if kind == "null":
        return pa.nulls(rows)
    if kind == "extension":
        return pa.ExtensionArray.from_storage(pa.json_(pa.string_view()), pa.array(texts, pa.string_view()))
    if kind == "struct":
        return pa.StructArray.from_arrays(
            [drawn(rng, rows, depth + 1)] * 2, ["a", "b"], mask=pa.array(nulls, pa.bool_())
        )
    if kind == "sparse union":
        codes = pa.array([rng.randrange(2) for _ in range(rows)], pa.int8())
        return pa.UnionArray.from_sparse(codes, [drawn(rng, rows, depth + 1), pa.array(texts, pa.string_view())])
    if kind == "fixed list":
        return pa.FixedSizeListArray.from_arrays(drawn(rng, 2 * rows, depth + 1), 2, mask=pa.array(nulls, pa.bool_()))
    ends = [0]
    for _ in range(rows):
        ends.append(ends[-1] + rng.randrange(3))
    inner = drawn(rng, ends[-1], depth + 1)
    if kind == "list":
        return pa.ListArray.from_arrays(pa.array(ends, pa.int32()), inner, mask=pa.array(nulls, pa.bool_()))
    if kind == "list view":
        sizes = pa.array([b - a for a, b in itertools.pairwise(ends)], pa.int32())
        return pa.ListViewArray.from_arrays(pa.array(ends[:-1], pa.int32()), sizes, inner)
    if kind == "map":
        keys = pa.array(["k"] * ends[-1], pa.string_view())
        return pa.MapArray.from_arrays(pa.array(ends, pa.int32()), keys, inner)
    parts = rng.randint(1, 4)
    inner = drawn(rng, parts, depth + 1)
    places = [rng.randrange(parts) for _ in range(rows)]
    if kind == "dictionary" and inner.type.num_fields == 0:
        if pa.types.is_dictionary(inner.type) or isinstance(inner.type, pa.BaseExtensionType):
            inner = pa.array(["p", "q", "r", "s"][:parts], pa.string_view())
        return pa.DictionaryArray.from_arrays(pa.array(places, pa.int8()), inner)
    if kind == "dense union":
        codes, other = pa.array([0] * rows, pa.int8()), pa.array([1])
        return pa.UnionArray.from_dense(codes, pa.array(sorted(places), pa.int32()), [inner, other])
    # runs, of one value at least
    lengths = [rng.randint(1, 3) for _ in range(rows)]
    ends = [sum(lengths[: i + 1]) for i in range(rows)]
    values = drawn(rng, rows, depth + 1)
    made = pa.Array.from_buffers(
        pa.run_end_encoded(pa.int32(), values.type),
        ends[-1] if ends else 0,
        [None],
        children=[pa.array(ends, pa.int32()), values],
    )
    first = rng.randint(0, len(made) - rows)
    return made.slice(first, rows)


@pytest.mark.parametrize("longest", [2**31 - 1, 300])
def test_rows_of_columns_of_any_layout(longest, monkeypatch):
    monkeypatch.setattr(take_rows, "_MAX_BYTES", longest)
    rng = random.Random(longest)
    compared = types = 0
    for _ in range(60):
        rows = rng.randint(1, 12)
        column = drawn(rng, rows)
        cut = rng.randint(0, rows)
        column = pa.chunked_array([column.slice(0, cut), column.slice(cut)], column.type)
        table = pa.table({"c": column, "i": range(rows), "k": [rng.randrange(4) for _ in range(rows)]})
        given = list(zip(*(table[n].to_pylist() for n in ("c", "i", "k")), strict=True))
        types += not pa.types.is_primitive(column.type)
        firsts = {k: i for _, i, k in reversed(given)}
        for query, expected in (
            ("SELECT * FROM t WHERE k > 1", [g for g in given if g[2] > 1]),
            ("SELECT * FROM t WHERE k > 9", []),
            ("SELECT * FROM t ORDER BY k, i DESC", sorted(given, key=lambda g: (g[2], -g[1]))),
            (
                "SELECT * FROM t QUALIFY row_number() OVER (PARTITION BY k ORDER BY i) = 1",
                [g for g in given if firsts[g[2]] == g[1]],
            ),
        ):
            made = wr.sql(query, t=table)
            made.validate(full=True)
            assert made.schema == table.schema
            assert list(zip(*(made[n].to_pylist() for n in ("c", "i", "k")), strict=True)) == expected, column.type
            compared += len(expected)
    assert compared > 400
    assert types > 30
