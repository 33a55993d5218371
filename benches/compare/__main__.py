"""The command line: checks that all answers agree, takes times and peaks, writes the report."""

from __future__ import annotations

import argparse
import gc
import signal
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .engines import ENGINES, Engine, limit_threads, versions

if TYPE_CHECKING:
    from .cases import Case
    from .data import Shape
    from .report import Line, Record
    from .suites import Suite

RECORD = Path(__file__).parents[1] / "record"
#: Answers are compared at the size that is timed, up to this one.
CHECKED_ROWS = 1_000_000


def _names(text: str) -> list[str]:
    return [name for name in text.split(",") if name]


def _number(text: str, least: int = 1) -> int:
    number = int(float(text))
    if number < least:
        raise argparse.ArgumentTypeError(f"must be at least {least}")
    return number


def _count(text: str) -> int:
    return _number(text, least=0)


def parse(argv: Sequence[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="python -m benches.compare", description="windrow beside its peers.")
    parser.add_argument("--suite", choices=["cases", "h2o", "exact", "all"], default="all")
    parser.add_argument("--cases", type=_names, metavar="A,B", help="cases or h2o queries by name (default: all)")
    parser.add_argument("--engines", type=_names, metavar="A,B", help=f"rivals, of {', '.join(list(ENGINES)[1:])}")
    parser.add_argument("--shapes", type=_names, metavar="A,B", help="shapes by name, as 1M-100,10M-100K-sorted")
    parser.add_argument("--rows", type=_number, help="one shape of one's own, shuffled and sorted: its rows")
    parser.add_argument("--keys", type=_number, help="and its partitions (default 100)")
    parser.add_argument("--h2o-rows", type=_number, metavar="N", help="rows of the h2o table (default 1e7; quick 1e6)")
    parser.add_argument("--threads", type=_number, default=2, help="threads of each engine (default 2)")
    parser.add_argument("--repeat", type=_count, help="runs of each (default 5; quick 3; 0: none); more if short")
    parser.add_argument("--quick", action="store_true", help="only 1M rows in 100 partitions, fewer runs, no memory")
    parser.add_argument("--check", action="store_true", help="only see whether the answers agree")
    parser.add_argument("--memory", action=argparse.BooleanOptionalAction, help="peak memory (default: unless quick)")
    parser.add_argument("--output", type=Path, default=RECORD, metavar="DIR", help="where to write (benches/record)")
    args = parser.parse_args(argv)
    if args.repeat is None:
        args.repeat = 3 if args.quick else 5
    args.h2o_rows = args.h2o_rows or (1_000_000 if args.quick else 10_000_000)
    args.memory = not args.quick if args.memory is None else args.memory
    rivals = args.engines or list(ENGINES)
    if unknown := set(rivals) - set(ENGINES):
        parser.error(f"no engine {', '.join(sorted(unknown))}; there are {', '.join(ENGINES)}")
    args.engines = ["windrow", *(name for name in ENGINES if name in rivals and name != "windrow")]
    if args.keys and not args.rows:
        parser.error("--keys goes with --rows")
    return args


class Interrupt:
    """Ctrl-C as a KeyboardInterrupt, also where an engine turns that into an error of its own."""

    def __init__(self) -> None:
        self.asked = False
        signal.signal(signal.SIGINT, self._ask)

    def _ask(self, *_: object) -> None:
        self.asked = True
        raise KeyboardInterrupt

    @contextmanager
    def failures_of(self, what: str, record: Record) -> Iterator[None]:
        """Note an error, even a panic in Rust, as a failure of the run; let an interrupt pass."""
        try:
            yield
        except BaseException as error:  # a panic is not an Exception
            if self.asked or isinstance(error, KeyboardInterrupt):
                raise KeyboardInterrupt from error
            record.failures.append(f"{what} failed: {str(error)[:300]}")
            _say(f"  {record.failures[-1]}")


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def questions(args: argparse.Namespace) -> Iterator[tuple[Suite, Case, Shape, str, str]]:
    """Give each case with its shape, that shape's name and its title."""
    from . import data
    from .suites import SUITES

    chosen = [suite for suite in SUITES.values() if args.suite in (suite.name, "all")]
    known = {case.name for suite in chosen for case in suite.cases}
    if unknown := set(args.cases or []) - known:
        raise SystemExit(f"no case {', '.join(sorted(unknown))}; there are {', '.join(sorted(known))}")
    shapes = data.SHAPES[:2] if args.quick else data.SHAPES
    if args.rows:
        shapes = [data.Shape(args.rows, args.keys or 100, ordered) for ordered in (False, True)]
    if args.shapes:
        if unknown := set(args.shapes) - {shape.name for shape in shapes}:
            raise SystemExit(f"no shape {', '.join(sorted(unknown))}; there are {', '.join(s.name for s in shapes)}")
        shapes = [shape for shape in shapes if shape.name in args.shapes]
    for suite in chosen:
        if suite.name == "h2o":
            rows = data.Shape(args.h2o_rows, max(10, args.h2o_rows // 1000))
            asked = [(rows, f"h2o-{data.short(rows.rows)}", f"h2o window queries, {data.short(rows.rows)} rows")]
        else:
            asked = [(shape, shape.name, shape.title) for shape in shapes]
        for shape, name, title in asked:
            for case in suite.cases:
                if not args.cases or case.name in args.cases:
                    yield suite, case, shape, name, title


def check(
    suite: Suite, case: Case, shape: Shape, name: str, engines: list[Engine], record: Record, interrupt: Interrupt
) -> dict[str, str]:
    """Compare the rivals' answers with windrow's; give the reasons of known faults by engine.

    An engine that fails is a failure of the run, and is taken out of ``engines``.
    """
    from . import agree

    table = suite.table(case, shape.at_most(CHECKED_ROWS))
    largest = agree.magnitude(table, case)
    marks: dict[str, str] = {}
    expected = None
    for engine in list(engines):
        answer = None
        with interrupt.failures_of(f"{case.name}, {name}: {engine.name}", record):
            answer = engine.run(engine.prepare(table), case, ids=True)
        if answer is None:
            engines.remove(engine)
            continue
        if engine.name == "windrow":
            expected = answer
            continue
        if expected is None:
            break
        record.checked += 1
        for difference in agree.compare(case, name, engine.name, expected, answer, largest):
            if fault := agree.fault_of(difference):
                marks[engine.name] = fault.reason
            else:
                record.failures.append(str(difference))
                _say(f"  {difference}")
        del answer
    return marks


def take(
    suite: Suite, case: Case, shape: Shape, engines: Sequence[Engine], args: argparse.Namespace, line: Line
) -> None:
    """Take times and peaks of a case."""
    from . import measure, memory

    def run(engine: Engine, frame: Any) -> Any:
        return lambda: engine.run(frame, case)

    if args.repeat:
        table = suite.table(case, shape)
        prepared = [(engine, engine.prepare(table)) for engine in engines]
        line.times = measure.clock({engine.name: run(engine, frame) for engine, frame in prepared}, args.repeat)
        del prepared, table
        gc.collect()
    if args.memory and memory.available():
        for engine in engines:
            asked = (shape.rows, shape.keys, shape.ordered)
            bytes_ = memory.peak(suite.name, case.name, engine.name, asked, args.threads)
            if bytes_ is not None:
                line.peaks[engine.name] = bytes_


def compare(args: argparse.Namespace, record: Record, interrupt: Interrupt) -> None:
    """Go through all questions."""
    from .report import Line

    engines = [ENGINES[name](args.threads) for name in args.engines]
    asked = list(questions(args)) if args.suite != "exact" else []
    start = time.monotonic()
    for number, (suite, case, shape, name, title) in enumerate(asked, 1):
        _say(f"[{number}/{len(asked)}, {time.monotonic() - start:.0f} s] {name}: {case.title}")
        able = [engine for engine in engines if case.said_by(engine.name)]
        marks = check(suite, case, shape, name, able, record, interrupt)
        if args.check:
            continue
        line = Line(
            suite.name,
            name,
            title,
            case.name,
            case.title,
            shape.rows,
            shape.keys,
            shape.ordered,
            case.one_call and suite.name == "cases",
            marks=marks,
        )
        record.lines.append(line)
        with interrupt.failures_of(f"{case.name}, {name}: taking times", record):
            take(suite, case, shape, able, args, line)
        shown = ", ".join(
            f"{engine} {1e3 * measured:.1f}" for engine in line.times if (measured := line.median(engine))
        )
        if args.repeat:
            _say(f"  {shown} ms; ratio {line.ratio or float('nan'):.2f}")
    if args.suite in ("exact", "all") and not args.cases:
        from . import exactness

        for errors in exactness.measure(engines):
            record.errors.append(errors)
            if errors.engine == "windrow" and errors.failed:
                record.failures.append(f"exactness: windrow's {errors.function} of {errors.data}: {errors}")


def main(argv: Sequence[str] | None = None) -> int:
    """Run; 1 if an answer is wrong, 130 if interrupted."""
    args = parse(argv)
    limit_threads(args.threads)
    from .report import Record

    record = Record(args.engines, versions(), args.threads)
    interrupted = False
    try:
        compare(args, record, Interrupt())
        record.complete = True
    except KeyboardInterrupt:
        interrupted = True
        _say("interrupted; writing what there is")
    if args.check:
        print("\n".join(record.exactness() if record.errors else []))
        print(f"{record.checked} answers of rivals compared with windrow's, {len(record.failures)} failures")
        print("\n".join(record.failures))
    elif record.lines or record.errors:
        record.write(args.output)
        print(record.text())
        _say(f"written to {args.output}")
    return 130 if interrupted else int(bool(record.failures))


if __name__ == "__main__":
    sys.exit(main())
