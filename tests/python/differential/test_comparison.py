"""The rule by which sums of two engines are held against each other: what it lets pass, and what not."""

import math

import pyarrow as pa
import pytest

import windrow as wr
from support.comparison import Answers, partition_scales, scales_by
from support.random_calls import Ask

WINDOW = "OVER (PARTITION BY p ORDER BY id ROWS BETWEEN 1 PRECEDING AND CURRENT ROW)"
TABLE = pa.table({"id": range(6), "p": [1] * 4 + [2] * 2, "x": [1e12, 0.1, 0.2, 0.3, math.inf, 0.7]})


def duckdb_scales():
    duckdb = pytest.importorskip("duckdb")

    def run(table, items):
        connection = duckdb.connect()
        connection.register("t", table)
        return connection.sql(f"SELECT {', '.join(items)} FROM t").to_arrow_table()

    return scales_by(run)


def faults(scales, function, change):
    """Compare windrow's answers with themselves, one of them changed."""
    ask = Ask(f"{function}(x) {WINDOW}", function, "x", WINDOW)
    ours = wr.select(TABLE, {"c": ask.text})["c"].to_pylist()
    answers = Answers("itself", scales)
    answers.check(ask, ours, [change(v) if i == 2 else v for i, v in enumerate(ours)], TABLE, TABLE["id"].to_pylist())
    assert answers.answered == answers.compared == 1
    return len(answers.conclude())


@pytest.mark.parametrize("function", ["sum", "avg", "var_pop", "stddev_samp"])
def test_a_frame_allows_what_its_own_values_explain(function):
    by_frame = duckdb_scales()
    next_one, off = (lambda v: math.nextafter(v, 9)), (lambda v: v * (1 + 1e-9))
    assert faults(by_frame, function, lambda v: v) == 0
    assert faults(by_frame, function, next_one) == 0
    assert faults(by_frame, function, off) == 1  # however great other rows of the partition are
    assert faults(by_frame, function, lambda v: math.nan) == 1
    assert faults(by_frame, function, lambda v: None) == 1
    # where nobody says what a frame holds, the partition's greatest value counts
    assert faults(partition_scales, function, next_one) == 0
    assert faults(partition_scales, function, off) == 0
    assert faults(partition_scales, function, lambda v: v + 1e25) == 1


def test_scales_know_rows_and_the_greatest_value():
    ask = Ask(f"sum(x) {WINDOW}", "sum", "x", WINDOW)
    assert duckdb_scales()([ask], TABLE) == [
        {0: (1, 1e12), 1: (2, 1e12), 2: (2, 0.2), 3: (2, 0.3), 4: (1, math.inf), 5: (2, math.inf)}
    ]
    assert partition_scales([ask], TABLE) == [dict.fromkeys(range(4), (4, 1e12)) | dict.fromkeys((4, 5), (1, 0.7))]
