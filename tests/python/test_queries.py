"""Realistic queries: each answered by windrow and by Spark, or by DuckDB where Spark has no such window."""

import math
import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path

import pytest
from query_tables import make_tables

import windrow as wr

pytest.importorskip("sqlglot")


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
            title, against = (title.removesuffix(" (DuckDB)"), "DuckDB") if title.endswith(" (DuckDB)") else (title, "Spark")
            yield Query(path.stem, title, against, text.strip().removesuffix(";"))


QUERIES = list(read_queries())
TABLES = make_tables()


def rows_of(table, text):
    """Give the rows, in the order asked for, or in one of their own where the query asks for none."""
    rows = [tuple(plain(v) for v in row.values()) for row in table.to_pylist()]
    return rows if re.search(r"\bORDER BY [^()]*$", text) else sorted(rows, key=sort_key)


def sort_key(row):
    return [(v is None, type(v).__name__ if not isinstance(v, (int, float)) else "", str(v) if not isinstance(v, (int, float)) else (v != v, v if v == v else 0)) for v in row]


def plain(value):
    """Give numbers of all types one form; whole numbers and decimals stay exact."""
    if isinstance(value, Decimal):
        return value.normalize() if value != value.to_integral() else int(value)
    if isinstance(value, list):
        return [plain(v) for v in value]
    return value


def same(one, other):
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same(one[k], other[k]) for k in one)
    if isinstance(one, float) or isinstance(other, float):
        if one is None or other is None:
            return one is other
        one, other = float(one), float(other)
        return one == other or (math.isnan(one) and math.isnan(other)) or math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-9)
    return one == other


@pytest.fixture(scope="module")
def spark_answers(oracle_spark):
    for name, table in TABLES.items():
        oracle_spark.createDataFrame(table).coalesce(1).createOrReplaceTempView(name)

    def answer(query):
        try:
            return oracle_spark.sql(query.text).toArrow()
        except Exception as error:
            return error

    asked = [q for q in QUERIES if q.against == "Spark"]
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


@pytest.mark.parametrize("query", QUERIES, ids=str)
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
    different = [(a, b) for a, b in zip(left, right, strict=True) if not all(map(same, a, b))]
    assert not different, f"{query.text}\n" + "\n".join(f"{a} is {b} in {query.against}" for a, b in different[:5])


def test_there_are_queries_enough():
    assert len(QUERIES) >= 200
    assert len({str(q) for q in QUERIES}) == len(QUERIES)
