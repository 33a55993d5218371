"""The Spark task in which this process runs, if any, with the memory and directories that Spark gives it."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable
from typing import Any

from .._model.replace import replace
from ..settings import Options, size_of

__all__ = ["spark_task", "takes_list_views", "task_options"]

# Cluster managers that end executors which exceed their memory.
_STRICT = ("yarn", "k8s")


def spark_task() -> Any:
    """Return the context of the Spark task that runs in this process, or None."""
    module = sys.modules.get("pyspark.taskcontext")
    return None if module is None else module.TaskContext.get()


def takes_list_views() -> bool:
    """Whether the Spark of this task can read list views; 4.0 cannot."""
    version = re.match(r"(\d+)\.(\d+)", str(getattr(sys.modules.get("pyspark"), "__version__", "")))
    return version is not None and (int(version[1]), int(version[2])) >= (4, 3)


def task_options(options: Options, setting: Callable[[str], str | None]) -> Options:
    """Return the settings for a Spark task: its memory limit and directories, unless the user set others.

    Parameters
    ----------
    options
        The settings that came with the operator.
    setting
        Spark's settings by name; None: not set.

    Returns
    -------
    Options
        With ``memory_limit`` from ``spark.executor.pyspark.memory``, of which Spark gives each worker a share and makes
        it a hard limit, or else from ``spark.executor.memoryOverhead``, and ``spill_dir`` one of Spark's local
        directories.
    """
    if options.memory_limit is None:
        megabytes = int(os.environ.get("PYSPARK_EXECUTOR_MEMORY_MB", "-1"))
        limit = megabytes << 20 if megabytes > 0 else _task_overhead(setting)
        options = replace(options, memory_limit=None if limit is None else max(limit * 4 // 5, 1))
    if options.spill_dir is None:
        directories = [d for d in os.environ.get("SPARK_LOCAL_DIRS", "").split(",") if os.path.isdir(d)]
        if directories:
            options = replace(options, spill_dir=directories[os.getpid() % len(directories)])
    return options


def _task_overhead(setting: Callable[[str], str | None]) -> int | None:
    """Return a task's part of the executor's memory outside the JVM, if it is configured and enforced.

    Spark's default, a tenth of the JVM's memory, is not meant as a limit for Python, so it is not used.
    """
    overhead = setting("spark.executor.memoryOverhead")
    if not overhead or not (setting("spark.master") or "").startswith(_STRICT):
        return None
    limit = size_of(f"{overhead.strip()}m" if overhead.strip().isdigit() else overhead)  # a bare number is MiB
    cores, task_cpus = (float(setting(f"spark.{name}") or 1) for name in ("executor.cores", "task.cpus"))
    return None if not limit else int(limit / max(cores // task_cpus, 1))
