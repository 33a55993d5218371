"""Which Polars expressions are of one row: what is not told to read other rows gives each row the same alone."""

import datetime as dt
import inspect
import random
import sys
import threading
import warnings
from pathlib import Path

import pytest

pl = pytest.importorskip("polars")

import windrow as wr  # noqa: E402
from windrow.hosts.polars_rows import columns_and_other_rows  # noqa: E402

ROWS = 6
# the methods' namespaces, and columns that have them
NAMESPACES = {
    "": "ijxbsutd", "str": "su", "list": "lm", "arr": "a", "dt": "td", "cat": "c", "struct": "r", "bin": "y",
}  # fmt: skip
# which print, never give the same twice, or make as much as a number says
LEFT_OUT = {
    "inspect", "shuffle", "sample", "deserialize", "from_json", "register_plugin", "pipe", "pad_start", "pad_end",
    "zfill", "repeat_by", "new_from_index", "extend_constant", "offset_by", "to_array",
}  # fmt: skip


def frame(rng):
    def some(values):
        return [rng.choice(values) for _ in range(ROWS)]

    return pl.DataFrame(
        {
            "i": some([1, 2, 3, None]),
            "j": some([1, 2, 3, None]),
            "x": some([0.5, -1.5, 2.0, None]),
            "b": some([True, False, None]),
            "s": some(["2021-01-02", "03/04/2021", "12:30:00", "2021-01-02 10:00", "3", "a", None]),
            "u": some(["a", "2", "0", None]),
            "l": some([[1, 2], [3], [], None]),
            "m": some([["a", "3"], ["2"], []]),
            "a": pl.Series(some([[1, 2], [3, 1], None]), dtype=pl.Array(pl.Int64, 2)),
            "t": some([dt.datetime(2024, 1, 31, 5), dt.datetime(2023, 7, 1), None]),
            "d": some([dt.date(2024, 1, 31), dt.date(2023, 7, 1), None]),
            "r": some([{"f": 1}, {"f": 2}, None]),
            "y": some([b"a", b"b\x00", None]),
            "c": pl.Series(some(["low", "high", None]), dtype=pl.Enum(["low", "high"])),
        }
    )


def arguments(rng, columns):
    return rng.choice(
        [
            lambda: pl.col(rng.choice(columns)),
            lambda: pl.col(rng.choice(columns)),
            lambda: rng.choice([1, 2, 0.5, "a", "1d", "%Y-%m-%d", True]),
            lambda: rng.choice([[1, 2], ["a", "3"]]),
            lambda: rng.choice([pl.Int64, pl.Date, pl.Datetime, pl.Time, pl.String]),
        ]
    )()


def drawn(rng, columns):
    """Draw a call of one of the methods that the installed Polars has."""
    name = rng.choice(["", "", "str", "str", *NAMESPACES])
    root = pl.col(rng.choice(NAMESPACES[name]))
    of = getattr(root, name) if name else root
    methods = [m for m in dir(of) if not m.startswith("_") and m not in LEFT_OUT and callable(getattr(of, m))]
    method = getattr(of, rng.choice(methods))
    parameters = inspect.signature(method).parameters.values()
    given = [arguments(rng, columns) for p in parameters if p.kind == p.POSITIONAL_OR_KEYWORD and p.default is p.empty]
    options = {"strict": False} if "strict" in inspect.signature(method).parameters else {}
    return method(*given, **options)


@pytest.mark.parametrize("seed", range(2))
def test_random_expressions_of_one_row(seed):
    rng = random.Random(seed)
    compared, told = 0, set()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for _ in range(400):
            data = frame(rng)
            try:
                expression = drawn(rng, data.columns)
                if not isinstance(expression, pl.Expr) or expression.meta.has_multiple_outputs():
                    continue
                whole = data.select(expression.alias("e"))["e"]
            except (Exception, pl.exceptions.PanicException):
                continue
            if other := columns_and_other_rows(expression)[1]:
                told.update(other)
                continue
            alone = [repr(data.slice(i, 1).select(expression.alias("e"))["e"].to_list()) for i in range(ROWS)]
            values = [[v] for v in whole.to_list()] if len(whole) == ROWS else [whole.to_list()] * ROWS
            assert alone == list(map(repr, values)), (seed, str(expression), data)
            compared += 1
    assert compared > 40, compared
    assert len(told) > 5, told


def test_what_reads_a_column_for_each_row():
    s, b = pl.col("s"), pl.col("b")
    reading = [
        s.is_in(b), s.str.contains_any(b), s.str.to_date(strict=False), s.str.to_datetime(), s.str.strptime(pl.Time),
        s.replace(b, "x"), s.str.replace_many(b, b), s.cum_sum(), (s.is_in(b)).not_(),
    ]  # fmt: skip
    alone = [
        s.is_in(["a"]), s.str.contains_any(["a"]), s.str.to_date("%Y"), s.str.strptime(pl.Date, "%d"),
        s.replace({"a": "b"}), s.str.replace_many(["a"], ["b"]), s.str.contains(b), s.str.to_decimal(scale=2),
        s.list.contains(b),
    ]  # fmt: skip
    assert [str(e) for e in reading if not columns_and_other_rows(e)[1]] == []
    assert [str(e) for e in alone if columns_and_other_rows(e)[1]] == []


def test_threads_leave_the_warnings_of_the_process_alone():
    """``warnings.catch_warnings`` in two threads at once may leave a filter behind that silences everything."""
    before = list(warnings.filters)
    read, start = [], threading.Barrier(8)

    def work(mine):
        start.wait()
        read.extend(columns_and_other_rows(pl.col(f"x{mine}") + i) for i in range(150))

    workers = [threading.Thread(target=work, args=(mine,)) for mine in range(8)]
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        after = list(warnings.filters)
    finally:
        sys.setswitchinterval(interval)
        warnings.filters[:] = before
    assert len(read) == 1200
    assert after == before


def test_no_module_silences_warnings_for_the_process():
    """The filters are the process's, whichever thread sets them."""
    sources = list(Path(wr.__file__).parent.rglob("*.py"))
    assert len(sources) > 80
    silencing = ("catch_warnings", "simplefilter", "filterwarnings")
    assert [s.name for s in sources if any(word in s.read_text() for word in silencing)] == []
