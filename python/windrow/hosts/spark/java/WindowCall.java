package windrow;

import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.RowFrame$;
import org.apache.spark.sql.catalyst.expressions.SpecifiedWindowFrame;
import org.apache.spark.sql.catalyst.expressions.UnboundedFollowing$;
import org.apache.spark.sql.catalyst.expressions.UnboundedPreceding$;
import org.apache.spark.sql.catalyst.expressions.UnevaluableAggregateFunc;
import org.apache.spark.sql.catalyst.expressions.WindowExpression;
import org.apache.spark.sql.catalyst.expressions.WindowFrame;
import org.apache.spark.sql.catalyst.expressions.WindowSpecDefinition;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.Window;
import org.apache.spark.sql.catalyst.trees.TreeNode;
import org.apache.spark.sql.types.DataType;

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
