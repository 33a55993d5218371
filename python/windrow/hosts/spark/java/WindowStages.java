// Spark's side of hosts/spark/session_rule.py. Spark's own compiler (Janino) compiles it in the driver's JVM, after the
// names between percent signs are replaced by those of the Spark release (hosts/spark/compiled.py). Janino has neither
// generics nor lambdas. Executors never load these classes.

package windrow;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.spark.api.python.PythonFunction;
import org.apache.spark.sql.catalyst.analysis.UnresolvedAttribute;
import org.apache.spark.sql.catalyst.expressions.Alias;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.AttributeReference;
import org.apache.spark.sql.catalyst.expressions.AttributeSet;
import org.apache.spark.sql.catalyst.expressions.AttributeSet$;
import org.apache.spark.sql.catalyst.expressions.Ascending$;
import org.apache.spark.sql.catalyst.expressions.BitwiseAnd;
import org.apache.spark.sql.catalyst.expressions.Cast$;
import org.apache.spark.sql.catalyst.expressions.Descending$;
import org.apache.spark.sql.catalyst.expressions.EqualTo;
import org.apache.spark.sql.catalyst.expressions.ExprId;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.If;
import org.apache.spark.sql.catalyst.expressions.IsNull;
import org.apache.spark.sql.catalyst.expressions.Literal$;
import org.apache.spark.sql.catalyst.expressions.MonotonicallyIncreasingID;
import org.apache.spark.sql.catalyst.expressions.NamedExpression;
import org.apache.spark.sql.catalyst.expressions.NamedExpression$;
import org.apache.spark.sql.catalyst.expressions.NullOrdering;
import org.apache.spark.sql.catalyst.expressions.NullsFirst$;
import org.apache.spark.sql.catalyst.expressions.NullsLast$;
import org.apache.spark.sql.catalyst.expressions.PythonUDF;
import org.apache.spark.sql.catalyst.expressions.RowFrame$;
import org.apache.spark.sql.catalyst.expressions.ScalarSubquery;
import org.apache.spark.sql.catalyst.expressions.ShiftRight;
import org.apache.spark.sql.catalyst.expressions.SortDirection;
import org.apache.spark.sql.catalyst.expressions.SortOrder;
import org.apache.spark.sql.catalyst.expressions.SparkPartitionID;
import org.apache.spark.sql.catalyst.expressions.SpecifiedWindowFrame;
import org.apache.spark.sql.catalyst.expressions.UnboundedFollowing$;
import org.apache.spark.sql.catalyst.expressions.UnboundedPreceding$;
import org.apache.spark.sql.catalyst.expressions.UnevaluableAggregateFunc;
import org.apache.spark.sql.catalyst.expressions.WindowExpression;
import org.apache.spark.sql.catalyst.expressions.WindowFrame;
import org.apache.spark.sql.catalyst.expressions.WindowFunction;
import org.apache.spark.sql.catalyst.expressions.WindowSpec;
import org.apache.spark.sql.catalyst.expressions.WindowSpecDefinition;
import org.apache.spark.sql.catalyst.expressions.aggregate.AggregateExpression;
import org.apache.spark.sql.catalyst.expressions.aggregate.AggregateFunction;
import org.apache.spark.sql.catalyst.plans.logical.Aggregate;
import org.apache.spark.sql.catalyst.plans.logical.Filter;
import org.apache.spark.sql.catalyst.plans.logical.GlobalLimit;
import org.apache.spark.sql.catalyst.plans.logical.Join;
import org.apache.spark.sql.catalyst.plans.logical.LocalLimit;
import org.apache.spark.sql.catalyst.plans.logical.LocalRelation$;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.%map_in_arrow%;
import org.apache.spark.sql.catalyst.plans.logical.Project;
import org.apache.spark.sql.catalyst.plans.logical.Repartition;
import org.apache.spark.sql.catalyst.plans.logical.RepartitionByExpression;
import org.apache.spark.sql.catalyst.plans.logical.Sort;
import org.apache.spark.sql.catalyst.plans.logical.SubqueryAlias;
import org.apache.spark.sql.catalyst.plans.logical.Window;
import org.apache.spark.sql.catalyst.plans.physical.AllTuples$;
import org.apache.spark.sql.catalyst.plans.physical.ClusteredDistribution;
import org.apache.spark.sql.catalyst.rules.Rule;
import org.apache.spark.sql.catalyst.trees.TreeNode;
import org.apache.spark.sql.catalyst.trees.TreePattern;
import org.apache.spark.sql.execution.SparkPlan;
import org.apache.spark.sql.execution.SparkStrategy;
import org.apache.spark.sql.execution.datasources.HadoopFsRelation;
import org.apache.spark.sql.execution.datasources.LogicalRelation;
import org.apache.spark.sql.execution.python.%map_in_arrow%Exec;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataType$;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;

/**
 * The rule: hands plans that have a Window node to Python, which gives what stands in their place. Python may ask to see
 * only plans that have a WindowCall.
 */
public final class SessionRule extends Rule {
  // Python may plan with Spark's own optimizer, which must not call it again.
  static final ThreadLocal BUSY = new ThreadLocal();
  // The optimizer runs its last rules until nothing changes: what came back is not looked at again.
  private static final ThreadLocal LAST = new ThreadLocal();
  private final scala.Function1 function;
  private final boolean onlyCalls;

  public SessionRule(scala.Function1 function, boolean onlyCalls) {
    this.function = function;
    this.onlyCalls = onlyCalls;
  }

  public String ruleName() { return "windrow"; }

  // Python gives null where it leaves a plan, and a text where a call of windrow's cannot be computed.
  private Object planned(LogicalPlan plan) {
    boolean hasCalls = WindowCall.isIn(plan);
    if (onlyCalls && !hasCalls) return plan;
    Object result;
    try {
      result = function.apply(new WindowReader(plan, true));
    } catch (Exception error) {
      result = "Python cannot be reached: " + error;
      if (!hasCalls) {
        System.err.println("windrow: a query is left to Spark, as " + result);
        return plan;
      }
    }
    if (result instanceof String) throw new IllegalArgumentException("windrow: " + result);
    if (result == null) return plan;
    WindowStageStrategy.install(%session%.active());
    return result;
  }

