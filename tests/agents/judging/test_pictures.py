from __future__ import annotations

import matplotlib as mpl
import numpy as np
import pytest

from rlccfr.agents import RecommendationTable, SelectorTeam
from rlccfr.agents.judging.recommendation_table import COLUMNS
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


def test_regrets_have_a_line_for_each_question_and_a_mark_for_each_method():
    import pandas as pd

    rows = [
        {"game": "kuhn", "budget": budget, "preset": "accuracy", "method": method, "regret": regret}
        for budget in ("10 iterations", "20 iterations")
        for method, regret in (("team", 0.01), ("VBS", 0.0), ("CFR", 0.3), ("DCFR", float("nan")))
    ]
    axes = RecommendationTable(pd.DataFrame(rows, columns=list(COLUMNS))).plot()
    assert axes.get_title() == "Shortfall of each method's pick from the best algorithm"
    assert [line.get_label() for line in axes.lines] == ["team", "VBS", "CFR"]
    assert axes.lines[1].get_xdata().tolist() == [1e-4, 1e-4]
    assert len(axes.get_yticklabels()) == 2
