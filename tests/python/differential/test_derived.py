"""Functions that are written with calls, held against pandas, Polars and scipy."""

import math
import random
from functools import partial

import pyarrow as pa
import pyarrow.compute as pc
import pytest

import windrow as wr
from support.comparison import equal, equal_loosely
from support.random_calls import SEED

pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")

SIZES = (0, 1, 2, 150)


def table(rng, size, kind):
    """Rows in no order, of a few partitions, with nulls and runs of equal values; floats with NaN and infinities."""
    values = {
        "int": lambda: rng.randint(-3, 3),
        "float": lambda: rng.choice([0.0, -0.0, 1.5, -2.25, 3.0, 1e9, math.nan, math.inf]),
        "finite": lambda: rng.gauss(50, 20),
        "text": lambda: rng.choice("ab"),
    }[kind]
    rows = [
        {
            "k": rng.randint(0, 3),
            "t": t,
            "x": rng.choice([None, values(), values(), values()]),
            "flag": rng.random() < 0.2,
        }
        for t in range(size)
    ]
    for i in range(1, size):
        if rng.random() < 0.4:
            rows[i]["x"] = rows[i - 1]["x"]
    rng.shuffle(rows)
    types = {"int": pa.int64(), "text": pa.string()}
    schema = pa.schema(
        [("k", pa.int64()), ("t", pa.int64()), ("x", types.get(kind, pa.float64())), ("flag", pa.bool_())]
    )
    return pa.Table.from_pylist(rows, schema)


def tables(*kinds):
    rng = random.Random(SEED)
    for kind in kinds:
        for size in SIZES:
            yield kind, table(rng, size, kind)


def by_partition(data, answer):
    """Give what a function makes of each partition's values in order, in the order of the table's rows."""
    rows = data.to_pylist()
    found = [None] * len(rows)
    for k in {row["k"] for row in rows}:
        places = sorted((i for i, row in enumerate(rows) if row["k"] == k), key=lambda i: rows[i]["t"])
        made = answer([rows[i] for i in places])
        assert len(made) == len(places)
        for i, value in zip(places, made, strict=True):
            found[i] = value
    return found


def computed(data, item):
    found = wr.select(data, y=item)["y"].to_pylist()
    for other in (pl.DataFrame(data), pl.DataFrame(data).lazy()):
        made = wr.select(other, y=item).lazy().collect()["y"].to_list()
        assert all(equal(a, b) for a, b in zip(found, made, strict=True))
    return found


def differences(found, expected, same=equal):
    return [(a, b) for a, b in zip(found, expected, strict=True) if not same(a, b)]


W = wr.window("k", "t")


@pytest.mark.parametrize("n", [1, 3, -1, 0, 1000])
def test_shift_and_diff(n):
    compared = 0
    for kind, data in tables("int", "float", "text"):
        for fill in (None, 7):
            if fill is not None and kind == "text":
                continue
            expected = by_partition(
                data,
                lambda rows, fill=fill: (
                    pl.Series([r["x"] for r in rows], strict=False).shift(n, fill_value=fill).to_list()
                ),
            )
            found = computed(data, wr.shift("x", n, fill).over(W))
            assert not differences(found, expected, lambda a, b: equal(a, b, types=False))
            compared += len(found)
        if kind == "text":
            continue
        expected = by_partition(
            data,
            lambda rows, dtype=pl.Int64 if kind == "int" else pl.Float64: (
                pl.Series([r["x"] for r in rows], dtype=dtype).diff(n).to_list()
                if n
                else [None if r["x"] is None else r["x"] - r["x"] for r in rows]
            ),
        )
        found = computed(data, wr.diff("x", n).over(W))
        assert not differences(found, expected, lambda a, b: equal(a, b, signed_zeros=False))
        assert found == computed(data, wr.expr(f"x - lag(x, {n}) OVER (PARTITION BY k ORDER BY t)")) or kind == "float"
        compared += len(found)
    assert compared == 7 * sum(SIZES)


