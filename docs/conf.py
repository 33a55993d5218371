"""The settings of Sphinx; `make docs` builds the pages and runs their examples."""

import os
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "python"), str(ROOT / "tests" / "python")]

os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
# One session serves all pages. The examples are small: few tasks, and no page of figures.
os.environ.setdefault(
    "PYSPARK_SUBMIT_ARGS",
    " ".join(
        [
            "--master local[2]",
            "--conf spark.ui.enabled=false",
            "--conf spark.ui.showConsoleProgress=false",
            "--conf spark.log.level=ERROR",
            "--conf spark.sql.shuffle.partitions=2",
            "--conf spark.sql.session.timeZone=UTC",
            "--conf spark.sql.warehouse.dir=/tmp/windrow-docs-warehouse",
            "--conf spark.sql.execution.arrow.maxBytesPerBatch=2147483647",
            "pyspark-shell",
        ]
    ),
)

import windrow as wr  # noqa: E402

project = "windrow"
author = "The windrow authors"
copyright = "the windrow authors, Apache License 2.0"
version = release = wr.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx_design",
    "sphinx_copybutton",
    "tools.docs_examples",
    "tools.docs_includes",
    "tools.docs_recipes",
    "tools.docs_reference",
]
myst_enable_extensions = ["attrs_inline", "colon_fence", "deflist"]
myst_heading_anchors = 4

napoleon_google_docstring = False
napoleon_use_rtype = False
autodoc_typehints = "none"
autodoc_member_order = "bysource"
python_maximum_signature_line_length = 88
add_module_names = False
# Public names must be there; those of other libraries are not looked up, as the build needs no network.
nitpick_ignore_regex = [("py:.*", r"(?!windrow\.(?!_)).*")]

html_theme = "furo"
html_title = f"windrow {release}"
html_static_path = ["_static"]
html_css_files = ["windrow.css"]
html_show_sphinx = False
html_copy_source = False
html_show_sourcelink = False
pygments_style = "friendly"
pygments_dark_style = "github-dark"
copybutton_selector = "div:not(.output) > div.highlight > pre"
copybutton_exclude = ".linenos, .gp, .go"
