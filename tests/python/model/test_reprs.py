"""What objects print as: Python code, or SQL, that gives an equal object."""

import datetime
import random
import re
from collections import Counter
from decimal import Decimal

import pyarrow as pa
import pytest

import windrow as wr
from support.random_calls import SEED
from windrow._model.catalog import Function, Parameter, function_names, function_of
from windrow._model.frames import Bound, Frame
from windrow._model.windows import Window
from windrow._parse.sql_text import parse_item

NAMES = {"wr": wr, "datetime": datetime, "Decimal": Decimal, "Function": Function, "Parameter": Parameter}
TABLE = pa.table({"k": [1, 1, 2], "t": [1, 2, 3], "x": [1.0, 2.0, 3.0]})


def name(rng):
    return rng.choice(["x", "k", "a b", "tick`s", "Straße", "it's", 'q"q', "over", "select", "back\\slash", "0"])


def value(rng):
    text = "".join(rng.choices("ab '\"\\\n%{}é名`", k=rng.randrange(6)))
    whole = rng.choice([0, 1, -1, 7, 2**31, -(2**31), 2**63, 10**30, -(10**37), 10**50])
    parts = [rng.choice([0, 0, rng.randint(-50, 50)]) for _ in range(3)]
    return rng.choice([
        None, True, False, whole, whole, text, text.encode(), rng.choice([0.1, 0.5, -2.0, 1e-7, 1e300, float("inf")]),
        Decimal(rng.choice(["0.1", "1", "-2.50", "1E+3", "1E-30", "Infinity"])), datetime.date(2024, 2, 29),
        datetime.datetime(2024, 2, 29, 1, 2, 3, 4), datetime.datetime(2024, 1, 1, tzinfo=datetime.timezone.utc),
        datetime.time(1, 2), datetime.timedelta(days=-1, microseconds=7), wr.Interval(*parts), [1, 2.5], ["a", None],
        [],
    ])  # fmt: skip


def expression(rng, deep=True):
    kinds = ["column", "column", "literal", "sql", *(["call", "derived"] if deep else [])]
    kind = rng.choice(kinds)
    if kind == "column":
        return wr.col(name(rng))
    if kind == "literal":
        return wr.lit(value(rng))
    if kind == "sql":
        return wr.expr(rng.choice(["a + 1", "a   *b", "upper(a)", "`a b` > 'x'", "over + 1"]))
    return (
        call(rng, deep=False)
        if kind == "call"
        else wr.expr(rng.choice(["x - sum(x) OVER ()", "1 + rank() OVER (ORDER BY t)"]))
    )


def order(rng, deep=True):
    return rng.choice([wr.asc, wr.desc])(expression(rng, deep), nulls=rng.choice(["first", "last"]))


def bound(rng, units, deep):
    offsets = [rng.randint(0, 3), 2**40, wr.col("n"), wr.expr("n + 1"), wr.lit(2)]
    if units == "range":
        offsets += ["7 days", "1mo", 0.5, Decimal("1.50"), datetime.timedelta(hours=3), wr.interval(months=2)]
    if deep:
        offsets.append(wr.count().over())
    offset = rng.choice(offsets)
    return rng.choice([offset, wr.preceding(offset), wr.following(offset), None, 0, -rng.randint(1, 3)])


FRAMES = [
    "ROWS BETWEEN 1 FOLLOWING AND CURRENT ROW",
    "ROWS 7L PRECEDING",
    "GROUPS 1 PRECEDING EXCLUDE TIES",
    "RANGE BETWEEN 1 + 1L PRECEDING AND 3S FOLLOWING",
    "RANGE INTERVAL '1-2' YEAR TO MONTH PRECEDING",
]


def window(rng, deep=True):
    """Give a window of the builder, or of SQL, which has frames that are empty on every row."""
    if rng.random() < 0.2:
        frame = rng.choice(FRAMES)
        return parse_item(f"sum(x) OVER (PARTITION BY k, a % 2 ORDER BY t DESC {frame})").window
    units = rng.choice(["rows", "range", "groups", None])
    if rng.random() < 0.2:
        length = rng.choice([2, 1.5, Decimal("2.5"), "7d", "48h", "2h", datetime.timedelta(days=2), wr.col("n")])
        settings = {"range": length, "closed": rng.choice(["right", "left", "both", "none", None])}
        if rng.random() < 0.3:
            settings = {"rows": rng.randint(1, 9), "centered": rng.random() < 0.5}
        elif not isinstance(length, type(wr.col("n"))):  # of which there is no half
            settings["centered"] = rng.random() < 0.3
        settings |= {"min_rows": rng.choice([None, 2]), "min_span": rng.choice([None, 3, "7d", Decimal(2)])}
        return wr.window(expression(rng, deep), order(rng, deep), **settings)
    while True:
        try:
            return wr.window(
                [expression(rng, deep) for _ in range(rng.randrange(3))],
                [order(rng, deep) for _ in range(rng.randrange(units in ("range", "groups"), 3))],
                exclude=rng.choice([None, None, "ties", "group", "current_row"]),
                min_rows=rng.choice([None, None, None, 2]),
                **({} if units is None else {units: (bound(rng, units, deep), bound(rng, units, deep))}),
            )
        except wr.SpecError:
            continue


