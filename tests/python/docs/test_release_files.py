"""What is written more than once about releases says the same everywhere: addresses, Pythons, hosts, platforms."""

import re
from pathlib import Path

import pytest

from tools.release_version import wrong
from tools.requirements import tomllib
from tools.third_party_licenses import chosen, targets

ROOT = Path(__file__).parents[3]


def text(name):
    return (ROOT / name).read_text("utf-8")


CARGO = tomllib.loads(text("Cargo.toml"))
PROJECT = tomllib.loads(text("pyproject.toml"))["project"]
REPOSITORY = CARGO["workspace"]["package"]["repository"]
PYTHONS = [
    of.rsplit(" ", 1)[1]
    for of in PROJECT["classifiers"]
    if re.fullmatch(r"Programming Language :: Python :: 3\.\d+", of)
]


def workflow(name):
    yaml = pytest.importorskip("yaml")
    return yaml.safe_load(text(f".github/workflows/{name}.yml"))["jobs"]


def test_all_addresses_are_the_repositorys():
    owner = REPOSITORY.rsplit("/", 1)[1]
    files = ["pyproject.toml", "README.md", *(file.relative_to(ROOT) for file in ROOT.glob("*.md"))]
    files += [file.relative_to(ROOT) for file in (ROOT / "docs").glob("**/*.md")]
    ours = [(name, url) for name in files for url in re.findall(rf"https?://[\w./-]*\b{owner}\b[\w./-]*", text(name))]
    assert len(ours) >= 5
    # The registries' pages, and what GitHub Pages makes of the repository's address.
    pages = re.sub(r"https://github\.com/([^/]+)/", r"https://\1.github.io/", REPOSITORY)
    known = re.compile(
        rf"{re.escape(REPOSITORY)}(/|$)|{re.escape(pages)}(/|$)|https://(pypi\.org|crates\.io|docs\.rs)/"
    )
    assert [(name, url) for name, url in ours if not known.match(url)] == []
    assert all(url.startswith(REPOSITORY) for url in PROJECT["urls"].values())


def test_classifiers_are_those_of_the_index_and_true():
    known = pytest.importorskip("trove_classifiers").classifiers
    assert [of for of in PROJECT["classifiers"] if of not in known] == []
    assert PROJECT["requires-python"] == f">={PYTHONS[0]}"
    # the whole check needs a PySpark that has left the oldest Python
    for job, pythons in (("linux", PYTHONS[1:]), ("elsewhere", PYTHONS)):
        assert workflow("ci")[job]["strategy"]["matrix"]["python"] == pythons
    systems = {of.split(" :: ")[-1] for of in PROJECT["classifiers"] if of.startswith("Operating System")}
    names = {"linux": "Linux", "darwin": "MacOS", "windows": "Windows"}
    assert systems == {names[next(name for name in names if name in target)] for target in targets()}


def test_there_is_a_wheel_for_each_target_whose_dependencies_are_judged():
    built = set()
    for of in workflow("release")["wheel"]["strategy"]["matrix"]["include"]:
        libc = {"": "", "2014": "-unknown-linux-gnu"}.get(of["manylinux"], "-unknown-linux-musl")
        built.add(of["target"] + libc)
    assert built == set(targets())


def test_the_support_policy_names_the_lower_bounds():
    asked = [
        *PROJECT["dependencies"],
        *(one for of in ("polars", "pandas") for one in PROJECT["optional-dependencies"][of]),
    ]
    bounds = dict(re.match(r"(\w+)(?:\[\w+\])?>=([\d.]+)", one).groups() for one in asked)
    policy = {name.lower(): low for name, low in re.findall(r"^\| (\w+) \| ([\d.]+) \|", text("docs/support.md"), re.M)}
    assert set(policy) == {*bounds, "pyspark"}
    assert bounds == {name: policy[name] for name in bounds}
    assert re.search(r"CPython ([\d.]+) to ([\d.]+) are", text("docs/support.md")).groups() == (PYTHONS[0], PYTHONS[-1])


def test_actions_are_pinned_to_commits_with_their_release():
    used = [
        line
        for file in (ROOT / ".github/workflows").glob("*.yml")
        for line in re.findall(r"uses: (.*)", file.read_text())
    ]
    assert len(used) >= 15
    ours = re.compile(r"\$/\.github/workflows/\w+\.yml")
    assert [
        line
        for line in used
        if not re.fullmatch(r"[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", line) and not ours.match(line)
    ] == []


@pytest.mark.parametrize(
    ("tag", "section", "why"),
    [
        ("v0.1.0", "## [0.1.0] - 2026-12-01", None),
        ("0.1.0", "## [0.1.0] - 2026-12-01", "is not v0.1.0"),
        ("v0.1.1", "## [0.1.1] - 2026-12-01", "is not v0.1.0"),
        ("v0.1.0", "## [Unreleased]", "no line"),
        ("v0.1.0", "## [0.1.01] - 2026-12-01", "no line"),
    ],
)
def test_a_tag_must_be_the_version_and_in_the_changelog(tag, section, why):
    told = wrong(tag, '[workspace.package]\nversion = "0.1.0"\n', f"# Changelog\n\n{section}\n")
    assert told is None if why is None else why in told


def test_a_licence_is_chosen_among_alternatives_only():
    assert chosen("MIT OR Apache-2.0") == chosen("Apache-2.0 WITH LLVM-exception OR Apache-2.0 OR MIT") == "Apache-2.0"
    assert chosen("Apache-2.0 AND MIT") == "Apache-2.0 AND MIT"
    assert chosen("Zlib OR MIT") == "MIT"
    assert chosen("Apache-2.0 WITH LLVM-exception") == "Apache-2.0 WITH LLVM-exception"