  public TreeNode apply(TreeNode plan) {
    if (!plan.containsPattern(TreePattern.WINDOW())) return plan;
    java.lang.ref.WeakReference last = (java.lang.ref.WeakReference) LAST.get();
    if (BUSY.get() != null || (last != null && last.get() == plan)) return plan;
    BUSY.set(Boolean.TRUE);
    try {
      Object result = planned((LogicalPlan) plan);
      LAST.set(new java.lang.ref.WeakReference(result));
      return (TreeNode) result;
    } finally {
      BUSY.remove();
    }
  }
}

/** Plans a query as the rule finds it. */
public final class PlainOptimizer {
  /** The optimized plan, and those of its subqueries. */
  public List plans(org.apache.spark.sql.execution.QueryExecution query) {
    SessionRule.BUSY.set(Boolean.TRUE);
    try {
      LogicalPlan plan = (LogicalPlan) query.sparkSession().sessionState().optimizer().execute(query.withCachedData());
      List plans = new ArrayList();
      plans.add(plan);
      plans.addAll(Scala.list(plan.subqueriesAll()));
      return plans;
    } finally {
      SessionRule.BUSY.remove();
    }
  }
}

/** Window nodes of which none reads what another computes, one upon the other. */
final class Chain {
  final List nodes = new ArrayList(); // Window, from above
  LogicalPlan base;
  AttributeSet required; // what is read above; null: all
  Object limited;
  Chain below; // if there are only projections and filters between
  Map answer;
}

/** Gives the windows of a plan as one text, and builds the plan that is asked for. */
public final class WindowReader {
  private static final String[] PYTHON_SETTINGS = {
    "spark.sql.execution.pandas.convertToArrowArraySafely",
    "spark.sql.execution.pythonUDF.pandas.intToDecimalCoercionEnabled",
    "spark.sql.execution.pythonUDF.pandas.preferIntExtensionDtype",
    "spark.sql.pyspark.udf.profiler"
  };
  // monotonically_increasing_id() has the row's number within its partition in so many bits.
  private static final int ROW_BITS = 33;
  private static final List FIXED_STEPS = Arrays.asList(new Object[] {"Filter", "Project", "Union"});
  private static final List FIXED_LEAVES = Arrays.asList(new Object[] {"InMemoryRelation", "LocalRelation", "Range"});
  private final LogicalPlan plan;
  private final boolean isOptimized; // else its projects may still choose what nobody reads
  private final List chains = new ArrayList();
  private final Map byTop = new IdentityHashMap();
  private final ExpressionWriter writer = new ExpressionWriter();

  public WindowReader(LogicalPlan plan, boolean isOptimized) {
    this.plan = plan;
    this.isOptimized = isOptimized;
    visit(plan, null, null);
  }

  // ---------------------------------------------------------------------------------------------------------- reading

  // Limited: the rows that a limit with nothing but projections between takes, null without one.
  private void visit(LogicalPlan node, AttributeSet required, Object limited) {
    if (node instanceof Window) {
      Chain chain = chain((Window) node, required);
      chain.limited = limited;
      chains.add(chain);
      byTop.put(node, chain);
      if (required == null) visit(chain.base, null, null);
      else {
        AttributeSet below = required;
        for (Object window : chain.nodes) below = below.$plus$plus(((Window) window).references());
        visit(chain.base, below, null);
      }
      LogicalPlan next = chain.base;
      while (next instanceof Project || next instanceof Filter) next = (LogicalPlan) next.children().apply(0);
      chain.below = (Chain) byTop.get(next);
      return;
    }
    AttributeSet below = null;
    if (node instanceof Project && required != null && !isOptimized) below = chosen((Project) node, required);
    else if (node instanceof Project || node instanceof Aggregate) below = node.references();
    else if (required != null && passes(node)) below = required.$plus$plus(node.references());
    if (node instanceof GlobalLimit) limited = node.maxRows();
    else if (!(node instanceof LocalLimit || node instanceof Project)) limited = null;
    for (Object child : Scala.list(node.children())) visit((LogicalPlan) child, below, limited);
  }

  private static AttributeSet chosen(Project node, AttributeSet required) {
    AttributeSet chosen = AttributeSet$.MODULE$.empty();
    for (Object each : Scala.list(node.projectList())) {
      NamedExpression made = (NamedExpression) each;
      if (required.contains(made.toAttribute())) chosen = chosen.$plus$plus(((Expression) each).references());
    }
    return chosen;
  }

  // Whether a node gives its child's columns as they are, so that what nobody above it reads need not be computed.
  private static boolean passes(LogicalPlan node) {
    return node instanceof Filter || node instanceof Join || node instanceof Sort || node instanceof GlobalLimit
        || node instanceof LocalLimit || node instanceof SubqueryAlias;
  }

  private static Chain chain(Window top, AttributeSet required) {
    Chain chain = new Chain();
    chain.required = required;
    chain.base = top;
    AttributeSet reads = AttributeSet$.MODULE$.empty();
    for (LogicalPlan node = top; ; node = (LogicalPlan) node.children().apply(0)) {
      if (node instanceof Window) {
        for (Object made : Scala.list(((Window) node).windowExpressions()))
          if (reads.contains(((NamedExpression) made).toAttribute())) return chain;
        chain.nodes.add(node);
        reads = reads.$plus$plus(node.references());
        chain.base = ((Window) node).child();
      } else if (node instanceof Project) {
        for (Object chosen : Scala.list(((Project) node).projectList()))
          if (!(chosen instanceof AttributeReference)) return chain;
      } else if (!(node instanceof SubqueryAlias)) return chain;
    }
  }

