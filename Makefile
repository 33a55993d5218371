# `make demo` and `make test` need nothing done before them. The rest is for those who work on windrow.
# A target that is up to date does nothing: an environment is made anew when pyproject.toml changed,
# the extension when a Rust source did.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.ONESHELL:
.NOTPARALLEL:
MAKEFLAGS += --no-builtin-rules

VENV ?= .venv
PY := $(VENV)/bin/python
INSTALLED := $(VENV)/.installed
RELEASE_TOOLS := $(VENV)/.release
# Under the one name maturin gives it on every Unix (abi3: one build serves all Pythons).
EXTENSION := python/windrow/_windrow.abi3.so
RUST_SOURCES := $(shell find src python/src python/allocator/src -type f)
RUST_SETTINGS := $(wildcard Cargo.toml Cargo.lock python/Cargo.toml python/build.rs python/allocator/Cargo.toml rust-toolchain* .cargo/config.toml)

TARGET_DIR := $(or $(CARGO_TARGET_DIR),target)

NEED := source tools/toolchain.sh;
# CI builds what Cargo.lock says or fails.
LOCKED := $(if $(CI),--locked)

# maturin and pyo3 take the interpreter from here, always by the same name: another one would mean
# compiling the bindings again.
export VIRTUAL_ENV := $(abspath $(VENV))
export PYO3_PYTHON := $(abspath $(PY))
unexport CONDA_PREFIX PYTHONHOME
# Spark starts its workers with the interpreter that runs the tests, from the pyspark installed
# beside it, and without asking the network what this machine is called.
export PYSPARK_PYTHON := $(abspath $(PY))
export PYSPARK_DRIVER_PYTHON := $(abspath $(PY))
export SPARK_LOCAL_IP ?= 127.0.0.1
unexport SPARK_HOME
export PIP_DISABLE_PIP_VERSION_CHECK := 1

## help: this list
.PHONY: help
help:
	@sed -n 's/^## \([a-z-]*\): \(.*\)/  make \1\t\2/p' Makefile | expand -t 20

## demo: the flights of 2013 through PySpark and Polars (examples/flights.py)
.PHONY: demo
demo: build
	@$(NEED) need_java; "$(PY)" examples/flights.py

## test: everything: cargo test, then pytest
.PHONY: test
test: test-rust test-python

## test-rust: cargo test of the workspace
.PHONY: test-rust
test-rust: $(INSTALLED)
	@$(NEED) need_rust; cargo test $(LOCKED) --workspace

# Two processes with a Spark of their own, which waits for its workers much of the time. A file's tests stay together, as
# they share what is dear to set up; tests/python/conftest.py says in which order files come.
PYTEST = "$(PY)" -m pytest -n 2 --dist loadfile --no-loadscope-reorder
## test-python: pytest (ARGS="-k name" picks)
.PHONY: test-python
test-python: build
	@$(NEED) need_java; $(PYTEST) $(ARGS)

## check: what one runs all the time: quick lints, cargo test with a few of the random inputs, pytest without Spark and what is slow
.PHONY: check
check: build fmt-check ruff mypy layers imports
	@$(NEED) need_rust; WINDROW_FUZZ=0.03 cargo test $(LOCKED) --workspace
	$(PYTEST) -m "not spark and not slow" $(ARGS)

# One seed for all that is drawn. It is told first, and SEED=... draws the same again.
SEEDED = seed="$(or $(SEED),$$RANDOM)"; echo "windrow: SEED=$$seed N=$(1)"; \
	export WINDROW_SEED="$$seed" PROPTEST_RNG_SEED="$$seed" WINDROW_FUZZ="$(1)";

## fuzz: the random calls against Spark and DuckDB, N times as many (N=20) and all different each time (SEED=...)
.PHONY: fuzz
fuzz: build
	@$(NEED) need_java; $(call SEEDED,$(or $(N),20)) "$(PY)" -m pytest tests/python/differential/test_spark.py \
	    tests/python/differential/test_duckdb.py tests/python/execute/test_stream.py $(ARGS)

## nightly: what does not fit .ci/run: the whole suite, N times what is drawn (N=10, SEED=...), the benches' answers in full, matrix
.PHONY: nightly
nightly: build
	@$(NEED) need_rust; need_java; $(call SEEDED,$(or $(N),10))
	cargo test $(LOCKED) --workspace
	$(PYTEST) $(ARGS)
	"$(PY)" -m benches.compare --check --quick
	"$(PY)" -m benches.compare.spark --check --scale 0.05
	$(MAKE) --no-print-directory matrix ARGS=
	$(MAKE) --no-print-directory matrix-spark ARGS=

## lint: everything that is checked without running the code
.PHONY: lint
lint: fmt-check clippy doc ruff mypy typing layers imports stubs size licenses workflows words

## fmt: formats Rust and Python
.PHONY: fmt
fmt: $(INSTALLED)
	@$(NEED) need_rust; cargo fmt --all
	"$(PY)" -m ruff check --quiet --fix-only --select I .
	"$(PY)" -m ruff format .

