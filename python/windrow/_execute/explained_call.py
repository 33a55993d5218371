"""How a plan computes a call, as data."""

from __future__ import annotations

from dataclasses import dataclass

from .._model.code_text import constructor_code

__all__ = ["ExplainedCall"]


@dataclass(frozen=True, slots=True, repr=False)
class ExplainedCall:
    """How one call is computed.

    Parameters
    ----------
    name
        The column of its results.
    call
        The call as it was written.
    partition_by, order_by
        Its keys.
    frame
        Its frame; None where the function takes none.
    shape
        What kind of frame that is.
    strategy, reason
        The algorithm, and why it was chosen.
    reach_before, reach_after
        How far it reads before and after a row.
    sort
        Which sort serves it: a number, and what a host says of it.
    type
        The type of its results, as the frame's library calls it.
    """

    name: str
    call: str
    partition_by: list[str]
    order_by: list[str]
    frame: str | None
    shape: str | None
    strategy: str
    reason: str
    reach_before: str | None
    reach_after: str | None
    sort: int | str | None
    type: str

    def __repr__(self) -> str:
        """The row as code."""
        return constructor_code(self, "wr.typing.ExplainedCall")
