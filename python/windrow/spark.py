"""PySpark: DataFrames, PySpark's own Columns, and the schemas on both sides of ``mapInArrow``.

Imported only when something of PySpark's is used. Works with Spark Classic and Spark Connect.
"""

from __future__ import annotations

from .hosts.spark.accelerate import accelerate

__all__ = ["accelerate"]
