"""Print what pyproject.toml asks for: the build backend, the dependencies and extras, ``dev`` unless others are named.

    python tools/requirements.py dev release

The Makefile installs these before the extension is built, so that building needs no network.
"""

from __future__ import annotations

import sys
from pathlib import Path

if sys.version_info >= (3, 11):
    import tomllib
else:  # pip carries the same parser
    from pip._vendor import tomli as tomllib


def requirements(pyproject: Path, *extras: str) -> list[str]:
    """All that a development environment with some extras holds, except windrow itself.

    Raises
    ------
    KeyError
        If there is no such extra.
    """
    settings = tomllib.loads(pyproject.read_text(encoding="utf-8"))
    project = settings["project"]
    optional = project["optional-dependencies"]
    return [
        *settings["build-system"]["requires"],
        *project["dependencies"],
        *(needed for extra in extras for needed in optional[extra]),
    ]


if __name__ == "__main__":
    print("\n".join(requirements(Path(__file__).parent.parent / "pyproject.toml", *(sys.argv[1:] or ["dev"]))))
