"""Executors in processes of their own, to which windrow is sent: in an archive, or as what Python cannot import."""

import json
import os
import shutil
import subprocess
import sys
import tarfile
import venv
import zipfile
from pathlib import Path

import pytest

import windrow as wr

pyspark = pytest.importorskip("pyspark")

pytestmark = pytest.mark.skipif(float(os.environ.get("WINDROW_FUZZ", "1")) <= 1, reason="is for make nightly")

PACKAGE = Path(wr.__file__).parent

# Two executors beside the driver. What it prints last is JSON.
JOB = """
import json, sys, warnings
from pyspark.sql import SparkSession
import windrow as wr
builder = SparkSession.builder.master("local-cluster[2,1,1024]").config("spark.ui.enabled", "false")
for name, value in json.loads(sys.argv[1]).items():
    builder = builder.config(name, value)
spark = builder.getOrCreate()
spark.sparkContext.setLogLevel("OFF")
said = {"check": wr.spark.check(spark)}
places = spark.sparkContext.parallelize(range(8), 8).map(lambda _: __import__("sys").prefix).distinct().collect()
said["executors"] = places
t = spark.range(100).selectExpr("id", "id % 5 AS k", "id * 7 % 11 AS v")
query = "SELECT id, sum(v) OVER (PARTITION BY k ORDER BY id ROWS 3 PRECEDING) AS s FROM t"
t.createOrReplaceTempView("t")
expected = sorted(map(tuple, spark.sql(query).collect()))
with warnings.catch_warnings(record=True) as caught, wr.spark.accelerated(spark, engine="windrow"):
    warnings.simplefilter("always")
    frame = spark.sql(query)
    said["stages"] = frame._jdf.queryExecution().optimizedPlan().toString().count("WindowStage")
    said["same"] = sorted(map(tuple, frame.collect())) == expected
said["warnings"] = [str(w.message) for w in caught if "windrow" in str(w.message)]
try:
    made = wr.with_columns(t, s="sum(v) OVER (PARTITION BY k ORDER BY id ROWS 3 PRECEDING)").select("id", "s")
    said["columns"] = "" if sorted(map(tuple, made.collect())) == expected else "other rows"
except Exception as error:
    said["columns"] = str(error)
print(json.dumps(said))
"""


@pytest.fixture(scope="module")
def spark_home(tmp_path_factory):
    """Give PySpark's own Spark under a folder in which executors may write."""
    home = tmp_path_factory.mktemp("spark")
    for entry in Path(pyspark.__file__).parent.iterdir():
        (home / entry.name).symlink_to(entry)
    return home


def environment(folder, *, with_windrow):
    """Make a virtual environment with all that this one has but windrow, which is copied into it or not; pack it."""
    made = folder / "environment"
    venv.create(made, symlinks=True)
    [site] = made.glob("lib/python*/site-packages")
    others = folder / "others"
    others.mkdir()
    for path in filter(os.path.isdir, sys.path):
        for entry in Path(path).iterdir() if "site-packages" in path else ():
            if not entry.name.startswith(("windrow", "__pycache__")) and not (others / entry.name).exists():
                (others / entry.name).symlink_to(entry)
    (site / "others.pth").write_text(f"{others}\n")
    if with_windrow:
        shutil.copytree(PACKAGE, site / "windrow", ignore=shutil.ignore_patterns("__pycache__"))
    packed = folder / "environment.tar.gz"
    with tarfile.open(packed, "w:gz", compresslevel=1) as archive:
        archive.add(made, ".")
    return packed


def run(spark_home, folder, settings):
    script = folder / "job.py"
    script.write_text(JOB)
    settings = {"spark.sql.shuffle.partitions": "2", **settings}
    inherited = {n: v for n, v in os.environ.items() if n not in ("PYTHONPATH", "WINDROW_FULL_TRACEBACK")}
    inherited |= {"PYSPARK_PYTHON": "./environment/bin/python", "PYSPARK_DRIVER_PYTHON": sys.executable}
    done = subprocess.run(
        [sys.executable, script, json.dumps(settings)],
        env={**inherited, "SPARK_HOME": str(spark_home), "SPARK_LOCAL_IP": "127.0.0.1"},
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=1500,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads(done.stdout.strip().splitlines()[-1])


def test_an_archive(spark_home, tmp_path):
    packed = environment(tmp_path, with_windrow=True)
    said = run(spark_home, tmp_path, {"spark.archives": f"{packed}#environment"})
    executors = said.pop("executors")
    assert executors
    assert all(Path(place).is_relative_to(spark_home / "work") for place in executors)
    assert said == {"check": [], "stages": 1, "same": True, "warnings": [], "columns": ""}


@pytest.mark.parametrize(
    ("suffix", "reason"),
    [(".whl", "No module named 'windrow'"), (".zip", "has a native module, which Python cannot import from a zip")],
)
def test_a_wheel_among_the_python_files(spark_home, tmp_path, suffix, reason):
    """Spark puts .zip on the path, where Python finds no native module, and .whl not even there."""
    packed = environment(tmp_path, with_windrow=False)
    wheel = tmp_path / f"windrow_arrow-0.1.0-cp310-abi3-manylinux_2_17_x86_64{suffix}"
    with zipfile.ZipFile(wheel, "w") as archive:
        for path in PACKAGE.rglob("*"):
            if path.is_file() and "__pycache__" not in path.parts:
                archive.write(path, path.relative_to(PACKAGE.parent))
    said = run(spark_home, tmp_path, {"spark.archives": f"{packed}#environment", "spark.submit.pyFiles": str(wheel)})
    assert reason in " ".join(said["check"])
    assert said["stages"] == 0
    assert said["same"]
    [warning] = said["warnings"]
    assert reason in warning
    assert "ship a packed environment with --archives" in warning
    assert reason in said["columns"]
