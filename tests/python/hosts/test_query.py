"""wr.sql: the same query on every kind of frame, answered as Spark or DuckDB answers it."""

import random
import warnings

import pyarrow as pa
import pytest

import windrow as wr

pl = pytest.importorskip("polars")

ROWS = {
    "id": [3, 1, 6, 4, 5, 2, 7, 8],
    "v": [30, 10, 1, 25, 30, None, 8, 8],
    "x": [0.5, float("nan"), None, -0.0, 0.0, 2.5, 1.0, 1.0],
    "k": ["b", "a", None, "b", "b", "a", "c", "c"],
}
table = pa.table(ROWS)

# Every query orders its rows wholly. Those of BOTH are what Spark and DuckDB agree about and both can say.
BOTH = [
    "SELECT *, v - lag(v) OVER w AS d FROM t WINDOW w AS (PARTITION BY k ORDER BY id) ORDER BY id",
    "SELECT id, v + 1 AS y, v AS z FROM t WHERE v > 5 ORDER BY z DESC NULLS LAST, id LIMIT 3 OFFSET 1",
    "SELECT DISTINCT k, max(v) OVER (PARTITION BY k) AS m FROM t ORDER BY k NULLS FIRST",
    "SELECT t.id FROM t QUALIFY row_number() OVER (PARTITION BY k ORDER BY id DESC) = 1 ORDER BY id",
    "SELECT id, sum(v) OVER (PARTITION BY k) AS s FROM t QUALIFY s > 20 ORDER BY s NULLS FIRST, id",
    "SELECT u.id, u.k FROM t AS u WHERE u.id % 2 = 0 ORDER BY 2 DESC NULLS LAST, 1",
    "SELECT id, CASE WHEN row_number() OVER w = 1 THEN 'first' ELSE k END AS c FROM t WINDOW w AS (ORDER BY id) "
    "ORDER BY id",
    "SELECT id, coalesce(max(v) OVER (ORDER BY id ROWS BETWEEN 2 PRECEDING AND 1 PRECEDING), 0) * 2 AS m FROM t "
    "ORDER BY id LIMIT 5",
    "SELECT id, rank() OVER w AS r, dense_rank() OVER w AS d FROM t WINDOW v AS (PARTITION BY k), "
    "w AS (ORDER BY v NULLS FIRST) ORDER BY id",
    "SELECT id, sum(v) OVER (ORDER BY id) - sum(v) OVER (PARTITION BY k ORDER BY id) AS rest FROM t ORDER BY rest, id",
    "SELECT id FROM t WHERE id > 100 ORDER BY id",
    "SELECT id, count(*) OVER () AS n FROM t WHERE v IS NOT NULL AND k IN ('a', 'b') ORDER BY id",
    "SELECT id AS v FROM t ORDER BY v DESC LIMIT 2",
    "SELECT id, v FROM t ORDER BY abs(v - 20) NULLS LAST, id",
]
SPARK = [
    "SELECT id, sum(row_number() OVER (ORDER BY id)) OVER (ORDER BY id) AS s FROM t ORDER BY id",
    "SELECT id, sum(v) OVER (PARTITION BY row_number() OVER (ORDER BY id) % 2 ORDER BY id) AS s FROM t ORDER BY id",
    "SELECT id, x FROM t ORDER BY x, id",
    "SELECT id, x FROM t ORDER BY x DESC, id",
    "SELECT DISTINCT abs(x) AS x FROM t ORDER BY x",
    "SELECT id, nvl(v, 0) / count(*) OVER (PARTITION BY k) AS q FROM t WHERE NOT v <=> 1 ORDER BY id",
]
# those that are computed on Spark too, which takes its time
ON_SPARK = [BOTH[0], BOTH[2], BOTH[3], BOTH[6], BOTH[9], SPARK[1]]
DUCKDB = [
    "SELECT id, sum(v) OVER (w ROWS 1 PRECEDING) AS s FROM t WINDOW w AS (PARTITION BY k ORDER BY id) ORDER BY id",
    "SELECT id, sum(v) OVER (w PARTITION BY k) AS s FROM t WINDOW w AS (ORDER BY id) ORDER BY id",
    "SELECT id, sum(v) OVER b AS s FROM t WINDOW a AS (PARTITION BY k), b AS (a ORDER BY id) ORDER BY id",
    "SELECT id, first_value(id) OVER w AS s FROM t WINDOW w AS (ORDER BY id ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING "
    "EXCLUDE CURRENT ROW) ORDER BY id",
    "SELECT id FROM t WHERE id < 5 ORDER BY rank() OVER (ORDER BY id DESC)",
    "SELECT id, id * 2 AS w2, sum(w2) OVER (ORDER BY id) AS c FROM t ORDER BY id",
]


