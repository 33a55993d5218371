"""The JVM's objects behind Spark Classic: how they are reached, made and read.

All of PySpark's ``_j...`` attributes are used here, and nowhere else. Other modules walk the plans and expressions that
they are given from here.
"""

from __future__ import annotations

import datetime as dt
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from threading import get_ident
from typing import Any

from ..._model.expressions import is_instance_by_name
from ..._model.intervals import Interval
from ..._model.names import quoted
from ...exceptions import SpecError, UnsupportedError

__all__ = [
    "analyzed_plan",
    "class_of",
    "column_of",
    "compiled_classes",
    "concurrent_tasks",
    "constructor_of",
    "converted",
    "dataframe_of",
    "depth_limited",
    "executed_plan",
    "expression_id",
    "expression_of",
    "has_windows",
    "inline_ctes",
    "is_classic",
    "is_classic_session",
    "is_descending",
    "is_generated",
    "is_of_nodes",
    "is_set",
    "items",
    "jvm_key",
    "jvm_session",
    "new_object",
    "optimized_plan",
    "parameterised",
    "parsed_expression",
    "parsed_plan",
    "plan_bytes",
    "plan_with_cache",
    "python_function",
    "query_execution",
    "refused",
    "relation_names",
    "session_key",
    "set_optimizer_rule",
    "shuffle_partitions",
    "to_seq",
    "unresolved_attribute",
    "value_of",
    "with_frames",
    "with_identities",
    "with_new_ids",
    "within_group",
]

# what py4j gives as Python's own
_PYTHON_VALUES = ("BooleanType", "ByteType", "DoubleType", "FloatType", "IntegerType", "LongType", "ShortType")


# -------------------------------------------------------------------------------------------- frames, columns and plans
def is_classic(frame: Any) -> bool:
    """Whether a DataFrame is Spark Classic's: Connect's plans are the server's."""
    return hasattr(frame, "_jdf")


def is_classic_session(session: Any) -> bool:
    """Whether a session is Spark Classic's."""
    return hasattr(session, "_jsparkSession")


def is_generated(frame: Any) -> bool:
    """Whether an expression of a DataFrame's last select makes several rows of one."""
    plan = analyzed_plan(frame)
    return class_of(plan) == "Project" and class_of(plan.child()) == "Generate"


def analyzed_plan(frame: Any) -> Any:
    """Give a DataFrame's analysed logical plan."""
    return frame._jdf.queryExecution().analyzed()


def has_windows(plan: Any) -> bool:
    """Whether a plan has a Window node, apart from its subqueries."""
    return bool(plan.containsPattern(_jvm().org.apache.spark.sql.catalyst.trees.TreePattern.WINDOW()))


def plan_with_cache(frame: Any) -> Any:
    """Give the same plan with what is cached in the place of what it was computed from."""
    return frame._jdf.queryExecution().withCachedData()


def query_execution(frame: Any) -> Any:
    """Give what plans and runs a DataFrame's query."""
    return frame._jdf.queryExecution()


def optimized_plan(frame: Any) -> Any:
    """Give a DataFrame's optimised logical plan."""
    return frame._jdf.queryExecution().optimizedPlan()


def executed_plan(frame: Any) -> Any:
    """Give a DataFrame's physical plan."""
    return frame._jdf.queryExecution().executedPlan()


def plan_bytes(plan: Any) -> int:
    """Give the bytes that Spark expects an optimised plan's rows to have."""
    return int(str(plan.stats().sizeInBytes()))


def shuffle_partitions(frame: Any) -> int:
    """Give the number of tasks behind an exchange that says none, as Spark plans it."""
    return int(frame._jdf.sparkSession().sessionState().conf().numShufflePartitions())


def concurrent_tasks(context: Any) -> int:
    """Give the number of tasks that can run at once."""
    scala = context._jsc.sc()
    return int(scala.maxNumConcurrentTasks(scala.resourceProfileManager().defaultResourceProfile()))


