"""The kernels for external and outcome sampling give the same run as the general walk, number for number."""

from __future__ import annotations

import numpy as np
import pytest
from numba import njit
from pairs import pairwise_cases
from support import engine_state, game, has_quick_walks, without_quick_walks

import rlccfr
from rlccfr.kernels.layout import HistoryView
from rlccfr.kernels.walks.walk import draw_chance

ONE_SHOT = "turn_based_simultaneous_game(game=matrix_rps())"


def solver(name, rule, sampler) -> rlccfr.Solver:
    made = rlccfr.Solver(game(name), rule, sampler, seed=3)
    made.run(iterations=700, curve=False)
    return made


@pytest.mark.parametrize(
    ("name", "sampler", "rule"),
    pairwise_cases(
        ["kuhn", "goofspiel", "leduc", ONE_SHOT],
        ["external", "outcome(exploration=0.3)", "outcome(exploration=1.0)"],
        ["cfr", "dcfr", "cfr_plus", "lcfr", "pcfr_plus", "pdcfr_plus"],
    ),
)
def test_a_run_is_the_general_walks(name, sampler, rule, monkeypatch):
    quick = solver(name, rule, sampler)
    assert has_quick_walks(quick)
    without_quick_walks(monkeypatch)
    general = solver(name, rule, sampler)
    assert not has_quick_walks(general)
    for key, array in engine_state(general).items():
        assert np.array_equal(engine_state(quick)[key], array), key


@pytest.mark.parametrize(
    "options",
    [{"walks": 2}, {"simultaneous": True}, {"abstraction": "cfr_br"}, {"update_rule": "ecfr"},
     {"sampler": "probing"}, {"sampler": "average_strategy"}, {"sampler": "chance"}, {"sampler": "robust_k"}],
)  # fmt: skip
def test_what_it_does_not_do_is_left_to_the_general_walk(options):
    made = rlccfr.Solver(game("kuhn"), **({"sampler": "external"} | options))
    assert not has_quick_walks(made)


def test_uneven_chances_are_drawn_as_they_are():
    """Over many walks, the histories below an uneven chance node are visited in proportion to its probabilities."""
    tree = game("leduc")
    histories, probability = tree.histories.copy(), tree.probability.copy()
    first, count = int(histories["first_child"][0]), int(histories["num_children"][0])
    chances = np.arange(1, count + 1) / (count * (count + 1) / 2)
    probability[first : first + count] = chances
    histories["even"][0] = False

    @njit
    def draw_many(histories, rng, drawn):
        for _ in range(20_000):
            drawn[draw_chance(histories, histories.record[0], rng) - first] += 1

    drawn = np.zeros(count)
    draw_many(HistoryView(histories, probability, histories.view(float)), np.array([7], np.uint64), drawn)
    error = np.sqrt(chances * (1 - chances) * 20_000)
    assert (np.abs(drawn - 20_000 * chances) < 4.5 * error).all()