@pytest.mark.parametrize("n", [1, 2, -2])
def test_pct_change(n):
    compared = infinite = 0
    for _, data in tables("int", "float", "finite"):

        def answer(rows):
            values = [math.nan if r["x"] is None else float(r["x"]) for r in rows]
            known = [r["x"] is not None for r in rows]
            made = pd.Series(values, dtype=float).pct_change(n, fill_method=None).tolist()
            pairs = [known[i] and 0 <= i - n < len(rows) and known[i - n] for i in range(len(rows))]
            return [m if p else None for m, p in zip(made, pairs, strict=True)]

        found = computed(data, wr.pct_change("x", n).over(W))
        # a zero of pandas' has a sign, and SQL's has none
        expected = [None if e is None else e for e in by_partition(data, answer)]
        wrong = differences(found, expected, lambda a, b: equal(a, b, rel=1e-15, absolute=1e-15, signed_zeros=False))
        assert all(math.isinf(a) and math.isinf(b) for a, b in wrong), wrong
        infinite += sum(f is not None and math.isinf(f) for f in found)
        compared += len(found)
    assert compared == 3 * sum(SIZES)
    assert infinite > 10
    data = pa.table({"t": [1, 2], "x": pa.array([2, 3], pa.int8())})
    assert wr.select(data, y=wr.pct_change("x").over(order_by="t"))["y"].to_pylist() == [None, 0.5]


@pytest.mark.parametrize("rows", [None, (None, 0), (-4, 0), (-2, 2), (1, 3)])
@pytest.mark.parametrize("ddof", [0, 1])
def test_z_score(rows, ddof):
    compared = known = 0
    for kind, data in tables("int", "finite"):

        def answer(parts):
            made = []
            for i, row in enumerate(parts):
                low, high = (None, None) if rows is None else rows
                begin = 0 if low is None else max(i + low, 0)
                end = len(parts) if high is None else max(i + high + 1, 0)
                values = pd.Series([r["x"] for r in parts[begin:end] if r["x"] is not None], dtype=float)
                spread = values.std(ddof=ddof) if len(values) > ddof else math.nan
                same = values.nunique() < 2
                none = row["x"] is None or len(values) <= ddof or same
                made.append(None if none else (row["x"] - values.mean()) / spread)
            return made

        window = wr.window("k") if rows is None else W.rows(rows)
        found = computed(data, wr.z_score("x", ddof=ddof).over(window))
        assert not differences(found, by_partition(data, answer), equal_loosely), kind
        compared += len(found)
        known += sum(f is not None for f in found)
    assert compared == 2 * sum(SIZES)
    assert known > 150


def test_z_score_is_scipys():
    stats = pytest.importorskip("scipy.stats")
    compared = 0
    for _, data in tables("finite"):
        found = computed(data, wr.z_score("x", ddof=0).over("k"))

        def answer(rows):
            return stats.zscore([math.nan if r["x"] is None else r["x"] for r in rows], nan_policy="omit").tolist()

        expected = by_partition(data, answer)
        pairs = [(a, b) for a, b in zip(found, expected, strict=True) if a is not None]
        assert all(math.isclose(a, b, rel_tol=1e-12, abs_tol=1e-12) for a, b in pairs)
        compared += len(pairs)
    assert compared > 100