def same(ours, theirs):
    """Compare rows, NaN being equal to itself."""
    return repr(ours) == repr(theirs)


def rows_of(frame):
    return [tuple(r.values()) for r in frame.to_pylist()]


@pytest.mark.parametrize("query", BOTH + DUCKDB)
def test_as_in_duckdb(query):
    duckdb = pytest.importorskip("duckdb")
    connection = duckdb.connect()
    connection.register("t", table)
    expected = connection.sql(query)
    ours = wr.sql(query, t=table)
    assert ours.column_names == expected.columns
    assert same(rows_of(ours), expected.fetchall())


@pytest.fixture(scope="module")
def view(oracle_spark):
    rows = [tuple(r.values()) for r in table.to_pylist()]
    frame = oracle_spark.createDataFrame(rows, "id bigint, v bigint, x double, k string")
    frame.createOrReplaceTempView("t")
    yield frame
    oracle_spark.catalog.dropTempView("t")


@pytest.mark.filterwarnings("ignore:No Partition Defined")
@pytest.mark.parametrize("query", BOTH + SPARK)
def test_as_in_spark(oracle_spark, view, query):
    expected = oracle_spark.sql(query)
    theirs = [tuple(r) for r in expected.collect()]
    memory = wr.sql(query, t=table)
    assert memory.column_names == expected.columns
    assert same(rows_of(memory), theirs)
    if query in ON_SPARK:
        ours = wr.sql(query)
        assert ours.columns == expected.columns
        assert [f.dataType for f in ours.schema] == [f.dataType for f in expected.schema]
        assert [f.nullable for f in ours.schema] == [f.nullable for f in expected.schema]
        assert same([tuple(r) for r in ours.collect()], theirs)


@pytest.mark.filterwarnings("ignore:No Partition Defined")
def test_on_spark(oracle_spark, view):
    query = "SELECT ID, sum(v) OVER (w ROWS 1 PRECEDING) AS s, concat(k, '!') AS e FROM u WINDOW w AS (ORDER BY id)"
    out = wr.sql(query + " QUALIFY s > 20 ORDER BY s DESC, id LIMIT 2 OFFSET 1", u=view)
    assert [tuple(r) for r in out.collect()] == [(5, 55, "b!"), (6, 31, None)]
    assert out.columns == ["ID", "s", "e"]
    assert wr.sql(query, u=view.limit(0), spark=oracle_spark).collect() == []
    frame = view.selectExpr("struct(id, v) AS `a.b`", "k")
    out = wr.sql("SELECT `a.b`.v - lag(`a.b`.v) OVER (ORDER BY `a.b`.id) AS d FROM f ORDER BY `a.b`.id", f=frame)
    assert [r.d for r in out.collect()] == [None, None, None, -5, 5, -29, 7, 0]
    with pytest.raises(wr.SpecError, match="no frame, table or view of that name"):
        wr.sql("SELECT 1 FROM nowhere", spark=oracle_spark)
    with pytest.raises(wr.SpecError, match="column 'vv' is unknown"):
        wr.sql("SELECT sum(vv) OVER () FROM t")


@pytest.mark.parametrize("session", [5, "local", pa.table({"id": [1]})], ids=lambda value: type(value).__name__)
def test_what_is_no_session(session):
    with pytest.raises(wr.SpecError, match="spark= takes a SparkSession, not"):
        wr.sql("SELECT sum(id) OVER () FROM t", t=pa.table({"id": [1]}), spark=session)


