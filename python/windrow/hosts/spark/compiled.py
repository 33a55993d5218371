"""The package's Java classes, compiled in the driver's JVM for the release of Spark that runs there."""

from __future__ import annotations

import re
from importlib.resources import files
from threading import Lock
from typing import Any

from .jvm import compiled_classes, constructor_of, jvm_key, new_object

__all__ = ["make"]

# What Spark 4 calls differently from Spark 3.5.
_SPARK_4 = {
    "map_in_arrow": "MapInArrow",
    "seq": "scala.collection.immutable.Seq",
    "indexed_seq": "scala.collection.immutable.IndexedSeq",
    "session": "org.apache.spark.sql.classic.SparkSession",
    "profile_parameter": ", scala.Option profile",
    "profile_argument": ", profile",
    "profile": ", profile()",
    "node_profile": ", node.profile()",
    "no_profile": ", (scala.Option) scala.None$.MODULE$",
}
_SPARK_3 = dict.fromkeys(_SPARK_4, "") | {
    "map_in_arrow": "PythonMapInArrow",
    "seq": "scala.collection.Seq",
    "indexed_seq": "scala.collection.IndexedSeq",
    "session": "org.apache.spark.sql.SparkSession",
}

# by JVM: a SparkContext may be stopped, and another started elsewhere
_loaders: dict[int, Any] = {}
_constructors: dict[tuple[int, str], Any] = {}
_compiling = Lock()


def make(name: str, *arguments: Any) -> Any:
    """Make an object of one of the classes, which are compiled at the first call.

    Parameters
    ----------
    name
        The class.
    arguments
        Those of its constructor.

    Returns
    -------
    JavaObject
        The object.
    """
    with _compiling:
        key = jvm_key()
        if key not in _loaders:
            _loaders[key] = compiled_classes(_source())
        if (key, name) not in _constructors:
            _constructors[key, name] = constructor_of(_loaders[key], name)
    return new_object(_constructors[key, name], *arguments)


def _source() -> str:
    """Return all classes as one text, which Janino takes: the imports of all files, then what follows them."""
    import pyspark

    names = _SPARK_3 if pyspark.__version__.startswith("3.") else _SPARK_4
    texts = [
        file.read_text("utf-8") for file in files(__package__).joinpath("java").iterdir() if file.name.endswith(".java")
    ]
    lines = [line for text in texts for line in text.splitlines()]
    imports = sorted({line for line in lines if line.startswith("import ")})
    code = [line for line in lines if not line.startswith(("import ", "package "))]
    text = "\n".join(["package windrow;", *imports, *code])
    return re.sub(r"%(\w+)%", lambda match: names[match[1]], text)