  /** What Python decides by: JSON, deflated, as py4j waits for the network after each 8 KB. */
  public byte[] text() throws java.io.IOException {
    List described = new ArrayList();
    for (Object each : chains) {
      Chain chain = (Chain) each;
      List nodes = new ArrayList();
      for (Object node : chain.nodes) {
        Window window = (Window) node;
        List made = new ArrayList();
        for (Object named : Scala.list(window.windowExpressions()))
          made.add(Scala.map("attribute", ((NamedExpression) named).toAttribute(), "call", ((Alias) named).child()));
        nodes.add(Scala.map("windows", made, "partition", window.partitionSpec(), "order", window.orderSpec()));
      }
      Map about = Scala.map("nodes", nodes, "input", chain.base.output());
      about.put("required", chain.required == null ? null : Scala.ids(chain.required.toSeq()));
      about.put("output", Scala.ids(((LogicalPlan) chain.nodes.get(0)).output()));
      about.put("below", chain.below == null ? null : Integer.valueOf(chains.indexOf(chain.below)));
      about.put("bytes", Long.valueOf(bytes(chain.base)));
      about.put("kinds", kinds(chain.base));
      about.put("most_rows", chain.base.maxRows());
      about.put("limited", chain.limited);
      about.put("rows", chain.base.stats().rowCount());
      about.put("repeatable", Boolean.valueOf(chain.base.deterministic() && isFixed(chain.base)));
      described.add(about);
    }
    org.apache.spark.sql.internal.SQLConf conf = plan.conf();
    Map about = Scala.map("chains", described, "ansi", Boolean.valueOf(conf.ansiEnabled()), "timezone", conf.sessionLocalTimeZone());
    about.put("calls", writer.calls());
    Map settings = new LinkedHashMap(); // those of PySpark's worker
    for (String name : PYTHON_SETTINGS) {
      try {
        settings.put(name, conf.getConfString(name));
      } catch (java.util.NoSuchElementException error) {
        // this release has none of that name
      }
    }
    about.put("python", settings);
    about.put("tasks", Integer.valueOf(tasks(conf)));
    about.put("hash", Integer.valueOf(plan.semanticHash()));
    about.put("streaming", Boolean.valueOf(plan.isStreaming()));
    java.io.ByteArrayOutputStream deflated = new java.io.ByteArrayOutputStream();
    java.io.OutputStream out = new java.util.zip.DeflaterOutputStream(deflated);
    out.write(writer.text(about).getBytes("UTF-8"));
    out.close();
    return deflated.toByteArray();
  }

  // What Spark expects the rows of a node to take.
  private static long bytes(LogicalPlan node) {
    java.math.BigInteger bytes = node.stats().sizeInBytes().bigInteger();
    return bytes.bitLength() < 63 ? bytes.longValue() : Long.MAX_VALUE;
  }

  // Whether a plan gives the same rows in the same partitions each time, and that costs little: files (a job fails where
  // one is gone) and tables in memory, with projections and filters.
  private static boolean isFixed(LogicalPlan node) {
    for (Object child : Scala.list(node.children())) if (!isFixed((LogicalPlan) child)) return false;
    if (!node.children().isEmpty()) return FIXED_STEPS.contains(node.nodeName());
    if (!(node instanceof LogicalRelation)) return FIXED_LEAVES.contains(Scala.kind(node));
    // by its buckets a table is read only where the columns of these are
    Object relation = ((LogicalRelation) node).relation();
    return relation instanceof HadoopFsRelation && ((HadoopFsRelation) relation).bucketSpec().isEmpty();
  }

  // Over how many tasks a partition is split: as many as can run at once, where that is known.
  private static int tasks(org.apache.spark.sql.internal.SQLConf conf) {
    org.apache.spark.SparkContext context = %session%.active().sparkContext();
    boolean varies = context.conf().getBoolean("spark.dynamicAllocation.enabled", false);
    int slots = varies ? 0 : context.maxNumConcurrentTasks(context.resourceProfileManager().defaultResourceProfile());
    return slots > 0 ? slots : conf.numShufflePartitions();
  }

  // The nodes down to the first of several children.
  private static List kinds(LogicalPlan node) {
    List kinds = new ArrayList();
    kinds.add(node.nodeName());
    while (node.children().size() == 1) {
      node = (LogicalPlan) node.children().apply(0);
      kinds.add(node.nodeName());
    }
    return kinds;
  }

  // --------------------------------------------------------------------------------------------------------- building

  /** The plan with what Python answers: JSON, and the functions that it refers to by number. */
  public LogicalPlan replaced(String answer, List functions) throws java.io.IOException {
    List answers = (List) Scala.json(answer);
    for (int i = 0; i < answers.size(); i++) ((Chain) chains.get(i)).answer = (Map) answers.get(i);
    return rebuilt(plan, functions);
  }

  private LogicalPlan rebuilt(LogicalPlan node, List functions) {
    Chain chain = (Chain) byTop.get(node);
    if (chain != null && chain.answer != null) return built(chain, functions);
    List children = new ArrayList();
    boolean changed = false;
    for (Object child : Scala.list(node.children())) {
      LogicalPlan made = rebuilt((LogicalPlan) child, functions);
      changed |= made != child;
      children.add(made);
    }
    return changed ? (LogicalPlan) node.withNewChildren(Scala.seq(children)) : node;
  }

  private LogicalPlan built(Chain chain, List all) {
    LogicalPlan below = rebuilt(chain.base, all);
    List functions = all.subList(((Integer) chain.answer.get("first_function")).intValue(), all.size());
    Map attributes = new HashMap(); // by id
    for (Object attribute : Scala.list(chain.base.output())) put(attributes, (Attribute) attribute);
    for (Object node : chain.nodes)
      for (Object made : Scala.list(((Window) node).windowExpressions()))
        put(attributes, ((NamedExpression) made).toAttribute());
    for (Object each : (List) chain.answer.get("steps")) {
      Map step = (Map) each;
      if (step.containsKey("node")) below = left(chain, step, below);
      else if (step.containsKey("chosen")) below = chosen(step, attributes, below);
      else below = stage(step, below, attributes, functions);
    }
    return below;
  }

  /** The plan with calls of windrow's in the place of windows of Spark's: JSON says which, and what they read. */
  public LogicalPlan marked(String answer, String calls) throws java.io.IOException {
    Map marks = new IdentityHashMap(); // by Window node
    for (Object each : (List) Scala.json(answer)) {
      Map mark = (Map) each;
      Chain chain = (Chain) chains.get(((Integer) mark.get("chain")).intValue());
      Object node = chain.nodes.get(((Integer) mark.get("node")).intValue());
      if (!marks.containsKey(node)) marks.put(node, new ArrayList());
      ((List) marks.get(node)).add(mark);
    }
    return marked(plan, marks, calls);
  }

