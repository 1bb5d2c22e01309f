from __future__ import annotations

import math

import pytest

from rlccfr.cli.commands.insights import _in_words


@pytest.mark.parametrize("plain", ["measured", "failed", "not measured"])
def test_times_that_are_none_are_told_apart(plain):
    """A time that was not reached was measured; one that is missing says why."""
    assert _in_words(math.inf, plain) == "not reached"
    assert _in_words(math.nan, plain) == plain
    assert _in_words(0.5, plain) == 0.5
    assert _in_words("cfr", plain) == "cfr"


def test_tables_are_cut_to_the_first_rows(run):
    whole = run("results", "insights", "kuhn")[1]
    short = run("results", "insights", "kuhn", "--top", "2")[1]
    tables = short.split("\n\n")
    effects = tables[0].splitlines()
    axes = [line.split()[0] for line in effects[2:-1]]
    assert axes == ["update_rule"] * 2 + ["sampler"] * 2 + ["abstraction"] * 2
    assert effects[-1] == f"and {len(whole.split(chr(10) * 2)[0].splitlines()) - 2 - 6} more"
    assert max(len(table.splitlines()) for table in tables[1:]) <= 5