def dataframe_of(plan: Any, session: Any) -> Any:
    """Make a DataFrame of a logical plan."""
    try:
        from pyspark.sql.classic.dataframe import DataFrame

        dataset = _jvm().org.apache.spark.sql.classic.Dataset
    except ImportError:  # before Spark 4.0
        from pyspark.sql import DataFrame as DataFrame3

        return DataFrame3(_jvm().org.apache.spark.sql.Dataset.ofRows(session._jsparkSession, plan), session)
    return DataFrame(dataset.ofRows(session._jsparkSession, plan), session)


def jvm_session(session: Any) -> Any:
    """Give the JVM's session behind PySpark's."""
    return session._jsparkSession


def is_of_nodes(column: Any) -> bool:
    """Whether a Column is a tree of nodes: before Spark 4.0 it is a Catalyst expression."""
    return type(column).__module__ != "pyspark.sql.column"


def expression_of(column: Any) -> Any:
    """Give the node that a Column is, as it was written; before Spark 4.0 the Catalyst expression."""
    return column._jc.node() if is_of_nodes(column) else column._jc.expr()


def column_of(expression: Any) -> Any:
    """Make a Column of a Catalyst expression."""
    try:
        from pyspark.sql.classic.column import Column
    except ImportError:  # before Spark 4.0
        from pyspark.sql import Column as Column3

        return Column3(_jvm().org.apache.spark.sql.Column(expression))
    return Column(_jvm().org.apache.spark.sql.classic.ExpressionUtils.column(expression))


# ---------------------------------------------------------------------------------------------------------- optimizers
def compiled_classes(source: str) -> Any:
    """Compile Java classes by Spark's own compiler, Janino.

    Parameters
    ----------
    source
        Their text.

    Returns
    -------
    JavaObject
        The class loader that has them.
    """
    jvm = _jvm()
    compiler = jvm.org.codehaus.janino.SimpleCompiler()
    compiler.setParentClassLoader(jvm.java.lang.Thread.currentThread().getContextClassLoader())
    compiler.cook(source)
    return compiler.getClassLoader()


def jvm_key() -> int:
    """Return what identifies the JVM: another has none of the classes that one has compiled."""
    return id(_context()._gateway)


def constructor_of(loader: Any, name: str) -> Any:
    """Find the one constructor of a class, which may be given Python objects."""
    from pyspark.java_gateway import ensure_callback_server_started

    ensure_callback_server_started(_context()._gateway)  # type: ignore[no-untyped-call]
    [constructor] = loader.loadClass(name).getConstructors()
    return constructor


def new_object(constructor: Any, *arguments: Any) -> Any:
    """Make an object; Python objects may be among the arguments, which an array that py4j makes does not take."""
    return constructor.newInstance(_java_list(arguments).toArray())


def _java_list(values: Sequence[Any]) -> Any:
    made = _jvm().java.util.ArrayList()
    for value in values:
        made.add(value)
    return made


def set_optimizer_rule(session: Any, name: str, rule: Any) -> None:
    """Put a rule, or none, into a session's optimizer in place of those of a class; other rules stay."""
    experimental = session._jsparkSession.experimental()
    others = [r for r in items(experimental.extraOptimizations()) if str(r.getClass().getName()) != name]
    setter = "extraOptimizations_$eq"
    getattr(experimental, setter)(to_seq(others if rule is None else [*others, rule]))


def python_function(function: Any, schema: Any) -> Any:
    """Make what Spark's nodes call in a Python worker, of a function and the schema of what it returns."""
    from pyspark.sql.udf import _wrap_function

    return _wrap_function(_context(), function, schema)


def session_key(session: Any) -> str:
    """Return what identifies a session."""
    return str(session._jsparkSession.sessionUUID())


