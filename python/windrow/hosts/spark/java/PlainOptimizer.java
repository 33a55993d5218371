package windrow;

import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;

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
