"""What windrow shows of itself: names, annotations, and both where no library of frames is installed."""

import ast
import importlib
import inspect
import pkgutil
import shutil
import subprocess
import typing
from typing import Any, get_args

import pytest

import windrow as wr
from support.paths import ROOT
from tools import reexports
from tools.check_typing import OWN, make_environment
from windrow import functions, settings

pytestmark = pytest.mark.engine

HINTS = ROOT / "tests" / "python" / "typing" / "hints.py"


def test_dir_shows_what_is_public_and_no_more():
    assert dir(wr) == sorted(wr.__all__)
    assert len(set(wr.__all__)) == len(wr.__all__) > 100
    assert set(functions.__all__) < set(wr.__all__)
    for name in wr.__all__:
        assert getattr(wr, name) is not None
    modules = {name for name, value in vars(wr).items() if inspect.ismodule(value)}
    assert {name for name in vars(wr) if not name.startswith("_")} - modules == set(wr.__all__) - {"spark"}


def test_all_is_written_out():
    for module in (wr, functions):
        text = inspect.getsource(module)
        assert "import *" not in text
        assert "__all__ +=" not in text
        assert "__all__ = [\n" in text


def test_what_is_exported_again_is_what_each_file_exports():
    for path, text in reexports.written().items():
        assert path.read_text(encoding="utf-8") == text, f"python tools/reexports.py writes {path.name} anew"


def test_a_function_is_exported_by_naming_it_once(tmp_path, monkeypatch):
    package = tmp_path / "python" / "windrow"
    shutil.copytree(reexports.PACKAGE / "functions", package / "functions")
    shutil.copy(reexports.PACKAGE / "__init__.py", package)
    monkeypatch.setattr(reexports, "PACKAGE", package)
    file = package / "functions" / "running.py"
    text = file.read_text(encoding="utf-8")
    file.write_text(text.replace('"counter_diff"', '"another", "zz"'), encoding="utf-8")
    for path, made in reexports.written().items():
        exported = {n.name for node in ast.parse(made).body if isinstance(node, ast.ImportFrom) for n in node.names}
        assert {"another", "zz", "fill", "sum"} <= exported
        assert "counter_diff" not in made
        path.write_text(made, encoding="utf-8")
        assert {"another", "zz", "fill", "sum"} <= set(reexports.names_of(path)) <= {*exported, "functions"}
        assert reexports.names_of(path) == sorted(reexports.names_of(path))


def test_no_module_bears_the_name_of_what_its_package_makes_public():
    packages = 0
    for package in [
        wr,
        *(importlib.import_module(m.name) for m in pkgutil.walk_packages(wr.__path__, "windrow.") if m.ispkg),
    ]:
        if package.__name__.startswith("windrow.hosts.spark"):
            continue  # imports PySpark
        packages += 1
        for module in pkgutil.iter_modules(package.__path__):
            assert module.name not in functions.__all__
            if module.name in getattr(package, "__all__", ()):
                assert inspect.ismodule(getattr(package, module.name)), (package, module.name)
    assert packages >= 7


def test_unknown_names_are_said():
    with pytest.raises(AttributeError, match="no attribute 'summ'"):
        wr.summ  # noqa: B018
    assert isinstance(wr.__version__, str)


def test_annotations_can_be_asked_for():
    spec = importlib.util.spec_from_file_location("hints", HINTS)
    hints = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(hints)
    count, failed = hints.check()
    assert not failed
    assert count > 200


def test_every_parameter_of_a_function_has_a_type():
    parameters = 0
    for name in functions.__all__:
        for parameter, hint in typing.get_type_hints(getattr(functions, name)).items():
            assert hint is not Any, (name, parameter)
            parameters += parameter != "return"
    assert parameters > 104


def test_literals_are_what_settings_take():
    assert set(get_args(settings.Strategy)) == set(settings.STRATEGIES)
    for literal, name in ((settings.Strategy, "strategy"), (settings.Engine, "engine"), (settings.Spread, "spread")):
        for value in get_args(literal):
            with wr.config(**{name: value}):
                assert getattr(settings.current(), name) == value
        with pytest.raises(wr.SpecError, match="is unknown; write one of"):
            wr.config(**{name: "none"})


@pytest.mark.slow
def test_where_no_library_of_frames_is_installed(tmp_path):
    python = make_environment(tmp_path / "bare", OWN)

    def run(*arguments):
        done = subprocess.run([python, "-I", *arguments], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout.split("\n")

    count, *failed = run(HINTS)
    assert int(count) > 200
    assert not any(failed)
    tried = """
        import importlib.util
        from windrow import *
        import pyarrow, windrow
        for library in ("polars", "pandas", "numpy", "pyspark", "duckdb"):
            assert importlib.util.find_spec(library) is None, library
        table = pyarrow.table({"x": [2, 1]})
        print(windrow.with_columns(table, sum("x").over(window(order_by="x")).alias("s"))["s"].to_pylist())
        try:
            spark.accelerate(table)
        except windrow.SpecError as error:
            print(error)
    """
    assert run("-c", inspect.cleandoc(tried))[:2] == ["[3, 1]", "accelerate() takes a PySpark DataFrame, not Table"]
