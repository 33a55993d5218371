"""A Sphinx extension for the recipes: ``{recipe} sessions: the device last known`` shows a query and its answer.

The query stands in the block, laid out for readers. It has to be the one of that title in
tests/python/differential/queries, which the tests hold against Spark or DuckDB, and is asked of their tables. One that
is another, or fails, is a warning.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any

import polars as pl
from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective

import windrow as wr
from support.query_tables import make_tables

__all__ = ["setup"]

_LOG = logging.getLogger(__name__)
_QUERIES = Path(__file__).parents[1] / "tests" / "python" / "differential" / "queries"


@cache
def _queries() -> dict[str, str]:
    """Give the queries by file and title."""
    found = {}
    for path in sorted(_QUERIES.glob("*.sql")):
        for part in re.split(r"^-- ", path.read_text(encoding="utf-8"), flags=re.MULTILINE)[2:]:
            title, text = part.split("\n", 1)
            found[f"{path.stem}: {title.removesuffix(' (DuckDB)')}"] = text.strip().removesuffix(";")
    return found


@cache
def _frames() -> dict[str, pl.DataFrame]:
    frames = {}
    for name, table in make_tables().items():
        frame = pl.from_arrow(table)
        assert isinstance(frame, pl.DataFrame)
        frames[name] = frame
    return frames


class Recipe(SphinxDirective):
    """Shows a query of the tests, and the first rows of its answer."""

    has_content = True
    required_arguments = 1
    final_argument_whitespace = True
    option_spec = {  # noqa: RUF012 - as docutils asks for it
        "with": directives.unchanged,
        "rows": directives.nonnegative_int,
        "order": directives.unchanged,
    }

    def run(self) -> list[nodes.Node]:
        """Give the query and its answer."""
        query = "\n".join(self.content)
        if (tested := _queries().get(self.arguments[0])) is None or _bare(tested) != _bare(query):
            found = "is another" if tested else "is not there"
            _LOG.warning("query %r %s in the tests: %s", self.arguments[0], found, tested, location=self.get_location())
            return []
        try:
            frames: dict[str, Any] = dict(_frames())
            answer = wr.sql(query, **frames)
            shown = self._shown(query, answer)
        except Exception as error:
            _LOG.warning("the query fails: %s\n%s", error, query, location=self.get_location())
            return []
        return [
            nodes.literal_block(query, query, language="sql", classes=["no-run"]),
            nodes.literal_block(shown, shown, language="text", classes=["output"]),
        ]

    def _shown(self, query: str, answer: pl.DataFrame) -> str:
        """Give the answer's first rows, beside the columns of the table that say what they are about."""
        match = re.search(r"\bFROM (\w+)", query)
        assert match is not None
        if beside := self.options.get("with", "").split():
            table = _frames()[match[1]].select("id", *beside)
            twice = set(beside) & set(answer.columns)
            answer = table.rename({name: f"{name} before" for name in twice}).join(answer, on="id", how="inner")
        if order := self.options.get("order", "").split():
            answer = answer.sort(order)
        rows = self.options.get("rows", 6)
        with pl.Config(tbl_rows=rows, tbl_cols=12, tbl_width_chars=110, tbl_hide_dataframe_shape=True):
            return str(answer.head(rows))


def _bare(query: str) -> str:
    """Give a query without its white space, which is how it is laid out."""
    return "".join(query.split())


def setup(app: Sphinx) -> dict[str, Any]:
    """Register with Sphinx."""
    app.add_directive("recipe", Recipe)
    return {"version": "1", "parallel_read_safe": False, "parallel_write_safe": True}
