"""A mistake's message leads to what works: what it offers is tried here."""

import decimal
import inspect
import os
import pickle
import random
import subprocess
import sys
import traceback
import zipfile

import pyarrow as pa
import pytest

import windrow as wr
from support.random_calls import SEED
from windrow._model.catalog import function_of
from windrow._model.placing import Placeable
from windrow._model.synonyms import SPELLINGS, near_names, spelling
from windrow.exceptions import short_traceback

TABLE = pa.table({"id": [1, 2, 3], "level": [1, 2, 3], "my col": [1, 2, 3], "k": ["a", "a", "b"]})


def message_of(function, *args, **named):
    with pytest.raises(wr.WindrowError) as caught:
        function(*args, **named)
    return str(caught.value)


# ---- names that the package does not have


def near_misses(name, rng):
    """Give a name with a letter dropped, doubled, put in the place of its neighbour, or another one's."""
    at = rng.randrange(len(name))
    yield name[:at] + name[at + 1 :]
    yield name[:at] + name[at] + name[at:]
    yield name[: at - 1] + name[at] + name[at - 1] + name[at + 1 :] if at else name[1] + name[0] + name[2:]
    yield name.replace("_", "")
    first, *rest = name.split("_")
    yield first + "".join(map(str.capitalize, rest))


def plain(name):
    return name.replace("_", "").lower()


def test_near_misses_of_every_public_name_offer_it():
    rng = random.Random(SEED)
    known = set(map(plain, wr.__all__))
    attributes = functions = 0
    for name in wr.__all__:
        for miss in near_misses(name, rng):
            if len(miss) < 3 or miss.startswith("_") or hasattr(wr, miss) or spelling(miss) is not None:
                continue
            if plain(miss) in known and plain(miss) != plain(name):
                continue  # another name in other letters
            with pytest.raises(AttributeError) as caught:
                getattr(wr, miss)
            # Window or window, where the capital is what was lost
            assert any(f"'{n}'" in str(caught.value) for n in (name, name.lower())), (miss, str(caught.value))
            attributes += 1
            # SQL's names are the same in capitals
            if function_of(name) is not None and function_of(miss.lower()) is None:
                said = message_of(wr.with_columns, TABLE, f"{miss}(level) OVER ()")
                assert f'"{name}"' in said, (miss, said)
                functions += 1
    assert attributes > 350
    assert functions > 200


@pytest.mark.parametrize(("python", "sql", "names"), SPELLINGS, ids=lambda value: value.split(" ")[0])
def test_what_is_offered_for_other_libraries_names_works(python, sql, names):
    class Aggregate:
        def initialize(self):
            return 0

        def update(self, state, x):
            return x

    def function(x, *frames):
        return x

    names_known = {"wr": wr, "frame": pa.table({"x": [1], "k": [1]}), "Aggregate": Aggregate, "function": function}
    if "vectorized" in python:
        names_known["function"] = lambda x, begin, end: x
    made = None if python.startswith("wr.spark.") else eval(python, names_known)  # those need a session
    if sql:
        text = made.sql
        table = pa.table(
            {"x": [3.0, 1.0, 2.0], "y": [1, 2, 3], "t": [1, 2, 3], "k": [1, 1, 2], "flag": [True, None, None]}
        )
        if "bool_and" in sql:
            table = table.set_column(0, "x", pa.array([True, None, False]))
        if isinstance(made, wr.Call) and made.window is None:
            made = made.over(wr.window(order_by="t"))
        answer = wr.select(table, y=made)["y"]
        assert answer.type != pa.null()
        assert text == sql or wr.select(table, y=sql)["y"].equals(answer)
    for name in names.split():
        if hasattr(wr, name):  # in Python there is one, and SQL has no such function
            assert name in wr.__all__
            assert function_of(name) is None
        else:
            with pytest.raises(AttributeError) as caught:
                getattr(wr, name)
            assert str(caught.value).startswith(f"module 'windrow' has no attribute {name!r}; write {python}")
        if sql and name not in ("unique", "join"):  # which are words of SQL
            said = message_of(wr.with_columns, TABLE, f"{name}(level) OVER (ORDER BY id)")
            assert f"; write {sql}, in Python {python}" in said


