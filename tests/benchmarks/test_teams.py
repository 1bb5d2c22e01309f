"""What `make measure` measures, and what is made from it."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks import teams
from rlccfr.agents import shipped
from rlccfr.catalog import Catalog
from rlccfr.envs.measuring.store import Store

MAKEFILE = Path(__file__).parents[2] / "Makefile"


def test_the_makefile_measures_the_rules_that_join_the_extended_catalog():
    assert f'EXTENDED := "{" + ".join(("extended-tabular", *teams.JOINING))}"' in MAKEFILE.read_text().splitlines()


@pytest.mark.slow
def test_the_makefile_measures_the_games_with_a_public_tree(tmp_path):
    lines = MAKEFILE.read_text().replace("\\\n\t\t", "").splitlines()
    names = (name if name.isalpha() else f'"{name}"' for name in shipped.PUBLIC_GAMES)
    assert f"PUBLIC_GAMES := {' '.join(names)}" in lines
    (line,) = (line for line in lines if "rlccfr sweep $(PUBLIC_GAMES)" in line)
    more = f"--close {teams.PUBLIC_CLOSE} --close-seeds {teams.PUBLIC_SEEDS}"
    assert f"--seconds {shipped.PUBLIC_BUDGETS[-1].amount:g} --seeds 1 {more} --catalog public" in line
    assert len(teams.on_public_trees(Store(tmp_path))) == len(shipped.PUBLIC_GAMES) * len(Catalog.public())
