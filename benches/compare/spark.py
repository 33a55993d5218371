"""windrow inside PySpark, beside Spark's own windows, with and without their segment tree.

``python -m benches.compare.spark``: each question is put to all in turns, in one session on ``local[2]``, from
a Parquet file to the ``noop`` sink. First all must give the same rows, on a table of fewer. A ratio is of medians in
nanoseconds a row: where a setting of Spark's is quadratic in the frame it is asked about fewer rows, and the table says
so.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import platform
import statistics
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import windrow as wr
from windrow.typing import Engine

RECORD = Path(__file__).parents[1] / "record"
TREE = "spark.sql.window.segmentTree.enabled"
ROWS, KEYS = 4_000_000, 1000
#: Rows on which answers are compared.
CHECKED_ROWS = 20_000

WINDOW = "PARTITION BY k ORDER BY ts"
NEAR = f"({WINDOW} ROWS BETWEEN 1000 PRECEDING AND 1000 FOLLOWING)"
RUNNING = f"({WINDOW} ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)"


@dataclass(frozen=True)
class Case:
    """A question: calls by the name of their column, and what windrow is to reach, by name of the rival."""

    name: str
    calls: Mapping[str, str]
    limits: Mapping[str, float]
    rows: int = ROWS
    #: Rows for a rival to whom so many would take hours.
    fewer: Mapping[str, int] = field(default_factory=dict)
    engine: Engine = "windrow"
    #: So many times as many rounds, where a hundredth is to be told from the machine's noise.
    rounds: int = 1


def _calls(*texts: str) -> dict[str, str]:
    return {f"c{i}": text for i, text in enumerate(texts)}


def _near(name: str, call: str, **more: Any) -> Case:
    return Case(name, _calls(f"{call} OVER {NEAR}"), {"tree": 0.35, "plain": 0.05}, fewer={"plain": 400_000}, **more)


CHEAP = {
    "row_number": f"row_number() OVER ({WINDOW})",
    "lag": f"lag(v) OVER ({WINDOW})",
    "running_sum": f"sum(v) OVER {RUNNING}",
}
CASES = [
    *(Case(name, _calls(text), {"best": 1.15}) for name, text in CHEAP.items()),
    *(Case(f"{name}_auto", _calls(text), {"best": 1.02}, engine="auto", rounds=3) for name, text in CHEAP.items()),
    _near("min_near", "min(v)"),
    _near("sum_near", "sum(d)"),
    _near("first_near", "first_value(v)"),
    _near("stddev_near", "stddev_samp(d)"),
    Case("min_100", _calls(f"min(v) OVER ({WINDOW} ROWS 100 PRECEDING)"), {"best": 0.5}),
    # For these Spark has no tree, whatever the setting.
    # Spark takes no frame for `median`, and for what `median` stands for it does.
    Case("median_near", _calls(f"percentile(d, 0.5) OVER {NEAR}"), {"tree": 0.03}, fewer={"tree": 20_000}),
    Case("collect_near", _calls(f"collect_list(v) OVER {NEAR}"), {"tree": 0.03}, rows=100_000),
    Case(
        "six_calls_three_orders",
        _calls(
            f"row_number() OVER ({WINDOW})",
            f"sum(v) OVER {RUNNING}",
            "rank() OVER (PARTITION BY k ORDER BY v, id)",
            "min(d) OVER (PARTITION BY k ORDER BY v, id ROWS 100 PRECEDING)",
            "lag(v) OVER (PARTITION BY k ORDER BY d)",
            "avg(d) OVER (PARTITION BY k ORDER BY d ROWS BETWEEN 50 PRECEDING AND 50 FOLLOWING)",
        ),
        {"best": 0.6},
    ),
]


class MeanOfSquares:
    """The Python aggregate: the same question as Spark's ``arrow_udf`` is asked."""

    def initialize(self) -> tuple[float, int]:
        """Begin with nothing."""
        return 0.0, 0

    def update(self, state: tuple[float, int], value: float | None) -> tuple[float, int]:
        """Take a value in."""
        return state if value is None else (state[0] + value * value, state[1] + 1)

    def merge(self, left: tuple[float, int], right: tuple[float, int]) -> tuple[float, int]:
        """Append the values of ``right``."""
        return left[0] + right[0], left[1] + right[1]

    def evaluate(self, state: tuple[float, int]) -> float | None:
        """Give the mean."""
        return state[0] / state[1] if state[1] else None