def test_other_libraries_names_are_listed_once():
    every = [name for _, _, names in SPELLINGS for name in names.split()]
    assert len(every) == len(set(every)) > 90


MOVING = ["mean", "sum", "min", "max", "std", "var", "median", "quantile", "skew", "kurtosis", "corr", "cov", "count"]


@pytest.mark.parametrize("name", MOVING)
def test_moving_and_growing_functions(name):
    table = pa.table({"x": [3.0, 1.0, 2.0, 5.0], "y": [1, 2, 3, 5], "t": [1, 2, 3, 4]})
    frames = {
        f"rolling_{name}": "ROWS BETWEEN 6 PRECEDING",
        f"rolling_{name}_by": "RANGE BETWEEN 6 PRECEDING",
        f"cum_{name}": "ROWS BETWEEN UNBOUNDED PRECEDING",
        f"cum{name}": "ROWS BETWEEN UNBOUNDED PRECEDING",
    }
    for unknown, frame in frames.items():
        python, sql = spelling(unknown)
        made = eval(python, {"wr": wr})
        assert made.sql == sql
        assert f"{frame} AND CURRENT ROW" in sql
        assert wr.select(table, a=made)["a"].equals(wr.select(table, a=sql)["a"])
    assert spelling(f"rolling_{name}_of") is None


def test_moving_and_growing_frames_are_offered_only_to_functions_that_take_them():
    table = pa.table({"x": [3.0, 1.0, 2.0, 5.0], "y": [1, 2, 3, 5], "t": [1, 2, 3, 4], "flag": [True] * 4})
    offered = 0
    for known in (name for _, _, names in SPELLINGS for name in names.split()):
        for prefix in ("rolling_", "moving_", "expanding_", "running_", "cum_"):
            found = spelling(prefix + known)
            if found is None:
                continue
            made = eval(found[0], {"wr": wr})
            assert made.sql == found[1]
            if "bool_and" not in found[1]:
                assert wr.select(table, a=made).num_rows == 4
            offered += 1
    assert offered > 100
    assert all(spelling(f"rolling_{name}") is None for name in ("shift", "next", "interpolate", "qcut", "ngroup"))
    with pytest.raises(AttributeError, match="for the last 7 rows"):
        wr.rolling_mean  # noqa: B018


def test_what_nobody_knows_leads_to_the_list():
    with pytest.raises(AttributeError, match=r"'qqqq'; dir\(windrow\) lists what it has"):
        wr.qqqq  # noqa: B018
    said = message_of(wr.with_columns, TABLE, "qqqq(level) OVER ()")
    assert said.endswith('there is no window function "qqqq"; windrow.functions.__all__ lists those there are')
    assert near_names("", ["sum"]) == []
    assert not hasattr(wr, "__wrapped__")
    with pytest.raises(AttributeError, match=r"no attribute '_rank'$"):
        wr._rank  # noqa: B018


def test_python_adds_no_suggestion_of_its_own():
    try:
        wr.summ  # noqa: B018
    except AttributeError as error:
        last = traceback.format_exception(error)[-1]
    assert last.strip().endswith("has no attribute 'summ'; did you mean 'sum' or 'try_sum'?")


@pytest.mark.parametrize("name", ["rolling_mean", "summ", "n_unique", "qqqq"])
def test_an_unknown_name_in_an_import_leads_to_ours(name):
    with pytest.raises(AttributeError) as attribute:
        getattr(wr, name)
    hint = str(attribute.value).partition("; ")[2]
    with pytest.raises(ImportError) as caught:
        exec(f"from windrow import sum, {name}")
    assert str(caught.value) == f"cannot import name {name!r} from 'windrow'; {hint}"
    assert (caught.value.name, caught.value.path) == ("windrow", wr.__file__)
    with pytest.raises(ImportError, match=r"^cannot import name '_rank' from 'windrow' \("):
        exec("from windrow import _rank")


def test_a_hint_says_where_pandas_corrects_for_bias():
    pd = pytest.importorskip("pandas")
    compared = 0
    for name, ours in (("skew", "skewness"), ("kurt", "kurtosis"), ("rolling_skew", "skewness")):
        with pytest.raises(AttributeError, match=rf"write wr\.{ours}\(.*\(pandas corrects it for bias\)$"):
            getattr(wr, name)
        values = [1.0, 2.0, 4.0, 9.0]
        table = pa.table({"x": values})
        found = wr.select(table, y=getattr(wr, ours)("x").over())["y"][0].as_py()
        assert found != pytest.approx(getattr(pd.Series(values), name.removeprefix("rolling_"))(), rel=0.01)
        compared += 1
    assert compared == 3