  private LogicalPlan marked(LogicalPlan node, Map marks, String calls) {
    List children = new ArrayList();
    boolean changed = false;
    for (Object child : Scala.list(node.children())) {
      LogicalPlan made = marked((LogicalPlan) child, marks, calls);
      changed |= made != child;
      children.add(made);
    }
    LogicalPlan made = changed ? (LogicalPlan) node.withNewChildren(Scala.seq(children)) : node;
    if (!marks.containsKey(node)) return made;
    List expressions = Scala.list(((Window) node).windowExpressions());
    for (Object each : (List) marks.get(node)) {
      Map mark = (Map) each;
      int at = ((Integer) mark.get("window")).intValue();
      Alias named = (Alias) expressions.get(at);
      List values = new ArrayList();
      for (Object number : (List) mark.get("values")) values.add(writer.expression(((Integer) number).intValue()));
      WindowCall call =
          new WindowCall(
              (String) mark.get("function"),
              calls,
              (Integer) mark.get("place"),
              named.dataType(),
              Boolean.valueOf(named.nullable()),
              Scala.seq(values));
      WindowSpecDefinition spec = ((WindowExpression) named.child()).windowSpec();
      expressions.set(at, Scala.alias(call.over(spec.partitionSpec(), spec.orderSpec()), named.name(), named.toAttribute()));
    }
    return with((Window) made, expressions);
  }

  /** The names of the nodes in whose expressions there are subqueries with windows. */
  public List nodesOfSubqueries() {
    List names = new ArrayList();
    nodesOfSubqueries(plan, names);
    return names;
  }

  private static void nodesOfSubqueries(LogicalPlan node, List names) {
    for (Object inner : Scala.list(node.subqueries()))
      if (((LogicalPlan) inner).containsPattern(TreePattern.WINDOW())) names.add(node.nodeName());
    for (Object child : Scala.list(node.children())) nodesOfSubqueries((LogicalPlan) child, names);
  }

  private static LogicalPlan with(Window window, List expressions) {
    Object[] fields = new Object[window.productArity()];
    for (int i = 0; i < fields.length; i++) fields[i] = window.productElement(i);
    fields[0] = Scala.seq(expressions);
    return (LogicalPlan) window.makeCopy(fields);
  }

  private static void put(Map attributes, Attribute attribute) {
    attributes.put(Long.valueOf(attribute.exprId().id()), attribute);
  }

  // A Window node with some of its windows.
  private static LogicalPlan left(Chain chain, Map left, LogicalPlan below) {
    Window window = (Window) chain.nodes.get(((Integer) left.get("node")).intValue());
    List expressions = Scala.list(window.windowExpressions());
    List kept = new ArrayList();
    for (Object at : (List) left.get("windows")) kept.add(expressions.get(((Integer) at).intValue()));
    return (LogicalPlan) with(window, kept).withNewChildren(Scala.seq(Arrays.asList(new Object[] {below})));
  }

  private static LogicalPlan chosen(Map step, Map attributes, LogicalPlan below) {
    List columns = new ArrayList();
    for (Object id : (List) step.get("chosen")) columns.add(attributes.get(Long.valueOf(((Number) id).longValue())));
    return new Project(Scala.seq(columns), below);
  }

  private LogicalPlan stage(Map stage, LogicalPlan below, Map attributes, List functions) {
    Map split = (Map) stage.get("split"); // across tasks
    List columns = new ArrayList(); // Attribute, as they come to the function
    List computed = new ArrayList(); // NamedExpression
    for (Object each : (List) stage.get("columns")) {
      Map column = (Map) each;
      String name = (String) column.get("name");
      NamedExpression made;
      if (column.get("id") != null) {
        Attribute attribute = (Attribute) attributes.get(Long.valueOf(((Number) column.get("id")).longValue()));
        Expression carried = Scala.cast(attribute, (List) column.get("casts"));
        made = carried == attribute && attribute.name().equals(name) ? attribute : Scala.alias(carried, name);
      } else if (column.get("expression") != null) {
        Expression expression = writer.expression(((Integer) column.get("expression")).intValue());
        made = Scala.alias(Scala.cast(expression, (List) column.get("casts")), name);
      } else made = Scala.alias(Literal$.MODULE$.TrueLiteral(), name);
      computed.add(made);
      columns.add(made.toAttribute());
    }
    if (Boolean.TRUE.equals(stage.get("projected"))) below = new Project(Scala.seq(computed), below);
    List parameters = new ArrayList();
    for (Object each : (List) stage.get("keys")) {
      Map key = (Map) each;
      Integer at = (Integer) key.get("column");
      if (at != null) parameters.add(columns.get(at.intValue()));
      else parameters.add(writer.expression(((Integer) key.get("expression")).intValue()));
    }
    for (Object each : (List) stage.get("ordering")) {
      parameters.add(Scala.order((Map) each, columns));
    }
    List parts = new ArrayList(); // Attribute, of which texts are expressions
    for (Object each : (List) stage.get("parts"))
      parts.add(Scala.attribute((String) ((Map) each).get("name"), (String) ((Map) each).get("type")));
    List output = new ArrayList();
    List restored = new ArrayList();
    boolean restores = false;
    for (Object each : (List) stage.get("output")) {
      Map column = (Map) each;
      Attribute attribute = (Attribute) attributes.get(Long.valueOf(((Number) column.get("id")).longValue()));
      Object back = attribute;
      if (column.get("text") != null) {
        Expression made = analyzed((String) column.get("text"), parts);
        back = Scala.alias(Scala.cast(made, attribute.dataType()), attribute.name(), attribute);
      } else if (column.get("type") != null) {
        Attribute given = Scala.attribute(attribute.name(), (String) column.get("type"));
        back = Scala.alias(Scala.cast(given, (List) column.get("casts")), attribute.name(), attribute);
        output.add(given);
      } else if (split != null) { // as Spark's own node has no column that passes
        Attribute given = Scala.alias(attribute, attribute.name()).toAttribute();
        back = Scala.alias(given, attribute.name(), attribute);
        output.add(given);
      } else output.add(attribute);
      restores |= back != attribute;
      restored.add(back);
    }
    output.addAll(parts);
    if (split == null) {
      below = new WindowStage(function(stage, parameters, functions), Scala.seq(output), below, false%no_profile%);
    } else {
      below = toldSummaries(split, columns, below, functions);
      PythonUDF function = function(stage, Scala.list(below.output()), functions); // what it reads must not be pruned
      below = new %map_in_arrow%(function, Scala.seq(output), below, false%no_profile%);
    }
    return restores ? new Project(Scala.seq(restored), below) : below;
  }

  private static PythonUDF function(Map about, List parameters, List functions) {
    return new PythonUDF(
        (String) about.get("name"),
        (PythonFunction) functions.get(((Integer) about.get("function")).intValue()),
        DataType$.MODULE$.fromJson((String) about.get("type")),
        Scala.seq(parameters),
        ((Integer) about.get("eval_type")).intValue(),
        true,
        NamedExpression$.MODULE$.newExprId());
  }

