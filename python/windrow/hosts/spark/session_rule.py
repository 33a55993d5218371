"""A Spark session whose optimizer has windrow compute windows: of every query, or the calls of ``with_columns`` alone.

Spark runs the rules of ``session.experimental().extraOptimizations()`` last in its optimizer. Ours is a Java class
(java/SessionRule.java) that hands plans with windows to Python: as one text, to which Python answers by another. If
Python fails, the plan comes back unchanged.
"""

from __future__ import annotations

import json
import logging
import os
import warnings
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from importlib import import_module
from threading import Lock
from typing import Any

from ..._model.expressions import is_instance_by_name
from ...exceptions import SpecError, UnsupportedError, shown
from ...settings import ENGINES, Engine, captured, config
from .catalyst_node import windows_of
from .compiled import make
from .jvm import is_classic_session, is_set, jvm_session, session_key, set_optimizer_rule
from .optimized_windows import ChainPlanner, answers_of, planned_chains
from .releases import check_release
from .session import BATCH_BYTES, MOST_BATCH_BYTES, spark_setting

__all__ = ["accelerated", "disable", "enable", "executor_faults", "install", "is_enabled", "pins_threads"]

_RULE = "windrow.SessionRule"
# The most plans without a window for windrow that are remembered, so that they are tried once.
_REMEMBERED = 1000


def install(session: Any) -> None:
    """Put a rule into a session's optimizer by which windrow computes its own calls, and leaves Spark's windows.

    A session that has one stays as it is; one that is enabled for a block has this one behind the block.
    """
    with _changing:
        enabled = _sessions.get(session_key(session))
        has_own = enabled is not None and enabled.own is not None
    if has_own and make("windrow.WindowColumns", jvm_session(session)).hasRule():
        return
    with _rules_of(session):
        _sessions[session_key(session)].own = _Rule(session, None, "with_columns()", only_calls=True)


def enable(session: Any, engine: Engine | None) -> None:
    """Do what :func:`windrow.spark.enable` says."""
    _check(session, "enable()")
    rule = _Rule(session, engine, "enable()")
    with _rules_of(session) as rules:
        rules[:] = [rule]


def disable(session: Any) -> None:
    """Do what :func:`windrow.spark.disable` says."""
    _check(session, "disable()")
    with _rules_of(session) as rules:
        rules.clear()


def accelerated(session: Any, engine: Engine | None) -> AbstractContextManager[None]:
    """Do what :func:`windrow.spark.accelerated` says."""
    _check(session, "accelerated()")
    return _accelerated(session, _Rule(session, engine, "accelerated()"))


@contextmanager
def _accelerated(session: Any, rule: _Rule) -> Iterator[None]:
    with _rules_of(session) as rules:
        rules.append(rule)
    try:
        yield
    finally:
        with _rules_of(session) as rules:
            if rule in rules:  # enable and disable remove the rules of blocks, too
                rules.remove(rule)


@dataclass(slots=True)
class _Enabled:
    """What a session has: rules, the last of which is in force, and whether windrow raised the limit of batches.

    Without rules that of windrow's own calls is in force, which stays: frames may be planned at any time.
    """

    rules: list[_Rule] = field(default_factory=list)
    own: _Rule | None = None
    raised_limit: bool = False


_sessions: dict[str, _Enabled] = {}
_changing = Lock()


@contextmanager
def _rules_of(session: Any) -> Iterator[list[_Rule]]:
    """Give a session's rules to change within a block; afterwards the last of them is in force."""
    key = session_key(session)
    with _changing:
        enabled = _sessions.setdefault(key, _Enabled())
        yield enabled.rules
        rule = enabled.rules[-1] if enabled.rules else enabled.own
        set_optimizer_rule(session, _RULE, None if rule is None else rule.java_rule)
        if not enabled.rules:
            if enabled.raised_limit and spark_setting(session, BATCH_BYTES) == MOST_BATCH_BYTES:
                session.conf.unset(BATCH_BYTES)
            enabled.raised_limit = False
            if enabled.own is None:
                del _sessions[key]
        elif not enabled.raised_limit and not is_set(session, BATCH_BYTES) and spark_setting(session, BATCH_BYTES):
            enabled.raised_limit = True
            session.conf.set(BATCH_BYTES, MOST_BATCH_BYTES)
            logging.getLogger("windrow").info("%s is at its maximum until wr.spark.disable", BATCH_BYTES)


def executor_faults(session: Any) -> list[str]:
    """Run one small job that imports windrow on the executors.

    Parameters
    ----------
    session
        A session of Spark Classic.

    Returns
    -------
    list of str
        A line for each other version, and for each error of importing it; empty where all have the driver's.
    """
    _check(session, "check()")
    own = str(import_module("windrow._windrow").__version__)

    def look(_: int) -> str:  # pickled by value: executors may lack the package
        try:
            from importlib import import_module

            import_module("windrow")
            found = str(import_module("windrow._windrow").__version__)
        except Exception as error:
            return f"{type(error).__name__}: {error}"
        return "" if found == own else f"version {found}, and the driver has {own}"

    context = session.sparkContext
    tasks = context.defaultParallelism
    found = context.parallelize(range(tasks), tasks).map(look).collect()
    return sorted({fault for fault in found if fault})


