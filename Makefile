PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
# The extended catalog, with the rules that join it when it is measured again.
EXTENDED := "extended-tabular + sapcfr_plus + ddcfr_schedule + cfr_reset"
PUBLIC_GAMES := "holdem(ranks=6,suits=2)" "holdem(ranks=7)" holdem

.PHONY: help install demo test test-all verify reliability bench peers measure docs site notebooks lint types wheel check clean

help:
	@echo "make demo        set up, train a team on Kuhn poker, compare its pick with the best algorithm"
	@echo "make test        set up, run the tests of the whole public surface (minutes)"
	@echo "make verify      run the long suite (statistics, convergence, speed, other dependency versions); write docs/verification.md; takes hours"
	@echo "make reliability damage a million files, kill a thousand runs, soak for hours; write docs/reliability.md; takes hours"
	@echo "make bench       compare this engine with its peers, those that 'make peers' has installed; write docs/benchmarks.md; takes most of an hour"
	@echo "make peers       install the newest releases of the peers, each in an environment of its own (some need Python 3.12 or later; takes gigabytes)"
	@echo "make measure     measure every algorithm on the paper's games and on families of small games, and train teams on that; takes many CPU hours"
	@echo "make site        build the documentation as a site, in docs/_build, and check its links; it needs no network"
	@echo "make check       run all that CI runs: lint, types, all tests but the long suite, site and wheel"

install: $(STAMP)

$(STAMP): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt torch
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev,docs]'
	touch $(STAMP)

demo: install
	$(BIN)/rlccfr demo

# The kernels that fast tests need are compiled first, in disjoint halves. Each file's tests run in one process, so that
# fewer games are compiled in both.
test: install
	$(BIN)/rlccfr doctor --compile --only trees --only public > /dev/null
	$(BIN)/python -m pytest -n 2 --dist loadfile -m "not verify and not slow"

# Everything but the long suite.
test-all: install
	$(BIN)/rlccfr doctor --compile > /dev/null
	$(BIN)/python -m pytest -n 2 -m "not verify"

verify: install
	status=0; $(BIN)/python -m tests.verify || status=1; \
	$(BIN)/python tests/dependencies.py oldest || status=1; \
	$(BIN)/python tests/dependencies.py newest || status=1; \
	exit $$status

reliability: install
	$(BIN)/python -m tests.verify --at-scale

# PEER_PYTHON names the Python of the peers' environments; by default, it is the newest one on the path.
peers: install
	$(BIN)/python -m benchmarks.peers $(if $(PEER_PYTHON),--python $(PEER_PYTHON))

bench: install
	$(BIN)/python -m benchmarks > docs/benchmarks.md

# What comes with the package, and the measurements behind it. This takes many CPU hours (each sweep begins by saying how
# many). A sweep that was stopped goes on where it stopped; after `python -m benchmarks.so_far save`, also elsewhere.
measure: install
	$(BIN)/python -m benchmarks.so_far load
	$(BIN)/rlccfr sweep kuhn leduc goofspiel --further 10000 --close 0.05
	$(BIN)/rlccfr sweep royal --further 10000 --seeds 3 --close 0.05
	$(BIN)/rlccfr sweep kuhn leduc goofspiel --further 10000 --catalog $(EXTENDED)
	$(BIN)/rlccfr sweep royal --further 10000 --seeds 3 --catalog $(EXTENDED)
	$(BIN)/rlccfr sweep --further 10000 --catalog schedules
	$(BIN)/rlccfr sweep --families train --further 10000 --seeds 2 --catalog tabular --store runs/families
	$(BIN)/rlccfr sweep --families validation --further 10000 --seeds 3 --catalog tabular --store runs/families
	$(BIN)/rlccfr sweep --families test --further 10000 --seeds 3 --catalog tabular --store runs/families
	$(BIN)/rlccfr sweep $(PUBLIC_GAMES) --iterations 1 --seconds 60 --seeds 1 --close 0.01 --close-seeds 3 \
		--catalog public --store runs/public
	$(BIN)/python -m benchmarks.teams

docs: install
	$(BIN)/rlccfr catalog --markdown > docs/components.md
	$(BIN)/python docs/figures.py
	$(BIN)/python -m benchmarks.readme

site: install
	rm -rf docs/_build
	$(BIN)/python -m sphinx -q -W -b html docs docs/_build
	$(BIN)/python -m pytest -q tests/site.py

notebooks: install
	$(BIN)/python notebooks/render.py

lint: install
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: install
	$(BIN)/mypy

wheel: install
	$(BIN)/python tests/wheel.py

check: lint types test-all site wheel

clean:
	rm -rf $(VENV) build dist *.egg-info
