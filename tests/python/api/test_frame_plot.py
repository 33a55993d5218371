"""``wr.plot_frame`` draws the rows that a frame holds: those that DuckDB's frame holds, on every kind of data frame."""

import random
import xml.etree.ElementTree as ET

import pyarrow as pa
import pytest

import windrow as wr
from support.random_calls import rounds

pytestmark = pytest.mark.engine

SVG = "{http://www.w3.org/2000/svg}"
TABLE = pa.table({"k": ["b", "a", "b", "b", None], "t": [2, 1, 1, 2, 5], "v": [0, 1, 2, 1, 0]})


def random_table(rng):
    rows = rng.randint(1, 14)
    draw = {"k": lambda: rng.choice([1, 2, None]), "t": lambda: rng.randint(0, 6), "v": lambda: rng.randint(0, 3)}
    columns = {name: [one() for _ in range(rows)] for name, one in draw.items()}
    return pa.table(columns, schema=pa.schema(dict.fromkeys("ktv", pa.int64()))).append_column("n", [range(rows)])


def random_window(rng):
    """Give a window, and the inside of SQL's OVER that asks the same of DuckDB."""
    units = rng.choice(["rows", "range", "groups", None])
    partition = rng.choice([None, "k"])
    order = rng.choice([wr.asc("t"), wr.desc("t")])
    key = f"t {'DESC' if order.descending else 'ASC'}"
    exclude = rng.choice(["no_others", "current_row", "group", "ties"])
    bounds = [rng.choice([-3, -1, 0, 2, None, None, "v"]) for _ in range(2)]
    if units in (None, "rows") and rng.random() < 0.5:
        order, key = [order, "n"], f"{key}, n ASC"
    if all(isinstance(b, int) for b in bounds):
        bounds.sort()
    sides = ["PRECEDING", "FOLLOWING"]
    bounds = [side_of(b, i) for i, b in enumerate(bounds)]
    frame = f"{units} BETWEEN {sql_bound(bounds[0], sides[0])} AND {sql_bound(bounds[1], sides[1])}"
    if units is None:
        frame = "RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW"
    window = wr.window(partition, order, exclude=exclude, **({units: tuple(bounds)} if units else {}))
    over = f"{'PARTITION BY k ' if partition else ''}ORDER BY {key} NULLS LAST {frame}"
    return window, over, f"EXCLUDE {exclude.replace('_', ' ')}"


def side_of(bound, end):
    if bound == "v":
        return [wr.preceding, wr.following][end](wr.col("v"))
    return bound


def sql_bound(bound, unbounded):
    if bound is None:
        return f"UNBOUNDED {unbounded}"
    if isinstance(bound, int):
        return f"{abs(bound)} {'PRECEDING' if bound < 0 else 'FOLLOWING'}"
    return str(bound)


@pytest.mark.parametrize("seed", rounds(12, 4))
def test_rows_are_those_of_duckdb_s_frames(seed):
    duckdb = pytest.importorskip("duckdb")
    rng = random.Random(seed)
    compared = 0
    for _ in range(4):
        table = random_table(rng)
        window, over, exclude = random_window(rng)
        held = f"coalesce(list(n) OVER ({over} {exclude}), [])", f"coalesce(list(n) OVER ({over}), [])"
        query = f"SELECT n, {held[0]}, {held[1]} FROM source ORDER BY n"
        for n, inside, every in ask_duckdb(duckdb, table, query):
            plot = wr.plot_frame(window, table, row=n)
            # the order of ties is each engine's own
            assert sorted(plot.rows) == sorted(inside), (window, n)
            assert sorted(plot.excluded) == sorted(set(every) - set(inside)), (window, n)
            compared += len(every)
    assert compared > 10


def ask_duckdb(duckdb, table, query):
    with duckdb.connect() as connection:
        connection.register("source", table)
        return connection.sql(query).fetchall()


def shapes(plot):
    """Read the picture: bars in the frame, bars left out, and all texts."""
    root = ET.fromstring(plot.svg)
    rects = root.findall(f"{SVG}rect")
    filled = [r for r in rects if r.get("fill", "").startswith("#")]
    dashed = [r for r in rects if r.get("stroke-dasharray")]
    return filled, dashed, [t.text for t in root.findall(f"{SVG}text")]


def test_the_picture_has_a_bar_for_each_row():
    window = wr.window("k", "t", groups=(-1, 0), exclude="ties")
    plot = wr.plot_frame(window, TABLE, row=3)
    assert (plot.rows, plot.excluded, plot.row) == ([2, 3], [0], 3)
    filled, dashed, texts = shapes(plot)
    assert (len(filled), len(dashed)) == (2, 1)
    lines = str(plot).splitlines()
    # by partition, in the order in which these begin, then by the order keys
    assert [line.split()[0] for line in lines if "|" in line] == ["2", "0", "3", "1", "4"]
    assert [line for line in lines if "<- current row" in line] == ["  3     b  2  |███| <- current row"]
    assert [line for line in lines if "excluded" in line] == ["  0     b  2  |xxx| excluded"]
    assert "◀ current row" in texts
    assert "GROUPS BETWEEN 1 PRECEDING AND CURRENT ROW EXCLUDE TIES" in texts
    assert "NULL" in texts
    assert plot._repr_svg_() == plot.svg
    assert repr(plot) == str(plot)


