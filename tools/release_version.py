"""Checks that a tag may be released: it is the version of Cargo.toml, and CHANGELOG.md has a dated section for it.

``python tools/release_version.py v0.1.0``
"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent


def wrong(tag: str, manifest: str, changelog: str) -> str | None:
    """Say why a tag may not be released, or nothing.

    Examples
    --------
    >>> wrong("v0.2.0", 'version = "0.1.0"', "")
    'the tag v0.2.0 is not v0.1.0, the version of Cargo.toml'
    >>> wrong("v0.1.0", 'version = "0.1.0"', "## [0.1.0] - Unreleased")
    'CHANGELOG.md has no line "## [0.1.0] - YYYY-MM-DD"'
    >>> wrong("v0.1.0", 'version = "0.1.0"', "## [0.1.0] - 2026-12-01")
    """
    version = re.search(r'^version = "(.+)"', manifest, re.MULTILINE)
    if version is None or tag != f"v{version[1]}":
        return f"the tag {tag} is not v{version[1] if version else '?'}, the version of Cargo.toml"
    if not re.search(rf"^## \[{re.escape(version[1])}\] - \d{{4}}-\d\d-\d\d$", changelog, re.MULTILINE):
        return f'CHANGELOG.md has no line "## [{version[1]}] - YYYY-MM-DD"'
    return None


if __name__ == "__main__":
    sys.exit(wrong(sys.argv[1], *((ROOT / name).read_text("utf-8") for name in ("Cargo.toml", "CHANGELOG.md"))))
