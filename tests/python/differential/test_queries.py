"""Realistic queries: each answered by windrow and by Spark, or by DuckDB where Spark has no such window."""

import math
import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path

import pytest

import windrow as wr
from support.comparison import equal_loosely
from support.query_tables import make_tables


@dataclass(frozen=True)
class Query:
    file: str
    title: str
    against: str
    text: str

    def __str__(self) -> str:
        return f"{self.file}: {self.title}"


def read_queries() -> Iterator[Query]:
    """Read ``-- title`` or ``-- title (DuckDB)``, then the query, then ``;``."""
    for path in sorted((Path(__file__).parent / "queries").glob("*.sql")):
        _, *parts = re.split(r"^-- ", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
        for part in parts[1:]:
            title, text = part.split("\n", 1)
            against = "DuckDB" if title.endswith(" (DuckDB)") else "Spark"
            yield Query(path.stem, title.removesuffix(" (DuckDB)"), against, text.strip().removesuffix(";"))


QUERIES = list(read_queries())
TABLES = make_tables()


def rows_of(table, text):
    """Give the rows, in the order asked for, or in one of their own where the query asks for none."""
    rows = [tuple(map(plain, row.values())) for row in table.to_pylist()]
    return rows if re.search(r"\bORDER BY [^()]*$", text) else sorted(rows, key=lambda row: list(map(sort_key, row)))


def sort_key(value):
    if isinstance(value, (int, float, Decimal)):
        return (1, math.inf if math.isnan(value) else round(float(value), 6), "")
    return (0 if value is None else 2, 0.0, str(value))


def plain(value):
    """Give whole numbers one form; decimals stay exact."""
    if isinstance(value, Decimal) and value == value.to_integral():
        return int(value)
    return [plain(v) for v in value] if isinstance(value, list) else value


@pytest.fixture(scope="module")
def spark_answers(oracle_spark, request):
    for name, table in TABLES.items():
        oracle_spark.createDataFrame(table).coalesce(1).createOrReplaceTempView(name)

    def answer(query):
        try:
            return oracle_spark.sql(query.text).toArrow()
        except Exception as error:
            return error

    tests = [item for item in request.session.items if item.nodeid.startswith(request.node.nodeid)]
    queries = [item.callspec.params["query"] for item in tests if hasattr(item, "callspec")]
    asked = [q for q in queries if q.against == "Spark"]
    with ThreadPoolExecutor(4) as pool:
        return dict(zip(asked, pool.map(answer, asked), strict=True))


@pytest.fixture(scope="module")
def duckdb_connection():
    duckdb = pytest.importorskip("duckdb")
    connection = duckdb.connect()
    for name, table in TABLES.items():
        connection.register(name, table)
    yield connection
    connection.close()


@pytest.mark.parametrize(
    "query", [pytest.param(q, marks=pytest.mark.spark) if q.against == "Spark" else q for q in QUERIES], ids=str
)
def test_query(query, request):
    if query.against == "Spark":
        theirs = request.getfixturevalue("spark_answers")[query]
        if isinstance(theirs, Exception):
            raise theirs
    else:
        theirs = request.getfixturevalue("duckdb_connection").sql(query.text).to_arrow_table()
    ours = wr.sql(query.text, **TABLES)
    assert ours.column_names == theirs.column_names
    left, right = rows_of(ours, query.text), rows_of(theirs, query.text)
    assert len(left) == len(right)
    different = [(a, b) for a, b in zip(left, right, strict=True) if not all(map(equal_loosely, a, b))]
    assert not different, f"{query.text}\n" + "\n".join(f"{a} is {b} in {query.against}" for a, b in different[:5])


def test_number_of_queries():
    assert len(QUERIES) >= 200
    assert len({str(q) for q in QUERIES}) == len(QUERIES)
