"""Checks the layers of the crate: a file imports only from layers listed before its own, and nothing in a circle.

Which function a call is of is asked by exec/build alone: all else reads the function's row in the catalog.

    python tools/crate_layers.py [SRC]

A layer is a folder of src/, or error.rs. What is written for tests only (``#[cfg(test)] mod``) may import anything.
Exit status 1, and a line for each import that breaks the order, where one does.
"""

import re
import sys
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

LAYERS = (
    "error",
    "util",
    "spec",
    "model",
    "permute",
    "sort",
    "grouping",
    "external",
    "bounds",
    "evaluate",
    "functions",
    "catalog",
    "plan",
    "exec",
    "lib",
)

# What names each function, as a module and as a field, and who may ask.
IDENTITY = ("catalog", "function_id")
FIELD = re.compile(r"\.function_id\b")
ASKED_BY = (("catalog",), ("exec", "build"))

# Comments, strings and characters, which are no code; lifetimes are left alone.
NOT_CODE = re.compile(
    r"""//[^\n]* | /\*.*?\*/ | b?r(\#*)".*?"\1 | b?"(?:\\.|[^"\\])*" | b?'(?:\\[^']+|[^\\'])'""",
    re.VERBOSE | re.DOTALL,
)
VISIBILITY = re.compile(r"\bpub\([^)]*\)")
TESTS = re.compile(r"#\[cfg\(test\)\]\s*(?:#\[[^\]]*\]\s*)*(?:pub(?:\([^)]*\))? )?mod \w+ \{")
PATH = re.compile(r"(?<![\w:])\$?(crate|super|self)((?:\s*::\s*\w+)*)(\s*::\s*\{)?")


def braces(code: str, begin: int) -> int:
    """Give the place behind the brace that closes the one at ``begin``."""
    depth = 0
    for place in range(begin, len(code)):
        depth += {"{": 1, "}": -1}.get(code[place], 0)
        if depth == 0:
            return place + 1
    raise ValueError("a brace is not closed")


def blank(text: str) -> str:
    """Give spaces in place of a text, its lines kept."""
    return re.sub(r"[^\n]", " ", text)


def code_of(text: str) -> str:
    """Give the code of a file: no comments, no strings, no tests, no ``pub(super)``. Lines keep their numbers."""
    code = NOT_CODE.sub(lambda found: blank(found[0]), text)
    while found := TESTS.search(code):
        end = braces(code, found.end() - 1)
        code = code[: found.start()] + blank(code[found.start() : end]) + code[end:]
    return VISIBILITY.sub(lambda found: blank(found[0]), code)


def tree(text: str) -> list[list[str]]:
    """Give the paths of a ``use`` tree: ``a::{b, c::d}`` is ``[a, b]`` and ``[a, c, d]``."""
    text = text.strip()
    if "{" not in text:
        names = re.split(r"\s*::\s*", re.sub(r"\s+as\s+\w+$", "", text))
        return [[name for name in names if name not in ("", "self", "*")]] if text else []
    head, rest = text.split("{", 1)
    prefix = [name for name in re.split(r"\s*::\s*", head.strip()) if name]
    depth, parts = 0, [""]
    for letter in rest[: rest.rindex("}")]:
        depth += {"{": 1, "}": -1}.get(letter, 0)
        if letter == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    return [prefix + path for part in parts for path in tree(part)]


class Crate:
    """The files of a crate and what they import of each other."""

    def __init__(self, root: Path) -> None:
        self.files = {self.module(path.relative_to(root)): path for path in sorted(root.rglob("*.rs"))}
        # What lib.rs exports again stands for the file that defines it.
        self.exported: dict[str, tuple[str, ...]] = {}
        for found in re.finditer(r"\bpub use ([^;]+);", code_of(self.files[()].read_text())):
            for path in tree(found[1]):
                self.exported[path[-1]] = tuple(path)

    @staticmethod
    def module(path: Path) -> tuple[str, ...]:
        """Give the module that a file is."""
        parts = path.with_suffix("").parts
        return parts[:-1] if parts[-1] in ("mod", "lib") else parts

    def file_of(self, path: tuple[str, ...]) -> tuple[str, ...] | None:
        """Give the module whose file defines what a path from the crate's root names; nothing for the root itself."""
        if path and path[0] in self.exported and path[:1] not in self.files:
            path = self.exported[path[0]]
        while path and path not in self.files:
            path = path[:-1]
        return path or None

    def imports(self, module: tuple[str, ...]) -> list[tuple[int, tuple[str, ...]]]:
        """Give what a file imports: the line and the module whose file it is."""
        code = code_of(self.files[module].read_text())
        found_in = []
        for found in PATH.finditer(code):
            base = {"crate": (), "self": module, "super": module[:-1]}[found[1]]
            path = found[2]
            while path.lstrip(": ").startswith("super"):
                base, path = base[:-1], path.lstrip(": ")[5:]
            if found[3]:
                path += "::" + code[found.end() - 1 : braces(code, found.end() - 1)]
            line = code.count("\n", 0, found.start()) + 1
            for names in tree(path.lstrip(": ")) or [[]]:
                target = self.file_of((*base, *names))
                if target is not None and target != module:
                    found_in.append((line, target))
        # The modules below a file's own are named without a path.
        for child in (path for path in self.files if len(path) > 1 and path[:-1] == module):
            for found in re.finditer(rf"(?<![\w:]){child[-1]}\s*::", code):
                found_in.append((code.count("\n", 0, found.start()) + 1, child))
        return found_in


def circle(graph: dict[str, set[str]]) -> list[str]:
    """Give a circle of the graph, the first again at its end; nothing if there is none."""
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


def main(root: Path) -> int:
    """Check the crate below ``root``; 1 if something is against the order."""
    crate = Crate(root)
    wrong, count = [], 0
    graph: dict[str, set[str]] = {}
    for module, path in crate.files.items():
        own = module[0] if module else "lib"
        if not any(module[: len(asks)] == asks for asks in ASKED_BY):
            code = code_of(path.read_text())
            lines = [code.count("\n", 0, field.start()) + 1 for field in FIELD.finditer(code)]
            if module:  # the crate's root shows it to the tests
                lines += [line for line, target in crate.imports(module) if target == IDENTITY]
            wrong += [f"{path}:{line}: only exec/build asks which function it is; read its row" for line in lines]
        if own not in LAYERS:
            wrong.append(f"{path}: {own} is no layer; the layers are {', '.join(LAYERS)}")
            continue
        for line, target in crate.imports(module):
            count += 1
            graph.setdefault("::".join(module) or "lib", set()).add("::".join(target))
            if target[0] in LAYERS and LAYERS.index(target[0]) > LAYERS.index(own):
                wrong.append(f"{path}:{line}: {own} imports {'::'.join(target)}, and {target[0]} is a layer above it")
    if around := circle(graph):
        wrong.append(f"files import each other in a circle: {' -> '.join(around)}")
    for message in wrong:
        print(message)
    if not wrong:
        print(f"{len(crate.files)} files in {len(LAYERS)} layers: {count} imports, none against the order, no circle")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1] if len(sys.argv) > 1 else "src")))
