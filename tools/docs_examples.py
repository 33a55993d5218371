"""A Sphinx extension that runs the examples of the pages while they are built, and shows what they give.

Every fenced block of ``python`` or ``sql`` is run, page by page, in one process and so with one JVM at most. The blocks
of a page share their names. What a block prints, and the value of its last expression, follow it. An example that fails
is a warning, so with ``-W`` it fails the build. Classes of a ``code-block`` say what differs:

- ``no-run``: it is only shown;
- ``hidden``: it is run, and only what it gives is shown;
- ``raises``: it must end in an exception, which is shown;
- ``html``: its value is shown as HTML, as a notebook does;
- ``same``: its value is not shown, and has to equal that of the next block which says so: two sides of a comparison.
"""

from __future__ import annotations

import ast
import contextlib
import io
import math
import warnings
from decimal import Decimal
from typing import Any

import pyarrow as pa
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util import logging

import windrow as wr
from windrow.hosts.base import host_of

__all__ = ["setup"]

_LOG = logging.getLogger(__name__)


class ExampleError(Exception):
    """An example did not do what the page says."""


def run_page(app: Sphinx, doctree: nodes.document) -> None:
    """Run the examples of a page, and put what they give behind them."""
    names: dict[str, Any] = {"__name__": "__main__", "wr": wr}
    sides: list[Any] = []
    for block in list(doctree.findall(nodes.literal_block)):
        language, classes = block.get("language"), block["classes"]
        if language not in ("python", "sql") or "no-run" in classes:
            continue
        try:
            printed, value = _run(block.astext(), language, names, classes)
            if "same" in classes:
                _compare(sides, value)
                continue
            shown = _shown(printed, value, classes)
        except Exception as error:
            told = str(error) if isinstance(error, ExampleError) else f"{type(error).__name__}: {error}"
            _LOG.warning("the example fails: %s\n%s", told, block.astext(), location=block)
            continue
        place = block.parent.index(block)
        block.parent[place + 1 : place + 1] = shown
        if "hidden" in classes:
            block.parent.remove(block)


def _compare(sides: list[Any], value: Any) -> None:
    """Keep the first side of a comparison; hold the second against it."""
    rows = _rows_of(value)
    if not sides:
        sides.append(rows)
        return
    theirs = sides.pop()
    if not rows or rows != theirs:
        raise ExampleError(f"the two sides differ: {theirs} and {rows}")


def _rows_of(value: Any) -> list[tuple[Any, ...]]:
    """Give the rows of a frame of any kind, or of a Series, in an order of their own."""
    if hasattr(value, "to_frame"):
        value = value.to_frame()
    if hasattr(value, "reset_index"):  # pandas
        value = value.reset_index(drop=True)
    table = value.toArrow() if hasattr(value, "toArrow") else pa.table(value)
    rows = [tuple(map(_plain, row)) for row in zip(*(column.to_pylist() for column in table.columns), strict=True)]
    return sorted(rows, key=repr)


def _plain(value: Any) -> Any:
    """Give numbers one type, and NaN as None."""
    if isinstance(value, (int, float, Decimal)):
        number = float(value)
        return None if math.isnan(number) else round(number, 9)
    return value


def _run(text: str, language: str, names: dict[str, Any], classes: list[str]) -> tuple[str, Any]:
    """Run a block, and give what it prints and its value."""
    printed = io.StringIO()
    value = None
    with contextlib.redirect_stdout(printed), warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always", UserWarning)
        try:
            value = _query(text, names) if language == "sql" else _execute(text, names)
        except Exception as error:
            if "raises" not in classes:
                raise
            print(f"{type(error).__name__}: {error}", file=printed)
        else:
            if "raises" in classes:
                raise ExampleError("it was to raise an exception, and did not")
    told = "".join(f"{w.category.__name__}: {w.message}\n" for w in warned if issubclass(w.category, UserWarning))
    return told + printed.getvalue(), value


def _execute(text: str, names: dict[str, Any]) -> Any:
    """Run statements, and give the value of the last where it is an expression."""
    body = ast.parse(text).body
    last = body.pop() if body and isinstance(body[-1], ast.Expr) else None
    exec(compile(ast.Module(body, []), "<example>", "exec", dont_inherit=True), names)
    if not isinstance(last, ast.Expr):
        return None
    return eval(compile(ast.Expression(last.value), "<example>", "eval", dont_inherit=True), names)


def _query(text: str, names: dict[str, Any]) -> Any:
    """Answer a query over the frames that have names."""
    return wr.sql(text.strip().removesuffix(";"), **{n: v for n, v in names.items() if _is_frame(n, v)})


def _is_frame(name: str, value: Any) -> bool:
    if name.startswith("_") or isinstance(value, type):
        return False
    try:
        host_of(value)
    except wr.SpecError:
        return False
    return True


def _shown(printed: str, value: Any, classes: list[str]) -> list[nodes.Node]:
    """Give the nodes that show what an example gives."""
    made: list[nodes.Node] = []
    raw = None
    if "html" in classes:
        raw = value._repr_html_()
    elif hasattr(value, "_repr_svg_"):
        raw = value._repr_svg_()
    elif value is not None:
        printed += repr(value)
    if printed.strip():
        text = printed.rstrip("\n")
        made.append(nodes.literal_block(text, text, language="text", classes=["output", *classes]))
    if raw is not None:
        made.append(nodes.raw("", f'<div class="output picture">{raw}</div>', format="html"))
    return made


def setup(app: Sphinx) -> dict[str, Any]:
    """Register with Sphinx."""
    app.connect("doctree-read", run_page)
    return {"version": "1", "parallel_read_safe": False, "parallel_write_safe": True}
