"""wr.explain: text and HTML."""

import random

import pyarrow as pa
import pytest

import windrow as wr

schema = pa.schema({"device": pa.int64(), "id": pa.int64(), "level": pa.float64()})
peak = wr.max("level").over(wr.window("device", "id", rows=(-1000, 1000))).alias("peak")
share = wr.sum("level").over(wr.window("device")).alias("a < b")


def test_of_a_schema():
    plan = wr.explain(schema, peak, share)
    assert [r["name"] for r in plan.rows] == ["peak", "a < b"]
    text = str(plan)
    assert "PARTITION BY device" in text
    assert "two_stacks" in text
    assert all(line == line.rstrip() for line in text.splitlines())
    assert repr(plan) == text


def test_html_is_escaped():
    page = wr.explain(schema, peak, share)._repr_html_()
    assert page.startswith("<div")
    assert "a &lt; b" in page
    assert "a < b" not in page


def random_name(rng):
    return "".join(rng.choices("ab <>&\"'`;{}()\x01\n\u202e\u00e9\u540d%$", k=rng.randint(1, 30)))


def parsed(page):
    """Parse HTML as XML, which ``_repr_html_`` keeps to."""
    from xml.etree import ElementTree

    return ElementTree.fromstring(page)


def test_html_is_complete_and_holds_no_foreign_elements():
    """Whatever columns are called; and nothing in it is loaded, or run."""
    rng, compared = random.Random("explain html"), 0
    allowed = {"div", "style", "table", "thead", "tbody", "tr", "th", "td", "code", "small", "b", "ul", "li", "p"}
    drawn = {f"{{http://www.w3.org/2000/svg}}{tag}" for tag in ("svg", "rect", "text")}
    for _ in range(40):
        names = list(dict.fromkeys(random_name(rng) for _ in range(4)))
        table = pa.table({name: [3, 1, 2] for name in names})
        w = wr.window(rng.choice(names), rng.choice(names), rows=(-2, rng.randint(0, 2)))
        calls = {f"1{random_name(rng)}": wr.sum(rng.choice(names)).over(w), random_name(rng): wr.max(names[0]).over(w)}
        metrics = rng.random() < 0.5
        plan = wr.explain(table, calls, metrics=metrics)
        root = parsed(plan._repr_html_())
        assert {e.tag for e in root.iter()} <= allowed | drawn
        assert "url(" not in root.find("style").text
        assert {a for e in root.iter() for a in e.attrib}.isdisjoint({"href", "src", "onclick", "onload"})
        cells = ["".join(e.itertext()) for e in root.iter("td")]
        shown = "".join(map(str, cells))
        for row in plan.rows:
            text = row["call"].translate({10: " ", 1: "\ufffd", 0x202E: "\ufffd"})
            assert text in shown
            assert f"{row['strategy']}{row['reason']}" in cells
            assert row["type"] in cells
            compared += 1
        assert (root.find(".//{http://www.w3.org/2000/svg}svg") is not None) == metrics
    assert compared == 80


def test_text_fits_a_page():
    """No line is wider, and what is cut or folded in a table stands in full below."""
    pl, rng, folded = pytest.importorskip("polars"), random.Random("explain text"), 0
    for _ in range(30):
        names = ["".join(rng.choices("abc_ ", k=rng.choice([3, 30, 200]))).strip() + str(i) for i in range(3)]
        frame = pl.DataFrame({names[0]: [1], names[1]: [2.0], names[2]: [[{"x" * 40: 1}]]})
        w = wr.window(names[0], names[1], **{rng.choice(["range", "groups", "rows"]): (-12345678, rng.randint(0, 2))})
        calls = {rng.choice([names[0], "short"]): wr.sum(names[1]).over(w), "list": wr.first_value(names[2]).over(w)}
        text = str(wr.explain(frame, calls, metrics=rng.random() < 0.5))
        assert max(map(len, text.splitlines())) <= 110
        assert all(line == line.rstrip() for line in text.splitlines())
        folded += any(line.startswith("      ") for line in text.splitlines())
    assert folded >= 5


