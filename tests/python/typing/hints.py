"""Which annotations of windrow's public functions, classes and methods cannot be asked for. Runs as a script too."""

import inspect
import typing
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import windrow
import windrow.typing

#: Methods with two underscores that are part of what users call.
CALLED = ("__init__", "__call__", "__enter__", "__exit__", "__neg__")


def annotated(module: ModuleType) -> Iterator[tuple[str, Any]]:
    """Give the functions, their overloads, the classes and the methods that a module makes public, by their names."""
    for name in module.__all__:
        value = getattr(module, name)
        if inspect.ismodule(value):
            yield from annotated(value)
        elif inspect.isfunction(value):
            yield name, value
            if hasattr(typing, "get_overloads"):
                yield from ((f"{name}, an overload", o) for o in typing.get_overloads(value))
        elif inspect.isclass(value):
            yield name, value
            for method, raw in inspect.getmembers(value):
                if method in CALLED or not method.startswith("_"):
                    function = raw.fget if isinstance(raw, property) else getattr(raw, "__func__", raw)
                    if inspect.isfunction(function):
                        yield f"{name}.{method}", function


def check() -> tuple[int, list[str]]:
    """Ask for all annotations; give how many values have some, and what failed."""
    found = {id(value): (name, value) for module in (windrow, windrow.typing) for name, value in annotated(module)}
    failed = []
    for name, value in found.values():
        try:
            typing.get_type_hints(value)
        except Exception as error:
            failed.append(f"{name}: {error!r}")
    return len(found), failed


if __name__ == "__main__":
    count, failed = check()
    print(count, *failed, sep="\n")
