"""Print what pyproject.toml asks for: the build backend, the dependencies and the extra `dev`.

The Makefile installs these before the extension is built, so that building needs no network.
"""

from __future__ import annotations

import sys
from pathlib import Path

if sys.version_info >= (3, 11):
    import tomllib
else:  # pip carries the same parser
    from pip._vendor import tomli as tomllib


def requirements(pyproject: Path) -> list[str]:
    """All that a development environment holds, except windrow itself."""
    settings = tomllib.loads(pyproject.read_text(encoding="utf-8"))
    project = settings["project"]
    return [
        *settings["build-system"]["requires"],
        *project["dependencies"],
        *project["optional-dependencies"]["dev"],
    ]


if __name__ == "__main__":
    print("\n".join(requirements(Path(__file__).parent.parent / "pyproject.toml")))