def is_set(session: Any, key: str) -> bool:
    """Whether a setting was given a value, by the session or when Spark was started."""
    return bool(session._jsparkSession.sessionState().conf().contains(key))


# ------------------------------------------------------------------------------------------------------- what is made
def to_seq(values: Iterable[Any]) -> Any:
    """Make a Scala Seq."""
    return _jvm().PythonUtils.toSeq(list(values))


def _option(value: Any) -> Any:
    """Make a Scala Option."""
    return _jvm().scala.Option.apply(value)


def _project(expressions: Sequence[Any], plan: Any) -> Any:
    """Make a Project upon a plan."""
    return _jvm().org.apache.spark.sql.catalyst.plans.logical.Project(to_seq(expressions), plan)


def _alias(source: Any, attribute: Any) -> Any:
    """Give an expression the name and the id of an attribute."""
    return _jvm().org.apache.spark.sql.catalyst.expressions.Alias(
        source,
        attribute.name(),
        attribute.exprId(),
        attribute.qualifier(),
        _option(attribute.metadata()),
        to_seq([]),
    )


def with_new_ids(frame: Any) -> Any:
    """Give the same DataFrame, whose columns have ids that no other plan has.

    Spark gives a column another id where one below has it already, so what is to have the frame's ids must not be put
    upon the frame itself.
    """
    # the analyser gives new ids to the right side of a join with itself
    return dataframe_of(analyzed_plan(frame.crossJoin(frame)).children().apply(1), frame.sparkSession)


def with_identities(frame: Any, source: Any, passing: Mapping[int, int]) -> Any:
    """Give columns of a DataFrame the ids, qualifiers and metadata of another's.

    Parameters
    ----------
    frame
        The DataFrame.
    source
        The other, of whose ids the plan of the first has none.
    passing
        Which columns of the one are which of the other, by position.

    Returns
    -------
    pyspark.sql.DataFrame
        The first, with those identities.
    """
    plan = analyzed_plan(frame)
    given, known = items(plan.output()), items(analyzed_plan(source).output())
    chosen = [_alias(a, known[passing[at]]) if at in passing else a for at, a in enumerate(given)]
    return dataframe_of(_project(chosen, plan), frame.sparkSession)


def unresolved_attribute(name: str) -> Any:
    """Make the expression that is a column by its name, not yet analysed."""
    return _jvm().org.apache.spark.sql.catalyst.analysis.UnresolvedAttribute(to_seq([name]))


def parsed_expression(text: str) -> Any:
    """Read SQL text as Spark does, into an expression that is not yet analysed."""
    session = _jvm().org.apache.spark.sql.classic.SparkSession.active()
    return session.sessionState().sqlParser().parseExpression(text)


def within_group(function: Any) -> list[Any]:
    """List the order of WITHIN GROUP of a function that is not yet analysed; before Spark 4.0 there is none."""
    return items(function.orderingWithinGroup()) if function.productArity() > 5 else []


def converted(node: Any) -> Any:
    """Give the Catalyst expression of a Column's node."""
    loader = node.getClass().getClassLoader()
    converter = loader.loadClass("org.apache.spark.sql.classic.ColumnNodeToExpressionConverter$")
    return converter.getField("MODULE$").get(None).apply(node)


def parsed_plan(text: str, session: Any) -> Any:
    """Read a statement as Spark does, into a plan that is not yet analysed."""
    return session._jsparkSession.sessionState().sqlParser().parsePlan(text)


