package windrow;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.catalyst.expressions.Alias;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.Ascending$;
import org.apache.spark.sql.catalyst.expressions.Cast$;
import org.apache.spark.sql.catalyst.expressions.Descending$;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.Literal$;
import org.apache.spark.sql.catalyst.expressions.NamedExpression;
import org.apache.spark.sql.catalyst.expressions.NamedExpression$;
import org.apache.spark.sql.catalyst.expressions.NullOrdering;
import org.apache.spark.sql.catalyst.expressions.NullsFirst$;
import org.apache.spark.sql.catalyst.expressions.NullsLast$;
import org.apache.spark.sql.catalyst.expressions.SortDirection;
import org.apache.spark.sql.catalyst.expressions.SortOrder;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataType$;

/** What Java has no word for. */
final class Scala {
  private static final Map NAMES = new HashMap(); // the fields of classes

  static List list(scala.collection.Seq values) {
    List list = new ArrayList();
    for (scala.collection.Iterator i = values.iterator(); i.hasNext();) list.add(i.next());
    return list;
  }

  static %seq% seq(List values) {
    scala.collection.mutable.ListBuffer buffer = new scala.collection.mutable.ListBuffer();
    for (Object value : values) buffer.$plus$eq(value);
    return buffer.toList();
  }

  static Map map(String first, Object value, String second, Object other) {
    Map map = new LinkedHashMap();
    map.put(first, value);
    map.put(second, other);
    return map;
  }

  static Map map(String first, Object value, String second, Object other, String third, Object last) {
    Map map = map(first, value, second, other);
    map.put(third, last);
    return map;
  }

  static List ids(scala.collection.Seq attributes) {
    List ids = new ArrayList();
    for (Object attribute : list(attributes)) ids.add(Long.valueOf(((Attribute) attribute).exprId().id()));
    return ids;
  }

  static NamedExpression alias(Expression expression, String name) { return alias(expression, name, null); }

  // An expression under a name, with the identity of an attribute where one is given.
  static NamedExpression alias(Expression expression, String name, Attribute identity) {
    return new Alias(
        expression,
        name,
        identity == null ? NamedExpression$.MODULE$.newExprId() : identity.exprId(),
        identity == null ? Scala.seq(new ArrayList()) : identity.qualifier(),
        identity == null ? (scala.Option) scala.None$.MODULE$ : scala.Option.apply(identity.metadata()),
        Scala.seq(new ArrayList()));
  }

  // An order key: JSON that says which of some columns it is, and how it sorts.
  static SortOrder order(Map key, List columns) {
    SortDirection direction = Ascending$.MODULE$;
    if (Boolean.TRUE.equals(key.get("descending"))) direction = Descending$.MODULE$;
    NullOrdering nulls = NullsLast$.MODULE$;
    if (Boolean.TRUE.equals(key.get("nulls_first"))) nulls = NullsFirst$.MODULE$;
    Expression column = (Expression) columns.get(((Integer) key.get("column")).intValue());
    return new SortOrder(column, direction, nulls, Scala.seq(new ArrayList()));
  }

  static Object json(String text) throws java.io.IOException {
    return new com.fasterxml.jackson.databind.ObjectMapper().readValue(text, Object.class);
  }

  // A case class's object of its first field; each release has more fields, with defaults.
  static Object withDefaults(Class kind, Object first) {
    try {
      java.lang.reflect.Constructor constructor = kind.getConstructors()[0];
      Class companion = kind.getClassLoader().loadClass(kind.getName() + "$");
      Object maker = companion.getField("MODULE$").get(null);
      Object[] fields = new Object[constructor.getParameterCount()];
      fields[0] = first;
      for (int i = 1; i < fields.length; i++)
        fields[i] = companion.getMethod("apply$default$" + (i + 1), new Class[0]).invoke(maker, new Object[0]);
      return constructor.newInstance(fields);
    } catch (ReflectiveOperationException error) {
      throw new RuntimeException(error);
    }
  }

  static Expression cast(Expression expression, DataType type) { return Cast$.MODULE$.apply(expression, type, false); }

  // Casts to types that are JSON, one after the other; null: to none.
  static Expression cast(Expression expression, List types) {
    if (types != null)
      for (Object type : types) expression = cast(expression, DataType$.MODULE$.fromJson((String) type));
    return expression;
  }

  // A new column.
  static Attribute attribute(String name, String type) {
    return alias(Literal$.MODULE$.create(null, DataType$.MODULE$.fromJson(type)), name).toAttribute();
  }

  static String kind(Object value) {
    String name = value.getClass().getName();
    while (name.endsWith("$")) name = name.substring(0, name.length() - 1);
    return name.substring(Math.max(name.lastIndexOf('.'), name.lastIndexOf('$')) + 1);
  }

  static synchronized String[] names(scala.Product product) {
    String[] names = (String[]) NAMES.get(product.getClass());
    if (names == null) {
      names = readNames(product);
      NAMES.put(product.getClass(), names);
    }
    return names;
  }

  private static String[] readNames(scala.Product product) {
    String[] names = new String[product.productArity()];
    try {
      java.lang.reflect.Method name = product.getClass().getMethod("productElementName", new Class[] {int.class});
      for (int i = 0; i < names.length; i++) names[i] = (String) name.invoke(product, new Object[] {Integer.valueOf(i)});
    } catch (NoSuchMethodException error) { // Scala 2.12
      List found = list(org.apache.spark.sql.catalyst.ScalaReflection$.MODULE$.getConstructorParameterNames(product.getClass()));
      for (int i = 0; i < names.length; i++) names[i] = (String) found.get(i);
    } catch (ReflectiveOperationException error) {
      throw new RuntimeException(error);
    }
    return names;
  }
}