# ---- names of columns that are none


def written(message):
    """Give the Python that a message ends with."""
    return eval(message[message.rindex("write ") + len("write ") :], {"wr": wr})


COLUMNS = ["id", "level", "my col", "k"]


def expression(rng, depth=0):
    """Draw an expression over the columns of TABLE, as it would be written in Python and in SQL."""
    kind = rng.randrange(4 if depth < 2 else 1)
    if kind == 0:
        name = rng.choice(COLUMNS[:3])
        return name, f"`{name}`" if " " in name else name
    if kind == 1:
        inner = expression(rng, depth + 1)
        return tuple(f"abs({text})" for text in inner)
    (a, b), (c, d) = expression(rng, depth + 1), expression(rng, depth + 1)
    if kind == 2:
        operator = rng.choice(["+", "-", "*"])
        return f"{a} {operator} {c}", f"{b} {operator} {d}"
    return f"{a}*{c}", f"{b}*{d}"


def test_an_expression_given_as_a_name_leads_to_expr():
    rng = random.Random(SEED)
    compared = 0
    while compared < 60:
        text, sql = expression(rng)
        if text in COLUMNS:
            continue
        for use in (
            lambda e: wr.sum(e).over(),
            lambda e: wr.lag(e).over(wr.window("k", "id")),
            lambda e: wr.count().over(wr.window(e)),
            lambda e: wr.row_number().over(wr.window(order_by=e)),
            lambda e: wr.first_value("id").order_by(e).over(),
        ):
            said = message_of(wr.with_columns, TABLE, y=use(text))
            assert f"column {text!r} is unknown" in said
            offered = written(said)
            wanted = wr.desc(sql[1:]) if sql[1:] in COLUMNS and sql.startswith("-") else wr.expr(sql)
            assert offered.equals(wanted), said
            wr.with_columns(TABLE, y=use(offered))
            compared += 1
        said = message_of(wr.with_columns, TABLE, y=wr.sum("id").filter(f"{text} > 2").over())
        wr.with_columns(TABLE, y=wr.sum("id").filter(written(said)).over())


def test_an_order_given_as_text_leads_to_asc_and_desc():
    rng = random.Random(SEED)
    for _ in range(60):
        name = rng.choice(COLUMNS)
        nulls = rng.choice(["", "first", "last"])
        way = rng.choice(["asc", "desc"] + [""] * bool(nulls))
        text = " ".join(rng.choice([str.lower, str.upper])(w) for w in (way, nulls and "nulls", nulls) if w)
        said = message_of(wr.with_columns, TABLE, y=wr.rank().over(wr.window(order_by=f"{name} {text}")))
        make = wr.desc if way == "desc" else wr.asc
        assert written(said) == (make(name, nulls=nulls) if nulls else make(name)), said
        said = message_of(wr.with_columns, TABLE, y=wr.rank().over(wr.window(order_by=["k", f"-{name}"])))
        assert written(said) == wr.desc(name)
        said = message_of(wr.with_columns, TABLE, y=wr.rank().over(wr.window(order_by=f"k, {name} {text}")))
        assert "for several keys write a list, " in said
        assert eval(said.split("a list, ")[1], {"wr": wr})[0] == "k"
    said = message_of(wr.with_columns, TABLE, y=wr.rank().over(wr.window(order_by="levle desc")))
    assert written(said) == wr.desc("level")
    said = message_of(wr.with_columns, TABLE, y=wr.count().over(wr.window("k,level")))
    assert said.endswith('for several keys write a list, ["k", "level"]')