@pytest.mark.parametrize("query", BOTH + SPARK + DUCKDB)
def test_the_same_on_every_frame_in_memory(query):
    pd = pytest.importorskip("pandas")
    expected = rows_of(wr.sql(query, t=table))
    schema = wr.sql(query, t=table).schema

    batch = wr.sql(query, t=table.combine_chunks().to_batches()[0])
    assert isinstance(batch, pa.RecordBatch)
    assert same(rows_of(batch), expected)
    reader = wr.sql(query, t=table.to_reader(3))
    assert isinstance(reader, pa.RecordBatchReader)
    assert reader.schema == schema
    assert same(rows_of(reader.read_all()), expected)
    frame = wr.sql(query, t=pl.DataFrame(table))
    assert isinstance(frame, pl.DataFrame)
    assert same(frame.rows(), expected)
    lazy = wr.sql(query, t=pl.DataFrame(table).lazy())
    assert isinstance(lazy, pl.LazyFrame)
    assert lazy.collect_schema() == frame.schema
    assert same(lazy.collect().rows(), expected)
    pandas = wr.sql(query, t=table.to_pandas(types_mapper=pd.ArrowDtype))
    assert isinstance(pandas, pd.DataFrame)
    assert list(pandas.columns) == frame.columns
    if "x" not in frame.columns:  # pandas takes NaN for missing
        assert same(rows_of(pa.Table.from_pandas(pandas, preserve_index=False)), expected)


def test_without_order_by_rows_keep_their_order():
    query = "SELECT id FROM t QUALIFY count(*) OVER (PARTITION BY k) > 1"
    assert wr.sql(query, t=table)["id"].to_pylist() == [3, 1, 4, 5, 2, 7, 8]


def test_pandas_keeps_its_index():
    frame = table.to_pandas().set_index(pd_index := table.to_pandas()["id"] * 10)
    assert pd_index.name == "id"
    out = wr.sql("SELECT k AS kk, count(*) OVER (PARTITION BY k) AS n FROM t WHERE id < 4 ORDER BY id", t=frame)
    assert list(out.index) == [10, 20, 30]
    assert out.to_dict("list") == {"kk": ["a", "a", "b"], "n": [2, 2, 1]}


def test_columns_that_pass_keep_their_types():
    types = pa.table(
        {
            "s": pa.array(["a", "b"], pa.string_view()),
            "d": pa.array(["p", "q"]).dictionary_encode(),
            "n": pa.array([{"x": [1]}, None]),
        }
    )
    out = wr.sql("SELECT *, d AS e, row_number() OVER (ORDER BY s DESC) AS r FROM t ORDER BY r", t=types)
    assert out.schema.types == [*types.schema.types, types.schema.field("d").type, pa.int32()]
    assert out["n"].to_pylist() == [None, {"x": [1]}]


def test_names_of_items():
    out = wr.sql("SELECT id, v+1, sum(v) over w, (max(v) OVER w) FROM t WINDOW w AS (PARTITION BY k)", t=table)
    assert out.column_names == [
        "id",
        "v + 1",
        "sum(v) OVER (PARTITION BY k)",
        "max(v) OVER (PARTITION BY k)",
    ]