def call(rng, deep=True):
    x = expression(rng, deep)
    made = rng.choice([
        lambda: wr.sum(x), wr.count, wr.row_number, lambda: wr.lag(x, rng.randint(0, 3), wr.lit(value(rng))),
        lambda: wr.percentile(x, rng.choice([0.1, 0.25, 1.0, 1e-5])), lambda: wr.percentile(x, [0.1, 0.9]),
        lambda: wr.percentile_cont(x, rng.choice([0.5, 0.123])), wr.rank,
        lambda: wr.first_value(x).ignore_nulls(),
        lambda: wr.count(x).distinct(), lambda: wr.listagg(x, ", ").order_by(order(rng, deep)), lambda: wr.mode(x),
        lambda: wr.max(x).filter(wr.expr("a > 1")), lambda: wr.ntile(4),
    ])()  # fmt: skip
    made = made.over(window(rng, deep))
    return made.alias(name(rng)) if rng.random() < 0.3 else made


def is_code(text):
    return text.startswith("wr.")


def test_code_gives_an_equal_object():
    rng, compared = random.Random(f"reprs {SEED}"), Counter()
    makers = {
        "expression": lambda: expression(rng, deep=False),
        "order": lambda: order(rng),
        "bound": lambda: rng.choice([b for b in (window(rng).frame,) if b] or [default()]).start,
        "frame": lambda: window(rng).frame or default(),
        "window": lambda: window(rng),
        "interval": lambda: wr.Interval(rng.randint(-9, 9), rng.choice([0, -(2**31)]), rng.choice([0, 2**62])),
    }

    def default():
        return Frame("rows", Bound("unbounded_preceding"), Bound("current_row"))

    for _ in range(150):
        for kind, make in makers.items():
            made = make()
            text = repr(made)
            assert is_code(text), text
            again = eval(text, NAMES)
            assert again.equals(made) if hasattr(made, "equals") else again == made, text
            assert type(again) is type(made)
            assert repr(again) == text  # 1, 1.0 and True are equal in Python
            compared[kind, "short" if ".typing." not in text else "long"] += 1
    assert compared["window", "short"] > 50, compared
    assert compared["frame", "long"] > 50, compared


def read(text):
    """Read what an item prints as."""
    return eval(text, NAMES) if is_code(text) else parse_item(text)


def test_items_read_back():
    """As SQL where all literals have some of their own type, else as code; texts of SQL but for their spaces."""
    rng, seen = random.Random(f"items {SEED}"), Counter()
    for _ in range(300):
        made = call(rng)
        text = repr(made)
        again = read(text)
        if re.search(r"a   \*b|a \+ 1|over \+ 1", text):
            assert repr(read(repr(again))) == repr(again)
            seen["sql text"] += 1
        else:
            assert again.equals(made) if hasattr(made, "equals") else again == made, text
            assert repr(again) == text
            assert eval(made.code(), NAMES).equals(made)
            seen["code" if is_code(text) else "sql"] += 1
    assert seen["code"] > 30, seen
    assert seen["sql"] > 30, seen
    for text in ["x - lag(x) OVER (ORDER BY t) AS `a b`", "1 + rank() OVER (PARTITION BY a % 2 ORDER BY t) * 2"]:
        assert repr(parse_item(text)) == text
        assert eval(parse_item(text).code(), NAMES).equals(parse_item(text))


def test_shares_are_read_as_builders_are_given_them():
    w = wr.window("k")
    for share in (0.1, 0.9, 1.0, [0.25, 0.5]):
        built = wr.percentile("x", share).over(w)
        assert type(parse_item(repr(built)).args[1].value) is type(built.args[1].value)
        assert parse_item(repr(built)).equals(built)
    assert parse_item("percentile(x, 0.90) OVER ()").sql == "percentile(x, 0.90) OVER ()"
    assert repr(wr.percentile("x", Decimal("0.1")).over()).startswith("wr.Call(")