@pytest.mark.parametrize(
    ("name", "columns", "hint"),
    [
        ("levle", COLUMNS, "; did you mean 'level'?"),
        ("level desc", COLUMNS, "; did you mean 'level'?"),
        ("Price (USB)", ["Price (USD)", "day"], "; did you mean 'Price (USD)'?"),
        ("level-2", ["level", "level_2"], "; did you mean 'level_2'? Or write wr.expr(\"level-2\")"),
        ("qq = 'a'", ["x"], "; there is 'x'"),
        ("x = \"a\"", ["x"], "; write wr.expr('x = \"a\"')"),
        ("x - " + "1" * 2000, ["x"], "; there is 'x'"),
        (" " * 100_000, ["x"], "; there is 'x'"),
    ],
    ids=lambda value: str(value)[:12],
)  # fmt: skip
def test_what_stays_a_name(name, columns, hint):
    table = pa.table({c: [1] for c in columns})
    said = message_of(wr.with_columns, table, y=wr.sum(name).over())
    assert said.endswith(f"is unknown{hint}")


def test_a_default_that_is_text_leads_to_lit():
    over = wr.window("k", "id")
    for function in (wr.lag, wr.lead):
        for text in ("none", "it's", "\\", 'a "b"'):
            said = message_of(wr.with_columns, TABLE, y=function("k", 1, text).over(over))
            python, sql = said.split("for the text write ")[1].split(", in SQL ")
            literal = eval(python, {"wr": wr})
            assert literal.equals(wr.lit(text))
            ours = wr.with_columns(TABLE, y=function("k", 1, literal).over(over))
            name = function("k").function
            theirs = wr.with_columns(TABLE, y=f"{name}(k, 1, {sql}) OVER (PARTITION BY k ORDER BY id)")
            assert text in ours["y"].to_pylist()
            assert ours.equals(theirs)
    said = message_of(wr.with_columns, TABLE, y=wr.lag("level", 1, "levle").over(over))
    assert "'levle' is unknown; did you mean 'level'? A string is a column's name" in said


@pytest.mark.parametrize("text", ["level * id AS r", "level + 1", "k", "abs(level)", "level IN (1, 2) AS r"])
def test_an_item_without_a_window_call_leads_to_sql(text):
    for make in (wr.with_columns, wr.select):
        if (make, text) != (wr.select, "k"):
            said = message_of(make, TABLE, text)
            assert said.startswith(f"{text!r} has no window call")
            query = said.split("is computed by ")[1].split(", or by")[0]
            answer = eval(query, {"wr": wr, "frame": TABLE})
            assert answer.num_columns == 1
            assert answer.num_rows == 3
    assert wr.select(TABLE, wr.expr("level + 1"))["level + 1"].to_pylist() == [2, 3, 4]  # an expression, not a text
    assert "sum(level) has no OVER; write" in message_of(wr.select, TABLE, "sum(level) AS s")
    assert len(message_of(wr.with_columns, TABLE, "level" + " + 1" * 150)) < 500


@pytest.mark.parametrize("host", ["table", "pandas", "polars", "lazy", "reader"])
def test_a_column_in_double_quotes_leads_to_backticks(host):
    table = pa.table({"my col": [1, 2], "v": ["x", "y"], "flag": [True, False]})
    if host == "pandas":
        pytest.importorskip("pandas")
        table = table.to_pandas()
    elif host == "polars":
        table = pytest.importorskip("polars").from_arrow(table)
    elif host == "lazy":
        table = pytest.importorskip("polars").from_arrow(table).lazy()

    def select(text):
        if host == "lazy":
            return wr.select(table, y=text).collect()
        return wr.select(table.to_reader(), y=text).read_all() if host == "reader" else wr.select(table, y=text)

    for text in ('sum("my col") OVER ()', 'corr(1, "my col") OVER ()', 'median("my col") OVER ()'):
        said = message_of(select, text)
        assert said.endswith("; \"my col\" is a text in SQL, as 'my col' is, and the column of that name is `my col`")
        assert len(select(text.replace('"', "`"))) == 2
    assert message_of(select, 'bool_or("flag") OVER ()').endswith("that name is `flag`")
    # a text that no column is called by, and one that is not what the error is about
    for text in ("sum('other') OVER ()", "sum(v) FILTER (WHERE v <> 'flag') OVER ()"):
        assert message_of(select, text).endswith("or set ansi=False")
    said = message_of(select, 'count(*) FILTER (WHERE "flag") OVER ()')
    assert said.endswith("is a text, and a condition must be boolean; write a column's name in backticks: `flag`")
    assert len(select("count(*) FILTER (WHERE `flag`) OVER ()")) == 2


# ---- frames of rows


