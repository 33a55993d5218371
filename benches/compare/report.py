"""What was measured: ratios, targets, tables, the plot, and a row per run for the record."""

from __future__ import annotations

import json
import math
import platform
import subprocess
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from . import measure, picture
from .exactness import Errors

__all__ = ["Line", "Record", "Target", "targets"]

ROOT = Path(__file__).parents[2]
MIB = 1024 * 1024
#: How each engine is drawn, ours last and on top.
COLOURS = dict(reversed(picture.COLOURS.items()))


@dataclass
class Line:
    """A case on a shape: each engine's times in seconds and its peak in bytes.

    ``marks`` has the reason why an engine's answer is known to be another one.
    """

    suite: str
    shape: str
    title: str
    case: str
    label: str
    rows: int
    keys: int
    ordered: bool
    one_call: bool
    times: dict[str, list[float]] = field(default_factory=dict)
    peaks: dict[str, int] = field(default_factory=dict)
    marks: dict[str, str] = field(default_factory=dict)

    def median(self, engine: str) -> float | None:
        """Give an engine's median in seconds."""
        return measure.median(self.times[engine]) if self.times.get(engine) else None

    @property
    def best_rival(self) -> str | None:
        """The rival of the least median."""
        rivals = {name: measure.median(times) for name, times in self.times.items() if name != "windrow" and times}
        return min(rivals, key=rivals.__getitem__, default=None)

    @property
    def ratio(self) -> float | None:
        """The median of windrow by the best rival's."""
        ours = self.median("windrow")
        best = self.best_rival
        theirs = self.median(best) if best else None
        return ours / theirs if ours is not None and theirs else None


@dataclass(frozen=True)
class Target:
    """Something to reach: ``worst`` is the value farthest from it, ``missed`` names where it was missed."""

    text: str
    limit: float
    worst: float | None = None
    missed: Sequence[str] = ()
    of: int = 0

    def __str__(self) -> str:
        """Give the target, whether it is met, and by how much not."""
        if self.worst is None:
            return f"not measured: {self.text}"
        verdict = "met" if not self.missed else f"NOT met in {len(self.missed)} of {self.of}"
        where = f"; {', '.join(self.missed[:8])}{' ...' if len(self.missed) > 8 else ''}" if self.missed else ""
        return f"{verdict}: {self.text} (worst {self.worst:.2f}, limit {self.limit:g}){where}"


def geometric_mean(values: Iterable[float]) -> float | None:
    """Give the geometric mean, None of nothing."""
    logs = [math.log(value) for value in values]
    return math.exp(math.fsum(logs) / len(logs)) if logs else None


def _target(text: str, limit: float, found: Iterable[tuple[str, float]]) -> Target:
    """Hold values, each with its place, against a limit; the worst place comes first."""
    ranked = sorted(found, key=lambda place: -place[1])
    missed = [f"{name} {value:.2f}" for name, value in ranked if value > limit]
    return Target(text, limit, ranked[0][1] if ranked else None, missed, len(ranked))


