from __future__ import annotations

import matplotlib as mpl
import numpy as np
import pytest

from rlccfr.agents import SelectorTeam
from rlccfr.catalog import Catalog

mpl.use("agg")
CATALOG = Catalog(("cfr", "dcfr(gamma=3)"), ("external", "none"), ("none", "cfr_br"))


def test_q_values_are_the_agents_means_and_the_pick_is_framed(evaluator):
    team = SelectorTeam("kuhn", catalog=CATALOG, evaluator=evaluator)
    axes = team.plot()
    (image,) = axes.images
    assert image.get_array().shape == (2, 4)
    team.env.reset()
    expected = [team.q_values(team.env)[1], team.q_values(team.env, (1,))[0], team.q_values(team.env, (1, 0))[1]]
    assert image.get_array()[1, 1] == pytest.approx(np.mean(expected))
    rule, sampler, abstraction = CATALOG.index(team.pick())
    assert axes.lines[0].get_xydata().tolist() == [[sampler * 2 + abstraction, rule]]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["cfr", "dcfr"]
