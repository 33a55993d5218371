"""The catalog is where functions are listed: what a row says is so, and nothing else in the package lists functions."""

import ast
import inspect
import random
import re

import pyarrow as pa
import pytest

import windrow as wr
from support.comparison import equal
from support.paths import ROOT
from support.random_calls import SEED
from windrow._model.catalog import function_names, function_of
from windrow._windrow import functions

ROWS = functions()
BY_NAME = {row["name"]: row for row in ROWS}
PACKAGE = ROOT / "python" / "windrow"
#: What the builder calls a function that is another with DISTINCT.
DISTINCT = {"count_distinct": "count", "sum_distinct": "sum"}
#: Functions that are written with others.
FORMULAS = {"diff", "islands", "pct_change", "shift", "z_score"}
#: Names that are words of SQL as well: NULLS FIRST and LAST.
WORDS = {"first", "last"}

#: An argument of each role, over the columns of `table`; of values the type that the function takes.
BOOLEANS = {"bool_and", "bool_or", "count_if"}
INTEGERS = {"bit_and", "bit_or", "bit_xor"}
SETTINGS = {
    "number": "2", "share": "0.3", "flag": "true", "delimiter": "'-'", "deviation": "0.05", "alpha": "0.4",
    "half_life": "3.0", "distance": "2", "amount": "3", "method": "'max'", "frequency": "n", "default": "x",
    "start": None, "ignored": None,
}  # fmt: skip


def argument(row, position, described):
    """Write an argument, or nothing where it may be left out and says no more."""
    role = described["role"]
    if role == "count":
        return "3" if described["required"] or row["name"] == "ntile" else None
    if role in SETTINGS:
        return SETTINGS[role]
    if row["name"] in BOOLEANS:
        return "b"
    if row["name"] in INTEGERS:
        return "n"
    return "xyz"[position]


def call(row, given=None):
    """Write a call with the arguments that must be given, or with all of ``given``."""
    kept = [a for a in row["arguments"] if a["required"]] if given is None else row["arguments"][:given]
    written = [argument(row, i, a) for i, a in enumerate(kept)]
    if row["name"] == "count":
        written = ["x"]
    return f"{row['name']}({', '.join(w for w in written if w is not None)})"


