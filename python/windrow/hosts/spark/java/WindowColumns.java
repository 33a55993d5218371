package windrow;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.catalyst.analysis.UnresolvedAttribute;
import org.apache.spark.sql.catalyst.expressions.Alias;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.Project;
import org.apache.spark.sql.types.DataType$;

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
