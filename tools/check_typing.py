"""Has mypy and basedpyright read tests/python/typing, with all hosts, with each of them alone, and with none.

    python tools/check_typing.py [--jobs N]

An environment of fewer libraries is a venv with links to what this interpreter has of them, and windrow by a .pth file.
What must be refused has an ignore on its line, and both checkers report an ignore that is not needed. Exit status 1
where one finds anything.
"""

import argparse
import json
import os
import subprocess
import sys
import venv
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import distribution
from pathlib import Path

from packaging.requirements import Requirement

ROOT = Path(__file__).resolve().parents[1]
FILES = ROOT / "tests" / "python" / "typing"
#: What is installed for windrow alone, in pyproject.toml's words.
OWN = ("pyarrow", "sqlglot")
#: The environments: what they have beside these, and the files that are read in them.
ENVIRONMENTS = {
    "bare": ((), ("accepted.py", "refused.py")),
    "polars": (("polars",), ("with_polars.py",)),
    "pandas": (("pandas", "pandas-stubs"), ("with_pandas.py",)),
    "pyspark": (("pyspark",), ("with_spark.py",)),
    "duckdb": (("duckdb",), ("with_duckdb.py",)),
}


def needed(name: str) -> set[str]:
    """Name a distribution and all that it requires where no extra is asked for."""
    found, left = set[str](), [name]
    while left:
        if (name := left.pop()) in found:
            continue
        found.add(name)
        for text in distribution(name).requires or ():
            requirement = Requirement(text)
            if requirement.marker is None or requirement.marker.evaluate({"extra": ""}):
                left.append(requirement.name)
    return found


def make_environment(at: Path, distributions: tuple[str, ...]) -> Path:
    """Make a venv of windrow and some libraries alone.

    Parameters
    ----------
    at
        Where.
    distributions
        What it has beside windrow, as it is installed here.

    Returns
    -------
    Path
        Its interpreter.
    """
    venv.create(at, clear=True, symlinks=True)
    site = at / "lib" / f"python{sys.version_info.major}.{sys.version_info.minor}" / "site-packages"
    for name in sorted(set().union(*map(needed, distributions))):
        files = distribution(name).files or ()
        for top in {file.parts[0] for file in files} - {"..", "__pycache__"}:
            (site / top).symlink_to(Path(str(distribution(name).locate_file(top))))
    (site / "windrow.pth").write_text(f"{ROOT / 'python'}\n")
    return at / "bin" / "python"


def main() -> int:
    """Run both checkers in all environments; 1 if one finds anything."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="how many checkers run at once")
    arguments = parser.parse_args()

    base = Path(sys.prefix) / "typing"  # always the same, for mypy's cache
    runs: dict[str, list[str]] = {}
    every = tuple(sorted({file for _, files in ENVIRONMENTS.values() for file in files}))
    pythons = {"all": (Path(sys.executable), every)}
    for name, (distributions, files) in ENVIRONMENTS.items():
        pythons[name] = make_environment(base / name, OWN + distributions), files
    for name, (python, files) in pythons.items():
        paths = [str(FILES / file) for file in files]
        if name in ("all", "bare"):  # the quicker checker says whether one host needs another
            runs[f"mypy, {name}"] = [
                sys.executable, "-m", "mypy", "--config-file", str(FILES / "mypy.ini"),
                "--python-executable", str(python), "--cache-dir", str(base / f"mypy-{name}"), *paths,
            ]  # fmt: skip
        project = base / f"{name}.json"
        settings = {"extends": str(FILES / "pyrightconfig.json"), "include": [os.path.relpath(p, base) for p in paths]}
        project.write_text(json.dumps(settings))
        basedpyright = str(Path(sys.executable).with_name("basedpyright"))
        runs[f"basedpyright, {name}"] = [basedpyright, "-p", str(project), "--pythonpath", str(python)]

    with ThreadPoolExecutor(arguments.jobs) as pool:
        results = pool.map(lambda run: subprocess.run(run, capture_output=True, text=True, cwd=ROOT), runs.values())
        failed = 0
        for name, result in zip(runs, results, strict=True):
            if result.returncode:
                failed += 1
                print(f"== {name}\n{result.stdout}{result.stderr}")
    print(f"{len(runs) - failed} of {len(runs)} runs of type checkers found nothing")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
