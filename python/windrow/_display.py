"""What drawings and tables share: the width of text, columns of text, the palette, and the elements of an SVG."""

from __future__ import annotations

import html
import textwrap
import unicodedata
from collections.abc import Sequence

__all__ = [
    "ACCENT",
    "CHARACTER",
    "CONTRAST",
    "FONT",
    "escaped",
    "padded",
    "printable",
    "rectangle",
    "svg",
    "svg_text",
    "text_table",
    "text_width",
]

#: The width of a character of 12 px in the widest of the fonts named.
CHARACTER = 7.25
FONT = "ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace"
# These two have a contrast of at least 3:1 with white and with black; all else has the colour of the text around.
ACCENT = "#3d85d6"
CONTRAST = "#c9720a"


def printable(text: str) -> str:
    """Replace what is not printed, which XML may not hold either."""
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text)


def escaped(text: str) -> str:
    """Write text for HTML and SVG, within elements and within quoted attributes."""
    return html.escape(printable(text))


def text_width(text: str) -> int:
    """Count the places that a text takes in a font of one width."""
    return sum(1 + (unicodedata.east_asian_width(c) in "WF") for c in text if not unicodedata.combining(c))


def padded(text: str, width: int) -> str:
    """Fill a text up with spaces to so many places."""
    return text + " " * (width - text_width(text))


def text_table(
    heads: Sequence[str], rows: Sequence[Sequence[str]], most: Sequence[int], width: int, *, indent: int = 0
) -> list[str]:
    """Write rows as aligned columns of text under their heads; where they are too wide, long cells are wrapped.

    Parameters
    ----------
    heads
        The heads of the columns.
    rows
        The cells.
    most
        The most places that each column may take where cells are wrapped.
    width
        The most places that a line may take.
    indent
        How many spaces each line begins with.

    Returns
    -------
    list of str
        The lines.

    Examples
    --------
    >>> for line in text_table(["name", "kind"], [["a", "a long text"]], [9, 6], 12):
    ...     print(line)
    name  kind
    ----  ------
    a     a long
          text
    """
    longest = [max(map(text_width, column)) for column in zip(heads, *rows, strict=True)]
    if indent + sum(longest) + 2 * (len(heads) - 1) <= width:
        most = longest
    wrapped = [[_wrapped(cell, places) for cell, places in zip(row, most, strict=True)] for row in rows]
    widths = [
        max(map(text_width, [head, *(line for row in wrapped for line in row[i])])) for i, head in enumerate(heads)
    ]
    lines = [list(heads), ["-" * width for width in widths]]
    for row in wrapped:
        height = max(map(len, row))
        lines += [[cell[i] if i < len(cell) else "" for cell in row] for i in range(height)]
    return [(" " * indent + "  ".join(map(padded, cells, widths))).rstrip() for cells in lines]


def _wrapped(text: str, places: int) -> list[str]:
    lines = textwrap.wrap(text, places, break_on_hyphens=False) or [""]
    if places > 1 and any(text_width(line) > places for line in lines):  # of characters that take two places
        lines = textwrap.wrap(text, places // 2, break_on_hyphens=False)
    return lines


def rectangle(x: float, y: float, width: float, height: float, style: str) -> str:
    """Give the SVG of a rectangle."""
    return f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" {style}/>'


def svg_text(x: float, y: float, text: str, *, end: bool = False, faint: bool = False, bold: bool = False) -> str:
    """Give the SVG of a text whose baseline is at ``y`` and that begins, or ends, at ``x``."""
    style = ' text-anchor="end"' * end + ' fill-opacity="0.72"' * faint + ' font-weight="600"' * bold
    return f'<text x="{x:.1f}" y="{y:.1f}" xml:space="preserve"{style}>{escaped(text)}</text>'


def svg(width: int, height: int, title: str, parts: Sequence[str]) -> str:
    """Put elements into an SVG of the text's colour, which narrows with the page.

    Parameters
    ----------
    width, height
        Its size in pixels.
    title
        What it shows, for those who do not see it.
    parts
        The elements.

    Returns
    -------
    str
        The element ``svg``, which is a file as well.
    """
    # `color-scheme` is for the file on its own, whose text is then light where the page around is dark.
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        f'role="img" aria-label="{escaped(title)}" fill="currentColor" font-family="{FONT}" font-size="12" '
        f'style="color-scheme: light dark; max-width: 100%; height: auto">'
        f"{''.join(parts)}</svg>"
    )
