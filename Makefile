# `make demo` and `make test` need only Python 3.11 or later, pip and make; each builds what it lacks.
PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
# The products in the tests and the demo are small: on busy cores a second BLAS thread only waits for the first.
export OMP_NUM_THREADS ?= 1

.PHONY: help demo test lint format soak clean

help:
	@echo "make demo    install netlearn into $(VENV) and run 'netlearn demo'"
	@echo "make test    install what the tests need and run them (with the linter)"
	@echo "make format  apply the code style"
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

demo: $(VENV)/.core
	@echo "Running 'netlearn demo' ..."
	@$(BIN)/netlearn demo

test: lint
	@echo "Running the tests ..."
	@$(BIN)/python -m pytest

lint: $(VENV)/.dev
	@$(BIN)/ruff check --quiet .
	@$(BIN)/ruff format --quiet --check .

format: $(VENV)/.dev
	@$(BIN)/ruff check --fix .
	@$(BIN)/ruff format .

clean:
	rm -rf $(VENV) .pytest_cache .ruff_cache .hypothesis