def test_columns_of_any_name_are_quoted_where_they_must_be():
    """All that the reader of SQL has for words."""
    from windrow._model.names import RESERVED
    from windrow._parse.grammar import dialect

    words = {w for k in dialect()().tokenizer_class.KEYWORDS for w in re.findall("[a-z_]+", k.lower())}
    assert len(words) > 200
    quoted = 0
    for word in sorted(words | RESERVED):
        key = wr.col(word)
        sorted_by = "t" if word == "all" else key  # sqlglot takes ORDER BY `all` for ORDER BY ALL
        for made in (
            wr.max(key).over(wr.window(key, wr.desc(sorted_by), rows=(-1, 0))),
            wr.Call("count", (key, wr.col("y")), wr.window(key), key, is_distinct=True, argument_order=(wr.asc("q"),)),
            wr.lag("q", key).ignore_nulls().over(wr.window("b", sorted_by)),
        ):
            named = made.alias(word.upper())
            assert parse_item(repr(named)).equals(named), word
        quoted += f"max(`{word}`)" in repr(wr.max(key))
    assert quoted == len(RESERVED)


def test_functions_of_the_catalog():
    assert len(function_names()) > 80
    for function in map(function_of, function_names()):
        assert eval(repr(function), NAMES | {"NoneType": type(None)}) == function


class Spread:
    def initialize(self):
        return 0

    def update(self, state, x):
        return state


def public_objects():
    """Give an object of each public class that is none of another's, by how it is made."""
    w = wr.window("k", wr.desc("t"), rows=(-1, 0))
    total = wr.sum("x").over(w).alias("s")
    given = {
        "call": total,
        "derived": wr.expr("x - sum(x) OVER ()"),
        "window": w,
        "column": wr.col("a b"),
        "literal": wr.lit([1, 2]),
        "sql": wr.expr("a + 1"),
        "interval": wr.interval(days=1),
        "user": wr.aggregate(Spread, "x", returns=int).over(w),
        "vectorized": wr.vectorized(lambda x, begin, end: begin, "x", returns=int).over(w),
        "partition": wr.partition_function(lambda x: x, "x", returns=int).over(w),
        "config": wr.config(),
        "operator": wr.operator({"s": total, "d": "x / sum(x) OVER ()"}, TABLE),
        "plot": wr.plot_frame(w, TABLE, row=0),
        "explanation": wr.explain(TABLE, total),
        "metrics": wr.explain(TABLE, total, metrics=True),
        "error": wr.SpecError("no"),
    }
    pl = pytest.importorskip("polars")
    return given | {"host": wr.sum(pl.col("x") * 2).filter(pl.col("x") > 1).over(wr.window(pl.col("k") + 1))}


def test_nothing_public_prints_as_an_address():
    """Nor does what their attributes give, at any depth."""
    seen, addresses = set(), re.compile(r" at 0x|<windrow|<object")
    todo = [(f"wr.{n}", getattr(wr, n)) for n in wr.__all__] + list(public_objects().items())
    todo += [(f"wr.typing.{n}", getattr(wr.typing, n)) for n in wr.typing.__all__]
    kinds = Counter()
    while todo:
        path, one = todo.pop()
        if id(one) in seen or path.count(".") > 5:
            continue
        seen.add(id(one))
        module = type(one).__module__
        if isinstance(one, (tuple, list)):
            todo += [(f"{path}.{i}", part) for i, part in enumerate(one)]
        elif isinstance(one, dict):
            todo += [(f"{path}.{key}", part) for key, part in one.items()]
        elif module.startswith("windrow.") and not isinstance(one, type):
            assert addresses.search(repr(one)) is None, (path, repr(one))
            kinds[type(one).__name__] += 1
            for attribute in dir(one):
                if not attribute.startswith("_") and not callable(getattr(type(one), attribute, None)):
                    try:
                        todo.append((f"{path}.{attribute}", getattr(one, attribute)))
                    except (wr.WindrowError, ImportError):  # what needs another schema, or PySpark
                        continue
    model = {"Call", "Derived", "Window", "Frame", "Bound", "Order", "Column", "Literal", "Sql", "HostExpression"}
    assert {*model, "Operator", "Config", "Metrics", "Measured", "Explanation", "ExplainedCall", "Aggregate"} <= set(
        kinds
    )


def test_figures_and_rows_are_code():
    plan = public_objects()["metrics"]
    for one in (*plan.metrics, *plan.metrics[0].runs, *plan.calls):
        assert eval(repr(one), NAMES) == one


def test_config_is_code():
    with wr.config(threads=2, ansi=False, timezone="Europe/Berlin"):
        text = repr(wr.config())
    assert text.startswith("wr.config(")
    with eval(text, NAMES):
        assert repr(wr.config()) == text


def test_operators_are_queries():
    operator = wr.operator({"s": wr.sum("x").over(wr.window("k")), "d q": "x / sum(x) OVER ()"}, TABLE)
    answer = wr.sql(f"{operator!r} FROM t", t=TABLE)
    assert answer.equals(wr.with_columns(TABLE, {"s": "sum(x) OVER (PARTITION BY k)", "d q": "x / sum(x) OVER ()"}))


def test_calls_without_a_window():
    assert repr(wr.sum("x")) == "sum(x)"
    assert eval(wr.sum("x").code(), NAMES).equals(wr.sum("x"))
    assert isinstance(wr.window(), Window)
