# `make run` opens the app, `make test` runs the tests; both set up what they need in .venv first.
# `make test-all` proves every challenge whole on 5 streams, records that, and runs all tests, the long ones too.
# PyTorch's CPU build is smaller: PIP_EXTRA_INDEX_URL=https://download.pytorch.org/whl/cpu make run

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# One process more than there are processors: some tests wait for a worker, a timeout or an app.
PROCESSES = $(shell $(PYTHON) -c 'import os; print(min(4, 1 + (os.cpu_count() or 1)))')
PYTEST = $(BIN)/python -m pytest -n $(PROCESSES) --dist worksteal --durations 20
CHINESE := attncli/locale/zh_CN/LC_MESSAGES

.PHONY: run test test-all lint messages verify bench wheel clean

run: $(VENV)/.installed
	@if [ -t 0 ] && [ -t 1 ]; then exec $(BIN)/attn; else exec $(BIN)/attn due; fi

test: lint
	$(PYTEST)

test-all: lint
	mkdir -p build
	$(BIN)/attn verify --tests
	$(BIN)/attn verify --streams 5 --json > build/verified.json; $(BIN)/python tests/support/verified.py < build/verified.json
	ATTN_ANSWERS=10000 ATTN_FORMULAS=400 ATTN_EXAMPLES=300 ATTN_KILLS=400 $(PYTEST) --all

lint: $(VENV)/.installed-dev
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/vulture

# Collect the messages of the code into the Chinese catalogue; those without Chinese stay empty, old ones go.
messages: $(VENV)/.installed-dev
	mkdir -p build
	$(BIN)/pybabel -q extract --mapping-file pyproject.toml --no-location --sort-output --output build/attn.pot attncli
	$(BIN)/pybabel -q update --no-fuzzy-matching --ignore-obsolete --width 120 --input-file build/attn.pot --output-file $(CHINESE)/attn.po --locale zh_CN
	$(BIN)/python -c "from pathlib import Path; from hatch_build import compile_catalogues; compile_catalogues(Path())"

verify: $(VENV)/.installed
	$(BIN)/attn verify --streams 5

bench: $(VENV)/.installed-dev
	$(BIN)/python benchmarks/budgets.py

wheel: $(VENV)/.installed-dev
	$(BIN)/python -m build --wheel --no-isolation

clean:
	rm -rf $(VENV) build dist *.egg-info

$(VENV)/bin/python:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "attncli needs Python 3.11 or newer; name one with: make PYTHON=python3.12 ...")'
	$(PYTHON) -m venv $(VENV)

# torch comes first: a plain range would otherwise take the newest build with all of its GPU packages.
$(VENV)/.installed: pyproject.toml constraints.txt $(wildcard $(CHINESE)/*.po) | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt torch
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e .
	$(BIN)/python -m compileall -q attncli
	touch $@

$(VENV)/.installed-dev: $(VENV)/.installed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[anki,dev,kernels,mcp,optimize,pdf]'
	touch $@
