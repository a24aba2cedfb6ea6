# `make run` opens the app, `make test` runs all tests; both set up what they need in .venv first.
# PyTorch's CPU build is smaller: PIP_EXTRA_INDEX_URL=https://download.pytorch.org/whl/cpu make run

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
CHINESE := attncli/locale/zh_CN/LC_MESSAGES

.PHONY: run test lint messages verify bench wheel clean

run: $(VENV)/.installed
	@if [ -t 0 ] && [ -t 1 ]; then exec $(BIN)/attn; else exec $(BIN)/attn due; fi

test: $(VENV)/.installed-dev
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/vulture
	$(BIN)/python -m pytest -n auto --maxprocesses 4 --dist worksteal

lint: $(VENV)/.installed-dev
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/vulture

# Collect the messages of the code into the Chinese catalogue; those without Chinese stay empty, old ones go.
messages: $(VENV)/.installed-dev
	$(BIN)/pybabel -q extract --mapping-file pyproject.toml --no-location --sort-output --output build/attn.pot attncli
	$(BIN)/pybabel -q update --no-fuzzy-matching --ignore-obsolete --width 120 --input-file build/attn.pot --output-file $(CHINESE)/attn.po --locale zh_CN
	$(BIN)/pybabel -q compile --directory attncli/locale --domain "attn click"

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