## fmt-check: would fmt change anything?
.PHONY: fmt-check
fmt-check: $(INSTALLED)
	@$(NEED) need_rust; cargo fmt --all --check
	"$(PY)" -m ruff format --check .

## clippy: all targets, and the crate without its features; warnings are errors
.PHONY: clippy
clippy: $(INSTALLED)
	@$(NEED) need_rust; cargo clippy $(LOCKED) --workspace --all-targets -- -D warnings
	cargo clippy $(LOCKED) --package windrow --lib --no-default-features -- -D warnings

## doc: the Rust manual, warnings are errors
.PHONY: doc
doc: $(INSTALLED)
	@$(NEED) need_rust; RUSTDOCFLAGS="-D warnings" cargo doc $(LOCKED) --workspace --no-deps

## docs: the documentation, into target/docs; runs every example, warnings are errors
.PHONY: docs
docs: build
	@$(NEED) need_java; "$(PY)" -m sphinx -W --keep-going -n -q -E -b html -d target/docs/doctrees docs target/docs/html
	@echo "windrow: target/docs/html/index.html"

## ruff: lints of the Python side
.PHONY: ruff
ruff: $(INSTALLED)
	"$(PY)" -m ruff check .

## mypy: types of the Python side
.PHONY: mypy
mypy: $(INSTALLED)
	"$(PY)" -m mypy

## typing: what type checkers see of windrow, with all hosts, with each alone, and with none
.PHONY: typing
typing: build
	"$(PY)" tools/check_typing.py

## layers: a file of the crate imports only layers below its own, no file is too long
.PHONY: layers
layers: $(INSTALLED)
	@"$(PY)" tools/crate_layers.py
	"$(PY)" tools/file_lengths.py

## imports: who imports whom in the package, as pyproject.toml has it; who touches the JVM's objects behind PySpark's
.PHONY: imports
imports: $(INSTALLED)
	@"$(VENV)/bin/lint-imports" --no-logo --no-cache
	touching=$$(grep -rlE "[.\"']_j[A-Za-z]|_gateway|py4j" --include='*.py' python/windrow)
	if [[ $$touching != python/windrow/hosts/spark/jvm.py ]]; then
	    echo "windrow: only python/windrow/hosts/spark/jvm.py touches the JVM's objects, and these do:" $$touching >&2
	    exit 1
	fi

## words: is a document too long, or is there a plainer word?
.PHONY: words
words: $(INSTALLED)
	@"$(PY)" tools/document_words.py

## stubs: does _windrow.pyi say what the built module is?
.PHONY: stubs
stubs: build
	"$(PY)" -m mypy.stubtest --mypy-config-file pyproject.toml windrow._windrow

## size: is the built extension no larger than it may be?
.PHONY: size
size: build
	@"$(PY)" tools/extension_size.py

## sanitize: the unit tests of the files with unsafe code under AddressSanitizer (ARGS=module picks)
.PHONY: sanitize
sanitize:
	@$(NEED) need_rust; host=$$(rustc -vV | sed -n 's/^host: //p')
	files=$$(grep -rlE '\bunsafe (\{|fn|impl)' src --include='*.rs')
	modules=$$(sed -E 's#^src/(.*)\.rs$$#\1#; s#/mod$$##; s#/#::#g' <<<"$$files")
	# The sanitizer is an option that the compiler keeps to nightly builds, whose library the stable one has as well.
	export RUSTC_BOOTSTRAP=1 RUSTFLAGS="-Zsanitizer=address $${RUSTFLAGS:-}"
	# Tests ask for more memory than there is.
	export ASAN_OPTIONS=allocator_may_return_null=1
	cargo test $(LOCKED) --target "$$host" --package windrow-allocator --lib
	cargo test $(LOCKED) --target "$$host" --package windrow --lib -- $(or $(ARGS),$$modules)

## table: writes what the package exports of the functions, and their tables in docs/functions.md
.PHONY: table
table: build
	"$(PY)" tools/reexports.py
	"$(PY)" tools/function_table.py

## licenses: is THIRD_PARTY_LICENSES what Cargo.lock says? (ARGS=--write writes it)
.PHONY: licenses
licenses: $(INSTALLED)
	@$(NEED) need_rust; "$(PY)" tools/third_party_licenses.py $(or $(ARGS),--check)