@contextmanager
def refused() -> Iterator[None]:
    """Let Spark read or analyse a query within a block, and refuse it in one line.

    Raises
    ------
    SpecError
        If Spark's parser or its analyser refuses it. PySpark would log that as an error, though the query may well be
        answered otherwise.
    """
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException
    from pyspark.logger import PySparkLogger

    thread = get_ident()

    def is_of_others(_: Any) -> bool:
        return get_ident() != thread

    logger = PySparkLogger.getLogger("SQLQueryContextLogger")
    logger.addFilter(is_of_others)
    try:
        yield
    except (PySparkException, Py4JError) as error:
        if _is_overflow(error):
            raise SpecError(f"the query {_TOO_DEEP_FOR_JVM}") from None
        thrown = getattr(error, "java_exception", None)  # of a fault of Spark's own, which PySpark gives as it is
        said = str(error if thrown is None else thrown.getMessage()).strip()
        raise SpecError(f"Spark refuses the query: {said.partition(chr(10))[0].partition(' SQLSTATE')[0]}") from None
    finally:
        logger.removeFilter(is_of_others)


@contextmanager
def depth_limited(what: str) -> Iterator[None]:
    """Refuse what is nested too deep for Python code or Spark's JVM to walk it, and what Spark's analyser refuses.

    Parameters
    ----------
    what
        What is read or planned within the block.

    Raises
    ------
    SpecError
        In the place of a RecursionError, of the JVM's StackOverflowError, and of an AnalysisException.
    """
    try:
        yield
    except RecursionError:
        raise SpecError(
            f"{what} is nested too deep: Python allows {sys.getrecursionlimit()} calls within one another "
            "(sys.setrecursionlimit), and each level takes several; compute the inner part as a column first"
        ) from None
    except Exception as error:
        if _is_overflow(error):
            raise SpecError(f"{what} {_TOO_DEEP_FOR_JVM}") from None
        if is_instance_by_name(error, "pyspark.errors", "AnalysisException"):
            said = str(error).strip().partition("\n")[0].partition(" SQLSTATE")[0]
            raise SpecError(f"Spark refuses {what}: {said}") from error
        raise


_TOO_DEEP_FOR_JVM = (
    "is nested too deep: it overflows the stack of Spark's JVM, which takes some hundred levels with its usual 1 MB a "
    "thread (spark.driver.extraJavaOptions=-Xss4m gives it more); compute the inner part as a column first"
)


def _is_overflow(error: Exception) -> bool:
    thrown = getattr(error, "java_exception", None)
    return thrown is not None and class_of(thrown) == "StackOverflowError"


def relation_names(plan: Any) -> list[tuple[str, ...]] | None:
    """List the names of the relations in a plan that is not yet analysed, subqueries and WITH included.

    Parameters
    ----------
    plan
        A parsed plan.

    Returns
    -------
    list of tuple of str, or None
        The parts of each name; None if the plan is more than a query, and would do something.
    """
    logical = "org.apache.spark.sql.catalyst.plans.logical."
    loader = plan.getClass().getClassLoader()
    statements = [loader.loadClass(logical + name) for name in ("Command", "ParsedStatement", "CompoundPlanStatement")]
    found: list[tuple[str, ...]] = []
    for node in _all_nodes(plan):
        if any(kind.isInstance(node) for kind in statements):
            return None
        if class_of(node) == "UnresolvedRelation":
            found.append(tuple(map(str, items(node.multipartIdentifier()))))
    return found


def _all_nodes(plan: Any) -> Iterator[Any]:
    yield plan
    for below in (*items(plan.children()), *items(plan.innerChildren())):
        yield from _all_nodes(below)


def with_frames(plan: Any, frames: Mapping[str, Any], session: Any) -> Any:
    """Let a parsed query name DataFrames, as if each stood in a WITH of its own before it: no view is made.

    Parameters
    ----------
    plan
        The parsed query.
    frames
        DataFrames by the names that it uses.
    session
        The session.

    Returns
    -------
    JavaObject
        The plan, not yet analysed.
    """
    if not frames:
        return plan
    # Spark makes the node, whose fields each release has more of; only the plans in it are exchanged.
    names = list(map(quoted, frames))
    made = parsed_plan(f"WITH {', '.join(f'{name} AS (SELECT 1)' for name in names)} SELECT 1", session)
    tables = []
    for pair, frame in zip(items(made.cteRelations()), frames.values(), strict=True):
        fields = [pair.productElement(i) for i in range(pair.productArity())]
        fields[1] = fields[1].withNewChildren(to_seq([analyzed_plan(frame)]))
        tables.append(getattr(_jvm().scala, f"Tuple{len(fields)}")(*fields))
    fields = [made.productElement(i) for i in range(made.productArity())]
    return made.makeCopy(_array([plan, to_seq(tables), *fields[2:]]))


