package windrow;

import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.execution.SparkStrategy;

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
