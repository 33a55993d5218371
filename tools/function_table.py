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
#: What a call may be told beside its arguments.
MODIFIERS = ["FILTER", "DISTINCT", "IGNORE NULLS", "ORDER BY", "min_rows"]
#: The kinds of frames of data a call may be asked of.
HOSTS = ["pyarrow", "streams", "Polars", "pandas", "PySpark"]
FAMILIES = {
    "aggregate": "Aggregates",
    "value": "Values of the frame's rows",
    "offset": "Values of rows at a distance",
    "running": "Gaps and counters",
    "ranking": "Ranking",
}


@dataclass(frozen=True)
class Row:
    """A function and what is claimed of it."""

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
    """Give a row per function; two for those that an ORDER BY inside their parentheses makes another question."""
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
        "Every function, with the frames and the modifiers it takes, and the hosts it runs on. A function that takes",
        "no frame needs an order. Names are the same in Python (`wr.<name>`) and in SQL. The entry of each in the",
        "[reference](reference/index.md) has its types, nulls, errors and cost, and so has `help(wr.<name>)`.",
        "",
        "A test runs each cell: what is claimed has to work, and what is not has to be refused.",
    ]
    columns = [*FRAMES, *MODIFIERS, *HOSTS]
    for family, title in FAMILIES.items():
        parts += [
            f"\n## {title}\n",
            f"| function | {' | '.join(columns)} |",
            "|---|" + ":-:|" * len(columns),
        ]
        members = [row for row in rows() if row.family == family]
        for row in members:
            names = ", ".join(f"`{name}`" for name in [row.title, *(row.aliases if not row.ordered else ())])
            parts.append(f"| {names} | {' | '.join('x' if c in row.cells else '' for c in columns)} |")
        parts.append("")
        parts += [f"- `{row.name}`: {row.doc}" for row in members if not row.ordered]
    return "\n".join(parts) + "\n" + END


def pages() -> dict[Path, str]:
    """Give the text of each page that holds a table."""
    return {ROOT / "docs" / "functions.md": full()}


if __name__ == "__main__":
    for path, text in pages().items():
        path.write_text(text, encoding="utf-8")
        print(f"{path.relative_to(ROOT)} written", file=sys.stderr)