REFUSED = [
    # Spark: WINDOW_FUNCTION_NOT_ALLOWED_IN_CLAUSE
    ("SELECT id FROM t WHERE row_number() OVER (ORDER BY id) > 1", wr.SpecError, "WHERE picks rows before.*QUALIFY"),
    # QUALIFY_REQUIRES_WINDOW_FUNCTION
    ("SELECT id FROM t QUALIFY id > 1", wr.SpecError, "neither it nor an item has a window function"),
    # MISSING_WINDOW_SPECIFICATION
    ("SELECT sum(v) OVER w FROM t", wr.SpecError, "no window 'w'"),
    ("SELECT sum(v) OVER ww FROM t WINDOW w AS (ORDER BY id)", wr.SpecError, "did you mean 'w'"),
    # the same: Spark's names of windows have their case
    ("SELECT sum(v) OVER W FROM t WINDOW w AS (ORDER BY id)", wr.SpecError, "no window 'W'; did you mean 'w'"),
    # REPETITIVE_WINDOW_DEFINITION
    ("SELECT sum(v) OVER w FROM t WINDOW w AS (ORDER BY id), w AS (ORDER BY v)", wr.SpecError, "defines 'w' twice"),
    # AMBIGUOUS_REFERENCE
    ("SELECT id AS a, -v AS A FROM t ORDER BY a", wr.SpecError, "'a' is ambiguous, it names the items id and -v"),
    ("SELECT *, v + 1 AS V FROM t ORDER BY v", wr.SpecError, "'v' is ambiguous"),
    ("SELECT id AS a, -v AS A, a + 1 FROM t", wr.SpecError, "'a' is ambiguous"),
    ("SELECT id AS a, -v AS A FROM t QUALIFY count(*) OVER () > a", wr.SpecError, "'a' is ambiguous"),
    # WINDOW_FUNCTION_WITHOUT_OVER_CLAUSE
    ("SELECT row_number() FROM t", wr.SpecError, r"row_number\(\) has no OVER"),
    ("SELECT lag(v) FROM t GROUP BY k", wr.SpecError, r"lag\(v\) has no OVER"),
    # MISSING_GROUP_BY, MISSING_AGGREGATION
    ("SELECT id FROM t ORDER BY sum(v)", wr.SpecError, "id is neither a key of GROUP BY nor in an aggregate"),
    ("SELECT k FROM t HAVING k > 1", wr.SpecError, r"write GROUP BY k, or any_value\(k\)"),
    ("SELECT k, v FROM t GROUP BY k", wr.SpecError, r"write GROUP BY k, v, or any_value\(v\)"),
    ("SELECT k, sum(v) OVER () FROM t GROUP BY k", wr.SpecError, "v is neither a key"),
    ("SELECT k AS v, count(*) FROM t GROUP BY v", wr.SpecError, "k is neither a key"),
    # UNRESOLVED_ALL_IN_GROUP_BY
    ("SELECT sum(v) + id FROM t GROUP BY ALL", wr.SpecError, "id is neither a key"),
    # NESTED_AGGREGATE_FUNCTION, GROUP_BY_AGGREGATE, GROUP_BY_POS_OUT_OF_RANGE, INVALID_WHERE_CONDITION
    ("SELECT sum(max(v)) FROM t GROUP BY k", wr.SpecError, r"max\(v\) is an aggregate in an aggregate"),
    ("SELECT sum(rank() OVER (ORDER BY v)) FROM t", wr.SpecError, "a window function cannot stand in an aggregate"),
    ("SELECT k FROM t GROUP BY sum(v)", wr.SpecError, "a key has no aggregate"),
    ("SELECT row_number() OVER (ORDER BY k) AS r FROM t GROUP BY r", wr.SpecError, "a key has no window function"),
    ("SELECT k FROM t GROUP BY 2", wr.SpecError, "items 1 to 1"),
    ("SELECT k FROM t WHERE sum(v) > 1", wr.SpecError, "WHERE picks rows before groups.*write HAVING"),
    ("SELECT k FROM t GROUP BY k HAVING rank() OVER (ORDER BY k) = 1", wr.SpecError, "HAVING picks groups before"),
    # CANNOT_RESOLVE_STAR_EXPAND, ASSIGNMENT_ARITY_MISMATCH, DUPLICATED_CTE_NAMES
    ("SELECT u.* FROM t", wr.SpecError, r"FROM names nothing 'u'; the columns of FROM are t\.\*"),
    ("SELECT * EXCEPT (a) FROM t", wr.SpecError, "column 'a' is unknown"),
    ("SELECT a FROM t AS x(a, b)", wr.SpecError, "FROM names 2 columns.*and there are 4"),
    ("WITH a AS (SELECT id FROM t), A AS (SELECT id FROM t) SELECT * FROM a", wr.SpecError, "defines 'A' twice"),
    ("WITH a(b) AS (SELECT id, v FROM t) SELECT * FROM a", wr.SpecError, "FROM names 1 columns"),
    # NUM_COLUMNS_MISMATCH, and no common type
    ("SELECT id FROM t UNION ALL SELECT id, v FROM t", wr.SpecError, "the SELECTs have 1 and, number 2, 2 columns"),
    ("SELECT id FROM t UNION ALL SELECT k FROM t", wr.SpecError, "'id' is bigint and string"),
    # UNSUPPORTED_EXPR_FOR_WINDOW
    ("SELECT abs(id) OVER () FROM t", wr.SpecError, 'no window function "abs"'),
    # UNRESOLVED_COLUMN
    ("SELECT a FROM t", wr.SpecError, "column 'a' is unknown"),
    ("SELECT DISTINCT k FROM t ORDER BY id", wr.SpecError, "only items can be ordered by"),
    ("SELECT id FROM t WHERE v + 1", wr.SpecError, "a condition gives true or false"),
    ("SELECT id FROM t QUALIFY count(*) OVER ()", wr.SpecError, "a condition gives true or false"),
    (
        "SELECT sum(v) OVER (w PARTITION BY id) FROM t WINDOW w AS (PARTITION BY k)",
        wr.SpecError,
        "PARTITION BY already",
    ),
    ("SELECT sum(v) OVER (w ORDER BY id) FROM t WINDOW w AS (ORDER BY k)", wr.SpecError, "ORDER BY already"),
    ("SELECT sum(v) OVER (w ORDER BY id) FROM t WINDOW w AS (ROWS 1 PRECEDING)", wr.SpecError, "has a frame"),
    ("SELECT sum(v) OVER w FROM t WINDOW w AS (u), u AS (w)", wr.SpecError, "made of itself"),
    ("SELECT id FROM t LIMIT -1", wr.SpecError, "LIMIT -1 is not a number of rows"),
    ("SELECT id FROM t LIMIT v", wr.SpecError, "LIMIT v is not a number of rows"),
    ("SELECT id FROM t ORDER BY 3", wr.SpecError, "items 1 to 1"),
    ("SELECT id, count(*) OVER () AS id FROM t", wr.SpecError, "two outputs are called 'id'"),
    ("SELECT id FROM tt", wr.SpecError, "did you mean 't'"),
    ("SELECT 1", wr.SpecError, "no FROM"),
    ("SELECT id FRM t", wr.SpecError, "cannot be read as SQL"),
    ("UPDATE t SET a = 1", wr.SpecError, "no query"),
    # PARSE_SYNTAX_ERROR
    ("SELECT id FROM t LIMIT 1 ORDER BY id", wr.SpecError, "ORDER BY cannot follow LIMIT"),
    ("SELECT id FROM t ORDER BY id WHERE id > 1", wr.SpecError, "WHERE cannot follow ORDER BY"),
    ("SELECT k FROM t GROUP BY k WHERE k > 1", wr.SpecError, "WHERE cannot follow GROUP BY"),
    ("SELECT k FROM t HAVING k > 1 GROUP BY k", wr.SpecError, "GROUP BY cannot follow HAVING"),
    ("SELECT id FROM t OFFSET 1 LIMIT 1", wr.SpecError, "LIMIT cannot follow OFFSET"),
    ("SELECT id FROM t QUALIFY 1 = 1 HAVING id > 1", wr.SpecError, "HAVING cannot follow QUALIFY"),
    ("SELECT id FROM t LIMIT 1, 2", wr.SpecError, "rows are skipped by LIMIT n OFFSET m"),
    ("SELECT id FROM t ORDER BY id UNION ALL SELECT id FROM t", wr.SpecError, "needs parentheses"),
    ("SELECT id FROM t FETCH FIRST 1 ROWS ONLY", wr.SpecError, "LIMIT n OFFSET m"),
    ("SELECT id FROM t LIMIT 10 PERCENT", wr.SpecError, "LIMIT n OFFSET m"),
    ("SELECT * EXCLUDE (id) FROM t", wr.SpecError, r"left out by \* EXCEPT \(a, b\)"),
    ("SELECT * EXCEPT id FROM t", wr.SpecError, r"left out by \* EXCEPT \(a, b\)"),
    ("SELECT * REPLACE (1 AS id) FROM t", wr.UnsupportedError, "REPLACE"),
    ("SELECT id FROM t UNION ALL BY NAME SELECT id FROM t", wr.UnsupportedError, "BY NAME"),
    ("WITH a AS MATERIALIZED (SELECT id FROM t) SELECT * FROM a", wr.UnsupportedError, "MATERIALIZED"),
    ("SELECT k FROM t GROUP BY DISTINCT k", wr.UnsupportedError, "GROUP BY DISTINCT"),
    ("SELECT DISTINCT ON (id) id FROM t", wr.UnsupportedError, "DISTINCT ON"),
    # what Spark has and wr.sql has not
    ("SELECT id FROM t JOIN u USING (id)", wr.UnsupportedError, "has no JOIN.*t.join.*accelerate"),
    ("SELECT id FROM t, u", wr.UnsupportedError, "has no JOIN"),
    ("SELECT k FROM t GROUP BY ROLLUP (k)", wr.UnsupportedError, "ROLLUP"),
    ("SELECT k FROM t GROUP BY k WITH CUBE", wr.UnsupportedError, "CUBE"),
    ("SELECT id FROM (VALUES (1)) AS x(id)", wr.UnsupportedError, "VALUES"),
    ("SELECT id FROM (SELECT 1) t", wr.SpecError, "no FROM"),
    ("SELECT id FROM t WHERE id IN (SELECT 1)", wr.UnsupportedError, "subquery"),
    ("WITH RECURSIVE t AS (SELECT 1) SELECT * FROM t", wr.UnsupportedError, "WITH RECURSIVE"),
    ("SELECT id FROM t INTERSECT SELECT id FROM t", wr.UnsupportedError, "INTERSECT"),
    ("SELECT id FROM t TABLESAMPLE (5 ROWS)", wr.UnsupportedError, "TABLESAMPLE"),
]


