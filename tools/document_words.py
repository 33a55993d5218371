"""Checks that documents stay short and plain: words at most, and words that have a better one.

    python tools/document_words.py

Words are counted as ``wc -w`` counts them, tables and drawings included. Exit status 1 where a document has too many
words, or one of those below.
"""

import re
import sys
from pathlib import Path

LIMITS = {
    "DESIGN.md": 4000,
    "README.md": 1500,
}

# What not to write, and what to write.
INSTEAD = {
    r"made of": "computed from, consists of",
    r"what travels": "projection pushdown",
    r"way to Python": "JVM-to-Python transfer",
    r"le(?:t|ts|tting) go of": "release",
    r"told": "reported, given, named",
    r"hears?|heard": "receive",
    r"what(?: [\w']+){1,8} (?:come|comes|came) to": "result, state, sum",
    r"in no order": "unsorted",
    r"hot keys?": "skewed key",
    r"shared out": "split across",
    r"whoever": "the caller, the reader",
    r"so many": "n, as many as",
    r"Kernel": "FunctionId",
    r"Inclusion": "RowMask",
    r"Edges": "Boundaries",
}
# A line may end within a phrase.
FORBIDDEN = {re.compile(rf"\b(?:{words})\b".replace(" ", r"\s+")): better for words, better in INSTEAD.items()}


def findings(text: str) -> list[tuple[int, str, str]]:
    """Give each forbidden word of a text: its line, how it is written, and what to write."""
    found = []
    for words, better in FORBIDDEN.items():
        for match in words.finditer(text):
            found.append((text.count("\n", 0, match.start()) + 1, " ".join(match[0].split()), better))
    return sorted(found)


def main() -> int:
    """Check the documents; 1 if one is too long, or has a forbidden word."""
    paths = [Path(name) for name in ("CONTRIBUTING.md", *LIMITS)] + sorted(Path("docs").rglob("*.md"))
    failed = 0
    for path in paths:
        text = path.read_text(encoding="utf-8")
        count, most = len(text.split()), LIMITS.get(path.as_posix())
        problems = [f"{path}:{line}: {words!r}; write: {better}" for line, words, better in findings(text)]
        if most is not None and count > most:
            problems.append(f"{path}: {count} words, and {most} are the most")
        failed += len(problems)
        for problem in problems:
            print(problem)
    if not failed:
        print(f"{len(paths)} documents, none too long, no word to replace")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
