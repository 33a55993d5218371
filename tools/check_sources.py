"""Checks a source distribution, or the crate as it is published: all sources are there, nothing built, and it compiles.

    python tools/check_sources.py sdist dist/windrow_arrow-0.1.0.tar.gz
    python tools/check_sources.py crate target/package/windrow-0.1.0.crate

It is type-checked only, in the target directory of the checkout, so that dependencies are not compiled again.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path, PurePosixPath

ROOT = Path(__file__).parent.parent
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")).absolute()

# What git has under these must be there.
BOTH = ["Cargo.toml", "Cargo.lock", "LICENSE", "README.md", "src", "examples/*.rs"]
HELD = {"sdist": [*BOTH, "THIRD_PARTY_LICENSES", "pyproject.toml", "python"], "crate": [*BOTH, "CHANGELOG.md"]}
BUILT = {".so", ".pyd", ".dylib", ".rlib", ".pyc"}
CHECK = {
    "sdist": ["cargo", "check", "--package", "windrow-python"],
    "crate": ["cargo", "check", "--lib", "--examples"],
}


def unpacked(archive: Path, kind: str) -> Path:
    """Unpack an archive beside what cargo builds; give the one folder that it holds.

    Raises
    ------
    SystemExit
        If it holds another number of folders than one.
    """
    place = TARGET / "checked" / kind  # always the same, so that a second check finds what the first one compiled
    shutil.rmtree(place, ignore_errors=True)
    with tarfile.open(archive) as opened:
        tops = {PurePosixPath(name).parts[0] for name in opened.getnames()}
        if len(tops) != 1:
            raise SystemExit(f"{archive} holds more than one folder: {', '.join(sorted(tops))}")
        opened.extractall(place, filter="data")
    return place / tops.pop()


def compare(folder: Path, kind: str) -> int:
    """Hold the files against those of git; give how many there must be.

    Raises
    ------
    SystemExit
        If one is missing, or something built is there.
    """
    listed = subprocess.run(
        ["git", "ls-files", "-z", *HELD[kind]], check=True, capture_output=True, text=True, cwd=ROOT
    )
    tracked = listed.stdout.split("\0")[:-1]
    missing = [name for name in tracked if not (folder / name).is_file()]
    built = [str(file) for file in folder.rglob("*") if file.suffix in BUILT]
    if missing or built or not tracked:
        raise SystemExit(f"the {kind} lacks {missing or 'nothing'} and holds {built or 'nothing'} that was built")
    return len(tracked)


def main() -> int:
    """Check the archive that the command line names."""
    kind, archive = sys.argv[1], Path(sys.argv[2])
    folder = unpacked(archive, kind)
    held = compare(folder, kind)
    told = ["--locked", "--quiet", "--target-dir", str(TARGET)]
    subprocess.run([*CHECK[kind], *told], check=True, cwd=folder)
    if kind == "sdist":  # what pip asks of it before it builds
        maturin = [str(Path(sys.executable).with_name("maturin")), "pep517", "write-dist-info"]
        subprocess.run(
            [*maturin, "--metadata-directory", "metadata"], check=True, cwd=folder, stdout=subprocess.DEVNULL
        )
        licences = sorted(file.name for file in folder.glob("metadata/*.dist-info/licenses/*"))
        if licences != ["LICENSE", "THIRD_PARTY_LICENSES"]:
            raise SystemExit(f"the metadata of the sdist names the licences {licences}")
    print(f"{archive.name}: {held} files that git has, {archive.stat().st_size / 1e3:.0f} kB, compiles")
    return 0


if __name__ == "__main__":
    sys.exit(main())
