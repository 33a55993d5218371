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
    assert answered > 60, answered
    assert len(refused) > 2
    assert {("listagg", "DISTINCT {c}"), ("listagg", "DISTINCT {c}, '-'")} <= refused


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
        (table, "listagg(DISTINCT c) OVER ()", "of 'c' as text"),
        (table, "listagg(DISTINCT first_value(c) OVER (ORDER BY v)) OVER ()", "of a window call as text"),
        (table, wr.max(wr.expr("coalesce(c, 'low')")).over(wr.window()), "of \"coalesce.c, 'low'.\" as text"),
        (frame, "max(lag(coalesce(c, 'low')) OVER (ORDER BY v)) OVER ()", "of a window call as text"),
    ]
    for data, call, said in cases:
        with pytest.raises(wr.UnsupportedError, match=said) as caught:
            wr.select(data, x=call)
        assert "__windrow" not in str(caught.value)
    with pytest.raises(wr.OrderError, match="order the input by position of c, or ask"):
        wr.select(table, x="rank() OVER (ORDER BY c DESC)", sort=False)


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


CALLS = [
    "min({c})", "max({c})", "mode({c})", "first_value({c})", "last_value({c})", "any_value({c})", "nth_value({c}, 2)",
    "lag({c}, 1, {d})", "lead({c}, 2, {d})", "lag({c}, 1, {c})", "lead({c}, 1, {c})", "collect_list({c})",
    "collect_set({c})", "array_agg(DISTINCT {c})", "min_by({c}, v)", "max_by(v, {c})", "max_by({c}, {c}, 2)", "rank()",
    "max(lag({c}) OVER (PARTITION BY k ORDER BY i))", "first_value(lag({c}, 1, {d}) OVER (PARTITION BY k ORDER BY i))",
    "dense_rank()", "count(DISTINCT {c})", "collect_list(v ORDER BY {c}, v)",
]  # fmt: skip
ORDERS = ["i", "{c}, i", "{c} DESC NULLS LAST, i"]


def leaf(data_type):
    return data_type.value_type if pa.types.is_list(data_type) or pa.types.is_large_list(data_type) else data_type


def dictionaries(column):
    pieces = [c if pa.types.is_dictionary(c.type) else c.values for c in column.chunks]
    return [p.dictionary.to_pylist() for p in pieces]


def categories_drawn(rng):
    """Draw categories with some that no row has, rows, an index type, and how long the pieces are."""
    categories = rng.sample([*"pqrstuvw"], rng.randint(2, 8)) if rng.random() < 0.8 else rng.sample(range(50), 5)
    rows = rng.randint(1, 25)
    shown = rng.sample(range(len(categories)), rng.randint(1, len(categories)))
    return (
        categories,
        [rng.choice([None, *shown]) for _ in range(rows)],
        rng.choice([pa.int8(), pa.uint8(), pa.int64()]),
    )


def answered(host, frame, asked, data):
    """Give the answer to a call, or why it is refused."""
    try:
        if host == "lazy":
            return wr.select(frame.lazy(), x=asked).collect()["x"], ""
        if host == "reader":
            rows = sorted(data["i"], key=lambda i: (data["k"][i], i))
            reader = wr.select(frame.take(pa.array(rows)).to_reader(), {"x": asked}, "i")
            return pa.Table.from_batches(list(reader), reader.schema).sort_by("i")["x"], ""
        if host in ("stream", "spilled"):
            with wr.config(memory_limit=1 if host == "spilled" else None):
                operator = wr.operator({"x": asked}, frame.schema, sort=True)
            made = pa.Table.from_batches(list(operator(frame.to_batches(max_chunksize=3))), operator.schema)
            return made.sort_by("i")["x"], ""
        return wr.select(frame, x=asked)["x"], ""
    except wr.UnsupportedError as error:
        return None, str(error)


