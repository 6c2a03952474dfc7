# `make demo` and `make test` need only Python 3.11 or later, pip and make; each builds what it lacks.
PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
# The products in the tests and the demo are small: on busy cores a second BLAS thread only waits for the first.
export OMP_NUM_THREADS ?= 1

.PHONY: help demo test quick lint format docs dist soak clean

help:
	@echo "make demo    install netlearn into $(VENV) and run 'netlearn demo'"
	@echo "make test    install what the tests need and run them (with the linter)"
	@echo "make quick   run the tests of single steps, in a minute: for the inner loop"
	@echo "make lint    check the style and the types alone"
	@echo "make soak    run the long tests: hundreds to thousands of runs each, an hour or so"
	@echo "make format  apply the code style"
	@echo "make docs    build the site into docs/_build/html, examples included"
	@echo "make dist    build the wheel into dist/, install it into an empty environment and run it there"
	@echo "make clean   remove $(VENV) and caches"

$(BIN)/python:
	@echo "Creating the environment $(VENV) ..."
	@$(PYTHON) -m venv $(VENV)

$(VENV)/.core: pyproject.toml | $(BIN)/python
	@echo "Installing netlearn ..."
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable .
	@touch $@

$(VENV)/.dev: pyproject.toml | $(BIN)/python
	@echo "Installing netlearn with what its tests need ..."
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $@ $(VENV)/.core

$(VENV)/.docs: pyproject.toml | $(BIN)/python
	@echo "Installing netlearn with what its site needs ..."
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[docs]'
	@touch $@ $(VENV)/.core

demo: $(VENV)/.core
	@echo "Running 'netlearn demo' ..."
	@$(BIN)/netlearn demo

# Tests of one file run in one process: some share a model that is slow to make.
test: lint
	@echo "Running the tests ..."
	@$(BIN)/python -m pytest --numprocesses 2 --dist loadfile

# The inner loop: the steps one by one, without whole runs and without tests that need many draws.
QUICK := backend source/test_arrays.py source/test_relabelled.py source/test_samples.py source/test_stream.py inputs \
	moments network subspace fit search certify test_architecture.py test_outcome.py test_package.py test_teachers.py \
	test_words.py
quick: $(VENV)/.dev
	@$(BIN)/python -m pytest -q --numprocesses 2 -m "not slow and not statistical and not soak" $(addprefix tests/,$(QUICK))

soak: $(VENV)/.dev
	@echo "Running the long tests ..."
	@$(BIN)/python -m pytest -m soak

lint: $(VENV)/.dev
	@$(BIN)/ruff check --quiet .
	@$(BIN)/ruff format --quiet --check .
	@$(BIN)/pyright --pythonpath $(BIN)/python
	@$(BIN)/mypy

format: $(VENV)/.dev
	@$(BIN)/ruff check --fix .
	@$(BIN)/ruff format .

# Names that were removed must not linger in the reference.
docs: $(VENV)/.docs
	@rm -rf docs/api
	@$(BIN)/python -m sphinx -W --keep-going -q -b html docs docs/_build/html
	@echo "Open docs/_build/html/index.html"

# What is published must run where nothing else is installed, and not in this folder, whose files could help it out.
dist: $(BIN)/python
	@rm -rf dist
	@echo "Building the wheel ..."
	@$(BIN)/python -m pip wheel --quiet --disable-pip-version-check --no-deps --wheel-dir dist .
	@empty=$$(mktemp -d) && trap 'rm -rf "$$empty"' EXIT && wheel=$$(ls "$$PWD"/dist/*.whl) && \
	echo "Installing $$(basename $$wheel) into an empty environment ..." && \
	$(PYTHON) -m venv "$$empty/venv" && \
	"$$empty/venv/bin/python" -m pip install --quiet --disable-pip-version-check "$$wheel" && \
	cd "$$empty" && venv/bin/netlearn --version && venv/bin/netlearn demo
	@echo "The wheel in dist/ installs and runs."

clean:
	rm -rf dist $(VENV) .pytest_cache .ruff_cache .mypy_cache .hypothesis docs/_build docs/api docs/gallery
