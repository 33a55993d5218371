"""The documentation's build: it shows what examples give, and fails where one fails or a public name is missing."""

import re
from html import unescape

import pytest

from support.paths import ROOT

pytestmark = [
    pytest.mark.engine,
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore:The mapping interface for autodoc"),  # Sphinx's own, of its napoleon
    pytest.mark.filterwarnings(r"ignore:.*\.app' is deprecated. Check CHANGES for Sphinx"),  # MyST's, of Sphinx's
]
pytest.importorskip("sphinx")
pytest.importorskip("myst_parser")

CONF = """
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "tools.docs_examples",
    "tools.docs_includes", "tools.docs_reference"]
myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 2
exclude_patterns = ["DESIGN.md"]
html_theme = "basic"
"""


@pytest.fixture
def build(tmp_path, monkeypatch):
    """Build a page, and give its HTML and the warnings."""
    from sphinx.application import Sphinx
    from sphinx.util.docutils import docutils_namespace

    def run(page, *, quiet="is public, and the reference"):
        (tmp_path / "conf.py").write_text(CONF, encoding="utf-8")
        (tmp_path / "index.md").write_text(page, encoding="utf-8")
        out = tmp_path / "out"
        warnings = tmp_path / "warnings"
        with warnings.open("w", encoding="utf-8") as told, docutils_namespace():
            app = Sphinx(tmp_path, tmp_path, out, out / "doctrees", "html", status=None, warning=told, freshenv=True)
            app.build(force_all=True)
        lines = warnings.read_text(encoding="utf-8").splitlines()
        text = unescape(re.sub(r"<[^>]+>", "", (out / "index.html").read_text(encoding="utf-8")))
        return text, "\n".join(line for line in lines if not quiet or quiet not in line)

    monkeypatch.syspath_prepend(str(ROOT))
    return run


def test_what_examples_give_is_shown(build):
    html, warnings = build("""
# Page

```python
import pyarrow as pa
t = pa.table({"x": [1, 2]})
print("printed", 6 * 7)
t["x"].to_pylist() + [99]
```

```sql
SELECT x, sum(x) OVER () AS total FROM t
```

```{code-block} python
:class: raises
wr.with_columns(t, wr.sum("y").over())
```

```{code-block} python
:class: no-run
not Python
```

```{code-block} python
:class: hidden
"shown " + "alone"
```

```python
wr.plot_frame(wr.window(order_by="x"), t, row=0)
```
""")
    assert not warnings
    assert "printed 42" in html
    assert "[1, 2, 99]" in html
    assert "total: int64" in html
    assert "SpecError" in html
    assert "not Python" in html
    assert "'shown alone'" in html
    assert '"alone"' not in html
    assert "current row" in html


@pytest.mark.parametrize(
    ("block", "message"),
    [
        ("```python\n1 / 0\n```", "ZeroDivisionError: division by zero"),
        ("```python\nimport windrow as wr\nwr.summ\n```", "no attribute 'summ'"),
        ("```sql\nSELECT sum(x) OVER () FROM nothing\n```", "write wr.sql(query, nothing=frame)"),
        ("```{code-block} python\n:class: raises\n1 + 1\n```", "was to raise an exception, and did not"),
        (
            "".join(
                f"```{{code-block}} python\n:class: same\nimport pyarrow as pa\npa.table({{'x': [{x}]}})\n```\n\n"
                for x in (1, 2)
            ),
            "the two sides differ: [(1.0,)] and [(2.0,)]",
        ),
    ],
)
def test_an_example_that_fails_is_a_warning(build, block, message):
    _, warnings = build(f"# Page\n\n{block}\n")
    assert "the example fails" in warnings
    assert message in warnings


def test_sides_that_are_the_same_are_none(build):
    sides = ["pa.table({'x': [1.0, None]})", "pa.table({'y': [float('nan'), 1]})"]
    blocks = "\n\n".join(f"```{{code-block}} python\n:class: same\nimport pyarrow as pa\n{s}\n```" for s in sides)
    _, warnings = build(f"# Page\n\n{blocks}\n")
    assert not warnings


def test_a_public_name_that_is_missing_is_a_warning(build):
    import windrow as wr

    page = "# Page\n\n```{functions} quantiles\n```\n\nSee `wr.median` and `wr.nothing`.\n"
    html, warnings = build(page, quiet="")
    missing = set(re.findall(r"windrow\.([\w.]+) is public", warnings))
    assert "sum" in missing
    assert "spark.accelerate" in missing
    assert missing >= set(wr.__all__) - {"spark"} - set(wr.functions.quantiles.__all__)
    assert not missing & set(wr.functions.quantiles.__all__)
    assert "every frame" in html


def test_links_of_included_files_lead_to_pages(build, tmp_path):
    (tmp_path / "spark.md").write_text("---\norphan: true\n---\n# Spark\n", encoding="utf-8")
    text = "[One](docs/spark.md), [two](README.md#page), [three](src/lib.rs), [four](https://x.invalid/a.md)."
    (tmp_path / "DESIGN.md").write_text(f"## Design\n\n{text}\n", encoding="utf-8")
    html, warnings = build("# Page\n\n```{include} DESIGN.md\n```\n")
    assert "One, two, three, four." in html
    assert not warnings


def test_the_reference_has_a_page_for_each_file_of_functions():
    files = {p.stem for p in (ROOT / "python" / "windrow" / "functions").glob("[a-z]*.py")}
    pages = {p.stem for p in (ROOT / "docs" / "reference").glob("*.md") if "{functions}" in p.read_text("utf-8")}
    assert files == pages
