from __future__ import annotations

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from support import game

import rlccfr
from rlccfr.pictures import action_colour, as_image, draw_curve, new_axes

mpl.use("agg")


def test_a_curve_is_drawn_over_what_one_asks_for():
    result = rlccfr.Solver(game("kuhn"), "dcfr").run(iterations=30)
    axes = result.plot("nodes", label="dcfr")
    (line,) = axes.lines
    assert line.get_xdata().tolist() == result.curve["nodes"].tolist()
    assert line.get_ydata().tolist() == result.curve["exploitability"].tolist()
    assert (axes.get_xscale(), axes.get_yscale(), axes.get_xlabel()) == ("log", "log", "histories touched")
    assert axes.get_title() == "kuhn"
    axes.set_title("its user's own")
    assert result.plot(axes=axes) is axes
    assert axes.get_title() == "its user's own"
    with pytest.raises(rlccfr.RLCCFRError, match="must be one of iteration, nodes, cpu_seconds"):
        result.plot("seconds")


def test_curves_of_tiny_payoffs_are_drawn_in_their_own_unit():
    curve = pd.DataFrame({"iteration": [1, 10, 100], "exploitability": [1e-16, 1e-19, 0.0]})
    (line,) = draw_curve(curve).get_lines()
    assert line.get_ydata() == pytest.approx([1e-16, 1e-19, 1e-31], rel=1e-9, abs=0)


def test_each_of_many_lines_looks_different():
    axes = new_axes()
    lines = [axes.plot([0, 1])[0] for _ in range(30)]
    assert len({(line.get_color(), line.get_linestyle()) for line in lines}) == 30


def test_the_same_picture_has_the_same_bytes():
    result = rlccfr.Solver(game("kuhn"), "dcfr").run(iterations=30)
    assert as_image(result.plot(), "svg") == as_image(result.plot(), "svg")


def test_a_tree_shows_histories_infosets_actions_and_payoffs():
    tree = game("kuhn")
    axes = rlccfr.draw_tree(tree, rlccfr.Policy.uniform(tree))
    assert sum(len(points.get_offsets()) for points in axes.collections) == 28  # of 58 histories, 30 are leaves
    assert len(axes.lines) == tree.num_histories - 1
    texts = [text.get_text() for text in axes.texts]
    assert texts.count("Bet") == 6 + 6 + 6 + 6
    assert sum(text in ("-2", "-1", "+1", "+2") for text in texts) == 30
    assert {str(infoset) for infoset in range(12)} <= set(texts)


def test_lines_are_as_thick_as_actions_are_likely():
    tree = game("kuhn")
    solver = rlccfr.Solver(tree, "cfr_plus")
    solver.run(iterations=100)
    policy, likely = solver.average_policy(), []
    for node in tree.histories:  # lines are drawn per history, in order, and per child
        for k in range(node["num_children"]):
            own = node["actor"] in (0, 1)
            chance = tree.probability[node["first_child"] + k]
            likely.append(policy.probabilities[node["first_sequence"] + k] if own else chance)
    widths = [line.get_linewidth() for line in rlccfr.draw_tree(tree, policy).lines]
    assert np.ptp(likely) > 0.5
    slope, least = np.polyfit(likely, widths, 1)
    assert widths == pytest.approx(least + slope * np.array(likely))
    assert slope > 0
    assert len({line.get_linewidth() for line in rlccfr.draw_tree(tree).lines}) == 1


def test_a_game_too_large_for_a_picture_is_refused():
    with pytest.raises(rlccfr.GameError, match="can be drawn"):
        rlccfr.draw_tree(game("leduc"))


def test_actions_have_colours_of_their_own():
    colours = [action_colour(place) for place in range(60)]
    assert len(set(colours)) == 60
    assert all(mpl.colors.is_color_like(colour) for colour in colours)