def test_islands():
    compared = numbers = 0
    for kind, data in tables("int", "float", "text"):
        dtype = {"int": pl.Int64, "float": pl.Float64, "text": pl.String}[kind]
        expected = by_partition(
            data, lambda rows, dtype=dtype: (pl.Series([r["x"] for r in rows], dtype=dtype).rle_id() + 1).to_list()
        )
        run = wr.islands("x").over(W)
        found = computed(data, run)
        assert found == expected
        # equal values that pandas has none for
        if kind == "int":
            both = computed(data, wr.islands("x", "flag").over(W))
            assert both == by_partition(
                data,
                lambda rows: [
                    1
                    + sum(
                        (rows[j]["x"], rows[j]["flag"]) != (rows[j - 1]["x"], rows[j - 1]["flag"])
                        for j in range(1, i + 1)
                    )
                    for i in range(len(rows))
                ],
            )
        lengths = wr.select(data, y=wr.count().over(wr.window(["k", run])))["y"].to_pylist()
        groups = list(zip(data["k"].to_pylist(), found, strict=True))
        assert lengths == [groups.count(g) for g in groups]
        compared += len(found)
        numbers = max([numbers, *found])
    assert compared == 3 * sum(SIZES)
    assert numbers > 20
    ties = pa.table({"t": [1, 1, 1], "x": [1, 2, 2]})
    assert wr.select(ties, y=wr.islands("x").over(order_by="t"))["y"].to_pylist() == [1, 2, 2]


RESETS = {
    "a flag": (wr.col("flag"), lambda row: row["flag"]),
    "nulls": (wr.col("x").is_null(), lambda row: row["x"] is None),
    "a condition that is null": (wr.col("x") > 0, lambda row: row["x"] is not None and row["x"] > 0),
    "always": (wr.lit(True) == True, lambda row: True),  # noqa: E712
}


@pytest.mark.parametrize("reset", RESETS)
@pytest.mark.parametrize("name", ["sum", "product", "count", "row_number", "max"])
def test_growing_frames_with_a_reset(reset, name):
    condition, holds = RESETS[reset]
    compared = 0

    def answer(rows):
        made, so_far, number = [], [], 0
        for row in rows:
            if holds(row):
                so_far, number = [], 0
            number += 1
            so_far += [] if row["x"] is None else [row["x"]]
            known = {"sum": sum, "product": math.prod, "max": lambda v: max(v, default=None)}
            value = {"count": len(so_far), "row_number": number}.get(name)
            made.append(value if value is not None else known[name](so_far) if so_far else None)
        return made

    for _, data in tables("int"):
        call = wr.row_number() if name == "row_number" else getattr(wr, name)("x")
        window = W.reset(condition) if name == "row_number" else W.rows((None, 0)).reset(condition)
        found = computed(data, call.over(window))
        assert not differences(found, by_partition(data, answer), equal_loosely)
        compared += len(found)
    assert compared == sum(SIZES)


def test_a_reset_cuts_every_frame():
    rng = random.Random(SEED)
    data = table(rng, 200, "int")
    window = W.reset("flag")
    group = wr.select(data, y=wr.count_if("flag").over(W.rows((None, 0))))["y"]
    grouped = data.append_column("g", group)
    compared = 0
    for rows in ((-2, 0), (-3, 3), (1, 2), (None, None)):
        for call in (wr.sum("x"), wr.count(), wr.last_value("x").ignore_nulls()):
            found = computed(data, call.over(window.rows(rows)))
            assert found == computed(grouped, call.over(wr.window(["k", "g"], "t", rows=rows)))
            compared += len(found)
    assert compared == 12 * 200
    assert repr(window) == (
        'wr.window(["k", wr.expr("count_if(flag) OVER (PARTITION BY k ORDER BY t ROWS BETWEEN UNBOUNDED PRECEDING AND '
        'CURRENT ROW)")], "t")'
    ).replace('"', "'")


WEIGHTS = [[0.5, 1, 2.25, -1, 3], "triang", "bartlett", "hann", "hamming", "blackman", ("gaussian", 1.5)]


