"""What will be done for each call, and what was done, as text and as HTML."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Any, Final

from .._display import ACCENT, CHARACTER, escaped, padded, printable, rectangle, svg, svg_text, text_table, text_width
from .._execute.explained_call import ExplainedCall
from .._execute.run_metrics import Measured, size_text
from .._model.replace import replace
from .._plan.steps import Compute, Evaluate, StepPlan

__all__ = ["Explanation", "explain_plan"]

_WIDTH = 108
_MOST_NAME = 48
_COLUMNS = {"column": 24, "type": 22, "frame": 9, "strategy": 12, "reads before": 15, "reads after": 15}
_LEGEND = {"strategy": 12, "what it does": 68, "cost of a row": 20}
_BAR = 40  # places of a line of text
_SVG_BAR = 300

#: What each strategy does, and what a row costs by it.
STRATEGIES: Final = {
    "grouped": ("one result per partition, found by its number: rows are not sorted", "constant"),
    "whole": ("one result per partition, repeated for its rows", "constant"),
    "scan": ("one pass over the rows, as frames only grow or only shrink", "constant"),
    "prefix": ("adds the rows that enter a frame, subtracts those that leave it, exactly", "constant"),
    "index": ("the row that holds the result is found from row numbers", "constant"),
    "deque": ("a queue of the rows that may still be selected", "constant"),
    "two_stacks": ("a queue of states that are merged; nothing is subtracted", "constant"),
    "segment_tree": ("a tree of merged states, read anywhere", "log of frame's rows"),
    "refold": ("adds rows to one state, from scratch where a frame begins elsewhere", "constant, or frame's rows"),
    "naive": ("reads each frame from its first row to its last", "the frame's rows"),
    "wavelet": ("a tree of the values' ranks, read anywhere", "log of distinct values"),
    "codes": ("values as small numbers, counted as they enter and leave the frame", "constant to log"),
    "sweep": ("one pass over the frames' ends, with each value's last row", "log of partition's rows"),
    "blocks": ("a function of yours, called for many frames or for a partition", "the function's"),
    "spark": ("Spark's own window operator", "Spark's"),
}

_STYLE = """
.windrow-plan{color:inherit;font-size:.85rem;line-height:1.4;overflow-x:auto}
.windrow-plan table{border-collapse:collapse;margin:.2rem 0 .8rem;color:inherit;font-size:inherit}
.windrow-plan tr{background:none}
.windrow-plan th,.windrow-plan td{text-align:left;vertical-align:top;padding:.25rem .5rem;border:0;
border-bottom:1px solid rgba(128,128,128,.35);color:inherit;white-space:normal;max-width:32rem}
.windrow-plan thead th{font-weight:500;opacity:.75;white-space:nowrap}
.windrow-plan th.windrow-order{padding-top:.7rem;font-weight:600}
.windrow-plan code{font-size:.95em;background:none;border:0;padding:0;color:inherit;overflow-wrap:break-word}
.windrow-plan .windrow-calls td:nth-child(2){min-width:13rem}
.windrow-plan .windrow-calls td:nth-child(4){min-width:9rem}
.windrow-plan small{display:block;font-size:.92em;opacity:.75}
.windrow-plan p,.windrow-plan ul{margin:.2rem 0 .6rem}
"""


def explain_plan(plan: StepPlan, explained: Sequence[Sequence[ExplainedCall]]) -> Explanation:
    """Say how the steps of a plan would be run by a host of frames in memory.

    Parameters
    ----------
    plan
        The plan.
    explained
        For each step of calls, how the native module computes each.

    Returns
    -------
    Explanation
        That, and what Polars evaluates around it.
    """
    numbered = enumerate(explained, 1)
    shown = plan.display_names()
    texts = _hidden_texts(plan)
    results = {i: name for name, i in plan.project.columns}
    calls: list[ExplainedCall] = []
    steps: list[str] = []
    for step in plan.steps:
        if isinstance(step, Compute):
            number, level = next(numbered)
            for call in level:
                calls.append(
                    replace(
                        call,
                        name=shown[call.name] or call.call,
                        partition_by=[_shown_key(k, texts) for k in call.partition_by],
                        order_by=[_shown_key(k, texts) for k in call.order_by],
                        sort=call.sort if len(explained) == 1 else f"level {number}, sort {call.sort}",
                    )
                )
        elif isinstance(step, Evaluate):
            for index, scalar in enumerate(step.scalars, len(step.names)):
                when = f"{results[index]} last" if index in results else "a column first"
                steps.append(f"Polars evaluates {scalar.text} into {when}")
    return Explanation(calls, steps)


def _hidden_texts(plan: StepPlan) -> dict[str, str]:
    """Say what each hidden column holds, as it was written."""
    texts: dict[str, str] = {}
    for step in plan.steps:
        if isinstance(step, Compute):
            texts |= {c.name: c.display for c in step.calls}
        elif isinstance(step, Evaluate):
            texts |= {s.name: s.text for s in step.scalars}
    return texts


def _shown_key(key: str, texts: Mapping[str, str]) -> str:
    """Write a key, such as ``x DESC``, with what a hidden column holds in place of its name."""
    name, space, order = key.partition(" ")
    return texts.get(name, name) + space + order


class Explanation:
    """What :func:`windrow.explain` gives: text where it is printed, tables in a notebook.

    Parameters
    ----------
    calls
        How each call is computed. ``rows`` has one dict per call: ``name``, ``call``, ``partition_by``, ``order_by``,
        ``frame``, ``shape``, ``strategy``, ``reason``, ``reach_before``, ``reach_after``, ``sort`` and ``type``, which
        is the result's type as the frame's library calls it. The strategy is one of those that :func:`windrow.config`
        names, or ``"spark"``; ``"grouped"`` sorts no rows, unless partitions cannot be numbered without a sort: by text
        keys of rows in no order, or where there are about as many as rows.
    steps
        What the host does around the calls.
    metrics
        Where the calls were computed: what each operator's runs came to.
    seconds
        And how long all took.
    """

    def __init__(
        self,
        calls: Sequence[ExplainedCall],
        steps: Sequence[str] = (),
        metrics: Sequence[Measured] = (),
        seconds: float | None = None,
    ) -> None:
        self.calls: list[ExplainedCall] = list(calls)
        self.rows: list[dict[str, Any]] = [asdict(c) for c in calls]
        self.steps: list[str] = list(steps)
        self.metrics: list[Measured] = list(metrics)
        self.seconds = seconds

    def __repr__(self) -> str:
        """Give the plan as text."""
        return str(self)

    def __str__(self) -> str:
        """Give the plan as text: one block per shared order, one line per call, why, and what the strategies are."""
        lines: list[str] = []
        for order, rows in self._by_order():
            lines += _folded(order, 0)
            lines += text_table(list(_COLUMNS), list(map(_cells, rows)), list(_COLUMNS.values()), _WIDTH, indent=2)
            lines.append("")
            for row in rows:
                lines += _folded(row.call if row.name == row.call else f"{row.name}: {row.call}", 2)
                if (frame := _frame_not_given(row)) is not None:
                    lines += _folded(f"frame: {frame}", 4)
                lines += _folded(f"{row.strategy}: {row.reason}", 4)
            lines.append("")
        if self.steps:
            lines += [*(line for step in self.steps for line in _folded(step, 0)), ""]
        if self.calls:
            lines += text_table(list(_LEGEND), self._legend(), list(_LEGEND.values()), _WIDTH)
        if self.seconds is not None:
            lines += ["", f"computed in {_seconds(self.seconds)}"]
            for measured in self.metrics:
                lines += [*_folded(measured.name, 2), *_folded(_figures(measured), 4), *_text_timeline(measured)]
        return "\n".join(lines).strip("\n")

    def _repr_html_(self) -> str:
        """Give the plan as HTML tables, for notebooks."""
        parts = [f'<div class="windrow-plan"><style>{_STYLE}</style>']
        if self.calls:
            parts.append(f'<table class="windrow-calls"><thead>{_html_row(_HEADS, "th")}</thead>')
            for order, rows in self._by_order():
                title = f'<tr><th class="windrow-order" colspan="{len(_HEADS)}">{escaped(_one_line(order))}</th></tr>'
                parts.append(f"<tbody>{title}{''.join(_html_row(_html_cells(row)) for row in rows)}</tbody>")
            parts.append("</table>")
        if self.steps:
            parts.append("<ul>" + "".join(f"<li>{escaped(_one_line(s))}</li>" for s in self.steps) + "</ul>")
        if self.calls:
            legend = "".join(_html_row(map(escaped, row)) for row in self._legend())
            parts.append(f"<table><thead>{_html_row(_LEGEND, 'th')}</thead><tbody>{legend}</tbody></table>")
        if self.seconds is not None:
            parts.append(f"<p><b>computed in {_seconds(self.seconds)}</b></p>")
            for measured in self.metrics:
                parts.append(f"<p>{escaped(_one_line(measured.name))}<small>{escaped(_figures(measured))}</small></p>")
                parts.append(_svg_timeline(measured))
        return "".join(parts) + "</div>"

    def _by_order(self) -> list[tuple[str, list[ExplainedCall]]]:
        groups: dict[Any, list[ExplainedCall]] = {}
        for row in self.calls:
            groups.setdefault((row.sort, ", ".join(row.partition_by), ", ".join(row.order_by)), []).append(row)
        titled = []
        for (sort, partition, order), rows in groups.items():
            title = f"PARTITION BY {partition}" if partition else "all rows are one partition"
            title += f" ORDER BY {order}" if order else ", no order"
            where = "" if sort is None else sort if isinstance(sort, str) else f"sort {sort}"
            titled.append((f"{where}: {title}" if where else title, rows))
        return titled

    def _legend(self) -> list[tuple[str, str, str]]:
        """Give a line of cells for each strategy that occurs."""
        found = dict.fromkeys(c.strategy for c in self.calls)
        return [(name, *STRATEGIES[name]) for name in found if name in STRATEGIES]


def _cells(row: ExplainedCall) -> list[str]:
    name = _one_line(row.name)
    return [
        name if len(name) <= _MOST_NAME else name[: _MOST_NAME - 3] + "...",  # the line below has it in full
        _one_line(row.type),
        row.shape or "-",
        row.strategy,
        row.reach_before or "nothing",
        row.reach_after or "nothing",
    ]


_HEADS = ("column", "call", "type", "strategy", "reads before", "reads after")


def _html_cells(row: ExplainedCall) -> list[str]:
    frame = row.shape or ""
    if (given := _frame_not_given(row)) is not None:
        frame = f"{frame} frame: {given}"
    elif frame:
        frame += " frame"
    call = f"<code>{escaped(_one_line(row.call))}</code>"
    return [
        f"<b>{escaped(_one_line(row.name))}</b>" if row.name != row.call else "",
        f"{call}<small>{escaped(frame)}</small>" if frame else call,
        f"<code>{escaped(_one_line(row.type))}</code>",
        f"{escaped(row.strategy)}<small>{escaped(_one_line(row.reason))}</small>",
        escaped(row.reach_before or "nothing"),
        escaped(row.reach_after or "nothing"),
    ]


def _html_row(cells: Iterable[str], tag: str = "td") -> str:
    """Write a row of cells that are HTML already."""
    return "<tr>" + "".join(f"<{tag}>{cell}</{tag}>" for cell in cells) + "</tr>"


def _frame_not_given(row: ExplainedCall) -> str | None:
    """Say the frame of a call that names none; one that was written stands in the call."""
    if not row.frame or any(f" {units} " in row.call for units in ("ROWS", "RANGE", "GROUPS")):
        return None
    return f"{row.frame}, as none was given"


def _figures(measured: Measured) -> str:
    """Say what the runs of an operator came to, but for the time of each stage."""
    total, runs = measured.total(), len(measured.runs)
    most = f" in {runs:,} runs, {measured.most_rows():,} in the largest" if runs != 1 else ""
    peak = "" if total.peak_bytes is None else f"; process peak {size_text(total.peak_bytes)}"
    longest = f"; {'longest run' if runs != 1 else 'run'} {_seconds(total.elapsed)}"
    return (
        f"{_counted(total.rows, 'row')}{most}; {_counted(total.sections, 'section')}; "
        f"{size_text(total.spilled_bytes)} spilled{peak}{longest}"
    )


def _counted(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def _seconds(seconds: float) -> str:
    return f"{seconds:.3f} s" if seconds >= 1 else f"{seconds * 1000:.1f} ms"


def _stages(measured: Measured) -> list[tuple[str, str, float, float]]:
    """Give each stage, its seconds as text, and as shares of all those of the stages before it and its own.

    The stages stand in the order in which they began; they take turns, and the time of each is put together.
    """
    seconds = measured.total().seconds
    total = sum(seconds.values()) or 1.0
    shares, before = [], 0.0
    for stage, of in seconds.items():
        shares.append((stage, _seconds(of), before / total, of / total))
        before += of
    return shares


def _text_timeline(measured: Measured) -> list[str]:
    lines = []
    for stage, seconds, before, share in _stages(measured):
        length = max(1, round(share * _BAR))
        bar = " " * min(round(before * _BAR), _BAR - length) + "█" * length
        lines.append(f"    {padded(stage, 9)}  {padded(bar, _BAR)}  {seconds:>9}")
    return lines


def _svg_timeline(measured: Measured) -> str:
    """Draw a bar for each stage, which begins where the one above it ends."""
    parts: list[str] = []
    stages = _stages(measured)
    left = max((text_width(stage) for stage, *_ in stages), default=0) * CHARACTER + 12
    for i, (stage, seconds, before, share) in enumerate(stages):
        y = 20 * i
        parts.append(svg_text(0, y + 14, stage, faint=True))
        length = max(1.5, share * _SVG_BAR)
        parts.append(rectangle(left, y + 3, _SVG_BAR, 14, 'fill="currentColor" fill-opacity="0.07" rx="2"'))
        parts.append(rectangle(left + before * _SVG_BAR, y + 3, length, 14, f'fill="{ACCENT}" rx="2"'))
        parts.append(svg_text(left + _SVG_BAR + 10 + 9 * CHARACTER, y + 14, seconds, end=True))
    width = round(left + _SVG_BAR + 12 + 9 * CHARACTER)
    return svg(width, 20 * len(stages), f"Seconds by stage: {measured.name}", parts) if parts else ""


def _one_line(text: str) -> str:
    """Write a text as a line, without what is not printed."""
    return printable(re.sub("[\t\n\v\f\r]", " ", text))


def _folded(text: str, indent: int) -> list[str]:
    """Fold a long line; what follows the first line stands further in."""
    return textwrap.wrap(
        _one_line(text),
        _WIDTH,
        initial_indent=" " * indent,
        subsequent_indent=" " * (indent + 4),
        break_on_hyphens=False,
    )