  // Rows in ranges, the first of each with its range's number and all summaries (see split_two_pass.py).
  private static LogicalPlan toldSummaries(Map split, List columns, LogicalPlan below, List functions) {
    List by = new ArrayList();
    for (Object key : (List) split.get("order")) by.add(Scala.order((Map) key, columns));
    for (Object place : (List) split.get("hashed")) by.add(columns.get(((Integer) place).intValue()));
    Object tasks = split.get("tasks"); // null: the rows stay where they are read
    if (by.isEmpty()) by.add(new SparkPartitionID());
    if (tasks != null)
      below = new RepartitionByExpression(Scala.seq(by), below, scala.Option.apply(tasks), scala.Option.apply(null));
    List read = new ArrayList();
    for (Object place : (List) split.get("read")) read.add(columns.get(((Integer) place).intValue()));
    LogicalPlan summaries = new Project(Scala.seq(read), below);
    for (Object each : (List) split.get("functions")) {
      PythonUDF function = function((Map) each, Scala.list(summaries.output()), functions);
      List given = new ArrayList();
      for (StructField field : ((StructType) function.dataType()).fields())
        given.add(Scala.alias(Literal$.MODULE$.create(null, field.dataType()), field.name()).toAttribute());
      if (Boolean.TRUE.equals(((Map) each).get("gathered"))) summaries = new Repartition(1, true, summaries);
      summaries = new %map_in_arrow%(function, Scala.seq(given), summaries, false%no_profile%);
    }
    Expression told = (Expression) Scala.withDefaults(ScalarSubquery.class, summaries);
    Expression row = new BitwiseAnd(new MonotonicallyIncreasingID(), Literal$.MODULE$.apply(Long.valueOf((1L << ROW_BITS) - 1)));
    Expression isFirst = new EqualTo(row, Literal$.MODULE$.apply(Long.valueOf(0)));
    List marked = new ArrayList(columns);
    List names = (List) split.get("names");
    Expression place = new ShiftRight(new MonotonicallyIncreasingID(), Literal$.MODULE$.apply(Integer.valueOf(ROW_BITS)));
    marked.add(Scala.alias(place, (String) names.get(0)));
    marked.add(Scala.alias(new If(isFirst, told, Literal$.MODULE$.create(null, told.dataType())), (String) names.get(1)));
    return new Project(Scala.seq(marked), below);
  }

  // An expression of SQL over columns that have names of their own.
  private static Expression analyzed(String text, List columns) {
    %session% session = %session%.active();
    try {
      Expression parsed = session.sessionState().sqlParser().parseExpression(text);
      List chosen = Arrays.asList(new Object[] {Scala.alias(parsed, "made")});
      LogicalPlan plan = new Project(Scala.seq(chosen), LocalRelation$.MODULE$.apply(Scala.seq(columns)));
      plan = (LogicalPlan) session.sessionState().analyzer().execute(plan);
      return ((Alias) ((Project) plan).projectList().apply(0)).child();
    } catch (Exception error) {
      throw new RuntimeException(error);
    }
  }
}

/**
 * A call of windrow's in a plan of Spark's: an aggregate that Spark's optimizer treats as any other over a window, and
 * that the rule replaces. A text that Python wrote says which call it is.
 */
public final class WindowCall extends UnevaluableAggregateFunc implements java.io.Serializable {
  private final String name;
  private final String calls;
  private final Integer place; // of the call in that text
  private final DataType type;
  private final Boolean isNullable;
  private final %seq% values;

  public WindowCall(String name, String calls, Integer place, DataType type, Boolean isNullable, %seq% values) {
    this.name = name;
    this.calls = calls;
    this.place = place;
    this.type = type;
    this.isNullable = isNullable;
    this.values = values;
  }

  Expression over(%seq% partition, %seq% order) {
    WindowFrame all =
        new SpecifiedWindowFrame(RowFrame$.MODULE$, UnboundedPreceding$.MODULE$, UnboundedFollowing$.MODULE$);
    return new WindowExpression(toAggregateExpression(), new WindowSpecDefinition(partition, order, all));
  }

  /** Whether a plan has one, apart from its subqueries. */
  static boolean isIn(LogicalPlan plan) {
    if (plan instanceof Window)
      for (Object made : Scala.list(((Window) plan).windowExpressions()))
        if (isIn((Expression) made)) return true;
    for (Object child : Scala.list(plan.children())) if (isIn((LogicalPlan) child)) return true;
    return false;
  }

  private static boolean isIn(Expression expression) {
    if (expression instanceof WindowCall) return true;
    for (Object child : Scala.list(expression.children())) if (isIn((Expression) child)) return true;
    return false;
  }

  // For Python, which gets each text once: its number is its place among those that were seen.
  Map described(List seen) {
    int number = seen.indexOf(calls);
    if (number < 0) {
      number = seen.size();
      seen.add(calls);
    }
    return Scala.map("calls", Integer.valueOf(number), "place", place, "values", values);
  }

  private Object[] fields() { return new Object[] {name, calls, place, type, isNullable, values}; }

  public DataType dataType() { return type; }

  public boolean nullable() { return isNullable.booleanValue(); }

  public %seq% children() { return values; }

  public String prettyName() { return name; }

  public scala.collection.Iterator stringArgs() { return values.iterator(); }

  public TreeNode withNewChildrenInternal(%indexed_seq% children) {
    return new WindowCall(name, calls, place, type, isNullable, (%seq%) children);
  }

  // Only Spark's own window operator sends a call to executors.
  protected Object writeReplace() {
    throw new IllegalStateException(
        "windrow: the session that plans " + name + " has not the optimizer of the one that made it; give that session's "
            + "DataFrames to wr.with_columns, or write: wr.spark.enable(session)");
  }

  public int productArity() { return fields().length; }

  public Object productElement(int n) { return fields()[n]; }

  public boolean canEqual(Object other) { return other instanceof WindowCall; }

  public boolean equals(Object other) {
    return other instanceof WindowCall && Arrays.equals(fields(), ((WindowCall) other).fields());
  }

  public int hashCode() { return Arrays.hashCode(new Object[] {name, place, type, isNullable, values}); }
}

/** Adds windows to a plan as a select does, so that the columns that there are keep their ids. */
public final class WindowColumns {
  private final %session% session;

  public WindowColumns(%session% session) { this.session = session; }

  /** Whether the session's optimizer has the rule. */
  public boolean hasRule() {
    for (Object each : Scala.list(session.experimental().extraOptimizations())) if (each instanceof SessionRule) return true;
    return false;
  }

