"""Processes as /proc shows them, and waiting until something holds."""

import os
import time
from pathlib import Path


def files_without_names(pid):
    """Give the files that a process holds open and that have no name any more."""
    found = []
    for number in entries(f"/proc/{pid}/fd"):
        try:
            path = os.readlink(f"/proc/{pid}/fd/{number}")
        except OSError:
            continue
        if path.startswith("/") and path.endswith("(deleted)"):
            found.append(path)
    return found


def entries(path):
    try:
        return os.listdir(path)
    except OSError:  # it ended
        return []


def process(pid):
    """Give a process's parent, how long it has computed, and its command; nothing of one that ended."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        command = Path(f"/proc/{pid}/cmdline").read_text()
    except OSError:
        return 0, 0, ""
    return int(fields[1]), int(fields[11]) + int(fields[12]), command


def environment(pid):
    try:
        return Path(f"/proc/{pid}/environ").read_text().split("\0")
    except OSError:
        return []


def holds(condition, seconds):
    """Wait until a condition holds; say whether it came to."""
    end = time.monotonic() + seconds
    while not (held := condition()) and time.monotonic() < end:
        time.sleep(0.05)
    return bool(held)
