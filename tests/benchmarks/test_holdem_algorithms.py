"""The page on which algorithms solve hold'em best."""

from __future__ import annotations

from types import SimpleNamespace

import pandas as pd
import pytest

from benchmarks import holdem_algorithms as page
from rlccfr.agents.judging.evidence import Evidence
from rlccfr.catalog import Catalog, Cell
from rlccfr.envs.reward import PRESETS


def runs(*values):
    return tuple(SimpleNamespace(exploitability=value) for value in values)


def test_the_choosing_runs_choose_and_the_judging_runs_judge():
    """In thousandths of a big blind of 2: the geometric mean of 0.02 and 0.08 is 0.04, or 20."""
    lucky, good = Cell("cfr", "public_chance", "none"), Cell("dcfr", "public_chance", "none")
    evidence = Evidence(
        {lucky: runs(0.01), good: runs(0.03), page.PLAIN: runs(0.001)},
        {lucky: runs(0.02, 0.08), good: runs(0.01, 0.01), page.PLAIN: runs(0.001)},
    )
    found = page.best(evidence, page.GROUPS["PCS"], big_blind=2.0)
    assert found.cell == lucky
    assert found.exploitability == pytest.approx(20.0)


def test_groups_cover_the_catalog_and_share_nothing_but_plain_cfr():
    for cell in Catalog.public():
        groups = [name for name, within in page.GROUPS.items() if within(cell)]
        assert groups == (["plain CFR", "exact passes"] if cell == page.PLAIN else groups[:1])
        assert groups


def test_how_often_sampling_wins_is_counted():
    drawn, exact = Cell("lcfr", "public_chance", "none"), Cell("dcfr", "none", "none")
    picks = pd.DataFrame([dict.fromkeys(PRESETS, exact), {**dict.fromkeys(PRESETS, exact), "paper-speed": drawn}])
    text = page.sampled(picks)
    assert f"Of the {2 * len(PRESETS)} combinations" in text
    assert "1 are won by an algorithm that draws chance: `public_chance` 1." in text
    assert "0 are won by an algorithm that draws chance." in page.sampled(picks.iloc[:1])


def test_names_leave_out_what_the_group_says():
    assert page.named(Cell("dcfr", "none", "none")) == "dcfr"
    assert page.named(Cell("dcfr", "public_chance", "cfr_br")) == "dcfr x public_chance"


def test_the_big_blind_is_the_larger_blind():
    assert page.big_blind("holdem") == max(page.rules_of("holdem").blinds)
