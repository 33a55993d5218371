"""PySpark's own Columns, read structurally."""
