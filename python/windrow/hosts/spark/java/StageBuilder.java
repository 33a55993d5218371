package windrow;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.apache.spark.api.python.PythonFunction;
import org.apache.spark.sql.catalyst.expressions.Alias;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.BitwiseAnd;
import org.apache.spark.sql.catalyst.expressions.EqualTo;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.If;
import org.apache.spark.sql.catalyst.expressions.Literal$;
import org.apache.spark.sql.catalyst.expressions.MonotonicallyIncreasingID;
import org.apache.spark.sql.catalyst.expressions.NamedExpression;
import org.apache.spark.sql.catalyst.expressions.NamedExpression$;
import org.apache.spark.sql.catalyst.expressions.PythonUDF;
import org.apache.spark.sql.catalyst.expressions.ScalarSubquery;
import org.apache.spark.sql.catalyst.expressions.ShiftRight;
import org.apache.spark.sql.catalyst.expressions.SparkPartitionID;
import org.apache.spark.sql.catalyst.plans.logical.LocalRelation$;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.%map_in_arrow%;
import org.apache.spark.sql.catalyst.plans.logical.Project;
import org.apache.spark.sql.catalyst.plans.logical.Repartition;
import org.apache.spark.sql.catalyst.plans.logical.RepartitionByExpression;
import org.apache.spark.sql.types.DataType$;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;

/** Builds a stage of windrow's in a logical plan, as Python describes it. */
final class StageBuilder {
  private static final int ROW_BITS = 33; // of a row's number in MonotonicallyIncreasingID
  private final Map stage;
  private final Map split; // how it is split across tasks, or null
  private final Map attributes; // by id: of the columns below, and of the windows
  private final ExpressionWriter writer;
  private final List functions;
  private final List columns = new ArrayList(); // Attribute, as they come to the function
  private final List output = new ArrayList(); // Attribute, as they come from it
  private final List restored = new ArrayList(); // NamedExpression, what Spark makes of these
  private boolean restores;

  StageBuilder(Map stage, Map attributes, ExpressionWriter writer, List functions) {
    this.stage = stage;
    this.split = (Map) stage.get("split");
    this.attributes = attributes;
    this.writer = writer;
    this.functions = functions;
  }

  LogicalPlan over(LogicalPlan below) {
    below = withInput(below);
    addOutput();
    if (split == null) {
      below = new WindowStage(function(stage, parameters()), Scala.seq(output), below, false%no_profile%);
    } else {
      below = withSummaries(below);
      PythonUDF function = function(stage, Scala.list(below.output())); // what it reads must not be pruned
      below = new %map_in_arrow%(function, Scala.seq(output), below, false%no_profile%);
    }
    return restores ? new Project(Scala.seq(restored), below) : below;
  }

  private LogicalPlan withInput(LogicalPlan below) {
    List computed = new ArrayList(); // NamedExpression
    for (Object each : (List) stage.get("columns")) {
      NamedExpression made = input((Map) each);
      computed.add(made);
      columns.add(made.toAttribute());
    }
    return Boolean.TRUE.equals(stage.get("projected")) ? new Project(Scala.seq(computed), below) : below;
  }

  private NamedExpression input(Map column) {
    String name = (String) column.get("name");
    if (column.get("id") != null) {
      Attribute attribute = attribute(column);
      Expression carried = Scala.cast(attribute, (List) column.get("casts"));
      return carried == attribute && attribute.name().equals(name) ? attribute : Scala.alias(carried, name);
    }
    if (column.get("expression") == null) return Scala.alias(Literal$.MODULE$.TrueLiteral(), name);
    Expression expression = writer.expression(((Integer) column.get("expression")).intValue());
    return Scala.alias(Scala.cast(expression, (List) column.get("casts")), name);
  }

  private Attribute attribute(Map column) {
    return (Attribute) attributes.get(Long.valueOf(((Number) column.get("id")).longValue()));
  }

  // The keys, then the order in which rows leave (see WindowStageExec).
  private List parameters() {
    List parameters = new ArrayList();
    for (Object each : (List) stage.get("keys")) {
      Map key = (Map) each;
      Integer at = (Integer) key.get("column");
      if (at != null) parameters.add(columns.get(at.intValue()));
      else parameters.add(writer.expression(((Integer) key.get("expression")).intValue()));
    }
    for (Object each : (List) stage.get("ordering")) parameters.add(Scala.order((Map) each, columns));
    return parameters;
  }

  private void addOutput() {
    List parts = new ArrayList(); // Attribute, of which texts are expressions
    for (Object each : (List) stage.get("parts"))
      parts.add(Scala.attribute((String) ((Map) each).get("name"), (String) ((Map) each).get("type")));
    for (Object each : (List) stage.get("output")) {
      Map column = (Map) each;
      Attribute attribute = attribute(column);
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
  }

  private PythonUDF function(Map about, List parameters) {
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
  private LogicalPlan withSummaries(LogicalPlan below) {
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
      PythonUDF function = function((Map) each, Scala.list(summaries.output()));
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
