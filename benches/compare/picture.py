"""The picture of the README: some questions of the record, the time of each engine on one axis.

``make bench-compare`` draws it from what it has measured; ``python -m benches.compare.picture`` draws it again from the
last whole run of the record. The SVG follows the reader's light or dark theme, and has a background of its own, because
some pages (PyPI's) are always light.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

__all__ = ["Row", "draw", "rows_of", "source_of", "write"]

RECORD = Path(__file__).parents[1] / "record"

#: The shape of the data, and the questions: cases of the suite ``cases`` and what they are called.
SHAPE = "1M-100"
QUESTIONS = {
    "row_number": "row_number()",
    "lag": "lag(v)",
    "running_sum": "sum(v), running",
    "sum_v": "sum(v), 1,000 rows either side",
    "min_v": "min(v), 1,000 rows either side",
    "range_sum": "sum(v), RANGE ± 1,000",
    "median_d": "median(d), 1,000 rows either side",
    "count_distinct": "count(DISTINCT c), 1,000 rows either side",
    "four_orders": "four calls, four orders",
}
COLOURS = {"windrow": "#d1495b", "polars": "#4878cf", "duckdb": "#d9a400", "datafusion": "#8a8f98"}
NAMES = {"windrow": "windrow", "polars": "Polars", "duckdb": "DuckDB", "datafusion": "DataFusion"}

WIDTH, LEFT, RIGHT, TOP, STEP = 860, 290, 30, 74, 30

STYLE = """
  .background { fill: #ffffff }
  text { font: 13px system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; fill: #1f2328 }
  .title { font-size: 15px; font-weight: 600 }
  .small { font-size: 11px; fill: #59636e }
  .grid { stroke: #d1d9e0; stroke-width: 1 }
  .reach { stroke: #afb8c1; stroke-width: 2 }
  @media (prefers-color-scheme: dark) {
    .background { fill: #0d1117 }
    text { fill: #f0f6fc } .small { fill: #9198a1 } .grid { stroke: #3d444d } .reach { stroke: #656c76 }
  }
"""


@dataclass(frozen=True)
class Row:
    """A question and the milliseconds that each engine took."""

    label: str
    milliseconds: Mapping[str, float]


def rows_of(run: Mapping[str, Any]) -> list[Row]:
    """Give the rows of the picture that a run of the record has."""
    measured = {c["case"]: c["median_ms"] for c in run["cases"] if (c["suite"], c["shape"]) == ("cases", SHAPE)}
    return [Row(label, measured[case]) for case, label in QUESTIONS.items() if case in measured]


def draw(rows: Sequence[Row], source: str) -> str:
    """Draw rows as SVG, the times on a logarithmic axis; ``source`` says where and when they were taken."""
    times = [t for row in rows for t in row.milliseconds.values()]
    low, high = math.floor(math.log10(min(times))), math.ceil(math.log10(max(times)))
    bottom = TOP + STEP * len(rows)

    def x(milliseconds: float) -> float:
        return LEFT + (WIDTH - LEFT - RIGHT) * (math.log10(milliseconds) - low) / (high - low)

    parts = [
        f'<text class="title" x="16" y="26">One million rows in 100 partitions, shuffled: time, on {source}</text>',
    ]
    at = 16.0
    for engine, colour in COLOURS.items():
        parts.append(f'<circle cx="{at + 6:.0f}" cy="48" r="6" fill="{colour}"/>')
        parts.append(f'<text x="{at + 18:.0f}" y="52.5">{NAMES[engine]}</text>')
        at += 40 + 8 * len(NAMES[engine])
    for power in range(low, high + 1):
        tick = x(10**power)
        label = f"{10**power:,g} ms" if power < 3 else f"{10 ** (power - 3):,g} s"
        parts.append(f'<line class="grid" x1="{tick:.1f}" y1="{TOP - 8}" x2="{tick:.1f}" y2="{bottom}"/>')
        parts.append(f'<text class="small" x="{tick:.1f}" y="{bottom + 18}" text-anchor="middle">{label}</text>')
    for number, row in enumerate(rows):
        y = TOP + STEP * number + STEP / 2
        points = {engine: x(row.milliseconds[engine]) for engine in COLOURS if engine in row.milliseconds}
        parts.append(f'<text x="{LEFT - 16}" y="{y + 4.5:.1f}" text-anchor="end">{escape(row.label)}</text>')
        begin, end = min(points.values()), max(points.values())
        parts.append(f'<line class="reach" x1="{begin:.1f}" y1="{y:.1f}" x2="{end:.1f}" y2="{y:.1f}"/>')
        for engine, point in reversed(points.items()):
            title = f"{NAMES[engine]}: {row.milliseconds[engine]:,.1f} ms"
            parts.append(
                f'<circle cx="{point:.1f}" cy="{y:.1f}" r="{7 if engine == "windrow" else 5}" fill="{COLOURS[engine]}">'
                f"<title>{escape(title)}</title></circle>"
            )
    body = "\n".join(parts)
    height = bottom + 32
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" '
        f'role="img" aria-label="Times of window queries: windrow beside Polars, DuckDB and DataFusion">\n'
        f'<style>{STYLE}</style>\n<rect class="background" width="{WIDTH}" height="{height}"/>\n{body}\n</svg>\n'
    )


def write(run: Mapping[str, Any], directory: Path) -> bool:
    """Write ``picture.svg`` if a run of the record has all questions; say whether it has."""
    rows = rows_of(run)
    if len(rows) < len(QUESTIONS):
        return False
    (directory / "picture.svg").write_text(draw(rows, source_of(run)), encoding="utf-8")
    return True


def main() -> None:
    """Draw the last whole run that stands in the record."""
    runs = [json.loads(line) for line in (RECORD / "runs.jsonl").read_text(encoding="utf-8").splitlines()]
    if not any(write(run, RECORD) for run in reversed(runs) if run["complete"]):
        raise SystemExit("no run of the record has all questions")


def source_of(run: Mapping[str, Any]) -> str:
    """Say on what processor and with how many threads a run was taken."""
    processor = re.sub(r"\((R|TM|\d+ CPUs)\)", "", run["processor"]).replace(" Processor", "")
    return f"{' '.join(processor.split())}, {run['threads']} threads ({run['date'][:10]})"


if __name__ == "__main__":
    main()
