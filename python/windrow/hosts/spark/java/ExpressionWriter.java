package windrow;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.spark.api.python.PythonFunction;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.ExprId;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.If;
import org.apache.spark.sql.catalyst.expressions.IsNull;
import org.apache.spark.sql.catalyst.expressions.Literal$;
import org.apache.spark.sql.catalyst.expressions.SortOrder;
import org.apache.spark.sql.catalyst.expressions.WindowExpression;
import org.apache.spark.sql.catalyst.expressions.WindowFrame;
import org.apache.spark.sql.catalyst.expressions.WindowFunction;
import org.apache.spark.sql.catalyst.expressions.WindowSpec;
import org.apache.spark.sql.catalyst.expressions.aggregate.AggregateExpression;
import org.apache.spark.sql.catalyst.expressions.aggregate.AggregateFunction;
import org.apache.spark.sql.types.DataType;

/** Writes expressions as JSON. Each has a number; expressions that are equal have the same. */
public final class ExpressionWriter {
  private final List expressions = new ArrayList();
  private final Map numbers = new HashMap(); // by canonical form
  private final List calls = new ArrayList(); // what calls of windrow's are made of, each once
  private StringBuilder out = new StringBuilder();

  public Expression expression(int number) { return (Expression) expressions.get(number); }

  /** What the calls of windrow's that are written are made of. */
  List calls() { return calls; }

  public String text(Object value) {
    out = new StringBuilder();
    write(value);
    return out.toString();
  }

  private int number(Expression expression) {
    Object key = expression.canonicalized();
    Integer number = (Integer) numbers.get(key);
    if (number == null) {
      number = Integer.valueOf(expressions.size());
      expressions.add(expression);
      numbers.put(key, number);
    }
    return number.intValue();
  }

  private void write(Object value) {
    if (value == null || value instanceof Boolean || value instanceof Integer || value instanceof Long)
      out.append(value);
    else if (value instanceof Expression) expression((Expression) value);
    else if (value instanceof DataType) quoted(((DataType) value).json());
    else if (value instanceof ExprId) out.append(((ExprId) value).id());
    else if (value instanceof scala.Option) write(((scala.Option) value).isDefined() ? ((scala.Option) value).get() : null);
    else if (value instanceof scala.collection.Seq) list(Scala.list((scala.collection.Seq) value));
    else if (value instanceof List) list((List) value);
    else if (value instanceof Map) map((Map) value);
    else if (Scala.kind(value).endsWith("EvalContext")) map(fields((scala.Product) value));
    else if (value instanceof PythonFunction) map(pickled((PythonFunction) value));
    else quoted(value.toString());
  }

  private void list(List values) {
    out.append('[');
    for (int i = 0; i < values.size(); i++) {
      if (i > 0) out.append(',');
      write(values.get(i));
    }
    out.append(']');
  }

  private void map(Map values) {
    out.append('{');
    boolean first = true;
    for (Object key : values.keySet()) {
      if (!first) out.append(',');
      first = false;
      quoted((String) key);
      out.append(':');
      write(values.get(key));
    }
    out.append('}');
  }

