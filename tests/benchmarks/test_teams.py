"""What `make measure` measures, and what is made from it."""

from __future__ import annotations

from pathlib import Path

from benchmarks import teams

MAKEFILE = Path(__file__).parents[2] / "Makefile"


def test_the_makefile_measures_the_rules_that_join_the_extended_catalog():
    assert f'EXTENDED := "{" + ".join(("extended-tabular", *teams.JOINING))}"' in MAKEFILE.read_text().splitlines()