  /** Lets the session plan stages that stand in a logical plan already. */
  public void planStages() { WindowStageStrategy.install(session); }

  /** The plan with windows, which are JSON: Spark's own as text, and calls of windrow's, all of which are made of one text. */
  public LogicalPlan added(LogicalPlan plan, String windows, String calls) throws Exception {
    List columns = distinct(plan);
    List chosen = new ArrayList(Scala.list(plan.output()));
    for (Object each : (List) Scala.json(windows)) {
      Map window = (Map) each;
      String text = (String) window.get("text");
      Expression made = text == null ? call(window, columns, calls) : located(parsed(text), (Map) window.get("columns"), columns);
      chosen.add(Scala.alias(made, (String) window.get("name")));
    }
    return new Project(Scala.seq(chosen), plan);
  }

  // A plan's columns; of those that it computes alike the first, so that equal keys are one.
  private static List distinct(LogicalPlan plan) {
    List columns = new ArrayList(Scala.list(plan.output()));
    if (!(plan instanceof Project)) return columns;
    Map seen = new HashMap(); // by canonical form
    List made = Scala.list(((Project) plan).projectList());
    for (int i = 0; i < made.size(); i++) {
      Expression expression = (Expression) made.get(i);
      if (expression instanceof Alias) expression = ((Alias) expression).child();
      Object first = expression.deterministic() ? seen.get(expression.canonicalized()) : null;
      if (first != null) columns.set(i, first);
      else seen.put(expression.canonicalized(), columns.get(i));
    }
    return columns;
  }

  /** The plan with some of its columns, by position, under names. */
  public LogicalPlan chosen(LogicalPlan plan, String chosen) throws java.io.IOException {
    List columns = Scala.list(plan.output());
    List made = new ArrayList();
    for (Object each : (List) Scala.json(chosen)) {
      Map column = (Map) each;
      Attribute attribute = (Attribute) columns.get(((Integer) column.get("column")).intValue());
      String name = (String) column.get("name");
      made.add(attribute.name().equals(name) ? attribute : Scala.alias(attribute, name));
    }
    return new Project(Scala.seq(made), plan);
  }

  private static List at(List places, List columns) {
    List found = new ArrayList();
    for (Object place : places) found.add(columns.get(((Integer) place).intValue()));
    return found;
  }

  private static Expression call(Map window, List columns, String calls) {
    WindowCall made =
        new WindowCall(
            (String) window.get("function"),
            calls,
            (Integer) window.get("place"),
            DataType$.MODULE$.fromJson((String) window.get("type")),
            (Boolean) window.get("nullable"),
            Scala.seq(at((List) window.get("values"), columns)));
    List order = new ArrayList();
    for (Object key : (List) window.get("order")) order.add(Scala.order((Map) key, columns));
    return made.over(Scala.seq(at((List) window.get("partition"), columns)), Scala.seq(order));
  }

  private Expression parsed(String text) throws Exception { return session.sessionState().sqlParser().parseExpression(text); }

  // An expression with the columns that its names mean, by position.
  private static Expression located(Expression expression, Map names, List columns) {
    if (expression instanceof UnresolvedAttribute) {
      List parts = Scala.list(((UnresolvedAttribute) expression).nameParts());
      Integer place = parts.size() == 1 ? (Integer) names.get(parts.get(0)) : null;
      return place == null ? expression : (Expression) columns.get(place.intValue());
    }
    List children = new ArrayList();
    for (Object child : Scala.list(expression.children())) children.add(located((Expression) child, names, columns));
    return children.isEmpty() ? expression : (Expression) expression.withNewChildren(Scala.seq(children));
  }
}

/** Writes expressions as JSON. Each has a number; expressions that are equal have the same. */
public final class ExpressionWriter {
  private final List expressions = new ArrayList();
  private final Map numbers = new HashMap(); // by canonical form
  private final List calls = new ArrayList(); // what calls of windrow's are made of, each once
  private StringBuilder out = new StringBuilder();

  public Expression expression(int number) { return (Expression) expressions.get(number); }

  /** What the calls of windrow's that are written are made of. */
  List calls() { return calls; }

  public String text(Object value) {
    out = new StringBuilder();
    write(value);
    return out.toString();
  }

  private int number(Expression expression) {
    Object key = expression.canonicalized();
    Integer number = (Integer) numbers.get(key);
    if (number == null) {
      number = Integer.valueOf(expressions.size());
      expressions.add(expression);
      numbers.put(key, number);
    }
    return number.intValue();
  }

  private void write(Object value) {
    if (value == null || value instanceof Boolean || value instanceof Integer || value instanceof Long)
      out.append(value);
    else if (value instanceof Expression) expression((Expression) value);
    else if (value instanceof DataType) quoted(((DataType) value).json());
    else if (value instanceof ExprId) out.append(((ExprId) value).id());
    else if (value instanceof scala.Option) write(((scala.Option) value).isDefined() ? ((scala.Option) value).get() : null);
    else if (value instanceof scala.collection.Seq) list(Scala.list((scala.collection.Seq) value));
    else if (value instanceof List) list((List) value);
    else if (value instanceof Map) map((Map) value);
    else if (Scala.kind(value).endsWith("EvalContext")) map(fields((scala.Product) value));
    else if (value instanceof PythonFunction) map(pickled((PythonFunction) value));
    else quoted(value.toString());
  }

  private void list(List values) {
    out.append('[');
    for (int i = 0; i < values.size(); i++) {
      if (i > 0) out.append(',');
      write(values.get(i));
    }
    out.append(']');
  }

  private void map(Map values) {
    out.append('{');
    boolean first = true;
    for (Object key : values.keySet()) {
      if (!first) out.append(',');
      first = false;
      quoted((String) key);
      out.append(':');
      write(values.get(key));
    }
    out.append('}');
  }