def table(rng, count=40):
    """Values with ties and NULLs; ``y`` and ``z`` are never NULL where ``x`` is all that a function may take."""
    return pa.table(
        {
            "id": range(count),
            "k": [rng.randint(0, 2) for _ in range(count)],
            "t": [rng.randint(0, count // 4) for _ in range(count)],
            "x": [rng.choice([None, *range(1, 9)]) for _ in range(count)],
            "y": [float(rng.randint(1, 30)) for _ in range(count)],
            "z": [float(i) for i in range(count)],
            "n": [rng.randint(0, 5) for _ in range(count)],
            "b": [rng.choice([None, True, True, False]) for _ in range(count)],
        }
    )


# ---- what a row names


def test_names_are_the_builders_and_the_pages():
    """Each name has a constructor in the public package, and stands in the table of functions."""
    page = (ROOT / "docs" / "functions.md").read_text(encoding="utf-8")
    names = [name for row in ROWS for name in (row["name"], *row["aliases"])]
    assert len(names) == len(set(names)) == len(function_names()) > 80
    made = set()
    for name in names:
        assert name in wr.__all__, f"wr.{name} is not in windrow's __all__"
        assert f"`{name}`" in page, f"{name} is not in docs/functions.md: make table"
        constructor = getattr(wr, name)
        required = [p for p in inspect.signature(constructor).parameters.values() if p.default is p.empty]
        given = [p for p in required if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
        described = function_of(name)
        assert len(given) <= max(described.min_arguments, 1), f"wr.{name} wants more than {described.min_arguments}"
        made.add(name)
    constructors = set(wr.functions.__all__)
    assert constructors - made == set(DISTINCT) | FORMULAS
    assert all(function_of(name) is not None for name in DISTINCT.values())


def test_an_alias_is_its_function():
    for row in ROWS:
        for name in row["aliases"]:
            assert function_of(name) is function_of(row["name"])
    assert function_of("no_such_function") is None


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["name"])
def test_arguments(row):
    """As many as the row has are taken and no more; what stands for one that is left out is what the row says."""
    data = table(random.Random(SEED))
    over = " OVER (PARTITION BY k ORDER BY id)"
    arguments = row["arguments"]
    required = [a for a in arguments if a["required"]]
    assert arguments[: len(required)] == required, "what may be left out comes last"
    assert not any(a["repeated"] for a in arguments[:-1])
    assert row["min_arguments"] == len(required)
    plain = wr.select(data, c=call(row) + over)["c"]
    given = call(row)
    for i, described in enumerate(arguments[len(required) :], start=len(required)):
        if "default" not in described:
            continue
        default = {"None": "NULL", "True": "true", "False": "false"}.get(
            str(described["default"]), described["default"]
        )
        inside = given[given.index("(") + 1 : -1]
        given = f"{row['name']}({inside}{', ' * bool(inside)}{default})"
        assert wr.select(data, c=given + over)["c"].equals(plain), (given, i)
    if row["max_arguments"] is not None:
        many = f"{row['name']}({', '.join(['x'] * (row['max_arguments'] + 2))})"
        with pytest.raises(wr.SpecError, match="takes"):
            wr.select(data, c=many + over)


# ---- what a row says of the rows' order and of NULLs

AGGREGATES = [row for row in ROWS if row["family"] == "aggregate"]
#: Of which no two orders of a few rows need differ: of three bins, say, those that are near are mostly the same.
SELDOM = {"histogram_numeric", "ewm_mean_by", "bounded_sum"}


@pytest.mark.parametrize("row", AGGREGATES, ids=lambda row: row["name"])
def test_order_sensitivity(row):
    """An answer over a whole partition is the same for its rows in any order, or is not, as the row says."""
    rng = random.Random(SEED)
    changed = compared = 0
    for _ in range(8):
        data = table(rng)
        shuffled = data.take(rng.sample(range(len(data)), len(data)))
        item = call(row) + " OVER (PARTITION BY k ORDER BY 0 ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING)"
        answers = [
            dict(zip(*(wr.select(d, "k", c=item)[n].to_pylist() for n in "kc"), strict=True)) for d in (data, shuffled)
        ]
        for key, answer in answers[0].items():
            compared += 1
            if row["order_sensitivity"] == "rounding":
                assert equal(answer, answers[1][key], rel=1e-9)
            changed += answer != answers[1][key] and not equal(answer, answers[1][key])
    assert compared >= 16
    if row["order_sensitivity"] in ("values", "equal_values", "none"):
        assert changed == 0
    elif row["order_sensitivity"] == "rows" and row["name"] not in SELDOM:
        assert changed > 0


@pytest.mark.parametrize("row", AGGREGATES, ids=lambda row: row["name"])
def test_nulls_take_no_part(row):
    """An answer is that over the rows without NULL in the arguments that hold values; a chosen one may be NULL."""
    rng = random.Random(SEED)
    data = table(rng, 60)
    values = [a["role"] in ("value", "ordered", "compared") for a in row["arguments"]] or [True]
    columns = [argument(row, i, a) for i, a in enumerate(row["arguments"]) if values[i]]
    if not any(c in ("x", "b") for c in columns):
        data = data.set_column(
            data.schema.get_field_index(columns[0]),
            columns[0],
            pa.array([v if i % 3 else None for i, v in enumerate(data[columns[0]].to_pylist())], data[columns[0]].type),
        )
    keep = pa.array([all(v is not None for v in row.values()) for row in data.select(columns).to_pylist()])
    ignoring = " IGNORE NULLS" * row["ignore_nulls"]
    item = f"{call(row)}{ignoring} OVER (ORDER BY id ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING)"
    without = wr.select(data.filter(keep), c=item)["c"]
    assert 0 < len(without) < len(data)
    assert equal(wr.select(data, c=item)["c"][0].as_py(), without[0].as_py(), rel=1e-12)


# ---- nothing else lists functions


def named(node):
    """Give the names of functions that a literal, or a container of literals, holds."""
    if isinstance(node, ast.Constant):
        found = {node.value} if isinstance(node.value, str) else set()
    elif isinstance(node, ast.Dict):
        found = {k.value for k in node.keys if isinstance(k, ast.Constant) and isinstance(k.value, str)}
    elif isinstance(node, (ast.Tuple, ast.List, ast.Set)):
        found = {e.value for e in node.elts if isinstance(e, ast.Constant) and isinstance(e.value, str)}
    else:
        found = set()
    return (found & function_names()) - WORDS


def lists(source):
    """Give the lines where functions are listed, or a name is compared with a function's, and which they are."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Compare):
            compared = set().union(*map(named, [node.left, *node.comparators]))
            if compared:
                yield node.lineno, compared
        elif len(found := named(node)) > 1:
            yield node.lineno, found


#: What knows functions by name all the same, and what it says of them.
OTHERS = {
    "_parse/offset_frame.py": "which row lag and lead look at",
    "_plan/ranks.py": "what the native search for top rows counts, for each rank",
    "hosts/spark/catalyst.py": "the classes of Catalyst, and that their sums and averages have a mode",
    "hosts/spark/engine_choice.py": "which sums Spark computes as windrow does",
    "hosts/spark/legacy_settings.py": "which functions a setting changes",
}


def test_no_other_source_lists_functions():
    found = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        name = path.relative_to(PACKAGE).as_posix()
        if name != "__init__.py" and not name.startswith("functions/"):
            found |= {f"{name}:{line}": names for line, names in lists(path.read_text(encoding="utf-8"))}
    elsewhere = {place: names for place, names in found.items() if place.split(":")[0] not in OTHERS}
    assert not elsewhere, "these belong into the catalog, src/catalog/functions.rs"
    assert {place.split(":")[0] for place in found} == set(OTHERS)


def test_the_crate_asks_for_no_name():
    """No file of the crate but the catalog compares a text with a function's name."""
    names = "|".join(sorted(function_names() - WORDS))
    asks = re.compile(rf'[=!]= "({names})"|"({names})" (=>|\|)|\| "({names})"')
    source = ROOT / "src"
    files = [path for path in source.rglob("*.rs") if path.relative_to(source).parts[0] != "catalog"]
    assert len(files) > 150
    found = {path: asks.findall(path.read_text(encoding="utf-8")) for path in files}
    assert not {str(path.relative_to(source)): asked for path, asked in found.items() if asked}
    assert asks.search('if call.function == "count" && args.is_empty()')
    assert asks.search('"lag" | "lead" => 1,')


def test_a_list_of_functions_is_found():
    assert dict(
        lists("A = frozenset(['lag', 'lead'])\nB = {'min': 1, 'max': 2}\nif f in ('sum',): pass\nx = 'sum'")
    ) == {
        1: {"lag", "lead"},
        2: {"min", "max"},
        3: {"sum"},
    }
