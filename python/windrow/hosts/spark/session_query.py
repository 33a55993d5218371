"""Queries that Spark plans as a whole, with whatever its SQL has; windrow computes the windows in the plan.

    text -> Spark's parser -> frames by their names, as if in a WITH -> Spark's analyser -> accelerate

No view is made, and none is hidden.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from ..._model.names import columns_named
from ..base import host_of
from .accelerate import accelerate
from .jvm import (
    dataframe_of,
    is_classic,
    is_classic_session,
    parameterised,
    parsed_plan,
    refused,
    relation_names,
    with_frames,
)
from .options import ComputeOptions
from .releases import is_known_release

__all__ = ["answer_in_session"]


def answer_in_session(
    text: str,
    frames: Mapping[str, Any],
    session: Any,
    parameters: Mapping[str, Any] | Sequence[Any] | None,
) -> Any:
    """Answer a query whose tables are all a session's, or its DataFrames.

    Parameters
    ----------
    text
        The query.
    frames
        Frames of any kind by the names that the query may use; they hide tables.
    session
        A SparkSession; None: that of the DataFrames that are named, or the active one.
    parameters
        Values for ``:name`` or ``?`` in the text.

    Returns
    -------
    pyspark.sql.DataFrame or None
        None where this is not for Spark: a frame of another kind is named or one that streams, on Spark Connect and on
        releases whose plans are not known, and where neither a session nor a frame of one was given and the query names
        no table.

    Raises
    ------
    SpecError
        With Spark's words, if its parser or its analyser refuses the query.
    """
    session = _session_of(text, frames, session)
    if session is None or not is_classic_session(session) or not is_known_release():
        return None
    with refused():
        plan = parsed_plan(text, session)
    names = relation_names(plan)
    used = None if names is None else _used([parts[0] for parts in names if len(parts) == 1], frames)
    if used is None or (frames and not names):
        return None
    if any(host_of(f).name != "spark" or not is_classic(f) or f.isStreaming for f in used.values()):
        return None
    with refused():
        plan = with_frames(plan, used, session)
        frame = dataframe_of(parameterised(plan, parameters) if parameters else plan, session)
    if frame.isStreaming:
        return None
    return frame if ComputeOptions().chosen() == "spark" else accelerate(frame)


def _session_of(text: str, frames: Mapping[str, Any], session: Any) -> Any:
    """Give the session that a query may be for; None where it names frames of other kinds, or there is none."""
    if session is not None:
        return session
    of_spark = [f for f in frames.values() if host_of(f).name == "spark"]
    if of_spark:
        return of_spark[0].sparkSession
    if any(re.search(rf"\b{re.escape(name)}\b", text, re.IGNORECASE) for name in frames):
        return None
    from pyspark.sql import SparkSession

    return SparkSession.getActiveSession()


def _used(names: Sequence[str], frames: Mapping[str, Any]) -> dict[str, Any] | None:
    """Give the frames that a query names, as it first writes them; None where it is not clear which it means."""
    used: dict[str, Any] = {}
    written: dict[str, str] = {}
    for name in names:
        found = [list(frames.values())[i] for i in columns_named(name, list(frames), case_insensitive=True)]
        first = written.setdefault(name.lower(), name)
        if len(found) > 1 or (found and used.get(first, found[0]) is not found[0]):
            return None
        if found:
            used[first] = found[0]
    return used