def test_each_strategy_is_told_once():
    from windrow.hosts.explanation import STRATEGIES
    from windrow.settings import STRATEGIES as KNOWN

    assert set(STRATEGIES) == {*KNOWN, "spark"}
    told = str(wr.explain(schema, peak, share, wr.min("level").over(wr.window("device", "id", rows=(-1000, 1000)))))
    legend = told.partition("\nstrategy ")[2].splitlines()[2:]
    assert len(legend) == len({line.split()[0] for line in legend}) >= 2
    assert {line.split()[0] for line in legend} <= set(STRATEGIES)
    page = wr.explain(schema, peak, share)._repr_html_()
    assert page.count(STRATEGIES["grouped"][0]) == 1


def test_types_are_named_as_the_host_names_them():
    """As the columns of the results are, whatever the values: pandas' own depend on whether there are NULLs."""
    pl, pandas = map(pytest.importorskip, ("polars", "pandas"))
    table = pa.table(VALUES | {"b": [True, None, False, True], "f": [1.5, 2.5, None, 1.0]})
    table = table.append_column("whole", pa.array([1, 2, 3, 4], pa.int16())).append_column("sure", [[True, False] * 2])
    table = table.append_column("t", pa.array([1, 2, 3, None], pa.timestamp("us", "UTC")))
    enum = pl.from_arrow(table).with_columns(pl.col("e").cast(pl.Enum(["low", "high"])))
    frames = {
        "table": (table, lambda f: dict(zip(f.column_names, map(str, f.schema.types), strict=True))),
        "polars": (enum, lambda f: {n: "Enum" if isinstance(t, pl.Enum) else str(t) for n, t in f.schema.items()}),
        "lazy": (enum.lazy(), lambda f: {n: "Enum" if isinstance(t, pl.Enum) else str(t)
                                         for n, t in f.collect_schema().items()}),
        "arrow types": (table.to_pandas(types_mapper=pandas.ArrowDtype), lambda f: dict(f.dtypes.astype(str))),
        "numpy types": (table.drop_columns(["u"]).to_pandas(), lambda f: dict(f.dtypes.astype(str))),
    }  # fmt: skip
    compared, either = 0, 0
    for kind, (frame, types) in frames.items():
        calls = {
            f"{f}_{n}": f"{f}({n}) OVER (ORDER BY i {bounds})"
            for n in table.column_names
            if not (kind == "numpy types" and n in "ul")
            for f, bounds in (("first_value", ""), ("lag", ""), ("count", ""), ("array_agg", "ROWS 1 PRECEDING"))
        }
        calls |= {"s": "sum(i) OVER ()", "nested": "sum(rank() OVER (ORDER BY i)) OVER ()", "avg": "avg(f) OVER ()"}
        got = types(wr.with_columns(frame, calls))
        for row in wr.explain(frame, calls).rows:
            if row["name"] in calls:
                one, _, other = row["type"].partition(", or ")
                assert got[row["name"]] in (one, other.removesuffix(" with NULLs")), (kind, row)
                compared += 1
                either += bool(other)
    assert compared > 200
    assert either >= 7


def test_of_frames():
    table = schema.empty_table()
    assert str(wr.explain(table, peak)) == str(wr.explain(schema, peak))


def test_what_the_host_does():
    plan = wr.explain(schema, s=wr.sum(wr.expr("level * 2")).over())
    assert plan.steps == ["Polars evaluates level * 2 into a column first"]


