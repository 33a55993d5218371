package windrow;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.catalyst.expressions.AttributeSet;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;

/** Window nodes of which none reads what another computes, one upon the other. */
final class Chain {
  final List nodes = new ArrayList(); // Window, from above
  LogicalPlan base;
  AttributeSet required; // what is read above; null: all
  Object limited;
  Chain below; // if there are only projections and filters between
  Map answer;
}
