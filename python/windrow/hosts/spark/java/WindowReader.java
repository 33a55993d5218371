package windrow;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.catalyst.expressions.Alias;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.AttributeReference;
import org.apache.spark.sql.catalyst.expressions.AttributeSet;
import org.apache.spark.sql.catalyst.expressions.AttributeSet$;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.NamedExpression;
import org.apache.spark.sql.catalyst.expressions.WindowExpression;
import org.apache.spark.sql.catalyst.expressions.WindowSpecDefinition;
import org.apache.spark.sql.catalyst.plans.logical.Aggregate;
import org.apache.spark.sql.catalyst.plans.logical.Filter;
import org.apache.spark.sql.catalyst.plans.logical.GlobalLimit;
import org.apache.spark.sql.catalyst.plans.logical.Join;
import org.apache.spark.sql.catalyst.plans.logical.LocalLimit;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.Project;
import org.apache.spark.sql.catalyst.plans.logical.Sort;
import org.apache.spark.sql.catalyst.plans.logical.SubqueryAlias;
import org.apache.spark.sql.catalyst.plans.logical.Window;
import org.apache.spark.sql.catalyst.trees.TreePattern;
import org.apache.spark.sql.execution.datasources.HadoopFsRelation;
import org.apache.spark.sql.execution.datasources.LogicalRelation;

/** Gives the windows of a plan as one text, and builds the plan that is asked for. */
public final class WindowReader {
  private static final String[] PYTHON_SETTINGS = {
    "spark.sql.execution.pandas.convertToArrowArraySafely",
    "spark.sql.execution.pythonUDF.pandas.intToDecimalCoercionEnabled",
    "spark.sql.execution.pythonUDF.pandas.preferIntExtensionDtype",
    "spark.sql.pyspark.udf.profiler"
  };
  // monotonically_increasing_id() has the row's number within its partition in so many bits.
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
    if (node instanceof Project && required != null && !isOptimized) below = referencesOfRequired((Project) node, required);
    else if (node instanceof Project || node instanceof Aggregate) below = node.references();
    else if (required != null && passes(node)) below = required.$plus$plus(node.references());
    if (node instanceof GlobalLimit) limited = node.maxRows();
    else if (!(node instanceof LocalLimit || node instanceof Project)) limited = null;
    for (Object child : Scala.list(node.children())) visit((LogicalPlan) child, below, limited);
  }

  private static AttributeSet referencesOfRequired(Project node, AttributeSet required) {
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
      if (step.containsKey("node")) below = keptWindow(chain, step, below);
      else if (step.containsKey("chosen")) below = projected(step, attributes, below);
      else below = new StageBuilder(step, attributes, writer, functions).over(below);
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
  private static LogicalPlan keptWindow(Chain chain, Map left, LogicalPlan below) {
    Window window = (Window) chain.nodes.get(((Integer) left.get("node")).intValue());
    List expressions = Scala.list(window.windowExpressions());
    List kept = new ArrayList();
    for (Object at : (List) left.get("windows")) kept.add(expressions.get(((Integer) at).intValue()));
    return (LogicalPlan) with(window, kept).withNewChildren(Scala.seq(Arrays.asList(new Object[] {below})));
  }

  private static LogicalPlan projected(Map step, Map attributes, LogicalPlan below) {
    List columns = new ArrayList();
    for (Object id : (List) step.get("chosen")) columns.add(attributes.get(Long.valueOf(((Number) id).longValue())));
    return new Project(Scala.seq(columns), below);
  }
}