@pytest.mark.parametrize("seed", range(2))
def test_pandas_labels_of_all_kinds(seed):
    """What with_columns computes, explain explains and operator takes: labels may be numbers, or be there twice."""
    pandas = pytest.importorskip("pandas")
    rng, repeated = random.Random(seed), 0
    for _ in range(15):
        labels = [rng.choice(["a", "b", 0, 1, 2.5, "0", ("a", 1), None]) for _ in range(rng.randrange(1, 5))]
        values = {0: [1, 2], 1: [0.5, None], 2: ["x", None], 3: [True, False]}
        frame = pandas.concat(
            [pandas.Series(values[rng.randrange(4)]) for _ in labels] + [pandas.Series([3, 4])], axis=1
        )
        frame.columns = pandas.Index([*labels, "v"], dtype=object)
        call = "sum(v) OVER (ORDER BY v)"
        out = wr.with_columns(frame, y=call)
        assert out["y"].tolist() == [3, 7]
        assert "sum(v)" in str(wr.explain(frame, call))
        assert wr.operator({"y": call}, frame).schema.names[-1] == "y"
        repeated += len(set(map(str, labels))) < len(labels)
    assert repeated > 3


FUNCTIONS = [
    "sum({a})", "max({a})", "mode({a})", "max_by({a}, {b})", "lag({a}, 1, {b})", "lag({a})", "rank()", "ntile(2)",
    "array_agg({a})", "count(DISTINCT {a})", "median({a})", "approx_percentile({a}, 0.5)", "nth_value({a}, 2)",
    "first_value({a}) IGNORE NULLS", "sum({a}) FILTER (WHERE {b} > 1)", "max({a} + 1)", "string_agg({a}, ',')",
]  # fmt: skip
FRAMES = [
    "",
    "",
    "",
    "",
    "ROWS 1 PRECEDING",
    "RANGE 1 PRECEDING",
    "RANGE BETWEEN INTERVAL 1 DAY PRECEDING AND CURRENT ROW",
]
VALUES = {
    "i": pa.array([3, 1, None, 1]),
    "s": pa.array(["b", "a", "b", None]),
    "e": pa.DictionaryArray.from_arrays(pa.array([0, 1, None, 0]), pa.array(["low", "high"]), ordered=True),
    "c": pa.array(["b", "a", "b", None]).dictionary_encode(),
    "l": pa.array([[1], [2, None], None, []]),
    "d": pa.array([1, 2, 3, 4], pa.date32()),
    "n": pa.nulls(4),
    "y": pa.array([b"\xff", b"a", None, b"b"]),
    "u": pa.array([2**63, 1, 2, 3], pa.uint64()),
}


def random_item(rng):
    def key():
        name = rng.choice(list(VALUES))
        return rng.choice([name, name, name, f"{name} + 1", f"upper({name})", f"max({name}) OVER ()"])

    call = rng.choice(FUNCTIONS).format(a=key(), b=rng.choice(list(VALUES)))
    partition = f"PARTITION BY {key()}" if rng.random() < 0.4 else ""
    order = rng.choice(["", " DESC"])
    order = f"ORDER BY {key()}{order}" if rng.random() < 0.8 else ""
    item = f"{call} OVER ({partition} {order} {rng.choice(FRAMES)})"
    return f"{item} {rng.choice(['', '', '', '* 2', 'IS NULL'])} AS {rng.choice(['out', 'out', 'i'])}"


def kinds_of_frames():
    pl, pandas, duckdb = map(pytest.importorskip, ("polars", "pandas", "duckdb"))
    table = pa.table(VALUES)
    enum = pl.from_arrow(table).with_columns(pl.col("e").cast(pl.Enum(["low", "high"])))
    plain = table.drop_columns(["n"]).cast(  # DuckDB has no such types as the others
        pa.schema([(n, pa.string() if n in "ec" else VALUES[n].type) for n in VALUES if n != "n"])
    )
    return {
        "table": lambda: table,
        "batch": lambda: table.combine_chunks().to_batches()[0],
        "reader": table.to_reader,
        "polars": lambda: enum,
        "lazy": enum.lazy,
        "pandas": lambda: table.to_pandas(types_mapper=pandas.ArrowDtype),
        "duckdb": lambda: duckdb.from_arrow(plain),
        "schema": lambda: table.schema,
    }