@pytest.mark.parametrize("host", ["arrow", "pandas", "polars", "lazy", "stream", "reader", "spilled"])
def test_results_have_the_categories_of_their_column_in_its_order(host):
    pl, pd = pytest.importorskip("polars"), pytest.importorskip("pandas")
    rng = random.Random(f"categories {host}")
    compared = of_categories = 0
    while compared < 60:
        ordered = rng.random() < 0.6
        categories, codes, index_type = categories_drawn(rng)
        if not ordered and not isinstance(categories[0], str):
            continue  # these are compared as the numbers they are
        rows = range(len(codes))
        values = pa.array(categories)
        if isinstance(categories[0], str) and rng.random() < 0.3:
            values = values.cast(rng.choice([pa.large_string(), pa.string_view()]))
        column = pa.DictionaryArray.from_arrays(pa.array(codes, index_type), values, ordered=ordered)
        alphabet = sorted(categories)
        data = {"v": [rng.randrange(5) for _ in rows], "k": rng.choices([1, 2], k=len(rows)), "i": rows}
        # without an order of their own, values are in that of the alphabet
        numbers = [None if c is None or ordered else alphabet.index(categories[c]) for c in codes]
        by_number = pa.table({"c": pa.array(codes if ordered else numbers, pa.int64()), **data})
        named = categories if ordered else alphabet
        cut = rng.randint(0, len(rows))
        frame = pa.table({"c": column, **data})
        frame = pa.concat_tables([frame.slice(0, cut), frame.slice(cut)])
        for _ in range(6):
            over = f" OVER (PARTITION BY k ORDER BY {'i' if host == 'reader' else rng.choice(ORDERS)})"
            call = rng.choice(CALLS) + over
            default = rng.randrange(len(named))
            asked = call.format(c="c", d=repr(named[default]))

            if host in ("polars", "lazy"):
                if not isinstance(categories[0], str):
                    break
                dtype = pl.Enum(categories) if ordered else pl.Categorical
                texts = pl.Series("c", [None if c is None else categories[c] for c in codes], dtype=dtype)
                given = pl.DataFrame([texts, *(pl.Series(n, list(v)) for n, v in data.items())])
            else:
                given = frame.to_pandas() if host == "pandas" else frame
            made, refusal = answered(host, given, asked, data)
            if made is None:
                assert host in ("stream", "reader", "spilled"), (asked, refusal)
                assert "ordered categories" in refusal
                continue
            expected = wr.select(by_number, x=call.format(c="c", d=default))["x"].to_pylist()
            if not call.startswith(("rank", "dense", "count", "max_by(v", "collect_list(v")):
                expected = [
                    [named[e] for e in v] if isinstance(v, list) else None if v is None else named[v] for v in expected
                ]
                of_categories += 1
                if host == "pandas" and not call.startswith(("coll", "array", "max_by({c}, {c}")):
                    assert made.dtype == given["c"].dtype, asked
                elif host in ("polars", "lazy"):
                    assert getattr(made.dtype, "inner", made.dtype) == given["c"].dtype, asked
                elif host != "pandas":
                    assert leaf(made.type) == column.type, asked
                    assert all(d == categories for d in dictionaries(made)), asked
            found = made.to_list() if host in ("polars", "lazy", "pandas") else made.to_pylist()
            plain = [
                list(f) if hasattr(f, "__len__") and not isinstance(f, str) else None if pd.isna(f) else f
                for f in found
            ]
            assert plain == expected, asked
            compared += 1
    assert of_categories > 30, of_categories


@pytest.mark.parametrize("seed", range(4))
def test_a_default_is_one_of_the_ordered_categories(seed):
    pl, pd = pytest.importorskip("polars"), pytest.importorskip("pandas")
    rng = random.Random(seed)
    categories = rng.sample("pqrstu", rng.randint(1, 5))
    codes = [rng.randrange(len(categories)) for _ in range(rng.randint(1, 6))]
    table = pa.table(
        {"c": pa.DictionaryArray.from_arrays(codes, categories, ordered=True), "i": range(len(codes))}
    ).append_column("t", [["zzz"] * len(codes)])
    enum = pl.DataFrame(
        {"c": pl.Series([categories[c] for c in codes], dtype=pl.Enum(categories)), "i": range(len(codes))}
    )
    call = f"{rng.choice(['lag', 'lead'])}(c, 1, 'zzz') OVER (ORDER BY i)"
    for frame in (
        table,
        table.to_pandas(),
        enum,
        enum.lazy(),
        table.to_batches()[0],
    ):
        with pytest.raises(wr.SpecError, match="the default 'zzz' is none of the categories of 'c'"):
            wr.with_columns(frame, x=call)
    for run in (
        lambda: wr.with_columns(table, x="lag(c, 1, t) OVER (ORDER BY i)"),
        lambda: wr.with_columns(table.to_reader(), x=call).read_all(),
    ):
        with pytest.raises(wr.SpecError, match="the default 'zzz' is none of the categories of 'c'"):
            run()
    # without an order a dictionary says how values are written down, and one more value is put behind them
    plain = table.set_column(0, "c", pa.DictionaryArray.from_arrays(codes, categories))
    for frame in (plain, plain.to_pandas()):
        made = wr.with_columns(frame, x=call)["x"]
        made = pa.array(made) if isinstance(made, pd.Series) else made.chunk(0)
        assert made.dictionary.to_pylist() == [*categories, "zzz"]
        assert made.to_pylist().count("zzz") == 1


def test_pieces_with_dictionaries_that_contradict_each_other():
    def pieces(*dictionaries, ordered=True):
        arrays = [pa.DictionaryArray.from_arrays([0, 1], d, ordered=ordered) for d in dictionaries]
        return pa.table({"c": pa.chunked_array(arrays), "i": range(2 * len(arrays))})

    made = wr.with_columns(pieces(["p", "q"], ["p", "r"], ["p", "q", "r"]), x="max(c) OVER (ORDER BY i)")["x"]
    assert made.to_pylist() == ["p", "q", "q", "r", "r", "r"]
    assert made.chunk(0).dictionary.to_pylist() == ["p", "q", "r"]
    for function in ("max", "first_value"):
        with pytest.raises(wr.DataError, match="column 'c' has pieces with ordered categories that have no order"):
            wr.with_columns(pieces(["p", "q"], ["q", "p"]), x=f"{function}(c) OVER (ORDER BY i)")
    made = wr.with_columns(pieces(["p", "q"], ["q", "r"], ordered=False), x="lag(c, 1, c) OVER (ORDER BY i)")["x"]
    assert made.to_pylist() == ["p", "p", "q", "q"]
    assert made.chunk(0).dictionary.to_pylist() == ["p", "q", "r"]