def is_enabled(session: Any) -> bool:
    """Whether windrow computes the windows of all of a session's queries."""
    with _changing:
        enabled = _sessions.get(session_key(session))
        return enabled is not None and bool(enabled.rules)


def _check(session: Any, call: str) -> None:
    if not is_instance_by_name(session, "pyspark.sql", "SparkSession"):
        advice = "; write frame.sparkSession" if hasattr(session, "sparkSession") else ""
        raise SpecError(f"{call} takes a SparkSession, not {type(session).__name__}{advice}")
    if not is_classic_session(session):
        raise UnsupportedError(
            f"{call} needs a session of Spark Classic: Spark Connect plans on the server. Give wr.with_columns the "
            "window columns, or wr.sql the query, which work there too"
        )


def pins_threads() -> bool:
    """Whether PySpark has a thread of the JVM for each of Python's, so that the optimizer may call back."""
    return os.environ.get("PYSPARK_PIN_THREAD", "true").lower() == "true"


def _check_release(call: str) -> None:
    check_release(call, (3, 5))
    if not pins_threads():
        raise UnsupportedError(
            f"{call} needs PySpark's default of one JVM thread for each Python thread; the environment has "
            "PYSPARK_PIN_THREAD=false"
        )


class _Rule:
    """What the Java class calls: takes an optimized plan, and gives it with windrow's nodes."""

    def __init__(self, session: Any, engine: Engine | None, call: str, *, only_calls: bool = False) -> None:
        _check_release(call)
        if engine is not None and engine not in ENGINES:
            raise SpecError(f"engine={shown(engine)} is none of {', '.join(map(repr, ENGINES))}")
        self._session = session
        self._only_calls = only_calls
        # the optimizer calls from a thread of its own, and at any time: the settings are those of now
        with config():
            if engine is not None:
                config(engine=engine)
            self._context = captured()
        self.java_rule = make(_RULE, self, only_calls)
        self._lock = Lock()
        self._told: set[str] = set()
        # in the order in which they came
        self._untouched: dict[Any, None] = {}
        self._checking = Lock()
        self._ready: bool | None = None

    def apply(self, reader: Any) -> Any:
        """Give a plan with its windows replaced where windrow computes them; never raises.

        None leaves the plan to Spark; a text is what is wrong, which Spark raises if there are calls of windrow's.
        """
        read: dict[str, Any] = {}
        try:
            read |= windows_of(reader)
            return self._context.copy().run(self._apply, reader, read)
        except Exception as error:
            if read.get("calls"):
                return str(error)
            first_line = str(error).strip().partition("\n")[0]
            self._tell(f"a query is left to Spark, as planning it raised {type(error).__name__}: {first_line}")
            return None if read else str(error)  # then the JVM knows whether there are calls

    class Java:
        """The interface of the JVM that this object implements."""

        implements = ("scala.Function1",)

    def _apply(self, reader: Any, read: Mapping[str, Any]) -> Any:
        key = _identity(read)
        with self._lock:
            if key in self._untouched and not read["calls"]:
                return None
        only_calls = self._only_calls or read["streaming"] or not self._executors_are_ready()
        if only_calls and not read["calls"]:
            return None
        planners = [ChainPlanner(chain, read, only_calls=only_calls) for chain in read["chains"]]
        answers, functions = answers_of(planned_chains(planners))
        for planner in planners:
            for line in planner.refusals:
                self._tell(f"a window is left to Spark: {line}")
        if any(answers):
            return reader.replaced(json.dumps(answers), functions)
        with self._lock:
            self._untouched[key] = None
            if len(self._untouched) > _REMEMBERED:
                del self._untouched[next(iter(self._untouched))]
        return None

    def _executors_are_ready(self) -> bool:
        with self._checking:
            if self._ready is None:
                faults = executor_faults(self._session)
                self._ready = not faults
                if faults:
                    self._tell(
                        f"all windows are left to Spark: executors cannot import this windrow ({'; '.join(faults)}); "
                        "ship a packed environment with --archives, or install it there (see wr.spark.check)"
                    )
            return self._ready

    def _tell(self, text: str) -> None:
        with self._lock:
            if text in self._told:
                return
            self._told.add(text)
        try:
            warnings.warn(f"windrow: {text}", UserWarning, stacklevel=2)
        except UserWarning:  # by the user's filters; no query fails by that
            logging.getLogger("windrow").warning(text)


def _identity(read: Mapping[str, Any]) -> tuple[Any, ...]:
    """Give what decides whether a plan is left to Spark: itself, settings, and how much comes to its windows."""
    amounts = [(chain["bytes"], chain["most_rows"], chain["rows"], chain["limited"]) for chain in read["chains"]]
    return (read["hash"], *read["python"].items(), read["ansi"], read["timezone"], read["tasks"], *amounts)
