PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

.PHONY: help install demo test verify lint types wheel check clean

help:
	@echo "make demo     set up, train a team of selectors on Kuhn poker, print its recommendation"
	@echo "make test     set up, run the test suite"
	@echo "make verify   the long suite: statistics, convergence, speed; writes docs/verification.md"
	@echo "make check    lint, types and the wheel, besides the tests: all that CI runs"

install: $(STAMP)

$(STAMP): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt torch
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	touch $(STAMP)

demo: install
	$(BIN)/rlccfr demo

test: install
	$(BIN)/python -m pytest -n 2 -m "not verify"

verify: install
	$(BIN)/python -m tests.verify

lint: install
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: install
	$(BIN)/mypy

wheel: install
	bash tests/check_wheel.sh

check: lint types test wheel

clean:
	rm -rf $(VENV) build dist *.egg-info
