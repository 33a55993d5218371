"""What will be done for each call, and what was done, as text and as HTML."""

from __future__ import annotations

import html
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from .._execute.explained_call import ExplainedCall
from .._execute.run_metrics import Measured, seconds_text, size_text
from .._model.replace import replace
from .._plan.steps import Compute, Evaluate, StepPlan

__all__ = ["Explanation", "explain_plan"]

_NAME_WIDTH = 32
_WIDTH = 100
_COLUMNS = ("column", "type", "shape", "strategy", "reads before", "reads after", "frame")
_MEASURED = ("run", "runs", "rows", "most in one", "sections", "spilled", "peak", "longest", "seconds")


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
    """What :func:`windrow.explain` gives.

    Parameters
    ----------
    calls
        How each call is computed. ``rows`` has one dict per call: ``name``, ``call``, ``partition_by``, ``order_by``,
        ``frame``, ``shape``, ``strategy``, ``reason``, ``reach_before``, ``reach_after``, ``sort`` and ``type``. The
        strategy is one of those that :func:`windrow.config` names, or ``"spark"``; ``"grouped"`` sorts no rows, unless
        partitions cannot be numbered without a sort: by text keys of rows in no order, or where there are about as many
        as rows.
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
        """Give the plan as text: one block per shared order, one line per call, and why."""
        lines: list[str] = []
        for order, rows in self._by_order():
            lines.append(order)
            lines += _table(_COLUMNS[:-1], [self._cells(r)[:-1] for r in rows])
            lines.append("")
            for row in rows:
                lines += _folded(row.call if row.name == row.call else f"{row.name}: {row.call}", 2)
                # A frame that was written stands in the call; one that was not is worth saying.
                if row.frame and not _says_frame(row.call):
                    lines.append(f"    frame: {row.frame}, as none was given")
                lines.append(f"    {row.strategy}: {row.reason}")
            lines.append("")
        lines += self.steps
        if self.seconds is not None:
            lines += [*([""] if self.steps else []), f"computed in {self.seconds:.3f} s"]
            lines += _table(_MEASURED, self._measured()) if self.metrics else []
        return "\n".join(lines).rstrip()

    def _repr_html_(self) -> str:
        """Give the plan as HTML tables, for notebooks."""
        parts = ["<div class='windrow-plan'>"]
        heads = _html_heads((*_COLUMNS[:-1], "why"))
        for order, rows in self._by_order():
            parts.append(f"<p><b>{html.escape(order)}</b></p><table>{heads}<tbody>")
            for row in rows:
                cells = [*self._cells(row)[:-1], row.reason]
                tip = html.escape(row.call, quote=True)
                parts.append(f"<tr title='{tip}'>{_html_cells(cells)}</tr>")
            parts.append("</tbody></table>")
        parts += [f"<p>{html.escape(s)}</p>" for s in self.steps]
        if self.seconds is not None:
            parts.append(f"<p><b>computed in {self.seconds:.3f} s</b></p>")
            if self.metrics:
                rows_of = "".join(f"<tr>{_html_cells(cells)}</tr>" for cells in self._measured())
                parts.append(f"<table>{_html_heads(_MEASURED)}<tbody>{rows_of}</tbody></table>")
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

    def _measured(self) -> list[list[str]]:
        """Give a line of cells for each operator."""
        lines = []
        for measured in self.metrics:
            total = measured.total()
            lines.append(
                [
                    _short(measured.name),
                    f"{len(measured.runs):,}",
                    f"{total.rows:,}",
                    f"{measured.most_rows():,}",
                    f"{total.sections:,}",
                    size_text(total.spilled_bytes),
                    "-" if total.peak_bytes is None else size_text(total.peak_bytes),
                    f"{total.elapsed:.3f} s",
                    seconds_text(total.seconds),
                ]
            )
        return lines

    def _cells(self, row: ExplainedCall) -> list[str]:
        return [
            _short(row.name),
            row.type,
            row.shape or "-",
            row.strategy,
            row.reach_before or "nothing",
            row.reach_after or "nothing",
            row.frame or "its own",
        ]


def _short(name: str) -> str:
    """Cut a name that would widen the whole table; the line below it has it in full."""
    return name if len(name) <= _NAME_WIDTH else name[: _NAME_WIDTH - 3] + "..."


def _folded(text: str, indent: int) -> list[str]:
    """Fold a long line; what follows the first line stands further in."""
    return textwrap.wrap(
        text,
        _WIDTH,
        initial_indent=" " * indent,
        subsequent_indent=" " * (indent + 4),
        break_long_words=False,
        break_on_hyphens=False,
    )


def _says_frame(call: str) -> bool:
    return any(f" {units} " in call for units in ("ROWS", "RANGE", "GROUPS"))


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    widths = [max(len(r[i]) for r in [heads, *rows]) for i in range(len(heads))]
    return ["  " + _line(cells, widths) for cells in (heads, ["-" * w for w in widths], *rows)]


def _html_heads(heads: Sequence[str]) -> str:
    return "<thead><tr>" + "".join(f"<th style='text-align:left'>{h}</th>" for h in heads) + "</tr></thead>"


def _html_cells(cells: Sequence[str]) -> str:
    return "".join(f"<td style='text-align:left'>{html.escape(c)}</td>" for c in cells)


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    return "  ".join(c.ljust(w) for c, w in zip(cells, widths, strict=True)).rstrip()
