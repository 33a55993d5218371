"""The frame that an offset call may be written with: the one row that it looks at."""

from __future__ import annotations

from .._model.calls import Call
from .._model.expressions import Literal
from .._model.frames import Bound

__all__ = ["has_offset_frame"]


def has_offset_frame(call: Call) -> bool:
    """Whether a call of ``lag`` or ``lead`` has the frame of the one row that it looks at, as Spark allows.

    Parameters
    ----------
    call
        The call, with its window.

    Returns
    -------
    bool
        ``lag(v, 2) OVER (ORDER BY t ROWS BETWEEN 2 PRECEDING AND 2 PRECEDING)`` has it.
    """
    frame = None if call.window is None else call.window.frame
    if frame is None or call.function not in ("lag", "lead"):
        return False
    offset = call.args[1] if len(call.args) > 1 else Literal(1)
    if not isinstance(offset, Literal) or not isinstance(offset.value, int):
        return False
    row = Bound("preceding" if call.function == "lag" else "following", offset)
    return frame.units == "rows" and frame.exclude == "no_others" and frame.start.equals(row) and frame.end.equals(row)