def test_one_bound_leads_to_a_pair():
    rng = random.Random(SEED)
    given = [rng.choice([1, -1]) * rng.randint(1, 10**6) for _ in range(20)]
    for units in ("rows", "range", "groups"):
        for bound in given:
            if bound > 0 and units != "groups":  # a length
                wr.window(order_by="t", **{units: bound})
                continue
            said = message_of(wr.window, order_by="t", **{units: bound})
            assert said.startswith(f"{units}={bound}: a ")
            pair = eval(said.rpartition("=")[2])
            assert pair == (1 - bound if bound > 0 and units != "range" else -abs(bound), 0)
            wr.window(order_by="t", **{units: pair})
    said = message_of(wr.window, order_by="t", groups=7)
    assert said.endswith("for 7 groups that end at the current row write groups=(-6, 0)")
    assert message_of(wr.window, range="-7 days").endswith('write range=("-7 days", 0)')
    for other in (True, 0, [1], (1, 2, 3), "x", slice(-6, 0), 1.5, 2**63, "7" * 10_000):
        said = message_of(wr.window, rows=other)
        assert said.endswith("for a row and the one before it write rows=(-1, 0)"), said
        assert len(said) < 300


# ---- values that are no frame, no column and no literal


def test_values_where_a_call_reads_a_column():
    np, pd, pl = (pytest.importorskip(name) for name in ("numpy", "pandas", "polars"))
    values = [
        np.array([1]),
        pd.Series([1]),
        pl.Series([1]),
        pa.array([1]),
        pa.chunked_array([[1]]),
        TABLE,
        pd.Index([1]),
    ]
    for value in values:
        for make in (wr.sum, wr.lag, wr.desc, wr.window, wr.sum("id").filter, lambda v: wr.lag("id", 1, v)):
            if (make, type(value)) == (wr.sum("id").filter, np.ndarray):
                continue
            said = message_of(make, value)
            assert f"{type(value).__name__} holds values of its own" in said or "keys come in" in said, said
    for make in (wr.sum, wr.desc, wr.lit, lambda v: wr.lag("id", 1, v)):
        said = message_of(make, 1j)
        assert "complex" in said
        assert "windrow has no" in said


def test_columns_of_pandas_that_have_no_type():
    np, pd = pytest.importorskip("numpy"), pytest.importorskip("pandas")
    sparse = pd.arrays.SparseArray([1, 0])
    cases = [
        (np.array([1j, 2]), "holds complex numbers"),
        (np.array([1j], dtype="complex64"), "holds complex numbers"),
        (np.array([1j, 2.5], dtype=object), "holds complex numbers"),
        (sparse, "is sparse"),
        ([2**70], "integers of more than 64 bits"),
        ([-(2**70), None], "integers of more than 64 bits"),
    ]
    for values, words in cases:
        frame = pd.DataFrame({"x": values, "y": 1})
        with pytest.raises(wr.UnsupportedError, match=f"^column 'x' .*{words}, which windrow does not support"):
            wr.with_columns(frame, y=wr.max("x").over())
        # what it says to write
        said = message_of(wr.with_columns, frame, y=wr.max("x").over())
        written = said.rpartition(", as " if ", as " in said else "; write ")[2]
        frame["x"] = eval(written, {"frame": frame.dropna(), "decimal": decimal})
        wr.with_columns(frame, y=wr.max("x").over())
    with pytest.raises(wr.DataError, match="cannot be read as one type of Arrow's"):
        wr.with_columns(pd.DataFrame({"x": [1, "a"]}), y=wr.max("x").over())


def test_an_index_without_a_name():
    pytest.importorskip("pandas")
    frame = TABLE.to_pandas().set_index("k").rename_axis(None)
    item = wr.sum("level").over("k")
    query = "SELECT sum(level) OVER (PARTITION BY k) FROM f"
    for make in (lambda f: wr.with_columns(f, y=item), lambda f: wr.sql(query, f=f)):
        said = message_of(make, frame)
        assert said.endswith("; the index has no name: if that is meant, write frame.rename_axis('k')")
        named = eval(said.rpartition("write ")[2], {"frame": frame})
        assert make(named).iloc[:, -1].tolist() == [3, 3, 3]
    deep = frame.set_index("id", append=True)
    assert "a level of the index has no name" in message_of(wr.with_columns, deep, y=item)
    said = message_of(wr.with_columns, frame.reset_index(drop=True), y=item)
    assert said.endswith("there is 'id', 'level', 'my col'")


