"""A Sphinx extension for the reference: it is made from the package, and nothing public may be missing.

- ``{functions} aggregates`` documents the functions of a file of ``windrow.functions``, each with what the catalog says
  of it: its frames, what it takes and its other names.
- ``{settings}`` is the table of the settings, made from ``windrow.settings``.
- ``wr.name`` in inline code is a link to the reference.
- A public name that the reference does not have is a warning, so with ``-W`` it fails the build.
"""

from __future__ import annotations

import importlib
import os
import re
from collections.abc import Iterator
from functools import cache
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective

import windrow as wr
from tools.function_table import FRAMES, MODIFIERS, Row, rows
from windrow import settings, typing

__all__ = ["setup"]

_LOG = logging.getLogger(__name__)
_PUBLIC = frozenset(wr.__all__)
_CODE = re.compile(r"wr\.(\w+(?:\.\w+)?)(\(.*\))?", re.DOTALL)
#: Modules whose own names are public too.
_MODULES = {"spark": wr.spark}


class Functions(SphinxDirective):
    """Documents the functions of a file of ``windrow.functions``."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Give the entries."""
        module = importlib.import_module(f"windrow.functions.{self.arguments[0]}")
        found = _rows()
        names = sorted(module.__all__, key=lambda n: (_canonical(n), n != _canonical(n), n))
        assert all(name in found or hasattr(wr, name) for name in names)
        lines = [".. py:currentmodule:: windrow", ""]
        for name in names:
            lines += [f".. autofunction:: windrow.{name}", ""]
        return self.parse_text_to_nodes("```{eval-rst}\n" + "\n".join(lines) + "\n```")


class SettingsTable(SphinxDirective):
    """Makes the table of settings."""

    def run(self) -> list[nodes.Node]:
        """Give the table."""
        lines = ["| setting | environment | takes |", "|---|---|---|"]
        for name, kind in get_type_hints(settings.Settings).items():
            lines.append(f"| `{name}` | `WINDROW_{name.upper()}` | {', '.join(dict.fromkeys(_taken(kind)))} |")
        return self.parse_text_to_nodes("\n".join(lines))


class PublicTypes(SphinxDirective):
    """Lists what ``windrow.typing`` exports."""

    def run(self) -> list[nodes.Node]:
        """Give the list."""
        lines = ["| type | what it is |", "|---|---|"]
        for name in typing.__all__:
            value = getattr(typing, name)
            lines.append(f"| `{name}` | {_about(value)} |")
        return self.parse_text_to_nodes("\n".join(lines))


def _about(value: Any) -> str:
    """Give the first line of a class's documentation; of a union its parts."""
    if isinstance(value, type):
        text = " ".join((value.__doc__ or "").split("\n\n")[0].split()).replace("|", "\\|")
        return re.sub(r":\w+:`~?(?:windrow\.)?", "`", text).replace("``", "`")
    if isinstance(value, TypeVar):
        return "a type variable: the kind of frame that was given comes back"
    parts = re.sub(r"\b(?:windrow|typing|collections|decimal|datetime)\.(?:\w+\.)*", "", str(value)).split("|")
    return f"`{' or '.join(part.strip() for part in parts)}`"


def _taken(kind: Any) -> Iterator[str]:
    """Name what a type takes: values of a Literal, or names of types."""
    arguments = get_args(kind)
    if get_origin(kind) is os.PathLike:
        yield "path"
    elif not arguments and kind is not type(None):
        yield kind.__name__
    else:
        for argument in arguments:
            yield from [f'`"{argument}"`'] if isinstance(argument, str) else _taken(argument)


@cache
def _rows() -> dict[str, list[Row]]:
    """Give the rows of the catalog by all of their names."""
    found: dict[str, list[Row]] = {}
    for row in rows():
        for name in (row.name, *row.aliases):
            found.setdefault(name, []).append(row)
    return found


def _canonical(name: str) -> str:
    return _rows()[name][0].name if name in _rows() else name.removesuffix("_distinct")


def _catalog_fields(name: str) -> list[str]:
    """Say what the catalog knows of a function, as a list of fields."""
    known = _rows().get(name, [])
    if not known or known[0].name != name:
        return []
    lines = []
    for row in known:
        frames = "every frame" if set(FRAMES) <= row.cells else "no frame; needs an order"
        when = " (with an order of its own)" if row.ordered else ""
        takes = ", ".join(m for m in MODIFIERS if m in row.cells)
        lines.append(f":Frames{when}: {frames}")
        if takes:
            lines.append(f":Takes{when}: {takes}")
    if known[0].aliases:
        lines.append(":Other names: " + ", ".join(f":py:func:`~windrow.{alias}`" for alias in known[0].aliases))
    return [*lines, ""]


def add_catalog(app: Sphinx, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """Put what the catalog says of a function before its notes."""
    if what == "function" and name.startswith("windrow."):
        fields = _catalog_fields(name.removeprefix("windrow."))
        place = next((i for i, line in enumerate(lines) if line.startswith(".. rubric::")), len(lines))
        # behind the fields there are already, so that they are one list
        while fields and place and not lines[place - 1].strip():
            place -= 1
        lines[place:place] = fields


def without_constructors(app: Sphinx, what: str, *_: Any) -> tuple[str, str] | None:
    """Leave the signatures of classes away: functions make their objects."""
    return ("", "") if what == "class" else None


def link_code(app: Sphinx, doctree: nodes.document) -> None:
    """Make a link of each inline ``wr.name``."""
    functions_page = app.env.docname == "functions"
    for code in list(doctree.findall(nodes.literal)):
        text = code.astext()
        match = _CODE.fullmatch(text)
        name = match[1] if match else text if functions_page and text in _rows() else ""
        if name.split(".")[0] not in _PUBLIC or _inside_link(code):
            continue
        link = addnodes.pending_xref(
            "", refdomain="py", reftype="obj", reftarget=f"windrow.{name}", refexplicit=True, refwarn=False
        )
        link["refdoc"] = app.env.docname
        code.replace_self(link)
        link += code


def _inside_link(node: nodes.Node) -> bool:
    parent = node.parent
    while parent is not None:
        if isinstance(parent, (nodes.reference, addnodes.pending_xref, nodes.title)):
            return True
        parent = parent.parent
    return False


def check_complete(app: Sphinx, env: BuildEnvironment) -> None:
    """Warn of public names that the reference does not have."""
    documented = set(env.domains["py"].data["objects"])
    public = {f"windrow.{name}" for name in _PUBLIC}
    for name, module in _MODULES.items():
        public.discard(f"windrow.{name}")
        public |= {f"windrow.{name}.{own}" for own in module.__all__}
    for name in sorted(public - documented):
        _LOG.warning("%s is public, and the reference does not have it", name)


def setup(app: Sphinx) -> dict[str, Any]:
    """Register with Sphinx."""
    app.add_directive("functions", Functions)
    app.add_directive("settings", SettingsTable)
    app.add_directive("public-types", PublicTypes)
    # napoleon first turns the sections into fields
    app.connect("autodoc-process-docstring", add_catalog, priority=900)
    app.connect("autodoc-process-signature", without_constructors)
    app.connect("doctree-read", link_code)
    app.connect("env-check-consistency", check_complete)
    return {"version": "1", "parallel_read_safe": False, "parallel_write_safe": True}