def targets(lines: Sequence[Line]) -> list[Target]:
    """Hold what was measured against what is to be reached."""
    place = {id(line): f"{line.case} {line.shape}" for line in lines}
    ratios = [(line, line.ratio) for line in lines]
    known = [(place[id(line)], line, ratio) for line, ratio in ratios if ratio is not None]
    mean = geometric_mean(ratio for _, _, ratio in known)
    ours = [
        (line, time)
        for line in lines
        if line.suite == "cases" and (time := line.median("windrow")) is not None and time
    ]
    at = {(line.case, line.rows, line.keys, line.ordered): time for line, time in ours}

    def against(rows: int, keys: int, other_rows: int, other_keys: int) -> list[tuple[str, float]]:
        return [
            (place[id(line)], time / other)
            for line, time in ours
            if (line.rows, line.keys) == (rows, keys)
            and (other := at.get((line.case, other_rows, other_keys, line.ordered))) is not None
        ]

    return [
        _target("every case and shape, by the best rival's time", 0.5, [(name, ratio) for name, _, ratio in known]),
        _target("geometric mean of the ratios", 0.25, [("all", mean)] if mean is not None else []),
        _target(
            "already sorted input, by the best rival's time",
            0.15,
            [(name, ratio) for name, line, ratio in known if line.ordered],
        ),
        _target(
            "eight calls on one window, by one sum(v) of that window",
            2.5,
            [
                (line.shape, time / one)
                for line, time in ours
                if line.case == "eight_calls"
                and (one := at.get(("sum_v", line.rows, line.keys, line.ordered))) is not None
            ],
        ),
        _target(
            "peak memory of one call beyond input and output, by 24 bytes a row and 64 MiB",
            1.0,
            [
                (place[id(line)], line.peaks["windrow"] / (24 * line.rows + 64 * MIB))
                for line in lines
                if line.one_call and "windrow" in line.peaks
            ],
        ),
        _target("10M rows in 100K partitions, by 1M rows in 100", 12.0, against(10_000_000, 100_000, 1_000_000, 100)),
        _target("200K partitions, by 100 partitions of as many rows", 2.0, against(1_000_000, 200_000, 1_000_000, 100)),
    ]