def test_a_zip_file_on_the_path_says_what_does(tmp_path):
    source = os.path.dirname(wr.__file__)
    path = tmp_path / "windrow_arrow.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for folder, _, files in os.walk(source):
            for name in files:
                if name.endswith(".py"):
                    file = os.path.join(folder, name)
                    archive.write(file, os.path.relpath(file, os.path.dirname(source)))
    code = f"import sys; sys.path.insert(0, {str(path)!r}); import windrow"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    last = run.stderr.strip().splitlines()[-1]
    assert last.startswith("ImportError: windrow has a native module, which Python cannot import from a zip file")
    assert last.endswith("; install the wheel, or send an environment that has it by --archives")


def test_what_is_no_frame():
    np, pd, pl = (pytest.importorskip(name) for name in ("numpy", "pandas", "polars"))
    frame = TABLE.to_pandas()
    cases = [
        ({"id": [1]}, "pa.table({'name': values})"),
        ([1], "to_frame()"),
        (np.array([1]), "to_frame()"),
        (pd.Series([1]), "to_frame()"),
        (pl.Series([1]), "to_frame()"),
        (pa.array([1]), "pa.table({'name': values})"),
        (frame.groupby("k"), "wr.window(partition_by=[...])"),
        (pl.from_arrow(TABLE).group_by("k"), "wr.window(partition_by=[...])"),
        (3, "objects with __arrow_c_stream__"),
    ]
    for value, words in cases:
        for use in (wr.with_columns, wr.select, wr.explain):
            said = message_of(use, value, y=wr.sum("id").over())
            assert "frame" in said
            assert words in said
        assert words in message_of(wr.operator, "sum(id) OVER ()", value)
        assert words in message_of(wr.sql, "SELECT id FROM t", t=value)


def test_one_expression_is_one_column():
    pl = pytest.importorskip("polars")
    frame = pl.from_arrow(TABLE)
    for several in (pl.col("id", "level"), pl.all(), pl.col("^l.*$"), pl.col(pl.Int64), pl.exclude("k") * 2):
        for make in (wr.desc, wr.window, wr.sum("id").filter):
            assert "one expression is one column: write a call for each" in message_of(make, several)
        made = (
            wr.select(frame, wr.max(several).over().alias("{name}_y")) if several.meta.is_column_selection() else None
        )
        assert made is None or made.width == len(frame.select(several).columns)
    assert "one expression is one column: write a call for each" in message_of(wr.sum, several)  # which computes
    assert wr.with_columns(frame, y=wr.sum(pl.col("id")).over())["y"].to_list() == [6, 6, 6]


# ---- tracebacks


def public_functions():
    """Give the public functions, and the methods of calls, by their names."""
    made = {name: getattr(wr, name) for name in wr.__all__ if inspect.isfunction(getattr(wr, name))}
    written = {"code", "reads_back", "placed"}  # what no argument of a user's can be wrong for
    members = vars(Placeable) | vars(wr.Call)
    methods = {n: f for n, f in members.items() if inspect.isfunction(f) and not n.startswith("_")}
    made |= {f"Call.{n}": f for n, f in methods.items() if n not in written}
    return made | {f"spark.{name}": getattr(wr.spark, name) for name in wr.spark.__all__}


def test_every_public_function_cuts_its_traceback():
    functions = public_functions()
    assert len(functions) > 105
    for name, function in functions.items():
        inner = getattr(function, "__wrapped__", function)
        assert function is not inner, f"{name} has no @short_traceback"
        assert function.__code__.co_name == "called"
        assert inspect.signature(function) == inspect.signature(inner)
        assert (function.__doc__, function.__module__) == (inner.__doc__, inner.__module__)
        assert pickle.loads(pickle.dumps(function)) is function


def inner_frames(caught):
    """Name windrow's functions in a traceback, below this file's last line in it."""
    return [f.name for f in traceback.extract_tb(caught.value.__traceback__) if f.filename != __file__]