  private void quoted(String text) {
    out.append('"');
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      if (c == '"' || c == '\\') out.append('\\').append(c);
      else if (c < ' ' || c > '~') out.append(String.format("\\u%04x", new Object[] {Integer.valueOf((int) c)}));
      else out.append(c);
    }
    out.append('"');
  }

  private void expression(Expression expression) {
    Map about = new LinkedHashMap();
    about.put("kind", Scala.kind(expression));
    about.put("number", Integer.valueOf(number(expression)));
    boolean isOpen = isOpen(expression);
    if (expression instanceof Attribute) {
      about.put("id", ((Attribute) expression).exprId());
      about.put("name", ((Attribute) expression).name());
    }
    try {
      about.put("sql", expression instanceof SortOrder ? null : expression.sql());
      about.put("label", expression.prettyName());
      about.put("nullable", Boolean.valueOf(expression.nullable()));
      about.put("type", expression.dataType());
      about.put("type_name", expression.dataType().simpleString());
      if (!isOpen && expression.resolved() && expression.foldable())
        about.put("constant", constant(expression.eval(null), expression.dataType()));
    } catch (Exception error) {
      // it has no type, as a frame's bounds, or no value
    }
    if (expression instanceof WindowCall) about.put("fields", ((WindowCall) expression).described(calls));
    else if (isOpen) about.put("fields", Scala.kind(expression).equals("NullIndex") ? steps(expression) : fields(expression));
    else if (!(expression instanceof Attribute)) about.put("references", Scala.ids(expression.references().toSeq()));
    map(about);
  }

  // null_index counts up at a NULL, and is 0 at a value: what a sum that never falls below 0 adds up.
  private static Map steps(Expression expression) {
    Expression isNull = new IsNull((Expression) expression.children().apply(0));
    Expression up = Literal$.MODULE$.apply(Integer.valueOf(1));
    Expression down = Literal$.MODULE$.apply(Integer.valueOf(Integer.MIN_VALUE));
    Map fields = new LinkedHashMap();
    fields.put("steps", new If(isNull, up, down));
    return fields;
  }

  // Whether Python looks into an expression: others it reads as a column.
  private static boolean isOpen(Expression expression) {
    return expression instanceof WindowExpression
        || expression instanceof WindowSpec
        || expression instanceof WindowFrame
        || expression instanceof WindowFunction
        || expression instanceof AggregateExpression
        || expression instanceof AggregateFunction
        || expression instanceof SortOrder
        || Scala.kind(expression).equals("NamedArgumentExpression");
  }

  private static Map pickled(PythonFunction function) {
    List command = Scala.list(function.command());
    byte[] bytes = new byte[command.size()];
    for (int i = 0; i < bytes.length; i++) bytes[i] = ((Byte) command.get(i)).byteValue();
    String text = java.util.Base64.getEncoder().encodeToString(bytes);
    return Scala.map("command", text, "broadcasts", Boolean.valueOf(!function.broadcastVars().isEmpty()));
  }

  private static Map fields(scala.Product product) {
    Map fields = new LinkedHashMap();
    String[] names = Scala.names(product);
    for (int i = 0; i < names.length; i++) fields.put(names[i], product.productElement(i));
    return fields;
  }

  // A value with what tells how to read it.
  private static List constant(Object value, DataType type) {
    String kind = Scala.kind(type);
    if (value == null) return Arrays.asList(new Object[] {"null"});
    if (value instanceof Boolean) return Arrays.asList(new Object[] {"bool", value});
    if (kind.equals("DayTimeIntervalType")) return Arrays.asList(new Object[] {"microseconds", value});
    if (kind.equals("YearMonthIntervalType")) return Arrays.asList(new Object[] {"months", value});
    if (kind.equals("ByteType") || kind.equals("ShortType") || kind.equals("IntegerType") || kind.equals("LongType"))
      return Arrays.asList(new Object[] {"int", Long.valueOf(((Number) value).longValue())});
    if (value instanceof Double || value instanceof Float) return Arrays.asList(new Object[] {"float", value.toString()});
    if (kind.equals("DecimalType")) return Arrays.asList(new Object[] {"decimal", value.toString()});
    if (kind.equals("StringType")) return Arrays.asList(new Object[] {"text", value.toString()});
    if (value instanceof byte[]) {
      StringBuilder hexadecimal = new StringBuilder();
      for (byte b : (byte[]) value) hexadecimal.append(String.format("%02x", new Object[] {Byte.valueOf(b)}));
      return Arrays.asList(new Object[] {"binary", hexadecimal.toString()});
    }
    if (type.simpleString().equals("array<double>")) {
      List values = new ArrayList();
      for (double each : ((org.apache.spark.sql.catalyst.util.ArrayData) value).toDoubleArray()) values.add(String.valueOf(each));
      return Arrays.asList(new Object[] {"floats", values});
    }
    return Arrays.asList(new Object[] {"other"});
  }
}
