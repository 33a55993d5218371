"""Runs a quick part of the tests with a built wheel, for each Python at hand, with the oldest and the newest hosts.

    python tools/matrix.py dist/*.whl            # all that are installed; a version, such as 3.10, picks one
    python tools/matrix.py --here dist           # this Python, with the newest, as CI does beside Linux
    python tools/matrix.py --spark dist/*.whl    # Spark's releases in place of Pythons; 3.5 picks one

The oldest hosts are the lowest releases of pyarrow, sqlglot, Polars and pandas that pyproject.toml allows, and the
lowest NumPy that this pandas allows, among those with a wheel for that Python; uv picks them. Each environment is new
and does not contain the checkout's own package.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parent.parent
# The golden tables and what each layer promises; neither Spark nor what takes seconds.
TESTS = ["api", "differential/test_cases.py", "hosts", "model", "parse", "plan", "udf"]
WITH = ["pytest>=8.3", "hypothesis>=6.100", "cloudpickle>=3", "tqdm>=4.66", "duckdb>=1.2"]
# What holds on every release of Spark; the rest is about the newest.
SPARK_TESTS = [
    "spark/test_releases.py",
    "spark/test_enable.py",
    "spark/test_enable_exchanges.py",
    "spark/test_pandas_functions.py",
    "spark/test_python_aggregates.py",
    "spark/test_sail.py",
    "spark/test_sessions_of_others.py",
    "spark/test_window_columns.py",
    "spark/test_year_months.py",
]
# Each with the newest pandas that it works with, on a Python that all of them know. The Connect client of 3.5 needs a
# NumPy that is too old for the newest pyarrow.
SPARK_RELEASES = {
    "3.5": ["pyspark==3.5.*", "pandas<3", "setuptools<81"],
    "4.0": ["pyspark[connect]==4.0.*", "pandas<3"],
    "4.1": ["pyspark[connect]==4.1.*", "pandas<3", "pysail>=0.7"],
    "4.2": ["pyspark[connect]==4.2.*", "pandas<3"],
    "4.3": ["pyspark[connect]==4.3.*"],
}
SPARK_PYTHON = "3.11"
RESOLUTIONS = {"oldest": "lowest-direct", "newest": "highest"}
# pandas requires NumPy, but sets no upper bound: the oldest pandas gives deprecation warnings with the newest NumPy.
PINNED_WITH_HOSTS = "numpy"


def pythons() -> dict[str, str]:
    """Give the interpreters that are installed, of the releases that pyproject.toml names, by release."""
    releases = re.findall(r'"Programming Language :: Python :: (3\.\d+)"', (ROOT / "pyproject.toml").read_text("utf-8"))
    return {release: python for release in releases if (python := next(interpreters(release), None))}


def interpreters(release: str) -> Iterator[str]:
    """Find interpreters of a release: on PATH, in pyenv's folder, and this one."""
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"), "versions").glob(f"{release}.*/bin/python")
    for candidate in (f"python{release}", *map(str, sorted(pyenv)), sys.executable):
        try:
            version = subprocess.run([candidate, "-V"], capture_output=True, text=True, check=False).stdout
        except OSError:
            continue
        if version.startswith(f"Python {release}."):
            yield candidate


def uv(*arguments: str | Path) -> str:
    """Run uv, which takes what is installed and has a wheel; give what it prints, or end with its error.

    Raises
    ------
    SystemExit
        If it fails.
    """
    environment = {**os.environ, "UV_PYTHON_DOWNLOADS": "never"}
    if "PIP_CERT" in os.environ:  # where pip is told of certificates, uv needs them too
        environment.setdefault("SSL_CERT_FILE", os.environ["PIP_CERT"])
    command = [sys.executable, "-m", "uv", "--quiet", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment, cwd=ROOT)
    if done.returncode:
        raise SystemExit(f"uv {' '.join(map(str, arguments))}\n{done.stdout}{done.stderr}")
    return done.stdout


