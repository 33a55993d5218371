"""Every example of the README runs as it stands there, and prints what stands below it."""

import contextlib
import io
import re

import pytest

from support.paths import ROOT

README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCK = re.compile(r"^```python\n(.*?)^```\n(?:\n```text\n(.*?)^```\n)?", re.MULTILINE | re.DOTALL)
EXAMPLES = [(code, printed) for code, printed in BLOCK.findall(README)]
SETTINGS: dict[str, str] = {}
SPARK = [example for example in EXAMPLES if "pyspark" in example[0]]


def check(code, printed):
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(compile(code, "README.md", "exec"), {})
    assert out.getvalue() == printed


def test_there_is_one_a_host():
    assert len(EXAMPLES) == 5
    assert len(SPARK) == 1
    assert all(printed for _, printed in EXAMPLES)


@pytest.mark.engine
@pytest.mark.parametrize("example", [e for e in EXAMPLES if e not in SPARK], ids=lambda e: e[0].split()[1])
def test_in_memory(example):
    check(*example)


@pytest.mark.engine
@pytest.mark.spark
def test_on_spark(spark):
    check(*SPARK[0])


def test_links_are_absolute_and_lead_to_files():
    """PyPI shows the README too, and resolves no relative links."""
    repository = re.search(r'^Repository = "(.*)"', (ROOT / "pyproject.toml").read_text(encoding="utf-8"), re.M)[1]
    links = re.findall(r"\]\(([^)]+)\)|src=\"([^\"]+)\"", README)
    assert len(links) >= 8
    for target in (link or source for link, source in links):
        path = re.fullmatch(rf"{re.escape(repository)}/(?:blob|tree|raw)/main/([^#]+)", target)
        assert path is not None, target
        assert (ROOT / path[1]).exists(), target