@pytest.mark.parametrize("weights", WEIGHTS, ids=str)
@pytest.mark.parametrize("rows", [5, (-2, 2), (1, 5)], ids=str)
def test_weighted_sums_and_means(weights, rows):
    """As pandas' ``rolling(win_type=...)``, which takes its windows of scipy, whose formulas are these."""
    first = -4 if rows == 5 else rows[0]
    places = range(5)
    named = {
        "triang": [1 / 3, 2 / 3, 1, 2 / 3, 1 / 3],
        "bartlett": [0, 0.5, 1, 0.5, 0],
        "hann": [0.5 - 0.5 * math.cos(math.pi * i / 2) for i in places],
        "hamming": [0.54 - 0.46 * math.cos(math.pi * i / 2) for i in places],
        "blackman": [0.42 - 0.5 * math.cos(math.pi * i / 2) + 0.08 * math.cos(math.pi * i) for i in places],
        ("gaussian", 1.5): [math.exp(-((i - 2) ** 2) / 4.5) for i in places],
    }
    factors = weights if isinstance(weights, list) else named[weights]
    compared = known = 0

    def answer(parts, mean, least):
        made = []
        for i in range(len(parts)):
            pairs = [
                (parts[i + first + j]["x"], factors[j])
                for j in places
                if 0 <= i + first + j < len(parts) and parts[i + first + j]["x"] is not None
            ]
            total, whole = sum(x * w for x, w in pairs), sum(w for _, w in pairs)
            value = total if not mean else total / whole if whole else None
            made.append(value if len(pairs) >= max(least, 1) else None)
        return made

    same = partial(equal, types=False, signed_zeros=False, rel=1e-9, absolute=1e-9)
    for _, data in tables("finite"):
        for least in (0, 5):
            window = wr.window("k", "t", rows=rows, min_rows=least)
            for function, mean in ((wr.sum, False), (wr.mean, True)):
                found = wr.select(data, y=function("x", weights=weights).over(window))["y"].to_pylist()
                expected = by_partition(data, lambda rows, mean=mean, least=least: answer(rows, mean, least))
                assert not differences(found, expected, same)
                compared += len(found)
                known += sum(f is not None for f in found)
    assert compared == 4 * sum(SIZES)
    assert known > 150


def test_weights_are_pandas_and_scipys():
    pytest.importorskip("scipy.signal")
    rng = random.Random(SEED)
    data = table(rng, 80, "finite")
    compared = 0
    for n in (1, 6, 7):
        for weights in ("triang", "bartlett", "hann", "hamming", "blackman", ("gaussian", 2.5)):
            name, settings = (weights, {}) if isinstance(weights, str) else (weights[0], {"std": weights[1]})
            for least in (1, n):
                for method in ("sum", "mean"):

                    def answer(rows, name=name, settings=settings, least=least, method=method, n=n):
                        values = pd.Series([r["x"] for r in rows], dtype=float)
                        made = getattr(values.rolling(n, win_type=name, min_periods=least), method)(**settings)
                        return [None if math.isnan(v) else v for v in made]

                    window = wr.window("k", "t", rows=n, min_rows=least)
                    item = getattr(wr, method)("x", weights=weights).over(window)
                    found = wr.select(data, y=item)["y"].to_pylist()
                    expected = by_partition(data, answer)
                    pairs = list(zip(found, expected, strict=True))
                    wrong = [p for p in pairs if not equal(*p, rel=1e-9, absolute=1e-9)]
                    # these are 0 at their ends, where scipy's are nearly that, and pandas divides by them
                    ends = weights in ("bartlett", "hann", "blackman") and method == "mean"
                    assert not wrong or ends, (weights, n, wrong)
                    compared += len(pairs)
    assert compared > 4500


def test_weights_that_do_not_go_with_the_frame():
    data = pa.table({"t": [1, 2], "x": [1, 2]})
    window = wr.window(order_by="t")
    for frame in (window, window.rows((None, 0)), window.range((-1, 0)), window.rows((0, wr.col("x")))):
        with pytest.raises(wr.SpecError, match="weights belong to the rows of a frame of fixed length"):
            wr.sum("x", weights="triang").over(frame)
    with pytest.raises(wr.SpecError, match="2 weights do not go with a frame of 3 rows"):
        wr.mean("x", weights=[1, 2]).over(window.rows(3))
    for weights in ("gaussian", [], ["a"], [math.nan], ("gaussian", -1.0), 3, {"x": 1}):
        with pytest.raises(wr.SpecError):
            wr.mean("x", weights=weights)
    long = wr.select(data, y=wr.mean("x", weights="triang").over(window.rows(300)))["y"].to_pylist()
    assert long[0] == 1.0
    both = wr.select(data, wr.sum(["x", "t"], weights=[1, 2]).over(window.rows(2)).alias("{name}_w"))
    assert both.to_pydict() == {"x_w": [2.0, 5.0], "t_w": [2.0, 5.0]}


