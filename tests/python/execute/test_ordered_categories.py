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
        (table, wr.max(pl.col("c")).over(wr.window()), "of an expression as text"),
        (frame, "max(lag(coalesce(c, 'low')) OVER (ORDER BY v)) OVER ()", "of a window call as text"),
    ]
    for data, call, said in cases:
        with pytest.raises(wr.UnsupportedError, match=said) as caught:
            wr.select(data, x=call)
        assert "__windrow" not in str(caught.value)


EXPRESSIONS = ["c", "(c)", "coalesce(c, '{0}')", "CASE WHEN v > 2 THEN c END", "CASE WHEN v > 2 THEN c ELSE '{1}' END"]
INNER = ["lag({e})", "first_value({e})", "nth_value({e}, 2)", "any_value({e})", "array_agg({e})", "max({e})"]
BETWEEN = ["{i}", "({i})", "coalesce({i}, '{2}')", "CASE WHEN v > 1 THEN {i} END"]
OUTER = [
    "max({b})", "min({b})", "mode({b})", "lag({b})", "first_value({b})", "array_agg(DISTINCT {b})",
    "count(DISTINCT {b})", "max_by(v, {b})", "array_agg({b})",
]  # fmt: skip
KEYS = ["i", "{b}, i"]


@pytest.mark.parametrize("host", ["arrow", "polars", "stream"])
def test_what_is_ordered_stays_known_through_levels(host):
    pl = pytest.importorskip("polars")
    rng = random.Random(host)
    letters = "pqrstu"
    codes = [rng.choice([None, *range(6)]) for _ in range(20)]
    values, keys = [rng.randrange(5) for _ in codes], rng.choices([1, 2], k=20)

    def computed(call, categories):
        column = pa.DictionaryArray.from_arrays(pa.array(codes, pa.int8()), pa.array(list(categories)), ordered=True)
        frame = pa.table({"c": column, "v": values, "k": keys, "i": range(20)})
        call = call.format(*categories)
        if host == "stream":
            return pa.Table.from_batches(wr.operator({"x": call}, frame.schema, sort=True)(frame.to_batches()))["x"]
        if host == "polars":
            texts = [None if c is None else categories[c] for c in codes]
            frame = pl.DataFrame(frame.drop_columns("c")).with_columns(c=pl.Series(texts, dtype=pl.Enum(categories)))
        return wr.select(frame, x=call)["x"]

    answered, refused = 0, 0
    for _ in range(80):
        one = rng.choice(INNER).replace("{e}", rng.choice(EXPRESSIONS)) + " OVER (PARTITION BY k ORDER BY i)"
        between = rng.choice(BETWEEN).replace("{i}", one)
        key = rng.choice(KEYS) if "array" not in one else "i"
        call = f"{rng.choice(OUTER)} OVER (PARTITION BY k ORDER BY {key})".replace("{b}", between)
        other = "".join(rng.sample(letters, 6))
        try:
            found = computed(call, letters)
        except wr.WindrowError as error:
            refused += "ordered categories" in str(error)
            continue
        expected = translated(found.to_pylist() if host != "polars" else found.to_list(), str.maketrans(letters, other))
        made = computed(call, other)
        assert (made.to_pylist() if host != "polars" else made.to_list()) == expected, call
        answered += 1
    assert answered > 12, answered
    assert refused > 10, refused


def test_polars_orders_expressions_of_enums_by_position():
    pl = pytest.importorskip("polars")
    rng, compared = random.Random(4), 0
    for _ in range(6):
        categories = rng.sample("pqrstu", 6)
        codes = [rng.choice([None, *range(6)]) for _ in range(15)]
        texts = [None if c is None else categories[c] for c in codes]
        frame = pl.DataFrame({"e": pl.Series(texts, dtype=pl.Enum(categories)), "c": codes, "i": range(15)})
        for written in ("e", "(e)", "((e))", pl.col("e"), pl.col("e").alias("z"), pl.coalesce("e", pl.lit(None))):
            key = wr.expr(written) if isinstance(written, str) else written
            for function in (wr.max, wr.min):
                made = wr.select(frame, x=function(key).over(wr.window(order_by="i", rows=(-3, 0))))["x"]
                by_code = wr.select(frame, x=function("c").over(wr.window(order_by="i", rows=(-3, 0))))["x"]
                assert made.dtype == pl.Enum(categories)
                assert made.to_list() == [None if c is None else categories[c] for c in by_code]
                compared += len(made)
            for order in (wr.asc, wr.desc):
                for data in (frame, frame.lazy()):
                    ranks = wr.select(data, x=wr.rank().over(wr.window(order_by=order(key)))).lazy().collect()
                    assert (
                        ranks["x"].to_list()
                        == wr.select(frame, x=wr.rank().over(wr.window(order_by=order("c"))))["x"].to_list()
                    )
                    compared += len(ranks)
    assert compared > 2000
