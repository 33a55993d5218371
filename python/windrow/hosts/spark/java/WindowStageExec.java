package windrow;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.PythonUDF;
import org.apache.spark.sql.catalyst.expressions.SortOrder;
import org.apache.spark.sql.catalyst.plans.physical.AllTuples$;
import org.apache.spark.sql.catalyst.plans.physical.ClusteredDistribution;
import org.apache.spark.sql.execution.SparkPlan;
import org.apache.spark.sql.execution.python.%map_in_arrow%Exec;

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
