"""docs/spark_differences.md says where windrow's answers are not Spark's, with both: they are what both really give."""

import re

import pyarrow as pa
import pytest

import windrow as wr
from support.paths import ROOT

PAGE = (ROOT / "docs" / "spark_differences.md").read_text(encoding="utf-8")


def read_tables():
    """Run the page's Python, which makes the tables that its expressions are asked over."""
    scope = {}
    for block in re.findall(r"^```python\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL):
        exec(block, scope)
    return {name: scope[name] for name in ("t", "many")}


def read_claims():
    """Read the rows of the page's tables: expression, Spark's answer, windrow's answer."""
    for line in PAGE.splitlines():
        if line.startswith("| `"):
            expression, spark, ours = (cell.strip() for cell in line.strip("|").replace(r"\|", "\0").split("|"))
            yield expression.strip("`").replace("\0", "|"), spark.strip("`"), ours.strip("`")


TABLES = read_tables()
CLAIMS = list(read_claims())


def source(expression):
    return "many" if re.search(r"\bhundred\b", expression) else "t"


def shown(values, over):
    """Give the answers in the order of id; of the large table the first."""
    values = values.to_pylist()
    return str(values[0] if over == "many" else values)


@pytest.fixture(scope="module")
def spark_says(oracle_spark):
    for name, table in TABLES.items():
        oracle_spark.createDataFrame(table).coalesce(1).createOrReplaceTempView(name)

    def ask(expression):
        over = source(expression)
        try:
            answer = oracle_spark.sql(f"SELECT id, {expression} AS c FROM {over} ORDER BY id").toArrow()["c"]
        except Exception as error:
            condition = getattr(error, "getCondition", lambda: None)() or str(error)
            return condition.split("\n")[0]
        return shown(answer, over)

    return ask


def ours_says(expression):
    over = source(expression)
    try:
        return shown(wr.select(TABLES[over], {"c": expression})["c"], over)
    except wr.WindrowError as error:
        return type(error).__name__


@pytest.mark.parametrize(("expression", "spark", "ours"), CLAIMS, ids=[c[0] for c in CLAIMS])
def test_claim(expression, spark, ours, spark_says):
    assert ours_says(expression) == ours
    assert spark_says(expression) == spark
    assert spark != ours


CANNOT_COME = {
    "year-month interval": ("make_ym_interval(1, 2)", "min(v) OVER (ORDER BY id)"),
    "calendar interval": ("make_interval(1)", "sum(id) OVER (ORDER BY id)"),
    "strings with a collation": ("cast(id AS string) COLLATE UTF8_LCASE", "min(v) OVER (ORDER BY id)"),
}
PASSES = {
    "strings with a collation": (
        "cast(id AS string) COLLATE UTF8_LCASE",
        "lag(v) OVER (PARTITION BY id % 2 ORDER BY id)",
    ),
    "variant": ("parse_json('[1]')", "count(v) OVER (PARTITION BY id % 2 ORDER BY id)"),
    "map": ("map(id, id)", "collect_list(v) OVER (PARTITION BY id % 2 ORDER BY id)"),
}


@pytest.mark.parametrize("name", CANNOT_COME)
def test_types_that_cannot_come_through_arrow(name, oracle_spark):
    assert f"| {name}" in PAGE
    value, call = CANNOT_COME[name]
    frame = oracle_spark.range(3).selectExpr("id", f"{value} AS v")
    with pytest.raises(wr.UnsupportedError, match="Arrow"):
        wr.with_columns(frame, {"c": call})


@pytest.mark.parametrize("name", PASSES)
def test_types_that_pass_through(name, oracle_spark):
    value, call = PASSES[name]
    frame = oracle_spark.range(3).selectExpr("id", f"{value} AS v")
    ours = wr.with_columns(frame, {"c": call})
    theirs = frame.selectExpr("*", f"{call} AS c")
    assert ours.schema == theirs.schema
    assert sorted(map(str, ours.collect())) == sorted(map(str, theirs.collect()))


ONLY_ARROW = {
    pa.uint8(): pa.int64(), pa.uint32(): pa.int64(), pa.uint64(): pa.uint64(), pa.float16(): pa.float64(),
    pa.decimal256(50, 2): pa.decimal256(60, 2), pa.duration("ms"): pa.duration("ms"),
}  # fmt: skip


@pytest.mark.parametrize("data_type", ONLY_ARROW, ids=str)
def test_sums_of_types_that_only_arrow_has(data_type):
    step = pa.int64() if pa.types.is_duration(data_type) else pa.int16()
    table = pa.table({"x": pa.array([1, 2, None], step).cast(data_type)})
    assert wr.select(table, wr.sum("x").over()).column(0).type == ONLY_ARROW[data_type]


TEXTS = [pa.large_string(), pa.string_view(), pa.dictionary(pa.int32(), pa.string()), pa.large_binary()]


@pytest.mark.parametrize("data_type", TEXTS, ids=str)
def test_texts_keep_their_type(data_type):
    values = pa.array(["b", "a", None])
    if pa.types.is_fixed_size_binary(data_type):
        values = values.cast(pa.binary())
    table = pa.table(
        {"x": values.cast(data_type) if not pa.types.is_dictionary(data_type) else values.dictionary_encode()}
    )
    for call in (wr.min("x"), wr.first("x"), wr.last("x").ignore_nulls()):
        assert wr.select(table, call.over()).column(0).type == table["x"].type