def run(python: str, hosts: str, wheel: Path, spark: str | None, picked: str) -> int:
    """Make an environment, install the wheel into it, run the tests there; give pytest's exit status."""
    wheels_only = ["--only-binary", ":all:", "--no-binary", "pyspark"]  # which has sources alone
    with_spark = [] if spark is None else SPARK_RELEASES[spark]
    resolution = ["--resolution", RESOLUTIONS[hosts], "--no-header", "--no-annotate"]
    with tempfile.TemporaryDirectory() as folder:
        more, pins, inside = Path(folder, "more.in"), Path(folder, "pins.txt"), Path(folder, "venv")
        more.write_text("\n".join([PINNED_WITH_HOSTS, *with_spark]), "utf-8")
        asked: list[str | Path] = ["pyproject.toml", "--extra", "polars", "--extra", "pandas", more]
        uv("pip", "compile", *asked, *resolution, *wheels_only, "--python", python, "-o", pins)
        uv("venv", "--python", python, inside)
        uv("pip", "install", "--python", inside, *wheels_only, "-r", pins, wheel, *WITH)
        print(f"== {hosts} hosts:", " ".join(pins.read_text("utf-8").split()), flush=True)
        within = Path(inside, *(("Scripts", "python.exe") if sys.platform == "win32" else ("bin", "python")))
        # What is skipped here for want of Spark is no failure, as it would be in CI; no more is drawn than usual.
        left_out = {"CI", "PYTHONPATH", "WINDROW_FUZZ", "PYSPARK_PYTHON", "PYSPARK_DRIVER_PYTHON"}
        environment = {name: value for name, value in os.environ.items() if name not in left_out}
        tests = [f"tests/python/{name}" for name in (TESTS if spark is None else SPARK_TESTS)]
        options = ["-q", "-p", "no:cacheprovider", "-k", picked]
        # what older releases of Spark warn of is no matter of ours
        options += ["-m", "not spark and not slow"] if spark is None else ["-o", "filterwarnings="]
        return subprocess.run(
            [within, "-m", "pytest", *options, *tests], check=False, cwd=ROOT, env=environment
        ).returncode


def main() -> int:
    """Run the tests in each environment; 1 if they fail in one."""
    parser = argparse.ArgumentParser(description="Run a quick part of the tests with a built wheel.")
    parser.add_argument("wheel", type=Path, help="the wheel, or the folder that holds it alone")
    parser.add_argument("releases", nargs="*", help="releases of Python; all that are at hand if none is named")
    parser.add_argument("--here", action="store_true", help="this Python alone, with the newest hosts")
    parser.add_argument("--spark", action="store_true", help="releases of Spark in place of Pythons")
    parser.add_argument("-k", dest="picked", default="", help="the tests that pytest picks by this")
    parser.add_argument("--hosts", choices=sorted(RESOLUTIONS), help="the oldest or the newest alone")
    given = parser.parse_args()
    wheel = next(given.wheel.glob("*.whl")) if given.wheel.is_dir() else given.wheel
    found = {f"{sys.version_info.major}.{sys.version_info.minor}": sys.executable} if given.here else pythons()
    if given.spark:
        found = dict.fromkeys(SPARK_RELEASES, next(interpreters(SPARK_PYTHON), sys.executable))
    what = "Spark" if given.spark else "Python"
    if missing := set(given.releases) - set(found):
        raise SystemExit(f"there is no {what} {', '.join(sorted(missing))} here, but {', '.join(found)}")
    hosts = [given.hosts] if given.hosts else ["newest"] if given.here else list(RESOLUTIONS)
    failed = []
    for release in given.releases or found:
        for which in hosts:
            print(f"== {what} {release}, {which} hosts", flush=True)
            if run(found[release], which, wheel.resolve(), release if given.spark else None, given.picked):
                failed.append(f"{what} {release} with the {which}")
    print(f"== {'failed: ' + ', '.join(failed) if failed else 'passed on ' + ', '.join(given.releases or found)}")
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main())