def write_table(path: Path, rows: int, keys: int) -> None:
    """Write the table, in as many row groups as Spark is to have tasks and more."""
    rng = np.random.default_rng(7)
    table = pa.table(
        {
            "id": np.arange(rows),
            "k": rng.integers(0, keys, rows).astype(np.int32),
            "ts": rng.permutation(rows),
            "v": pa.array(rng.integers(-1_000_000, 1_000_000, rows), mask=rng.random(rows) < 0.1),
            "d": rng.normal(size=rows) * 100,
        }
    )
    pq.write_table(table, path, row_group_size=max(1, rows // 8))


def new_session(workers: int = 2) -> Any:
    """Start Spark with so many tasks at once."""
    from pyspark.sql import SparkSession

    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)  # which has windrow
    builder = SparkSession.builder.master(f"local[{workers}]").appName("windrow benches")
    settings = {
        "spark.sql.shuffle.partitions": "2",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.memory": "8g",
        "spark.sql.execution.arrow.pyspark.enabled": "true",
        # as docs/spark.md says, whoever answers: else Spark weighs each batch after every row
        "spark.sql.execution.arrow.maxBytesPerBatch": str(2**31 - 1),
        "spark.driver.extraJavaOptions": "-Dlog4j2.level=error",
    }
    for name, value in settings.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


@dataclass
class Line:
    """What was measured of a case: seconds by who answered, and per row where rows differ."""

    case: Case
    times: dict[str, list[float]] = field(default_factory=dict)
    rows: dict[str, int] = field(default_factory=dict)

    def per_row(self, who: str) -> float | None:
        """Give the median, in nanoseconds a row."""
        times = self.times.get(who)
        return statistics.median(times) / self.rows[who] * 1e9 if times else None

    def ratio(self, rival: str) -> float | None:
        """Give windrow's time by a rival's, ``best`` being Spark's better setting."""
        theirs = [self.per_row(name) for name in (("tree", "plain") if rival == "best" else (rival,))]
        known = [t for t in theirs if t is not None]
        ours = self.per_row("windrow")
        return ours / min(known) if known and ours is not None else None


def spark_columns(calls: Mapping[str, str]) -> list[Any]:
    """Give the calls as Spark's Columns."""
    from pyspark.sql import functions

    return [functions.expr(text).alias(name) for name, text in calls.items()]


def answers(session: Any, path: Path, case: Case) -> dict[str, Callable[[], Any]]:
    """Give what puts the question, by who answers it."""

    def by_spark(tree: bool) -> Any:
        session.conf.set(TREE, str(tree).lower())
        return session.read.parquet(str(path)).select("id", *spark_columns(case.calls))

    def by_windrow() -> Any:
        session.conf.set(TREE, "true")
        with wr.config(engine=case.engine):
            return wr.select(session.read.parquet(str(path)), "id", case.calls)

    return {"windrow": by_windrow, "tree": lambda: by_spark(True), "plain": lambda: by_spark(False)}


def close(ours: Any, theirs: Any) -> bool:
    """Compare values, floats to rounding."""
    if isinstance(ours, float) and isinstance(theirs, float):
        return math.isclose(ours, theirs, rel_tol=1e-9, abs_tol=1e-9) or (math.isnan(ours) and math.isnan(theirs))
    if isinstance(ours, list) and isinstance(theirs, list):
        return len(ours) == len(theirs) and all(map(close, ours, theirs))
    return bool(ours == theirs)


def check(session: Any, path: Path, case: Case) -> None:
    """Compare all answers to a case.

    Raises
    ------
    AssertionError
        Two of them differ.
    """
    rows = {who: sorted(map(tuple, ask().collect())) for who, ask in answers(session, path, case).items()}
    for who, theirs in rows.items():
        for ours, row in zip(rows["windrow"], theirs, strict=True):
            assert all(map(close, ours, row)), f"{case.name}: windrow {ours}, Spark ({who}) {row}"


def drain(frame: Any) -> float:
    """Compute all rows, keep none, and give the seconds."""
    start = time.perf_counter()
    frame.write.format("noop").mode("overwrite").save()
    return time.perf_counter() - start


def in_turns(ways: Sequence[str], turn: int) -> list[str]:
    """Give who answers, each the first of a round in its turn: whoever is first finds Spark's code not yet compiled."""
    first = turn % len(ways)
    return [*ways[first:], *ways[:first]]


def measure(session: Any, table: Callable[[int], Path], case: Case, repeat: int, scale: float) -> Line:
    """Take times in turns."""
    line = Line(case)
    asked = ["windrow", "tree"] + (["plain"] if "plain" in case.limits or "best" in case.limits else [])
    for turn in range(repeat * case.rounds):
        for who in in_turns(asked, turn):
            line.rows[who] = max(CHECKED_ROWS, int(case.fewer.get(who, case.rows) * scale))
            frame = answers(session, table(line.rows[who]), case)[who]()
            line.times.setdefault(who, []).append(drain(frame))
    return line


def python_aggregate(session: Any, path: Path, rows: int, width: int, repeat: int) -> Line:
    """Measure the Python aggregate beside the same as Spark's ``arrow_udf``."""
    from pyspark.sql import Window
    from pyspark.sql.pandas.functions import arrow_udf

    @arrow_udf("double")  # type: ignore[call-overload,untyped-decorator]
    def mean_of_squares(values: pa.Array) -> float:
        found = values.drop_null().to_numpy(zero_copy_only=False)
        return float(np.dot(found, found)) / len(found)

    ours = wr.aggregate(MeanOfSquares, "d", returns=float)
    window = wr.window("k", "ts", rows=(-width, width))
    theirs = Window.partitionBy("k").orderBy("ts").rowsBetween(-width, width)

    def by_windrow() -> Any:
        return wr.select(session.read.parquet(str(path)), "id", ours.over(window).alias("c0"))

    def by_spark() -> Any:
        return session.read.parquet(str(path)).select("id", mean_of_squares("d").over(theirs).alias("c0"))

    case = Case(f"python_aggregate_{width}", {}, {"tree": 0.1 if width == 1000 else 1.0}, rows=rows)
    line = Line(case, rows={"windrow": rows, "tree": rows})
    # Also warms the workers up, which have not run Python until now.
    both = [sorted(map(tuple, ask().collect())) for ask in (by_windrow, by_spark)]
    for found, expected in zip(*both, strict=True):
        assert all(map(close, found, expected)), f"{case.name}: windrow {found}, Spark {expected}"
    asked = {"windrow": by_windrow, "tree": by_spark}
    for turn in range(repeat):
        for who in in_turns(list(asked), turn):
            line.times.setdefault(who, []).append(drain(asked[who]()))
    return line


def unchanged(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Send a column back as it came."""
    for batch in batches:
        yield batch.rename_columns(["id", "k", "ts", "c0"]).select(["id", "c0"])


def with_lists(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Send lists back as long as those of the rows around each, all of which share their values."""
    rows = pa.Table.from_batches(list(batches), pa.schema({n: pa.int64() for n in ("id", "k", "ts", "v")}))
    rows = rows.sort_by("k").combine_chunks()
    k, at = rows["k"].to_numpy(), np.arange(rows.num_rows)
    begins = np.maximum(at - 1000, np.searchsorted(k, k, "left"))
    ends = np.minimum(at + 1001, np.searchsorted(k, k, "right"))
    offsets, sizes = (pa.array(column, pa.int32()) for column in (begins, ends - begins))
    for batch in rows.to_batches():
        lists = pa.ListViewArray.from_arrays(offsets, sizes, batch["v"])
        whole = pa.record_batch({"id": batch["id"], "c0": lists})
        yield from (whole.slice(first, 10_000) for first in range(0, whole.num_rows, 10_000))


def way_alone(
    session: Any,
    path: Path,
    rows: int,
    repeat: int,
    sent: Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]] = unchanged,
    made: str = "bigint",
) -> float:
    """Measure what no call can do without: an exchange by ``k`` and Arrow to Python and back, in nanoseconds a row."""
    times = []
    for _ in range(repeat + 1):  # the first compiles
        needed = session.read.parquet(str(path)).selectExpr("id", "bigint(k)", "ts", "v").repartition("k")
        times.append(drain(needed.mapInArrow(sent, f"id bigint, c0 {made}")))
    return statistics.median(times[1:]) / rows * 1e9