@pytest.mark.parametrize(("query", "error", "says"), REFUSED, ids=[r[0] for r in REFUSED])
def test_refused_before_any_row_is_read(query, error, says):
    for frame in (table, pl.DataFrame(table).lazy()):
        with pytest.raises(error, match=says):
            wr.sql(query, t=frame)


def test_windows_whose_names_differ_in_case_are_two():
    query = "SELECT sum(id) OVER w AS c, sum(id) OVER W AS d FROM t WINDOW w AS (ORDER BY id), W AS (PARTITION BY id)"
    out = wr.sql(query, t=pa.table({"id": [10, 20, 30]}))
    assert out.to_pydict() == {"c": [10, 30, 60], "d": [10, 20, 30]}


def test_equal_items_are_one_to_an_alias():
    out = wr.sql("SELECT id AS a, id AS A, -id AS b FROM t ORDER BY a DESC LIMIT 1", t=table)
    assert out.to_pylist() == [{"a": 8, "A": 8, "b": -8}]


def test_a_query_is_text():
    with pytest.raises(wr.SpecError, match="text"):
        wr.sql(table)


NAMES = ["x", "k", "X", "__windrow_keep", "__WINDROW_KEEP", "__windrow_order", "__windrow_keep_", "__windrow_0"]
CLAUSES = [
    ("", lambda r: True),
    (" WHERE i > 4", lambda r: r[-1] > 4),
    (" QUALIFY count(*) OVER (PARTITION BY i) > 0 AND i % 3 > 0", lambda r: r[-1] % 3 > 0),
    (" WHERE i < 9 QUALIFY row_number() OVER (ORDER BY i) < 5", lambda r: r[-1] < min(9, 4)),
]


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("host", ["arrow", "pandas", "polars", "lazy"])
def test_distinct_over_repeated_names_and_names_that_are_hidden_elsewhere(host, seed):
    rng = random.Random(f"{host} {seed}")
    compared = 0
    for _ in range(3):
        rows = rng.randint(1, 14)
        repeats = host in ("arrow", "pandas")
        names = rng.choices(NAMES, k=3) if repeats else rng.sample(NAMES, 3)
        columns = [[rng.choice("pq") for _ in range(rows)] for _ in names]
        data = pa.table([*map(pa.array, columns), pa.array(range(rows))], names=[*names, "i"])
        given = list(zip(*columns, range(rows), strict=True))
        frame = data
        if host == "pandas":
            pd = pytest.importorskip("pandas")
            frame = pd.concat(
                [pd.Series(c, name=n) for c, n in zip([*columns, range(rows)], [*names, "i"], strict=True)], axis=1
            )
        elif host != "arrow":
            frame = pl.DataFrame(data) if host == "polars" else pl.DataFrame(data).lazy()
        single = next((j for j, n in enumerate(names) if names.count(n) == 1), None)

        def read(made):
            if host == "pandas":
                return list(made.columns), [tuple(r) for r in made.itertuples(index=False, name=None)]
            if host == "arrow":
                return made.column_names, list(zip(*(c.to_pylist() for c in made.columns), strict=True))
            made = made.lazy().collect()
            return made.columns, made.rows()

        clause, keeps = rng.choice(CLAUSES)
        left = [r for r in given if keeps(r)]
        found = read(wr.sql(f"SELECT * FROM t{clause} ORDER BY i DESC", t=frame))
        assert found == ([*names, "i"], left[::-1]), (names, clause)
        assert read(wr.sql(f"SELECT DISTINCT * FROM t{clause} ORDER BY i", t=frame)) == ([*names, "i"], left)
        compared += len(left)
        if single is None:
            continue
        name = f"`{names[single]}`"
        values = list(dict.fromkeys(r[single] for r in left))
        if repeats:
            query = f"SELECT DISTINCT {name}, {name} FROM t{clause}"
            assert read(wr.sql(query, t=frame)) == ([names[single]] * 2, [(v, v) for v in values])
        hidden = rng.choice(NAMES[3:])
        query = f"SELECT DISTINCT {name} AS `{hidden}` FROM t{clause} ORDER BY `{hidden}` LIMIT 5"
        assert read(wr.sql(query, t=frame)) == ([hidden], [(v,) for v in sorted(values)])
        compared += len(values)
    assert compared


