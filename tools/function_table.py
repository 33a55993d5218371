"""Write the tables of functions in docs/functions.md, made from the catalog."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from windrow._windrow import functions

ROOT = Path(__file__).parents[1]
BEGIN = "<!-- made by tools/function_table.py -->\n"
END = "<!-- made up to here -->\n"

#: A frame of each kind, as SQL; ``reach`` is a column of whole numbers.
FRAMES = {
    "entire": "ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING",
    "growing": "ROWS BETWEEN UNBOUNDED PRECEDING AND 1 FOLLOWING",
    "shrinking": "ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING",
    "moving": "ROWS BETWEEN 2 PRECEDING AND 1 FOLLOWING",
    "per row": "ROWS BETWEEN reach PRECEDING AND CURRENT ROW",
    "EXCLUDE": "GROUPS BETWEEN 2 PRECEDING AND 1 FOLLOWING EXCLUDE CURRENT ROW",
}
#: What a call takes beside its arguments.
MODIFIERS = ["FILTER", "DISTINCT", "IGNORE NULLS", "ORDER BY", "min_rows"]
#: The hosts, and streams of record batches.
HOSTS = ["pyarrow", "streams", "Polars", "pandas", "PySpark"]
FAMILIES = {
    "aggregate": "Aggregates",
    "value": "Values of the frame's rows",
    "offset": "Values of rows at a distance",
    "running": "Gaps and counters",
    "ranking": "Ranking",
}
INTRODUCTION = """\
All window functions, by family: first what each returns, then where it can be used. Names are the same in Python
(`wr.<name>`) and in SQL. The [reference](reference/index.md) and `help(wr.<name>)` have the types, nulls, errors and
cost of each function.

Aggregates ignore NULL. Over a frame without values counts return 0, lists are empty, and the others return NULL.

How to read the second tables:

- *entire* to *EXCLUDE*: the [frames](concepts/frames.md) that the function accepts. *per row* means bounds that are
  columns or expressions. A function without a mark here takes no frame, but needs an ORDER BY in its window.
- *FILTER* to *min_rows*: the [modifiers](concepts/windows.md#modifiers-of-a-call) that the call accepts. *ORDER BY*
  is an order inside the call, as in `listagg(x ORDER BY y)`. A ranking function with it ranks the row among the rows
  of its frame.
- *pyarrow* to *PySpark*: the data frames that it runs on.

A test runs every cell: marked combinations must work, and the others must raise an error."""


@dataclass(frozen=True)
class Row:
    """A function, or a form of it, and the columns of the tables in which it has a mark."""

    name: str
    aliases: tuple[str, ...]
    family: str
    doc: str
    ordered: bool = False
    cells: frozenset[str] = field(default_factory=frozenset)

    @property
    def title(self) -> str:
        """The function as the tables write it."""
        return f"{self.name}(… ORDER BY …)" if self.ordered else self.name


def rows() -> list[Row]:
    """Give a row per function; a ranking function has a second row for its form with ORDER BY inside the call."""
    return [row for family in FAMILIES for entry in functions() if entry["family"] == family for row in _rows(entry)]


def _rows(entry: dict[str, Any]) -> list[Row]:
    said = {"FILTER": entry["filter"], "IGNORE NULLS": entry["ignore_nulls"], "DISTINCT": entry["distinct"]}
    ranking = entry["family"] == "ranking"
    takes = {name for name, value in said.items() if value}
    takes |= {"ORDER BY"} if entry["argument_order"] and not ranking else set()
    takes |= {"min_rows", *FRAMES} if entry["frames"] else set()
    common = (entry["name"], tuple(entry["aliases"]), entry["family"], entry["doc"])
    made = [Row(*common, cells=frozenset(takes | set(HOSTS)))]
    if ranking and entry["argument_order"]:
        made.append(Row(*common, ordered=True, cells=frozenset(takes | {"ORDER BY", "min_rows", *FRAMES, *HOSTS})))
    return made


def full() -> str:
    """Give docs/functions.md."""
    parts = [
        "# Functions\n",
        BEGIN,
        INTRODUCTION,
    ]
    columns = [*FRAMES, *MODIFIERS, *HOSTS]
    for family, title in FAMILIES.items():
        members = [row for row in rows() if row.family == family]
        parts += [f"\n## {title}\n", "| function | returns |", "|---|---|"]
        for row in members:
            if not row.ordered:
                names = ", ".join(f"`{name}`" for name in [row.name, *row.aliases])
                parts.append(f"| {names} | {row.doc} |")
        parts += ["", f"| function | {' | '.join(columns)} |", "|---|" + ":-:|" * len(columns)]
        for row in members:
            parts.append(f"| `{row.title}` | {' | '.join('x' if c in row.cells else '' for c in columns)} |")
    return "\n".join(parts) + "\n" + END


def pages() -> dict[Path, str]:
    """Give the text of each page that holds a table."""
    return {ROOT / "docs" / "functions.md": full()}


if __name__ == "__main__":
    for path, text in pages().items():
        path.write_text(text, encoding="utf-8")
        print(f"{path.relative_to(ROOT)} written", file=sys.stderr)