def said(run):
    try:
        run()
    except wr.WindrowError as error:
        return type(error), str(error)
    return None


@pytest.mark.parametrize("kind", ["table", "batch", "reader", "polars", "lazy", "pandas", "duckdb", "schema"])
def test_explain_refuses_what_computing_over_no_rows_refuses(kind):
    made = kinds_of_frames()[kind]
    rng, compared = random.Random(f"explain {kind}"), {True: 0, False: 0}

    def without_rows():
        frame = made()
        if kind == "schema":
            return frame.empty_table()
        if kind == "reader":
            return pa.RecordBatchReader.from_batches(frame.schema, [])
        if kind == "duckdb":
            return frame.limit(0)
        return frame[:0] if kind in ("pandas", "polars") else frame.head(0) if kind == "lazy" else frame.slice(0, 0)

    for _ in range(100):
        item = random_item(rng)
        sort = rng.choice([None, None, None, False, True])
        explained = said(lambda: wr.explain(made(), item, sort=None if kind == "schema" else sort))  # noqa: B023
        computed = said(lambda: wr.with_columns(without_rows(), item, sort=sort))  # noqa: B023
        assert explained == computed, item
        compared[explained is None] += 1
    assert min(compared.values()) >= 10, compared


def test_enums_are_explained_as_they_are_computed():
    """By the positions of their categories, which is nobody's business."""
    pl = pytest.importorskip("polars")
    frame = pl.DataFrame({"x": [1, 2], "e": ["low", "high"]}, schema_overrides={"e": pl.Enum(["low", "high"])})
    for given in (frame, frame.lazy()):
        rows = wr.explain(given, r="rank() OVER (ORDER BY e DESC)", m="max(e) OVER (PARTITION BY e)").rows
        assert [(r["order_by"], r["type"]) for r in rows] == [(["e DESC"], "Int32"), ([], "Enum")]


def test_hidden_columns_are_shown_as_they_were_written():
    rows = wr.explain(schema, s="sum(id) OVER (PARTITION BY device % 2 ORDER BY max(id) OVER () DESC)").rows
    assert [r["partition_by"] for r in rows] == [[], ["device % 2"]]
    assert rows[1]["order_by"][0].startswith("max(id) OVER () DESC")


class OtherSchema:
    """A schema of another library."""

    def __init__(self, given):
        self.given = given

    def __arrow_c_schema__(self):
        return self.given.__arrow_c_schema__()


def test_of_a_schema_of_another_library():
    """By what it gives, whatever its class is called."""
    other = OtherSchema(schema)
    assert wr.operator(peak, other).schema == wr.operator(peak, schema).schema
    assert wr.explain(other, peak, share).rows == wr.explain(schema, peak, share).rows
    with pytest.raises(wr.DataError, match="DataType cannot be read"):
        wr.explain(pa.int64(), peak)


@pytest.mark.parametrize("kind", ["schema", "table", "batch", "reader", "polars", "lazy", "pandas", "duckdb"])
def test_arguments_are_checked_as_by_with_columns(kind):
    made = kinds_of_frames()[kind]
    rng, refused = random.Random(f"arguments {kind}"), 0
    for _ in range(12):
        arguments = {
            "sort": rng.choice([None, True, False, "spark", "q", 0, 1, "x" * 500]),
            "engine": rng.choice([None, None, "auto", "bogus", 3]),
            "spread": rng.choice([None, None, "never", "bogus"]),
        }
        call = "sum(i) OVER (PARTITION BY i)"
        frame = pa.table(VALUES)[:0] if kind == "schema" else made().limit(0) if kind == "duckdb" else made()
        told = said(lambda: wr.with_columns(frame, call, **arguments))  # noqa: B023
        if told is not None and told[0] is wr.OrderError:
            told = None
        assert said(lambda: wr.explain(made(), call, **arguments)) == told  # noqa: B023
        refused += told is not None
        if told is not None:
            assert len(told[1]) < 250
    assert refused >= 6