def report(lines: Sequence[Line], alone: Mapping[str, float], versions: str) -> Iterator[str]:
    """Give the lines of the table."""
    yield "# windrow inside PySpark, beside Spark's own windows"
    yield ""
    yield versions
    yield ""
    yield "Medians in nanoseconds a row, `local[2]`, Parquet to `noop`; ratio is windrow's by Spark's."
    if alone:
        yield "An exchange by `k` and Arrow to Python and back, nothing computed, in nanoseconds a row:"
        yield "; ".join(f"{what}: {value:,.0f}" for what, value in alone.items()) + "."
    yield ""
    yield "| case | rows | windrow | Spark, tree | Spark, plain | ratio | limit | |"
    yield "|---|--:|--:|--:|--:|--:|--:|---|"

    def shown(value: float | None) -> str:
        return "-" if value is None else f"{value:,.0f}"

    for line in lines:
        for rival, limit in line.case.limits.items():
            ratio = line.ratio(rival)
            verdict = "-" if ratio is None else "met" if ratio <= limit else "NOT met"
            numbers = " | ".join(shown(line.per_row(who)) for who in ("windrow", "tree", "plain"))
            ours = line.rows["windrow"]
            fewer = [f" ({who}: {theirs:,})" for who, theirs in line.rows.items() if theirs != ours]
            rows = f"{ours:,}" + "".join(fewer)
            yield (
                f"| {line.case.name}, by {rival} | {rows} | {numbers} | "
                f"{'-' if ratio is None else f'{ratio:.3f}'} | {limit:g} | {verdict} |"
            )