def parameterised(plan: Any, values: Mapping[str, Any] | Sequence[Any]) -> Any:
    """Give a parsed query its parameters: ``:name`` by their names, or ``?`` by their order."""
    from pyspark.sql.functions import lit

    made = _jvm().org.apache.spark.sql.catalyst.analysis
    literals = [converted(expression_of(lit(v))) for v in (values.values() if isinstance(values, Mapping) else values)]
    if isinstance(values, Mapping):
        return made.NameParameterizedQuery(plan, to_seq(values), to_seq(literals))
    return made.PosParameterizedQuery(plan, to_seq(literals))


def _array(values: Sequence[Any]) -> Any:
    gateway: Any = _context()._gateway
    made = gateway.new_array(_jvm().java.lang.Object, len(values))
    for i, value in enumerate(values):
        made[i] = value
    return made


def inline_ctes(plan: Any) -> Any:
    """Put common table expressions where they are referred to, as Spark's optimizer does first of all.

    A piece of the plan is then whole in itself. Those that must be computed once stay as they are.
    """
    loader = plan.getClass().getClassLoader()
    maker = loader.loadClass("org.apache.spark.sql.catalyst.optimizer.InlineCTE").getConstructors()[0]
    # its flags, of which each release has more, are all off unless said otherwise
    return maker.newInstance(_array([False] * maker.getParameterCount())).apply(plan)


def _context() -> Any:
    from pyspark import SparkContext  # which the client for Spark Connect alone lacks

    return SparkContext._active_spark_context


def _jvm() -> Any:
    return _context()._jvm


# ------------------------------------------------------------------------------------------------------- what is read
def class_of(node: Any) -> str:
    """Give the plain name of a JVM object's class; that of a Scala ``object`` without its dollar sign."""
    return str(node.getClass().getSimpleName()).rstrip("$")


def items(seq: Any) -> list[Any]:
    """List a Scala Seq."""
    return [seq.apply(i) for i in range(seq.size())]


def is_descending(order: Any) -> bool:
    """Whether a SortOrder is descending."""
    return class_of(order.direction()) == "Descending"


def expression_id(attribute: Any) -> int:
    """Give the id by which Spark knows a column."""
    return int(attribute.exprId().id())


def value_of(expression: Any, role: str) -> Any:
    """Evaluate an expression that is one value for all rows.

    Parameters
    ----------
    expression
        A Catalyst expression.
    role
        What it is for, for the message.

    Returns
    -------
    object
        A plain Python value.

    Raises
    ------
    UnsupportedError
        If it is no constant, or of a type that has no plain value in Python.
    """
    if not (expression.resolved() and expression.foldable()):
        raise UnsupportedError(f"{role} is {expression.sql()}, which is not one value for all rows")
    value = expression.eval(None)
    name = class_of(expression.dataType())
    if value is None or name in _PYTHON_VALUES:
        return value
    if name == "DecimalType":
        return value.toJavaBigDecimal()
    if name == "StringType":
        return str(value.toString())
    if name == "BinaryType":
        return bytes(value)
    if name == "DayTimeIntervalType":
        return dt.timedelta(microseconds=value)
    if name == "YearMonthIntervalType":
        return Interval(months=value)
    if name == "ArrayType" and class_of(expression.dataType().elementType()) == "DoubleType":
        return list(value.toDoubleArray())
    raise UnsupportedError(f"{role} is {expression.sql()}, of type {expression.dataType().simpleString()}")
