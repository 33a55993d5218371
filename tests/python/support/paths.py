"""Where the repository is, and the environment in which a child process finds what tests import."""

import os
from pathlib import Path

import windrow as wr

ROOT = Path(__file__).parents[3]
#: Where windrow is, and what pytest's ``pythonpath`` names.
IMPORTS = [Path(wr.__file__).parents[1], ROOT / "tests" / "python", ROOT]


def child_environment(**more):
    """Give this process's environment, with ``PYTHONPATH`` for a child and what else it is to have."""
    path = os.pathsep.join([*map(str, IMPORTS), os.environ.get("PYTHONPATH", "")]).rstrip(os.pathsep)
    return {**os.environ, "PYTHONPATH": path, **more}