## workflows: the workflows on GitHub, by their schema and by zizmor
.PHONY: workflows
workflows: $(INSTALLED)
	@"$(VENV)/bin/check-jsonschema" --builtin-schema vendor.github-workflows .github/workflows/*.yml
	"$(VENV)/bin/check-jsonschema" --builtin-schema vendor.dependabot .github/dependabot.yml
	"$(VENV)/bin/zizmor" --quiet --offline --persona pedantic --strict-collection .github

## deny: licences, advisories and bans of the dependencies (needs cargo-deny and the network)
.PHONY: deny
deny:
	@$(NEED) need_rust; cargo deny check

## bench: cargo bench (ARGS="sum" picks by name)
.PHONY: bench
bench:
	@$(NEED) need_rust; cargo bench $(LOCKED) -- $(ARGS)

## bench-compare: windrow beside Polars, DuckDB and DataFusion (ARGS="--quick"; ARGS=--help tells the rest)
.PHONY: bench-compare
bench-compare: build
	@"$(PY)" -m benches.compare $(ARGS)
	@$(if $(ARGS),,"$(PY)" -m benches.compare.frames && "$(PY)" -m benches.compare.larger_than_memory)

## bench-spark: windrow inside PySpark beside Spark's own windows, windows without PARTITION BY over all tasks, whole sessions
.PHONY: bench-spark
bench-spark: build
	@"$(PY)" -m benches.compare.spark $(ARGS)
	@"$(PY)" -m benches.compare.spread
	@"$(PY)" -m benches.compare.session

## bench-check: every bench compiles and answers right, and as the peers do; nothing is timed
.PHONY: bench-check
bench-check: build
	@$(NEED) need_rust; cargo test $(LOCKED) --workspace --benches
	"$(PY)" -m benches.compare --check --rows 20000 --keys 50 --h2o-rows 20000
	"$(PY)" -m benches.compare.larger_than_memory --check --rows 1000000 --limit 24000000

## build: the extension, in release mode, into $(VENV)
.PHONY: build
build: $(EXTENSION)

# On Linux the wheel's extension is linked against an old glibc, whatever this machine's own is. The binding alone is compiled
# again for it: a linker that is given this way is not part of what its dependencies were compiled for.
WHEEL := $(if $(filter Linux,$(shell uname)),--compatibility manylinux2014 -- -C linker="$(CURDIR)/tools/zig_linker.sh")

## wheel: builds the wheel, and runs the README's first example with it and Polars in a fresh environment
.PHONY: wheel
wheel: build $(RELEASE_TOOLS)
	@$(NEED) need_rust; rm -rf dist/*.whl
	PATH="$(abspath $(VENV))/bin:$$PATH" maturin build --quiet --release $(LOCKED) --out dist $(WHEEL)
	"$(PY)" tools/check_wheel.py dist/*.whl

## sdist: builds the source distribution, and checks that it holds all sources and compiles
.PHONY: sdist
sdist: $(INSTALLED)
	@$(NEED) need_rust; rm -rf dist/*.tar.gz
	"$(VENV)/bin/maturin" sdist --out dist
	"$(PY)" tools/check_sources.py sdist dist/*.tar.gz

## package: packs the crate as crates.io gets it, and checks that it holds all sources and compiles
.PHONY: package
package: $(INSTALLED)
	@$(NEED) need_rust; rm -f "$(TARGET_DIR)"/package/windrow-*.crate
	cargo package $(LOCKED) $(if $(CI),,--allow-dirty) --quiet --package windrow --no-verify
	"$(PY)" tools/check_sources.py crate "$(TARGET_DIR)"/package/windrow-*.crate

## matrix: a quick part of the tests with the wheel, for each Python at hand, with the oldest and the newest hosts (ARGS=3.10)
.PHONY: matrix
matrix: wheel
	@"$(PY)" tools/matrix.py dist/*.whl $(ARGS)

## matrix-spark: what holds on every release of Spark, on each with the oldest and the newest hosts (ARGS=3.5)
.PHONY: matrix-spark
matrix-spark: wheel
	@$(NEED) need_java; "$(PY)" tools/matrix.py --spark dist/*.whl $(ARGS)

## spark-smoke: a few of the same, on the releases that differ most
.PHONY: spark-smoke
spark-smoke: wheel
	@$(NEED) need_java; "$(PY)" tools/matrix.py --spark dist/*.whl 3.5 4.0 4.2 --hosts newest -k "near or builder"

## venv: $(VENV) with all hosts and tools
.PHONY: venv
venv: $(INSTALLED)

$(INSTALLED): pyproject.toml tools/requirements.py
	@$(NEED) need_python
	if ! venv_works "$(VENV)"; then
	    echo "windrow: making $(VENV) with $$python"
	    "$$python" -m venv --clear "$(VENV)"
	fi
	echo "windrow: installing what pyproject.toml asks for into $(VENV)"
	"$(PY)" tools/requirements.py >"$(VENV)/requirements.txt"
	"$(PY)" -m pip install --quiet -r "$(VENV)/requirements.txt"
	touch $@

$(RELEASE_TOOLS): $(INSTALLED)
	@"$(PY)" tools/requirements.py release >"$(VENV)/release.txt"
	"$(PY)" -m pip install --quiet -r "$(VENV)/release.txt"
	touch $@

$(EXTENSION): $(INSTALLED) $(RUST_SOURCES) $(RUST_SETTINGS)
	@$(NEED) need_rust; PIP_QUIET=1 "$(VENV)/bin/maturin" develop --release $(LOCKED)
	touch $@

## clean: removes all that the other targets made
.PHONY: clean
clean:
	rm -rf "$(VENV)" "$(TARGET_DIR)" dist .mypy_cache .ruff_cache .pytest_cache .hypothesis
	rm -f python/windrow/_windrow*.so
	find python tests tools examples benches -type d -name __pycache__ -prune -exec rm -rf {} + 2>/dev/null || true
