package windrow;

import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.rules.Rule;
import org.apache.spark.sql.catalyst.trees.TreeNode;
import org.apache.spark.sql.catalyst.trees.TreePattern;

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

  // Python gives null where it leaves a plan, and a text for what is wrong, which is an error if there are calls.
  private Object planned(LogicalPlan plan) {
    boolean hasCalls = WindowCall.isIn(plan);
    if (onlyCalls && !hasCalls) return plan;
    Object result;
    try {
      result = function.apply(new WindowReader(plan, true));
    } catch (Exception error) {
      result = "Python cannot be reached: " + error;
      if (!hasCalls) System.err.println("windrow: a query is left to Spark, as " + result);
    }
    if (result instanceof String && hasCalls) throw new IllegalArgumentException("windrow: " + result);
    if (!(result instanceof LogicalPlan)) return plan;
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