def test_messages_of_distinct_are_about_distinct():
    maps = pa.table({"m": pa.array([[("a", 1)]], pa.map_(pa.string(), pa.int64()))})
    with pytest.raises(wr.WindrowError, match=r"^DISTINCT") as caught:
        wr.sql("SELECT DISTINCT m FROM t", t=maps)
    assert "row_number" not in str(caught.value)


def test_overflow_in_a_condition_has_a_short_message():
    for frame in (pl.DataFrame({"x": [2**63 - 1]}), pa.table({"x": [2**63 - 1]})):
        with pytest.raises(wr.ArithmeticOverflowError, match="x \\+ 1") as caught:
            wr.sql("SELECT * FROM t WHERE x + 1 > 0", t=frame)
        assert "as_struct" not in str(caught.value)


@pytest.mark.parametrize("seed", range(6))
def test_pandas_labels_of_levels_and_labels_that_stand_once(seed):
    pd = pytest.importorskip("pandas")
    rng = random.Random(seed)
    rows, levels = rng.randint(1, 9), rng.randint(1, 3)
    labels = [(n, *[""] * (levels - 1)) if levels > 1 else n for n in ("x", "k")]
    values, keys = [rng.randrange(5) for _ in range(rows)], rng.choices("pq", k=rows)
    frame = pd.DataFrame({0: values, 1: keys})
    names = [f"level {i}" for i in range(levels)]
    frame.columns = pd.MultiIndex.from_tuples(labels, names=names) if levels > 1 else pd.Index(labels)
    frame = frame.set_flags(allows_duplicate_labels=rng.random() < 0.5)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        made = wr.with_columns(frame, n="count(*) OVER (PARTITION BY k)", x="x + 1 + 0 * count(*) OVER ()")
        chosen = wr.select(frame, "k", y="row_number() OVER (ORDER BY x)")
        asked = wr.sql("SELECT x AS y, k FROM t WHERE x > 1 QUALIFY count(*) OVER () > 0 ORDER BY k, x DESC", t=frame)
        once = wr.sql("SELECT DISTINCT k FROM t ORDER BY k", t=frame)
    assert made.columns.nlevels == chosen.columns.nlevels == asked.columns.nlevels == levels
    assert list(made.columns.names) == list(frame.columns.names)
    first = [c[0] if levels > 1 else c for c in made.columns]
    assert first == ["x", "k", "n"]
    assert made.iloc[:, 2].to_list() == [keys.count(k) for k in keys]
    assert made.iloc[:, 0].to_list() == [v + 1 for v in values]
    wanted = sorted([(v, k) for v, k in zip(values, keys, strict=True) if v > 1], key=lambda p: (p[1], -p[0]))
    assert [tuple(r) for r in asked.itertuples(index=False, name=None)] == wanted
    assert once.iloc[:, 0].to_list() == sorted(set(keys))
    if not frame.flags.allows_duplicate_labels:
        with pytest.raises(wr.SpecError, match="called 'k', and the frame's flags allow no label twice"):
            wr.select(frame, "k", "k")