def test_several_columns_and_several_frames():
    data = pa.table({"t": range(6), "a": [1, 2, 4, 4, 8, 9], "b": [3.0, None, 1.0, 1.0, 7.0, 7.0]})
    window = wr.window(order_by="t")
    for make in (wr.diff, wr.pct_change, wr.islands, wr.z_score, wr.shift):
        both = wr.select(data, make(["a", "b"]).over(window).alias("{name}_y"))
        for name in "ab":
            assert both[f"{name}_y"].equals(wr.select(data, y=make(name).over(window))["y"])
    assert wr.select(data, wr.diff(["a", "b"]).over(window)).column_names == [
        "diff(a) OVER (ORDER BY t)",
        "diff(b) OVER (ORDER BY t)",
    ]
    made = wr.select(data, wr.z_score(["a", "b"]).over(window.rows([2, 3])).alias("z_{name}"))
    assert made.column_names == ["z_a_2", "z_b_2", "z_a_3", "z_b_3"]
    assert wr.select(data, wr.z_score("a").over(window.rows([2, 3]))).column_names == ["z_score(a)_2", "z_score(a)_3"]
    assert made["z_b_3"].equals(wr.select(data, y=wr.z_score("b").over(window.rows(3)))["y"])


def test_names_and_code():
    step = wr.diff("x").over(W)
    assert step.output_name == "diff(x) OVER (PARTITION BY k ORDER BY t)"
    assert (step / 2).output_name == "x - lag(x) OVER (PARTITION BY k ORDER BY t) / 2".replace("x -", "(x -").replace(
        " /", ") /"
    )
    assert wr.diff("x").alias("d").over(W).output_name == "d"
    assert repr(wr.diff("x", 2).alias("d")) == "diff(x, 2) AS d"
    for made in (step, wr.pct_change("x").over(W), wr.z_score("x").over(W), wr.islands("x").over(W)):
        assert wr.expr(made.sql).alias(made.output_name).equals(made), made
        assert eval(made.code(), {"wr": wr}).equals(made)
    assert wr.diff("x").equals(wr.diff("x"))
    assert not wr.diff("x").equals(wr.diff("x", 2))


def test_mistakes():
    data = pa.table({"t": [1, 2], "x": [1, 2], "s": ["a", "b"]})
    window = wr.window(order_by="t")
    for item in (lambda: wr.diff("x") / 2, lambda: wr.sum(wr.diff("x")), lambda: wr.select(data, wr.diff("x"))):
        with pytest.raises(wr.SpecError, match=r"diff\(x\) has no window; write diff\(x\).over\("):
            item()
    for n in (1.5, "1", True, None):
        with pytest.raises(wr.SpecError, match="is no number of rows"):
            wr.diff("x", n)
    with pytest.raises(wr.SpecError, match="takes no frame"):
        wr.select(data, wr.diff("x").over(window.rows(2)))
    with pytest.raises(wr.SpecError, match="takes no frame"):
        wr.islands("x").over(window.rows(2))
    with pytest.raises(wr.SpecError, match="the window has none"):
        wr.select(data, wr.islands("x").over())
    with pytest.raises(wr.SpecError, match="counts along an order"):
        wr.window("x").reset("s")
    with pytest.raises(wr.SpecError, match="Python compared the two sides itself"):
        window.reset(True)
    with pytest.raises(wr.SpecError, match="ddof=2"):
        wr.z_score("x", ddof=2)
    with pytest.raises(wr.UnsupportedError, match="string"):
        wr.select(data, wr.diff("s").over(window))
    with pytest.raises(wr.SpecError, match=r'for the text write wr.lit\("none"\)'):
        wr.select(data, wr.shift("s", 1, "none").over(window))
    tiny = pa.table({"t": [1, 2], "x": pa.array([-100, 100], pa.int8())})
    with pytest.raises(wr.ArithmeticOverflowError):
        wr.select(tiny, wr.diff("x").over(window))


