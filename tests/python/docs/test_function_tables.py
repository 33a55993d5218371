"""The tables of functions are correct: each marked cell works, and each empty cell is refused."""

from functools import partial

import pyarrow as pa
import pytest

import windrow as wr
from support.comparison import equal
from tools import function_table

equal_values = partial(equal, signed_zeros=False, types=False, rel=1e-9, absolute=1e-9)

ROWS = function_table.rows()
FRAMES = function_table.FRAMES
SIZE = 60

TABLE = pa.table(
    {
        "id": range(SIZE),
        "k": [i % 4 for i in range(SIZE)],
        "t": [i * i // 7 for i in range(SIZE)],
        # two rows of a partition, one after the other, have the same values, or one of them has none
        "x": [None if i % 9 == 4 else (i // 8 * 37) % 23 for i in range(SIZE)],
        "y": [None if i % 11 == 3 else float((i // 8 * 53) % 31) for i in range(SIZE)],
        "b": [None if i % 7 == 2 else (i * 29) % 5 < 3 for i in range(SIZE)],
        "s": [None if i % 10 == 7 else f"word {(i // 8 * 41) % 13}" for i in range(SIZE)],
        "reach": [i % 5 for i in range(SIZE)],
    }
).sort_by([("k", "ascending"), ("t", "ascending"), ("id", "ascending")])
WINDOW = "PARTITION BY k ORDER BY t, id"
#: The arguments of the functions that take others than a number, or two.
ARGUMENTS = {
    "count_if": "b", "bool_and": "b", "bool_or": "b", "ntile": "3", "listagg": "s, '-'", "collect_list": "s",
    "first_value": "s", "last_value": "s", "any_value": "s", "nth_value": "s, 2", "lag": "s, 2", "lead": "s",
    "percentile": "x, 0.3", "percentile_cont": "x, 0.3", "percentile_disc": "x, 0.3", "percentile_approx": "x, 0.3",
    "histogram_numeric": "x, 40", "ewm_mean": "x, 0.5", "ewm_mean_by": "x, t, 3", "count": "x",
    "ewm_var": "x, 0.5", "ewm_std": "x, 0.5", "ewm_cov": "x, y, 0.5", "ewm_corr": "x, y, 0.5",
    "rank_with": "'average', true", "bounded_sum": "x - 10, 0, 20", "group_id": "20, 40, 3, x, 25",
}  # fmt: skip
LEAST = {entry["name"]: entry["min_arguments"] for entry in wr._windrow.functions()}


def ask(row, *, over=WINDOW, frame="", alias=None, **told):
    """Write a call as SQL."""
    inside = ARGUMENTS.get(row.name, ", ".join(["x", "y"][: LEAST[row.name]]))
    if told.get("distinct"):
        inside = f"DISTINCT {inside}"
    if row.ordered or told.get("order_by"):
        # WITHIN GROUP's order is that of the first argument
        inside += f" ORDER BY {'y' if row.family == 'ranking' else inside.split(',')[0].split()[-1]}"
    text = f"{alias or row.name}({inside})" + " FILTER (WHERE x > 5)" * told.get("filter", False)
    if row.name in ("fill", "fill_forward", "fill_backward", "group_id"):
        over = over.removesuffix(", id")  # distances have one key
    return f"{text}{' IGNORE NULLS' * told.get('ignore_nulls', False)} OVER ({over} {frame})"


def answer(item, **settings):
    with wr.config(**settings):
        return wr.select(TABLE, {"c": item})["c"].to_pylist()


def frame_of(row):
    return FRAMES["moving"] if "moving" in row.cells else ""


def told(row, item):
    """Give what the builder would add to a call."""
    name = item.lower().replace(" ", "_")
    return ask(row, frame=frame_of(row), **{name: True})


CELLS = [
    (row, cell)
    for row in ROWS
    for cell in [*FRAMES, *function_table.MODIFIERS]
    if (row.family, cell) != ("ranking", "ORDER BY")  # it has rows of its own
]


#: Functions to which equal values are one, whatever is said.
SEES_VALUES_ONCE = (
    "min", "max", "bit_and", "bit_or", "bool_and", "bool_or", "approx_count_distinct", "collect_set", "first_value",
    "any_value",
)  # fmt: skip
#: The functions that look at the order of a frame's rows.
SEES_ORDER = ("collect_list", "listagg", "first_value", "last_value", "any_value", "nth_value")


def without_effect(row, cell):
    """Whether a modifier changes no answer because of what the function is."""
    if cell == "DISTINCT":
        return row.name in SEES_VALUES_ONCE
    if cell == "ORDER BY":
        return row.name not in SEES_ORDER
    return cell == "IGNORE NULLS" and row.name == "collect_list"  # which passes over them anyway


@pytest.mark.parametrize(("row", "cell"), CELLS, ids=[f"{row.title}: {cell}" for row, cell in CELLS])
def test_cell(row, cell):
    if cell in FRAMES:
        item = ask(row, frame=FRAMES[cell])
        plain = None
    elif cell == "min_rows":
        window = wr.window("k", ["t", "id"], rows=(-2, 1), min_rows=3)
        call = getattr(wr, row.name)(*builder_arguments(row)).over(window)
        item, plain = call.order_by("y") if row.ordered else call, ask(row, frame=FRAMES["moving"])
    else:
        item, plain = told(row, cell), ask(row, frame=frame_of(row))
    if cell not in row.cells:
        with pytest.raises(wr.SpecError):
            answer(item)
        return
    got = answer(item)
    assert equal_values(got, answer(item, strategy="naive"))
    if plain is not None:
        assert equal_values(got, answer(plain)) == without_effect(row, cell)


def builder_arguments(row):
    from windrow._parse.sql_text import parse_call

    args = parse_call(ask(row)).args
    return args[:1] if row.name == "group_id" else args  # it takes the others by name


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.title)
def test_an_alias_is_the_function(row):
    for alias in row.aliases:
        assert equal_values(answer(ask(row, alias=alias)), answer(ask(row)))


CALLS = {f"c{i}": ask(row, frame=frame_of(row)) for i, row in enumerate(ROWS)}


@pytest.fixture(scope="module")
def expected():
    return wr.select(TABLE, "id", CALLS).to_pydict()


def check(result, expected):
    """Compare a result of any host, in any order of rows."""
    result = result.sort_by("id")
    order = sorted(range(SIZE), key=expected["id"].__getitem__)
    for name, row in zip(CALLS, ROWS, strict=True):
        assert equal_values(result[name].to_pylist(), [expected[name][i] for i in order]), row.title


def test_streams(expected):
    reader = pa.RecordBatchReader.from_batches(TABLE.schema, TABLE.to_batches(7))
    # their order key is another one
    check(wr.select(reader, "id", CALLS).read_all(), expected)
    check(pa.Table.from_batches(wr.operator(CALLS, TABLE.schema)(TABLE.to_batches(7))), expected)


def test_polars(expected):
    pl = pytest.importorskip("polars")
    check(wr.select(pl.from_arrow(TABLE), "id", CALLS).to_arrow(), expected)
    check(wr.select(pl.from_arrow(TABLE).lazy(), "id", CALLS).collect().to_arrow(), expected)


def test_pandas(expected):
    pd = pytest.importorskip("pandas")
    frame = TABLE.to_pandas(types_mapper=pd.ArrowDtype)
    check(pa.Table.from_pandas(wr.select(frame, "id", CALLS)), expected)


def test_pyspark(oracle_spark, expected):
    result = wr.select(oracle_spark.createDataFrame(TABLE), "id", CALLS)
    check(result.toArrow(), expected)


def test_the_pages_are_what_the_registry_says():
    for path, text in function_table.pages().items():
        assert path.read_text(encoding="utf-8") == text, f"python tools/function_table.py writes {path.name} anew"
