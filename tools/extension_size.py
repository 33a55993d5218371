"""Checks that the built extension stays small: 23.5 MB at most, as the release profile of Cargo.toml builds it.

    python tools/extension_size.py

Each strategy is compiled for each aggregate, so a function with a state of its own costs more than its source shows.
Builds with another profile, as CI makes them to save time, are of another size: for these nothing is checked. Exit
status 1 where the extension is larger, or missing.
"""

import os
import re
import sys
from pathlib import Path

EXTENSION = Path("python/windrow/_windrow.abi3.so")

# By link-time optimisation and codegen units, in bytes.
CEILINGS = {("thin", "4"): 23_500_000}


def profile() -> tuple[str, str]:
    """Give what the release profile says, or the variables of cargo that stand above it."""
    manifest = Path("Cargo.toml").read_text()
    release = re.search(r"^\[profile\.release\]\n(.*?)(?=^\[|\Z)", manifest, re.MULTILINE | re.DOTALL)
    lines = release[1] if release else ""
    settings: dict[str, str] = dict(re.findall(r'^([\w-]+) = "?([\w-]+)"?', lines, re.MULTILINE))
    lto = os.environ.get("CARGO_PROFILE_RELEASE_LTO", settings.get("lto", "false"))
    return lto, os.environ.get("CARGO_PROFILE_RELEASE_CODEGEN_UNITS", settings.get("codegen-units", "16"))


def main() -> int:
    """Look at the extension's size; 1 if it is too large."""
    built = profile()
    if not EXTENSION.exists():
        print(f"{EXTENSION} is not built")
        return 1
    size = EXTENSION.stat().st_size
    ceiling = CEILINGS.get(built)
    if ceiling is None:
        print(f"{EXTENSION}: {size / 1e6:.1f} MB; no ceiling for lto={built[0]}, codegen-units={built[1]}")
        return 0
    too_large = size > ceiling
    remedy = ", more than it may have: share what is compiled for each aggregate anew" if too_large else ""
    print(f"{EXTENSION}: {size / 1e6:.1f} MB of {ceiling / 1e6:.1f}{remedy}")
    return int(too_large)


if __name__ == "__main__":
    sys.exit(main())
