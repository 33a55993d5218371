"""Checks that files stay short: 500 lines of code at most, 800 where they are tests.

    python tools/file_lengths.py [--largest N]

A line of code is one that is neither blank nor only a comment or a docstring. Exit status 1 where a file has more.
"""

import argparse
import ast
import subprocess
import sys
from pathlib import Path

MOST, MOST_OF_TESTS = 500, 800


def python_lines(text: str) -> int:
    """Count a Python file's lines of code."""
    documented: set[int] = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            documented.update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    lines = enumerate(text.splitlines(), 1)
    return sum(bool(line.strip()) and not line.lstrip().startswith("#") and at not in documented for at, line in lines)


def lines_with_slashes(text: str) -> int:
    """Count the lines of code of a file whose comments begin with slashes: a Rust or Java file."""
    return sum(bool(line.strip()) and not line.lstrip().startswith("//") for line in text.splitlines())


COUNTED = {".py": python_lines, ".pyi": python_lines, ".rs": lines_with_slashes, ".java": lines_with_slashes}


def main() -> int:
    """Count the files that git tracks; 1 if one is too long."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--largest", type=int, default=0, metavar="N", help="print the N longest files too")
    arguments = parser.parse_args()
    tracked = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(tracked, check=True, capture_output=True, text=True).stdout
    paths = [path for path in map(Path, listed.splitlines()) if path.suffix in COUNTED and path.exists()]
    counts = sorted(((COUNTED[path.suffix](path.read_text()), path) for path in paths), reverse=True)
    for count, path in counts[: arguments.largest]:
        print(f"{count:5} {path}")
    too_long = [(count, path) for count, path in counts if count > most(path)]
    for count, path in too_long:
        print(f"{path}: {count} lines of code, and {most(path)} are the most; split it by what it does")
    if not counts:
        print("git lists no file to count")
    elif not too_long:
        print(f"{len(counts)} files, none too long")
    return int(bool(too_long) or not counts)


def most(path: Path) -> int:
    """Give how many lines of code a file may have."""
    return MOST_OF_TESTS if path.parts[0] == "tests" else MOST


if __name__ == "__main__":
    sys.exit(main())