def parse(argv: Sequence[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="python -m benches.compare.spark", description=__doc__)
    parser.add_argument("--cases", help="by name, with commas (default: all)")
    parser.add_argument("--repeat", type=int, default=3, help="runs of each (default 3)")
    parser.add_argument("--scale", type=float, default=1.0, help="of all numbers of rows (default 1: 4 M)")
    parser.add_argument("--check", action="store_true", help="only see whether the answers agree")
    parser.add_argument("--output", type=Path, default=RECORD, metavar="DIR", help="where to write (benches/record)")
    return parser.parse_args(argv)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line."""
    args = parse(argv)
    warnings.simplefilter("ignore", UserWarning)
    session = new_session()
    session.sparkContext.setLogLevel("ERROR")
    chosen = [case for case in CASES if not args.cases or case.name in args.cases.split(",")]
    with tempfile.TemporaryDirectory() as directory:

        def table(rows: int, a_key: int = ROWS // KEYS) -> Path:
            path = Path(directory) / f"{rows}-{a_key}.parquet"
            if not path.exists():
                write_table(path, rows, max(1, rows // a_key))
            return path

        lines: list[Line] = []
        alone: dict[str, float] = {}
        for case in chosen:
            check(session, table(CHECKED_ROWS), case)
            if not args.check:
                lines.append(measure(session, table, case, args.repeat, args.scale))
                print(
                    f"{case.name}: { ({w: round(lines[-1].per_row(w) or 0) for w in lines[-1].times}) } ns/row",
                    flush=True,
                )
        if not args.check and not args.cases:
            rows = max(CHECKED_ROWS, int(ROWS * args.scale))
            few, lists = (max(CHECKED_ROWS, int(count * args.scale)) for count in (200_000, 100_000))
            alone[f"{rows:,} rows"] = way_alone(session, table(rows), rows, args.repeat)
            alone[f"{few:,} rows"] = way_alone(session, table(few, 50_000), few, args.repeat)
            path = table(lists)
            alone[f"{lists:,} rows with lists as long as those of collect_near"] = way_alone(
                session, path, lists, args.repeat, with_lists, "array<bigint>"
            )
        if not args.check and (not args.cases or "python_aggregate" in args.cases):
            rows = max(CHECKED_ROWS, int(200_000 * args.scale))
            lines += [
                python_aggregate(session, table(rows, 50_000), rows, width, args.repeat) for width in (1000, 20_000)
            ]
        if args.check:
            print(f"the answers to {len(chosen)} questions agree")
            return 0
    import pyspark

    when = datetime.now(timezone.utc).strftime("%Y-%m-%d %H:%M UTC")
    versions = (
        f"{when}, {platform.machine()}, {os.cpu_count()} CPUs; python {platform.python_version()}, "
        f"pyspark {pyspark.__version__}, pyarrow {pa.__version__}, windrow {wr.__version__}."
    )
    text = "\n".join(report(lines, alone, versions)) + "\n"
    args.output.mkdir(parents=True, exist_ok=True)
    (args.output / "spark.md").write_text(text)
    with (args.output / "spark.jsonl").open("a") as record:
        entry = {line.case.name: {who: line.per_row(who) for who in line.times} for line in lines}
        record.write(json.dumps({"when": when, "ns_per_row": entry, "way_alone": alone}) + "\n")
    print(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
