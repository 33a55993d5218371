"""Random calls over columns in other layouts give the answers that they give over plain columns.

Layouts are dictionaries (also with unused, null and repeated values), run ends, views, large offsets, and chunks that
are slices. Frames come whole, sorted by windrow under a memory limit, and as a stream.
"""

import random

import pyarrow as pa
import pyarrow.compute as pc
import pytest

import windrow as wr
from support.comparison import equal
from support.random_calls import SUMS, VARIANCES, make_ask, make_spec, make_table, rounds

# what expressions and FILTER read: numbers as dictionaries and run ends are refused there
PLAIN = {"id", "f", "n_int", "v_int", "v_boolean"}
WIDER = {pa.string(): [pa.large_string(), pa.string_view()], pa.binary(): [pa.large_binary(), pa.binary_view()]}


def with_layout(rng, array):
    """Return the values of an array in a layout drawn at random."""
    layout = (
        "plain"
        if pa.types.is_duration(array.type)
        else rng.choice(["plain", "dictionary", "odd dictionary", "runs", "wider"])
    )
    if layout == "wider" and array.type in WIDER:
        return array.cast(rng.choice(WIDER[array.type]))
    try:
        if layout == "dictionary":
            return array.dictionary_encode()
        if layout == "odd dictionary":
            encoded = array.dictionary_encode(null_encoding=rng.choice(["mask", "encode"]))
            values = encoded.dictionary
            odd = pa.concat_arrays([values, values, pa.nulls(1, values.type)])
            places = [None if i is None else i + rng.choice([0, len(values)]) for i in encoded.indices.to_pylist()]
            return pa.DictionaryArray.from_arrays(pa.array(places, rng.choice([pa.int16(), pa.uint32()])), odd)
        if layout == "runs":
            return pc.run_end_encode(array, run_end_type=rng.choice([pa.int16(), pa.int32(), pa.int64()]))
    except pa.ArrowNotImplementedError:
        pass
    return array


def in_chunks(rng, table):
    """Cut each column into slices of one array, at places of its own."""
    rows = table.num_rows
    columns = []
    for column in table.columns:
        cuts = sorted(rng.randint(0, rows) for _ in range(rng.randint(0, 3)))
        pieces = [column.slice(a, b - a).chunks for a, b in zip([0, *cuts], [*cuts, rows], strict=True)]
        columns.append(pa.chunked_array([chunk for piece in pieces for chunk in piece], column.type))
    return pa.table(columns, schema=table.schema)


def answered(table, items, how):
    """Compute items; return their columns in the order of ``id``, or the error that refuses them."""
    try:
        if how == "table":
            out = wr.select(table, "id", items)
        else:
            with wr.config(memory_limit="1 MiB" if how == "limited" else None):
                operator = wr.operator(items, table.schema, sort=True)
            batches = table.to_batches(max_chunksize=7)
            out = pa.Table.from_batches(list(operator(batches)), operator.schema)
    except (wr.SpecError, wr.DataError) as error:
        return error
    out.validate(full=True)
    ids = out["id"].to_pylist()
    return {name: [v for _, v in sorted(zip(ids, out[name].to_pylist(), strict=True))] for name in items}


@pytest.mark.parametrize("number", rounds(16, 3))
def test_layouts(number):
    rng = random.Random(f"layouts {number}")
    table = make_table(rng, 40)
    columns = {n: table[n] if n in PLAIN else with_layout(rng, table[n].chunk(0)) for n in table.column_names}
    other = in_chunks(rng, pa.table(columns))
    compared = values = 0
    for _ in range(20):
        ask = make_ask(rng, make_spec(rng))
        # with a memory limit the bytes of rows say which of them are added up first
        inexact = ask.function in (*SUMS, *VARIANCES)
        how = rng.choice(["table", "stream"] if inexact else ["table", "limited", "stream"])
        expected, got = (answered(data, {"r": ask.text}, how) for data in (table, other))
        if isinstance(expected, Exception):
            assert type(got) is type(expected), (ask.text, got)
            continue
        assert not isinstance(got, Exception), (ask.text, got)
        different = [pair for pair in zip(expected["r"], got["r"], strict=True) if not equal(*pair)]
        assert not different, (ask.text, how, different[:3])
        compared += 1
        values += len(got["r"])
    assert compared >= 10
    assert values == 40 * compared
