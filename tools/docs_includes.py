"""A Sphinx extension for pages that include a file of the repository's root: its links lead to pages of the site.

Links into docs/ lose that folder, links to another included file lead to its page, and of links to source files, which
the site has not, the text stays.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

__all__ = ["setup"]

_PAGES = {
    "DESIGN.md": "architecture.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
    "README.md": "index.md",
}
_LINK = re.compile(r"\[([^\[\]]*)\]\((?![a-z]+:|#)([^()\s#]+)(#[^()\s]*)?\)")


def relink(app: Sphinx, path: Path, page: str, content: list[str]) -> None:
    """Change the links of an included file."""
    if path.name in _PAGES:
        content[0] = _LINK.sub(_relinked, content[0])


def _relinked(link: re.Match[str]) -> str:
    text, target, anchor = link[1], link[2].removeprefix("./"), link[3] or ""
    if target in _PAGES:
        return f"[{text}]({_PAGES[target]}{anchor})"
    if target.startswith("docs/") and target.endswith(".md"):
        return f"[{text}]({target.removeprefix('docs/')}{anchor})"
    return text


def setup(app: Sphinx) -> dict[str, Any]:
    """Register with Sphinx."""
    app.connect("include-read", relink)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