def _aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """A Markdown table whose columns stand under each other, numbers to the right."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]

    def line(row: Sequence[str]) -> str:
        cells = [
            text.ljust(width) if not i else text.rjust(width)
            for i, (text, width) in enumerate(zip(row, widths, strict=True))
        ]
        return f"| {' | '.join(cells)} |"

    rule = "|".join(["-" * (widths[0] + 2), *("-" * (width + 1) + ":" for width in widths[1:])])
    return [line(rows[0]), f"|{rule}|", *(line(row) for row in rows[1:])]


def _ms(seconds: float) -> str:
    return f"{seconds * 1e3:,.1f}" if seconds < 0.1 else f"{seconds * 1e3:,.0f}"


@dataclass
class Record:
    """A run: where and of what, its lines, and what went wrong."""

    engines: Sequence[str]
    versions: dict[str, str]
    threads: int
    lines: list[Line] = field(default_factory=list)
    errors: list[Errors] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)
    checked: int = 0
    complete: bool = False
    date: str = field(default_factory=lambda: datetime.now(timezone.utc).strftime("%Y-%m-%d %H:%M UTC"))
    commit: str = field(default_factory=lambda: _commit())

    def header(self) -> list[str]:
        """Say when, on what and with what versions."""
        processor = _processor()
        versions = ", ".join(f"{name} {number}" for name, number in self.versions.items())
        return [
            "# windrow beside its peers",
            "",
            f"{self.date}, commit {self.commit}, {processor}, {self.threads} threads each. {versions}.",
            "",
            "Medians in milliseconds over runs that alternate in one process; ratio is windrow's median by the best",
            "rival's. Peak is memory beyond input and result, in MiB (and bytes per row for windrow). `-`: the engine",
            "has no way to say the case. `*`: its answer differs in a known way, named below.",
            *([] if self.complete else ["", "**The run was ended early; this is what it had measured.**"]),
            "",
        ]

    def tables(self) -> list[str]:
        """Give a table per shape."""
        text: list[str] = []
        for title in dict.fromkeys(line.title for line in self.lines):
            lines = [line for line in self.lines if line.title == title]
            memory = any(line.peaks for line in lines)
            peaks = ["windrow MiB", "B/row", *(f"{name} MiB" for name in self.engines if name != "windrow")]
            rows = [["case", *self.engines, "ratio", *(peaks if memory else [])]]
            rows += [[line.label, *self._cells(line), *(self._peaks(line) if memory else [])] for line in lines]
            text += [f"## {title}", "", *_aligned(rows), ""]
            ratios = [ratio for line in lines if (ratio := line.ratio) is not None]
            if (mean := geometric_mean(ratios)) is not None:
                lost = [
                    f"{line.label} ({line.ratio:.2f}, {line.best_rival})" for line in lines if (line.ratio or 0) >= 1
                ]
                text += [f"Geometric mean {mean:.2f}, worst {max(ratios):.2f}. Lost: {', '.join(lost) or 'none'}.", ""]
        return text

    def _cells(self, line: Line) -> list[str]:
        cells = []
        for name in self.engines:
            seconds = line.median(name)
            cells.append("-" if seconds is None else _ms(seconds) + ("*" if name in line.marks else ""))
        return [*cells, "-" if line.ratio is None else f"{line.ratio:.2f}"]

    def _peaks(self, line: Line) -> list[str]:
        ours = line.peaks.get("windrow")
        mib = {name: f"{size / MIB:,.0f}" for name, size in line.peaks.items()}
        return [
            mib.get("windrow", "-"),
            "-" if ours is None else f"{ours / line.rows:.0f}",
            *(mib.get(name, "-") for name in self.engines if name != "windrow"),
        ]

    def summary(self) -> list[str]:
        """Say what was reached, what was not, and what went wrong."""
        text = ["## Targets", ""]
        ratios = [ratio for line in self.lines if (ratio := line.ratio) is not None]
        if (mean := geometric_mean(ratios)) is not None:
            lost = sum(ratio >= 1 for ratio in ratios)
            text += [
                f"Of {len(ratios)} comparisons windrow won {len(ratios) - lost} and lost {lost}. "
                f"Geometric mean of the ratios {mean:.3f}, worst {max(ratios):.2f}.",
                "",
            ]
        text += [f"- {target}" for target in targets(self.lines)]
        ulps = [errors for errors in self.errors if errors.engine == "windrow" and errors.function != "stddev_samp"]
        if ulps:
            worst = max(ulps, key=lambda errors: errors.ulps)
            bad = sum(errors.failed for errors in ulps)
            text.append(
                f"- {'NOT met' if bad else 'met'}: float sums and means within 4 units in the last place of the exact "
                f"result (worst {worst.ulps:.1f}, {worst.function} of {worst.data})"
            )
        else:
            text.append("- not measured: float sums and means within 4 units in the last place of the exact result")
        marks = {f"{name}, {line.label}: {why}" for line in self.lines for name, why in line.marks.items()}
        if marks:
            text += ["", "## Known differences of the rivals (`*`)", "", *(f"- {mark}" for mark in sorted(marks))]
        if self.errors:
            text += ["", "## Errors of float results", "", *self.exactness()]
        text += ["", f"{self.checked} answers of rivals were compared with windrow's."]
        if self.failures:
            text += ["", "## Failures", "", *(f"- {failure}" for failure in self.failures)]
        return [*text, ""]

    def exactness(self) -> list[str]:
        """Give the errors as a table: units in the last place / absolute / zero frames that are not 0."""
        rows = [["data, function", *self.engines]]
        for key in dict.fromkeys((errors.data, errors.function) for errors in self.errors):
            found = {errors.engine: errors for errors in self.errors if (errors.data, errors.function) == key}
            rows.append([f"{key[0]}, {key[1]}", *(str(found.get(name, "-")) for name in self.engines)])
        return [
            "Greatest error against exact fractions in units in the last place / absolute; zeros: frames of exactly 0",
            "that came out as something else.",
            "",
            *_aligned(rows),
        ]

    def text(self) -> str:
        """Give the whole report as Markdown, which is what the terminal shows, too."""
        return "\n".join([*self.header(), *self.tables(), *self.summary()])

    def row(self) -> dict[str, Any]:
        """Give the run as one row of the record."""
        return {
            "date": self.date,
            "commit": self.commit,
            "processor": _processor(),
            "threads": self.threads,
            "versions": self.versions,
            "complete": self.complete,
            "failures": len(self.failures),
            "cases": [
                {
                    "suite": line.suite,
                    "shape": line.shape,
                    "case": line.case,
                    "median_ms": {
                        name: round(1e3 * seconds, 3)
                        for name in line.times
                        if (seconds := line.median(name)) is not None
                    },
                    "best_ms": {name: round(1e3 * min(times), 3) for name, times in line.times.items() if times},
                    "ratio": None if line.ratio is None else round(line.ratio, 4),
                    "peak_bytes": line.peaks,
                }
                for line in self.lines
            ],
        }

    def write(self, directory: Path) -> None:
        """Write ``latest.md``, ``latest.svg`` and the README's picture, and append to ``runs.jsonl``."""
        directory.mkdir(parents=True, exist_ok=True)
        (directory / "latest.md").write_text(self.text(), encoding="utf-8")
        with (directory / "runs.jsonl").open("a", encoding="utf-8") as runs:
            runs.write(json.dumps(self.row()) + "\n")
        if any(line.times for line in self.lines):
            self.plot(directory / "latest.svg")
            picture.write(self.row(), directory)

    def plot(self, path: Path) -> None:
        """Draw the medians: a field per shape, a line per case, a dot per engine, time on a log scale."""
        import matplotlib as mpl

        mpl.use("svg")
        mpl.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "windrow", "font.size": 9})
        from matplotlib import pyplot as plt

        titles = list(dict.fromkeys(line.title for line in self.lines if line.times))
        groups = [[line for line in self.lines if line.title == title and line.times] for title in titles]
        columns = min(2, len(groups))
        pairs = [groups[start : start + columns] for start in range(0, len(groups), columns)]
        heights = [1.3 + 0.24 * max(len(group) for group in pair) for pair in pairs]
        figure, grid = plt.subplots(
            len(pairs),
            columns,
            figsize=(8.0 * columns, sum(heights) + 0.8),
            squeeze=False,
            layout="constrained",
            height_ratios=heights,
        )
        for title, group, axes in zip(titles, groups, grid.flat, strict=False):
            for name in [name for name in COLOURS if name in self.engines]:
                points = [(1e3 * seconds, -y) for y, line in enumerate(group) if (seconds := line.median(name))]
                ours = name == "windrow"
                axes.scatter(
                    [x for x, _ in points],
                    [y for _, y in points],
                    s=70 if ours else 30,
                    marker="D" if ours else "o",
                    color=COLOURS[name],
                    label=name,
                    zorder=4 if ours else 3,
                )
            axes.set_xscale("log")
            axes.xaxis.set_major_formatter(lambda x, _: f"{x:,g}")
            axes.set_title(title, loc="left", fontweight="bold")
            axes.set_yticks([-y for y in range(len(group))], [line.label for line in group])
            axes.set_ylim(-len(group) + 0.4, 0.6)
            axes.set_xlabel("milliseconds, median, log scale")
            axes.grid(axis="x", which="major", color="#cccccc")
            axes.grid(axis="x", which="minor", color="#eeeeee")
            axes.grid(axis="y", color="#eeeeee")
            axes.set_axisbelow(True)
            axes.spines[["top", "right", "left"]].set_visible(False)
            axes.tick_params(axis="y", length=0)
        for axes in list(grid.flat)[len(groups) :]:
            axes.set_visible(False)
        handles, labels = grid.flat[0].get_legend_handles_labels()
        figure.legend(handles[::-1], labels[::-1], loc="outside upper left", ncols=len(labels), frameon=False)
        figure.savefig(path, metadata={"Date": None} if path.suffix == ".svg" else None)
        plt.close(figure)


def _commit() -> str:
    """The commit, with a + if files that git knows have changed."""
    try:
        done = subprocess.run(
            ["git", "describe", "--always", "--dirty=+", "--exclude=*"],
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=True,
        )
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return done.stdout.strip()


def _processor() -> str:
    """The processor's name and its number of cores' threads."""
    import os

    name = platform.processor() or platform.machine()
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                name = line.split(":", 1)[1].strip()
                break
    except OSError:
        pass
    return f"{name} ({os.cpu_count()} CPUs)"
