"""Install a wheel beside Polars into a fresh environment, and run the README's first example there.

``python tools/check_wheel.py dist/windrow_arrow-0.1.0-cp310-abi3-linux_x86_64.whl``
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

README = Path(__file__).parent.parent / "README.md"


def check(wheel: Path) -> str:
    """Run the example; give what it prints.

    Raises
    ------
    SystemExit
        If the wheel cannot be installed, the example fails or warns, or it prints nothing.
    """
    example = re.search(r"^```python\n(.*?)^```", README.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    if example is None:
        raise SystemExit("README.md has no Python example")
    with tempfile.TemporaryDirectory() as folder:
        venv.create(folder, with_pip=True)
        run(folder, "-m", "pip", "install", "--quiet", f"windrow-arrow[polars] @ {wheel.resolve().as_uri()}")
        run(folder, "-m", "pip", "check")
        printed = run(folder, "-W", "error", "-c", example[1])
    if not printed.strip():
        raise SystemExit("README.md's first example prints nothing")
    return printed


def run(environment: str, *arguments: str) -> str:
    """Run an environment's interpreter; give what it prints, or end with it."""
    python = Path(environment, "bin", "python")
    done = subprocess.run([python, *arguments], capture_output=True, text=True, cwd=environment, check=False)
    if done.returncode:
        raise SystemExit(f"{' '.join(arguments)[:200]}\n{done.stdout}{done.stderr}")
    return done.stdout


if __name__ == "__main__":
    sys.stdout.write(check(Path(sys.argv[1])))
