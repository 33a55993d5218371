"""What a type checker sees of DuckDB's relations, whose results are relations."""

import duckdb
from typing_extensions import assert_type

import windrow as wr

call = wr.sum("x").over(wr.window("k"))


def results(relation: duckdb.DuckDBPyRelation) -> None:
    assert_type(wr.with_columns(relation, call), duckdb.DuckDBPyRelation)
    assert_type(wr.select(relation, "k", call), duckdb.DuckDBPyRelation)
    assert_type(wr.sql("SELECT * FROM f", f=relation), duckdb.DuckDBPyRelation)
    wr.explain(relation, call)


def refused(relation: duckdb.DuckDBPyRelation) -> None:
    wr.with_columns(relation, call, engine="spark")  # type: ignore[call-overload]  # pyright: ignore[reportArgumentType, reportCallIssue]
    wr.max(relation)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