ITEMS = {
    "d": wr.diff("x", 2).over(W),
    "p": wr.pct_change("x").over(W),
    "z": wr.z_score("x").over(W.rows(5)),
    "i": wr.islands("x").over(W),
    "r": wr.sum("x").over(W.reset("flag")),
    "m": wr.mean("x", weights="triang").over(W.rows(3, centered=True)),
}


def test_streams_answer_the_same():
    data = table(random.Random(SEED), 200, "finite").sort_by([("k", "ascending"), ("t", "ascending")])
    expected = wr.select(data, ITEMS).to_pydict()
    compared = 0
    for sort in (None, True):
        for name, item in ITEMS.items():
            found = wr.select(data.to_reader(7), {name: item}, sort=sort).read_all()[name].to_pylist()
            assert not differences(found, expected[name], equal_loosely), name
            compared += len(found)
    assert compared == 2 * 6 * 200


def test_spark_answers_the_same(oracle_spark):
    from support.spark_sessions import frame_of

    data = table(random.Random(SEED), 200, "finite").sort_by([("k", "ascending"), ("t", "ascending")])
    expected = wr.select(data, "k", "t", ITEMS).to_pydict()
    found = wr.select(frame_of(oracle_spark, data), "k", "t", ITEMS).orderBy("k", "t").collect()
    compared = 0
    for name, values in expected.items():
        assert not differences([row[name] for row in found], values, equal_loosely), name
        compared += len(values)
    assert compared == 8 * 200


@pytest.mark.parametrize("weights", [[0.5, 1, 2.25, 0, 3], [1] * 5, "triang", ("gaussian", 1.5)], ids=str)
@pytest.mark.parametrize("offset", [0, 1e6])
def test_weighted_deviations(weights, offset):
    """By their definition, in two passes; weights of 1 are pandas' own deviation. pandas' weighted one drifts."""
    factors = {
        "triang": [1 / 3, 2 / 3, 1, 2 / 3, 1 / 3],
        ("gaussian", 1.5): [math.exp(-((i - 2) ** 2) / 4.5) for i in range(5)],
    }
    factors = weights if isinstance(weights, list) else factors[weights]
    compared = known = 0

    def answer(parts, least):
        made = []
        for i in range(len(parts)):
            pairs = [
                (parts[i + j - 2]["x"], factors[j])
                for j in range(5)
                if 0 <= i + j - 2 < len(parts) and parts[i + j - 2]["x"] is not None
            ]
            whole, n = sum(w for _, w in pairs), len(pairs)
            if n < max(least, 2) or not whole:
                made.append(None)
                continue
            mean = sum(x * w for x, w in pairs) / whole
            made.append(math.sqrt(sum(w * (x - mean) ** 2 for x, w in pairs) / whole * n / (n - 1)))
        return made

    same = partial(equal, types=False, signed_zeros=False, rel=1e-6, absolute=1e-6)
    for _, data in tables("finite"):
        data = data.set_column(data.schema.get_field_index("x"), "x", pc.add(data["x"], float(offset)))
        for least in (0, 3):
            window = wr.window("k", "t", rows=(-2, 2), min_rows=least)
            found = wr.select(data, y=wr.std("x", weights=weights).over(window))["y"].to_pylist()
            assert not differences(found, by_partition(data, partial(answer, least=least)), same)
            if weights == [1] * 5:
                plain = wr.select(data, y=wr.std("x").over(window))["y"].to_pylist()
                assert not differences(found, plain, same)
            compared += len(found)
            known += sum(f is not None for f in found)
    assert compared == 2 * sum(SIZES)
    assert known > 50
    with pytest.raises(wr.SpecError, match="no negative weights"):
        wr.stddev("x", weights=[1, -1])
