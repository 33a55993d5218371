"""Scalars in SQL strings mean on frames in memory, where Polars evaluates them, what they mean on Spark."""

import datetime as dt
from functools import partial

import pyarrow as pa
import pytest

import windrow as wr
from support.comparison import same
from windrow._scalars.polars_sql import polars_text

pl = pytest.importorskip("polars")

ROWS = {
    "a": [7, -7, None, 0],
    "b": [2, 2, 2, 0],
    "x": [1.5, 2.5, -2.5, None],
    "s": ["ab", "B", "", None],
    "d": [dt.date(2024, 3, 31), dt.date(2024, 2, 29), None, dt.date(1999, 12, 25)],
    "ts": [dt.datetime(2024, 3, 31, 13, 5, 6)] * 4,
    "f": [True, False, None, True],
    "b c": [1, 2, 3, 4],
}
TYPES = "a bigint, b bigint, x double, s string, d date, ts timestamp_ntz, f boolean, `b c` bigint"
SAME = r'''
a / b ; a / 2 ; 7 / 2 ; a / 0 ; a / b * 2 ; x / 3 ; (a + b) / (b - 1) ; a % b ; a % 2 ; mod(a, b)
pmod(a, b) ; a div 2 ; nvl(a, 0) ; ifnull(a, 0) ; nvl2(a, 1, 2) ; if(a > 0, 1, 2) ; coalesce(a, b)
nullif(a, 7) ; isnull(a) ; isnotnull(a) ; case when a > 0 then 'p' else 'n' end ; case a when 7 then 1 end
case when b > 0 then a / b end ; cast(x as double) ; cast(a as string) ; cast(x as int) ; try_cast(s as int)
a :: double ; cast(a as decimal(10, 2)) ; cast(ts as date) ; cast('2024-01-01' as date)
to_date('2024-01-01') ; DATE '2024-01-01' ; cast(a as float) ; int(x) ; concat(s, 'x') ; concat(s, a)
concat('a', null) ; s || 'x' ; 'a' || a ; concat_ws('-', s, 'q') ; round(x) ; round(x, 0)
round(x * 1.25, 1) ; round(a) ; round(1234.5, -2) ; abs(a) ; sign(x) ; signum(x) ; floor(x) ; ceil(x)
sqrt(abs(x)) ; pow(x, 2) ; power(a, 2) ; exp(x) ; ln(x) ; log(x) ; log(2, abs(x)) ; log2(x) ; log10(x)
isnan(x) ; a in (1, 7) ; a not in (1, 7) ; a between 0 and 8 ; a is distinct from b ; a <=> null ; a == 7
a <> 7 ; a != 7 ; not f ; f and true ; f or null ; x + 1 > 2 and not f ; a is null ; s is not null ; a & b
a ^ b ; ~ a ; - a ; s like 'a%' ; s ilike 'A%' ; s rlike 'a.' ; upper(s) ; lower(s) ; length(s)
length(s) - 5 ; char_length(s) ; trim(s) ; substring(s, 1, 1) ; substring(s, 0, 1) ; substr(s, 2)
left(s, 1) ; right(s, 1) ; replace(s, 'a', 'z') ; lpad(s, 3, '*') ; instr(s, 'b') ; locate('b', s)
position('b' in s) ; contains(s, 'a') ; startswith(s, 'a') ; endswith(s, 'b') ; reverse(s) ; greatest(a, b)
least(a, b) ; year(d) ; month(d) * 100 ; day(d) * 10 ; quarter(d) ; dayofweek(d) ; weekofyear(d) ; hour(ts)
extract(month from d) * 100 ; d + interval 1 day ; d - interval '1' month ; ts + interval 1 hour
date_add(d, 1) ; date_sub(d, 3) ; add_months(d, 1) ; 1.5 ; 1e2 ; 7L ; 2D ; 'it''s' ; 'a\\b' ; "say ""x"""
`b c` ; a * 1.5 ; a * b + 1 ; true ; a | b
'''
EXPRESSIONS = [e.strip() for line in SAME.strip().splitlines() for e in line.split(" ; ")]


agree = partial(same, signed_zeros=False, types=False, rel=1e-12)


def test_as_in_spark(oracle_spark):
    frame = oracle_spark.createDataFrame([tuple(r) for r in pl.DataFrame(ROWS).rows()], TYPES).coalesce(1)
    oracle_spark.conf.set("spark.sql.ansi.enabled", "false")  # what Spark refuses for a row is null in memory
    try:
        theirs = frame.selectExpr(*[f"{e} AS e{i}" for i, e in enumerate(EXPRESSIONS)]).collect()
    finally:
        oracle_spark.conf.set("spark.sql.ansi.enabled", "true")
    query = f"SELECT {', '.join(f'{e} AS e{i}' for i, e in enumerate(EXPRESSIONS))} FROM t"
    ours = wr.sql(query, t=pa.table(ROWS)).to_pydict()
    for i, expression in enumerate(EXPRESSIONS):
        expected = [row[i] for row in theirs]
        assert all(map(agree, ours[f"e{i}"], expected)), (expression, ours[f"e{i}"], expected)


@pytest.mark.parametrize(
    "expression", ["initcap(s)", "bround(x)", "substring(s, -1)", "add_months(d, a)", "nvl(a)", "date_add(d, 1.5)"]
)
def test_what_cannot_be_said_is_refused_with_a_remedy(expression):
    with pytest.raises(wr.UnsupportedError, match="give a Polars expression"):
        wr.sql(f"SELECT {expression} FROM t", t=pa.table(ROWS))


def test_what_polars_lacks_is_refused_with_a_remedy():
    with pytest.raises(wr.SpecError, match=r"sha2\(s, 256\): Polars.*compute the column first"):
        wr.with_columns(pa.table(ROWS), "max(sha2(s, 256)) OVER ()")


def test_a_type_that_does_not_fit_is_an_error_before_rows_are_read():
    with pytest.raises(wr.SpecError, match=r"d \+ 1"):
        wr.with_columns(pl.DataFrame(ROWS).lazy(), "max(d + 1) OVER ()")


def test_an_aggregate_without_over_is_refused_in_arguments_too():
    with pytest.raises(wr.SpecError, match=r"avg\(x\) has no OVER"):
        wr.with_columns(pa.table(ROWS), wr.sum(wr.expr("x - avg(x)")).over())


def test_text_that_only_polars_reads_is_left_to_it():
    assert polars_text("x ~* 'a' $$") == "x ~* 'a' $$"


def test_strings_of_any_letters():
    table = pa.table({"s": ["it's", "back\\slash", 'quo"te', "new\nline"]})
    for value in table["s"].to_pylist():
        assert wr.sql(f"SELECT s FROM t WHERE s = {wr.lit(value)}", t=table)["s"].to_pylist() == [value]
