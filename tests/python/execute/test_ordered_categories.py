"""Ordered categories: an answer knows of their positions and never of their text, or the call is refused."""

import random
from itertools import product

import pyarrow as pa
import pytest

import windrow as wr
from windrow._windrow import functions

ARGUMENTS = [
    "{c}",
    "DISTINCT {c}",
    "{c}, 1",
    "{c}, v",
    "v, {c}",
    "{c}, 0.5",
    "{c}, '-'",
    "DISTINCT {c}, '-'",
    "{c}, 1, {c}",
]
NAMES = sorted({n for f in functions() for n in (f["name"], *f["aliases"])})


def translated(value, texts):
    """Give an answer with other texts for the categories; those are single letters."""
    if isinstance(value, str):
        return value.translate(texts)
    if isinstance(value, list):
        return [translated(v, texts) for v in value]
    if isinstance(value, dict):
        return {k: translated(v, texts) for k, v in value.items()}
    return value


@pytest.mark.parametrize("seed", range(2))
def test_answers_know_positions_alone(seed):
    rng = random.Random(seed)
    letters = "pqrstu"
    codes = pa.array([rng.choice([None, *range(6)]) for _ in range(20)], pa.int8())
    values, keys = [rng.randrange(5) for _ in codes], rng.choices([1, 2], k=20)
    answered, refused = 0, set()

    def computed(call, categories):
        column = pa.DictionaryArray.from_arrays(codes, pa.array(list(categories)), ordered=True)
        table = pa.table({"c": column, "v": values, "k": keys, "i": range(20)})
        return wr.select(table, x=call)["x"].to_pylist()

    for name, arguments in product(NAMES, ARGUMENTS):
        call = f"{name}({arguments.format(c='c')}) OVER (PARTITION BY k ORDER BY i)"
        other = "".join(rng.sample(letters, 6))
        try:
            found = computed(call, letters)
        except wr.WindrowError as error:
            if "ordered categories" in str(error):
                refused.add((name, arguments))
            continue
        assert computed(call, other) == translated(found, str.maketrans(letters, other)), call
        answered += 1
    assert answered > 40, answered
    assert len(refused) > 10
    assert {("array_agg", "DISTINCT {c}"), ("listagg", "DISTINCT {c}, '-'"), ("max", "{c}")} <= refused


@pytest.mark.parametrize("kind", ["Enum", "Categorical"])
def test_results_of_polars_categories_have_their_type_or_text(kind):
    pl = pytest.importorskip("polars")
    dtype = pl.Enum(["low", "mid", "high"]) if kind == "Enum" else pl.Categorical
    texts = ["low", "high", None, "mid"]
    frame = pl.DataFrame({"v": range(4), "c": pl.Series(texts, dtype=dtype)})
    seen = {}
    for name, arguments in product(NAMES, ARGUMENTS):
        try:
            column = wr.select(frame, x=f"{name}({arguments.format(c='c')}) OVER (ORDER BY v)")["x"]
        except wr.WindrowError:
            continue
        seen[name, arguments] = column.dtype
    assert all(d == pl.String for (n, _), d in seen.items() if n in ("listagg", "string_agg"))
    own = {k: d for k, d in seen.items() if k[0] in ("lag", "first_value", "nth_value", "max_by") and k[1][0] == "{"}
    assert len(own) > 5
    assert all(d == dtype for d in own.values()), own
    assert len(seen) > 30
    joined = wr.select(frame, x="listagg(c, ',') OVER (ORDER BY v)")["x"].to_list()
    assert joined == ["low", "low,high", "low,high", "low,high,mid"]


def test_messages_name_no_hidden_column():
    column = pa.DictionaryArray.from_arrays(pa.array([0, 1]), pa.array(["low", "high"]), ordered=True)
    table = pa.table({"c": column, "v": [1, 2]})
    pl = pytest.importorskip("polars")
    frame = pl.DataFrame({"c": pl.Series(["low", "high"], dtype=pl.Enum(["low", "high"])), "v": [1, 2]})
    cases = [
        (table, "max(c) OVER ()", "of 'c' as text"),
        (table, "max(first_value(c) OVER (ORDER BY v)) OVER ()", "of a window call as text"),
        (frame, wr.max(pl.col("c")).over(wr.window()), "of an expression as text"),
    ]
    for data, call, said in cases:
        with pytest.raises(wr.UnsupportedError, match=said) as caught:
            wr.select(data, x=call)
        assert "__windrow" not in str(caught.value)