  private void quoted(String text) {
    out.append('"');
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      if (c == '"' || c == '\\') out.append('\\').append(c);
      else if (c < ' ' || c > '~') out.append(String.format("\\u%04x", new Object[] {Integer.valueOf((int) c)}));
      else out.append(c);
    }
    out.append('"');
  }

  private void expression(Expression expression) {
    Map about = new LinkedHashMap();
    about.put("kind", Scala.kind(expression));
    about.put("number", Integer.valueOf(number(expression)));
    boolean isOpen = isOpen(expression);
    if (expression instanceof Attribute) {
      about.put("id", ((Attribute) expression).exprId());
      about.put("name", ((Attribute) expression).name());
    }
    try {
      about.put("sql", expression instanceof SortOrder ? null : expression.sql());
      about.put("label", expression.prettyName());
      about.put("nullable", Boolean.valueOf(expression.nullable()));
      about.put("type", expression.dataType());
      about.put("type_name", expression.dataType().simpleString());
      if (!isOpen && expression.resolved() && expression.foldable())
        about.put("constant", constant(expression.eval(null), expression.dataType()));
    } catch (Exception error) {
      // it has no type, as a frame's bounds, or no value
    }
    if (expression instanceof WindowCall) about.put("fields", ((WindowCall) expression).described(calls));
    else if (isOpen) about.put("fields", Scala.kind(expression).equals("NullIndex") ? steps(expression) : fields(expression));
    else if (!(expression instanceof Attribute)) about.put("references", Scala.ids(expression.references().toSeq()));
    map(about);
  }

  // null_index counts up at a NULL, and is 0 at a value: what a sum that never falls below 0 adds up.
  private static Map steps(Expression expression) {
    Expression isNull = new IsNull((Expression) expression.children().apply(0));
    Expression up = Literal$.MODULE$.apply(Integer.valueOf(1));
    Expression down = Literal$.MODULE$.apply(Integer.valueOf(Integer.MIN_VALUE));
    Map fields = new LinkedHashMap();
    fields.put("steps", new If(isNull, up, down));
    return fields;
  }

  // Whether Python looks into an expression: others it reads as a column.
  private static boolean isOpen(Expression expression) {
    return expression instanceof WindowExpression
        || expression instanceof WindowSpec
        || expression instanceof WindowFrame
        || expression instanceof WindowFunction
        || expression instanceof AggregateExpression
        || expression instanceof AggregateFunction
        || expression instanceof SortOrder
        || Scala.kind(expression).equals("NamedArgumentExpression");
  }

  private static Map pickled(PythonFunction function) {
    List command = Scala.list(function.command());
    byte[] bytes = new byte[command.size()];
    for (int i = 0; i < bytes.length; i++) bytes[i] = ((Byte) command.get(i)).byteValue();
    String text = java.util.Base64.getEncoder().encodeToString(bytes);
    return Scala.map("command", text, "broadcasts", Boolean.valueOf(!function.broadcastVars().isEmpty()));
  }

  private static Map fields(scala.Product product) {
    Map fields = new LinkedHashMap();
    String[] names = Scala.names(product);
    for (int i = 0; i < names.length; i++) fields.put(names[i], product.productElement(i));
    return fields;
  }

  // A value with what tells how to read it.
  private static List constant(Object value, DataType type) {
    String kind = Scala.kind(type);
    if (value == null) return Arrays.asList(new Object[] {"null"});
    if (value instanceof Boolean) return Arrays.asList(new Object[] {"bool", value});
    if (kind.equals("DayTimeIntervalType")) return Arrays.asList(new Object[] {"microseconds", value});
    if (kind.equals("YearMonthIntervalType")) return Arrays.asList(new Object[] {"months", value});
    if (kind.equals("ByteType") || kind.equals("ShortType") || kind.equals("IntegerType") || kind.equals("LongType"))
      return Arrays.asList(new Object[] {"int", Long.valueOf(((Number) value).longValue())});
    if (value instanceof Double || value instanceof Float) return Arrays.asList(new Object[] {"float", value.toString()});
    if (kind.equals("DecimalType")) return Arrays.asList(new Object[] {"decimal", value.toString()});
    if (kind.equals("StringType")) return Arrays.asList(new Object[] {"text", value.toString()});
    if (value instanceof byte[]) {
      StringBuilder hexadecimal = new StringBuilder();
      for (byte b : (byte[]) value) hexadecimal.append(String.format("%02x", new Object[] {Byte.valueOf(b)}));
      return Arrays.asList(new Object[] {"binary", hexadecimal.toString()});
    }
    if (type.simpleString().equals("array<double>")) {
      List values = new ArrayList();
      for (double each : ((org.apache.spark.sql.catalyst.util.ArrayData) value).toDoubleArray()) values.add(String.valueOf(each));
      return Arrays.asList(new Object[] {"floats", values});
    }
    return Arrays.asList(new Object[] {"other"});
  }
}

/** What Java has no word for. */
final class Scala {
  private static final Map NAMES = new HashMap(); // the fields of classes

  static List list(scala.collection.Seq values) {
    List list = new ArrayList();
    for (scala.collection.Iterator i = values.iterator(); i.hasNext();) list.add(i.next());
    return list;
  }

  static %seq% seq(List values) {
    scala.collection.mutable.ListBuffer buffer = new scala.collection.mutable.ListBuffer();
    for (Object value : values) buffer.$plus$eq(value);
    return buffer.toList();
  }

  static Map map(String first, Object value, String second, Object other) {
    Map map = new LinkedHashMap();
    map.put(first, value);
    map.put(second, other);
    return map;
  }

  static Map map(String first, Object value, String second, Object other, String third, Object last) {
    Map map = map(first, value, second, other);
    map.put(third, last);
    return map;
  }

  static List ids(scala.collection.Seq attributes) {
    List ids = new ArrayList();
    for (Object attribute : list(attributes)) ids.add(Long.valueOf(((Attribute) attribute).exprId().id()));
    return ids;
  }

  static NamedExpression alias(Expression expression, String name) { return alias(expression, name, null); }

  // An expression under a name, with the identity of an attribute where one is given.
  static NamedExpression alias(Expression expression, String name, Attribute identity) {
    return new Alias(
        expression,
        name,
        identity == null ? NamedExpression$.MODULE$.newExprId() : identity.exprId(),
        identity == null ? Scala.seq(new ArrayList()) : identity.qualifier(),
        identity == null ? (scala.Option) scala.None$.MODULE$ : scala.Option.apply(identity.metadata()),
        Scala.seq(new ArrayList()));
  }

  // An order key: JSON that says which of some columns it is, and how it sorts.
  static SortOrder order(Map key, List columns) {
    SortDirection direction = Ascending$.MODULE$;
    if (Boolean.TRUE.equals(key.get("descending"))) direction = Descending$.MODULE$;
    NullOrdering nulls = NullsLast$.MODULE$;
    if (Boolean.TRUE.equals(key.get("nulls_first"))) nulls = NullsFirst$.MODULE$;
    Expression column = (Expression) columns.get(((Integer) key.get("column")).intValue());
    return new SortOrder(column, direction, nulls, Scala.seq(new ArrayList()));
  }

