package windrow;

import org.apache.spark.sql.catalyst.expressions.AttributeSet;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.%map_in_arrow%;

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
