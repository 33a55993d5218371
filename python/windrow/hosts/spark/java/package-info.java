/**
 * Spark's side of hosts/spark/session_rule.py and of with_columns. Spark's own compiler (Janino) compiles these files as
 * one, in the driver's JVM, after the names between percent signs are replaced by those of the Spark release
 * (hosts/spark/compiled.py). Janino has neither generics nor lambdas. Executors never load these classes.
 */
package windrow;