def test_a_line_is_between_rows_that_are_no_peers():
    def lines(window):
        return len(ET.fromstring(wr.plot_frame(window, TABLE, row=0).svg).findall(f"{SVG}path"))

    assert lines(wr.window("k", "t")) == 1
    assert lines(wr.window("k", ["t", "v"])) == 2
    assert lines(wr.window("k")) == 0
    assert lines(wr.window(order_by="t")) == 2


def test_the_default_frame_is_named():
    assert "RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW (the default)" in str(
        wr.plot_frame(wr.window("k", "t"), TABLE, row=0)
    )
    assert "ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING (the default)" in str(
        wr.plot_frame(wr.window("k"), TABLE, row=0)
    )


def test_too_few_rows_are_said():
    window = wr.window("k", "t", rows=(-1, 0), min_rows=2)
    assert "so the result is NULL" in str(wr.plot_frame(window, TABLE, row=2))
    assert wr.plot_frame(window, TABLE, row=2).rows == [2]
    assert "NULL" not in str(wr.plot_frame(window, TABLE, row=0)).split("\n\n")[0]


def test_any_text_makes_a_picture():
    odd = ["<&\"'>", "a\nb\x00\x1b", "x" * 500, "日本語", "\N{RIGHT-TO-LEFT OVERRIDE}abc"]
    table = pa.table({"<k>": odd, "t": range(5)})
    plot = wr.plot_frame(wr.window("<k>", "t"), table, row=-1)
    assert plot.row == 4
    _, _, texts = shapes(plot)
    assert "<&\"'>" in texts
    assert "a\N{REPLACEMENT CHARACTER}b\N{REPLACEMENT CHARACTER}\N{REPLACEMENT CHARACTER}" in texts
    assert max(map(len, texts)) < 80


def test_every_frame_in_memory_is_drawn(tmp_path):
    pl, pd = pytest.importorskip("polars"), pytest.importorskip("pandas")
    duckdb = pytest.importorskip("duckdb")
    window = wr.window("k", "t", rows=(-1, 1), exclude="current_row")
    expected = wr.plot_frame(window, TABLE, row=0)
    assert expected.rows == [2, 3]
    frame = pl.from_arrow(TABLE)
    with duckdb.connect() as connection:
        connection.register("source", TABLE)
        for other in (
            frame, TABLE.to_pandas(), TABLE.to_pandas(types_mapper=pd.ArrowDtype), TABLE.to_batches()[0],
            connection.sql("FROM source"), Streamed(TABLE),
        ):  # fmt: skip
            assert wr.plot_frame(window, other, row=0).svg == expected.svg, type(other)
    keys = wr.window(pl.col("k").fill_null("a"), wr.expr("t % 2"))
    assert wr.plot_frame(keys, frame, row=1).rows == [1, 4]
    expected.save(tmp_path / "frame.svg")
    assert (tmp_path / "frame.svg").read_text(encoding="utf-8") == expected.svg


class Streamed:
    def __init__(self, table):
        self.table = table

    def __arrow_c_stream__(self, requested_schema=None):
        return self.table.__arrow_c_stream__(requested_schema)


def test_what_cannot_be_drawn_is_refused():
    pl = pytest.importorskip("polars")
    window = wr.window("k", "t")
    with pytest.raises(wr.SpecError, match="up to 60 rows, and the frame has 1,000"):
        wr.plot_frame(window, pa.table({"k": range(1000), "t": range(1000)}), row=0)
    with pytest.raises(wr.SpecError, match=r"frame in memory, and LazyFrame is none; write frame.head\(20\).collect"):
        wr.plot_frame(window, pl.from_arrow(TABLE).lazy(), row=0)
    with pytest.raises(wr.SpecError, match="RecordBatchReader is none"):
        wr.plot_frame(window, TABLE.to_reader(), row=0)
    with pytest.raises(wr.SpecError, match="row=5: the frame has rows 0 to 4"):
        wr.plot_frame(window, TABLE, row=5)
    with pytest.raises(wr.SpecError, match="row=-1: the frame has no rows"):
        wr.plot_frame(window, TABLE.slice(0, 0), row=-1)
    for row in (True, "a", 1.0, None):
        with pytest.raises(wr.SpecError, match="is no position of a row"):
            wr.plot_frame(window, TABLE, row=row)
    with pytest.raises(wr.SpecError, match=r"draws a window, and 'k' is none; write wr.window"):
        wr.plot_frame("k", TABLE, row=0)
    with pytest.raises(wr.SpecError, match="kk"):
        wr.plot_frame(wr.window("kk"), TABLE, row=0)
    with pytest.raises(wr.SpecError, match="not a frame windrow knows"):
        wr.plot_frame(window, [1], row=0)
