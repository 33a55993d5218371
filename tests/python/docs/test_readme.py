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


def test_its_links_lead_somewhere():
    for target in re.findall(r"\]\(([^)#:]+)\)|src=\"([^\":]+)\"", README):
        path = target[0] or target[1]
        assert (ROOT / path).exists(), path