  static Object json(String text) throws java.io.IOException {
    return new com.fasterxml.jackson.databind.ObjectMapper().readValue(text, Object.class);
  }

  // A case class's object of its first field; each release has more fields, with defaults.
  static Object withDefaults(Class kind, Object first) {
    try {
      java.lang.reflect.Constructor constructor = kind.getConstructors()[0];
      Class companion = kind.getClassLoader().loadClass(kind.getName() + "$");
      Object maker = companion.getField("MODULE$").get(null);
      Object[] fields = new Object[constructor.getParameterCount()];
      fields[0] = first;
      for (int i = 1; i < fields.length; i++)
        fields[i] = companion.getMethod("apply$default$" + (i + 1), new Class[0]).invoke(maker, new Object[0]);
      return constructor.newInstance(fields);
    } catch (ReflectiveOperationException error) {
      throw new RuntimeException(error);
    }
  }

  static Expression cast(Expression expression, DataType type) { return Cast$.MODULE$.apply(expression, type, false); }

  // Casts to types that are JSON, one after the other; null: to none.
  static Expression cast(Expression expression, List types) {
    if (types != null)
      for (Object type : types) expression = cast(expression, DataType$.MODULE$.fromJson((String) type));
    return expression;
  }

  // A new column.
  static Attribute attribute(String name, String type) {
    return alias(Literal$.MODULE$.create(null, DataType$.MODULE$.fromJson(type)), name).toAttribute();
  }

  static String kind(Object value) {
    String name = value.getClass().getName();
    while (name.endsWith("$")) name = name.substring(0, name.length() - 1);
    return name.substring(Math.max(name.lastIndexOf('.'), name.lastIndexOf('$')) + 1);
  }

  static synchronized String[] names(scala.Product product) {
    String[] names = (String[]) NAMES.get(product.getClass());
    if (names == null) {
      names = readNames(product);
      NAMES.put(product.getClass(), names);
    }
    return names;
  }

  private static String[] readNames(scala.Product product) {
    String[] names = new String[product.productArity()];
    try {
      java.lang.reflect.Method name = product.getClass().getMethod("productElementName", new Class[] {int.class});
      for (int i = 0; i < names.length; i++) names[i] = (String) name.invoke(product, new Object[] {Integer.valueOf(i)});
    } catch (NoSuchMethodException error) { // Scala 2.12
      List found = list(org.apache.spark.sql.catalyst.ScalaReflection$.MODULE$.getConstructorParameterNames(product.getClass()));
      for (int i = 0; i < names.length; i++) names[i] = (String) found.get(i);
    } catch (ReflectiveOperationException error) {
      throw new RuntimeException(error);
    }
    return names;
  }
}

/**
 * A stage in the logical plan. Columns that pass through keep their ids, so they are not new here, and none of those that
 * the function takes may be pruned.
 */
public final class WindowStage extends %map_in_arrow% {
  public WindowStage(Expression function, %seq% output, LogicalPlan child, boolean isBarrier%profile_parameter%) {
    super(function, output, child, isBarrier%profile_argument%);
  }

  public AttributeSet producedAttributes() { return outputSet().$minus$minus(child().outputSet()); }

  public AttributeSet references() { return child().outputSet(); }

  public %map_in_arrow% withNewChildInternal(LogicalPlan child) {
    return new WindowStage(functionExpr(), output(), child, isBarrier()%profile%);
  }
}

/**
 * A stage of windrow's in the physical plan: Spark's node for mapInArrow that asks for whole partitions, as WindowExec
 * does, and says in which order rows leave. So Spark puts exchanges where they are needed, and keeps them there.
 */
public final class WindowStageExec extends %map_in_arrow%Exec {
  // Made here, as nodes look for the session of their thread.
  private final %map_in_arrow%Exec plain;

  public WindowStageExec(Expression function, %seq% output, SparkPlan child, boolean isBarrier%profile_parameter%) {
    super(function, output, child, isBarrier%profile_argument%);
    plain = new %map_in_arrow%Exec(function, output, child, isBarrier%profile_argument%);
  }

  // The function's parameters are the partition keys, then the order of the rows that leave.
  private List parameters(boolean isOrder) {
    List found = new ArrayList();
    for (Object each : Scala.list(((PythonUDF) func()).children()))
      if ((each instanceof SortOrder) == isOrder) found.add(each);
    return found;
  }

  public %seq% requiredChildDistribution() {
    List keys = parameters(false);
    Object asked = keys.isEmpty() ? (Object) AllTuples$.MODULE$ : Scala.withDefaults(ClusteredDistribution.class, Scala.seq(keys));
    return Scala.seq(Arrays.asList(new Object[] {asked}));
  }

  public %seq% outputOrdering() { return Scala.seq(parameters(true)); }

  public String nodeName() { return ((PythonUDF) func()).name(); }

  public scala.collection.Iterator stringArgs() {
    return Scala.seq(Arrays.asList(new Object[] {Scala.seq(parameters(false)), outputOrdering(), output()})).iterator();
  }

  public %map_in_arrow%Exec withNewChildInternal(SparkPlan child) {
    return new WindowStageExec(func(), output(), child, isBarrier()%profile%);
  }

  // Nodes around this one go to executors, where Spark's own class does the same. (Janino renames private methods.)
  protected Object writeReplace() { return plain; }
}

/** Plans the stages that the rule put into a query. */
public final class WindowStageStrategy extends SparkStrategy {
  // Puts it into a session. It stays: adaptive execution plans a query again while it runs.
  static void install(%session% session) {
    org.apache.spark.sql.ExperimentalMethods experimental = session.experimental();
    List strategies = new ArrayList();
    for (Object each : Scala.list(experimental.extraStrategies())) {
      if (each instanceof WindowStageStrategy) return;
      strategies.add(each);
    }
    strategies.add(new WindowStageStrategy());
    experimental.extraStrategies_$eq(Scala.seq(strategies));
  }

  public %seq% apply(LogicalPlan plan) {
    List plans = new ArrayList();
    if (plan instanceof WindowStage) {
      WindowStage node = (WindowStage) plan;
      plans.add(
          new WindowStageExec(node.functionExpr(), node.output(), planLater(node.child()), node.isBarrier()%node_profile%));
    }
    return Scala.seq(plans);
  }
}
