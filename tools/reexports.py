"""Write what the package and windrow.functions export again of the functions: explicit imports, and ``__all__``.

The names are those in the ``__all__`` of each file of python/windrow/functions/; nothing is imported for that.
"""

from __future__ import annotations

import ast
import re
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "python" / "windrow"
_WIDTH = 120


def names_of(path: Path) -> list[str]:
    """Give the ``__all__`` of a module, which is written out."""
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Assign) and [ast.unparse(t) for t in node.targets] == ["__all__"]:
            names: list[str] = ast.literal_eval(node.value)
            return names
    raise SystemExit(f"{path.relative_to(ROOT)} has no __all__")


def imported(module: str, names: list[str]) -> str:
    """Write an import as ruff formats it."""
    line = f"from .{module} import {', '.join(sorted(names))}\n"
    if len(line) <= _WIDTH + 1:
        return line
    return f"from .{module} import (\n" + "".join(f"    {name},\n" for name in sorted(names)) + ")\n"


def listed(names: list[str]) -> str:
    """Write an ``__all__``."""
    return "__all__ = [\n" + "".join(f'    "{name}",\n' for name in sorted(names)) + "]\n"


def written() -> dict[Path, str]:
    """Give the text of both files."""
    of_functions, of_package = PACKAGE / "functions" / "__init__.py", PACKAGE / "__init__.py"
    modules = {p.stem: names_of(p) for p in sorted(of_functions.parent.glob("*.py")) if p != of_functions}
    functions = [name for names in modules.values() for name in names]

    text = of_functions.read_text(encoding="utf-8")
    head = text[: text.index("from .")]
    inner = head + "".join(imported(m, names) for m, names in modules.items()) + "\n" + listed(functions)

    text = of_package.read_text(encoding="utf-8")
    pattern = re.compile(r"from \.functions import (?:\([^)]*\)|[^(\n]*)\n")
    before = re.findall(r"\w+", pattern.search(text)[0].split("import")[1])  # type: ignore[index]
    own = [name for name in names_of(of_package) if name not in before]
    text = pattern.sub(lambda _: imported("functions", functions), text)
    text = re.sub(r"__all__ = \[[^]]*\]\n", lambda _: listed([*own, *functions]), text)
    return {of_functions: inner, of_package: text}


if __name__ == "__main__":
    for path, text in written().items():
        path.write_text(text, encoding="utf-8")
        print(f"{path.relative_to(ROOT)} written", file=sys.stderr)
