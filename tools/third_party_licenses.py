"""Writes THIRD_PARTY_LICENSES: what is linked into the extension beside windrow, and under which terms.

    python tools/third_party_licenses.py --write
    python tools/third_party_licenses.py --check    # exit status 1 where the file is not what would be written

The crates are those that Cargo.lock names for the targets of deny.toml, less what only builds or tests. Where a crate
leaves a choice, it is taken under the Apache License 2.0, else under MIT; any other licence is given with its text.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
WRITTEN = ROOT / "THIRD_PARTY_LICENSES"
BINDING = "windrow-python"
APACHE = "Apache-2.0"
TEXTS = re.compile(r"(licen[cs]e|copying|copyright|unlicense)", re.IGNORECASE)
NOTICES = re.compile(r"notice", re.IGNORECASE)

HEADER = """\
Third-party software in the compiled part of windrow
====================================================

The extension module of the Python package windrow-arrow is linked with the crates below, on one platform or another,
and with Rust's standard library (MIT OR Apache-2.0, https://github.com/rust-lang/rust). windrow itself is under the
Apache License 2.0, as are those crates that can be had under it.

Written by tools/third_party_licenses.py from Cargo.lock.
"""


def linked(target: str) -> dict[str, dict[str, Any]]:
    """Give the packages that a target's extension is linked with, by id; windrow's own are not among them.

    Raises
    ------
    subprocess.CalledProcessError
        If cargo cannot say.
    """
    command = ["cargo", "metadata", "--locked", "--format-version", "1", "--filter-platform", target]
    told = subprocess.run(command, check=True, capture_output=True, cwd=ROOT).stdout
    metadata = json.loads(told)
    packages = {package["id"]: package for package in metadata["packages"]}
    nodes = {node["id"]: node for node in metadata["resolve"]["nodes"]}
    found: dict[str, dict[str, Any]] = {}
    left = [name for name, package in packages.items() if package["name"] == BINDING]
    while left:
        package = packages[name := left.pop()]
        # What runs in the compiler leaves no code of its own behind.
        if name in found or any("proc-macro" in of["kind"] for of in package["targets"]):
            continue
        found[name] = package
        left += [of["pkg"] for of in nodes[name]["deps"] if any(kind["kind"] is None for kind in of["dep_kinds"])]
    members = set(metadata["workspace_members"])
    return {name: package for name, package in found.items() if name not in members}


def chosen(expression: str) -> str:
    """Give the licence that a crate is taken under: of alternatives Apache-2.0, else MIT, else what it says.

    Examples
    --------
    >>> chosen("MIT/Apache-2.0"), chosen("MIT"), chosen("Apache-2.0 AND MIT"), chosen("(MIT OR Zlib) AND Unicode-3.0")
    ('Apache-2.0', 'MIT', 'Apache-2.0 AND MIT', '(MIT OR Zlib) AND Unicode-3.0')
    """
    if " AND " in expression:
        return expression
    alternatives = re.split(r" OR |/", expression)
    return next((one for one in (APACHE, "MIT") if one in alternatives), expression)


def texts(package: dict[str, Any], pattern: re.Pattern[str]) -> list[str]:
    """Give the texts of a package whose file names begin with a pattern, without spaces at the ends of lines."""
    folder = Path(package["manifest_path"]).parent
    files = sorted(file for file in folder.iterdir() if file.is_file() and pattern.match(file.name))
    return ["\n".join(line.rstrip() for line in file.read_text("utf-8").strip().splitlines()) for file in files]


def document(packages: list[dict[str, Any]]) -> str:
    """Write the licences and notices of packages, each text once.

    Raises
    ------
    SystemExit
        If a package that is not under the Apache License comes without its licence's text.
    """
    apache: list[str] = []
    others: dict[tuple[str, ...], list[str]] = defaultdict(list)
    notices: dict[str, list[str]] = defaultdict(list)
    for package in packages:
        licence = chosen(package["license"])
        name = f"{package['name']} {package['version']}"
        if licence == APACHE:
            apache.append(name)
        elif not (own := texts(package, TEXTS)):
            raise SystemExit(f"{name} is under {licence} and comes without its text")
        else:
            terms = (licence, *own)
            others[terms].append(name)
        for notice in texts(package, NOTICES):
            notices[notice].append(name)
    parts = [HEADER, section(APACHE, apache, (ROOT / "LICENSE").read_text("utf-8"))]
    parts += [section(licence, names, *own) for (licence, *own), names in sorted(others.items(), key=lambda of: of[1])]
    parts += [section("Notice", names, notice) for notice, names in sorted(notices.items(), key=lambda of: of[1])]
    return "\n".join(parts)


def section(title: str, names: list[str], *own: str) -> str:
    """Write a licence, the packages under it, and its text."""
    text = "\n\n".join(one.strip("\n") for one in own)
    return f"\n{'-' * 80}\n{title}: {', '.join(names)}\n{'-' * 80}\n\n{text}\n"


def targets() -> list[str]:
    """Give the targets that deny.toml names."""
    listed = re.search(r"^targets = \[(.*?)\]", (ROOT / "deny.toml").read_text("utf-8"), re.MULTILINE | re.DOTALL)
    return re.findall(r'"([^"]+)"', listed[1]) if listed else []


def main() -> int:
    """Write the file, or say whether it is as it would be written."""
    parser = argparse.ArgumentParser(description="Write THIRD_PARTY_LICENSES from Cargo.lock.")
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--write", action="store_true", help="write the file")
    what.add_argument("--check", action="store_true", help="write nothing, fail where the file differs")
    check = parser.parse_args().check
    packages = {name: package for target in targets() for name, package in linked(target).items()}
    ordered = sorted(
        packages.values(), key=lambda of: (of["name"], [int(n) for n in re.findall(r"\d+", of["version"])])
    )
    text = document(ordered)
    if check and (not WRITTEN.exists() or WRITTEN.read_text("utf-8") != text):
        print(f"{WRITTEN.name} is not what Cargo.lock says; `make licenses ARGS=--write` writes it")
        return 1
    if not check:
        WRITTEN.write_text(text, "utf-8")
    print(f"{WRITTEN.name}: {len(packages)} crates")
    return 0


if __name__ == "__main__":
    sys.exit(main())
