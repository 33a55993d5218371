"""Install a wheel beside Polars into a fresh environment, and run the README's first example there.

``python tools/check_wheel.py dist/windrow_arrow-0.1.0-cp310-abi3-manylinux_2_17_x86_64.manylinux2014_x86_64.whl``

A wheel for Linux must be tagged for manylinux or musllinux, and auditwheel must find what the tag says.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
import venv
from pathlib import Path
from zipfile import ZipFile

README = Path(__file__).parent.parent / "README.md"


def check(wheel: Path) -> str:
    """Check the wheel and run the example; give what it prints.

    Raises
    ------
    SystemExit
        If the wheel is for fewer systems than its name says, lacks a licence or cannot be installed, or the example
        fails, warns or prints nothing.
    """
    example = re.search(r"^```python\n(.*?)^```", README.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    if example is None:
        raise SystemExit("README.md has no Python example")
    licences = {Path(name).name for name in ZipFile(wheel).namelist() if "/licenses/" in name}
    if licences != {"LICENSE", "THIRD_PARTY_LICENSES"}:
        raise SystemExit(f"{wheel.name} holds the licences {sorted(licences)}")
    if "linux" in wheel.name:
        audit(wheel)
    with tempfile.TemporaryDirectory() as folder:
        venv.create(folder, with_pip=True)
        run(folder, "-m", "pip", "install", "--quiet", f"windrow-arrow[polars] @ {wheel.resolve().as_uri()}")
        run(folder, "-m", "pip", "check")
        printed = run(folder, "-W", "error", "-c", example[1])
    if not printed.strip():
        raise SystemExit("README.md's first example prints nothing")
    return printed


def audit(wheel: Path) -> None:
    """Hold the wheel's tags against the symbols that its extension asks for.

    Raises
    ------
    SystemExit
        If they say different things.
    """
    platforms = wheel.stem.split("-")[-1].split(".")
    if any(platform.startswith("musllinux") for platform in platforms):
        return  # auditwheel knows the C library of this machine alone; maturin has looked
    found = subprocess.run(
        [sys.executable, "-m", "auditwheel", "show", wheel], capture_output=True, text=True, check=False
    )
    told = " ".join(found.stdout.split())  # lines are broken to fit
    consistent = re.search(r'consistent with the following platform tag: "(\w+)"', told)
    if consistent is None or consistent[1] not in platforms:
        raise SystemExit(f"{wheel.name} is tagged {platforms}; auditwheel says:\n{found.stdout}{found.stderr}")


def run(environment: str, *arguments: str) -> str:
    """Run an environment's interpreter; give what it prints, or end with it."""
    python = Path(environment, *(("Scripts", "python.exe") if sys.platform == "win32" else ("bin", "python")))
    done = subprocess.run([python, *arguments], capture_output=True, text=True, cwd=environment, check=False)
    if done.returncode:
        raise SystemExit(f"{' '.join(arguments)[:200]}\n{done.stdout}{done.stderr}")
    return done.stdout


if __name__ == "__main__":
    sys.stdout.write(check(Path(sys.argv[1])))
