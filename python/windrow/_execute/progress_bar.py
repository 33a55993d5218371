"""A tqdm progress bar in a terminal or notebook: rows read, then rows computed."""

from __future__ import annotations

from typing import Any

from ..exceptions import UnsupportedError

__all__ = ["Bar"]


class Bar:
    """Two bars, one after the other: the number of rows is usually unknown until all have been read.

    Raises
    ------
    UnsupportedError
        Without tqdm.
    """

    def __init__(self) -> None:
        try:
            from tqdm.auto import tqdm
        except ImportError:
            raise UnsupportedError(
                "the progress bar needs tqdm: pip install 'windrow-arrow[progress]', or wr.config(progress=False)"
            ) from None
        self._tqdm = tqdm
        self._shown: Any = None
        self._read = self._answered = 0
        self._answering = False

    def begin(self, total: int | None) -> None:
        """Show how many rows have been read.

        Parameters
        ----------
        total
            How many will come; None: nobody knows.
        """
        self._shown = self._tqdm(desc="windrow: read", total=total, unit=" rows", unit_scale=True)

    def read(self, rows: int) -> None:
        """Count rows that were read."""
        self._read += rows
        self._shown.update(rows)

    def all_read(self) -> None:
        """Show the second bar, for the rows still to be returned; a stream has already returned most."""
        if 2 * self._answered >= self._read:
            return
        self._answering = True
        self._shown.close()
        self._shown = self._tqdm(
            desc="windrow: answered", total=self._read, initial=self._answered, unit=" rows", unit_scale=True
        )

    def answered(self, rows: int) -> None:
        """Count rows that are returned."""
        self._answered += rows
        if self._answering:
            self._shown.update(rows)

    def close(self) -> None:
        """Close the bar and leave it on the screen."""
        if self._shown is not None:
            self._shown.close()