def test_a_traceback_ends_at_the_users_line(monkeypatch):
    monkeypatch.delenv("WINDROW_FULL_TRACEBACK", raising=False)
    call = wr.sum("levle").over()
    mistakes = [
        lambda: wr.with_columns(TABLE, call),
        lambda: wr.select(TABLE, call),
        lambda: wr.explain(TABLE, call),
        lambda: wr.operator(call, TABLE.schema),
        lambda: wr.sql("SELECT levle FROM t", t=TABLE),
        lambda: wr.with_columns(TABLE, "sum(k) OVER ()"),
        lambda: wr.sum(1j),
        lambda: wr.lag(TABLE),
        lambda: wr.window(rows=7.5),
        lambda: wr.desc(1j),
        lambda: wr.lit(1j),
        lambda: wr.expr("lag( OVER ()"),
        lambda: wr.interval(days=10**30),
        lambda: wr.sum("x").filter(True),
        lambda: wr.sum("x").over(1j),
        lambda: wr.col("x") + 1j,
        lambda: wr.col("x") > 1j,
        lambda: bool(wr.col("x") > 1),
        lambda: wr.col("x").cast("no type"),
        lambda: wr.when(True).then(1),
        lambda: wr.when("k").then("k"),
        lambda: wr.sum("x").alias(1),
        lambda: wr.expr("x - lag(x) OVER ()").alias(1),
        lambda: wr.config(threads="x"),
        lambda: wr.aggregate(int, "x", returns=int),
        lambda: wr.spark.accelerate(TABLE),
        lambda: wr.plot_frame(1, TABLE, row=0),
    ]
    for mistake in mistakes:
        with pytest.raises(wr.WindrowError) as caught:
            mistake()
        assert inner_frames(caught) == ["called"], caught.value
    monkeypatch.setenv("WINDROW_FULL_TRACEBACK", "1")
    for mistake in mistakes:
        with pytest.raises(wr.WindrowError) as caught:
            mistake()
        assert len(inner_frames(caught)) > 1


def test_the_frames_of_causes_stay(monkeypatch):
    monkeypatch.delenv("WINDROW_FULL_TRACEBACK", raising=False)

    def failing(x, begin, end):
        raise KeyError("missing")

    with pytest.raises(wr.UserError) as caught:
        wr.with_columns(TABLE, y=wr.vectorized(failing, "id", returns=int).over())
    assert inner_frames(caught) == ["called"]
    assert isinstance(caught.value.__cause__, KeyError)
    assert [f.name for f in traceback.extract_tb(caught.value.__cause__.__traceback__)][-1] == "failing"

    def asks_windrow(x, begin, end):
        return wr.with_columns(TABLE, wr.sum("levle").over())

    with pytest.raises(wr.UserError) as caught:
        wr.with_columns(TABLE, y=wr.vectorized(asks_windrow, "id", returns=int).over())
    frames = [f.name for f in traceback.extract_tb(caught.value.__cause__.__traceback__)]
    assert frames[-2:] == ["asks_windrow", "called"]


def test_faults_of_windrows_and_others_keep_all_frames(monkeypatch):
    monkeypatch.delenv("WINDROW_FULL_TRACEBACK", raising=False)
    for error in (wr.InternalError("a fault"), TypeError("another")):

        def inner(error=error):
            raise error

        outer = short_traceback(lambda inner=inner: inner())
        with pytest.raises(type(error)) as caught:
            short_traceback(outer)()
        names = [f.name for f in traceback.extract_tb(caught.value.__traceback__)]
        assert names[-4:] == ["called", "called", "<lambda>", "inner"]


def test_an_error_shows_nothing_of_windrow_before_it_but_one_frame(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        "import pyarrow as pa\nimport windrow as wr\n"
        "table = pa.table({'x': [1]})\n\n\n"
        "def mine():\n    return wr.with_columns(table, wr.sum('y').over())\n\n\nmine()\n"
    )
    environment = {k: v for k, v in os.environ.items() if k != "WINDROW_FULL_TRACEBACK"}
    run = subprocess.run([sys.executable, script], capture_output=True, text=True, env=environment)
    files = [line.split('"')[1] for line in run.stderr.splitlines() if line.startswith("  File ")]
    assert files == [str(script)] * 2 + [wr.exceptions.__file__]
    assert run.stderr.count("Traceback") == 1
    assert run.stderr.endswith("sum(y) OVER (): column 'y' is unknown; there is 'x'\n")
